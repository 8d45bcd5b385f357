"""The frames that are measured: permuted rows, integer keys, graded relevance of which a tenth is positive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    import polars as pl

COLUMNS = ("user", "item", "relevant", "score")


@dataclass(frozen=True)
class Shape:
    """How many lists of how many rows."""

    lists: int
    length: int

    @property
    def rows(self) -> int:
        """The rows of the frame."""
        return self.lists * self.length

    def __str__(self) -> str:
        return f"{_short(self.lists)} × {_short(self.length)}"


def _short(number: int) -> str:
    for unit, size in (("M", 1_000_000), ("k", 1_000)):
        if number >= size and number % size == 0:
            return f"{number // size}{unit}"
    return str(number)


def arrays(shape: Shape, *, digits: int | None = None, extra: Sequence[str] = ()) -> dict[str, Any]:
    """Return the columns of a frame, rows in random order.

    Parameters
    ----------
    shape : Shape
        The lists, all of one length.
    digits : int, optional
        Round the scores to so many digits, which makes ties; None: no ties.
    extra : sequence of str
        ``"score2"``, ``"score3"``: models. ``"price"``: what items are worth. ``"bought"``: the relevance as 0 and 1.
    """
    rng = np.random.default_rng(0)
    order = rng.permutation(shape.rows)
    user, item = np.divmod(order, shape.length)
    relevant = (rng.random(shape.rows) < 0.1) * rng.integers(1, 5, shape.rows)
    # Peers disagree on lists without a relevant item, so that every list has one.
    relevant[item == 0] = 4
    columns = {"user": user, "item": item, "relevant": relevant, "score": rng.random(shape.rows)}
    for name in ("score2", "score3"):
        if name in extra:
            columns[name] = rng.random(shape.rows)
    if "price" in extra:
        columns["price"] = rng.random(shape.rows)
    if "bought" in extra:
        columns["bought"] = (relevant > 0).astype(np.int64)
    if digits is not None:
        columns["score"] = columns["score"].round(digits)
    return columns


def polars_frame(columns: dict[str, Any]) -> pl.DataFrame:
    import polars as pl

    return pl.DataFrame(columns)


def pandas_frame(columns: dict[str, Any]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(columns)


def spark_frame(columns: dict[str, Any]) -> Any:
    """Return a Spark frame of a local session on two cores, whose rows are in memory."""
    import os
    import sys

    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "6g",
        "spark.log.level": "ERROR",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.shuffle.partitions": "4",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    frame = builder.getOrCreate().createDataFrame(pandas_frame(columns)).repartition(2).cache()
    frame.count()
    return frame


def as_text(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the frame with text instead of its integer keys."""
    import polars as pl

    return frame.with_columns(pl.format("user-{}", "user").alias("user"))
