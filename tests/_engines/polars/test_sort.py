"""The short way to positions and tied blocks finds those of the window ranks."""

from __future__ import annotations

import random
import subprocess
import sys
import weakref
from itertools import pairwise
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import ANY_SCORE, examples, leave_rows_out, ranked_rows

pl = pytest.importorskip("polars")

from recframe._engines import packing  # noqa: E402 - needs polars
from recframe._engines.polars import compat as polars_compat  # noqa: E402 - needs polars
from recframe._engines.polars import pack as polars_pack  # noqa: E402 - needs polars
from recframe._engines.polars import sort as polars_sort  # noqa: E402 - needs polars


@pytest.fixture(params=["few", "many", "many, by NumPy"], autouse=True)
def height(request, monkeypatch):
    """Frames are ranked as those of few rows are, and as those of many, whatever the processor."""
    numpy = pytest.importorskip("numpy") if "NumPy" in request.param else None
    for module in (polars_pack, polars_sort):
        monkeypatch.setattr(module, "FEW_ROWS", 2**16 if request.param == "few" else 0)
    monkeypatch.setattr(polars_pack, "numpy_if_it_sorts_fast", lambda: numpy)


def rank_rows(frame, keys, score, upto, mark=None):
    ranked = polars_sort.ranked_by_sort(frame, keys, score, upto, mark, {})
    return None if ranked is None else ranked.rows.collect()


def number_rows(*given, **options):
    plan = polars_sort.numbered_by_sort(*given, **options)
    return None if plan is None else plan.collect()


def check_first_positions(found, keys, by, *, descending):
    first = pl.col(by).rank("min", descending=descending).over(keys).cast(pl.Float64)
    assert found.equals(found.with_columns(position=first))
    known = found.filter(pl.col(by).is_not_null())
    assert known.equals(known.with_columns(equal=pl.len().over(*keys, by).cast(pl.Float64)))


KINDS = {
    "floats": lambda rng: rng.random(),
    "ties": lambda rng: float(rng.randint(0, 3)),
    "integers": lambda rng: rng.randint(-(2**62), 2**62),
    "close": lambda rng: 1.0 + rng.randint(0, 3) * 2.0**-52,
    "far apart": lambda rng: rng.choice([-1, 1]) * 10.0 ** rng.randint(-300, 300),
    "endless": lambda rng: rng.choice([float("inf"), -float("inf"), 0.0, 1.0]),
    "tiny": lambda rng: rng.randint(0, 5) * 5e-324,
    "constant": lambda rng: 0.25,
    "zeros": lambda rng: rng.choice([0.0, -0.0]),
}


def check(users, scores, upto):
    frame = pl.DataFrame({"user": users, "score": scores, "row": range(len(users))})
    result = rank_rows(frame, ["user"], "score", upto)
    needed = pl.col("row") % 3 == 1
    # Text does not fit into the integers: these rows are looked up by their numbers.
    some = rank_rows(
        frame.with_columns(text=pl.lit("a")),
        ["user"],
        "score",
        upto,
        polars_sort.Mark(needed),
    )
    assert (result is None) == (some is None)
    if result is None:
        return None
    assert some.drop("text").equals(result.filter(needed))
    size = pl.len().over("user", "score").cast(pl.Int64).alias("size")
    place = pl.col("score").rank("min", descending=True).over("user").cast(pl.Int64).alias("start")
    expected = frame.with_columns(place, size).drop("score")
    expected = expected if upto is None else expected.filter(pl.col("start") <= upto)
    columns = ["row", "user", "start", "size"]
    assert result.columns[:2] == ["user", "row"]
    assert result.sort("row").select(columns).equals(expected.sort("row").select(columns))
    return result


@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize("first", [0, -7, 10**12])
@pytest.mark.parametrize("upto", [1, 3, 90, None])
def test_rows_stand_where_their_rank_is(kind, first, upto):
    rng = random.Random(f"{kind} {first} {upto}")
    users = [first + rng.randint(0, 5) for _ in range(400)]
    result = check(users, [KINDS[kind](rng) for _ in users], upto)
    assert (result is None) == (kind in ("endless", "tiny"))


@examples(200)
@given(rows=ranked_rows(ANY_SCORE), upto=st.integers(1, 4) | st.none())
def test_whatever_the_scores(rows, upto):
    users, scores = zip(*rows, strict=True)
    check(users, scores, upto)


def test_it_leaves_out_the_rest():
    rng = random.Random(1)
    users = [number % 50 for number in range(5000)]
    assert check(users, [rng.random() for _ in users], 2).height == 100


