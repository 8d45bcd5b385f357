"""Results: their order, lists without a value, and frames without a ranked row."""

from __future__ import annotations

import math

import pytest

import oracle
from spellings import SOME
from strategies import BY, crowd


@pytest.mark.parametrize("per", ["user", ["user", "day"], ["day", "user"], "day"])
def test_results_are_sorted(engine, per):
    if not engine.sorts:
        pytest.skip(f"{engine} promises no order")
    columns = list(oracle.names(per))
    for text in (False, True):
        rows = engine.ask(engine.frame(crowd(36, 90, text=text)), "ndcg", 3, by=BY, per=per)
        assert list(rows[0]) == [*columns, "ndcg@3"]
        result = [tuple(row[name] for name in columns) for row in rows]
        last = [tuple((value is None, value if value is not None else 0) for value in key) for key in result]
        assert last == sorted(last), "sorted by key, missing ones last"


def test_undefined_lists_show_in_a_frame(engine):
    data = {"user": [1, 2, 2], "relevant": [0, 1, 0], "score": [1.0, 1.0, 2.0]}
    rows = engine.ask(engine.frame(data), "mrr", per="user")
    assert {row["user"]: row["mrr"] for row in rows} == {1: None, 2: 0.5}
    assert engine.ask(engine.frame(data), "mrr") == 0.5
    assert engine.ask(engine.frame(data), "mrr", undefined=0.0) == 0.25


def test_no_defined_list(engine):
    data = {"user": [1, 2, 2], "relevant": [0, 0, 0], "score": [1.0, 1.0, 2.0]}
    assert math.isnan(engine.ask(engine.frame(data), "mrr"))
    assert engine.ask(engine.frame(data), "evaluate", ["mrr", "ndcg@2"]) == [{"mrr": None, "ndcg@2": None}]


def test_nothing_ranked(engine):
    data = {"user": [1, 2, 2], "relevant": [1, 0, 1], "score": [None, math.nan, None]}
    labels = [label for label in SOME if "ideal=ranked" not in label and label != "ndcg(ideal=ones)"]
    (result,) = engine.ask(engine.frame(data, {"score": "float64"}), "evaluate", labels)
    assert result == dict.fromkeys(labels, 0.0)
