"""What type checkers must see: checked by mypy and pyright, never run."""

from typing import assert_type

import pandas as pd
import polars as pl

import recframe
from recframe import metrics

eager = pl.DataFrame()
lazy = pl.LazyFrame()

assert_type(recframe.rec(eager).ndcg(5, by="object"), float)
assert_type(recframe.rec(eager).ndcg(k=5, gain="exp2", discount=lambda position: 1 / position), float)
assert_type(recframe.rec(eager).ndcg(5, per="object"), pl.DataFrame)
assert_type(recframe.rec(eager).evaluate(["ndcg", metrics.MAP(5)], k=[1, 5], score=["a", "b"]), pl.DataFrame)
assert_type(recframe.rec(eager)(by="object").r_precision(), float)
assert_type(recframe.rec(eager).measure("ndcg@5"), float)
assert_type(recframe.rec(lazy).ndcg(5), pl.LazyFrame)
assert_type(recframe.rec(lazy).evaluate("ndcg", k=5), pl.LazyFrame)


def on_pandas(frame: pd.DataFrame) -> float:
    value: float = recframe.rec(frame).map(5, norm="relevant", undefined=0.0)
    return value


class Mine(recframe.CutMetric):
    name = "mine"
    reads = "graded"


assert_type(recframe.rec(eager).measure(Mine(5)), float)
