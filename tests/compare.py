"""Comparing results with expected values, and naming what differs."""

from __future__ import annotations

import math
from typing import Any

import narwhals as nw
import pytest

import recframe
from oracle import ORACLES, Case, grouped, names, parse
from spellings import SOME
from strategies import BY


def same(found: float | None, expected: float | None) -> bool:
    """Return whether two values are equal to 1e-12, or both missing."""
    if found is None or expected is None:
        return found is expected
    return math.isclose(found, expected, rel_tol=1e-12, abs_tol=1e-12)


def item(result: Any) -> Any:
    """Return the value of a frame, eager or lazy, of one row and one column."""
    return nw.from_native(result).lazy().collect().item()


def assert_equal(found: list[dict[str, Any]], expected: dict[Any, dict[str, Any]], keys: list[str]) -> None:
    """Compare the rows of a result with the expected values of each key, whichever order the rows have."""
    by_key = {tuple(row[key] for key in keys): row for row in found}
    assert len(by_key) == len(found), "a key has several rows"
    assert by_key.keys() == expected.keys()
    wrong = [
        f"{dict(zip(keys, key, strict=True))} {label}: {by_key[key][label]} instead of {value}"
        for key, values in expected.items()
        for label, value in values.items()
        if not same(by_key[key][label], value)
    ]
    assert not wrong, f"{len(wrong)} wrong values\n" + "\n".join(wrong[:20])


def skip_row_order(engine: Any, ties: str) -> None:
    """Skip where ``ties="first"`` would read the row order of a lazy frame."""
    if ties == "first" and engine.lazy:
        pytest.skip("a lazy frame has no row order")


def ask_case(engine: Any, case: Case, labels: list[str], **given: Any) -> list[dict[str, Any]]:
    """Evaluate metrics on a case, with the side information that it has."""
    described = [{"item": item, **{f"f{i}": x for i, x in enumerate(own)}} for item, own in case.features.items()]
    tables = {"frame": case.rows, "train": case.train, "features": described}
    metrics = [recframe.metrics.parse(label) for label in labels]
    inputs = {name for metric in metrics for name in (*metric.required_inputs, *metric.optional_inputs)}
    # A call of accuracy metrics alone refuses the items that users have.
    tables = {name: rows for name, rows in tables.items() if rows and (name != "train" or name in inputs)}
    frames = dict(zip(tables, engine.frames(*tables.values()), strict=True))
    side = {"catalog": [*case.catalog]} if case.catalog else {}
    return engine.ask(frames.pop("frame"), "evaluate", labels, **frames, **side, **given)


def assert_oracle(engine: Any, case: Case, labels: list[str], ties: str = "average") -> None:
    """Compare metrics with their oracles, list by list and over all lists."""
    metrics = {label: parse(label) for label in labels}

    def expected(of: Case) -> dict[str, float | None]:
        return {label: ORACLES[metric.name](metric, of, ties) for label, metric in metrics.items()}

    by_user = {key: expected(case.of(rows)) for key, rows in grouped(case.rows, ["user"]).items()}
    assert_equal(ask_case(engine, case, labels, per="user", ties=ties), by_user, ["user"])
    assert_equal(ask_case(engine, case, labels, ties=ties), {(): expected(case)}, [])


def lists_of(engine, data, kinds=None, labels=SOME, **roles) -> dict[Any, dict[str, Any]]:
    """Return what the engine says of each list, by key."""
    roles = {"by": BY, **roles}
    keys = list(names(roles["by"]))
    rows = engine.ask(engine.frame(data, kinds), "evaluate", labels, per=keys, **roles)
    return {tuple(row[key] for key in keys): {label: row[label] for label in labels} for row in rows}
