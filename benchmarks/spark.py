"""Spark DataFrames whose lists polars evaluates on the workers, and what Spark takes without them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import polars.selectors as cs

import recframe
from benchmarks.data import Shape, arrays, polars_frame, spark_frame
from benchmarks.own import CUTOFFS, EIGHT
from benchmarks.timing import Missing, Row, in_turn, slower

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PARTS = 4
"""The partitions that whole lists go to, two for each core."""


def spark_rows(shape: Shape, repeats: int) -> Iterator[Row | Missing]:
    """Measure calls with partitions against eager polars, and the steps of Spark that no such call can leave out."""
    try:
        import pyspark  # noqa: F401
    except ModuleNotFoundError:
        yield Missing("Spark with partitions=", str(shape), "pyspark is not installed")
        return
    # The processes of Spark import this recframe.
    paths = [str(Path(recframe.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    columns = arrays(shape, extra=["score2"])
    columns["segment"] = columns["user"] % 5
    frame, spark = polars_frame(columns), spark_frame(columns)
    requested: dict[str, dict[str, Any]] = {
        "ndcg@5": {"metrics": ["ndcg@5"]},
        "8 metrics × 4 cutoffs": {"metrics": EIGHT, "k": CUTOFFS},
        "ndcg@5 of two models": {"metrics": ["ndcg@5"], "score": ["score", "score2"]},
        "ndcg@5 of five segments": {"metrics": ["ndcg@5"], "per": "segment"},
    }
    calls: dict[str, Callable[[], object]] = dict(_steps(spark))
    steps = list(calls)
    for what, given in requested.items():
        calls[what] = lambda given=given: recframe.rec(spark).evaluate(**given, partitions=PARTS).toPandas()
        calls[f"{what}, polars"] = lambda given=given: frame.rec.evaluate(**given)
    times = in_turn(calls, repeats, check=lambda results: _same(results[len(steps) :]))
    for step in steps:
        yield slower(f"{step} / eager polars, ndcg@5", shape, times[step], times["ndcg@5, polars"], None)
    for what in requested:
        limit = 4.0 if what.startswith("8") else 5.0
        yield slower(
            f"{what} on Spark, partitions={PARTS} / eager polars", shape, times[what], times[f"{what}, polars"], limit
        )


def _same(results: list[Any]) -> None:
    """Stop where the values of a call on Spark are not those of the one on polars after it."""
    for ours, polars in zip(results[::2], results[1::2], strict=True):
        there, here = (
            frame.sort(cs.exclude(cs.float())).select(cs.float()).to_numpy() for frame in (pl.from_pandas(ours), polars)
        )
        np.testing.assert_allclose(there, here, rtol=1e-9)


def _steps(frame: Any) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield what Spark does with the three columns that a metric reads, from less to more."""
    from pyspark.sql import Window, functions

    rows = frame.select("user", "relevant", "score")
    sums = [functions.sum(name) for name in rows.columns]
    rank = functions.rank().over(Window.partitionBy("user").orderBy(functions.desc("score")))
    yield "Spark's sums of three columns", lambda: rows.agg(*sums).collect()
    yield "the same after an exchange by list", lambda: rows.repartition(PARTS, "user").agg(*sums).collect()
    yield "rows to Python without an exchange (count)", lambda: _counted(rows)
    yield "exchange and transfer alone (count)", lambda: _counted(rows.repartition(PARTS, "user"))
    yield "Spark's own window rank", lambda: rows.withColumn("rank", rank).where("rank <= 5").count()


def _counted(frame: Any) -> object:
    """Send all rows to Python, which counts them."""

    def count(batches: Any) -> Any:
        import pyarrow as pa

        yield pa.RecordBatch.from_pydict({"rows": [sum(batch.num_rows for batch in batches)]})

    return frame.mapInArrow(count, "rows long").agg({"rows": "sum"}).collect()
