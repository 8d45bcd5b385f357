"""Frames without rows, truths without rows, one row, one list, no column but the key: every call answers or refuses.

The answers are written down: no list is undefined, nothing is recommended scores 0, rows that are not there are not in
the answer.
"""

from __future__ import annotations

import math
import warnings
from functools import cache

import pytest

import recframe
from engines import ENGINES
from oracle import ACCURACY, ORACLES, Case, parse
from recframe.metrics import METRICS

KINDS = {"user": "int64", "item": "str", "score": "float64", "relevant": "int64", "price": "float64", "drama": "int64"}
FRAME = {
    "user": [1, 1, 2, 2],
    "item": ["a", "b", "a", "c"],
    "score": [2.0, 1.0, 2.0, 1.0],
    "relevant": [1, 0, 0, 1],
    "price": [1.0, 2.0, 1.0, 3.0],
}
TRUTH = {"user": [1, 1], "item": ["a", "b"], "relevant": [1, 0], "price": [1.0, 2.0]}
TRAIN = {"user": [1, 2, 2], "item": ["a", "a", "b"]}
FEATURES = {"item": ["a", "b", "c"], "drama": [1, 0, 1]}


def first(data, rows):
    return {name: values[:rows] for name, values in data.items()}


RECOMMENDED = [
    "coverage",
    "novelty",
    "arp",
    "diversity",
    "category_entropy",
    "personalization",
    "gini",
    "entropy",
    "calibration",
    "long_tail",
]
UNDEFINED = dict.fromkeys([*ACCURACY, "coverage"])
CASES = {
    "no rows": (first(FRAME, 0), None, UNDEFINED),
    "no rows, no truth": (first(FRAME, 0), first(TRUTH, 0), UNDEFINED),
    "no rows, a truth": (
        first(FRAME, 0),
        TRUTH,
        {
            **dict.fromkeys([*ACCURACY, "pfound"], 0.0),
            **dict.fromkeys([*RECOMMENDED, "spearman", "kendall", "opa", "partial_auc", "judged"]),
            "roc_auc": None,  # the top k holds no pair
            "gauc": 0.5,
            "num_rel": 1.0,
        },
    ),
    "a truth without rows": (
        FRAME,
        first(TRUTH, 0),
        {
            **UNDEFINED,
            "coverage": 1.0,
            "novelty": 0.5,
            "arp": 0.625,
            "diversity": 0.5,
            "category_entropy": 0.0,
            "personalization": 0.5,
            "gini": 1 / 6,
            "entropy": 1.5,
            "calibration": 0.0,
            "long_tail": 1.0,
            "user_coverage": 1.0,
            "judged": 0.0,
            "num_rel": 0.0,
            "num_ret": 2.0,
            "num_rel_ret": 0.0,
        },
    ),
    "one row": (
        first(FRAME, 1),
        None,
        {
            **dict.fromkeys([*ACCURACY, "pfound"], 1.0),
            **dict.fromkeys(
                ["roc_auc", "gauc", "spearman", "kendall", "opa", "partial_auc", "diversity", "personalization"]
            ),
            "precision": 0.5,
            "f1": 2 / 3,
            "judged": 0.5,
            "fbeta": 5 / 6,
            "rbp": 0.2,
            "err": 0.5,
            "err_ia": 0.5,
            "novelty": 0.0,
            "gini": 0.0,
            "entropy": 0.0,
            "serendipity": 0.0,
            "calibration": 0.0,
        },
    ),
}
"""Frames, the truth, and values that hold; the oracle has those of other metrics."""
TYPES = ["typed", "untyped"]


def as_rows(data):
    return [dict(zip(data, row, strict=True)) for row in zip(*data.values(), strict=True)]


@cache
def expected_of(case):
    """Return the value of every metric at 2."""
    data, truth, held = CASES[case]
    rows = as_rows(data)
    if truth is not None:
        judged = {(row["user"], row["item"]): row for row in as_rows(truth)}
        rows = [{**row, "relevant": judged.pop((row["user"], row["item"]), {}).get("relevant")} for row in rows]
        rows += [{**row, "score": None} for row in judged.values()]
    features = {row["item"]: [row["drama"]] for row in as_rows(FEATURES)}
    whole = Case(rows, as_rows(TRAIN), features, list(dict.fromkeys(row["item"] for row in rows)))
    labels = {name: f"{name}@2" if hasattr(kind(), "k") else name for name, kind in METRICS.items()}
    return held | {name: ORACLES[name](parse(labels[name]), whole) for name in METRICS if name not in held}


