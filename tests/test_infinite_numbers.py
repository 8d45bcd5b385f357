"""Relevance, values and weights that are infinite, or whose powers are: named on eager frames, NaN on lazy ones."""

from __future__ import annotations

import math
import re

import pytest

import recframe
from engines import ENGINES

EAGER = next(entry.engine for entry in ENGINES.values() if not entry.engine.lazy)
INF = math.inf
ROWS = {"user": [1, 1, 2, 2], "item": [1, 2, 1, 2], "score": [0.9, 0.8, 0.9, 0.8]}


def frame_of(engine, relevant, price=(1, 2, 1, 2), weight=(1, 1, 1, 1)):
    """Return two lists of two ranked rows."""
    numbers = {"relevant": relevant, "price": price, "weight": weight}
    return engine.frame(ROWS | {name: [float(number) for number in column] for name, column in numbers.items()})


def answer(engine, frame, metric, **given):
    """Return the mean of a metric of the top row, None for NaN, or where a lazy engine fails to compute it."""
    try:
        return engine.ask(frame, "evaluate", [metric], k=1, **given)[0][f"{metric}@1"]
    except recframe.RecError:
        raise
    except Exception:
        if not engine.lazy:
            raise
        return None


@pytest.mark.parametrize(
    ("metric", "relevant", "said"),
    [
        ("ndcg", (0, INF, 1, 0), r"holds inf, but ndcg@1 accepts -1e\+300 to 1e\+300.*largest grade of the scale"),
        ("ndcg(gain=exp2)", (0, 1100, 1, 0), r"holds 1100, but ndcg\(gain=exp2\)@1 accepts at most 1000.*gain="),
        ("err", (0, 1100, 1, 0), r"holds 1100, but err@1 accepts at most 1000.*max_relevance="),
    ],
)
def test_relevance_whose_share_would_be_0(engine, metric, relevant, said):
    frame = frame_of(engine, relevant)
    if engine.lazy:
        assert answer(engine, frame, metric) is None
    else:
        with pytest.raises(recframe.RecError, match=f"(?s)relevant='relevant' {said}"):
            answer(engine, frame, metric)


@pytest.mark.parametrize("metric", ["dcg", "rbp(gain=linear)", "dcg(grades=positive)", "ndcg(grades=signed)"])
@pytest.mark.parametrize("relevance", [INF, -INF, 1e308])
def test_sums_of_relevance_are_finite(metric, relevance):
    frame = frame_of(EAGER, (relevance, 1, 1, 1))
    if relevance == -INF and metric in ("rbp(gain=linear)", "dcg(grades=positive)"):
        assert math.isfinite(answer(EAGER, frame, metric))  # negative relevance has no gain
    else:
        with pytest.raises(recframe.RecError, match=re.escape(f"relevant='relevant' holds {relevance:g}, but")):
            answer(EAGER, frame, metric)


@pytest.mark.parametrize("metric", ["precision", "map", "roc_auc", "ndcg(gain=binary)", "spearman", "kendall"])
def test_metrics_of_hits_and_of_orders_take_infinite_relevance(metric):
    infinite, finite = (frame_of(EAGER, (0, top, 1, 0)) for top in (INF, 2))
    given = {"k": None} if metric in ("spearman", "kendall") else {"k": 2}
    result, expected = (EAGER.ask(frame, "evaluate", [metric], **given) for frame in (infinite, finite))
    assert result == expected


@pytest.mark.parametrize("value", [INF, -INF])
@pytest.mark.parametrize("metric", ["money_precision", "money_recall"])
def test_values_of_hits(engine, metric, value):
    frame = frame_of(engine, (1, 1, 1, 0), price=(value, 2, 1, 2))
    if engine.lazy:
        assert answer(engine, frame, metric) is None
    else:
        text = rf"(?s)value='price' holds {value}, but a value is finite.*counts as 0"
        with pytest.raises(recframe.RecError, match=text):
            answer(engine, frame, metric)


