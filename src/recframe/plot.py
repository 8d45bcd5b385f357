"""Charts of results that you stored: each draws what ``df.rec.plot`` draws of a frame, from what a call returned.

>>> import polars as pl
>>> import recframe
>>> df = pl.DataFrame({"user": [1, 1, 2, 2], "week": [1, 1, 2, 2], "relevant": [0, 1, 1, 0], "score": [2, 1, 2, 1]})
>>> stored = df.rec.describe("mrr", per="week")  # or pl.read_parquet("weeks.parquet")
>>> chart = recframe.plot.trend(stored)
"""

from __future__ import annotations

from typing import NoReturn

from recframe._display.result_charts import curve, ranks, segments, tradeoff, trend
from recframe.errors import UnknownMethodError, no_attribute

__all__ = ["curve", "ranks", "segments", "tradeoff", "trend"]
_CHARTS_OF_LISTS = ("differences", "distribution", "power")


def __getattr__(name: str) -> NoReturn:
    if name in _CHARTS_OF_LISTS:
        msg = f"plot.{name} draws the values of lists, which no stored result holds"
        raise UnknownMethodError(msg, f"df.rec.plot.{name}(...) draws it from the rows")
    hint = "recframe.forest(result) draws a comparison" if name == "forest" else ""
    raise no_attribute(name, f"plot has no chart {{!r}} of a stored result; it has {', '.join(__all__)}", __all__, hint)


def __dir__() -> list[str]:
    return [*__all__]
