"""Each profile against its library on thousands of random lists with every edge that a list can have.

Negative grades, levels, lists of one row, of equal scores, without a counterpart in the other frame, with nothing relevant
or nothing else. As recorded of 10,000 lists; live, with the small cases too, of RECFRAME_LISTS lists by RECFRAME_SEED.
"""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

import pytest

import environments
import recframe  # noqa: F401 - registers .rec
from cases import CASES, OF_LIBRARY, OWN_CROWD, crowds

RECORDED = json.loads(Path(__file__).with_name("recorded.json").read_text(encoding="utf-8"))
SEED = int(os.environ.get("RECFRAME_SEED", "7"))
LISTS = int(os.environ.get("RECFRAME_LISTS", "300"))
CLOSE = {"torchmetrics": 1e-5, "tensorflow_ranking": 1e-6}
"""Where a library computes in single precision, and an ideal may be next to 0."""


BOTH = {"trec_eval", "sklearn", "ranx", "rectools", "recommenders", "spark", "torchmetrics", "recometrics"}
"""Which libraries' many lists are compared on pandas too; it hands them to polars, and test_profiles.py compares all on both."""
KINDS = [
    (library, kind) for library in OWN_CROWD for kind in ("polars", "pandas") if kind == "polars" or library in BOTH
]


class Ours:
    """What recframe computes for a case."""

    def __init__(self, library: str, case: dict[str, Any], kind: str) -> None:
        frame = pytest.importorskip(kind).DataFrame
        rows, truth = (
            {name: [row[name] for row in case[side]] for name in case[side][0]} for side in ("rows", "truth")
        )
        self._rows, self._truth = frame(rows), frame(truth)
        self._keys = [key for key in ("block", "user") if key in rows]
        self._given = {"like": library, "by": self._keys}
        if case.get("level") is not None:
            self._given["min_relevance"] = case["level"]

    def values(self, labels: list[str], per: str | None) -> dict[str, dict[str, float]]:
        """Return the value of each list, or of each block, that has one; of no `per` the mean of all."""
        by = {"user": self._keys, "block": "block", None: None}[per]
        table = self._rows.rec.evaluate(labels, truth=self._truth, per=by, **self._given)
        keys = [str(key) for key in table[per]] if per else ["all"]
        result = {label: dict(zip(keys, table[label].to_list(), strict=True)) for label in labels}
        return {
            label: {key: value for key, value in values.items() if value is not None and not math.isnan(value)}
            for label, values in result.items()
        }


def assert_same(ours: dict[str, dict[str, float]], theirs: dict[str, dict[str, float]], library: str) -> float:
    """Check that the same keys have the same values, and return the largest difference relative to 1 and more."""
    largest = 0.0
    for label, values in theirs.items():
        defined = {key: value for key, value in values.items() if not math.isnan(value)}
        assert ours[label].keys() == defined.keys(), label
        for key, value in defined.items():
            off = abs(ours[label][key] - value) / max(1.0, abs(value))
            assert off <= CLOSE.get(library, 1e-12), (label, key, ours[label][key], value)
            largest = max(largest, off)
    return largest


@pytest.mark.parametrize(("library", "kind"), KINDS)
def test_ten_thousand_lists_as_recorded(library, kind):
    for name, case in crowds(library).items():
        recorded = RECORDED[library]["cases"][name]
        assert recorded["case"] == environments.digest(case), "record again: the case has changed"
        # A single list that differs by 1e-7 would show.
        means = {label: {"all": mean} for label, mean in recorded["means"].items()}
        assert_same(Ours(library, case, kind).values(list(means), None), means, library)


@pytest.mark.parametrize("library", OWN_CROWD)
def test_live(library):
    if library not in environments.interpreters():
        pytest.skip(f"no interpreter has {library}: see tests/peers/environments.py")
    cases = {name: CASES[name] for name in OF_LIBRARY[library]} | crowds(library, seed=SEED, lists=LISTS)
    result = environments.compute(library, cases)
    for name, case in cases.items():
        values, ours = result["cases"][name], Ours(library, case, "polars")
        means = {label: {"all": mean} for label, mean in values["means"].items()}
        assert_same(ours.values(list(means), None), means, library)
        for part, per in {"lists": "user", "blocks": "block"}.items():
            theirs = values.get(part, {})
            largest = assert_same(ours.values(list(theirs), per), theirs, library) if theirs else 0.0
            compared = sum(map(len, theirs.values()))
            print(f"RECFRAME_SEED={SEED}: {name}: {compared} values by {per}, largest difference {largest:.1e}")  # noqa: T201
