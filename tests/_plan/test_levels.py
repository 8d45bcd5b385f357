"""Metrics of several least relevances in one call: the same numbers as a call for each, and one family of tests."""

from __future__ import annotations

import shlex
from typing import Any

import pytest

import recframe
from sessions import MODELS, rows_of
from strategies import crowd

NAMES: dict[str, tuple[str, float | None]] = {
    "map(rel=2)@3": ("map@3", 2),
    "ndcg@3": ("ndcg@3", None),
    "coverage@2": ("coverage@2", None),
    "map(rel=1)@3": ("map@3", 1),
    "num_ret": ("num_ret", None),
    "gauc(rel=2)": ("gauc", 2),
}
BY_LIST = [name for name in NAMES if name != "coverage@2"]
ROLES = {"by": "session", "score": MODELS}


@pytest.fixture(params=["polars", "pandas"])
def library(request):
    """The libraries that keep states and baselines at the call."""
    return pytest.importorskip(request.param)


def rows_in(frame: Any) -> list[dict[str, Any]]:
    """Return the rows of an eager frame, None for what is missing."""
    rows = frame.rows(named=True) if hasattr(frame, "rows") else frame.to_dict("records")
    return [{name: None if value != value else value for name, value in row.items()} for row in rows]  # noqa: PLR0124 - NaN


def at_one_level(name: str) -> tuple[str, dict[str, Any]]:
    """Return a metric's name without its level, and what a call of its own is given."""
    metric, level = NAMES[name]
    return metric, {} if level is None else {"min_relevance": level}


def same(found: list[dict[str, Any]], expected: list[dict[str, Any]], *, without: tuple[str, ...] = ()) -> None:
    """Compare rows, numbers up to rounding, but for the columns that depend on the other rows of a call."""
    assert len(found) == len(expected)
    # Segments of lazy frames come in any order.
    found, expected = (sorted(rows, key=lambda row: str(row.get("country"))) for rows in (found, expected))
    for row, other in zip(found, expected, strict=True):
        left, right = ({name: row[name] for name in row if name not in without} for row in (row, other))
        assert left == {
            name: pytest.approx(value, abs=1e-12, rel=1e-12, nan_ok=True) if isinstance(value, float) else value
            for name, value in right.items()
        }


def test_metrics_of_several_levels_stand_side_by_side(engine):
    rows = [{**row, "twice": row["relevant"] and 2 * row["relevant"]} for row in crowd(5, 60)]
    frame, by = engine.frame(rows), ["user", "day"]
    names = ["map(rel=2)@3", "ndcg@3", "map(rel=1)@3", "num_ret"]
    cases: list[dict[str, Any]] = [
        {"score": ["twice", "score"], "per": "day", "counts": True},
        {},
        {"per": "day"},
        {"per": by},
        {"score": ["score", "twice"], "chance": True},
    ]
    for given in engine.some(cases):
        found = engine.ask(frame, "evaluate", names, by=by, **given)
        heads = ["model", "user", "day"]
        values = [name for name in found[0] if name not in (*heads, "lists", "undefined")]
        assert [name for name in values if " " not in name] == names
        for name in values:
            metric, own = at_one_level(name.split(" ")[0])
            plain = name.replace(name.split(" ")[0], metric)
            alone = engine.ask(frame, "evaluate", [metric], by=by, **own, **given)
            expected = {tuple(row.get(head) for head in heads): row[plain] for row in alone}
            ours = {tuple(row.get(head) for head in heads): row[name] for row in found}
            # A segment that the level leaves out has no value.
            assert {key: value for key, value in ours.items() if key in expected} == pytest.approx(
                expected, nan_ok=True
            )
            assert all(value is None for key, value in ours.items() if key not in expected)


def test_lists_are_counted_that_have_a_value_under_every_level(engine):
    frame = engine.frame({"user": [1, 1, 2, 2, 3], "relevant": [0, 2, 1, 0, 0], "score": [2.0, 1.0, 2.0, 1.0, 1.0]})
    (row,) = engine.ask(frame, "evaluate", ["map(rel=2)", "mrr"], counts=True)
    assert row == {"map(rel=2)": 0.5, "mrr": 0.75, "lists": 1, "undefined": 2}


@pytest.mark.parametrize(
    "given",
    [
        {"correction": "none"},
        {"per": "country", "weight": "weight"},
        {"test": "bootstrap", "resamples": 200, "cluster": "user", "margin": 0.1},
        {"baseline": "chance"},
    ],
    ids=str,
)
def test_comparisons_are_those_of_a_call_for_each_level(engine, given):
    pytest.importorskip("scipy")
    frame = engine.frame(rows_of())
    names = [name for name in BY_LIST if not (name.startswith("gauc") and "weight" in given)]
    found = engine.ask(frame, "compare", names, **ROLES, **given)
    for name in engine.some(names):
        metric, own = at_one_level(name)
        alone = engine.ask(frame, "compare", metric, **ROLES, **given, **own)
        rows = [{**row, "metric": metric} for row in found if row["metric"] == name]
        same(rows, alone, without=("p_adjusted", "detectable", "verdict"))


