"""Several models in one call, as columns of scores or stacked with a model column: each gets the oracle's values."""

from __future__ import annotations

import itertools

import pytest

import oracle
import recframe
from compare import assert_equal
from spellings import SPELLED
from strategies import crowd


@pytest.mark.parametrize("ties", ["average", "worst", "item"])
def test_wide_format(engine, ties):
    rows = [{**row, "other": -row["relevant"] if row["relevant"] else row["score"]} for row in crowd(9, 150)]
    some, by = engine.some(SPELLED[::9]), ["user", "day"]
    expected = {
        (name, *key): values
        for name in ("score", "other")
        for key, values in oracle.evaluate(rows, some, by=by, per=by, ties=ties, score=name).items()
    }
    result = engine.ask(engine.frame(rows), "evaluate", some, by=by, per=by, ties=ties, score=["score", "other"])
    assert list(result[0]) == [*by, "model", *some]
    assert_equal(result, expected, ["model", *by])


@pytest.mark.parametrize("undefined", ["skip", 0.25])
@pytest.mark.parametrize("per", [None, "day", ["user", "day"]])
def test_long_format(engine, per, undefined):
    # Not every model serves every list, and a list counts for all models if one of them shows a relevant row.
    rows = [
        {**row, "model": name}
        for seed, name in enumerate(["b", "a", "c"])
        for row in crowd(10 + seed, 60, relevance=(0, 0, 1, 2))
        if (row["user"] or 0) % 3 != seed
    ]
    some, requested = (
        engine.some(SPELLED[::9]),
        {"by": ["user", "day"], "per": per, "undefined": undefined, "model": "model"},
    )
    result = engine.ask(engine.frame(rows), "evaluate", some, **requested)
    assert_equal(result, oracle.evaluate(rows, some, **requested), ["model", *oracle.names(per)])


