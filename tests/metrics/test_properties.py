"""What every metric promises: its bounds, the order of the tie policies, and that a better ranking is not worse."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import oracle
from compare import lists_of
from spellings import SOME, SPELLED
from strategies import BINARY, crowd, examples, frames

UNBOUNDED = ("dcg",)


@pytest.mark.parametrize("ties", ["average", "best", "worst", "item"])
@pytest.mark.parametrize("relevance", [BINARY, (0.0, 0.5, 1.0)])
def test_bounds(engine, relevance, ties):
    rows = crowd(29, 90, relevance=relevance)
    bounded = [label for label in SPELLED[::4] if oracle.parse(label).name not in UNBOUNDED]
    for values in lists_of(engine, rows, labels=bounded, ties=ties).values():
        for label, value in values.items():
            assert value is None or -1e-12 <= value <= 1 + 1e-12, label


def test_policies_are_in_order(engine):
    some = engine.some(SOME, 2)
    rows = crowd(30, 90)
    worst, average, best = (lists_of(engine, rows, labels=some, ties=ties) for ties in ("worst", "average", "best"))
    for key, label in ((key, label) for key in average for label in some if "norm=hits" not in label):
        if average[key][label] is not None:
            assert worst[key][label] - 1e-12 <= average[key][label] <= best[key][label] + 1e-12, (key, label)


def test_the_best_order_scores_one(engine):
    rows = [{**row, "score": oracle.number(row["relevant"])} for row in crowd(31, 100, relevance=(0, 1, 2, 3))]
    labels = [
        "ndcg",
        "ndcg@3",
        "ndcg(gain=exp2,discount=jarvelin)@3",
        "map",
        "map@2",
        "mrr",
        "r_precision",
        "recall(capped=True)@2",
    ]
    for values in lists_of(engine, rows, labels=labels).values():
        assert all(value is None or math.isclose(value, 1, rel_tol=1e-12) for value in values.values())


@examples(30)
@given(rows=frames(keys=1), data=st.data())
def test_promoting_a_relevant_item_never_lowers(engine, rows, data):
    some = engine.some(SOME, 1)
    if not engine.runs(rows):
        return
    rows = [{**row, "relevant": oracle.number(row["relevant"]) > 0} for row in rows]
    hits = [i for i, row in enumerate(rows) if row["relevant"] and not oracle.is_missing(row["score"])]
    assume(hits)
    scores = [row["score"] for row in rows if not oracle.is_missing(row["score"])]
    chosen = data.draw(st.sampled_from(hits))
    higher = data.draw(st.sampled_from([score for score in scores if score >= rows[chosen]["score"]]))
    promoted = [{**row, "score": higher} if i == chosen else row for i, row in enumerate(rows)]
    # map(norm="hits") is no such metric: a further hit at the end lowers the mean precision of the hits.
    labels = [label for label in some if "norm=hits" not in label]
    before, after = (lists_of(engine, each, labels=labels, by="user") for each in (rows, promoted))
    for key, values in before.items():
        for label, value in values.items():
            assert value is None or after[key][label] >= value - 1e-12, label
