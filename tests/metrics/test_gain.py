"""Gains by a table or a function: the oracle's values, and what no gain may be."""

from __future__ import annotations

import pytest

import oracle
import recframe
from compare import assert_equal
from recframe import metrics
from strategies import GRADED, crowd

KEYS = ["user", "day"]
# 2 is worth less than 1: the best order is no longer that of the relevance.
TABLE = {0: 0, 1: 4, 2: 1, 3: 7}


def falling(relevance):
    return 10.0 - relevance


def test_tables_and_functions_equal_their_oracle(engine):
    rows = crowd(11, 9, relevance=(*GRADED, -1.0, 0.0))
    requested = [
        *(metrics.NDCG(2, gain=TABLE, grades=grades) for grades in ("all", "relevant", "signed")),
        *(metrics.NDCG(None, gain=gain, ideal=ideal) for gain in (TABLE, falling) for ideal in ("all", "ranked")),
        metrics.DCG(3, gain=TABLE),
        metrics.NDCG(2),
    ]
    labels = [str(metric) for metric in requested]
    assert labels[0] == "ndcg(gain={0:0,1:4,2:1,3:7})@2"
    result = engine.ask(engine.frame(rows), "evaluate", requested, by=KEYS, per=KEYS)
    assert_equal(result, oracle.evaluate(rows, labels, by=KEYS, per=KEYS), KEYS)


def test_the_bounds_under_ties_follow_the_relevance_and_the_truth_its_gains(polars_engine):
    rows = crowd(12, 6, relevance=GRADED)
    labels = ["ndcg(gain={1:1,2:3,3:7})@2", "dcg(gain={1:1,2:3,3:7})"]
    for ties in ("best", "worst", "item"):
        result = polars_engine.ask(polars_engine.frame(rows), "evaluate", labels, by=KEYS, per=KEYS, ties=ties)
        assert_equal(result, oracle.evaluate(rows, labels, by=KEYS, per=KEYS, ties=ties), KEYS)
    frame, truth = polars_engine.frames(
        {"user": [1, 1, 1], "item": [1, 2, 3], "score": [3.0, 2.0, 1.0]},
        {"user": [1, 1, 1], "item": [1, 3, 4], "relevant": [1, 2, 2]},
    )
    # Grade 1 is worth 5 and comes first in the best order, before both of grade 2.
    result = polars_engine.value(frame, "ndcg(gain={1:5,2:1})", truth=truth)
    assert result == pytest.approx(5.5 / (5 + 1 / 1.584962500721156 + 0.5))


def test_shares_of_rows_sum_to_the_value(polars_engine):
    frame = polars_engine.frame(crowd(13, 12, relevance=GRADED))
    rows = polars_engine.ask(frame, "contributions", metrics.NDCG(3, gain=falling), by=KEYS, item=None)
    lists = oracle.grouped(rows, KEYS)
    for result in lists.values():
        value = result[0]["ndcg(gain=falling)@3"]
        if value is not None:
            assert sum(row["contribution"] for row in result) == pytest.approx(value)


@pytest.mark.parametrize(
    ("gain", "says"),
    [
        ({0: 1}, "what is not above 0 has none"),
        ({1: -1}, "gains are 0 or more"),
        ({1: float("inf")}, "gains are finite"),
        (5, "does not map relevances to numbers"),
        (float, "or a table such as gain="),
        (lambda relevance: 3, "not an expression of the relevance"),
    ],
)
def test_what_no_gain_may_be(gain, says):
    with pytest.raises(recframe.RecError, match=says):
        metrics.DCG(gain=gain)


@pytest.mark.parametrize(
    "metric",
    [
        metrics.NDCG(2, gain=lambda relevance: relevance / relevance.max()),
        metrics.DCG(2, discount=lambda position: 1 / position.rank()),
    ],
)
def test_functions_that_read_other_rows(engine, metric):
    # A call keeps the rows that it needs: their maximum is not that of the frame, nor that of a list.
    frame = engine.frame({"user": [1, 1, 1], "relevant": [1, 0, 5], "score": [3.0, 2.0, 1.0]})
    with pytest.raises(recframe.OptionTypeError, match="reads other rows than its own"):
        engine.value(frame, metric)


def test_weights_of_positions():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"user": [1, 1, 1, 1], "relevant": [2, 0, 1, 1], "score": [0.9, 0.8, 0.8, 0.1]})
    expected = 2 * 1 + 1 * (0.6 + 0.4) / 2
    for weights in ([1, 0.6, 0.4], (1, 0.6, 0.4), {1: 1, 2: 0.6, 3: 0.4}):
        assert frame.rec.dcg(discount=weights) == pytest.approx(expected)
    assert frame.rec.ndcg(discount=[1, 0.6, 0.4]) == pytest.approx(expected / (2 + 0.6 + 0.4))
    assert frame.rec.evaluate("dcg(discount={1:1,2:0.6,3:0.4})").item() == pytest.approx(expected)
    assert frame.rec.evaluate(metrics.DCG(2, discount=[1, 0.6])).columns == ["dcg(discount={1:1,2:0.6})@2"]
    curve = [1 / position for position in range(1, 301)]
    assert frame.rec.dcg(discount=curve) == pytest.approx(frame.rec.dcg(discount="reciprocal"))


def test_weights_as_position_bias_returns_them():
    pl = pytest.importorskip("polars")
    pytest.importorskip("numpy")
    clicks = [(1, 1)] * 4 + [(2, 1), (2, 0), (2, 0), (2, 1)]
    log = pl.DataFrame([("x", "a", *each) for each in clicks], ["query", "item", "position", "clicked"], orient="row")
    bias = log.rec.position_bias(by="query", relevant="clicked", rank="position")
    frame = pl.DataFrame({"user": [1, 1, 1], "relevant": [0, 1, 1], "score": [3, 2, 1]})
    assert frame.rec.dcg(discount=bias) == pytest.approx(0.5)