@pytest.mark.parametrize("how", ["holm", "bonferroni", "bh"])
def test_all_tests_of_a_call_are_one_family_across_levels(polars_engine, how):
    np = pytest.importorskip("numpy")
    pytest.importorskip("scipy")
    frame = polars_engine.frame(rows_of())
    found = polars_engine.ask(frame, "compare", BY_LIST, **ROLES, correction=how)
    p = [row["p"] for row in found]
    assert len(p) == len(BY_LIST) * 3
    own = []
    for name in BY_LIST:
        metric, level = at_one_level(name)
        own += [row["p"] for row in polars_engine.ask(frame, "compare", metric, **ROLES, **level, correction="none")]
    assert p == pytest.approx(own, abs=1e-12, nan_ok=True)
    there = [number for number in own if number is not None]
    order, count = np.argsort(there), len(there)
    factors = {"holm": count - np.arange(count), "bonferroni": [count] * count, "bh": count / np.arange(1, count + 1)}
    adjusted = np.array(there)[order] * factors[how]
    up = how != "bh"
    adjusted = np.maximum.accumulate(adjusted) if up else np.minimum.accumulate(adjusted[::-1])[::-1]
    expected = np.empty(count)
    expected[order] = adjusted.clip(max=1)
    assert [row["p_adjusted"] for row in found if row["p"] is not None] == pytest.approx(expected.tolist(), abs=1e-12)


def test_a_simultaneous_correction_reads_the_lists_of_all_levels(polars_engine):
    pytest.importorskip("scipy")
    frame = polars_engine.frame(rows_of())
    names = ["map(rel=1)@3", "map@3"]
    given = {**ROLES, "correction": "maxt", "resamples": 200}
    # Above 0 and from 1 on are the same hits.
    found, expected = (
        polars_engine.ask(frame, "compare", names, **given, **level) for level in ({}, {"min_relevance": 1})
    )
    same(found, expected)


def test_metrics_of_all_lists_keep_their_place_among_levels(polars_engine):
    pytest.importorskip("scipy")
    frame, names = polars_engine.frame(rows_of()), ["coverage@2", "map(rel=2)@3", "gini@2", "map@3"]
    given = {"by": "session", "score": ["a", "b"]}
    for call in ("compare", "describe"):
        found = polars_engine.ask(frame, call, names, **given)
        assert [row["metric"] for row in found] == names * (1 if call == "compare" else 2)
        for name in names:
            level = {"min_relevance": 2} if "rel=2" in name else {}
            plain = name.replace("(rel=2)", "")
            alone = polars_engine.ask(frame, call, plain, **given, **level)
            rows = [{**row, "metric": plain} for row in found if row["metric"] == name]
            same(rows, alone, without=("p_adjusted", "detectable", "verdict"))


def test_descriptions_and_sample_sizes_are_those_of_a_call_for_each_level(engine):
    pytest.importorskip("scipy")
    frame = engine.frame(rows_of())
    for call, given in (("describe", {"per": "country"}), ("sample_size", {"difference": 0.1, "tests": 2})):
        found = engine.ask(frame, call, BY_LIST, **ROLES, **given)
        for name in engine.some(BY_LIST):
            metric, own = at_one_level(name)
            alone = engine.ask(frame, call, metric, **ROLES, **given, **own)
            same([{**row, "metric": metric} for row in found if row["metric"] == name], alone)


def test_merged_states_answer_as_one_call(library):
    pytest.importorskip("scipy")
    rows = rows_of()
    parts = [[row for row in rows if row["session"] % 2 == part] for part in (0, 1)]
    frames = [library.DataFrame(part) for part in (*parts, rows)]
    names = list(NAMES)
    *states, whole = (recframe.rec(frame, by="session", score=["a", "b"]).state(names, items=True) for frame in frames)
    merged = recframe.merge_states(states)
    ours, theirs = merged.evaluate(), recframe.rec(frames[-1], by="session", score=["a", "b"]).evaluate(names)
    same(rows_in(ours), rows_in(theirs))
    compared = recframe.rec(frames[-1], by="session", score=["a", "b"]).compare(BY_LIST)
    same(rows_in(recframe.merge_states([whole]).compare()), rows_in(compared))
    # A state of one level is that of a call for it: the definition names the level, whoever gave it.
    alone = recframe.rec(frames[-1], by="session", score=["a", "b"]).state("map(rel=2)@3")
    definitions = {row["definition"] for state in (alone, whole) for row in rows_in(state) if row["metric"] == names[0]}
    assert len(definitions) == 1
    assert '"map@3, ties=' in definitions.pop()