@pytest.mark.parametrize("per", [[], ["seg"], ["seg", "user"]], ids=str)
def test_a_list_of_one_model_has_the_columns_of_several(engine, per):
    """DuckDB put the model last, and whoever read rows by position read another column."""
    rows = [{"user": n // 3, "seg": n % 6 // 3, "relevant": n % 2, "score": n * 7 % 5, "other": n} for n in range(12)]
    frame = engine.frame(rows)
    for scores in (["score"], ["score", "other"]):
        result = engine.ask(frame, "evaluate", ["mrr", "recall@1"], score=scores, per=per)
        assert list(result[0]) == [*per, "model", "mrr", "recall@1"]


# --- the order of models --------------------------------------------------------------------------------------------------

ORDER = ["new", "old", "base"]
"""Neither sorted nor the other way round."""


def by_model(calls, engine, frame, **models):
    """Return the models of each call's rows, each once, in the order of the rows."""
    result = {name: engine.ask(frame, name, *given, **more, **models) for name, (given, more) in calls.items()}
    return {name: list(dict.fromkeys(row["model"] for row in rows)) for name, rows in result.items()}


@pytest.mark.parametrize("long", [False, True])
def test_models_are_listed_as_they_come(engine, long):
    wide = [
        {
            "user": user,
            "seg": user % 2,
            "item": item,
            "relevant": item % 2,
            "new": item * user,
            "old": item,
            "base": -item,
        }
        for user in range(1, 5)
        for item in range(1, 4)
    ]
    stacked = [{**row, "model": name, "score": row[name]} for name in ORDER for row in wide]
    stacked = [{name: row[name] for name in ("user", "seg", "item", "relevant", "model", "score")} for row in stacked]
    frame, models = engine.frame(stacked if long else wide), {"model": "model"} if long else {"score": ORDER}
    calls = {
        "evaluate": (("mrr",), {}),
        "describe": ((["mrr", "ndcg"],), {}),
        "check": ((), {}),
        "contributions": (("mrr",), {}),
    }
    # Rows of other engines come in any order, but for the statistics.
    order = sorted(ORDER) if long and engine.lazy else ORDER
    result = by_model(calls, engine, frame, **models)
    segments = engine.ask(frame, "evaluate", "mrr", per="seg", **models)
    if engine.sorts:
        assert result == dict.fromkeys(calls, order)
        assert [(row["model"], row["seg"]) for row in segments] == [(name, seg) for seg in (0, 1) for name in order]
    assert result["describe"] == order
    pairs = [(model, baseline) for baseline, model in itertools.combinations(order, 2)]
    for more in ({}, {"per": "seg"}):
        rows = engine.ask(frame, "compare", "mrr", **models, **more)
        assert [(row["model"], row["baseline"]) for row in rows if not row.get("seg")] == pairs
    rows = engine.ask(frame, "agreement", 2, **models)
    assert {(row["model"], row["other"]) for row in rows} == set(itertools.combinations(order, 2))


def test_a_missing_model_is_one_like_any_other(engine):
    rows = [
        {"user": 1, "item": item, "relevant": item % 2, "model": name, "score": item}
        for name in ("b", None, "a")
        for item in (1, 2)
    ]
    order = ["a", "b", None] if engine.lazy else ["b", None, "a"]
    rows = engine.ask(engine.frame(rows), "compare", "mrr", model="model")
    assert [(row["model"], row["baseline"]) for row in rows] == [
        (model, baseline) for baseline, model in itertools.combinations(order, 2)
    ]


@pytest.mark.parametrize("given", [{}, {"counts": True}, {"undefined": 0.5}, {"per_item": "item"}])
def test_models_in_rows_have_a_row_where_no_list_has_a_value(engine, given):
    wide = [{"user": 1, "item": item, "relevant": 0, "a": 1.0 + item, "b": 2.0} for item in range(2)]
    long = [{**row, "model": name, "score": row[name]} for name in "ab" for row in wide]
    frame, stacked, truth = engine.frames(wide, long, [{"user": 1, "item": 0, "relevant": 0}])
    for more in ({}, {"truth": truth}):
        expected = engine.ask(frame, "evaluate", "ndcg", score=["a", "b"], **given, **more)
        result = engine.ask(stacked, "evaluate", "ndcg", model="model", **given, **more)
        assert sorted(result, key=repr) == sorted(expected, key=repr)
    if not engine.lazy:
        with pytest.raises(recframe.UndefinedError, match="no list of the model 'a' has a value of"):
            engine.ask(stacked, "evaluate", "ndcg", model="model", **given | {"undefined": "raise_all"})
    pytest.importorskip("scipy")
    compared = [engine.ask(each, "compare", "ndcg", **models) for each, models in (
        (frame, {"score": ["a", "b"]}), (stacked, {"model": "model"}),
    )]  # fmt: skip
    assert [row["verdict"] for row in compared[0]] == [row["verdict"] for row in compared[1]] == ["open"]


def test_a_list_that_a_model_does_not_rank_has_no_value_of_what_is_ranked(engine):
    # What other models rank says that the list counts, which metrics of ranked rows do not read.
    data = {"user": [1, 1, 2], "item": [1, 2, 1], "model": ["a", "a", "b"], "relevant": [1, 0, 1], "score": [2, 1, 1]}
    some = ["judged@1", "eed", "eed(browsing=cascade)", "awrf", "num_ret", "recall"]
    rows = engine.ask(engine.frame(data), "evaluate", some, model="model", per="user")
    result = {(row["model"], row["user"]): [row[label] for label in some] for row in rows}
    assert result["a", 2] == result["b", 1] == [None, None, None, None, 0.0, 0.0]


def test_models_of_several_types_keep_them():
    """In an object column of pandas, numbers stand beside text."""
    pd = pytest.importorskip("pandas")
    pytest.importorskip("scipy")
    names = pd.Series([1] * 4 + ["new"] * 4 + [2.5] * 4, dtype=object)
    relevance, scores = [1, 0, 0, 1] * 3, [1, 2, 2, 1, 2, 1, 1, 2, 2, 1, 2, 1]
    frame = pd.DataFrame({"user": [1, 1, 2, 2] * 3, "relevant": relevance, "model": names, "score": scores})
    evaluated, ranked, compared = (
        getattr(recframe.rec(frame, model="model"), call)("mrr") for call in ("evaluate", "rank_models", "compare")
    )
    assert [*evaluated["model"]] == [*ranked["model"]] == [1, "new", 2.5]
    assert [*evaluated["mrr"]] == [*ranked["mean"]] == [0.5, 1.0, 0.75]
    assert [*zip(compared["model"], compared["baseline"], strict=True)] == [("new", 1), (2.5, 1), (2.5, "new")]
