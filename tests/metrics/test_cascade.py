"""ERR and PFound equal their oracle, on every engine, and name what they cannot use."""

from __future__ import annotations

import pytest

import recframe
from compare import assert_oracle, same
from recframe import metrics
from spellings import spellings_of
from strategies import BY, crowd, shop

LABELS = [label for name in ("err", "pfound") for label in spellings_of(name, (1, 2, 3, 9, None))]


@pytest.mark.parametrize("ties", ["average", "best", "worst"])
@pytest.mark.parametrize("grades", [(0, 0, 0, 1, 2, 3, -1), (0, 1)], ids=["graded", "binary"])
def test_every_list(engine, ties, grades):
    assert_oracle(engine, shop(f"cascade {ties} {grades}", 120, grades=grades), LABELS, ties)


def test_each_metric_keeps_its_own_cutoff(polars_engine):
    """Several probabilities to stop, each read up to another position, two of them by metrics with different cutoffs."""
    frame = polars_engine.frame(crowd(38, 60, relevance=(0, 0, 1)))
    some = ["err@2", "err@4", "pfound@3", "pfound(p_break=0.5)@9", "err(max_relevance=5)", "map"]
    (together,) = polars_engine.ask(frame, "evaluate", some, by=BY)
    for label in some:
        assert same(polars_engine.value(frame, label, by=BY), together[label]), label


@pytest.mark.parametrize("metric", ["err", "err@4", "pfound(probability={0: 0.01, 1: 0.3, 2: 0.5, 3: 1})"])
def test_arrays_and_the_query_give_the_same(polars_engine, monkeypatch, metric):
    """Without NumPy, polars runs the query that databases run."""
    pytest.importorskip("numpy")
    frame = polars_engine.frame(crowd(41, 60, relevance=(0, 0, 1, 2, 3)))
    (by_arrays,) = polars_engine.ask(frame, "evaluate", [metric], by=BY, chance=True)
    monkeypatch.setattr("recframe._plan.tied_stops.find_spec", lambda _: None)
    (by_query,) = polars_engine.ask(frame, "evaluate", [metric], by=BY, chance=True)
    assert all(same(by_query[name], value) for name, value in by_arrays.items())


def half(relevance, greatest):
    return relevance * 0.5


def third(relevance, greatest):
    return relevance / 3


class BothUsers(recframe.CutMetric):
    """Two users who stop with other probabilities, by a term that multiplies these."""

    name = "both_users"

    def terms(self, row):
        first, second = (row.cascade(stop, lambda position: 1 / position, self.k) for stop in (half, third))
        return {"first": first, "product": first * second}

    def value(self, sums):
        return sums["first"] + sums["product"]


def test_a_product_of_probabilities_to_stop_reads_both_at_the_same_positions(polars_engine):
    frame = polars_engine.frame(crowd(39, 40, relevance=(0, 0, 1)))
    some = [BothUsers(k=3), metrics.ERR(k=9, probability={1: 0.5}), metrics.ERR(k=2)]
    (together,) = polars_engine.ask(frame, "evaluate", some, by=BY)
    for metric in some:
        assert same(polars_engine.value(frame, metric, by=BY), together[str(metric)])


def test_relevance_that_a_metric_cannot_use_is_named(engine):
    if engine.lazy:
        pytest.skip("needs the data")
    frame = engine.frame([{"user": 1, "item": 1, "relevant": 4, "score": 1.0}])
    with pytest.raises(ValueError, match=r"(?s)relevant='relevant' holds 4, but pfound@5 accepts 0 to 1.*probability="):
        engine.ask(frame, "evaluate", ["pfound"], k=5)
    with pytest.raises(ValueError, match=r"holds 4, but err\(max_relevance=3\) accepts at most 3"):
        engine.ask(frame, "evaluate", ["err(max_relevance=3)"])


def test_the_relevance_itself_satisfies(polars_engine):
    frame = polars_engine.frame({"user": [1, 1, 1], "relevant": [0.5, 0.0, 0.8], "score": [3, 2, 1]})
    assert polars_engine.ask(frame, "err", probability="relevance") == pytest.approx(0.5 + 0.5 * 0.8 / 3)
    wrong = polars_engine.frame({"user": [1], "relevant": [2.0], "score": [1]})
    with pytest.raises(ValueError, match=r"holds 2, but err\(probability=relevance\) accepts 0 to 1"):
        polars_engine.ask(wrong, "err", probability="relevance")


@pytest.mark.parametrize(
    ("make", "pattern"),
    [
        (lambda: metrics.PFound(p_break=1.0), "p_break=1.0 is not at least 0 and less than 1"),
        (lambda: metrics.PFound(p_break="x"), "p_break='x' is not a number"),
        (lambda: metrics.PFound(probability=5), "probability=5 does not map"),
        (lambda: metrics.PFound(probability={1: 1.5}), "gives relevance 1 the chance 1.5"),
        (lambda: metrics.ERR(max_relevance=-1), "max_relevance=-1 is not at least 0"),
        (lambda: metrics.ERR(probability={1: 2}), "gives relevance 1 the chance 2"),
        (lambda: metrics.ERR(max_relevance=3, probability={1: 0.5}), "max_relevance=3 or probability=, not both"),
    ],
)
def test_bad_options_are_named(make, pattern):
    with pytest.raises(ValueError, match=pattern):
        make()
