"""Full recall, and the ranks of the first and the last relevant item: large ties, chance, medians and missing items."""

from __future__ import annotations

import math
from itertools import permutations
from statistics import mean

import pytest

import recframe  # noqa: F401 - gives frames their namespace

pl = pytest.importorskip("polars")


def ranking(*lists, score=None):
    """Return a list for each sequence of relevance, the scores of which fall unless they are given."""
    rows = [
        {"user": user, "item": item, "relevant": relevant, "score": float(-item if score is None else score[item])}
        for user, relevances in enumerate(lists)
        for item, relevant in enumerate(relevances)
    ]
    return pl.DataFrame(rows)


def test_all_evidence_of_a_question_in_the_top_k():
    frame = ranking([1, 1, 0], [1, 0, 1])
    assert frame.rec.full_recall(2) == 0.5
    assert frame.rec.full_recall(2, per="user").rows() == [(0, 1.0), (1, 0.0)]
    assert frame.rec.evaluate(["full_recall@1", "full_recall"]).row(0) == (0.0, 1.0)


@pytest.mark.parametrize("relevances", [(1, 1, 0, 0), (1, 0, 0, 0), (1, 1, 1, 0), (1, 1, 1, 1)])
def test_mean_over_all_orders_of_a_tie_behind_another_row(relevances):
    def ranks(order):
        return [1 + rank for rank, relevant in enumerate(order, 1) if relevant]

    frame = ranking([0, *relevances], score=[2, 1, 1, 1, 1])
    orders = list(permutations(relevances))
    for k in range(1, 7):
        expected = mean(float(max(ranks(order)) <= k) for order in orders)
        assert frame.rec.full_recall(k) == pytest.approx(expected, abs=1e-15)
    assert frame.rec.first_rank() == pytest.approx(mean(min(ranks(order)) for order in orders))
    assert frame.rec.last_rank() == pytest.approx(mean(max(ranks(order)) for order in orders))


def test_exact_in_a_tie_of_thousands():
    size, hits, k = 3000, 40, 2900
    frame = ranking([1] * hits + [0] * (size - hits) + [0], score=[1] * size + [0])
    expected = math.comb(k, hits) / math.comb(size, hits)
    assert frame.rec.full_recall(k) == pytest.approx(expected, rel=1e-12)
    assert frame.rec.first_rank() == pytest.approx((size + 1) / (hits + 1), rel=1e-12)


@pytest.mark.parametrize("metric", ["first_rank", "last_rank"])
@pytest.mark.parametrize("relevances", [(3, 5, 4, 1), (-1, 4, 0, 5), (1, 2, 4, -1)])
def test_grades_that_are_not_relevant_do_not_count(metric, relevances):
    frame = ranking(relevances)
    alone = getattr(frame.rec, metric)(min_relevance=4)
    for other in ("ndcg", "dcg@2", "judged@4"):
        (together,) = frame.rec.evaluate([metric, other], min_relevance=4)[metric]
        assert together == alone


def test_each_cutoff_has_its_own_ties():
    frame = ranking([1, 0, 1, 0], score=[1, 1, 1, 0])
    alone = [frame.rec.full_recall(k) for k in (2, 3, None)]
    together = frame.rec.evaluate(["full_recall@2", "full_recall@3", "full_recall"]).row(0)
    assert list(together) == pytest.approx(alone)
    assert alone == pytest.approx([1 / 3, 1, 1])


def test_missing_items(engine):
    rows = [
        {"user": 1, "item": 1, "relevant": 1, "score": 0.9},
        {"user": 1, "item": 2, "relevant": 1, "score": None},
        {"user": 2, "item": 1, "relevant": 1, "score": None},
        {"user": 2, "item": 2, "relevant": 0, "score": 0.4},
        {"user": 3, "item": 1, "relevant": 0, "score": 0.4},
        {"user": 3, "item": 2, "relevant": 1, "score": 0.3},
    ]
    result = engine.ask(engine.frame(rows), "evaluate", ["full_recall@2", "first_rank", "last_rank"], per="user")
    rows = {row["user"]: (row["full_recall@2"], row["first_rank"], row["last_rank"]) for row in result}
    assert rows == {1: (0.0, 1.0, None), 2: (0.0, None, None), 3: (1.0, 2.0, 2.0)}


def test_a_model_that_misses_what_others_find_has_no_rank():
    rows = [("a", 1, 1, 1.0, 2), ("b", 1, 2, 0.0, 2), ("b", 1, 3, 0.0, 1)]
    frame = pl.DataFrame(rows, schema=["model", "user", "item", "relevant", "score"], orient="row")
    result = frame.rec.evaluate(["first_rank", "last_rank", "full_recall@2"], model="model")
    assert result.rows() == [("a", 1.0, 1.0, 1.0), ("b", None, None, 0.0)]


def test_median_and_a_rank_for_lists_without_one():
    frame = ranking([0, 1, 0], [0, 0, 1], [1, 0, 0], [0, 0, 0])
    assert frame.rec.first_rank() == 2
    assert frame.rec.first_rank(mean="median") == 2
    assert frame.rec.first_rank(undefined=10) == 4
    assert frame.rec.evaluate(["mr", "worst_rank"]).row(0) == (2.0, 2.0)


def test_skill_of_the_mean_rank_is_the_adjusted_mean_rank_index():
    frame = ranking([0, 1, 0, 0, 0], [1, 0, 0, 0, 0], [0, 0, 1, 0, 0])
    result = frame.rec.evaluate(["first_rank", "full_recall@2"], chance=True).row(0, named=True)
    assert (result["first_rank"], result["first_rank chance"]) == (2.0, 3.0)
    assert result["first_rank skill"] == pytest.approx(1 - (2 - 1) / (3 - 1))
    assert result["full_recall@2 chance"] == pytest.approx(2 / 5)


def test_the_lower_rank_is_the_better_one():
    frame = pl.concat([ranking([1, 0, 0]).with_columns(user=pl.lit(user), old=pl.col("item")) for user in range(12)])
    result = frame.rec(score=["old", "score"]).compare("first_rank", baseline="old")
    assert result["verdict"].to_list()[-1] == "better"
