"""The short way to positions in small frames finds those of the window ranks."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import ANY_SCORE, examples, ranked_rows
from tests._engines.test_polars_sort import KINDS

pl = pytest.importorskip("polars")

from recframe._engines import polars_few, polars_pack  # noqa: E402 - needs polars


def check(users, scores, upto):
    frame = pl.DataFrame({"user": users, "score": scores, "row": range(len(users))})
    needed = pl.col("row") % 3 == 1
    found = polars_few.rank_rows(frame, ["user"], "score", upto, needed)
    if found is None:
        return False
    size = pl.len().over("user", "score").cast(pl.Int64).alias("size")
    place = pl.col("score").rank("min", descending=True).over("user").cast(pl.Int64).alias("start")
    expected = frame.with_columns(place, size).drop("score").filter(needed)
    expected = expected if upto is None else expected.filter(pl.col("start") <= upto)
    assert found.collect().sort("row").equals(expected.sort("row"))
    return True


@pytest.mark.parametrize("kind", list(KINDS))
def test_needed_rows_stand_where_their_rank_is(kind):
    rng = random.Random(kind)
    users = [rng.randint(-3, 3) for _ in range(300)]
    scores = [KINDS[kind](rng) for _ in users]
    found = {check(users, scores, upto) for upto in (1, 3, None)}
    # Numbers that are far apart fall together with others.
    assert found == {kind not in ("endless", "tiny", "far apart")}


@examples(100)
@given(rows=ranked_rows(ANY_SCORE, most=40), upto=st.integers(1, 4) | st.none())
def test_whatever_the_scores(rows, upto):
    users, scores = zip(*rows, strict=True)
    check(users, scores, upto)


def test_scores_that_fall_together_are_left_to_others(monkeypatch):
    monkeypatch.setattr(polars_pack, "MOST_BITS", 3)
    monkeypatch.setattr(polars_pack, "FEWEST_BITS", 1)
    assert check([1] * 8, [0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.0, 0.2], None)
    assert not check([1] * 8, [0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 0.99, 0.2], None)


@pytest.mark.parametrize("descending", [True, False])
def test_positions_by_a_column(descending):
    rng = random.Random(6)
    rows = [
        (rng.choice([None, "a", "b"]), rng.choice([None, 0.0, -0.0]), rng.choice([None, 1, 2, 3]), n)
        for n in range(200)
    ]
    frame = pl.DataFrame(rows, ["user", "day", "by", "row"], orient="row")
    found = polars_few.number_rows(frame.lazy(), ["user", "day"], "by", descending=descending).collect()
    assert found.select(frame.columns).sort("row").equals(frame)
    for _, list_rows in found.filter(pl.col("by").is_not_null()).sort("position").group_by("user", "day"):
        assert list_rows["position"].to_list() == list(range(1, list_rows.height + 1))
        assert list_rows["by"].is_sorted(descending=descending)
    assert found.filter(pl.col("by").is_null())["position"].null_count() == frame["by"].null_count()
