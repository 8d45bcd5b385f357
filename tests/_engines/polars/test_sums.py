"""Sums and counts in few steps are those of windows and groups."""

from __future__ import annotations

import random

import pytest

np = pytest.importorskip("numpy")
pl = pytest.importorskip("polars")
testing = pytest.importorskip("polars.testing")

from recframe._engines import codes  # noqa: E402 - needs polars
from recframe._engines.polars.sums import count_rows, distinct, sums_before  # noqa: E402 - needs polars


@pytest.mark.parametrize("longest", [0, 1, 2, 3, 4, 5, 17])
def test_sums_before_each_row(longest):
    rng = random.Random(longest)
    users = [user for user in [None, *range(9)] for _ in range(rng.randint(0, longest))] + [10] * longest
    rows = [(user, "ab"[place % 2], rng.random(), rng.random(), place) for place, user in enumerate(users)]
    rng.shuffle(rows)
    schema = {"user": pl.Int64, "day": pl.String, "x": pl.Float64, "y": pl.Float64, "place": pl.Int64}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    for keys in (["user"], ["user", "day"]):
        result = sums_before(frame, {"before_x": "x", "before_y": "y"}, keys, "place")
        before = {f"before_{name}": pl.col(name).cum_sum().over(keys, order_by="place") - pl.col(name) for name in "xy"}
        expected = frame.with_columns(**before)
        testing.assert_frame_equal(result.sort("place"), expected.sort("place"), check_column_order=False)


@pytest.mark.parametrize(
    ("keys", "known"),
    [
        ({"user": pl.Int64}, True),
        ({"user": pl.UInt8, "new": pl.Boolean}, True),
        ({"user": pl.Float64}, True),
        ({"user": pl.String}, False),
        ({"user": pl.Categorical}, False),
    ],
)
def test_counts_of_rows(keys, known):
    pytest.importorskip("numpy")
    rng = random.Random(len(keys))
    rows = {name: pl.Series([rng.randint(0, 1 if name == "new" else 9) for _ in range(60)]) for name in keys}
    rows = {name: values if keys[name].is_numeric() else values.cast(pl.String) for name, values in rows.items()}
    rows = {
        name: values == "1" if keys[name] == pl.Boolean else values.cast(keys[name]) for name, values in rows.items()
    }
    frame = pl.DataFrame({**rows, "score": pl.Series([0.5] * 60)})
    result = count_rows(frame, [*keys], "rows", {"scored": "score"})
    assert (result is not None) == known
    if known:
        expected = frame.group_by(*keys).agg(pl.len().alias("rows"), pl.col("score").count().alias("scored"))
        testing.assert_frame_equal(result.sort(*keys), expected.sort(*keys), check_dtypes=False)
        assert result.select(*keys).schema == frame.select(*keys).schema
        testing.assert_frame_equal(distinct(frame, [*keys]).sort(*keys), frame.select(*keys).unique().sort(*keys))
    else:
        assert distinct(frame, [*keys]) is None
    assert count_rows(frame.with_columns(score=None), [*keys], "rows", {"scored": "score"}) is None


def test_groups_far_apart_are_not_counted_by_a_table():
    frame = pl.DataFrame({"user": [0, 10**9], "score": [1.0, 2.0]})
    assert count_rows(frame, ["user"], "rows", {"scored": "score"}) is None
    assert sorted(distinct(pl.concat([frame, frame]), ["user", "score"]).rows()) == [(0, 1.0), (10**9, 2.0)]


@pytest.mark.parametrize(
    ("keys", "before"),
    [
        ([[3], [1, 2], [3]], [4.0, 0.0, 0.0]),
        ([{"a": 2}, {"a": 1}, {"a": 2}], [4.0, 0.0, 0.0]),
        ([None, None, None], [6.0, 0.0, 2.0]),
    ],
)
def test_sums_before_each_row_of_keys_that_are_no_numbers(keys, before):
    frame = pl.DataFrame({"user": keys, "x": [1.0, 2.0, 4.0], "place": [3, 1, 2]})
    assert sums_before(frame, {"before": "x"}, ["user"], "place").sort("x")["before"].to_list() == before


INTEGERS = [pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64]


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
@pytest.mark.parametrize("rows", [300, 70_000])
@pytest.mark.parametrize("ends", [(0, 50), (3, 90), (-100, 100), (-128, 127), (100, 127)])
def test_distinct_keys_and_their_rows(dtype, rows, ends):
    if ends[0] < 0 and dtype.is_unsigned_integer():
        pytest.skip("an unsigned integer is not negative")
    keys = np.random.default_rng(rows).integers(ends[0], ends[1] + 1, rows)
    expected = dict(zip(*(column.tolist() for column in np.unique(keys, return_counts=True)), strict=True))
    for values in (keys, np.sort(keys)):
        frame = pl.DataFrame({"key": pl.Series(values, dtype=dtype)})
        result = distinct(frame, ["key"])
        assert (result.schema["key"], sorted(result["key"].to_list())) == (dtype, [*expected])
        counted = count_rows(frame, ["key"], "rows", {})
        assert dict(zip(counted["key"].to_list(), counted["rows"].to_list(), strict=True)) == expected


@pytest.mark.parametrize("numbers", [[], [5], [5, 5], [2, 0, 2**64 - 1, 0]])
def test_distinct_whole_numbers_are_sorted(numbers):
    assert codes.distinct(np.array(numbers, dtype=np.uint64)).tolist() == sorted({*numbers})
