"""What the page "Why recframe" says of other libraries is what they compute."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

import environments
import why

HERE = Path(__file__).parent
FACTS = json.loads((HERE / "why.json").read_text(encoding="utf-8"))
TITLES = {
    "ranx": "ranx",
    "ir_measures": "ir_measures",
    "rectools": "RecTools",
    "torchmetrics": "TorchMetrics",
    "evidently": "Evidently",
    "lenskit": "LensKit",
}


@pytest.fixture(scope="module")
def page():
    return (HERE.parents[1] / "docs" / "why.md").read_text(encoding="utf-8")


def cells(page, title):
    """Return the cells of the rows of tables that begin with a name, without that name."""
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in re.findall(r"^\|.*\|$", page, re.MULTILINE)]
    return [row[1:] for row in rows if re.search(rf"\b{title}\b", row[0])]


@pytest.mark.parametrize("library", TITLES)
def test_the_page_says_what_was_recorded(page, library):
    facts = FACTS[library]
    every = [cell for row in cells(page, TITLES[library]) for cell in row]
    text = " ".join(page.split())
    assert facts["version"] in every
    assert f"{facts['ndcg']:.3f}" in every
    for name in ("tied ndcg", "tied mrr"):
        for value in facts.get(name, []):
            assert f"{value:.3f}" in every
    for value in (*facts.get("tied ndcg, renamed", []), *facts.get("map, rows reversed", [])):
        assert f"{value:.3f}".rstrip("0") in text or f"{value:.1f}" in text
    if "tied ndcg of twenty relevant items" in facts:
        assert f"gives {facts['tied ndcg of twenty relevant items']:.3f} to NDCG@10" in text


def test_only_some_libraries_test_two_models():
    without = {library for library, facts in FACTS.items() if not facts["modules of tests"]}
    assert without == {"ir_measures", "rectools", "lenskit"}


@pytest.mark.slow
@pytest.mark.parametrize("library", TITLES)
def test_the_library_itself_says_so(library):
    python = environments.interpreters().get(library)
    if python is None:
        pytest.skip(f"no interpreter has {library}")
    command = [python, "-W", "ignore", why.__file__, library]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environments.ENV)
    result = json.loads(done.stdout.splitlines()[-1])
    assert {**result, "version": FACTS[library]["version"]} == {
        name: pytest.approx(value, abs=1e-6) if isinstance(value, float) or name.startswith(("tied", "map")) else value
        for name, value in FACTS[library].items()
    }
