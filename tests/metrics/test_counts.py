"""Counts of a list's rows: of every list, with a truth and without."""

from __future__ import annotations

import pytest

import recframe


def test_lists_without_a_relevant_item_count(engine):
    frame = engine.frame({"user": [1, 1, 1, 2, 3], "relevant": [1, 0, 1, 0, 1], "score": [3.0, 2.0, None, 1.0, None]})
    labels = ["num_rel", "num_ret", "num_rel_ret", "num_ret@1", "precision@1"]
    rows = engine.ask(frame, "evaluate", labels, per="user")
    result = {row.pop("user"): [row[label] for label in labels] for row in rows}
    assert result == {1: [2, 2, 1, 1, 1], 2: [0, 1, 0, 1, None], 3: [1, 0, 0, 0, 0]}
    (means,) = engine.ask(frame, "evaluate", labels)
    assert [means[label] for label in labels] == pytest.approx([1, 1, 1 / 3, 2 / 3, 1 / 2])


def test_counts_alone_see_lists_of_the_frame_and_of_the_truth(engine):
    frame, truth = engine.frames(
        {"user": [1, 2, 2], "item": [1, 1, 2], "score": [1.0, 2.0, 1.0]}, {"user": [1, 3, 3], "item": [1, 1, 2]}
    )
    assert engine.ask(frame, "num_rel", truth=truth) == 1
    assert engine.ask(frame, "num_ret", truth=truth) == 1
    assert engine.ask(frame, "num_rel_ret", truth=truth) == pytest.approx(1 / 3)
    assert engine.ask(frame, "num_rel_ret", truth=truth, lists="both") == 1


def test_a_count_of_ranked_rows_needs_no_relevance(engine):
    rows = [{"user": 1, "item": item, "score": -item} for item in (1, 2, 3)] + [{"user": 2, "item": 1, "score": 1}]
    frame = engine.frame(rows)
    assert engine.ask(frame, "num_ret") == 2.0
    (result,) = engine.ask(frame, "evaluate", ["num_ret", "coverage"], k=2)
    assert (result["num_ret@2"], result["coverage@2"]) == (1.5, pytest.approx(2 / 3))
    long = engine.frame([{**row, "model": "a"} for row in rows])
    assert [row["num_ret"] for row in engine.ask(long, "evaluate", "num_ret", model="model")] == [2.0]
    if engine.checks:
        for call, given in (("evaluate", {"metrics": ["num_ret", "map"]}), ("num_ret", {"relevant": "relevant"})):
            with pytest.raises(recframe.MissingColumnError, match="no such column"):
                engine.ask(frame, call, **given)


@pytest.mark.parametrize("name", ["polars", "pandas"])
def test_bound_roles_that_nothing_reads_may_name_no_column(name):
    frame = pytest.importorskip(name).DataFrame({"user": [1, 1], "item": [1, 2], "score": [2, 1]})
    bound = recframe.rec(frame, relevant="clicked", weight="visits")
    assert bound.coverage(1) == 0.5
    assert recframe.rec(frame, relevant="clicked").num_ret() == 2
    assert recframe.rec(frame, relevant="clicked").eed(1) == 1
    for call in (lambda: bound.coverage(1, weight="visits"), bound.num_ret):
        with pytest.raises(recframe.MissingColumnError, match="weight='visits'"):
            call()
