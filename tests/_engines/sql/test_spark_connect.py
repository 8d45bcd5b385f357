"""Spark Connect: each call that works on classic Spark gives the numbers of polars there, or the same error.

A process has one kind of session, so these run alone: ``pytest tests/_engines/sql/test_spark_connect.py``.
"""

from __future__ import annotations

import pytest

import recframe
from engines import Spark

pl = pytest.importorskip("polars")
pytest.importorskip("pyspark")
pytest.importorskip("grpc")

pytestmark = pytest.mark.slow

DATA = pl.DataFrame(
    [
        {"user": user, "item": item, "country": "ab"[user % 2], "relevant": (user * item) % 3, "score": (item * 31 + user) % 4, "other": (item * 7 + user) % 5}
        for user in range(8)
        for item in range(1, 7)
    ]
)  # fmt: skip
TRUTH = DATA.filter(pl.col("relevant") > 0).select("user", "item", "relevant")
MODELS = DATA.rename({"score": "old"}).unpivot(
    ["old", "other"], index=["user", "item", "relevant"], variable_name="model", value_name="score"
)
FRAMES = ("truth", "train")
TWO = {"score": ["score", "other"]}
CALLS = {
    "one metric": ("ndcg", {"k": 3}, []),
    "lists": ("evaluate", {"metrics": ["map", "roc_auc"], "per": "user"}, ["user"]),
    "segments": ("evaluate", {"metrics": "mrr", "per": "country", "counts": True, **TWO}, ["model", "country"]),
    "truth": ("evaluate", {"metrics": ["recall", "ndcg(gain=exp2)"], "k": [1, 3], "truth": TRUTH}, []),
    "models": ("evaluate", {"metrics": ["ndcg", "coverage"], "k": 3, "truth": TRUTH, **TWO}, ["model"]),
    "side information": ("evaluate", {"metrics": ["novelty", "gini"], "k": 2, "train": TRUTH}, []),
    "ties": ("evaluate", {"metrics": "ndcg", "k": 3, "ties": "item", "min_relevance": 2}, []),
    "check": ("check", {"k": 3}, ["finding"]),
    "contributions": ("contributions", {"metric": "dcg@3"}, ["user", "item"]),
    "compare": ("compare", {"metrics": "ndcg", "k": 3, **TWO}, []),
    "describe": ("describe", {"metrics": "ndcg", "k": 3, "per": "country"}, ["country"]),
    "agreement": ("agreement", {"k": 3, "measures": "jaccard", **TWO}, []),
    "changes": ("changes", {"metric": "mrr", **TWO}, ["user"]),
}  # fmt: skip


class Connect(Spark):
    """DataFrames of Spark Connect, on a server of this process."""

    def started(self, builder):
        return builder.remote("local[2]")


@pytest.fixture(scope="module")
def connect():
    from pyspark import SparkContext

    if SparkContext._active_spark_context is not None:
        pytest.skip("a session of classic Spark runs in this process")
    engine = Connect()
    yield engine
    engine.session.stop()


def on_connect(connect, data):
    return connect.session.createDataFrame(data.to_arrow())


def rows(connect, result):
    """Return the rows of a result; calls that compare models give eager frames on all engines."""
    return result.to_dicts() if isinstance(result, pl.DataFrame) else connect.rows(result)


@pytest.mark.filterwarnings("ignore::recframe.RecWarning")
@pytest.mark.parametrize("name", CALLS)
def test_calls_on_connect_give_the_numbers_of_polars(connect, name):
    method, given, key = CALLS[name]
    there = {each: on_connect(connect, value) if each in FRAMES else value for each, value in given.items()}
    frame = on_connect(connect, DATA)
    assert "connect" in type(frame).__module__
    result = rows(connect, getattr(recframe.rec(frame), method)(**there))
    here = {each: value.lazy() if each in FRAMES else value for each, value in given.items()}
    expected = getattr(recframe.rec(DATA.lazy()), method)(**here).lazy().collect().to_dicts()
    assert len(result) == len(expected)
    order = lambda row: str([row[column] for column in key])  # noqa: E731
    for one, other in zip(sorted(result, key=order), sorted(expected, key=order), strict=True):
        assert one == pytest.approx(other, abs=1e-12, nan_ok=True)


def test_models_in_rows_on_connect(connect):
    result = connect.rows(recframe.rec(on_connect(connect, MODELS)).evaluate("ndcg", k=3, model="model"))
    expected = MODELS.rec.evaluate("ndcg", k=3, model="model").to_dicts()
    by_model = {row["model"]: row["ndcg@3"] for row in result}
    assert by_model == pytest.approx({row["model"]: row["ndcg@3"] for row in expected}, abs=1e-12)


@pytest.mark.parametrize(
    ("message", "call"),
    [
        ("(?s)row order.*frame.toArrow", lambda rec: rec.ndcg(ties="first")),
        ("(?s)did you mean 'score'", lambda rec: rec.ndcg(score="scre")),
        ("(?s)lazy frame has none yet.*frame.toArrow", lambda rec: rec.evaluate("ndcg", save="prod.parquet")),
        ("(?s)polars or pandas.*frame.toArrow", lambda rec: rec.label(DATA)),
    ],
)
def test_what_connect_cannot_do_is_refused_with_the_remedy(connect, message, call):
    with pytest.raises(recframe.RecError, match=message):
        call(recframe.rec(on_connect(connect, DATA)))


def test_connect_has_no_rdd_for_the_metrics_of_spark(connect):
    from pyspark.errors import PySparkException

    with pytest.raises(PySparkException, match="rdd"):
        on_connect(connect, DATA).rdd  # noqa: B018
