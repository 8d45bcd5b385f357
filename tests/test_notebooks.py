"""The notebooks run, and show what is stored in them; images are drawn, but not compared."""

import importlib.util
import json
import re
import sys
from pathlib import Path

import pytest

pytest.importorskip("polars")
pytest.importorskip("scipy")
pytest.importorskip("altair")
pytest.importorskip("vl_convert")

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = sorted((ROOT / "docs" / "notebooks").glob("*.py"))


def without_images(notebook):
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            if "image/png" in output.get("data", {}):
                assert output["data"]["image/png"].startswith("iVBOR")
                output["data"]["image/png"] = "an image"
    return notebook


def parameter(script):
    other = re.search("^import (mlflow|feast)", script.read_text(encoding="utf-8"), re.MULTILINE)
    return pytest.param(script, id=script.stem, marks=pytest.mark.filterwarnings("ignore") if other else ())


@pytest.fixture
def tool(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(ROOT / "tools"), *sys.path])
    spec = importlib.util.spec_from_file_location("notebook", ROOT / "tools" / "notebook.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    return tool


def test_the_page_of_the_decision_is_that_of_its_notebook(tool):
    text, images = tool.page(json.loads((tool.SCRIPTS / "decision.ipynb").read_text(encoding="utf-8")))
    assert tool.PAGE.read_text(encoding="utf-8") == text, "run python tools/notebook.py decision"
    pictures = [tool.DOCS / "pictures" / f"decision-{number}.png" for number, _ in enumerate(images, 1)]
    assert [path.read_bytes() for path in pictures] == images


@pytest.mark.parametrize("script", [parameter(script) for script in SCRIPTS])
def test_a_notebook_is_what_its_script_shows(script, tool):
    for library in re.findall(r"^(?:import|from) (\w+)", script.read_text(encoding="utf-8"), re.MULTILINE):
        pytest.importorskip(library)
    stored = json.loads(script.with_suffix(".ipynb").read_text(encoding="utf-8"))
    assert without_images(tool.run(script)) == without_images(stored), "run python tools/notebook.py"
