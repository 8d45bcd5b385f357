"""A least relevance in a metric's name is that of the call, and a call has one."""

from __future__ import annotations

import re
import shlex
from typing import Any

import pytest

import recframe
from recframe.cli import main
from sessions import MODELS, rows_of

ROLES: dict[str, Any] = {"by": "session", "score": MODELS}
NAMED, PLAIN = ["map(rel=2)@3", "gauc(rel=2)", "num_ret"], ["map@3", "gauc", "num_ret"]


@pytest.mark.parametrize(
    ("call", "given"),
    [
        ("evaluate", {"per": "country", "counts": True}),
        ("evaluate", {"chance": True}),
        ("compare", {"baseline": "chance"}),
        ("describe", {}),
        ("rank_models", {}),
        ("sample_size", {"difference": 0.1}),
    ],
    ids=str,
)
def test_a_level_in_each_name_is_min_relevance(engine, call, given):
    pytest.importorskip("scipy")
    frame = engine.frame(rows_of())
    named, plain = (names[: 1 if given.get("chance") else 3] for names in (NAMED, PLAIN))
    result = engine.ask(frame, call, named, **ROLES, **given)
    expected = engine.ask(frame, call, plain, **ROLES, **given, min_relevance=2)
    # Segments of lazy frames come in any order.
    for rows in (result, expected):
        rows.sort(key=str)
    assert len(result) == len(expected) > 0
    for row, other in zip(result, expected, strict=True):
        assert row == pytest.approx(other, nan_ok=True) if call == "evaluate" else str(row) == str(other)


@pytest.mark.parametrize(
    ("names", "given"),
    [
        (["map(rel=2)", "mrr"], {}),
        (["mrr", "map(rel=2)"], {"min_relevance": 1}),
        (["map(rel=2)", "mrr(rel=1)"], {}),
        (["map(rel=2)", "coverage@1", "mrr"], {}),
    ],
)
@pytest.mark.parametrize("call", ["evaluate", "compare", "describe", "state", "report", "expression", "sql"])
def test_two_levels_are_two_calls(call, names, given, tmp_path):
    pl = pytest.importorskip("polars")
    pytest.importorskip("scipy")
    if call == "report":
        pytest.importorskip("altair")
    rec = pl.DataFrame(rows_of()).rec(**ROLES)
    ask = {
        "report": lambda: rec.report(tmp_path / "report.html", names, **given),
        "expression": lambda: pl.col("a").rec.evaluate([n for n in names if n != "coverage@1"], "relevant", **given),
        "sql": lambda: recframe.sql(names, by="session", score="a", table="recs", dialect="duckdb", **given),
    }.get(call, lambda: getattr(rec, call)(names, **given))
    if call == "sql":
        pytest.importorskip("ibis")
    text = "have two levels of relevance, but a call has one(?s:.*)two levels are two calls.*min_relevance=2"
    with pytest.raises(recframe.OptionError, match=text):
        ask()


def test_the_level_of_the_call_may_be_repeated(polars_engine):
    frame = polars_engine.frame(rows_of())
    result = polars_engine.ask(frame, "evaluate", ["map(rel=2)@3", "mrr"], **ROLES, min_relevance=2)
    assert result == polars_engine.ask(frame, "evaluate", ["map@3", "mrr"], **ROLES, min_relevance=2)
    # A level of a name wins over one that is bound for all calls.
    with recframe.Config(min_relevance=1):
        assert polars_engine.ask(frame, "evaluate", ["map(rel=2)@3"], **ROLES) == [
            {name: row[name] for name in ("model", "map@3")} for row in result
        ]


def test_a_level_in_a_name_is_checked_as_min_relevance(polars_engine):
    ranked = polars_engine.frame({"user": [1], "rank": [1], "relevant": [1], "recframe_candidates": [5]})
    with pytest.raises(recframe.OptionError, match="min_relevance=-1 would call the others relevant"):
        recframe.rec(ranked, rank="rank").evaluate(["map(rel=-1)"])
    with pytest.raises(recframe.OptionError, match=r"min_relevance=2 for .*, which knows no level"):
        polars_engine.frame(rows_of()).rec.evaluate(["ndcg(rel=2)@3"], by="session", score="a", like="sklearn")


def test_the_command_line_and_its_gates_read_a_level(capsys, tmp_path):
    pl = pytest.importorskip("polars")
    pytest.importorskip("scipy")
    path = tmp_path / "recs.csv"
    pl.DataFrame(rows_of()).write_csv(path)
    columns = "--by session --score a --score b --relevant relevant --json"
    printed = []
    for metrics in ("-m 'map(rel=2)@3' --fail-under 'map(rel=2)@3=0'", "-m map@3 --min-relevance 2"):
        assert main(shlex.split(f"evaluate {path} {metrics} {columns}")) == 0, capsys.readouterr()
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]


@pytest.mark.slow
def test_a_report_and_a_baseline_keep_the_level(tmp_path):
    pl = pytest.importorskip("polars")
    pytest.importorskip("altair")
    rec = pl.DataFrame(rows_of()).rec(by="session", score=["a", "b"])
    pages = [tmp_path / "named.html", tmp_path / "plain.html"]
    rec.report(pages[0], "map(rel=2)@3")
    rec.report(pages[1], "map@3", min_relevance=2)
    values = [re.findall(r"0\.\d{3,}", page.read_text(encoding="utf-8")) for page in pages]
    assert values[0] == values[1] != []
    path = tmp_path / "prod.parquet"
    rec(score="a").evaluate("map(rel=2)@3", save=path)
    given = {"baseline": path, "changed": "leave_out"}
    result = rec(score="b").compare("map@3", min_relevance=2, **given, details=True)
    assert result.equals(rec(score="b").compare("map(rel=2)@3", **given, details=True))
    with pytest.raises(recframe.RecError, match="min_relevance"):
        rec(score="b").compare("map@3", **given, details=True)
