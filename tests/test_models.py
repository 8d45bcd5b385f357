"""Several models in one call, as columns of scores or stacked with a model column: each gets the oracle's values."""

from __future__ import annotations

import pytest

import oracle
from compare import assert_equal
from spellings import SPELLED
from strategies import crowd


@pytest.mark.parametrize("ties", ["average", "worst", "item"])
def test_wide_format(engine, ties):
    rows = [{**row, "other": -row["relevant"] if row["relevant"] else row["score"]} for row in crowd(9, 150)]
    some, by = engine.some(SPELLED[::9]), ["user", "day"]
    expected = {
        (name, *key): values
        for name in ("score", "other")
        for key, values in oracle.evaluate(rows, some, by=by, per=by, ties=ties, score=name).items()
    }
    found = engine.ask(engine.frame(rows), "evaluate", some, by=by, per=by, ties=ties, score=["score", "other"])
    assert list(found[0]) == ["model", *by, *some]
    assert_equal(found, expected, ["model", *by])


@pytest.mark.parametrize("undefined", ["skip", 0.25])
@pytest.mark.parametrize("per", [None, "day", ["user", "day"]])
def test_long_format(engine, per, undefined):
    # Not every model serves every list, and a list counts for all models if one of them shows a relevant row.
    rows = [
        {**row, "model": name}
        for seed, name in enumerate(["b", "a", "c"])
        for row in crowd(10 + seed, 60, relevance=(0, 0, 1, 2))
        if (row["user"] or 0) % 3 != seed
    ]
    some, requested = (
        engine.some(SPELLED[::9]),
        {"by": ["user", "day"], "per": per, "undefined": undefined, "model": "model"},
    )
    found = engine.ask(engine.frame(rows), "evaluate", some, **requested)
    assert_equal(found, oracle.evaluate(rows, some, **requested), ["model", *oracle.names(per)])