def made(engine, data, types="typed"):
    """Return a frame; untyped, its columns without values have no type either."""
    return engine.frame(data, {name: KINDS[name] for name in data} if types == "typed" else None)


def frame_and_roles(engine, data, truth, types):
    """Return a frame and the roles of its side information."""
    side = {} if truth is None else {"truth": made(engine, truth, types)}
    return made(engine, data, types), side


@pytest.mark.parametrize("types", TYPES)
@pytest.mark.parametrize("case", CASES)
def test_every_metric_answers(engine, case, types):
    (data, truth, _), expected = CASES[case], expected_of(case)
    frame, side = frame_and_roles(engine, data, truth, types)
    some = engine.some(list(METRICS))
    side |= {"features": made(engine, FEATURES)}
    if any("train" in (*METRICS[name].required_inputs, *METRICS[name].optional_inputs) for name in some):
        side |= {"train": made(engine, TRAIN)}
    (result,) = engine.ask(frame, "evaluate", some, k=2, **side)
    result = {name.split("@")[0]: value for name, value in result.items()}
    assert result == {name: None if expected[name] is None else pytest.approx(expected[name]) for name in some}


@pytest.mark.parametrize("case", CASES)
def test_every_method_answers_as_evaluate_does(engine, case):
    (data, truth, _), expected = CASES[case], expected_of(case)
    frame, side = frame_and_roles(engine, data, truth, "typed")
    side |= {"train": made(engine, TRAIN), "features": made(engine, FEATURES)}
    for name in engine.some(list(METRICS)):
        k = {"k": 2} if hasattr(METRICS[name](), "k") else {}
        needs = (*METRICS[name].required_inputs, *METRICS[name].optional_inputs, "truth")
        value = engine.ask(frame, name, **k, **{role: other for role, other in side.items() if role in needs})
        assert value == pytest.approx(math.nan if expected[name] is None else expected[name], nan_ok=True), name


def test_no_list_is_a_warning_with_the_value(engine):
    if engine.lazy or engine.postpones:
        pytest.skip("a lazy frame gives no float")
    frame = recframe.rec(made(engine, first(FRAME, 0)))
    with engine.running(), pytest.warns(recframe.UndefinedWarning, match="no list has a value of recall@2"):
        assert math.isnan(frame.recall(2))


@pytest.mark.parametrize("types", TYPES)
def test_reports_name_what_there_is(engine, types):
    frame, side = frame_and_roles(engine, first(FRAME, 0), TRUTH, types)
    names = ["ndcg", "coverage"]
    assert engine.ask(frame, "evaluate", names, k=2, per="user") == []
    assert engine.ask(frame, "evaluate", names, k=2, model="item") == []
    assert engine.ask(frame, "evaluate", names, k=2, by=None) == [{"ndcg@2": None, "coverage@2": None}]
    assert engine.ask(frame, "evaluate", ["ndcg"], k=2, per="user", **side) == [{"user": 1, "ndcg@2": 0.0}]
    assert engine.ask(frame, "evaluate", ["ndcg"], k=2, lists="ranked", **side) == [{"ndcg@2": None}]
    models = engine.ask(frame, "evaluate", names, k=2, score=["score", "price"], **side)
    assert sorted(models, key=str) == [
        {"model": "price", "ndcg@2": 0.0, "coverage@2": None},
        {"model": "score", "ndcg@2": 0.0, "coverage@2": None},
    ]
    assert math.isnan(engine.ask(frame, "ndcg", 2, undefined=0.0))


