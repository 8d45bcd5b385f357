"""Expressions and selectors of polars as roles, on data frames and lazy ones."""

from __future__ import annotations

import datetime as dt

import pytest

import recframe

pl = pytest.importorskip("polars")
cs = pytest.importorskip("polars.selectors")

DAY = dt.datetime(2026, 1, 1, 5)  # noqa: DTZ001 - polars' own times have no zone either
FRAME = pl.DataFrame(
    {
        "user": [1, 1, 2, 2],
        "item": [1, 2, 1, 2],
        "rating": [5, 3, 2, 4],
        "score_a": [0.1, 0.9, 0.4, 0.2],
        "score_b": [0.9, 0.1, 0.2, 0.4],
        "ts": [DAY, DAY, DAY + dt.timedelta(days=1), DAY + dt.timedelta(days=1)],
    }
)
GOOD = pl.col("rating") >= 4


def rows(result):
    """Return the rows of a result, lazy or not."""
    return (result.collect() if isinstance(result, pl.LazyFrame) else result).rows()


@pytest.fixture(params=["eager", "lazy"])
def frame(request):
    return FRAME if request.param == "eager" else FRAME.lazy()


def test_expressions_of_a_call(frame):
    models = cs.starts_with("score_")
    assert rows(frame.rec.evaluate("mrr", relevant=GOOD, score=models)) == [("score_a", 0.5), ("score_b", 1.0)]
    by_day = rows(frame.rec.evaluate("mrr", relevant=GOOD, score="score_a", per=pl.col("ts").dt.date()))
    assert by_day == [(dt.date(2026, 1, 1), 0.5), (dt.date(2026, 1, 2), 0.5)]
    assert rows(frame.rec.mrr(relevant=GOOD, score=-pl.col("score_a"), per="user")) == [(1, 1.0), (2, 1.0)]


def test_bound_expressions(frame):
    rec = recframe.rec(frame, relevant=GOOD)
    expected = FRAME.with_columns(relevant=GOOD).rec(score=["score_a", "score_b"])
    given = {"score": cs.starts_with("score_")}
    assert rows(rec.describe("mrr", **given)) == expected.describe("mrr").rows()
    assert rows(frame.rec(relevant=GOOD, **given).evaluate("ndcg@1")) == expected.evaluate("ndcg@1").rows()


def test_the_relevance_of_a_truth(frame):
    truth = FRAME.select("user", "item", "rating")
    bare = frame.select("user", "item", "score_b")
    given = {"truth": truth.lazy() if isinstance(frame, pl.LazyFrame) else truth, "relevant": GOOD, "score": "score_b"}
    assert rows(bare.rec.evaluate("recall@1", **given)) == [(1.0,)]
    assert rows(bare.rec(**given).evaluate("recall@1")) == [(1.0,)]


@pytest.mark.parametrize(
    ("message", "call"),
    [
        (
            "(?s)an expression of 'stars', but the frame has no such column",
            lambda: FRAME.rec(relevant=pl.col("stars") > 3),
        ),
        (
            "(?s)has the name 'rating', which another role names.*alias",
            lambda: FRAME.rec.mrr(relevant="rating", score=-pl.col("rating")),
        ),
        ("(?s)`?item=`? is an expression.*both frames", lambda: FRAME.rec.mrr(item=pl.col("item") + 1, truth=FRAME)),
    ],
)
def test_expressions_that_say_too_little(message, call):
    with pytest.raises(recframe.RecError, match=message):
        call()


def test_expressions_on_other_frames_are_refused():
    frame = pytest.importorskip("pandas").DataFrame({"user": [1], "relevant": [1], "score": [1]})
    with pytest.raises(recframe.OptionTypeError, match="is an expression, not the name of a column"):
        frame.rec.mrr(relevant=GOOD)
