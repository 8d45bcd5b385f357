"""Eager calls say when their numbers mean nothing: one warning a call, which lists what was found and what to do."""

from __future__ import annotations

import re
import tracemalloc
import warnings
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

import recframe
from recframe._checks import data_warnings, first_rows
from recframe._checks.findings import FINDINGS, WARNINGS
from recframe._engines.registry import adapter_of
from strategies import examples, frames, truths

RECOMMENDED = {"user": ["1", "1", "2"], "item": ["a", "b", "a"], "score": [0.9, 0.1, 0.5]}
LABELLED = RECOMMENDED | {"relevant": [0, 1, 1]}


def warning_texts(engine: Any, frame: Any, method: str = "ndcg", *args: Any, **given: Any) -> list[str]:
    """Return the messages of the data warnings of a call, one string a warning."""
    if method in ("label", "top") and not engine.answers_with_rows:
        pytest.skip("it answers with no rows")
    with engine.running(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        getattr(recframe.rec(frame), method)(*(args or (2,)), **given)
    return [str(each.message) for each in caught if issubclass(each.category, recframe.DataWarning)]


def only_finding(messages: list[str]) -> str:
    """Return the finding of the warning, where there is one warning with one finding."""
    (message,) = messages
    (finding,) = (line for line in message.splitlines() if line.startswith("- "))
    return finding


@pytest.fixture(autouse=True)
def eager(request):
    engine = request.getfixturevalue("engine") if "engine" in request.fixturenames else None
    if engine is not None and engine.postpones:
        pytest.skip("tests/_engines/polars/test_lazy.py has the warnings of lazy polars frames")
    if engine is not None and engine.lazy:
        pytest.skip("lazy frames are looked at by check alone")


def test_data_that_mean_something_are_passed_over(engine):
    frame, truth = engine.frames(LABELLED, {"user": ["1", "3"], "item": ["b", "z"], "price": [0, 1]})
    assert warning_texts(engine, frame) == []
    assert warning_texts(engine, frame, "evaluate", ["ndcg", "mrr", "coverage"], k=2, per="user") == []
    assert warning_texts(engine, frame, truth=truth, value="price") == []


def test_scores_that_are_called_as_ranks_are(engine):
    frame = engine.frame({**LABELLED, "Rank": LABELLED["score"], "gain": LABELLED["score"]})
    result = only_finding(warning_texts(engine, frame, score="Rank"))
    assert result == "- score='Rank' is named like a rank, but the largest score comes first: rank='Rank' puts 1 first"
    assert only_finding(warning_texts(engine, frame, "evaluate", "mrr", score=["gain", "Rank"])) == result
    assert warning_texts(engine, frame, score="gain") == []


def test_a_warning_points_at_the_line_of_the_call(engine):
    frame = engine.frame(LABELLED | {"score": [1, 1, 1]})
    with engine.running(), pytest.warns(recframe.DataWarning) as caught:
        recframe.rec(frame).mrr(2)
    assert [one.filename for one in caught] == [__file__]
    assert issubclass(recframe.DataWarning, recframe.RecWarning)


PATTERNS = {
    name: re.compile("- " + re.sub(r"\\{.*?\\}", ".*", re.escape(text.replace("`", ""))))
    for name, text in WARNINGS.items()
}


@examples(30)
@drawn(data=st.data())
def test_warnings_say_what_check_finds(engine, data):
    rows = data.draw(frames())
    truth = data.draw(st.none() | truths(rows))
    frame, roles = engine.frame(rows), {"by": data.draw(st.sampled_from(["user", ["user", "day"], None]))}
    if truth is not None:
        frame, there = engine.frames([{n: v for n, v in row.items() if n != "relevant"} for row in rows], truth)
        roles["truth"] = there
    lines = [
        line
        for message in warning_texts(engine, frame, "evaluate", ["mrr"], k=2, **roles)
        for line in message.splitlines()
    ]
    warned = {line: [name for name in PATTERNS if PATTERNS[name].fullmatch(line)] for line in lines if line[0] == "-"}
    result = {row["finding"] for row in engine.ask(frame, "check", 2, **roles) if row["count"]}
    assert all(len(names) == 1 for names in warned.values())
    names = {name for (name,) in warned.values()}
    assert names <= result
    assert {"nothing_ranked", "nothing_ordered"} & names == {"nothing_ranked", "nothing_ordered"} & result


# --- frame and truth ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["ndcg", "evaluate", "per list"])
def test_lists_that_never_match(engine, method):
    frame, truth = engine.frames(RECOMMENDED, {"user": ["u1", "u2"], "item": ["a", "b"]})
    given = {"truth": truth} | ({"per": "user"} if method == "per list" else {})
    result = only_finding(
        warning_texts(engine, frame, *(["evaluate", ["ndcg", "recall"]] if method == "evaluate" else ["ndcg"]), **given)
    )
    assert "no list of the frame is in truth: by='user' is '1', '2' in the frame, 'u1', 'u2' in truth" in result
    assert "Make the ids the same" in result


def test_lists_that_never_match_where_a_number_replaces_undefined_ones(engine):
    frame, truth = engine.frames(RECOMMENDED, {"user": ["u1"], "item": ["a"]})
    assert "no list of the frame is in truth" in only_finding(warning_texts(engine, frame, truth=truth, undefined=0.5))


def test_items_that_never_match(engine):
    frame, truth = engine.frames(RECOMMENDED, {"user": ["1", "2"], "item": ["x", "y"]})
    assert "no item of the frame is in truth: item='item' is 'a', 'b' in the frame, 'x', 'y' in truth" in only_finding(
        warning_texts(engine, frame, truth=truth)
    )


def test_a_truth_of_another_day(engine):
    users = ["1", "2", "3", "4"]
    rows = {"user": users, "item": ["a"] * 4, "score": [1, 2, 3, 4]}
    for known, said_of in (
        (
            ["4", "5", "6"],
            ["lists of truth, 2 of 3, have no row of the frame", "lists of the frame, 3 of 4, are not in truth"],
        ),
        (["1", "2", "3", "5", "6", "7", "8"], ["lists of truth, 4 of 7, have no row of the frame"]),
        (["4"], ["lists of the frame, 3 of 4, are not in truth"]),
        # Half of them are not most.
        (["3", "4", "5", "6"], []),
    ):
        frame, truth = engine.frames(rows, {"user": known, "item": ["a"] * len(known)})
        result = warning_texts(engine, frame, truth=truth)
        lines = [line for message in result for line in message.splitlines() if line.startswith("- most ")]
        assert len(result) == bool(said_of)
        assert len(lines) == len(said_of)
        for line, text in zip(lines, said_of, strict=True):
            assert text in line
            assert "to the same days?" in line
        assert warning_texts(engine, frame, "evaluate", ["coverage"], truth=truth) == []
    frame, truth = engine.frames(
        rows | {"user": ["1"] * 4, "item": ["a", "b", "c", "d"]}, {"user": ["1"], "item": ["d"]}
    )
    assert warning_texts(engine, frame, by=None, truth=truth) == []


def test_a_truth_of_another_day_for_one_model(engine):
    rows = {"user": ["1", "2", "3", "3", "8", "9"], "item": ["a"] * 6, "score": [6, 5, 4, 3, 2, 1], "who": [*"aaabbb"]}
    frame, truth = engine.frames(rows, {"user": ["1", "2", "3"], "item": ["a"] * 3})
    (message,) = warning_texts(engine, frame, "evaluate", ["recall"], k=1, model="who", truth=truth)
    assert [line for line in message.splitlines() if line.startswith("- most ")] == [
        "- most lists of truth, 2 of 3, have no row of who='b': they score 0. Does the truth belong to these lists, and to the same days?",
        "- most lists of who='b', 2 of 3, are not in truth: they have no value. Does the truth belong to these lists, and to the same days?",
    ]


def test_a_model_that_is_a_number_is_called_by_it(engine):
    rows = {
        "user": ["1", "2", "3", "8", "9", "3"],
        "item": ["a"] * 6,
        "score": [6, 5, 4, 3, 2, 1],
        "who": [1] * 3 + [2] * 3,
    }
    frame, truth, strange = engine.frames(
        rows, {"user": ["1", "2", "3"], "item": ["a"] * 3}, {"user": ["1"], "item": ["a"]}
    )
    (message,) = warning_texts(engine, frame, "evaluate", ["recall"], k=1, model="who", truth=truth)
    assert "have no row of who=2: they score 0" in message
    assert (
        "no list of who=2 is in truth"
        in warning_texts(engine, frame, "evaluate", ["recall"], model="who", truth=strange)[0]
    )


def test_a_value_of_0_that_is_earned_is_passed_over(engine):
    frame, truth = engine.frames(RECOMMENDED, {"user": ["1"], "item": ["b"]})
    assert warning_texts(engine, frame, "ndcg", 1, truth=truth) == []
    assert warning_texts(engine, engine.frame(LABELLED | {"relevant": [0, 0, 0]})) == []


@pytest.mark.parametrize("clicked", [[0, 1, 0], [0, 0, 0], [False, True, False], [0.0, 1.0, None]])
def test_a_relevance_that_nobody_named(engine, clicked):
    frame, truth = engine.frames(RECOMMENDED, {"user": ["1", "1", "2"], "item": ["a", "b", "a"], "clicked": clicked})
    result = only_finding(warning_texts(engine, frame, truth=truth))
    assert "truth has no column 'relevant', so each of its rows is relevant, but 'clicked' is 0 in some rows" in result
    assert "relevant='clicked'" in result
    assert warning_texts(engine, frame, "evaluate", ["coverage"], truth=truth) == []


def test_a_column_of_0_and_1_that_describes_the_lists_is_passed_over(engine):
    users, items = ["1", "1", "2", "2"], ["a", "b", "a", "b"]
    frame, truth = engine.frames(RECOMMENDED, {"user": users, "item": items, "premium": [0, 0, 1, 1]})
    assert warning_texts(engine, frame, truth=truth) == []
    frame, truth = engine.frames(RECOMMENDED, {"user": users, "item": items, "clicked": [0, 0, 1, 0]})
    assert "'clicked' is 0 in some rows" in only_finding(warning_texts(engine, frame, truth=truth))


def test_a_truth_of_positives_is_passed_over(engine):
    for column in ([1, 1, 1], [3, 1, 5], [-1.0, -0.5, 2.0], ["0", "1", "0"]):
        frame, truth = engine.frames(RECOMMENDED, {"user": ["1", "1", "2"], "item": ["a", "b", "a"], "other": column})
        assert warning_texts(engine, frame, truth=truth) == []


JUDGED = {"user": ["1", "1", "2"], "item": ["a", "b", "a"]}


@pytest.mark.parametrize("name", ["score", "stars", "clicks"])
@pytest.mark.parametrize("grades", [[3, 0, 5], [0.5, 0.0, 1.0], [0, 2, None], [2, 0, -1]])
def test_grades_that_nobody_named(engine, name, grades):
    frame, truth = engine.frames(RECOMMENDED, JUDGED | {name: grades})
    for method in ("ndcg", "label"):
        given = {"truth": truth} if method == "ndcg" else {}
        result = only_finding(warning_texts(engine, frame, method, *([] if given else [truth]), **given))
        assert f"but {name!r} is 0 in some rows. If that says what is relevant, relevant={name!r}" in result
    assert {row["finding"]: row["count"] for row in engine.ask(frame, "check", truth=truth)}["assumed_relevance"] == 1
    assert warning_texts(engine, frame, truth=truth, relevant=name) == []


def test_a_column_of_zeros_may_be_the_relevance(polars_engine):
    frame, truth = polars_engine.frames(RECOMMENDED, JUDGED | {"clicks": [0, 0, 0]})
    assert "'clicks' is 0 in some rows" in only_finding(warning_texts(polars_engine, frame, truth=truth))


def test_bounds_and_estimates_warn_of_grades_that_nobody_named(engine):
    pytest.importorskip("scipy")
    users = [n // 2 for n in range(40)]
    rows = {"user": users, "item": [1, 2] * 20, "score": [float(n * 7 % 5) for n in range(40)]}
    graded = {"user": users, "item": [1, 2] * 20, "stars": [0, 2, 1, 0] * 10}
    named = graded | {"relevant": [1, 0] * 20}
    part, named_part = ({name: values[:20] for name, values in each.items()} for each in (graded, named))
    frame, *frames = engine.frames(rows, part, named, named_part, graded)
    assert "'stars' is 0 in some rows" in only_finding(warning_texts(engine, frame, "bounds", "mrr", truth=frames[0]))
    for human, judge in (frames[:2], frames[2:]):
        result = warning_texts(engine, frame, "estimate_with_judge", "mrr", truth=human, judge=judge, undefined=0)
        assert "'stars' is 0 in some rows" in only_finding(result)


def test_numbers_that_are_seldom_0_are_passed_over(engine):
    users = {"user": ["1"] * 30, "item": list(range(30))}
    frame, truth = engine.frames(users | {"score": list(range(30))}, users | {"hour": list(range(30))})
    assert warning_texts(engine, frame, truth=truth) == []


def test_columns_of_a_truth_with_a_role_are_passed_over(engine):
    frame, truth = engine.frames(RECOMMENDED, JUDGED | {"topic": [0, 1, 2], "weight": [2, 2, 0]})
    assert warning_texts(engine, frame, "alpha_ndcg", truth=truth, subtopic="topic", weight="weight") == []


# --- scores -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_nothing_is_ranked(engine, missing):
    frame = engine.frame(LABELLED | {"knn": [0.1, 0.2, 0.3], "score": [missing] * 3}, {"score": "float64"})
    for given in ({}, {"score": ["knn", "score"]}):
        (result,) = warning_texts(engine, frame, "evaluate", ["ndcg"], k=2, **given)
        assert "nothing is ranked: score='score' is missing in every row" in result


def test_every_score_of_every_list_ties(engine):
    frame = engine.frame(LABELLED | {"score": [7, 7, 8]})
    assert "score='score' is the same in all rows of each list" in only_finding(warning_texts(engine, frame))
    assert warning_texts(engine, frame, ties="first") == []
    assert "rank='score' is the same" in only_finding(warning_texts(engine, frame, rank="score"))
    one_row_a_list = engine.frame({"user": [1, 2], "relevant": [0, 1], "score": [1, 1]})
    assert warning_texts(engine, one_row_a_list) == []
    assert "is the same in all rows" in only_finding(warning_texts(engine, one_row_a_list, by=None))


@pytest.mark.parametrize(("method", "scores"), [("compare", ["score", "other"]), ("describe", ["score"])])
def test_comparisons_say_so_too(engine, method, scores):
    pytest.importorskip("scipy")
    given = {"score": scores}
    rows = {"user": [1, 1, 2, 2], "item": ["a", "b", "a", "b"], "score": [0.4, 0.3, 0.2, 0.1], "other": [1, 2, 3, 4]}
    frame, never, truth = engine.frames(
        rows, {"user": [1, 2], "item": ["y", "z"]}, {"user": [1, 2], "item": ["a", "b"]}
    )
    assert warning_texts(engine, frame, method, ["ndcg"], truth=truth, **given) == []
    assert "no item of the frame is in truth" in only_finding(
        warning_texts(engine, frame, method, ["ndcg"], truth=never, **given)
    )
    tied = engine.frame(rows | {name: [1, 1, 1, 1] for name in scores})
    result = warning_texts(engine, tied, method, ["ndcg"], truth=truth, **given)
    assert all(f"score='{name}' is the same" in result[0] for name in scores)


# --- lists --------------------------------------------------------------------------------------------------------------


def test_models_without_a_role(engine):
    frame = engine.frame(LABELLED | {"item": ["a", "b", "c"], "model": ["x", "y", "x"]})
    assert "the column 'model' has several values and no role" in only_finding(warning_texts(engine, frame))
    for given in ({"per": "model", "by": ["user", "model"]}, {"by": ["user", "model"]}):
        assert warning_texts(engine, frame, **given) == []
    assert warning_texts(engine, frame, "evaluate", ["ndcg"], model="model") == []
    assert warning_texts(engine, engine.frame(LABELLED | {"model": ["x", "x", "x"]})) == []
    # A row without a model is one that the model did not recommend, as label adds them.
    frame = engine.frame(LABELLED | {"item": ["a", "b", "c"], "model": ["x", "x", None]})
    assert warning_texts(engine, frame) == []
    assert {row["finding"]: row["count"] for row in engine.ask(frame, "check")}["unused_model"] == 0


def test_a_catalogue_of_fewer_items_than_a_list_ranks(engine):
    """Metrics took the few items of a frame of `from_factors` for all."""
    rows = {"user": [1, 2], "item": [1, 2], "rank": [1, 2], "relevant": [1, 1]}
    rows |= {"recframe_tied": [1, 1], "recframe_candidates": [5, 5]}
    frame, past = engine.frames(rows, {"user": [9], "item": [9]})
    roles, metric = {"rank": "rank", "train": past}, "serendipity(unexpected=ranks)@1"
    text = f"{metric} reads the number of all items, and the frame holds 2 of at least 5: catalog= names or"
    assert text in only_finding(warning_texts(engine, frame, "evaluate", metric, **roles))
    assert warning_texts(engine, frame, "evaluate", metric, **roles, catalog=5) == []
    assert warning_texts(engine, frame, "ndcg", 1, rank="rank") == []
    full, roles["train"] = engine.frames(rows | {"recframe_candidates": [2, 2]}, {"user": [9], "item": [9]})
    assert warning_texts(engine, full, "evaluate", metric, **roles) == []


def test_items_that_stand_twice(engine):
    frame = engine.frame(LABELLED | {"item": ["a", "a", "a"]})
    assert "items are repeated in 1 list: item='item'" in only_finding(warning_texts(engine, frame))
    assert warning_texts(engine, frame, by=["user", "score"]) == []
    truth = engine.frame({"user": ["1", "2"], "item": ["a", "a"]})
    assert "items are repeated in 1 list" in only_finding(warning_texts(engine, frame, truth=truth))


ALGOS = {
    "user": ["1", "1", "2", "2"] * 2,
    "item": ["a", "b", "a", "b"] * 2,
    "score": [float(n * 3 % 7) for n in range(8)],
    "relevant": [1, 0, 0, 1] * 2,
    "algo": ["A"] * 4 + ["B"] * 4,
    "shown": [0, 1, 1, 0] * 2,
}


def test_models_in_rows_under_another_name(engine):
    frame = engine.frame(ALGOS)
    result = only_finding(warning_texts(engine, frame))
    assert "items are repeated in 2 lists: item='item'. 'algo' tells their rows apart ('A', 'B')." in result
    assert "If it names models, model='algo'" in result
    assert warning_texts(engine, frame, "evaluate", ["mrr"], model="algo") == []
    numbered = engine.frame(ALGOS | {"algo": [1] * 4 + [2] * 4})
    assert "model='algo'" in only_finding(warning_texts(engine, numbered))
    both = engine.frame(ALGOS | {"run": ["x"] * 4 + ["y"] * 4})
    assert "'algo' and 'run' each tell their rows apart. If one of them names models, model='algo'" in only_finding(
        warning_texts(engine, both)
    )


@pytest.mark.parametrize(
    "columns",
    [
        ALGOS | {"algo": ["A"] * 4 + ["A", "B", "A", "B"]},
        ALGOS | {"algo": [0.5] * 4 + [0.25] * 4},
        {name: values for name, values in ALGOS.items() if name != "algo"},
    ],
    ids=["rows stay repeated", "fractions", "no column"],
)
def test_rows_that_repeat_without_models(engine, columns):
    result = only_finding(warning_texts(engine, engine.frame(columns)))
    assert "Each row counts as another item; drop the repeated rows" in result
    assert "or pass the column that names models as model=" in result
    result = only_finding(
        warning_texts(engine, engine.frame(columns | {"set": [1] * 8}), "evaluate", ["mrr"], model="set")
    )
    assert "drop the repeated rows" in result
    assert "model=" not in result


def test_findings_come_in_one_warning(engine):
    frame = engine.frame(LABELLED | {"item": ["a", "a", "a"], "score": [1, 1, 1], "model": [1, 2, 1]})
    (message,) = warning_texts(engine, frame, "evaluate", ["ndcg", "mrr"], k=[1, 2])
    assert len([line for line in message.splitlines() if line.startswith("- ")]) == 3
    assert message.endswith("The call check looks at all rows.")


# --- one of several models ----------------------------------------------------------------------------------------------

LONG = {
    "who": ["a", "a", "b", "b"],
    "user": ["1", "2", "u1", "u2"],
    "item": ["a", "b", "a", "b"],
    "score": [4, 3, 2, 1],
}


@pytest.mark.parametrize("per", [None, "user"])
def test_lists_of_one_model_that_never_match(engine, per):
    frame, truth = engine.frames(LONG, {"user": ["1", "2"], "item": ["a", "b"]})
    result = only_finding(warning_texts(engine, frame, "evaluate", ["recall"], k=1, model="who", truth=truth, per=per))
    assert "no list of who='b' is in truth: by='user' is 'u1', 'u2' in the frame, '1', '2' in truth" in result
    own, truth = engine.frames(LONG, {"user": ["1", "u1"], "item": ["b", "a"]})
    assert warning_texts(engine, own, "evaluate", ["recall"], k=1, model="who", truth=truth, per=per) == []


def test_items_of_one_model_that_never_match(engine):
    rows = LONG | {"user": ["1", "2", "1", "2"], "item": ["a", "b", "x", "y"]}
    frame, truth = engine.frames(rows, {"user": ["1", "2"], "item": ["a", "b"]})
    result = only_finding(warning_texts(engine, frame, "evaluate", ["recall"], k=1, model="who", truth=truth))
    assert "no item of who='b' is in truth: item='item' is 'x', 'y' in the frame, 'a', 'b' in truth" in result


def test_contributions_of_one_model_that_never_matches(engine):
    frame, truth = engine.frames(LONG, {"user": ["1", "2"], "item": ["a", "b"]})
    result = only_finding(warning_texts(engine, frame, "contributions", "recall", truth=truth, model="who"))
    assert "no list of who='b' is in truth" in result


def test_a_model_that_names_each_value_of_a_column_model_pools_nothing(engine):
    frame = engine.frame(LONG | {"relevant": [1, 0, 1, 0], "model": ["x", "x", "y", "y"]})
    assert warning_texts(engine, frame, "evaluate", ["recall"], k=1, model="who") == []


# --- labels -------------------------------------------------------------------------------------------------------------


def test_labels_of_ids_that_never_match(engine):
    for truth, what in (({"user": ["u1"], "item": ["a"]}, "list"), ({"user": ["1"], "item": ["x"]}, "item")):
        frame, there = engine.frames(RECOMMENDED, truth)
        (message,) = warning_texts(engine, frame, "label", there)
        assert message.startswith(f"the labels may mean nothing:\n- no {what} of the frame is in truth")
    frame, there = engine.frames(LONG, {"user": ["1", "2"], "item": ["a", "b"]})
    assert "no list of who='b' is in truth" in only_finding(warning_texts(engine, frame, "label", there, model="who"))


def test_labels_by_a_relevance_that_nobody_named_and_of_models_without_a_role(engine):
    truth = {"user": ["1", "1", "2"], "item": ["a", "b", "a"], "clicked": [0, 1, 0]}
    frame, there = engine.frames(RECOMMENDED, truth)
    assert "'clicked' is 0 in some rows" in only_finding(warning_texts(engine, frame, "label", there))
    frame, there = engine.frames(RECOMMENDED | {"model": ["x", "y", "x"]}, {"user": ["1"], "item": ["a"]})
    assert "the column 'model' has several values and no role" in only_finding(
        warning_texts(engine, frame, "label", there)
    )


@pytest.mark.parametrize("column", ["user", "item", "score"])
def test_repeated_items_among_integers_that_numpy_lacks(column):
    pytest.importorskip("numpy")
    pl = pytest.importorskip("polars")
    rows = {"user": [1, 1, 2], "item": [1, 1, 2], "score": [3, 2, 1], "relevant": [1, 0, 1]}
    frame = pl.DataFrame(rows).with_columns(pl.col(column).cast(pl.Int128))
    with pytest.warns(recframe.DataWarning, match="items are repeated in 1 list"):
        frame.rec.ndcg(2)


def test_exported_ranks_of_models_without_a_role(engine):
    frame = engine.frame(RECOMMENDED | {"model": ["x", "y", "x"]})
    texts = warning_texts(engine, frame, "top", 2)
    assert "the column 'model' has several values and no role" in only_finding(texts)
    assert warning_texts(engine, frame, "top", 2, model="model") == []
    assert warning_texts(engine, engine.frame(RECOMMENDED), "top", 2) == []


def test_labels_that_mean_something_are_passed_over(engine):
    for truth in ({"user": ["1", "9"], "item": ["a", "z"]}, {"user": ["1"], "item": ["z"], "relevant": [1]}):
        frame, there = engine.frames(RECOMMENDED, {**truth, "item": [*truth["item"]]})
        messages = warning_texts(engine, frame, "label", there)
        assert bool(messages) == ("relevant" in truth)
    frame, there = engine.frames(RECOMMENDED, {"user": ["1", "2"], "item": ["z", "b"]})
    assert warning_texts(engine, frame, "label", there) == []


# --- large frames -------------------------------------------------------------------------------------------------------


@pytest.fixture
def small_sample(monkeypatch):
    monkeypatch.setattr(first_rows, "FIRST_ROWS", 2)


def test_a_suspicion_in_the_sample_is_confirmed_in_the_whole_frame(engine, small_sample):
    users = {"user": [1, 1, 2, 2], "relevant": [1, 0, 1, 0]}
    assert warning_texts(engine, engine.frame(users | {"score": [1, 1, 1, 2]})) == []
    assert warning_texts(engine, engine.frame(users | {"score": [None, None, 1, 2]})) == []
    assert "is the same in all rows" in only_finding(
        warning_texts(engine, engine.frame(users | {"score": [1, 1, 2, 2]}))
    )
    frame = engine.frame(users | {"score": [1, 1, 1, 2], "part": [1, 1, 1, 1]})
    assert warning_texts(engine, frame, per="part") == []
    missing = engine.frame(users | {"score": [None] * 4}, {"score": "float64"})
    assert "nothing is ranked" in only_finding(warning_texts(engine, missing))


@pytest.mark.parametrize("by", ["user", ["user", "day"], None])
def test_the_quick_look_counts_what_the_slow_one_counts(engine, monkeypatch, by):
    rows = 12
    frame = engine.frame(
        {
            "user": ["u", None, "v", "u"] * 3,
            "day": [1, 1, 2, 1, 2, 2] * 2,
            "item": ["a", "b", None, "c", "a", None] * 2,
            "score": list(range(rows)),
            "relevant": [1, 0, 0] * 4,
        }
    )
    quick = only_finding(warning_texts(engine, frame, by=by))
    assert "items are repeated in" in quick
    monkeypatch.setattr(type(adapter_of(frame)), "lists_with_repeats", lambda *_: None)
    assert only_finding(warning_texts(engine, frame, by=by)) == quick


@pytest.mark.parametrize("by", ["user", ["user", "day"]])
def test_tables_count_the_lists_that_joins_count(polars_engine, monkeypatch, by):
    frame, truth = polars_engine.frames(
        {"user": [1, 2, None, 1], "day": ["x", "x", "y", "z"], "item": [1, 2, 3, 4], "score": [4, 3, 2, 1]},
        {"user": [1, 5, 6, 7, 8, 9, None], "day": [*"xxxxxxy"], "item": [1, 1, 1, 1, 1, 1, 3]},
    )
    by_tables = only_finding(warning_texts(polars_engine, frame, truth=truth, by=by))
    assert "5 of 7" in by_tables
    monkeypatch.setattr(type(adapter_of(frame)), "count_shared", lambda *_: None)
    assert only_finding(warning_texts(polars_engine, frame, truth=truth, by=by)) == by_tables


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_a_column_of_two_roles_is_looked_at_once(library):
    make = pytest.importorskip(library).DataFrame
    frame = make({"user": [1, 1, 2], "item": ["a", "a", "b"], "relevant": [1, 0, 1], "score": [1.0, 2.0, 3.0]})
    with pytest.warns(recframe.DataWarning, match="items are repeated in"):
        assert frame.rec.evaluate("mrr", model="user")["model"].to_list() == [1, 2]


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_the_quick_look_answers_for_one_list_and_for_several(library):
    make = pytest.importorskip(library).DataFrame
    frame = make({"user": [1, 2, 2, 1], "item": ["a", "a", "a", "b"], "score": [1, 2, 3, 4]})
    adapter = adapter_of(frame)
    items = adapter.values_to_compare(frame, "item", len(frame), None)
    assert [adapter.lists_with_repeats(frame, by, ["score"], items) for by in (["user"], [])] == [1, 1]


def test_the_list_of_the_first_row_is_read_as_a_whole(engine, small_sample, monkeypatch):
    frame = {"user": [1, 2, 3, 1], "item": ["a", "b", "c", "a"], "relevant": [1, 0, 1, 0], "score": [1, 2, 3, 4]}
    assert "items are repeated in 1 list" in only_finding(warning_texts(engine, engine.frame(frame)))
    assert "items are repeated in 1 list" in only_finding(
        warning_texts(engine, engine.frame(frame | {"day": ["x", "y", "x", "x"]}), by=["user", "day"])
    )
    monkeypatch.setattr(data_warnings, "MOST_SEARCHED_ROWS", 3)
    assert warning_texts(engine, engine.frame(frame)) == []
    monkeypatch.setattr(data_warnings, "MOST_SEARCHED_ROWS", 5)
    early = {
        "user": [1, 2, 1, 1, 3, 3, 3],
        "item": [*"abadefg"],
        "relevant": [1, 0, 1, 0, 1, 0, 1],
        "score": [*range(7)],
    }
    assert "items are repeated in 1 list" in only_finding(warning_texts(engine, engine.frame(early)))
    models = engine.frame(frame | {"item": ["a", "b", "c", "d"], "model": ["x", "x", "x", "y"]})
    assert "the column 'model' has several values" in only_finding(warning_texts(engine, models))


def test_lists_of_values_in_place_of_items_are_passed_over(polars_engine):
    import polars as pl

    frame = pl.DataFrame({"user": [1, 1], "item": [["a"], ["a"]], "relevant": [0, 1], "score": [0.2, 0.1]})
    assert warning_texts(polars_engine, frame) == []


def test_lists_in_place_of_items_are_passed_over_on_pandas():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"user": [1, 1], "item": [["a"], ["a"]], "relevant": [0, 1], "score": [0.2, 0.1]})
    with warnings.catch_warnings():
        warnings.simplefilter("error", recframe.DataWarning)
        for by in ("user", None):
            assert frame.rec.hit_rate(2, by=by) == 1


