"""A column of `per` describes a list: one that differs within a list is refused, and the two readings have calls of their own."""

from __future__ import annotations

import random
from collections import defaultdict

import pytest

import recframe

ROWS = {
    "user": ["1", "1", "2"],
    "item": ["a", "b", "a"],
    "score": [0.9, 0.1, 0.5],
    "relevant": [0, 1, 1],
    "genre": ["x", "y", "x"],
    "country": ["de", None, "fr"],
}
TRUTH = {"user": ["1", "1", "2"], "item": ["a", "b", "a"], "genre": ["x", "y", "x"], "country": ["de", None, "fr"]}
# Spark writes a backslash before each quote of a text.
REFUSED = r"(?s)per=\\?'genre\\?' has several values within a list.*by=\[\\?'user\\?', \\?'genre\\?'\].*per_item=\\?'genre\\?'"
CALLS = {
    "one metric": ("mrr", 2),
    "many": ("evaluate", ["ndcg", "map"], 2),
    "recommended items": ("evaluate", ["coverage", "gini"], 2),
    "distribution": ("describe", "mrr"),
}


def error_of(engine):
    """Return what a call raises: the error itself at once, or at collect where polars passes it on; else the engine's."""
    passed_on = engine.library == "polars" and hasattr(pytest.importorskip("polars").LazyFrame, "pipe_with_schema")
    return recframe.InputError if not engine.lazy or passed_on else Exception


def without_relevance(data):
    return {name: values for name, values in data.items() if name != "relevant"}


@pytest.mark.parametrize("case", CALLS)
@pytest.mark.parametrize("truth", [None, ["genre"], []], ids=["no truth", "of the truth", "of the frame"])
def test_a_column_that_differs_within_a_list_is_refused(engine, case, truth):
    if case == "distribution":
        pytest.importorskip("scipy")
    given, data = {"per": "genre"}, ROWS
    if truth is None:
        frame = engine.frame(data)
    else:
        columns = {name: TRUTH[name] for name in ("user", "item", *truth)}
        frame, given["truth"] = engine.frames(without_relevance(data), columns)
    with pytest.raises(error_of(engine), match=REFUSED):
        engine.ask(frame, *CALLS[case], **given)


def test_so_it_is_by_comparisons_of_models(engine):
    pytest.importorskip("scipy")
    frame = engine.frame(ROWS | {"other": [3, 2, 1]})
    for call in (("compare", "mrr"), ("agreement", 2)):
        with pytest.raises(error_of(engine), match=REFUSED):
            engine.ask(frame, *call, score=["score", "other"], per="genre")


def test_a_whole_frame_as_one_list_is_one_segment(engine):
    with pytest.raises(error_of(engine), match=r"(?s)per=\\?'country\\?' has several values.*by=\[\\?'country\\?'\]"):
        engine.ask(engine.frame(ROWS), "mrr", by=None, per="country")


def test_missing_values_do_not_cut_a_list(engine):
    result = engine.ask(engine.frame(ROWS), "mrr", per="country")
    assert sorted((row["country"], row["mrr"]) for row in result) == [("de", 0.5), ("fr", 1.0)]
    frame, truth = engine.frames(without_relevance(ROWS), TRUTH)
    assert {row["country"] for row in engine.ask(frame, "mrr", per="country", truth=truth)} == {"de", "fr"}


@pytest.mark.parametrize("case", ["a value", "no value", "no segment"])
def test_all_calls_report_an_unknown_segment_if_a_list_of_it_has_a_value(engine, case):
    pytest.importorskip("scipy")
    columns = {"user": [1, 1, 2, 2, 3, 3, 4, 4], "item": [1, 2] * 4, "old": [1, 2] * 4, "new": [2, 1, 2, 1, 1, 2, 1, 2]}
    judged = {
        "a value": {
            "user": [1, 2, 3, 4],
            "item": [1, 2, 1, 1],
            "relevant": 4 * [1],
            "country": ["de", "fr", "de", None],
        },
        "no value": {"user": [1, 2, 3], "item": [1, 2, 1], "relevant": 3 * [1], "country": ["de", "fr", "de"]},
        "no segment": {"user": [1, 9], "item": [1, 2], "relevant": [0, 0], "country": [None, None]},
    }
    frame = engine.frame(columns)
    truth = engine.frame(judged[case], {**dict.fromkeys(["user", "item", "relevant"], "int64"), "country": "str"})
    roles = {"score": ["old", "new"], "truth": truth, "per": "country"}
    calls = [
        ("describe", {}),
        ("rank_models", {}),
        ("sample_size", {"difference": 0.1}),
        ("bounds", {}),
        ("compare", {}),
    ]
    calls += [
        ("compare", {"test": "bootstrap"}),
        *(("compare", {"correction": name}) for name in ("maxt", "romano-wolf")),
    ]
    calls += [("compare", {"correction": "dunnett", "baseline": "old"}), ("evaluate", {})]
    expected = {"a value": {"de", "fr", None}, "no value": {"de", "fr"}, "no segment": set()}[case]
    for call, given in engine.some(calls):
        assert {row["country"] for row in engine.ask(frame, call, "mrr", **roles, **given)} == expected, (call, given)


