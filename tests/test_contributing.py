"""The code is as small, and CONTRIBUTING as short, as contributors are told."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
WORDS = 1500
"""How many words CONTRIBUTING may have: so many are read in five minutes."""

pytestmark = pytest.mark.skipif(not (ROOT / "tools").exists(), reason="a source distribution has no tools")


def test_no_room_has_more_lines_of_code_than_its_ceiling():
    spec = importlib.util.spec_from_file_location("lines", ROOT / "tools" / "lines.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    page = (ROOT / "docs" / "contributing.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)/?` \| ([\d,]+) \|$", page, re.MULTILINE)
    ceilings = {room: int(lines.replace(",", "")) for room, lines in rows}
    counted = tool.rooms()
    assert ceilings.keys() == counted.keys()
    assert not {room: lines for room, lines in counted.items() if lines > ceilings[room]}


def test_contributing_is_read_in_five_minutes():
    assert len((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split()) <= WORDS
