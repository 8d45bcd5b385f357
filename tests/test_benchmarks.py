"""The benchmarks run: their numbers are for people to read, and no test judges them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def run(*args):
    found = subprocess.run([sys.executable, *args], cwd=ROOT, capture_output=True, text=True, check=False)
    assert not found.returncode, found.stderr
    return found.stdout


def test_each_library_that_is_compared_has_steps_to_install_it():
    pytest.importorskip("polars")
    names = run(
        "-c",
        "from benchmarks.isolated import environments\nfor e in environments().values(): print(*e.modules, len(e.steps))",
    )
    assert "rectools" in names
    assert " 0\n" not in names


def test_the_page_names_all_groups_in_their_order():
    pytest.importorskip("polars")
    groups = run("-c", "from benchmarks.__main__ import GROUPS\nprint(*GROUPS)").split()
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    row = next(line for line in page.splitlines() if line.startswith("| `--only GROUP"))
    assert re.findall(r"`(\w+)`", row) == groups


@pytest.mark.slow
def test_a_quick_run_prints_a_row_for_each_ratio():
    pytest.importorskip("polars")
    table = run("-m", "benchmarks", "--quick", "--repeats", "1", "--only", "own")
    assert table.count("ndcg@5 / bare window rank") == 3