@pytest.mark.parametrize("option", [{"ties": "worst"}, {"ties": "item"}, {"rank": "price"}, {"like": "trec_eval"}])
def test_policies_give_the_same_answer_on_all_engines(engine, option):
    for data, truth in ((first(FRAME, 0), None), (first(FRAME, 0), first(TRUTH, 0)), (FRAME, first(TRUTH, 0))):
        frame, side = frame_and_roles(engine, data, truth, "typed")
        filled = {"ndcg": 0.0 if "like" in option and data is FRAME else None}
        (row,) = engine.ask(frame, "evaluate", ["ndcg"], k=2, **option, **side)
        assert list(row.values()) in (list(filled.values()), [None])


@pytest.mark.parametrize("types", TYPES)
def test_side_tables_without_rows(engine, types):
    frame = made(engine, FRAME)
    train, catalog = made(engine, first(TRAIN, 0), types), made(engine, {"item": []}, types)
    (row,) = engine.ask(frame, "evaluate", ["novelty", "arp", "serendipity"], k=2, train=train)
    # Nobody had anything: popularity is not defined, and everything is unexpected.
    assert list(row.values()) == [None, None, pytest.approx(0.5)]
    (row,) = engine.ask(frame, "evaluate", ["coverage", "gini", "entropy"], k=2, catalog=catalog)
    assert list(row.values()) == [None, None, None]
    assert engine.ask(frame, "coverage", 2, catalog=catalog, undefined=0.5) == 0.5
    features = made(engine, first(FEATURES, 0))
    (row,) = engine.ask(frame, "evaluate", ["diversity", "calibration"], train=made(engine, TRAIN), features=features)
    assert list(row.values()) == [None, None]
    for nothing in ([], 0):
        with pytest.raises(recframe.OptionError, match="catalog"):
            engine.ask(frame, "coverage", 2, catalog=nothing)


@pytest.mark.parametrize("types", TYPES)
def test_contributions_and_checks(engine, types):
    frame, side = frame_and_roles(engine, first(FRAME, 0), TRUTH, types)
    assert engine.ask(frame, "contributions", "ndcg", 2) == []
    assert engine.ask(frame, "contributions", "ndcg", 2, **side) == []
    # What is not recommended shares the last place.
    auc = engine.ask(frame, "contributions", "roc_auc", **side)
    assert [(row["item"], row["position"], row["contribution"]) for row in auc] == [("a", None, 0.5)]
    assert {row["count"] for row in engine.ask(frame, "check", 2)} == {0}
    result = {row["finding"]: row["count"] for row in engine.ask(frame, "check", 2, **side) if row["count"]}
    assert result == {
        "no_list_in_truth": 2, "no_item_in_truth": 2, "nothing_ranked": 1, "truth_of_unknown_lists": 2,
        "truth_of_unknown_items": 2, "lists_without_ranked": 1,
    }  # fmt: skip


def test_no_column_but_the_key(engine):
    if not engine.checks:
        pytest.skip("a lazy frame fails at collect, with the engine's own message")
    frame = made(engine, {"user": [1, 2]})
    for method, args in (
        ("ndcg", ()),
        ("evaluate", (["coverage", "ndcg"],)),
        ("contributions", ("ndcg",)),
        ("check", ()),
    ):
        with pytest.raises(recframe.MissingColumnError, match="has no such columns?; it has 'user'"):
            engine.ask(frame, method, *args)


def test_a_missing_column_is_named_also_without_rows(engine):
    if not engine.checks:
        pytest.skip("a lazy frame fails at collect, with the engine's own message")
    with pytest.raises(recframe.MissingColumnError, match="relevant='relevant'"):
        engine.ask(made(engine, first({"user": [1], "score": [1.0]}, 0)), "ndcg")


# --- calls that answer with rows ----------------------------------------------------------------------------

OF_ROWS = [name for name, entry in ENGINES.items() if entry.engine.answers_with_rows and name != "polars in-memory"]


@pytest.fixture(params=OF_ROWS)
def rows_engine(request):
    return ENGINES[request.param].engine


def rows_of(engine, frame, method, *args, **given_):
    with engine.running():
        answer = getattr(recframe.rec(frame), method)(*args, **given_)
        return [engine.rows(part) for part in answer] if isinstance(answer, tuple) else engine.rows(answer)


