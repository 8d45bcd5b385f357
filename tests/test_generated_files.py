"""What the tools write from records, roles and pages is as they would write it now."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).parent.parent / "tools"


@pytest.mark.parametrize(
    "name",
    ["exports", "stubs", "metric_table", "metric_pages", "profile_table", "plan_frames", "llms", "pictures", "speed"],
)
def test_what_tools_write_is_current(name):
    if name == "metric_pages":  # which runs its examples
        pytest.importorskip("polars")
    tool = TOOLS / f"{name}.py"
    if not tool.exists():
        pytest.skip("the tools are not part of a source distribution")
    done = subprocess.run([sys.executable, str(tool), "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_formulas_of_metric_pages_hold_no_latex():
    for page in (TOOLS.parent / "docs" / "metrics").glob("*.md"):
        _, *sections = page.read_text(encoding="utf-8").split("\n## ")
        for section in sections:
            formula = section.partition("<math")[2].partition("</math>")[0]
            assert formula, section.partition("\n")[0]
            assert "\\" not in formula, section.partition("\n")[0]
