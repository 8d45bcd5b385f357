"""The order of the rows, other columns and the names of columns do not matter, and the frame is never changed."""

from __future__ import annotations

import random

import pytest

from compare import assert_equal, lists_of
from spellings import SOME
from strategies import BY, crowd


@pytest.mark.parametrize("ties", ["average", "best", "worst", "item", "item_desc"])
def test_row_order(engine, ties):
    some = engine.some(SOME, 2)
    rows = crowd(20, 90)
    shuffled = random.Random(1).sample(rows, len(rows))
    result = engine.ask(engine.frame(shuffled), "evaluate", some, by=BY, per=BY, ties=ties)
    assert_equal(result, lists_of(engine, rows, labels=some, ties=ties), BY)


def test_row_order_is_all_that_decides_under_first(engine):
    if engine.lazy:
        pytest.skip("a lazy frame has no row order")
    frame = {"user": [1, 1, 1], "relevant": [0, 1, 0], "score": [1, 1, 1]}
    result = [
        engine.ask(engine.frame({**frame, "relevant": hits}), "mrr", ties="first")
        for hits in ([1, 0, 0], [0, 1, 0], [0, 0, 1])
    ]
    assert result == [1, 1 / 2, 1 / 3]


def test_the_frame_is_not_changed(engine):
    some = engine.some(SOME, 1)
    rows = crowd(21, 30)
    frame, before = engine.frame(rows), engine.frame(rows)
    for ties in ("average", "item", "best"):
        engine.ask(frame, "evaluate", some, by=BY, ties=ties)
        engine.ask(frame, "ndcg", 3, by=BY, per="day", ties=ties)
    engine.ask(frame, "ndcg", 3, by=BY, truth=frame)
    if engine.library == "pandas":
        import pandas as pd

        pd.testing.assert_frame_equal(frame, before)
    else:
        assert engine.rows(frame) == engine.rows(before)


def test_other_columns_do_not_matter(engine):
    some = engine.some(SOME)
    rows = crowd(22, 40)
    # Names that a plan might use itself.
    names = [
        "key0",
        "key1",
        "score0",
        "model",
        "start",
        "size",
        "hit",
        "row",
        "relevance",
        "position",
        "sum0",
        "literal",
        "index",
    ]
    more = [{**row, **dict.fromkeys(names, "x")} for row in rows]
    assert_equal(
        engine.ask(engine.frame(more), "evaluate", some, by=BY, per=BY), lists_of(engine, rows, labels=some), BY
    )


@pytest.mark.parametrize(
    "columns",
    [
        {"user": "key0", "day": "key1", "item": "score", "relevant": "hit", "score": "relevance"},
        {"user": "score0", "day": "sum0", "item": "row", "relevant": "start", "score": "item"},
        {"user": "relevance", "day": "attribute0", "item": "model", "relevant": "size", "score": "key0"},
        {"user": "^u.*$", "day": "^.*$", "item": "^i", "relevant": "r|s", "score": "?"},
        {"user": "*", "day": "a b", "item": " ", "relevant": "é", "score": '"'},
    ],
)
def test_names_of_columns_do_not_matter(engine, columns):
    some = engine.some(SOME, 3)
    rows = crowd(23, 40)
    named = [{columns[name]: value for name, value in row.items()} for row in rows]
    by = [columns["user"], columns["day"]]
    roles = {name: columns[name] for name in ("item", "relevant", "score")}
    result = engine.ask(engine.frame(named), "evaluate", some, by=by, per=by, ties="item", **roles)
    assert_equal(result, lists_of(engine, rows, labels=some, ties="item"), by)