@pytest.mark.parametrize("types", TYPES)
def test_no_rows_give_no_rows(rows_engine, types):
    engine = rows_engine
    frame, _ = frame_and_roles(engine, first(FRAME, 0), None, types)
    for method, *args in (("top", 2), ("to_lists", 2), ("add_random", "chance"), ("add_popular", made(engine, TRAIN))):
        assert rows_of(engine, frame, method, *args) == [], method
    for option in ({"fraction": 0.5}, {"count": 1, "users": 1}, {"last": 1, "time": "price"}):
        assert rows_of(engine, frame, "split", **option) == [[], []]
    assert rows_of(engine, frame, "label", made(engine, first(TRUTH, 0), types)) == []
    labelled = rows_of(engine, frame, "label", made(engine, TRUTH))
    assert sorted((row["user"], row["item"], row["relevant"], row["score"]) for row in labelled) == [
        (1, "a", 1, None),
        (1, "b", 0, None),
    ]


def test_answers_without_rows_have_their_columns(rows_engine):
    frame = made(rows_engine, first(FRAME, 0))
    with rows_engine.running():
        answers = {
            "top": recframe.rec(frame).top(2),
            "to_lists": recframe.rec(frame).to_lists(2),
            "label": recframe.rec(frame).label(made(rows_engine, first(TRUTH, 0))),
        }
        names = {
            name: list(answer.collect_schema() if hasattr(answer, "collect_schema") else answer.columns)
            for name, answer in answers.items()
        }
    assert names == {"top": [*FRAME, "rank"], "to_lists": ["user", "item"], "label": list(FRAME)}


@pytest.mark.parametrize("types", TYPES)
def test_nothing_happened(rows_engine, types):
    engine = rows_engine
    _, side = frame_and_roles(engine, FRAME, first(TRUTH, 0), types)
    labelled = rows_of(engine, made(engine, FRAME), "label", side["truth"])
    assert [row["relevant"] for row in labelled] == [0, 0, 0, 0]
    popular = rows_of(engine, made(engine, FRAME), "add_popular", made(engine, first(TRAIN, 0), types))
    assert [row["popular"] for row in popular] == [0.0, 0.0, 0.0, 0.0]


def test_candidates_of_nobody_or_nothing(rows_engine):
    engine = rows_engine
    users, items = made(engine, {"user": [1, 2]}), made(engine, {"item": ["a"]})
    no_users, no_items = made(engine, {"user": []}), made(engine, {"item": []})
    pairs = made(engine, {"user": [], "item": []})
    with engine.running():
        assert engine.rows(recframe.candidates(no_users, items)) == []
        assert engine.rows(recframe.candidates(users, no_items)) == []
        assert len(engine.rows(recframe.candidates(users, items, seen=pairs))) == 2


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_lists_without_items(library):
    pytest.importorskip(library)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", recframe.RecWarning)
        nothing_happened = recframe.from_lists([[1, 3]], [[]], library=library)
        assert recframe.rec(nothing_happened).check(rank="rank").shape[0] > 0
        assert math.isnan(recframe.rec(nothing_happened).recall(2, rank="rank"))
        nothing_recommended = recframe.from_lists([[]], [[1, 3]], library=library)
        assert recframe.rec(nothing_recommended).recall(2, rank="rank") == 0.0
        neither = recframe.from_lists([[]], [[]], library=library)
        assert list(neither.columns) == ["user", "item", "relevant", "rank"]
        assert math.isnan(recframe.rec(neither).recall(2, rank="rank"))
        with pytest.raises(recframe.InputError, match="recommended holds no list"):
            recframe.from_lists([], [], library=library)
        assert len(recframe.candidates([], [1], library=library)) == 0


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_a_long_frame_without_rows_has_no_models(library):
    make = pytest.importorskip(library).DataFrame
    truth = make({"user": [1], "item": ["a"], "relevant": [1]})
    frame = make({"model": ["new"], "user": [1], "item": ["a"], "score": [0.5]})[:0]
    with pytest.warns(recframe.DataWarning, match="the frame has no rows"):
        assert len(recframe.rec(frame).evaluate("ndcg", model="model", truth=truth)) == 0