def test_rows_of_keys_and_scores_alone_of_which_few_are_sorted_again():
    rng = random.Random(2)
    users = [number % 1400 for number in range(140_000)]
    scores = [rng.random() - (user % 50 == 0) for user in users]
    result = rank_rows(pl.DataFrame({"user": users, "score": scores}), ["user"], "score", 2)
    assert result.columns == ["user", "start", "size"]
    expected = [(user, start, 1) for user in range(1400) for start in (1, 2)]
    assert sorted(result.rows()) == expected


@pytest.mark.parametrize("first", [2**53, -(2**62), 2**62 - 2])
@pytest.mark.parametrize("upto", [1, None])
def test_whole_numbers_that_are_equal_as_floats(first, upto):
    scores = [first, first + 1, first, first + 1, first]
    frame = pl.DataFrame({"user": [1, 1, 1, 2, 2], "score": scores, "relevant": [1, 2, 3, 4, 5]})
    expected = [(1, 2, 1, 1), (1, 1, 2, 2), (1, 3, 2, 2), (2, 4, 1, 1), (2, 5, 2, 1)]
    expected = [row for row in expected if upto is None or row[2] <= upto]
    assert sorted(rank_rows(frame, ["user"], "score", upto).rows()) == sorted(expected)
    for descending in (True, False):
        result = number_rows(frame, ["user"], "score", descending=descending).sort("user", "position")
        assert result.equals(result.sort("user", "score", descending=[False, descending], maintain_order=True))
        first = number_rows(frame, ["user"], "score", descending=descending, tied=True)
        check_first_positions(first, ["user"], "score", descending=descending)


def test_rows_without_a_column_of_whole_numbers():
    frame = pl.DataFrame({"day": [0.5, 0.5, 1.5], "score": [0.1, 0.2, 0.3], "relevant": [0.5, 0.0, 0.5]})
    assert rank_rows(frame, ["day"], "score", None) is None
    assert number_rows(frame, ["day"], "score", descending=True) is None


SHAPES = {
    "alike": lambda rng, user: rng.random(),
    "some lists lower": lambda rng, user: rng.random() - (user % 5 == 0),
    "each on its own scale": lambda rng, user: rng.random() + user,
    "tied": lambda rng, user: rng.randint(0, 9),
    "all equal": lambda rng, user: 1.5,
    "infinite below": lambda rng, user: rng.choice([-float("inf"), rng.random(), rng.random()]),
}


@pytest.fixture
def sorts(monkeypatch):
    """Rows of low scores are left out of small frames too; the numbers of rows of each sort."""
    for name, value in {"MANY_ROWS": 0, "SAMPLE": 700, "FEWEST_LISTS": 5}.items():
        monkeypatch.setattr(packing, name, value)
    result, sort = [], polars_pack.sort_integers
    monkeypatch.setattr(polars_pack, "sort_integers", lambda rows: result.append(len(rows)) or sort(rows))
    return result


@pytest.mark.parametrize("shape", list(SHAPES))
@pytest.mark.parametrize("upto", [1, 3, 10])
@pytest.mark.parametrize("gaps", [1, 3])
def test_rows_of_low_scores_need_no_sort(shape, upto, gaps, sorts):
    rng = random.Random(f"{shape} {upto} {gaps}")
    users = [gaps * rng.randint(0, 20) for _ in range(1500)] + [gaps * 30] * 2
    rng.shuffle(users)
    check(users, [SHAPES[shape](rng, user) for user in users], upto)
    if shape == "alike" and upto < 10:
        assert all(rows < 0.4 * len(users) for rows in sorts)
    if shape in ("each on its own scale", "all equal"):
        assert max(sorts) == len(users)


@examples(200)
@given(rows=ranked_rows(st.integers(0, 9)), upto=st.integers(1, 3))
def test_leaving_rows_out_changes_nothing(rows, upto):
    users, scores = zip(*rows, strict=True)
    with pytest.MonkeyPatch.context() as patch:
        leave_rows_out(patch)
        check(users, scores, upto)


@pytest.mark.parametrize(
    ("lists", "scores", "upto", "score"),
    [
        ([1, 1, 1, 2, 2, 2], [1, 5, 0, 0, 6, 1], 1, 5),
        ([1, 1, 1, 2, 2, 2], [1, 5, 0, 0, 6, 1], 2, None),  # four of six rows are from 1 on
        ([1] * 9 + [2], [*range(9), 0.5], 2, 7),  # the short list is sorted whole
        ([1] * 9 + [2] * 9, [*range(10, 19), *range(9)], 2, None),  # no score is high in both
        ([1] * 9, [1.0] * 9, 1, None),  # all tie
    ],
)
def test_the_score_to_sort_from(lists, scores, upto, score, monkeypatch):
    assert packing.score_to_sort_from(lists, scores, upto) is None
    monkeypatch.setattr(packing, "FEWEST_LISTS", 1)
    assert packing.score_to_sort_from(lists, scores, upto) == score


