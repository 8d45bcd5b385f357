"""The tutorials run, and say what they claim, on small generated ratings."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

np = pytest.importorskip("numpy")
pl = pytest.importorskip("polars")

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = {
    "daily_to_monthly": ["scipy"],
    "movielens_decision": ["scipy"],
}


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("tutorials", ROOT / "tools" / "tutorials.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("folder", ["tutorials", "notebooks"])
def test_names_of_scripts_must_be_there(tool, folder):
    everything = tool.scripts(tool.DOCS / folder)
    assert tool.scripts(tool.DOCS / folder, [everything[-1].stem]) == everything[-1:]
    with pytest.raises(SystemExit, match=f"there is no script 'nothing'; there are .*{everything[0].stem}"):
        tool.scripts(tool.DOCS / folder, [everything[0].stem, "nothing"])


@pytest.fixture
def run(tool, tmp_path, monkeypatch):
    """Return a function from a tutorial's name to its page and its names, on ratings of which fields of films are liked."""

    def call(name):
        for package in PACKAGES[name]:
            pytest.importorskip(package)
        rng = np.random.default_rng(0)
        user, item = np.nonzero(rng.random((150, 60)) < 0.4)
        rating = np.clip(3 + ((user + item) % 3 == 0) * 2 + rng.integers(-1, 2, len(user)), 1, 5)
        # From the first of January to the end of March 1998.
        timestamp = 883_612_800 + rng.integers(0, 90 * 86_400, len(user))
        frame = pl.DataFrame({"user": user + 1, "item": item + 1, "rating": rating, "timestamp": timestamp})
        frame.write_parquet(tmp_path / "ratings.parquet")
        monkeypatch.setenv("RATINGS", str(tmp_path / "ratings.parquet"))
        with pl.Config():  # which the script sets
            return tool.run(ROOT / "docs" / "tutorials" / f"{name}.py")

    return call


def test_every_script_has_its_page_and_its_packages(tool):
    assert [script.stem for script in tool.scripts()] == sorted(PACKAGES)
    for script in tool.scripts():
        page = (ROOT / "docs" / f"tutorial-{script.stem.replace('_', '-')}.md").read_text(encoding="utf-8")
        for is_text, body in tool.cells(script.read_text(encoding="utf-8")):
            assert is_text or body in page, "run python tools/tutorials.py --ratings ml-100k/u.data"
        # The others need other packages.
        assert f"python tools/tutorials.py {script.stem} --ratings" in page


@pytest.mark.filterwarnings("ignore", "error::recframe.DataWarning")
def test_the_decision_on_movielens(run):
    _, names = run("movielens_decision")
    train, known = names["train"], names["known"]
    assert train["timestamp"].max() < names["since"] <= known["timestamp"].min()
    assert known.join(train, on=["user", "item"]).is_empty()
    assert {*names["frame"]["user"]} == {*known["user"]}


def test_the_decision_on_movielens_says_what_its_tables_say():
    page = (ROOT / "docs" / "tutorial-movielens-decision.md").read_text(encoding="utf-8")
    rows = re.findall(r"^│ (ndcg@10|hit_rate@10|coverage@10|similar) +┆.*┆ (open|better|worse) +│$", page, re.MULTILINE)
    assert rows == [("ndcg@10", "open"), ("coverage@10", "better"), ("hit_rate@10", "worse"), ("similar", "better")]


@pytest.mark.filterwarnings(
    "ignore",
    "error::recframe.DataWarning",
    "ignore:the numbers may mean nothing.\n- truth has no rows",  # on the day that fails
)
def test_a_month_of_stored_states_is_one_call(run):
    page, names = run("daily_to_monthly")
    assert page.count("```text\nTrue\nTrue\n```") == 1
    assert "1998-03-20 failed" in page
    assert len(names["files"]) == 31
    assert names["weeks"].evaluate(counts=True)["lists"].sum() == 2 * names["month"].evaluate(counts=True)["lists"][0]
