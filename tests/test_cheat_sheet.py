"""Every call of the cheat sheet runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import recframe

PAGE = Path(__file__).parent.parent / "docs" / "cheat-sheet.md"
ROWS = re.findall(r"^\| [^|]+ \| (.+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE) if PAGE.exists() else []
CALLS = [call for row in ROWS for call in re.findall(r"`(\w+\.[^`]+|\w+\.rec[^`]*)`", row)]
EXTRAS = {
    "compare(": "scipy", "describe(": "scipy", "sample_size(": "scipy", "rank_models(": "scipy", "changes(": "numpy",
    "plot": "altair", "forest(": "altair", "report(": "altair",
}  # fmt: skip


@pytest.fixture(params=["polars", "pandas"])
def names(request, tmp_path, monkeypatch):
    """Return what the calls read: frames of one library, and files in the current folder."""
    library = pytest.importorskip(request.param)
    monkeypatch.chdir(tmp_path)
    files = recframe.datasets.trec()
    for name, path in {"bm25.run": files.runs["bm25"], "test.qrels": files.qrels}.items():
        Path(name).write_bytes(path.read_bytes())
    visits = recframe.datasets.visits(library=request.param)
    pairs = {"user": [1, 1, 2, 2, 3], "item": ["a", "b", "a", "c", "b"]}
    ratings = library.DataFrame({**pairs, "day": [1, 2, 1, 2, 1], "rating": [5, 4, 1, 2, 3]})
    result = library.DataFrame({**pairs, "score": [5.0, 4.0, 3.0, 2.0, 1.0]})
    return {
        "recframe": recframe, "df": visits, "rec": visits.rec(score=["old", "new"]), "ratings": ratings,
        "old": result, "new": result, "bought": ratings, "train": ratings, "test": ratings, "pairs": result,
    }  # fmt: skip


def test_the_sheet_has_calls():
    assert not PAGE.exists() or len(CALLS) > 25


@pytest.mark.filterwarnings("ignore::recframe.RecWarning")
@pytest.mark.parametrize("call", CALLS)
def test_a_call_runs(call, names):
    for text, library in EXTRAS.items():
        if text in call:
            pytest.importorskip(library)
    try:
        eval(call, names)  # noqa: S307 - a page of ours
    finally:
        recframe.Config.restore_defaults()
