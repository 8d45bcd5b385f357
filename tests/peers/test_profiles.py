"""Each profile against the library itself as it was recorded; test_random_lists.py compares with the library as it runs.

``python tests/peers/environments.py record`` writes ``recorded.json`` anew from what is installed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import environments
import recframe
from cases import CASES, OF_LIBRARY
from recframe.profiles import PROFILES

if TYPE_CHECKING:
    from collections.abc import Callable

RECORDED = json.loads(Path(__file__).with_name("recorded.json").read_text(encoding="utf-8"))
CLOSE = {"torchmetrics": 1e-6, "tensorflow_ranking": 1e-6}
"""Where a library computes in single precision."""
EVERY = [(library, name) for library, names in OF_LIBRARY.items() for name in names]


@pytest.fixture(params=["polars", "pandas"])
def make(request: pytest.FixtureRequest) -> Callable[..., Any]:
    return pytest.importorskip(request.param).DataFrame


def columns(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in rows[0]}


def evaluate(make: Callable[..., Any], library: str, case: dict[str, Any], labels: list[str], **given: Any) -> Any:
    frame, truth = make(columns(case["rows"])), make(columns(case["truth"]))
    # An order of scores that do not tie is all that a library's row order could add.
    return frame.rec.evaluate(labels, truth=truth, like=library, **given)


def assert_means(make: Callable[..., Any], library: str, name: str, means: dict[str, float]) -> None:
    table = evaluate(make, library, CASES[name], list(means))
    assert list(table.columns) == list(means), "columns are called what was requested"
    for label, theirs in means.items():
        assert table[label].to_list() == pytest.approx([theirs], abs=CLOSE.get(library, 1e-12)), label


@pytest.mark.parametrize(("library", "name"), EVERY)
def test_means_as_recorded(make, library, name):
    recorded = RECORDED[library]["cases"][name]
    assert recorded["case"] == environments.digest(CASES[name]), "record again: the case has changed"
    assert_means(make, library, name, recorded["means"])


@pytest.mark.parametrize("library", OF_LIBRARY)
def test_every_metric_of_a_profile_is_compared(library):
    for name in OF_LIBRARY[library]:
        case = RECORDED[library]["cases"][name]
        compared = {recframe.metrics.parse(label).name for label in case["means"]}
        if len(case["means"]) > 5 and compared == {*PROFILES[library].metrics}:
            return
    pytest.fail(f"some of {list(PROFILES[library].metrics)} is never compared")


@pytest.mark.parametrize("library", OF_LIBRARY)
def test_recorded_versions_are_named(library):
    assert RECORDED[library]["version"][0].isdigit()
