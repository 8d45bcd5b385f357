"""`undefined=` and `lists=` in a metric's parentheses hold for this metric alone."""

from __future__ import annotations

import math
import re

import pytest

import recframe
from sessions import MODELS, rows_of

ROWS = {
    "user": [1, 1, 2, 2, 3, 3],
    "item": ["a", "b", "a", "b", "a", "b"],
    "relevant": [1, 0, 0, 1, 0, 0],
    "score": [0.9, 0.1, 0.9, 0.1, 0.5, 0.2],
}
TRUTH = {"user": [1, 2, 4], "item": ["a", "b", "c"], "relevant": [1, 1, 1]}
ROLES = {"by": "session", "score": MODELS}


def frame_of(data, **changes):
    pl = pytest.importorskip("polars")
    return pl.DataFrame({**data, **changes})


@pytest.mark.parametrize("policy", [{"undefined": 0.0}, {"undefined": 0.25}, {"lists": "ranked"}, {"lists": "truth"}])
def test_a_metric_has_the_value_of_a_call_with_its_policies(engine, policy):
    """One call of metrics with policies of their own is as good as a call for each of them."""
    inside = ",".join(f"{name}={value}" for name, value in policy.items())
    frame = engine.frame(rows_of())
    named = [f"precision({inside})@2", "precision@2", "mrr", f"mrr({inside})"]
    (*result,) = engine.ask(frame, "evaluate", named, **ROLES)
    (*plain,) = engine.ask(frame, "evaluate", ["precision@2", "mrr"], **ROLES)
    (*under,) = engine.ask(frame, "evaluate", ["precision@2", "mrr"], **ROLES, **policy)
    for row, without, own in zip(result, plain, under, strict=True):
        values = [*(value for value in row.values() if isinstance(value, float))]
        expected = [own["precision@2"], without["precision@2"], without["mrr"], own["mrr"]]
        assert values == pytest.approx(expected, rel=1e-12)


def test_columns_spell_the_policies():
    result = frame_of(ROWS).rec.evaluate(["NDCG(undefined=0.0, gain=exp2)", "ndcg", "mrr(lists=all)"], k=2)
    assert result.columns == ["ndcg(gain=exp2,undefined=0)@2", "ndcg@2", "mrr(lists=all)@2"]
    assert result.row(0) == pytest.approx((0.5436432511904858, 0.8154648767857288, 0.75))


def test_policies_of_lists_with_a_truth():
    frame = frame_of({name: ROWS[name] for name in ("user", "item", "score")})
    names = ["mrr", "mrr(lists=ranked)", "mrr(lists=both)", "mrr(undefined=0)", "mrr(lists=truth,undefined=0)"]
    rec = recframe.rec(frame, truth=frame_of(TRUTH))
    # List 3 has no relevant item, and list 4 is not ranked.
    assert rec.evaluate(names).row(0) == pytest.approx((1.5 / 3, 1.5 / 2, 1.5 / 2, 1.5 / 4, 1.5 / 3))
    # What a name says wins over the call and over a profile, which averages ranked lists.
    assert rec.evaluate(names[3:], undefined="raise", lists="ranked").row(0) == pytest.approx((0.5, 0.5))
    ndcg = (1 + 1 / math.log2(3)) / 2
    assert rec.evaluate(["ndcg(undefined=skip)", "ndcg"], like="sklearn").row(0) == pytest.approx((ndcg, ndcg * 2 / 3))


def test_other_calls_read_policies_of_names():
    pytest.importorskip("scipy")
    frame = frame_of(ROWS, new=[0.1, 0.9, 0.1, 0.9, 0.5, 0.2])
    names = ["mrr(undefined=0)", "mrr"]
    assert frame.rec.describe(names).select("metric", "lists", "mean").rows() == [
        ("mrr(undefined=0)", 3, 0.5),
        ("mrr", 2, 0.75),
    ]
    rec = recframe.rec(frame, score=["score", "new"])
    margin = {"mrr(undefined=0.0)": 0.1}
    assert rec.compare(names, margin=margin, details=True)["lists"].to_list() == [3, 2]
    assert recframe.merge_states([frame.rec.state(names)]).evaluate().row(0) == (0.5, 0.75)
    recframe.require(frame.rec.evaluate(names), {"MRR(undefined=0)": 0.5})
    assert "counts as 0.0" in str(recframe.explain("mrr(undefined=0)"))
    values = frame.group_by("user").agg(recframe.expr.evaluate(metrics=names)).unnest("metrics").sort("user")
    assert values.rows() == [(1, 1.0, 1.0), (2, 0.5, 0.5), (3, 0.0, None)]


def test_errors_hold_for_their_metric_alone():
    frame = frame_of(ROWS)
    with pytest.raises(recframe.UndefinedError, match=re.escape("1 list has no mrr(undefined=raise)")):
        frame.rec.evaluate(["precision", "mrr(undefined=raise)"])
    assert frame.rec.evaluate(["mrr", "mrr(undefined=raise_all)"]).row(0) == (0.75, 0.75)
    without = frame.filter(frame["user"] == 3)
    assert without.rec.evaluate("mrr", like=None).row(0) == (None,)
    with pytest.raises(recframe.UndefinedError, match="no list has a value of mrr"):
        without.rec.evaluate(["num_rel", "mrr(undefined=raise_all)"])


@pytest.mark.parametrize(
    ("call", "name", "message"),
    [
        ("evaluate", "ndcg(undefined=zero)", "undefined='zero' is not 'skip', 'raise', 'raise_all' or a number"),
        ("evaluate", "ndcg(zero_division=0)", "give the call undefined=0, for all its metrics"),
        ("evaluate", "mrr(lists=recommended)", "lists='recommended' is not one of 'all', 'truth', 'ranked', 'both'"),
        ("evaluate", "coverage(lists=ranked)@1", "coverage reads all lists"),
        ("evaluate", ["mrr(undefined=0)", "mrr(undefined=0.0)"], "several columns of the name 'mrr(undefined=0)'"),
        ("contributions", "mrr(undefined=0)", "contributions averages no lists, so undefined= means nothing"),
        ("contributions", "mrr(lists=ranked)", "contributions averages no lists, so lists= means nothing"),
    ],
)
def test_what_a_policy_in_a_name_cannot_be(call, name, message):
    with pytest.raises(recframe.RecError, match=re.escape(message)):
        getattr(frame_of(ROWS).rec, call)(name)


def test_expressions_refuse_policies_about_other_groups():
    pytest.importorskip("polars")
    for name, message in (("mrr(lists=ranked)", "tells lists apart"), ("mrr(undefined=raise)", "has no names")):
        with pytest.raises(recframe.OptionError, match=message):
            recframe.expr.evaluate(metrics=[name])
