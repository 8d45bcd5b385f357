"""What a check finds equals a count by plain loops, on every engine."""

from __future__ import annotations

import math
import re
import warnings
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import narwhals as nw
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recframe
from oracle import is_missing
from recframe._checks.findings import FINDINGS
from strategies import crowd, examples, frames, ranked_crowd, truths

SEVERITY = {finding.name: finding.severity for finding in FINDINGS}
ALL = [finding.name for finding in FINDINGS]
OF_RANKS = ["impossible_ranks", "overlapping_ranks"]
OF_TRUTH = [
    "duplicate_truth_rows", "truth_of_unknown_lists", "no_list_in_truth", "truth_of_unknown_items", "no_item_in_truth"
]  # fmt: skip
OF_ALL = [
    "no_list_in_truth",
    "no_item_in_truth",
    "nothing_ranked",
    "nothing_ordered",
    "dependent_lists",
    "unused_model",
    "only_relevant",
    "grades_without_zero",
]
"""What is found in all lists or in none."""
LOWER = "grades_below_relevant"
WITH_RELEVANCE = ["lists_without_relevant", "ideal_of_ranked_only", "only_relevant", "grades_without_zero"]


def key_of(row: dict[str, Any], by: list[str]) -> tuple[Any, ...]:
    return tuple(None if is_missing(row[name]) else row[name] for name in by)