@pytest.mark.parametrize(
    ("weight", "said"),
    [
        ((INF, INF, 1, 1), "holds inf, but a weight is 0 or more, and finite"),
        ((-1, -1, 1, 1), "holds -1, but a weight is 0 or more, and finite"),
        ((2, 3, 1, 1), "has several values within a list"),
    ],
)
def test_weights_of_lists(engine, weight, said):
    frame = frame_of(engine, (1, 0, 0, 1), weight=weight)
    if engine.lazy:
        assert answer(engine, frame, "mrr", weight="weight") is None
    else:
        with pytest.raises(recframe.RecError, match=f"weight='weight' {said}"):
            answer(engine, frame, "mrr", weight="weight")


def test_missing_weights_count_as_0(engine):
    frame = frame_of(engine, (1, 0, 0, 1), weight=(math.nan, math.nan, math.nan, 2))
    assert answer(engine, frame, "mrr", weight="weight") == 0


def test_lists_of_weight_0_count_nothing(engine):
    frame = frame_of(engine, (1, 0, 0, 1), weight=(0, 0, 2, 2))
    assert answer(engine, frame, "mrr", weight="weight") == 0


def test_weights_whose_squares_are_infinite():
    frame = frame_of(EAGER, (1, 0, 0, 1), weight=(1e200, 1e200, 1, 1))
    with pytest.raises(recframe.RecError, match=r"holds 1e\+200, but a weight is at most 1e\+100\n\nHint: divide all"):
        answer(EAGER, frame, "mrr", weight="weight")


@pytest.mark.parametrize("undefined", [float("inf"), float("-inf"), 1e301])
def test_a_value_of_undefined_lists_that_no_mean_can_hold(undefined):
    frame = EAGER.frame({"user": [1, 2], "relevant": [1, 0], "score": [1, 1]})
    with pytest.raises(recframe.OptionError, match=r"undefined=.* is not within ±1e\+300(?s:.*)undefined='skip'"):
        EAGER.ask(frame, "mrr", undefined=undefined)
    assert EAGER.ask(frame, "mrr", undefined=-1) == 0


@pytest.mark.parametrize(
    "metric",
    [
        "fbeta(beta=1e200)@2",
        "category_entropy(smoothing=1e308)",
        "awrf(browsing={1:1e308,2:1e308})",
        "eed(browsing={1:1e200})",
    ],
)
def test_options_whose_sums_or_squares_are_infinite(metric):
    with pytest.raises(recframe.OptionError, match=r"1e\+100"):
        recframe.metrics.parse(metric)


def test_options_that_are_whole_numbers_beyond_64_bits(engine):
    frame = frame_of(engine, (1, 0, 0, 1))
    assert engine.ask(frame, "fbeta", 1, beta=2**64) == pytest.approx(engine.ask(frame, "recall", 1))
    described = engine.frame({"item": [1, 2], "a": [1.0, 0.0], "b": [0.0, 1.0]})
    assert engine.ask(frame, "category_entropy", 1, smoothing=2**200, features=described) == pytest.approx(1)


@pytest.mark.filterwarnings("error")
def test_the_spread_of_values_whose_squares_are_infinite_is_missing():
    pl = pytest.importorskip("polars")
    pytest.importorskip("scipy")
    data = {"user": [1, 1, 2, 2, 3, 3], "relevant": [2e200, 0, 0, 2e200, 1e200, 2e200], "new": [1, 2, 2, 1, 2, 1]}
    frame = pl.DataFrame({**data, "old": [2, 1, 2, 1, 1, 2]})
    models = {"score": ["old", "new"]}
    assert frame.rec.compare("dcg@2", **models)["verdict"].to_list() == ["open"]
    with pytest.warns(recframe.DataWarning, match="only 3 lists"):
        assert frame.rec.sample_size("dcg@2", difference=0.1, **models)["std"].to_list() == [None]
    assert frame.rec.describe("dcg@2", score="old").select("std", "low", "high").row(0) == (None, None, None)
    assert frame.rec.rank_models("dcg@2", **models)["tied_with_best"].to_list() == [True, True]
