"""condensed=True: unjudged rows are gone before the rest is ranked."""

from __future__ import annotations

import pytest

import oracle
import recframe
from compare import assert_equal
from spellings import SOME
from strategies import GRADED, crowd

KEYS = ["user", "day"]
ROWS = [
    {**row, "item": i, "relevant": None if i % 3 == 1 else row["relevant"]}
    for i, row in enumerate(crowd(31, 20, relevance=GRADED))
]


def judged(rows, least=0):
    return [row for row in rows if row["relevant"] is not None and row["relevant"] >= min(least, 0)]


@pytest.mark.parametrize("truth", [False, True])
def test_every_list_equals_that_of_its_judged_rows(engine, truth):
    some = engine.some(SOME, 3)
    expected = oracle.evaluate(judged(ROWS), some, by=KEYS, per=KEYS)
    if truth:
        frame = engine.frame([{name: row[name] for name in (*KEYS, "item", "score")} for row in ROWS])
        given = {
            "truth": engine.frame(
                [
                    {name: row[name] for name in (*KEYS, "item", "relevant")}
                    for row in ROWS
                    if row["relevant"] is not None
                ]
            )
        }
    else:
        frame, given = engine.frame(ROWS), {}
    result = engine.ask(frame, "evaluate", some, by=KEYS, per=KEYS, condensed=True, **given)
    empty = dict.fromkeys(some)
    # A list of which nothing was judged stays a list without a value.
    assert_equal(result, {key: expected.get(key, empty) for key in oracle.grouped(ROWS, KEYS)}, KEYS)


@pytest.mark.parametrize("lists", ["all", "ranked"])
@pytest.mark.parametrize("least", [0, -1, -3])
def test_what_nobody_judged_is_never_relevant(polars_engine, least, lists):
    # Without condensed= it would be: a missing relevance counts as 0, which is relevant from 0 on.
    rows = [{**row, "relevant": row["relevant"] and row["relevant"] - 1} for row in ROWS]
    expected = oracle.evaluate(judged(rows, least), SOME, by=KEYS, per=KEYS, min_relevance=least)
    given = {"by": KEYS, "per": KEYS, "condensed": True, "min_relevance": least, "lists": lists}
    result = polars_engine.ask(polars_engine.frame(rows), "evaluate", SOME, **given)
    assert_equal(result, {key: expected.get(key, dict.fromkeys(SOME)) for key in oracle.grouped(rows, KEYS)}, KEYS)


def test_gaps_of_given_ranks_are_closed(polars_engine):
    data = {"user": [1] * 5, "relevant": [None, 0, None, 1, 1], "rank": [1, 2, 3, 4, 4]}
    frame = polars_engine.frame(data)
    assert polars_engine.ask(frame, "mrr", rank="rank", condensed=True) == 0.5
    rows = polars_engine.ask(frame, "contributions", "map", rank="rank", condensed=True, item=None)
    assert [(row["position"], row["tied"]) for row in rows] == [(1, 1), (2, 2), (2, 2)]


def test_condensed_lists_of_all_models_use_the_same_judgments(polars_engine):
    data = {"user": [1, 1, 1], "item": [1, 2, 3], "a": [3.0, 2.0, 1.0], "b": [1.0, 3.0, None]}
    frame, truth = polars_engine.frames(data, {"user": [1, 1], "item": [2, 3], "relevant": [0, 1]})
    rows = polars_engine.ask(frame, "evaluate", ["mrr", "judged"], truth=truth, score=["a", "b"], condensed=True)
    assert [(row["mrr"], row["judged"]) for row in rows] == [(0.5, 1.0), (0.0, 1.0)]


def test_what_is_recommended_is_no_matter_of_judgments(polars_engine):
    frame = polars_engine.frame({"user": [1], "item": [1], "relevant": [1], "score": [1.0]})
    with pytest.raises(recframe.RecError, match="coverage reads what is recommended"):
        polars_engine.ask(frame, "coverage", condensed=True)
    ranked = polars_engine.frame({"user": [1], "relevant": [1], "rank": [1], "recframe_candidates": [1]})
    with pytest.raises(recframe.RecError, match="cannot tell which of the others are judged"):
        polars_engine.ask(ranked, "mrr", rank="rank", condensed=True)
