"""The data that come with the package are as their page says, and what the tool makes."""

from __future__ import annotations

import datetime as dt
import subprocess
import sys
from pathlib import Path

import pytest

import recframe
from recframe import datasets

ROOT = Path(__file__).parent.parent
MODELS = ["old", "new", "deep", "popular"]


def make_visits(name):
    pytest.importorskip(name)
    return datasets.visits(library=name)


@pytest.fixture(params=["polars", "pandas"])
def visits(request):
    return make_visits(request.param)


@pytest.fixture
def rec(visits):
    return visits.rec(score=MODELS)


def rows_of(frame):
    return frame.to_dicts() if hasattr(frame, "to_dicts") else frame.to_dict("records")


def test_the_frame_has_a_row_for_each_user_and_book(visits):
    assert visits.shape == (6000, 11)
    assert [*visits.columns] == ["user", "item", "relevant", "country", "week", "price", "genre", *MODELS]
    rows = rows_of(visits)
    assert len({(row["user"], row["item"]) for row in rows}) == 6000
    assert len({row["user"] for row in rows}) == 200
    assert {row["relevant"] for row in rows} == {0, 1}
    assert all(1 < row["price"] < 100 for row in rows)
    assert not any(value is None or str(value) == "nan" for row in rows for value in row.values())


def test_weeks_are_dates_of_the_library(visits):
    weeks = sorted({row["week"] for row in rows_of(visits)})
    assert [dt.date(week.year, week.month, week.day) for week in weeks] == [
        dt.date(2026, 3, 2) + dt.timedelta(weeks=number) for number in range(8)
    ]
    kind = str(visits["week"].dtype)
    assert kind == "Date" or kind.startswith("datetime64[")


def test_both_libraries_hold_the_same_values():
    on_pandas, on_polars = (rows_of(make_visits(name)) for name in ("pandas", "polars"))
    weeks = [row.pop("week").date() for row in on_pandas]
    assert weeks == [row.pop("week") for row in on_polars]
    assert on_pandas == on_polars


def test_no_two_books_of_a_user_have_equal_scores(visits):
    rows = rows_of(visits)
    for model in MODELS:
        assert len({(row["user"], row[model]) for row in rows}) == len(rows)


def test_check_finds_nothing(rec):
    assert rows_of(rec.check(k=5, per="country")) == []


def test_the_story_of_the_first_pages_holds(rec):
    pytest.importorskip("scipy")
    verdicts = {row["model"]: row["verdict"] for row in rows_of(rec.compare("ndcg@5", baseline="old"))}
    assert verdicts == {"new": "better", "deep": "open", "popular": "worse"}
    by_country = rows_of(rec.compare("ndcg@5", baseline="old", per="country"))
    deep = {row["country"]: row["verdict"] for row in by_country if row["model"] == "deep"}
    assert deep == {"de": "open", "es": "open", "fr": "better", "it": "open"}


def test_files_of_trec_are_read_as_they_are():
    library = next(name for name in ("polars", "pandas") if _is_there(name))
    files = datasets.trec()
    runs = recframe.read_run(files.runs, library=library)
    qrels = recframe.read_qrels(files.qrels, library=library)
    assert len(runs) == 1800
    values = rows_of(runs.rec(model="model", truth=qrels).evaluate(["ndcg@10", "judged@10"]))
    assert [row["model"] for row in values] == ["bm25", "dense", "hybrid"]
    assert values[0]["judged@10"] == values[1]["judged@10"] == 1 > values[2]["judged@10"]
    assert values[2]["ndcg@10"] > max(values[0]["ndcg@10"], values[1]["ndcg@10"])


def _is_there(name):
    try:
        __import__(name)
    except ImportError:
        return False
    return True


def test_unknown_libraries_are_refused():
    with pytest.raises(recframe.OptionError, match="library"):
        datasets.visits(library="spark")
    with pytest.raises(recframe.OptionTypeError):
        datasets.visits("polars")


def test_the_files_are_small():
    sizes = [path.stat().st_size for path in datasets.FOLDER.rglob("*") if path.suffix in (".gz", ".run", ".qrels")]
    assert len(sizes) == 5 and sum(sizes) < 100_000


@pytest.mark.skipif(not (ROOT / "tools").exists(), reason="the tools are not part of an installed package")
def test_the_tool_makes_the_files():
    tool = ROOT / "tools" / "datasets.py"
    done = subprocess.run([sys.executable, str(tool), "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