def expected(
    rows: list[dict[str, Any]],
    k: int | None,
    *,
    by: list[str],
    rank: str | None = None,
    truth: list[dict[str, Any]] | None = None,
    every: list[dict[str, Any]] | None = None,
    per: str | None = None,
    least: float | None = None,
    train: list[dict[str, Any]] | None = None,
    tells_nan: bool = True,
) -> dict[str, tuple[int, float]]:
    """Return counts and shares by plain loops; `every` holds the rows of all models."""
    every = rows if every is None else every
    score = rank or "score"

    def relevant(row: dict[str, Any]) -> bool:
        relevance = row.get("relevant", 1)
        relevance = 0 if is_missing(relevance) else relevance
        return relevance > 0 if least is None else relevance >= least

    def repeated(rows: list[dict[str, Any]]) -> int:
        return len(rows) - len({(key_of(row, by), key_of(row, ["item"])) for row in rows})

    lists: dict[Any, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        lists[key_of(row, by)].append(row)
    unknown = [row for row in truth or () if key_of(row, by) not in {key_of(other, by) for other in rows}]
    items = {key_of(row, ["item"]) for row in rows}
    unknown_items = [row for row in truth or () if key_of(row, ["item"]) not in items]
    for row in (*every, *(truth or ())):
        lists.setdefault(key_of(row, by), [])
    has_relevant = {key_of(row, by) for row in (every if truth is None else truth) if relevant(row)}

    counts: Counter[str] = Counter()
    counts["duplicate_rows"] = repeated(rows)
    counts["nan_scores"] = sum(tells_nan and row[score] is not None and is_missing(row[score]) for row in rows)
    counts["missing_scores"] = sum(is_missing(row[score]) for row in rows) - counts["nan_scores"]
    had = {(key_of(row, by), key_of(row, ["item"])) for row in train or ()}
    counts["already_seen"] = sum(
        not is_missing(row[score]) and (key_of(row, by), key_of(row, ["item"])) in had for row in rows
    )
    counts["missing_keys"] = sum(None in key_of(row, by) for row in rows)
    counts["impossible_ranks"] = sum(
        not is_missing(row[score]) and not (row[score] >= 1 and row[score] % 1 == 0) for row in rows
    )
    for key, of_list in lists.items():
        ranked = [row for row in of_list if not is_missing(row[score])]
        sizes = Counter(row[score] for row in ranked)
        blocks = []
        for value in sorted(sizes, reverse=rank is None):
            start = value if rank else 1 + sum(row[score] > value for row in ranked)
            blocks.append((start, start + sizes[value] - 1))
        hits = [row for row in of_list if relevant(row)]
        counts["lists_without_relevant"] += key not in has_relevant
        counts["lists_without_ranked"] += not ranked
        counts["constant_lists"] += len(blocks) == 1 and len(ranked) > 1
        counts["several"] += len(ranked) > 1
        counts["ties_across_k"] += any(first <= (k or 0) < last for first, last in blocks)
        counts["overlapping_ranks"] += any(
            first <= other_last for i, (first, _) in enumerate(blocks) for _, other_last in blocks[:i]
        )
        counts["high_chance"] += key in has_relevant and 0 < len(ranked) <= 2 * (k or 0)
        relevant_rows = sum(relevant(row) for row in ranked)
        counts["lists of hits"] += len(ranked) > 1 and relevant_rows == len(ranked)
        is_short = k is None or len(ranked) <= k
        counts["ideal_of_ranked_only"] += is_short and bool(hits) and all(not is_missing(row[score]) for row in hits)
    counts["duplicate_truth_rows"] = repeated(truth or [])
    counts["truth_of_unknown_lists"] = len(unknown)
    counts["no_list_in_truth"] = len(unknown) if len(unknown) == len(truth or []) else 0
    counts["truth_of_unknown_items"] = len(unknown_items)
    counts["no_item_in_truth"] = len(unknown_items) if len(unknown_items) == len(truth or []) else 0
    counts["nothing_ordered"] = counts["several"] if counts["constant_lists"] == counts["several"] else 0
    counts["nothing_ranked"] = len(lists) if counts["lists_without_ranked"] == len(lists) else 0

    counts["only_relevant"] = counts["several"] if counts["lists of hits"] == counts["several"] else 0
    grades = [row.get("relevant", 1) for row in (rows if truth is None else truth)]
    grades = [grade for grade in grades if not is_missing(grade)]
    of_ratings = any(grade > 3 or grade % 1 for grade in grades)
    is_scale = 3 <= len(set(grades)) <= 20 and min(grades) > 0 and of_ratings
    counts["grades_without_zero"] = len(grades) if is_scale else 0
    values = [len({key[i] for key in lists}) for i in range(len(by))]
    counts["dependent_lists"] = len(lists) if any(1.2 * count <= len(lists) for count in values) else 0
    models = {key_of(row, ["model"]) for row in rows if "model" in row and not is_missing(row["model"])}
    counts["unused_model"] = len(rows) if len(models) > 1 else 0
    counts["assumed_relevance"] = max((unnamed(truth or [], by, name) for name in (truth or [{}])[0]), default=0)
    graded = [row.get("relevant", 1) for row in (rows if truth is None else truth)]
    counts[LOWER] = sum(not is_missing(grade) and 0 < grade < (least or 0) for grade in graded)
    counts["segments_within_lists"] = cut_lists(every, truth, by, per)

    totals = {"rows": len(rows), "lists": len(lists)}
    of = {finding.name: totals[finding.of] for finding in FINDINGS} | dict.fromkeys(
        [*OF_TRUTH, "assumed_relevance", *([] if truth is None else [LOWER, "grades_without_zero"])], len(truth or [])
    )
    skipped = (OF_RANKS if rank is None else []) + (["ideal_of_ranked_only"] if truth is not None else OF_TRUTH)
    skipped += ["ties_across_k"] if k is None else []
    skipped += ["high_chance"] if k is None or rank is not None else []
    skipped += [LOWER] if least is None else ["grades_without_zero"]
    skipped += [] if truth is None else ["only_relevant"]
    skipped += ["already_seen"] if train is None else []
    skipped += [] if len(by) > 1 else ["dependent_lists"]
    skipped += [] if per else ["segments_within_lists"]
    skipped += [] if "model" in rows[0] and "model" not in by else ["unused_model"]
    skipped += [] if truth and "relevant" not in truth[0] else ["assumed_relevance"]
    return {name: (counts[name], counts[name] / of[name]) for name in ALL if name not in skipped}


def unnamed(truth: list[dict[str, Any]], by: list[str], name: str) -> int:
    """Return how many rows of a column are 0, if it seems to say what is relevant."""
    lists = defaultdict(list)
    for row in truth:
        lists[key_of(row, by)].append(0 if is_missing(row[name]) else row[name])
    values = [value for of_list in lists.values() for value in of_list]
    if name in (*by, "item", "price") or not all(isinstance(v, int | float) for v in values):
        return 0
    if all(is_missing(row[name]) for row in truth):
        return 0
    if not all(v in (0, 1) for v in values):
        known = defaultdict(list)
        for row in truth:
            known[key_of(row, by)].append(row[name])
        zeros = sum(value == 0 for of_list in known.values() for value in of_list)
        lower = any(0 in of_list and any(not is_missing(v) and v > 0 for v in of_list) for of_list in known.values())
        lower = lower or (any(v > 0 for v in values) and all(len(of_list) == 1 for of_list in lists.values()))
        return zeros if lower and zeros >= len(values) / 20 else 0
    describes_rows = any(0 in of_list and 1 in of_list for of_list in lists.values())
    tells = describes_rows or 1 not in values or all(len(of_list) == 1 for of_list in lists.values())
    return values.count(0) if tells else 0


def cut_lists(rows: list[dict[str, Any]], truth: list[dict[str, Any]] | None, by: list[str], per: str | None) -> int:
    """Return how many lists have several known values of a column of `per`."""
    if per is None or per in by:
        return 0
    lists = defaultdict(set)
    for row in truth if truth and per in truth[0] else rows:
        if key_of(row, [per]) != (None,):
            lists[key_of(row, by)].add(row[per])
    return sum(len(values) > 1 for values in lists.values())


def table(found: list[dict[str, Any]]) -> dict[str, tuple[int, float]]:
    for row in found:
        assert row["severity"] == SEVERITY[row["finding"]]
        assert 0 < len(row["meaning"]) <= 30, "polars prints no more"
    return {row["finding"]: (row["count"], pytest.approx(row["share"], abs=1e-12)) for row in found}


@pytest.mark.parametrize("k", [1, 3, None])
def test_everything_at_once(engine, k):
    rows, by = crowd(11, 300), ["user", "day"]
    result = engine.ask(engine.frame(rows), "check", k, by=by)
    assert list(result[0]) == ["finding", "severity", "share", "count", "meaning"]
    # The severe come first, on lazy frames too.
    reference = expected(rows, k, by=by, tells_nan=engine.tells_nan)
    assert [row["finding"] for row in result] == list(reference)
    assert table(result) == reference
    assert all(
        count
        for name, (count, _) in reference.items()
        if name not in OF_ALL and (engine.tells_nan or name != "nan_scores")
    )


@pytest.mark.parametrize("k", [2, None])
def test_ranks(engine, k):
    rows = ranked_crowd(12, 200)
    # Dense ranks of some lists, and others that are no ranks.
    for row in rows[::7]:
        row["rank"] = None if row["rank"] is None else (1 + row["rank"]) // 2
    for value, row in zip((0, -3, 1.5, math.inf), rows, strict=False):
        row["rank"] = value
    result = engine.ask(engine.frame(rows), "check", k, by="user", rank="rank")
    reference = expected(rows, k, by=["user"], rank="rank")
    assert table(result) == reference
    assert reference["impossible_ranks"][0] == 4
    assert reference["overlapping_ranks"][0] > 0


def test_dense_ranks_overlap_and_gaps_do_not(engine):
    for ranks, overlaps in (((1, 1, 2), 1), ((1, 1, 3), 0), ((2, 2, 3), 1), ((1, 5, 5, 9), 0), ((1, 1, 1, 1, 5, 3), 1)):
        result = engine.ask(engine.frame({"place": list(ranks)}), "check", by=None, rank="place")
        assert {row["finding"]: row["count"] for row in result}["overlapping_ranks"] == overlaps


def test_a_truth(engine):
    rows = crowd(13, 120)
    truth = [
        {name: row[name] for name in ("user", "day", "item", "relevant")} for row in (*crowd(14, 150), *crowd(13, 60))
    ]
    truth.append({**truth[0], "item": 10**6})
    frame, there = engine.frames([{n: v for n, v in row.items() if n != "relevant"} for row in rows], truth)
    by = ["user", "day"]
    result = engine.ask(frame, "check", 2, by=by, truth=there)
    reference = expected(rows, 2, by=by, truth=truth, tells_nan=engine.tells_nan)
    assert table(result) == reference
    assert all(reference[name][0] for name in OF_TRUTH if name not in OF_ALL)


@examples(20)
@given(data=st.data())
def test_odd_frames(engine, data):
    rows = data.draw(frames())
    truth = data.draw(st.none() | truths(rows))
    k = data.draw(st.sampled_from([1, 2, None]))
    by = data.draw(st.sampled_from([["user"], ["user", "day"], []]))
    frame, more = engine.frame(rows), {}
    if truth is not None:
        # Relevance comes from the truth; the frames share types by column.
        frame, there = engine.frames([{n: v for n, v in row.items() if n != "relevant"} for row in rows], truth)
        more = {"truth": there}
    result = engine.ask(frame, "check", k, by=by or None, **more)
    assert table(result) == expected(rows, k, by=by, truth=truth, tells_nan=engine.tells_nan)


def test_several_scores(engine):
    rows = [{**row, "other": len(str(row["item"])) if row["user"] else None} for row in crowd(15, 60)]
    result = engine.ask(engine.frame(rows), "check", 1, by=["user", "day"], score=["score", "other"])
    assert next(iter(result[0])) == "model"
    tells = engine.tells_nan
    for name in ("score", "other"):
        selected = [{**row, "score": row[name]} for row in rows]
        mine = [row for row in result if row["model"] == name]
        assert table(mine) == expected(selected, 1, by=["user", "day"], tells_nan=tells)
    assert [row["model"] for row in result] == ["score"] * (len(result) // 2) + ["other"] * (len(result) // 2)


@pytest.mark.parametrize("with_truth", [False, True])
def test_models_in_the_long_format(engine, with_truth):
    rows = [{**row, "who": name} for name, seed, lists in (("b", 16, 40), ("a", 17, 60)) for row in crowd(seed, lists)]
    truth = [{name: row[name] for name in ("user", "day", "item", "relevant")} for row in crowd(18, 70)]
    frame, there = engine.frames(rows, truth)
    more = {"truth": there} if with_truth else {}
    result = engine.ask(frame, "check", 1, by=["user", "day"], model="who", **more)
    models = ["a", "b"] if engine.lazy else ["b", "a"]
    assert [row["model"] for row in result] == sorted((row["model"] for row in result), key=models.index)
    for name in ("a", "b"):
        selected = [row for row in rows if row["who"] == name]
        more = {"truth": truth} if with_truth else {}
        reference = expected(selected, 1, by=["user", "day"], every=rows, tells_nan=engine.tells_nan, **more)
        mine = [row for row in result if row["model"] == name]
        assert [row["finding"] for row in mine] == list(reference)
        assert table(mine) == reference


@pytest.mark.parametrize("long", [False, True])
def test_items_that_users_already_have(engine, long):
    rows, by = crowd(27, 60), ["user", "day"]
    train = [{name: row[name] for name in ("user", "day", "item")} for row in (*rows[::3], *crowd(28, 20))]
    models = {"who": "b"} if long else {}
    frame, past = engine.frames([{**row, **models} for row in rows], [*train, *train[:5]])
    result = engine.ask(frame, "check", by=by, train=past, **({"model": "who"} if long else {}))
    reference = expected(rows, None, by=by, train=train, tells_nan=engine.tells_nan)
    assert table(result) == reference
    assert reference["already_seen"][0] > 0
    assert "already_seen" not in {row["finding"] for row in engine.ask(frame, "check", by=by)}


def test_items_that_users_already_have_need_an_item(engine):
    frame, past = engine.frames({"user": [1], "relevant": [1], "score": [1.0]}, {"user": [1], "item": [1]})
    with pytest.raises(KeyError, match="item='item': the frame has no such column"):
        engine.ask(frame, "check", train=past)


# --- columns that have no role, or one that cuts lists --------------------------------------------------------------------


@pytest.mark.parametrize("least", [2, 1, 0, -1, 9])
def test_grades_that_are_not_relevant_and_gain(engine, least):
    rows = [{**row, "relevant": row["item"] and row["item"] % 4} for row in crowd(26, 60)]
    by, frame = ["user", "day"], engine.frame(rows)
    reference = expected(rows, None, by=by, least=least, tells_nan=engine.tells_nan)
    assert table(engine.ask(frame, "check", by=by, min_relevance=least)) == reference
    assert bool(reference[LOWER][0]) == (least > 1)
    truth = [{name: row[name] for name in ("user", "day", "item", "relevant")} for row in rows[:40]]
    bare, there = engine.frames([{n: v for n, v in row.items() if n != "relevant"} for row in rows], truth)
    result = table(engine.ask(bare, "check", by=by, truth=there, min_relevance=least))
    reference = expected(rows, None, by=by, truth=truth, least=least, tells_nan=engine.tells_nan)
    assert result[LOWER] == reference[LOWER]


def test_segments_that_vary_within_lists(engine):
    rows = [
        {**row, "age": row["user"] and row["user"] % 3, "shelf": len(str(row["item"])) % 2} for row in crowd(21, 60)
    ]
    truth = [{"user": row["user"], "day": row["day"], "item": row["item"], "city": row["score"]} for row in rows[:50]]
    by = ["user", "day"]
    frame, there = engine.frames([{n: v for n, v in row.items() if n != "relevant"} for row in rows], truth)
    for per, second in (("age", {}), ("shelf", {}), ("shelf", {"truth": truth}), ("city", {"truth": truth})):
        more = {"truth": there} if second else {}
        result = engine.ask(frame, "check", by=by, per=per, **more)
        selected = [{**row, "relevant": 0} for row in rows]
        reference = expected(rows if second else selected, None, by=by, per=per, tells_nan=engine.tells_nan, **second)
        unread = {name for name in WITH_RELEVANCE if not second}
        assert table(result) == {name: value for name, value in reference.items() if name not in unread}
        assert bool(reference["segments_within_lists"][0]) == (per != "age")


def test_segments_of_the_key_cut_nothing(engine):
    frame = engine.frame({"user": [1, 1, 2], "day": [1, 2, 1], "relevant": [1, 0, 1], "score": [1.0, 2.0, 1.0]})
    result = engine.ask(frame, "check", by=["user", "day"], per="day")
    assert "segments_within_lists" not in {row["finding"] for row in result}
    counts = {row["finding"]: row["count"] for row in engine.ask(frame, "check", by=None, per="day")}
    assert counts["segments_within_lists"] == 1


def test_a_model_that_nobody_named(engine):
    rows = [{**row, "model": "a" if number % 2 else "b"} for number, row in enumerate(crowd(22, 40))]
    by, frame = ["user", "day"], engine.frame(rows)
    reference = expected(rows, None, by=by, tells_nan=engine.tells_nan)
    assert table(engine.ask(frame, "check", by=by)) == reference
    assert reference["unused_model"] == (len(rows), 1.0)
    for roles in ({"model": "model", "by": by}, {"by": [*by, "model"]}):
        assert "unused_model" not in {row["finding"] for row in engine.ask(frame, "check", **roles)}
    alike = engine.frame([{**row, "model": "a", "who": row["model"]} for row in rows])
    counts = {row["finding"]: row["count"] for row in engine.ask(alike, "check", by=by)}
    assert counts["unused_model"] == 0


@pytest.mark.parametrize(
    "clicked", [(0, 1), (False, True), (0.0, 1.0, None), (0.0, math.nan), (math.nan,), (0,), (1,), (0, 1, 2)]
)
def test_a_relevance_that_nobody_named(engine, clicked):
    rows = crowd(23, 30)
    truth = [{**row, "clicked": clicked[number % len(clicked)]} for number, row in enumerate(crowd(24, 30))]
    truth = [{name: row[name] for name in ("user", "day", "item", "clicked")} for row in truth]
    frame, there = engine.frames([{n: v for n, v in row.items() if n != "relevant"} for row in rows], truth)
    by = ["user", "day"]
    reference = expected(rows, None, by=by, truth=truth, tells_nan=engine.tells_nan)
    assert table(engine.ask(frame, "check", by=by, truth=there)) == reference
    # What holds nothing says nothing.
    assert bool(reference["assumed_relevance"][0]) == (clicked not in ((1,), (math.nan,)))
    result = engine.ask(frame, "check", by=by, truth=there, relevant="clicked")
    assert "assumed_relevance" not in {row["finding"] for row in result}


def test_lists_that_may_depend_on_each_other(engine):
    rows = [{**row, "score": float(number)} for number, row in enumerate(crowd(25, 9, longest=3))]
    reference = expected(rows, None, by=["user", "day"], tells_nan=engine.tells_nan)
    assert reference["dependent_lists"] == (9, 1.0)
    assert table(engine.ask(engine.frame(rows), "check", by=["user", "day"])) == reference
    one_day = [{**row, "day": row["user"]} for row in rows]
    result = engine.ask(engine.frame(one_day), "check", by=["user", "day"])
    assert {row["finding"]: row["count"] for row in result}["dependent_lists"] == 0


def test_compare_and_check_find_the_same_lists_dependent(polars_engine):
    pytest.importorskip("scipy")
    for users in (5, 6, 7):  # of 7 lists: 1.4, 1.17 and 1 a user
        data = {"user": [min(i, users - 1) for i in range(7)], "day": [*range(7)], "relevant": [1] * 7}
        frame = polars_engine.frame(data | {"score": [1.0] * 7, "other": [0.5] * 7})
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            recframe.rec(frame).compare("mrr", by=["user", "day"], score=["score", "other"])
        result = polars_engine.ask(frame, "check", by=["user", "day"])
        warned = any("lists of one value may be alike" in str(one.message) for one in caught)
        assert warned == bool({row["finding"]: row["count"] for row in result}["dependent_lists"]) == (users == 5)


def test_strict_stops_where_models_are_pooled_and_lists_are_cut(pandas_engine):
    rows = {"user": [1, 1, 2], "item": [1, 2, 1], "relevant": [0, 1, 1], "score": [0.1, 0.2, 0.3], "shelf": [1, 2, 1]}
    pooled = pandas_engine.frame(rows | {"model": ["a", "b", "a"]})
    with pytest.raises(recframe.InputError, match=r"unused_model: 3 \("):
        pandas_engine.ask(pooled, "check", strict=True)
    with pytest.raises(recframe.InputError, match=r"segments_within_lists: 1 \("):
        pandas_engine.ask(pandas_engine.frame(rows), "check", per="shelf", strict=True)


def test_strict_stops_on_the_one_model_whose_lists_never_match(engine):
    rows = [
        {"user": f"{mark}{i}", "item": i, "score": i / 2, "who": who}
        for who, mark in (("a", ""), ("b", "u"))
        for i in (1, 2)
    ]
    frame, truth = engine.frames(rows, [{"user": "1", "item": 1}, {"user": "3", "item": 2}])
    result = engine.ask(frame, "check", model="who", truth=truth)
    counts = {(row["model"], row["finding"]): row["count"] for row in result}
    for model, unknown, none in (("a", 1, 0), ("b", 2, 2)):
        assert counts[model, "truth_of_unknown_lists"] == unknown
        assert counts[model, "no_list_in_truth"] == none
        assert counts[model, "no_item_in_truth"] == 0
    if not engine.lazy:
        with pytest.raises(recframe.InputError, match="no_list_in_truth: 2 "):
            engine.ask(frame, "check", model="who", truth=truth, strict=True)


def test_what_needs_an_absent_column_is_not_looked_for(engine):
    rows = crowd(19, 30)
    without = {
        "item": ["duplicate_rows"],
        "relevant": [*WITH_RELEVANCE, "high_chance"],
    }
    for column, findings in without.items():
        less = [{name: value for name, value in row.items() if name != column} for row in rows]
        result = engine.ask(engine.frame(less), "check", 1, by=["user", "day"])
        reference = expected(rows, 1, by=["user", "day"], tells_nan=engine.tells_nan)
        assert table(result) == {name: value for name, value in reference.items() if name not in findings}


def test_a_named_column_must_be_there(engine):
    frame = engine.frame({"user": [1, 1], "relevant": [0, 1], "score": [2.0, 1.0]})
    if engine.lazy:
        return
    with pytest.raises(KeyError, match="item='thing': the frame has no such column"):
        engine.ask(frame, "check", item="thing")
    with pytest.raises(KeyError, match="relevant='bought': the frame has no such column"):
        engine.rows(recframe.rec(frame)(relevant="bought").check())


def test_the_contract_lists_every_finding():
    text = (Path(__file__).parents[2] / "docs" / "contract" / "checks.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\w+)` \| (error|warning|note) \|", text, re.MULTILINE)
    assert listed == [(finding.name, finding.severity) for finding in FINDINGS]


def test_strict_raises_what_is_severe(engine):
    frame = engine.frame({"user": [1, 1, 2, 2], "item": [1, 1, 1, 1], "relevant": [0, 1, 0, 0], "place": [1, 1, 2, 0]})
    if engine.lazy:
        with pytest.raises(
            recframe.errors.OptionError, match="(?s)strict=True needs the data.*(collect|fetch the rows first)"
        ):
            engine.ask(frame, "check", rank="place", strict=True)
        return
    with pytest.raises(recframe.errors.InputError, match="(?s)duplicate_rows: 2 .*impossible_ranks: 1 .*Hint"):
        engine.ask(frame, "check", rank="place", strict=True)
    ordered = {"user": [1, 1, 2, 2], "item": [1, 2, 1, 2], "relevant": [0, 0, 0, 0], "score": [1.0, 1.0, 2.0, 1.0]}
    fine = engine.frame(ordered)
    result = engine.ask(fine, "check", 1, strict=True)
    # Warnings and notes do not stop anybody.
    assert {row["finding"] for row in result if row["count"]} == {
        "lists_without_relevant", "constant_lists", "ties_across_k"
    }  # fmt: skip


def test_bound_roles_that_a_check_does_not_read_are_ignored(engine):
    frame = recframe.rec(engine.frame({"object": [1], "relevant": [1], "knn": [1.0]}))
    bound = frame(by="object", score="knn", ties="worst", undefined=0.0)
    assert {row["finding"]: row["count"] for row in engine.rows(bound.check(all=True))}["missing_scores"] == 0
    with pytest.raises(TypeError, match="there is no argument 'ties'"):
        frame.check(ties="worst")


def test_pandas_tells_nan_from_missing_where_its_types_do(pandas_engine):
    import pandas as pd

    values, missing = pd.Series([1.0, math.nan, 0.0]), pd.Series([False, False, True])
    scores = pd.Series(pd.arrays.FloatingArray(values.to_numpy(), missing.to_numpy()))
    frame = pd.DataFrame({"user": [1, 1, 1], "relevant": [0, 1, 0], "score": scores})
    result = {row["finding"]: row["count"] for row in pandas_engine.ask(frame, "check")}
    assert (result["nan_scores"], result["missing_scores"]) == (1, 1)


def test_strict_stops_on_ids_that_never_match_and_on_scores_that_are_all_missing(engine):
    rows = {"user": ["1", "1", "2"], "item": ["a", "b", "a"], "score": [0.9, 0.1, 0.5], "empty": [None] * 3}
    frame, truth = engine.frame(rows, {"empty": "float64"}), engine.frame({"user": ["u1", "u2"], "item": ["a", "b"]})
    for roles, name, count in (({"truth": truth}, "no_list_in_truth", 2), ({"score": "empty"}, "nothing_ranked", 2)):
        result = {row["finding"]: (row["severity"], row["count"]) for row in engine.ask(frame, "check", **roles)}
        assert result[name] == ("error", count)
        if not engine.lazy:
            with pytest.raises(recframe.InputError, match=f"{name}: {count} "):
                engine.ask(frame, "check", strict=True, **roles)


def test_strict_stops_on_items_that_never_match_and_where_every_list_ties(engine):
    rows = {"user": [1, 1, 2], "item": ["a", "b", "a"], "score": [0.9, 0.1, 0.5], "tied": [1.0, 1.0, 2.0]}
    frame, truth = engine.frame(rows), engine.frame({"user": [1, 2], "item": ["x", "y"]})
    one = engine.frame({"user": [1, 2], "item": ["x", "a"]})
    assert {row["finding"]: row["count"] for row in engine.ask(frame, "check", truth=one)}[
        "truth_of_unknown_items"
    ] == 1
    for roles, name, count in (({"truth": truth}, "no_item_in_truth", 2), ({"score": "tied"}, "nothing_ordered", 1)):
        result = {row["finding"]: (row["severity"], row["count"]) for row in engine.ask(frame, "check", **roles)}
        assert result[name] == ("error", count)
        if not engine.lazy:
            with pytest.raises(recframe.InputError, match=f"{name}: {count} "):
                engine.ask(frame, "check", strict=True, **roles)


def test_only_what_was_found_has_a_row_and_errors_come_first(engine):
    rows = [
        {"user": 1, "item": 1, "relevant": 1, "a": 0.5, "b": 0.9},
        {"user": 1, "item": 2, "relevant": 0, "a": 0.5, "b": None},
        {"user": 2, "item": 1, "relevant": 0, "a": 0.5, "b": 0.1},
        {"user": 2, "item": 1, "relevant": 0, "a": 0.5, "b": 0.2},
    ]
    frame, given = engine.frame(rows), {"by": "user", "score": ["a", "b"]}
    every = engine.ask(frame, "check", 1, **given)
    result = engine.ask(frame, "check", 1, all=False, **given)
    if engine.lazy:
        result.sort(key=lambda row: (ALL.index(row["finding"]), row["model"]))
    severities = [row["severity"] for row in result]
    assert severities == sorted(severities, key=("error", "warning", "note").index)
    assert {"error", "warning", "note"} == {*severities}
    assert all(row["count"] > 0 for row in result)
    by_name = {(row["model"], row["finding"]): row for row in every}
    assert result == [by_name[row["model"], row["finding"]] for row in result]
    assert len(result) == sum(row["count"] > 0 for row in every) < len(every)
    assert [row["model"] for row in result if row["finding"] == "duplicate_rows"] == ["a", "b"]


def test_a_sound_frame_has_no_rows_but_all_columns(engine):
    rows = [
        {"user": user, "item": item, "relevant": int(item == user), "score": item / 10}
        for user in range(2)
        for item in range(6)
    ]
    frame, truth = engine.frames(rows, [{"user": 0, "item": 0, "relevant": 1}, {"user": 1, "item": 1, "relevant": 1}])
    result = engine.ask(frame, "check", 1, all=False, truth=truth)
    assert result == []
    columns = nw.from_native(recframe.rec(frame).check(1, truth=truth)).lazy().collect_schema().names()
    assert columns == ["finding", "severity", "share", "count", "meaning"]
    with pytest.raises(recframe.OptionTypeError, match="all='yes' is neither True nor False"):
        recframe.rec(frame).check(all="yes")
