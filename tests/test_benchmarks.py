"""The benchmarks run: their numbers are for people to read, and no test judges them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parents[1]


def run(*args):
    result = subprocess.run([sys.executable, *args], cwd=ROOT, capture_output=True, text=True, check=False)
    assert not result.returncode, result.stderr
    return result.stdout


def test_each_library_that_is_compared_has_steps_to_install_it():
    pytest.importorskip("polars")
    names = run(
        "-c",
        "from benchmarks.isolated import environments\nfor e in environments().values(): print(*e.modules, len(e.steps))",
    )
    assert "rectools" in names
    assert " 0\n" not in names


@pytest.mark.slow
def test_the_page_names_all_groups_in_their_order():
    pytest.importorskip("polars")
    groups = run("-c", "from benchmarks.__main__ import GROUPS\nprint(*GROUPS)").split()
    page = (ROOT / "benchmarks" / "RESULTS.md").read_text(encoding="utf-8")
    row = next(line for line in page.splitlines() if line.startswith("| `--only GROUP"))
    assert re.findall(r"`(\w+)`", row) == groups


@pytest.mark.slow
def test_a_quick_run_prints_a_row_for_each_ratio():
    pytest.importorskip("polars")
    table = run("-m", "benchmarks", "--quick", "--repeats", "1", "--only", "shapes")
    assert table.count("ndcg@5 / bare window rank") == 3


def test_calls_that_compute_something_else_are_not_timed():
    pl = pytest.importorskip("polars")
    pytest.importorskip("numpy")
    from benchmarks.expressions import _same
    from benchmarks.peers import agree

    agree([0.5, 0.5 + 1e-12])
    with pytest.raises(RuntimeError, match=r"recframe says 0\.5, but the peer 0\.6"):
        agree([0.5, 0.5, 0.6])
    one = pl.DataFrame({"user": [1, 2], "ndcg@5": [0.5, 0.25]})
    several = one.select("user", pl.struct("ndcg@5", map="ndcg@5").alias("metrics"))
    _same([one, several, one.reverse().rename({"ndcg@5": "relevant"}), several.unnest("metrics")])
    with pytest.raises(AssertionError):
        _same([one, several, one.with_columns(pl.col("ndcg@5").reverse()), several])


@pytest.mark.slow
def test_a_line_has_a_point_for_each_size():
    pytest.importorskip("polars")
    pytest.importorskip("pandas")
    from benchmarks.chart import CALLS, PEERS, lines

    without_peers = {name: SimpleNamespace(python=None) for name in PEERS}
    drawn = [*lines(10**5, 1, without_peers)]
    assert [line.name for line in drawn] == [*CALLS.values()]
    assert all([*line.values] == [10**4, 10**5] for line in drawn)