def test_a_stored_baseline_holds_several_levels(library, tmp_path):
    pytest.importorskip("scipy")
    frame, path = library.DataFrame(rows_of()), tmp_path / "prod.parquet"
    recframe.rec(frame, by="session", score="a").evaluate(BY_LIST, save=path)
    other = recframe.rec(frame, by="session", score="b")
    found = rows_in(other.compare(BY_LIST, baseline=path, changed="leave_out"))
    expected = rows_in(recframe.rec(frame, by="session", score=["a", "b"]).compare(BY_LIST))
    named = {"baseline": str(path), "changed": "nothing"}
    same(found, [{**row, **named, "baseline": found[0]["baseline"]} for row in expected])
    # A call of one level reads its part of the file.
    (alone,) = rows_in(other.compare("map(rel=2)@3", baseline=path, changed="leave_out", correction="none"))
    assert alone["difference"] == pytest.approx(found[0]["difference"], abs=1e-12)


def test_an_expression_has_several_levels():
    pl = pytest.importorskip("polars", minversion="1.44")
    frame, names = pl.DataFrame(rows_of()), ["map(rel=2)@3", "ndcg@3", "map(rel=1)@3", "map@3", "num_ret"]
    several = pl.col("a").rec.evaluate(names, "relevant")
    found = frame.group_by("session").agg(several).sort("session").unnest("metrics").rows(named=True)
    same(found, frame.rec.evaluate(names, by="session", per="session", score="a").rows(named=True))


@pytest.mark.slow
def test_a_query_of_sql_has_several_levels():
    duckdb, pl = pytest.importorskip("duckdb"), pytest.importorskip("polars")
    pytest.importorskip("ibis")
    names = ["map(rel=2)@3", "ndcg@3", "map(rel=1)@3"]
    query = recframe.sql(names, by="session", score="a", table="recs", dialect="duckdb")
    frame = pl.DataFrame(rows_of())
    with duckdb.connect() as connection:
        connection.register("recs", frame.to_arrow())
        (found,) = connection.sql(query).fetchall()
    assert found == pytest.approx(frame.rec.evaluate(names, by="session", score="a").row(0), abs=1e-9)


def test_levels_are_read_by_the_command_line_reports_and_gates(capsys, tmp_path):
    pl = pytest.importorskip("polars")
    pytest.importorskip("scipy")
    from recframe.cli import main

    path = tmp_path / "recs.csv"
    frame = pl.DataFrame(rows_of())
    frame.write_csv(path)
    columns = "--by session --score a --score b --relevant relevant"
    for call, gate in (("compare", ""), ("describe", ""), ("evaluate", "--fail-under 'map(rel=2)@3=0'")):
        line = f"{call} {path} -m 'map(rel=2)@3' -m map@3 {columns} --json {gate}"
        assert main(shlex.split(line)) == 0, capsys.readouterr()
        printed = capsys.readouterr().out
        assert "map(rel=2)@3" in printed
        assert "map@3" in printed


def test_reports_and_charts_show_several_levels(tmp_path):
    pl = pytest.importorskip("polars")
    pytest.importorskip("altair")
    page = tmp_path / "report.html"
    recframe.rec(pl.DataFrame(rows_of()), by="session", score=["a", "b"]).report(page, ["map(rel=2)@3", "map@3"])
    assert "map(rel=2)@3" in page.read_text(encoding="utf-8")


def test_each_level_is_checked():
    pl = pytest.importorskip("polars")
    ranked = pl.DataFrame({"user": [1], "rank": [1], "relevant": [1], "recframe_candidates": [5]})
    with pytest.raises(recframe.OptionError, match="min_relevance=-1 would call relevant"):
        recframe.rec(ranked, rank="rank").evaluate(["mrr", "map(rel=-1)"])
    with pytest.raises(recframe.OptionError, match=r"min_relevance=2 for .*, which knows no level"):
        pl.DataFrame(rows_of()).rec.evaluate(["ndcg(rel=2)@3", "ndcg@3"], by="session", score="a", like="sklearn")


def test_levels_that_differ_late_are_apart(library):
    frame = library.DataFrame({"user": [1, 1], "score": [2, 1], "relevant": [1234567.0, 1234569.0]})
    names = ["recall(rel=1234567)@1", "recall(rel=1234569)@1", "recall(rel=0.12345678)@1", "recall(rel=2)@1"]
    (row,) = rows_in(frame.rec.evaluate(names))
    assert row == dict(zip(names, [0.5, 0.0, 0.5, 0.5], strict=True))
