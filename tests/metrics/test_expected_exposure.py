"""Expected exposure: the values of the authors' code, lists without anything ranked, models that rank nothing relevant."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

import recframe

ROWS = [{"user": 1, "item": item, "score": score} for item, score in (("a", 2), ("b", 1), ("c", 1), ("d", 0))]
TRUTH = [{"user": 1, "item": item} for item in "acx"]
# disparity, relevance and difference of expeval (github.com/diazf/expeval) for both orders of b and c, with patience 0.5
EXPEVAL = {"eed": 1.296875, "eer": 0.8020833333333334, "eel": 0.7135416666666667}
GERR = {
    "eed(browsing=cascade)": 1.060547,
    "eer(browsing=cascade)": 0.519531,
    "eel(browsing=cascade)": 0.595703,
    "eed(p=0.8,browsing=cascade,stop=0.3)": 1.507751,
    "eer(p=0.8,browsing=cascade,stop=0.3)": 0.939298,
    "eel(p=0.8,browsing=cascade,stop=0.3)": 0.799280,
}
"""The same with -u gerr, its default, where users stop at relevant items; it prints six digits."""


def test_the_values_of_the_authors_code(engine):
    frame, truth = engine.frames(ROWS, TRUTH)
    (result,) = engine.ask(frame, "evaluate", ["eed", "eer", "eel"], truth=truth)
    assert result == pytest.approx(EXPEVAL, abs=1e-14)


def test_the_cascade_of_the_authors_code(engine):
    frame, truth = engine.frames(ROWS, TRUTH)
    (result,) = engine.ask(frame, "evaluate", [*GERR], truth=truth)
    assert result == pytest.approx(GERR, abs=1e-6)


def test_a_cascade_of_large_tied_blocks(engine):
    """One row is before a block of 1,000 rows with 30 relevant ones: hypergeometric numbers of hits ahead, in fractions."""
    size, hits, p, stay = 1000, 30, 0.5, Fraction(3, 4)
    rows = [{"user": 1, "item": i, "relevant": int(i <= hits), "score": int(i == 0)} for i in range(size + 1)]

    def seen(marked: int, k: int) -> float:
        total = Fraction(0)
        for ahead in range(k - 1):
            chances = [
                math.comb(marked, i) * math.comb(size - 1 - marked, ahead - i) * stay**i for i in range(ahead + 1)
            ]
            total += sum(chances, Fraction(0)) / math.comb(size - 1, ahead) * Fraction(p) ** (ahead + 1)
        return float(stay * total / size)

    expected = 1 + hits * seen(hits - 1, 20) ** 2 + (size - hits) * seen(hits, 20) ** 2
    metric = "eed(browsing=cascade,stop=0.25)@20"
    (result,) = engine.ask(engine.frame([{**rows[0], "relevant": 1}, *rows[1:]]), "evaluate", [metric])
    assert result[metric] == pytest.approx(expected, rel=1e-12)


def test_nothing_ranked_is_all_loss(engine):
    """The two relevant items should get (1 + 0.5) / 2 each, so that the loss is not 0, the best value."""
    frame, truth = engine.frames(ROWS, [{"user": 2, "item": item} for item in "ab"])
    result = engine.ask(frame, "evaluate", ["eer", "eel"], truth=truth)
    assert result == [{"eer": 0.0, "eel": 1.125}]


def test_a_model_without_a_relevant_row_is_not_the_best(engine):
    rows = [
        {"user": 1, "item": item, "model": name, "score": 1, "relevant": name == "good"}
        for item, name in (("a", "good"), ("b", "bad"))
    ]
    result = engine.ask(engine.frame(rows), "evaluate", ["eer", "eel"], model="model")
    assert {row["model"]: (row["eer"], row["eel"]) for row in result} == {"good": (1.0, 0.0), "bad": (0.0, 1.0)}


def test_ties_share_and_cutoffs_cut_the_target_too(engine):
    rows = [{"user": 1, "item": item, "score": 1, "relevant": 1} for item in range(4)]
    result = engine.ask(engine.frame(rows), "evaluate", ["eel", "eed"], k=[1, None])
    assert result == [{"eel@1": 0.0, "eel": 0.0, "eed@1": 0.25, "eed": pytest.approx(4 * (1.875 / 4) ** 2)}]


def test_disparity_reads_no_relevance_and_no_order_of_its_own_has_a_mean(engine):
    frame = engine.frame(ROWS)
    assert engine.ask(frame, "eed", browsing="log2", k=1) == pytest.approx(1.0)
    with pytest.raises(recframe.OptionError, match="chance"):
        engine.ask(engine.frame([{**row, "relevant": 1} for row in ROWS]), "evaluate", "eel", chance=True)


@pytest.mark.parametrize("metric", [recframe.metrics.EER, recframe.metrics.EEL])
def test_a_user_who_never_goes_on(polars_engine, metric):
    frame = polars_engine.frame({"user": [1, 1], "relevant": [1, 1], "score": [2.0, 1.0]})
    never, seldom = (polars_engine.value(frame, metric(p=p, browsing="cascade")) for p in (5e-324, 1e-100))
    assert never == pytest.approx(seldom)