@pytest.mark.parametrize("lists", [1, 480, 481])
def test_only_lists_that_tell_are_looked_at(lists):
    rows = packing.MANY_ROWS
    assert packing.bits_of_sample(rows, lists, 10) == (5 if lists == 481 else None)  # 16 lists, each 32nd of these


@pytest.mark.parametrize("bits", [1, 3, 8])
def test_scores_may_fall_together(bits, monkeypatch):
    monkeypatch.setattr(polars_pack, "MOST_BITS", bits)
    monkeypatch.setattr(polars_pack, "FEWEST_BITS", 1)
    rng = random.Random(bits)
    users = [rng.randint(0, 9) for _ in range(300)]
    for upto in (1, 7, None):
        assert check(users, [rng.random() for _ in users], upto) is not None
        assert check(users, [rng.randint(0, 40) / 7 for _ in users], upto) is not None


def check_positions(found, frame, keys, *, descending):
    assert found.select(frame.columns).sort("row").equals(frame)
    missing = found["by"].is_null()
    for _, rows in found.filter(~missing).sort("position").group_by(keys, maintain_order=True):
        assert rows["position"].to_list() == list(range(1, rows.height + 1))
        assert rows["by"].is_sorted(descending=descending)
    assert found["position"].is_null().equals(missing)


@pytest.mark.parametrize("descending", [True, False])
@pytest.mark.parametrize("bits", [50, 1])
def test_positions_by_a_column(descending, bits, monkeypatch):
    # Of one bit, different values fall together.
    monkeypatch.setattr(polars_pack, "MOST_BITS", bits)
    monkeypatch.setattr(polars_pack, "FEWEST_BITS", 1)
    rng = random.Random(6)
    for text in (None, "a"):
        rows = [(rng.randint(0, 9), rng.randint(0, 5), n, text) for n in range(200)]
        for some in (rows, sorted(rows, key=lambda row: (row[0], -row[1] if descending else row[1]))):
            frame = pl.DataFrame(some, ["user", "by", "row", "text"], orient="row").with_columns(row=pl.int_range(200))
            frame = frame if text else frame.drop("text")
            check_positions(
                number_rows(frame, ["user"], "by", descending=descending), frame, ["user"], descending=descending
            )


@pytest.mark.parametrize("descending", [True, False])
@pytest.mark.parametrize("day", [0.0, 0.5])
def test_positions_whatever_the_keys(descending, day):
    rng = random.Random(6)
    rows = [
        (rng.choice([None, "a", "b"]), rng.choice([None, day, -day]), rng.choice([None, 1, 2, 3]), n)
        for n in range(200)
    ]
    frame = pl.DataFrame(rows, ["user", "day", "by", "row"], orient="row")
    for some in (
        frame,
        frame.with_columns(pl.col("user").cast(pl.Categorical)),
        frame.with_columns(by=pl.lit(None, pl.Int64)),
    ):
        for result in (
            polars_sort.number_rows(some, ["user", "day"], "by", descending=descending).collect(),
            polars_sort.number_few_rows(some.lazy(), ["user", "day"], "by", descending=descending).collect(),
        ):
            check_positions(result, some, ["user", "day"], descending=descending)
        result = polars_sort.number_rows(some, ["user", "day"], "by", descending=descending, tied=True).collect()
        check_first_positions(result, ["user", "day"], "by", descending=descending)


def test_rows_that_come_in_order_but_for_scores_with_the_same_bits(monkeypatch):
    monkeypatch.setattr(polars_pack, "MOST_BITS", 2)
    monkeypatch.setattr(polars_pack, "FEWEST_BITS", 1)
    # The second of each pair is the better one, and they have the same bits.
    check([1, 1, 1, 1, 2, 2], [0.91, 0.92, 0.11, 0.12, 0.31, 0.32], None)
    check([1, 1, 1, 1, 2, 2], [0.91, 0.92, 0.11, 0.12, 0.31, 0.32], 1)


