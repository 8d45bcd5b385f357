"""The code is as small, and CONTRIBUTING as short, as contributors are told."""

from __future__ import annotations

import importlib.util
import re
from functools import partial
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
WORDS = 1500
"""How many words CONTRIBUTING may have: so many are read in five minutes."""
STEPS = {
    "ndcg(5)": (460, 30, 6),
    "evaluate: truth, two models, per": (1085, 39, 24),
    "compare": (840, 55, 14),
    "contributions": (515, 32, 10),
    "check": (715, 27, 4),
    "8 x 4": (845, 32, 8),
}
"""How many functions a call may run, from how many files, and how many plans polars may compute; fewer is better."""

pytestmark = pytest.mark.skipif(not (ROOT / "tools").exists(), reason="a source distribution has no tools")


def tool_named(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    return tool


def test_no_room_has_more_lines_of_code_than_its_ceiling():
    tool = tool_named("lines")
    page = (ROOT / "docs" / "contributing.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)/?` \| ([\d,]+) \|$", page, re.MULTILINE)
    ceilings = {room: int(lines.replace(",", "")) for room, lines in rows}
    counted = tool.rooms()
    assert ceilings.keys() == counted.keys()
    assert not {room: lines for room, lines in counted.items() if lines > ceilings[room]}


def test_contributing_is_read_in_five_minutes():
    assert len((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split()) <= WORDS


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("name", list(STEPS))
def test_a_call_takes_few_steps(name, tied):
    if not pytest.importorskip("recframe._engines.polars_schema").KNOWS_SCHEMA_LATER:
        pytest.skip("older versions of polars need more steps")
    tool = tool_named("walk")
    few, many = (partial(tool.CALLS[name], rows(tied=tied)) for rows in (tool.small, tool.large))
    few(), many()
    calls, _, files = tool.walk(few)
    most_calls, most_files, most_collects = STEPS[name]
    assert calls <= most_calls
    assert files <= most_files
    assert tool.native_collects(many) <= most_collects


def test_every_call_that_is_walked_has_its_most_steps():
    pytest.importorskip("polars")
    assert tool_named("walk").CALLS.keys() == STEPS.keys()
