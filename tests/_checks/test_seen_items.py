"""What is said of items that users already have, which no metric leaves out."""

from __future__ import annotations

import pytest

import recframe

REMEDIES = [
    r"df.rec.label\(truth, seen=train\).rec.ndcg\(10\)",
    r"candidates and seen=train",
    r"check counts such rows with train=train",
]


@pytest.fixture
def frames(engine):
    return engine.frames(
        {"user": [1, 1], "item": ["a", "b"], "relevant": [1, 0], "score": [1.0, 2.0]}, {"user": [1], "item": ["b"]}
    )


@pytest.mark.parametrize("name", ["train", "exclude", "seen", "filter_seen"])
def test_accuracy_metrics_name_what_leaves_items_out(engine, frames, name):
    frame, train = frames
    for remedy in REMEDIES:
        with pytest.raises(recframe.OptionError, match=f"(?s){name}.*Hint: .*{remedy}"):
            recframe.rec(frame).recall(2, **{name: train})


@pytest.mark.parametrize("call", ["evaluate", "describe", "state", "compare"])
def test_accuracy_metrics_do_not_read_the_items_that_users_have(engine, frames, call):
    frame, train = frames
    roles = {"score": ["score", "relevant"]} if call == "compare" else {}
    for remedy in REMEDIES:
        with pytest.raises(recframe.OptionError, match=f"(?s)train= is not read by ndcg@1.*Hint: .*{remedy}"):
            engine.ask(frame, call, ["ndcg@1", "mrr"], train=train, **roles)


def test_items_that_users_have_may_be_given_for_another_metric(engine, frames):
    frame, train = frames
    assert len(engine.ask(frame, "evaluate", ["ndcg@1", "arp@1"], train=train)) == 1
    assert len(engine.rows(recframe.rec(frame, train=train).evaluate("ndcg@1"))) == 1