def test_several_keys():
    rng = random.Random(7)
    rows = [(rng.randint(-2, 2), rng.choice("abc"), rng.randint(0, 9), n) for n in range(500)]
    frame = pl.DataFrame(rows, schema=["user", "day", "score", "row"], orient="row")
    frame = frame.with_columns(pl.col("day").cast(pl.Categorical))
    result = rank_rows(frame, ["user", "day"], "score", 4).sort("row")
    place = pl.col("score").rank("min", descending=True).over("user", "day").cast(pl.Int64).alias("start")
    size = pl.len().over("user", "day", "score").cast(pl.Int64).alias("size")
    expected = frame.with_columns(place, size).filter(pl.col("start") <= 4).drop("score").sort("row")
    assert result.equals(expected)
    assert rank_rows(frame.with_columns(day=pl.lit(0.5)), ["user", "day"], "score", 4) is None


def test_who_imports_numpy_does_not_decide_the_sort():
    pytest.importorskip("numpy")
    # Imported last, first or never by anybody else: the same way, of a frame that is large enough for one.
    code = """
import sys{numpy}
import polars as pl, recframe
frame = pl.DataFrame({{"user": pl.int_range(70_000, eager=True) % 7_000, "relevant": 1}}).with_columns(score=pl.col("user").hash(1))
print(frame.rec.ndcg(5), "numpy" in sys.modules)
"""
    result = {
        subprocess.run(
            [sys.executable, "-c", code.format(numpy=numpy)], capture_output=True, text=True, check=True
        ).stdout
        for numpy in ("", ", numpy")
    }
    assert len(result) == 1
    assert result.pop().endswith("True\n")


@pytest.mark.parametrize(
    ("processor", "used", "fast"),
    [
        ("vendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\n", ["X86_V3", "X86_V4"], False),
        ("vendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\n", ["AVX2", "AVX512_SKX"], False),
        ("AMD64 Family 25 Model 97 Stepping 2, AuthenticAMD", ["X86_V3", "X86_V4"], False),
        ("vendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 1\n", ["X86_V3"], True),
        ("vendor_id\t: AuthenticAMD\ncpu family\t: 26\nmodel\t\t: 2\n", ["X86_V3", "X86_V4"], True),
        ("vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 25\n", ["X86_V3", "X86_V4"], True),
        ("arm", [], True),
    ],
)
def test_numpy_sorts_but_on_processors_where_polars_is_faster(processor, used, fast, monkeypatch):
    numpy = pytest.importorskip("numpy", "2")
    monkeypatch.setattr(polars_compat, "processor", processor.lower)
    monkeypatch.setattr(numpy, "show_config", lambda mode: {"SIMD Extensions": {"found": used} if used else {}})
    assert (polars_compat.numpy_if_it_sorts_fast.__wrapped__() is numpy) == fast


INTEGER_COLUMNS = {
    "flags": ([True, False], True),
    "integers": ([-3, 0, 4], True),
    "unsigned": (pl.Series([0, 255], dtype=pl.UInt8), True),
    "whole floats": ([-1.0, 0.0, 2.0], True),
    "far apart": ([0, 2**40], False),
    "fractions": ([0.5, 1.0], False),
    "missing": ([None, 1], True),
    "NaN": ([float("nan"), 1.0], False),
    "endless": ([float("inf"), 1.0], False),
    "text": (["a", "b"], False),
}


@pytest.mark.parametrize("kind", list(INTEGER_COLUMNS))
def test_columns_of_few_whole_numbers_are_read_from_the_integers(kind):
    rng = random.Random(kind)
    values, packed = INTEGER_COLUMNS[kind]
    relevance = pl.Series("relevant", [values[rng.randrange(len(values))] for _ in range(300)], strict=False)
    frame = pl.DataFrame({"user": [rng.randint(0, 9) for _ in relevance], "score": [rng.random() for _ in relevance]})
    frame = frame.with_columns(relevance)
    read = polars_pack.digits_of(frame, ["user"], ["relevant"], {})[1] is not None
    assert read == (packed and len(frame) > polars_pack.FEW_ROWS)
    result = rank_rows(frame, ["user"], "score", 4)
    expected = frame.with_columns(start=pl.col("score").rank("ordinal", descending=True).over("user").cast(pl.Int64))
    expected = expected.filter(pl.col("start") <= 4).sort("user", "start").drop("score").with_columns(size=1)
    assert result.cast({"size": pl.Int32}).equals(expected)
    same_grade = pl.col("relevant").eq_missing(relevance[0])
    some = rank_rows(frame, ["user"], "score", 4, polars_sort.Mark(same_grade))
    assert some.equals(result.filter(same_grade))