def test_all_calls_report_an_unknown_segment_whose_lists_weigh_nothing(engine):
    pytest.importorskip("scipy")
    rows = [
        {"user": user, "item": item, "score": item, "other": -item, "country": country, "weight": weight}
        for user, country, weight in ((1, "de", 1.0), (2, None, 0.0), (3, "de", 2.0), (4, "fr", 0.0))
        for item in (1, 2)
    ]
    truth = [{"user": user, "item": 1, "relevant": 1} for user in (1, 2, 3, 4)]
    frame, there = engine.frames(rows, truth)
    roles = {"truth": there, "per": "country", "weight": "weight"}
    values = {"de": 0.5, "fr": None, None: None}
    result = engine.ask(frame, "evaluate", ["mrr", "gauc"], counts=True, **roles)
    assert {row["country"]: (row["mrr"], row["lists"]) for row in result} == {
        key: (value, 2 if value else 1) for key, value in values.items()
    }
    # Of a single list, personalization has no value.
    for call, names in (("mrr", ()), ("evaluate", ["mrr", "personalization"]), ("describe", ["mrr"])):
        result = engine.ask(frame, call, *([names] if names else []), **roles)
        assert {row["country"] for row in result} == values.keys(), (call, names)
    result = engine.ask(frame, "evaluate", ["mrr"], **roles | {"score": ["score", "other"]})
    assert sorted((str(row["country"]), row["model"]) for row in result) == [
        (country, model) for country in ("None", "de", "fr") for model in ("other", "score")
    ]
    # Users that nothing is relevant to have no value, whatever they weigh.
    (some,) = engine.frames(truth[:1])
    assert {row["country"] for row in engine.ask(frame, "evaluate", ["mrr"], **roles | {"truth": some})} == {"de", "fr"}


@pytest.mark.parametrize("long", [False, True])
def test_a_model_without_a_value_in_the_unknown_segment_has_a_row_there(engine, long):
    columns = {"user": [1, 1, 2, 2], "country": ["de", "de", None, None], "relevant": [1, 0, 1, 0]}
    scores = {"old": [2.0, 1.0, 2.0, 1.0], "new": [2.0, 1.0, None, None]}
    roles = {"score": ["old", "new"]}
    if long:
        columns = {name: values * 2 for name, values in columns.items()} | {"model": ["old"] * 4 + ["new"] * 4}
        scores, roles = {"score": scores["old"] + scores["new"]}, {"model": "model"}
    frame = engine.frame(columns | scores)
    for metrics in (["mrr"], ["mrr", "eed"]):
        result = engine.ask(frame, "evaluate", metrics, per="country", lists="ranked", **roles)
        assert {(row["model"], row["country"]): row["mrr"] for row in result} == {
            ("old", "de"): 1.0, ("new", "de"): 1.0, ("old", None): 1.0, ("new", None): None,
        }  # fmt: skip


def random_rows(seed):
    """Return recommendations and what was relevant, with the genre of each item."""
    draw = random.Random(seed)
    genre = {item: draw.choice("xyz") for item in range(12)}
    rows = [
        {"user": user, "item": item, "genre": genre[item], "score": draw.random()}
        for user in range(6)
        for item in draw.sample(range(12), 8)
    ]
    truth = [
        {"user": user, "item": item, "genre": genre[item]} for user in range(7) for item in draw.sample(range(12), 3)
    ]
    return rows, truth


@pytest.mark.parametrize("segment", ["genre", "item"])
def test_the_part_of_the_real_top_k(engine, segment):
    rows, truth = random_rows(1)
    k, top, relevant = 3, set(), defaultdict(list)
    for user in range(6):
        own = sorted((row for row in rows if row["user"] == user), key=lambda row: -row["score"])
        top |= {(user, row["item"]) for row in own[:k]}
    for row in truth:
        relevant[row[segment], row["user"]].append((row["user"], row["item"]) in top)
    shares = defaultdict(list)
    for (value, _), result in relevant.items():
        shares[value].append(sum(result) / len(result))
    expected = {value: pytest.approx(sum(each) / len(each)) for value, each in shares.items()}

    by = ["user", segment]
    if engine.answers_with_rows:
        frame, there = engine.frames(rows, truth)
        with engine.running():
            kept = recframe.rec(frame).top(k)
    else:
        kept, there = engine.frames(
            [{**row, "rank": _place(row, rows)} for row in rows if (row["user"], row["item"]) in top], truth
        )
    result = engine.ask(kept, "recall", k, by=by, per=segment, rank="rank", truth=there)
    # Items that nobody wants have no value.
    assert {row[segment]: row[f"recall@{k}"] for row in result if row[f"recall@{k}"] is not None} == expected
    frame, there = engine.frames([{name: row[name] for name in ("user", "item", "score")} for row in rows], truth)
    result = engine.ask(frame, "recall", k, per_item=segment, truth=there)
    assert {row[segment]: row[f"recall@{k}"] for row in result} == expected
    frame, there = engine.frames(rows, truth)
    inside = engine.ask(frame, "recall", k, by=by, per=segment, truth=there)
    assert {row[segment]: row[f"recall@{k}"] for row in inside if row[f"recall@{k}"] is not None} != expected


def _place(row, rows):
    return 1 + sum(other["score"] > row["score"] for other in rows if other["user"] == row["user"])
