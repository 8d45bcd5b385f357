"""Metrics and models of one call do not touch each other: together they are what they are alone."""

from __future__ import annotations

import random

import pytest

import oracle
import recframe
from compare import same
from spellings import SOME, SPELLED
from strategies import BY, crowd


@pytest.mark.parametrize("ties", ["average", "worst"])
def test_together_equals_alone(engine, ties):
    # Metrics share sums by name, and the largest cutoff of a call decides which rows stay.
    rows = crowd(32, 80)
    frame = engine.frame(rows)
    some = engine.some(SPELLED[:: 6 if ties == "average" else 17])
    (together,) = engine.ask(frame, "evaluate", some, by=BY, ties=ties)
    for label in some:
        alone = engine.value(frame, label, by=BY, ties=ties)
        assert same(alone, together[label]), f"{label}: {alone} alone, {together[label]} together"


def test_metrics_of_the_first_rows_and_of_all_hits(engine):
    # Only hits are kept beyond the last position up to which a metric reads every row.
    draw = random.Random(36)
    rows = [
        {"user": user, "item": item, "relevant": draw.choice([0, 0, 0, 1, 2]), "score": draw.randint(0, 30) / 4}
        for user in range(40)
        for item in range(draw.randint(1, 9))
    ]
    frame = engine.frame(draw.sample(rows, len(rows)))
    some = ["err@2", "judged@3", "precision@1", "r_precision", "map", "roc_auc"]
    (together,) = engine.ask(frame, "evaluate", some, by="user")
    for label in engine.some(some):
        assert same(engine.value(frame, label, by="user"), together[label])


def test_rows_that_another_metric_reads_do_not_count(polars_engine):
    # dcg reads grades below min_relevance, and judged rows of no relevance; metrics of relevant rows read neither.
    some = [
        name
        for name, kind in recframe.metrics.METRICS.items()
        if getattr(kind, "reads", "") == "hits" and name not in ("serendipity", "money_recall")
    ]
    rows = crowd(37, 40)
    frame = polars_engine.frame([row | {"price": 1.0, "topic": row["item"]} for row in rows])
    given = {"by": BY, "min_relevance": 2, "ties": "worst"}
    (together,) = polars_engine.ask(frame, "evaluate", [*some, "dcg(gain=exp2)@9", "judged@9"], **given)
    for label in some:
        assert same(polars_engine.value(frame, label, **given), together[label]), label


@pytest.mark.parametrize("ties", ["best", "worst"])
def test_the_order_by_value_is_that_of_money_metrics_alone(engine, ties):
    # They order tied rows of equal relevance by value. All others leave these tied.
    frame = engine.frame(
        {
            "user": [1] * 5,
            "item": [1, 2, 3, 4, 5],
            "relevant": [0, None, 1, 1, 2],
            "score": [3.0, 3.0, 2.0, 2.0, 1.0],
            "price": [1.0, 2.0, 3.0, 4.0, 5.0],
        }
    )
    some = ["eed@1", "eel@1", "awrf@3", "judged@1", "rbp_residual@1", "spearman", "kendall", "coverage@1"]
    money = ["money_recall@3", "money_precision@1"]
    for labels in (some, [*money, "coverage@1"]):
        (together,) = engine.ask(frame, "evaluate", labels, ties=ties)
        for label in labels:
            assert same(engine.value(frame, label, ties=ties), together[label]), label
    for label in some[:-1]:
        with pytest.raises(recframe.RecError, match=f"ties='{ties}' orders tied rows by value for money_recall@3"):
            engine.ask(frame, "evaluate", [label, *money], ties=ties)


def test_an_ideal_by_gains_leaves_what_is_relevant_to_others(engine):
    # What the truth lacks is not relevant, however low min_relevance is.
    frame, truth = engine.frames(
        {"user": [1, 2], "item": [1, 2], "score": [1.0, 1.0]}, {"user": [1, 2], "item": [9, 2], "relevant": [3, 1]}
    )
    given = {"truth": truth, "min_relevance": -1, "per": "user"}
    some = ["ndcg(gain=binary,ideal=ranked)", "ndcg(gain={1:2,3:7},ideal=ranked)"]
    result = engine.ask(frame, "evaluate", some, **given)
    assert {row["user"]: [row[label] for label in some] for row in result} == {1: [None, None], 2: [1.0, 1.0]}


def test_the_ideal_of_ranked_rows_has_no_place_for_what_the_truth_lacks(engine):
    # Its relevance of 0 is more than that of the relevant item, but it is not relevant.
    frame, truth = engine.frames(
        {"user": [1, 1], "item": [1, 2], "score": [2.0, 1.0]}, {"user": [1], "item": [1], "relevant": [-1]}
    )
    given, label = {"truth": truth, "min_relevance": -1}, "ndcg(gain=binary,ideal=ranked)"
    assert engine.value(frame, label, **given) == 1.0
    # Nor if another metric has a place for it, ahead of negative relevance.
    (together,) = engine.ask(frame, "evaluate", [label, "ndcg(grades=signed,ideal=ranked)"], **given)
    assert together[label] == 1.0


def test_a_level_of_a_name_stays_beside_metrics_that_read_no_relevance(engine):
    frame = engine.frame({"user": [1, 1], "item": [1, 2], "relevant": [1, 3], "score": [2.0, 1.0]})
    for some in (["hit_rate(rel=2)@1", "coverage@1"], ["coverage@1", "hit_rate(rel=2)@1"]):
        (together,) = engine.ask(frame, "evaluate", some)
        assert together == {"hit_rate@1": 0.0, "coverage@1": 0.5}


def test_options_that_share_a_name_stay_apart(engine):
    def steep(position):
        return position**-2.0

    def flat(position):
        return position**-0.5

    flat.__name__ = "steep"
    rows = crowd(33, 30)
    frame = engine.frame(rows)
    requested = [recframe.metrics.DCG(k=3, discount=steep), recframe.metrics.NDCG(k=3, discount=flat)]
    (together,) = engine.ask(frame, "evaluate", requested, by=BY)
    for metric in requested:
        assert same(engine.value(frame, metric, by=BY), together[str(metric)])


def test_the_mean_of_the_lists_is_the_float(engine):
    some = engine.some(SOME, 2)
    frame = engine.frame(crowd(34, 100))
    for label in some:
        lists = [row[label] for row in engine.value(frame, label, by=BY, per=BY)]
        expected = oracle.mean(lists)
        assert same(engine.value(frame, label, by=BY), expected)


def test_models_do_not_touch_each_other(engine):
    some = engine.some(SOME, 1)
    rows = [{**row, "other": row["item"]} for row in crowd(35, 80)]
    frame = engine.frame(rows)
    together = engine.ask(frame, "evaluate", some, by=BY, score=["other", "score"])
    assert [row["model"] for row in together] == ["other", "score"]
    for row in together:
        (alone,) = engine.ask(frame, "evaluate", some, by=BY, score=row["model"])
        assert all(same(alone[label], row[label]) for label in some)
