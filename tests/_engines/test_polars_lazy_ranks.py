"""Lazy frames are ranked when their plan runs, as data frames are: whatever the keys, on one core too."""

import os
import random
import subprocess
import sys

import narwhals as nw
import pytest

pl = pytest.importorskip("polars")

from recframe._engines.base import Needed  # noqa: E402 - needs polars
from recframe._engines.polars_frame import lazy  # noqa: E402
from recframe._engines.polars_lazy import LazyPolars  # noqa: E402

pytestmark = pytest.mark.skipif(
    not hasattr(pl.LazyFrame, "pipe_with_schema"), reason="polars tells the types of a plan to a callback since 1.35"
)

ROWS = 300
KEYS = {
    "integers": pl.col("user"),
    "text": pl.format("u{}", "user"),
    "categories": pl.format("u{}", "user").cast(pl.Categorical),
    "missing": pl.when(pl.col("user") > 0).then("user"),
    "missing text": pl.when(pl.col("user") > 0).then(pl.format("u{}", "user")),
    "fractions": pl.col("user") + 0.5,
    "dates": pl.date(2024, 1, pl.col("user") + 10),
    "lists": pl.concat_list("user"),
    "structs": pl.struct("user"),
    "bytes": pl.format("u{}", "user").cast(pl.Binary),
}


def rows(kind, height=ROWS):
    rng = random.Random(kind)
    frame = pl.DataFrame(
        {
            "user": [rng.randint(-3, 3) for _ in range(height)],
            "score": [rng.randint(0, 40) / 8 for _ in range(height)],
            "relevant": [int(rng.random() < 0.2) for _ in range(height)],
            "row": range(height),
        }
    )
    return frame.with_columns(KEYS[kind].alias("user"))


def by_row(frame):
    return frame.sort("row").to_dicts()


@pytest.mark.parametrize("kind", list(KEYS))
@pytest.mark.parametrize("height", [0, ROWS])
@pytest.mark.parametrize("needed", [None, Needed(nw.col("relevant") > 0, 0), Needed(nw.col("relevant") > 0, 2)])
@pytest.mark.parametrize("upto", [None, 4])
def test_rows_stand_where_their_rank_is(kind, height, needed, upto):
    frame = rows(kind, height)
    found = LazyPolars().rank_rows(lazy(frame.lazy()), ["user"], "score", upto, needed).to_native()
    start = pl.col("score").rank("min", descending=True).over("user").cast(pl.Int64).alias("start")
    expected = frame.with_columns(start, size=pl.len().over("user", "score").cast(pl.Int64)).drop("score")
    if needed is not None:
        expected = expected.filter((pl.col("relevant") > 0) | (pl.col("start") <= needed.upto))
    expected = expected if upto is None else expected.filter(pl.col("start") <= upto)
    answer = found.collect()
    assert answer.schema == found.collect_schema() == expected.schema
    assert by_row(answer) == by_row(expected)


@pytest.mark.parametrize("kind", list(KEYS))
@pytest.mark.parametrize("missing", [False, True])
def test_rows_are_numbered(kind, missing):
    frame = rows(kind)
    frame = frame.with_columns(score=pl.when(pl.col("row") % 7 > 0).then("score")) if missing else frame
    found = LazyPolars().number_rows(lazy(frame.lazy()), ["user"], "score", descending=True).to_native()
    answer = found.collect()
    assert answer.schema == found.collect_schema()
    assert by_row(answer.drop("position")) == by_row(frame)
    for rows_of_list in answer.filter(pl.col("score").is_not_null()).partition_by("user"):
        group = rows_of_list.sort("position")
        assert group["position"].to_list() == list(range(1, group.height + 1))
        assert group["score"].is_sorted(descending=True)
    tied = (
        LazyPolars()
        .number_rows(lazy(frame.lazy()), ["user"], "score", descending=True, tied=True)
        .to_native()
        .collect()
    )
    first = pl.col("score").rank("min", descending=True).over("user").cast(pl.Float64)
    assert by_row(tied.drop("equal")) == by_row(frame.with_columns(position=first))
    known = tied.filter(pl.col("score").is_not_null())
    assert known.equals(known.with_columns(equal=pl.len().over("user", "score").cast(pl.Float64)))


def test_what_reads_the_rows_can_leave_columns_and_rows_out():
    frame = rows("text")
    found = LazyPolars().rank_rows(lazy(frame.lazy()), ["user"], "score", None, None).to_native()
    expected = found.collect()
    assert by_row(found.select("start", "row").collect()) == by_row(expected.select("start", "row"))
    assert by_row(found.filter(pl.col("row") < 9).collect()) == by_row(expected.filter(pl.col("row") < 9))
    assert found.head(3).collect().height == 3


ON_ONE_CORE = """
import polars as pl, recframe
assert pl.thread_pool_size() == 1
frame = pl.DataFrame({"user": [n // 5 for n in range(100_000)], "relevant": [n % 3 == 0 for n in range(100_000)]})
frame = frame.with_columns(pl.format("u{}", "user").alias("user"), score=pl.int_range(pl.len()) * 7 % 11)
for engine in ("streaming", "in-memory"):
    lazy = frame.lazy().rec.evaluate(["ndcg", "map"], k=[2, 5]).collect(engine=engine)
    assert all(abs(a - b) < 1e-12 for a, b in zip(lazy.row(0), frame.rec.evaluate(["ndcg", "map"], k=[2, 5]).row(0)))
"""


def test_a_plan_within_a_plan_needs_no_second_core():
    subprocess.run(
        [sys.executable, "-c", ON_ONE_CORE], check=True, timeout=300, env={**os.environ, "POLARS_MAX_THREADS": "1"}
    )
