"""What type checkers must see: checked by mypy, pyright, ty and Pyrefly, never run."""

from typing import Any, assert_type

import altair as alt
import duckdb
import pandas as pd
import polars as pl
import polars.selectors as cs

import recframe
from recframe import metrics

eager = pl.DataFrame()
lazy = pl.LazyFrame()

assert_type(recframe.rec(eager).ndcg(5, by="object"), float)
assert_type(recframe.rec(eager).ndcg(k=5, gain="exp2", discount=lambda position: 1 / position), float)
assert_type(recframe.rec(eager).ndcg(5, per="object"), pl.DataFrame)
assert_type(recframe.rec(eager).evaluate(["ndcg", metrics.MAP(5)], k=[1, 5], score=["a", "b"]), pl.DataFrame)
assert_type(recframe.rec(eager)(by="object").r_precision(), float)
assert_type(recframe.rec(lazy).ndcg(5), pl.LazyFrame)
good, day = pl.col("rating") >= 4, pl.col("ts").dt.date()
assert_type(recframe.rec(eager).ndcg(5, relevant=good, score=-pl.col("distance"), weight=pl.col("price")), float)
assert_type(recframe.rec(eager).ndcg(5, relevant=good, per=day), pl.DataFrame)
assert_type(recframe.rec(eager).ndcg(5, per=["country", day]), pl.DataFrame)
assert_type(recframe.rec(eager, relevant=good).evaluate("ndcg", score=cs.starts_with("score_")), pl.DataFrame)
assert_type(recframe.rec(lazy).compare("ndcg", relevant=good, score=[pl.col("a") * 2, "b"], per=day), pl.LazyFrame)
assert_type(recframe.rec(eager).check(relevant=good), pl.DataFrame)
assert_type(recframe.rec(eager).fuse(score=cs.starts_with("score_")), pl.DataFrame)
assert_type(recframe.rec(eager).label(eager, relevant=good), pl.DataFrame)
assert_type(recframe.rec(eager)(relevant=good, by=pl.col("user") // 10).mrr(), float)
assert_type(recframe.rec(lazy).evaluate("ndcg", k=5), pl.LazyFrame)
assert_type(recframe.rec(eager).label(eager, seen=eager), pl.DataFrame)
assert_type(recframe.rec(lazy).label(lazy), pl.LazyFrame)
assert_type(recframe.rec(eager).top(5, by="object"), pl.DataFrame)
assert_type(recframe.rec(eager).to_lists(5, scores=True), pl.DataFrame)
assert_type(recframe.rec(eager).split(fraction=0.2, seed=1), tuple[pl.DataFrame, pl.DataFrame])
assert_type(recframe.rec(lazy).split(last=1, time="day"), tuple[pl.LazyFrame, pl.LazyFrame])
assert_type(recframe.rec(eager).add_random(seed=1), pl.DataFrame)
assert_type(recframe.rec(eager).plot.differences("ndcg", score=["a", "b"]), alt.LayerChart)
assert_type(recframe.rec(eager).fuse(score=["a", "b"], method="sum", normalize="max"), pl.DataFrame)
assert_type(recframe.rec(eager).add_popular(eager, per="country"), pl.DataFrame)
assert_type(recframe.rec(lazy).add_propensity(lazy, power=0.5), pl.LazyFrame)
assert_type(recframe.rec(eager).position_bias(rank="position"), pl.DataFrame)


def on_pandas(frame: pd.DataFrame) -> float:
    value: float = recframe.rec(frame).map(5, norm="relevant", undefined=0.0)
    return value


def constructed_on_pandas(frame: pd.DataFrame) -> float:
    lists: pd.DataFrame = recframe.from_lists("recommended", "actual", frame=frame)
    everything: pd.DataFrame = recframe.candidates(frame, lists)
    value: float = everything.pipe(recframe.rec, by="object").ndcg(5)
    return value


def on_a_relation(relation: duckdb.DuckDBPyRelation) -> None:
    assert_type(recframe.rec(relation).ndcg(5), duckdb.DuckDBPyRelation)


class Mine(recframe.CutMetric):
    name = "mine"
    reads = "graded"


assert_type(recframe.rec(eager).evaluate(Mine(5)), pl.DataFrame)

assert_type(recframe.rec(eager, by="object").ndcg(5), float)
assert_type(recframe.rec(lazy, by="object", ties="worst").ndcg(5), pl.LazyFrame)
assert_type(eager.pipe(recframe.rec, by="object").ndcg(5), float)
assert_type(lazy.pipe(recframe.rec, by="object").ndcg(5), pl.LazyFrame)
assert_type(recframe.Config.set(by="user_id", min_relevance=4), type[recframe.Config])
assert_type(recframe.Config.state(), dict[str, Any])

with recframe.Config(by=["user_id", "day"], item="item_id", score=["a", "b"], ties="worst") as config:
    assert_type(config, recframe.Config)


assert_type(recframe.rec(eager).compare("ndcg", score=["a", "b"], baseline="a"), pl.DataFrame)
assert_type(recframe.rec(lazy).compare("ndcg", score=["a", "b"]), pl.LazyFrame)
assert_type(recframe.rec(eager).compare("ndcg", strata="task", strata_weights={"a": 1, "b": 2.5}), pl.DataFrame)
assert_type(recframe.rec(lazy).describe("ndcg", strata="task", strata_weights={1: 0.5}), pl.LazyFrame)
assert_type(recframe.rec(eager).evaluate("ndcg", strata="task"), pl.DataFrame)
assert_type(recframe.rec(eager).agreement(5, score=["a", "b"], measures="rbo"), pl.DataFrame)
assert_type(recframe.rec(eager).agreement(5, score=["a", "b"], confidence=0.9, cluster="user"), pl.DataFrame)
assert_type(recframe.require(0.5, 0.4), None)


assert_type(recframe.read_run("old.run", library="polars"), pl.DataFrame)
assert_type(recframe.read_run("old.run", library="pandas"), pd.DataFrame)
assert_type(recframe.read_qrels("test.qrels", by="query", library="polars"), pl.DataFrame)


def files(path: str) -> None:
    run: pl.DataFrame = recframe.read_run(path)
    qrels: pl.DataFrame = recframe.read_qrels(path, by="query")
    recframe.require(recframe.rec(run).evaluate("ndcg", truth=qrels), {"ndcg": 0.3})


assert_type(recframe.sql(["ndcg@10"], table="recs", truth="bought", dialect="bigquery", types={"n": "integer"}), str)
assert_type(recframe.expr.ndcg(score="score", relevant="clicked", k=5, gain="exp2", ties="best"), pl.Expr)
assert_type(
    recframe.expr.evaluate(metrics=["ndcg", "map"], score=pl.col("score"), relevant="clicked", k=[5, 10]), pl.Expr
)


assert_type(recframe.datasets.visits(library="polars"), pl.DataFrame)
assert_type(recframe.datasets.visits(library="pandas"), pd.DataFrame)
assert_type(recframe.read_run(recframe.datasets.trec().runs, library="polars"), pl.DataFrame)
assert_type(recframe.candidates(eager, [1, 2]), pl.DataFrame)
assert_type(recframe.candidates([1, 2], eager, seen=eager), pl.DataFrame)
assert_type(recframe.candidates(eager, lazy), pl.LazyFrame)
assert_type(recframe.candidates([1], [2], library="polars"), pl.DataFrame)
assert_type(recframe.from_lists("recommended", "actual", frame=eager), pl.DataFrame)
assert_type(recframe.from_lists("recommended", "actual", frame=lazy, by="object"), pl.LazyFrame)
assert_type(recframe.from_lists([[1]], [[1]], library="polars"), pl.DataFrame)
assert_type(recframe.from_arrays([1], {"old": [0.5]}, library="polars"), pl.DataFrame)
assert_type(recframe.from_arrays([1], [0.5], by=[1], library="pandas"), pd.DataFrame)
