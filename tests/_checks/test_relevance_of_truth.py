"""A truth whose relevance has another name than the call expects is refused, instead of all its rows being relevant."""

from __future__ import annotations

from typing import Any

import pytest

import recframe

RUN = {"user": ["q"] * 3 + ["r"] * 3, "item": list("abc") * 2, "score": [3.0, 2.0, 1.0] * 2}
JUDGED = {"user": RUN["user"], "item": RUN["item"]}
GRADES = [0, 2, 0, 0, 1, 0]


def ask(engine: Any, frame: Any, method: str, truth: Any, **roles: Any) -> Any:
    """Return what a call of any kind answers."""
    if method in ("bounds", "compare", "rank_models"):
        pytest.importorskip("scipy")
    if method in ("label", "bounds", "compare", "contributions", "describe") and not engine.answers_with_rows:
        pytest.skip("it answers with no rows")
    if method == "label":
        return engine.rows(recframe.rec(frame).label(truth, **roles))
    args = {"check": (), "mrr": (), "ndcg": (2,)}.get(method, ("mrr",))
    several = {"score": ["score", "other"]} if method == "compare" else {}
    with engine.running():
        answer = getattr(recframe.rec(frame), method)(*args, truth=truth, **several, **roles)
        return answer if isinstance(answer, float) else engine.rows(answer)


METHODS = ["mrr", "ndcg", "evaluate", "check", "label", "bounds", "compare", "contributions", "describe"]


@pytest.mark.parametrize("method", METHODS)
def test_the_error_names_the_column(engine, method):
    run = RUN | {"other": RUN["score"]}
    frame, truth = engine.frames(run, JUDGED | {"rating": GRADES})
    with pytest.raises(KeyError, match="relevant='relevant': truth has no such column") as caught:
        ask(engine, frame, method, truth)
    assert "relevant='rating', or drop that column of truth, if each row is relevant" in str(caught.value)
    ask(engine, frame, method, truth, relevant="rating")


@pytest.mark.parametrize("name", ["relevance", "Rel", "grade", "label", "rating", "is_relevant"])
@pytest.mark.parametrize("values", [GRADES, [1] * 6, [0, 1, 0, 0, 1, 0]])
def test_all_names_that_surely_mean_the_relevance(polars_engine, name, values):
    frame, truth = polars_engine.frames(RUN, JUDGED | {name: values})
    with pytest.raises(recframe.MissingColumnError, match=f"Hint: relevant='{name}', or drop"):
        recframe.rec(frame).mrr(truth=truth)


def test_columns_with_another_role_and_truths_whose_relevance_nobody_reads_are_accepted(engine):
    frame, truth = engine.frames(RUN, JUDGED | {"label": ["x"] * 3 + ["y"] * 3})
    assert len(ask(engine, frame, "mrr", truth, per="label")) == 2
    with engine.running():
        recframe.rec(frame).evaluate(["coverage"], truth=truth)


@pytest.mark.parametrize("method", ["mrr", "evaluate", "check", "bounds", "compare"])
def test_a_level_without_a_relevance(engine, method):
    run = RUN | {"other": RUN["score"]}
    frame, stars, none = engine.frames(run, JUDGED | {"stars": GRADES}, JUDGED)
    for truth in (stars, none):
        with pytest.raises(KeyError, match="relevant='relevant': truth has no such column") as caught:
            ask(engine, frame, method, truth, min_relevance=4)
        hint = (
            "relevant= names the column that holds it, or leave min_relevance=4 out, if each row of truth is relevant"
        )
        assert hint in str(caught.value)
    ask(engine, frame, method, stars, min_relevance=1, relevant="stars")
    ask(engine, frame, method, none)


def test_a_profile_may_have_a_level_of_its_own(polars_engine):
    frame, truth = polars_engine.frames(RUN, {name: values[:4] for name, values in JUDGED.items()})
    assert recframe.rec(frame).mrr(truth=truth, like="trec_eval") == 1
    with recframe.Config(min_relevance=2), pytest.raises(KeyError, match="leave min_relevance=2 out"):
        recframe.rec(frame).mrr(truth=truth)


def test_the_judge_of_an_estimate_is_refused_too(polars_engine):
    pytest.importorskip("scipy")
    frame, human, judge = polars_engine.frames(RUN, JUDGED | {"relevant": GRADES}, JUDGED | {"rel": GRADES})
    for truths in ({"truth": human, "judge": judge}, {"truth": judge, "judge": human}):
        with pytest.raises(KeyError, match="relevant='rel'"):
            recframe.rec(frame).estimate_with_judge("mrr", **truths)


@pytest.mark.parametrize("library", ["polars", "pandas"])
@pytest.mark.parametrize("call", ["state", "sample_size"])
def test_what_is_stored_or_planned_is_warned_of(library, call):
    """A state is merged later, when nothing can be looked at any more."""
    pytest.importorskip("scipy")
    make, users = pytest.importorskip(library).DataFrame, list(range(120))
    frame = make(
        {
            "user": users * 2,
            "item": [1] * 120 + [2] * 120,
            "score": [n % 7 for n in range(240)],
            "other": [n % 11 for n in range(240)],
        }
    )
    given = {"score": ["score", "other"], **({"difference": 0.1} if call == "sample_size" else {})}
    for truth, text in (
        ({"user": users, "item": [1, 2] * 60, "stars": [0, 1, 2] * 40}, "'stars' is 0 in some rows"),
        ({"user": [-1 - user for user in users], "item": [1] * 120}, "no list of the frame is in truth"),
    ):
        with pytest.warns(recframe.DataWarning, match=text):
            getattr(frame.rec, call)("mrr", truth=make(truth), **given)