def test_contributions_warn_as_metrics_do(engine):
    frame, truth = engine.frames(RECOMMENDED, {"user": ["u1", "u2"], "item": ["a", "b"]})
    assert "no list of the frame is in truth" in only_finding(
        warning_texts(engine, frame, "contributions", "ndcg", truth=truth)
    )
    tied = engine.frame(LABELLED | {"score": [1, 1, 1]})
    assert "is the same in all rows of each list" in only_finding(
        warning_texts(engine, tied, "contributions", "mrr", 2)
    )
    assert warning_texts(engine, engine.frame(LABELLED), "contributions", "mrr", 2) == []


# --- sampled candidates ---------------------------------------------------------------------------------------------


def candidates(lists: int = 6, rows: int = 60, items: int = 500, hits: int = 1) -> dict[str, list[Any]]:
    """Return lists of the same number of rows, whose first rows are relevant, and whose items differ."""
    numbers = range(lists * rows)
    return {
        "user": [n // rows for n in numbers],
        "item": [n % rows if items == rows else n % items for n in numbers],
        "relevant": [int(n % rows < hits) for n in numbers],
        "score": [float(n * 7 % 101) for n in numbers],
    }


def test_lists_of_one_relevant_item_and_as_many_others(engine):
    data = candidates()
    finding = only_finding(
        warning_texts(engine, engine.frame(data | {"relevant": [one or None for one in data["relevant"]]}))
    )
    assert "one relevant item among 60 rows" in finding
    assert "sampled=(59, n)" in finding


@pytest.mark.parametrize("by", [["user", "day"], ["day", "user"]])
def test_a_list_ends_where_any_of_its_keys_changes(polars_engine, by):
    data = candidates()
    frame = polars_engine.frame(data | {"day": [user // 3 for user in data["user"]]})
    assert "one relevant item among 60 rows" in only_finding(warning_texts(polars_engine, frame, by=by))


def test_a_look_at_the_first_list_copies_no_column():
    pd, np = pytest.importorskip("pandas"), pytest.importorskip("numpy")
    users = np.arange(200_000) % 10_000
    frame = pd.DataFrame({"user": users, "score": users * 0.5, "relevant": users % 2})
    read: Any = SimpleNamespace(by=["user"])
    first_rows.with_first_list(frame, read)  # imports
    tracemalloc.start()
    try:
        assert len(first_rows.with_first_list(frame, read)) == first_rows.FIRST_ROWS + 19
        assert tracemalloc.get_traced_memory()[1] < users.nbytes
    finally:
        tracemalloc.stop()


def test_sampled_candidates_are_seen_in_the_first_rows_of_a_large_frame(polars_engine):
    assert "among 100 rows" in only_finding(
        warning_texts(polars_engine, polars_engine.frame(candidates(150, 99 + 1, 9_999)))
    )


@pytest.mark.parametrize(
    "data",
    [
        candidates(lists=4),
        candidates(rows=40),
        candidates(hits=2),
        candidates(items=60),  # each list ranks the whole catalogue
        {name: values[:-1] for name, values in candidates().items()},  # one list is shorter
        candidates() | {"relevant": [0] * 60 + candidates()["relevant"][60:]},
    ],
    ids=["few lists", "few rows", "two hits", "whole catalogue", "other lengths", "no hit"],
)
def test_lists_that_need_not_be_samples(polars_engine, data):
    assert warning_texts(polars_engine, polars_engine.frame(data)) == []


def test_sampled_candidates_that_the_call_knows_of(polars_engine):
    frame = polars_engine.frame(candidates())
    assert warning_texts(polars_engine, frame, sampled=(59, 500), estimator="rank") == []
    assert warning_texts(polars_engine, frame, "evaluate", ["roc_auc", "coverage@2"]) == []


def test_keys_of_bytes_are_compared_beyond_the_sample(polars_engine, small_sample):
    import polars as pl

    frame = pl.DataFrame({"user": [b"a", b"a", b"c", b"a"], "item": [1, 2, 3, 1], "relevant": [1, 0, 1, 0]})
    frame = frame.with_columns(score=pl.Series([1, 2, 3, 4]))
    assert "items are repeated in 1 list" in only_finding(warning_texts(polars_engine, frame))


def test_a_frame_without_rows_has_no_other_warning(engine):
    frame, truth = engine.frames({"user": [], "item": [], "score": []}, {"user": [1], "item": [1]})
    result = "".join(warning_texts(engine, frame, truth=truth))
    assert "the frame has no rows" in result
    assert "in truth" not in result


@pytest.mark.parametrize("backend", ["numpy_nullable", "pyarrow"])
def test_columns_of_a_truth_without_any_value_are_looked_at(backend):
    pd = pytest.importorskip("pandas")
    if backend == "pyarrow":
        pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"user": [1, 1], "item": [1, 2], "score": [2.0, 1.0]})
    truth = frame[["user", "item"]].assign(seen=pd.array([None, None], "Int64"), clicked=[1, 0])
    for each in (frame, frame.convert_dtypes(dtype_backend=backend)):
        with pytest.warns(recframe.DataWarning, match="'clicked'"):
            each.rec.mrr(truth=truth.convert_dtypes(dtype_backend=backend))


# --- errors of check ----------------------------------------------------------------------------------------------------

DENSE = {"user": [1, 1, 1], "item": ["a", "b", "c"], "relevant": [1, 0, 1]}
STRANGE = {"truth": {"user": ["u", "u"], "item": ["y", "z"]}}
ERRORS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "duplicate_rows": (DENSE | {"item": ["a", "a", "c"], "score": [3, 2, 1]}, {}),
    "nan_scores": (DENSE | {"score": [float("nan"), 2.0, 1.0]}, {}),
    "impossible_ranks": (DENSE | {"rank": [0, 1, 2]}, {"rank": "rank"}),
    "overlapping_ranks": (DENSE | {"rank": [1, 1, 2]}, {"rank": "rank"}),
    "unused_model": (DENSE | {"score": [3, 2, 1], "model": ["x", "y", "x"]}, {}),
    "segments_within_lists": (DENSE | {"score": [3, 2, 1], "age": [1, 2, 1]}, {"per": "age"}),
    "no_list_in_truth": (RECOMMENDED, STRANGE),
    "no_item_in_truth": (RECOMMENDED, {"truth": {"user": ["1", "2"], "item": ["y", "z"]}}),
    "nothing_ranked": (DENSE | {"score": [None] * 3}, {}),
    "nothing_ordered": (DENSE | {"score": [1, 1, 1]}, {}),
}
"""A frame and roles that show each finding which `check` calls an error."""


def test_there_is_an_example_of_each_error_of_check():
    assert list(ERRORS) == [finding.name for finding in FINDINGS if finding.severity == "error"]


@pytest.mark.parametrize("name", ERRORS)
def test_what_check_calls_an_error_raises_or_warns(engine, name):
    if name == "nan_scores" and not engine.tells_nan:
        pytest.skip("NaN is missing there")
    columns, roles = ERRORS[name]
    frame = engine.frame(columns, {"score": "float64"} if name == "nothing_ranked" else {})
    if "truth" in roles:
        frame, truth = engine.frames(columns, roles["truth"])
        roles = {"truth": truth}
    assert {row["finding"]: row["count"] for row in engine.ask(frame, "check", **roles)}[name] > 0
    for method, metric in (("mrr", ()), ("evaluate", (["ndcg", "recall"],))):
        if name in ("impossible_ranks", "overlapping_ranks", "segments_within_lists"):
            with pytest.raises(recframe.RecError):
                warning_texts(engine, frame, method, *(metric or (None,)), **roles)
        else:
            (result,) = warning_texts(engine, frame, method, *(metric or (None,)), **roles)
            assert any(PATTERNS[name].fullmatch(line) for line in result.splitlines())


def test_nan_is_seen_wherever_it_is(engine, small_sample):
    if not engine.tells_nan:
        pytest.skip("NaN is missing there")
    rows = {"user": [1, 1, 2, 2], "item": ["a", "b"] * 2, "relevant": [1, 0] * 2, "old": [1, 2, 3, None]}
    frame = engine.frame(rows | {"score": [4.0, 3.0, 2.0, float("nan")]})
    result = only_finding(warning_texts(engine, frame, "evaluate", ["mrr"], score=["old", "score"]))
    assert "score='score' is NaN in 1 of 4 rows, which are not ranked" in result
    assert warning_texts(engine, frame, score="old") == []
    alone = engine.frame({"user": [1], "item": ["a"], "relevant": [1], "score": [float("nan")]})
    (result,) = warning_texts(engine, alone)
    assert "score='score' is NaN in 1 of 1 rows" in result


# --- relevance ----------------------------------------------------------------------------------------------------------


def test_every_ranked_row_is_relevant(engine):
    positives = {"user": [1, 1, 2], "item": [1, 2, 3], "relevant": [1, 1, 1], "score": [0.2, 0.1, 0.4]}
    frame = engine.frame(positives)
    for metric in ("mrr", "ndcg", "recall"):
        result = only_finding(warning_texts(engine, frame, "evaluate", metric))
        assert "every row that score='score' ranks is relevant, in every list" in result
    assert warning_texts(engine, frame, "evaluate", ["coverage"]) == []
    assert warning_texts(engine, engine.frame(positives | {"relevant": [1, 0, 1]})) == []
    # Lists of one row have one order.
    assert warning_texts(engine, engine.frame(positives | {"user": [1, 2, 3]})) == []
    # One list may be an example of a perfect one.
    assert warning_texts(engine, frame, by=None) == []
    missing = engine.frame(positives | {"relevant": [1, 1, None], "score": [0.2, 0.1, None], "user": [1, 1, 2]})
    assert warning_texts(engine, missing) == []
    truth = engine.frame({"user": [1, 1, 2], "item": [1, 2, 3]})
    assert (
        warning_texts(engine, engine.frame({n: v for n, v in positives.items() if n != "relevant"}), truth=truth) == []
    )


def test_orders_of_grades_are_not_all_perfect(engine):
    rows = {"user": [1, 1, 2, 2], "item": [1, 2, 3, 4], "relevant": [1, 2, 1, 1], "score": [0.2, 0.1, 0.4, 0.3]}
    frame = engine.frame(rows)
    assert warning_texts(engine, frame, "ndcg", None) == []
    assert "ranks is relevant, in every list" in only_finding(warning_texts(engine, frame, "evaluate", ["ndcg", "mrr"]))


def test_only_positives_are_confirmed_in_the_whole_frame(engine, small_sample, monkeypatch):
    rows = {"user": [1, 1, 2, 2], "item": [1, 2, 3, 4], "relevant": [1, 1, 1, 0], "score": [0.2, 0.1, 0.4, 0.3]}
    assert warning_texts(engine, engine.frame(rows)) == []
    from recframe._checks import relevance_warnings

    monkeypatch.setattr(relevance_warnings, "FIRST_VALUES", 2)
    assert warning_texts(engine, engine.frame(rows)) == []


RATED = {"user": [1, 1, 1, 2, 2, 2], "item": [1, 2, 3] * 2, "score": [3.0, 2.0, 1.0] * 2}
RATINGS = [1, 5, 3, 2, 4, 5]


def test_ratings_without_a_zero(engine):
    frame, bare, truth = engine.frames(
        RATED | {"rating": RATINGS},
        RATED,
        {"user": RATED["user"], "item": RATED["item"], "rating": RATINGS},
    )
    for rows, given in ((frame, {}), (bare, {"truth": truth})):
        for metric in ("precision@1", "mrr", "ndcg(gain=binary)"):
            result = only_finding(warning_texts(engine, rows, "evaluate", metric, relevant="rating", **given))
            assert "holds grades from 1 to 5 and no 0" in result
            assert f"so {metric} counts 1 as relevant too" in result
            assert "min_relevance=4; if all are, min_relevance=1" in result
            # Without a truth, min_relevance=1 leaves no row that is not relevant.
            for least in (4, *([1] if given else [])):
                assert (
                    warning_texts(engine, rows, "evaluate", metric, relevant="rating", min_relevance=least, **given)
                    == []
                )
        assert (
            warning_texts(engine, rows, "evaluate", ["ndcg", "err(max_relevance=5)"], relevant="rating", **given) == []
        )
        counts = {row["finding"]: row["count"] for row in engine.ask(rows, "check", relevant="rating", **given)}
        assert counts["grades_without_zero"] == 6


@pytest.mark.parametrize(
    ("grades", "level"),
    [
        ([0.5, 5.0, 3.5, 1.0, 2.0, 4.5], "4"), ([1, 10, 3, 7, 8, 2], "8"), ([1, 2, 4, 4, 2, 1], "4"), ([1.5, 2, 3, 3, 2, 1.5], "3"),
        ([None, 5, 3, 2, 1, None], "4"), ([0.25, 0.5, 0.75, 0.75, 0.5, 0.25], "0.75"),
        ([0, 5, 3, 2, 1, 4], ""), ([1, 2, 1, 2, 1, 2], ""), ([-1, 5, 3, 2, 1, 4], ""), ([1] * 6, ""),
        # Judgments of search results, of which only the relevant ones are in the file.
        ([1, 2, 3, 3, 2, 1], ""), ([1.0, 2.0, 3.0, 3.0, 2.0, None], ""),
    ],
)  # fmt: skip
def test_the_level_is_that_of_the_scale(engine, grades, level):
    frame, truth = engine.frames(RATED, {"user": RATED["user"], "item": RATED["item"], "relevant": grades})
    result = warning_texts(engine, frame, truth=truth, method="mrr")
    assert [f"min_relevance={level};" in text for text in result] == [True] * bool(level)
    counts = {row["finding"]: row["count"] for row in engine.ask(frame, "check", truth=truth)}
    graded = sum(grade is not None for grade in grades)
    assert counts["grades_without_zero"] == (graded if level else 0)


def test_counts_are_no_ratings(engine):
    rows = {"user": [1] * 25, "item": list(range(25)), "score": list(range(25))}
    frame, truth = engine.frames(rows, {"user": [1] * 25, "item": list(range(25)), "relevant": list(range(1, 26))})
    assert warning_texts(engine, frame, "mrr", truth=truth) == []


# --- lists that hold nothing else than the top rows ---------------------------------------------------------------------


def export(rows: int = 3, lists: int = 6, **more: Any) -> dict[str, Any]:
    """Return the top rows of lists with different items, of which a part is relevant."""
    numbers = range(rows * lists)
    columns = {
        "user": [n // rows for n in numbers],
        "item": [n * 7 % 101 for n in numbers],
        "score": [float(rows - n % rows) for n in numbers],
        "relevant": [int(n % 4 == 0) for n in numbers],
    }
    return columns | more


CLOSED = "no list has more than 3 rows, and all of them are ranked"


@pytest.mark.parametrize("metric", ["recall", "f1", "map", "ndcg", "money_recall", "full_recall", "subtopic_recall"])
def test_lists_of_the_top_rows(engine, metric):
    frame = engine.frame(export(price=[2] * 18))
    for k in (3, 10):
        result = only_finding(warning_texts(engine, frame, "evaluate", metric, k=k))
        assert CLOSED in result
        assert "recall is 1 by construction" in result
        assert f"If other items are relevant too, {metric}@{k} is too high" in result
        assert "pass all relevant items as truth=" in result
    assert warning_texts(engine, frame, "evaluate", metric, k=2) == []


@pytest.mark.parametrize("metric", ["recall", "r_precision", "ndcg"])
def test_lists_of_the_top_rows_without_a_cutoff(engine, metric):
    result = only_finding(warning_texts(engine, engine.frame(export()), "evaluate", metric))
    assert CLOSED in result
    assert f"{metric} is too high" in result
    # Lists of many rows may hold all candidates, unless a cutoff says that they are the top rows.
    frame = engine.frame(export(11))
    assert warning_texts(engine, frame, "evaluate", metric) == []
    result = only_finding(warning_texts(engine, frame, "evaluate", ["map@11", metric]))
    assert f"map@11 and {metric} are too high" in result


SCATTERED = sorted(range(18), key=lambda n: (n % 3, n))


@pytest.mark.parametrize(
    ("columns", "longest"),
    [
        ({name: [values[n] for n in SCATTERED] for name, values in export().items()}, 3),
        (export(user=[0] * 3 + [1] * 2 + [n // 3 + 2 for n in range(13)]), 3),
        ({name: [*values[1::2], *values[::2]] for name, values in export(4, 10).items()}, 4),
    ],
    ids=["rows of a list apart", "a shorter list", "halves of lists"],
)
def test_lists_of_the_top_rows_in_any_order(engine, columns, longest):
    result = only_finding(warning_texts(engine, engine.frame(columns), "evaluate", "recall", k=longest))
    assert f"no list has more than {longest} rows, and all of them are ranked" in result


def test_lists_that_are_longer_than_the_cutoff_in_any_order(engine):
    columns = {name: [values[n] for n in SCATTERED] for name, values in export().items()}
    assert warning_texts(engine, engine.frame(columns), "evaluate", "recall", k=2) == []
    columns = {name: [*values, *values[:1]] for name, values in columns.items()}
    assert not any(
        "by construction" in text for text in warning_texts(engine, engine.frame(columns), "evaluate", "recall", k=3)
    )


def test_lists_of_the_top_rows_that_say_enough(engine):
    frame = engine.frame(export())
    assert (
        warning_texts(engine, frame, "evaluate", ["precision", "mrr", "hit_rate", "dcg", "ndcg(ideal=ranked)"], k=3)
        == []
    )
    truth = engine.frame({"user": [1, 2], "item": [1, 2]})
    bare = engine.frame({name: values for name, values in export().items() if name != "relevant"})
    result = warning_texts(engine, bare, "evaluate", ["recall"], k=3, truth=truth)
    assert not any(CLOSED in text for text in result)


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        (export(lists=4), "few lists"),
        (export(item=[1, 2, 3] * 6), "each list ranks every item"),
        (export(score=[3.0, 2.0, None] * 6), "an item was not ranked"),
        (export(user=[0, 0, *([1] * 4), *([2] * 4), *([3] * 4), *([4] * 4)]), "lists of any length"),
        (export(user=[0] * 3 + [1] * 3 + [2] * 3 + [3] * 3 + [4] * 6), "one list is longer"),
        (export(relevant=[0] * 18), "nothing is relevant"),
        ({name: values for name, values in export().items() if name != "item"}, "no items"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_lists_that_need_not_be_exports(engine, columns, reason):
    assert not any(
        "by construction" in text for text in warning_texts(engine, engine.frame(columns), "evaluate", "recall", k=3)
    )


def test_a_longer_list_is_seen_anywhere(engine, small_sample):
    frame = engine.frame({name: [*values, *values[:1]] for name, values in export().items()})
    assert not any("by construction" in text for text in warning_texts(engine, frame, "evaluate", "recall", k=3))
    assert CLOSED in only_finding(warning_texts(engine, engine.frame(export()), "evaluate", "recall", k=3))


def test_each_model_in_rows_has_lists_of_its_own(engine):
    rows = export()
    both = {name: values * 2 for name, values in rows.items()} | {"who": ["a"] * 18 + ["b"] * 18}
    assert CLOSED in only_finding(warning_texts(engine, engine.frame(both), "evaluate", "recall", k=3, model="who"))


@pytest.mark.parametrize("shuffled", [False, True])
def test_lists_of_large_frames_are_counted_whatever_their_order(engine, shuffled):
    """Whole numbers beyond the floats' range differ from the row before, and rows of a list may stand apart."""
    numbers = [*range(10_500)]
    numbers = sorted(numbers, key=lambda n: n % 7) if shuffled else numbers
    rows = {"user": [2**60 + n // 7 for n in numbers], "item": [n % 7 for n in numbers], "score": numbers}
    users = [2**60 + n if n < 100 else n for n in range(1500)]
    frame, truth, known = engine.frames(
        rows, {"user": users, "item": [0] * 1500}, {"user": [2**60 + n for n in range(1500)], "item": [0] * 1500}
    )
    (message,) = warning_texts(engine, frame, "mrr", truth=truth)
    assert "most lists of truth, 1,400 of 1,500, have no row of the frame" in message
    assert "most lists of the frame, 1,400 of 1,500, are not in truth" in message
    assert warning_texts(engine, frame, "mrr", truth=known) == []
