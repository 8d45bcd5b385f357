"""What the tools write from records, roles and pages is as they would write it now."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).parent.parent / "tools"


def written_by():
    """Return the names of the tools that `tools/write.py` runs."""
    path = TOOLS / "write.py"
    body = ast.parse(path.read_text(encoding="utf-8")).body if path.exists() else []
    values = [node.value for node in body if isinstance(node, ast.Assign) and node.targets[0].id == "TOOLS"]
    return ast.literal_eval(values[0]) if values else ()


@pytest.mark.parametrize("name", written_by())
def test_what_tools_write_is_current(name):
    if name == "metric_pages":  # which runs its examples
        pytest.importorskip("polars")
    tool = TOOLS / f"{name}.py"
    done = subprocess.run([sys.executable, str(tool), "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_formulas_of_metric_pages_hold_no_latex():
    for page in (TOOLS.parent / "docs" / "metrics").glob("*.md"):
        formula = page.read_text(encoding="utf-8").partition("<math")[2].partition("</math>")[0]
        assert formula, page.name
        assert "\\" not in formula, page.name


@pytest.mark.skipif(not TOOLS.exists(), reason="the tools are not part of an installed package")
def test_every_tool_that_compares_what_it_writes_is_run():
    texts = {path.stem: path.read_text(encoding="utf-8") for path in TOOLS.glob("*.py")}
    comparing = {name for name, text in texts.items() if re.search(r'"--check" (not )?in sys.argv', text)}
    assert comparing == set(written_by())
