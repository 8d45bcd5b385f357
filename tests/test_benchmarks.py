"""The benchmarks run: their numbers are for people to read, and no test judges them."""

from __future__ import annotations

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


@pytest.mark.slow
def test_a_quick_run_prints_a_row_for_each_ratio():
    pytest.importorskip("polars")
    table = run("-m", "benchmarks", "--quick", "--repeats", "1", "--only", "own")
    assert table.count("ndcg@5 / bare window rank") == 3