@pytest.mark.parametrize("dtype", [pl.Int8, pl.UInt8, pl.Int64, pl.Boolean, pl.Float64, pl.Categorical])
@pytest.mark.parametrize("upto", [2, None])
def test_a_missing_key_is_a_list(dtype, upto):
    rng = random.Random(9)
    least = {pl.Int8: -128, pl.Int64: -(2**40)}.get(dtype, 0)
    values = [rng.choice([None, least, least + 1]) for _ in range(200)]
    texts = [None if value is None else str(value) for value in values]
    users = pl.Series(texts if dtype == pl.Categorical else values).cast(dtype)
    assert check(users, [rng.randint(0, 30) / 4 for _ in values], upto) is not None
    # All rows are read back by their numbers too.
    frame = pl.DataFrame({"user": users, "score": range(200), "text": "a"})
    result = rank_rows(frame, ["user"], "score", None)
    assert result.group_by("user").len().sort("user").equals(frame.group_by("user").len().sort("user"))


@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize("upto", [2, None])
def test_some_lists_at_a_time(kind, upto, monkeypatch):
    rng = random.Random(kind)
    users = [rng.randint(-4, 4) for _ in range(120)]
    scores = [KINDS[kind](rng) for _ in users]
    whole = check(users, scores, upto)
    for rows in (1, 40, 119):
        monkeypatch.setattr(polars_sort, "ROWS_AT_ONCE", rows)
        part = check(users, scores, upto)
        assert whole is None or part.sort("row").equals(whole.sort("row"))


@pytest.mark.parametrize("seed", range(50))
def test_first_rows_are_read_with_all_that_have_the_bits_of_the_last(seed, monkeypatch):
    rng = random.Random(seed)
    lists = [sorted(rng.choices(range(rng.choice([1, 2, 9])), k=rng.randint(1, 40))) for _ in range(rng.randint(1, 6))]
    codes = pl.Series(
        [1024 * n + 64 * score + tail for n, scores in enumerate(lists) for tail, score in enumerate(scores)]
    )
    monkeypatch.setattr(polars_sort, "PIECE", rng.choice([1, 3, 2**17]))
    upto = rng.randint(1, 5)
    read = [(n, score) for n, scores in enumerate(lists) for score in scores if score <= scores[:upto][-1]]
    result, goes_on = polars_sort._first_rows(SimpleNamespace(codes=codes, score=64, list=1024), upto)
    assert [(code // 1024, code % 1024 // 64) for code in result] == read
    assert goes_on.to_list() == [one == other for one, other in pairwise(read)]


@pytest.mark.parametrize("upto", [2, None])
def test_sorted_lists_are_let_go_before_the_next_are_sorted(upto, monkeypatch):
    sort, sorted_codes, held = polars_sort.pack, [], []

    def pack(*arguments, **options):
        # The last one is let go where the new one takes its name.
        held.append(sum(codes() is not None for codes in sorted_codes[:-1]))
        packed = sort(*arguments, **options)
        sorted_codes.append(weakref.ref(packed.codes))
        return packed

    monkeypatch.setattr(polars_sort, "pack", pack)
    monkeypatch.setattr(polars_sort, "ROWS_AT_ONCE", 40)
    check([number % 10 for number in range(200)], [number / 7 for number in range(200)], upto)
    assert len(held) == 2 * 5
    assert not any(held)


@pytest.mark.parametrize("shape", ["alike", "some lists lower"])
def test_high_scores_of_some_lists_at_a_time(shape, sorts, monkeypatch):
    rng = random.Random(shape)
    users = [rng.randint(0, 20) for _ in range(1500)]
    scores = [SHAPES[shape](rng, user) for user in users]
    whole = check(users, scores, 3)
    monkeypatch.setattr(polars_sort, "ROWS_AT_ONCE", 100)
    sorts.clear()
    assert check(users, scores, 3).sort("row").equals(whole.sort("row"))
    assert len(sorts) > 4 and max(sorts) < 200


def test_scores_that_the_integers_do_not_tell_apart(monkeypatch):
    monkeypatch.setattr(polars_pack, "MOST_BITS", 10)
    rng = random.Random(8)
    users = [rng.randint(0, 3) for _ in range(400)]
    for scores in ([rng.random() for _ in users], [rng.randint(0, 20) / 4 for _ in users]):
        frame = pl.DataFrame({"user": users, "score": scores, "relevant": [rng.randint(0, 4) for _ in users]})
        result = rank_rows(frame, ["user"], "score", None)
        place = pl.col("score").rank("min", descending=True).over("user").cast(pl.Int64).alias("start")
        size = pl.len().over("user", "score").cast(pl.Int64).alias("size")
        expected = frame.with_columns(place, size).drop("score")
        assert result.sort(pl.all()).equals(expected.sort(pl.all()))


def test_categories_have_codes():
    rng = random.Random(3)
    users = pl.Series([f"user {number % 20}" for number in range(1000)]).cast(pl.Categorical)
    assert check(users, [rng.random() for _ in users], 2).height == 40
