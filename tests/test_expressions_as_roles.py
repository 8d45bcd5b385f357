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
    pytest.importorskip("scipy")
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


def test_expressions_of_calls_that_compute_no_metric(frame):
    models = cs.starts_with("score_")
    bound = frame.rec(relevant=GOOD, score=models)
    assert rows(frame.rec.check(relevant=GOOD, score=models, all=True)) == rows(bound.check(all=True))
    assert rows(frame.rec.agreement(1, score=models, per=pl.col("ts").dt.date()))[0][0] == dt.date(2026, 1, 1)
    # Rows that a call returns have the columns of the frame as they are.
    expected = rows(frame.rec.fuse(score=["score_a", "score_b"]))
    assert (
        rows(frame.rec.fuse(score=models)) == rows(frame.rec.fuse(score=[pl.col("score_a") * 2, "score_b"])) == expected
    )
    assert [row[3] for row in rows(frame.rec.top(1, score=-pl.col("score_a")))] == [0.1, 0.2]
    truth, bare = frame.select("user", "item", "rating"), frame.select("user", "item")
    labelled = rows(bare.rec.label(truth, relevant=GOOD))
    assert [row[2] for row in labelled] == [True, False, False, True]


def test_expressions_read_the_columns_as_they_are(frame):
    """The score has the name of the column that the relevance reads, in both orders of the arguments."""
    score = -pl.col("rating")
    for given in ({"score": score, "relevant": GOOD}, {"relevant": GOOD, "score": score}):
        assert rows(frame.rec.evaluate("mrr", **given)) == [(0.5,)]
    contributions = frame.rec.contributions("mrr", relevant=GOOD, score="score_a").lazy()
    assert contributions.collect_schema().names()[:3] == ["user", "item", "relevant"]


def test_lists_of_expressions_name_models(frame):
    result = rows(frame.rec.evaluate("mrr", relevant=GOOD, score=[(-pl.col("score_a")).alias("less"), "score_b"]))
    assert result == [("less", 1.0), ("score_b", 1.0)]


def test_charts_read_expressions(frame):
    pytest.importorskip("altair")
    pytest.importorskip("scipy")
    given = {"score": ["score_a", "score_b"]}
    spec = frame.rec.plot.differences("mrr", relevant=GOOD, **given).to_dict()
    same = frame.with_columns(relevant=GOOD).rec.plot.differences("mrr", **given).to_dict()
    assert spec == same


def test_a_judge_has_the_columns_of_the_truth(frame):
    pytest.importorskip("scipy")
    judge = FRAME.select("user", "item", "rating")
    truth = judge.filter(pl.col("user") == 1)
    given = {"score": "score_b", "relevant": GOOD, "truth": truth, "judge": judge}
    result = frame.rec.estimate_with_judge("mrr", **given).lazy().collect()
    assert result.select("human_mean", "judge_mean", "kappa").row(0) == (1.0, 1.0, 1.0)


@pytest.mark.parametrize(
    ("message", "call"),
    [
        ("(?s)has the name 'user', which another role", lambda: FRAME.rec.mrr(relevant=GOOD, per=pl.col("user") % 2)),
        ("(?s)expression of several columns.*selector", lambda: FRAME.rec.mrr(relevant=pl.col("rating", "item"))),
        ("(?s)top returns the columns of the frame", lambda: FRAME.rec.top(1, by=pl.col("user") // 2, score="score_a")),
        (
            "(?s)an expression of 'stars', but truth has the columns",
            lambda: FRAME.rec.mrr(relevant=pl.col("stars") > 3, truth=FRAME, score="score_a"),
        ),
        (
            "(?s)with the name 'ts', which `?truth=`? has as another column",
            lambda: FRAME.rename({"rating": "n"}).rec.mrr(
                score="score_a", relevant="rating", truth=FRAME, per=(pl.col("n") > 2).alias("ts")
            ),
        ),
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
