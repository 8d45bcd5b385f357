"""Tied values are expected values over all orders, of large blocks too, or the record says how far off they are."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path

import narwhals as nw
import pytest

import recframe
from compare import ask_case, same
from oracle import ORACLES, Case, mean, parse
from oracle.rows import orders
from recframe._plan import ranks
from recframe.metrics import METRICS
from recframe.metrics._beyond_accuracy import BeyondAccuracyMetric, ExposureMetric
from spellings import spelled, spellings_of
from strategies import shop

ACCURACY = [name for name, kind in METRICS.items() if not issubclass(kind, BeyondAccuracyMetric | ExposureMetric)]
ROOT = Path(__file__).parents[2]


def mean_over_orders(label: str, of: Case) -> float | None:
    """Return the mean of what the oracle says of a list in each of its orders, none of which has ties."""
    unranked = [row for row in of.rows if row["score"] is None]
    metric = parse(label)

    def value(order: list) -> float | None:
        strict = [{**row, "score": -float(position)} for position, row in enumerate(order)]
        return ORACLES[metric.name](metric, of.of([*strict, *unranked]))

    return mean(map(value, orders(of.rows)))


@pytest.mark.parametrize("name", [name for name in ACCURACY if name != "serendipity"])
def test_values_are_means_over_all_orders_or_within_the_documented_error(engine, name):
    case = shop("orders", 25)
    rows = [{**row, "price": row["price"] or 10.0} for row in case.rows]
    case = replace(case, rows=rows, catalog=sorted({row["item"] for row in rows}))
    labels = spellings_of(name, (1, 3, None))
    result = {row["user"]: row for row in ask_case(engine, case, labels, per="user", value="price")}
    for label in labels:
        text = re.search(r"up to ([\d.]+) ", recframe.metrics.parse(label).inexact)
        most = float(text[1]) if text else 1e-12
        for of in case.lists:
            value, expected = result[of.rows[0]["user"]][label], mean_over_orders(label, of)
            assert text or (value is None) == (expected is None)
            assert value is None or abs(value - expected) <= most, f"{label} {of.rows}: {value} instead of {expected}"


# The lists of up to 7 rows that are furthest off: tied blocks, each with its relevant rows first, and the mean.
FURTHEST = [
    ("map(norm=hits)@1", [[1, 0, 0, 0, 0, 0, 0]], 1 / 7),
    ("iprec(recall=0)", [[1, 0], [1, 1, 0, 0]], 0.8069444444444445),
    ("roc_auc@6", [[0], [1], [1], [1], [1], [1, 0]], 1 / 4),
    ("partial_auc(max_fpr=0.001,points=thresholds)", [[1, 0]], 0.7498749374687344),
    ("pr_auc(points=thresholds)", [[1, 0, 0]], 11 / 18),
    ("money_precision@1", [[1, 0, 0, 0]], 1 / 4),
    ("awrf@1", [[0] * 7], 6 / 7),
    ("eed(p=0.9999)@3", [[0] * 7], 1 + 0.9999**2 + 0.9999**4),
    ("spearman", [[1], [0] * 6], 0.6123724356957945),
    ("kendall", [[1], [0] * 6], 0.5345224838248488),
]


@pytest.mark.parametrize(("label", "blocks", "expected"), FURTHEST)
def test_the_largest_errors_are_the_documented_ones(polars_engine, label, blocks, expected):
    rows = [
        {"user": 1, "item": (place, i), "relevant": hit, "score": -float(place), "price": 10.0 if hit else 1.0}
        for place, block in enumerate(blocks)
        for i, hit in enumerate(block)
    ]
    assert mean_over_orders(label, Case(rows)) == pytest.approx(expected, abs=1e-12)
    frame = polars_engine.frame([{**row, "item": str(row["item"])} for row in rows])
    off = abs(polars_engine.value(frame, label, value="price") - expected)
    assert f"up to {off:.2f} " in recframe.metrics.parse(label).inexact


@pytest.mark.parametrize("name", METRICS)
def test_pages_name_values_that_are_not_exact(name):
    texts = [getattr(metric, "inexact", "") for metric in map(recframe.metrics.parse, spellings_of(name, (3,)))]
    page = (ROOT / "docs" / "metrics" / f"{name}.md").read_text(encoding="utf-8")
    under_ties = page.partition("\n- **Under ties:** ")[2].partition("\n")[0]
    for text in filter(None, texts):
        assert re.split(", (?:up to|and another)", text)[0].removeprefix("not exact: ") in under_ties
    if any(texts) and name in ACCURACY and name not in ("pr_auc", "partial_auc"):
        for document in ("docs/concepts/ties.md", "docs/contract/values.md"):
            assert name in (ROOT / document).read_text(encoding="utf-8").replace('map(norm="hits")', "map")
    assert any(texts) or not under_ties
    assert any(texts) or name not in ACCURACY or "exact expected value" in recframe.explain(name)


# The size of the block, its relevant rows, and the rows before it.
LARGE = [(2000, 37, 0), (2000, 1, 5), (500, 499, 3), (1000, 1000, 0), (3000, 2, 1)]


@pytest.mark.parametrize(("size", "hits", "before"), LARGE)
@pytest.mark.parametrize("k", [1, 10, 1200, None])
def test_large_blocks(engine, size, hits, before, k):
    # Too many orders to try: McSherry and Najork's closed forms, in exact fractions.
    rows = [{"user": 0, "item": i, "relevant": 0, "score": 2} for i in range(before)]
    rows += [{"user": 0, "item": before + i, "relevant": int(i < hits), "score": 1} for i in range(size)]
    last = before + size if k is None else min(k, before + size)
    inside = max(0, last - before)
    first = [Fraction(math.comb(size - j, hits - 1), math.comb(size, hits)) for j in range(1, inside + 1)]
    expected = {
        "hit_rate": 1 - Fraction(math.comb(size - hits, inside), math.comb(size, inside)),
        "mrr": sum(chance / (before + j) for j, chance in enumerate(first, 1)),
        "recall": Fraction(inside, size),
        "map": sum(
            Fraction(hits, size) * (1 + Fraction((j - 1) * (hits - 1), max(1, size - 1))) / (before + j)
            for j in range(1, inside + 1)
        ) / (hits if k is None else min(hits, k)),
        "dcg": Fraction(hits, size) * Fraction(math.fsum(1 / math.log2(before + j + 1) for j in range(1, inside + 1))),
    }  # fmt: skip
    labels = [spelled(name, k) for name in expected]
    ((*result,),) = (row.values() for row in engine.ask(engine.frame(rows), "evaluate", labels))
    for label, value, exact in zip(labels, result, expected.values(), strict=True):
        assert same(value, float(exact)), f"{label}: {value} instead of {float(exact)}"


@cache
def passed(counts: tuple[tuple[int, int], ...], size: int) -> list[Fraction]:
    """Return the expected probability to pass the first 0, 1, … rows of a tied block, from its rows of each grade."""
    # The coefficients of the product of 1 + q·x: sums over subsets of rows. In eighths, so that they are whole.
    result = [1]
    for grade, count in (*counts, (0, size - sum(count for _, count in counts))):
        eighths = int(8 - 8 * CHANCES.get(grade, 0))
        power = [math.comb(count, i) * eighths**i for i in range(count + 1 if eighths else 1)]
        product = [0] * (len(result) + len(power) - 1)
        for i, coefficient in enumerate(result):
            for j, other in enumerate(power):
                product[i + j] += coefficient * other
        result = product
    result += [0] * (size + 1 - len(result))
    return [Fraction(coefficient, 8**j * math.comb(size, j)) for j, coefficient in enumerate(result)]


CHANCES = {1: Fraction(1, 8), 2: Fraction(1, 2), 3: Fraction(1)}
MIXED = [
    ({1: 30, 2: 10}, 1000),
    ({1: 500, 2: 100, 3: 2}, 1000),
    ({3: 1}, 1000),
    ({1: 999, 2: 1}, 1000),
    ({2: 40, 3: 3}, 60),
]


@pytest.mark.parametrize(("counts", "size"), MIXED)
@pytest.mark.parametrize("k", [2, 40, None])
def test_large_blocks_where_users_stop(engine, counts, size, k):
    # Two rows are before the block, of which the first may satisfy.
    grades = [1, 0, *(grade for grade, count in counts.items() for _ in range(count))]
    grades += [0] * (size + 2 - len(grades))
    rows = [{"user": 0, "item": i, "relevant": grade, "score": 1 - min(i, 2)} for i, grade in enumerate(grades)]
    table = "{" + ",".join(f"{grade}:{float(chance):g}" for grade, chance in CHANCES.items()) + "}"
    labels = [spelled("err", k, probability=table), spelled("pfound", k, p_break=0.25, probability=table)]
    (result,) = engine.ask(engine.frame(rows), "evaluate", labels)
    places = max(0, min(size, size if k is None else k - 2))
    of_err = [1 / (3 + j) for j in range(places)]
    of_pfound = [0.75 ** (2 + j) for j in range(places)]
    for label, weights in zip(labels, (of_err, of_pfound), strict=True):
        on = passed(tuple(counts.items()), size)
        stops = sum(weight * float(before - after) for weight, before, after in zip(weights, on, on[1:], strict=False))
        exact = 1 / 8 + 7 / 8 * stops
        assert same(result[label], exact), f"{label}: {result[label]} instead of {exact}"


@pytest.mark.parametrize("max_fpr", [0.001, 0.25, 1.0])
def test_large_blocks_across_a_false_positive_rate(engine, max_fpr):
    # One relevant row is before the block of 37 relevant and 963 other rows.
    rows = [{"user": 0, "item": i, "relevant": int(i < 38), "score": int(i < 1)} for i in range(1001)]
    end = 963 * Fraction(max_fpr)
    ahead = [1 + Fraction(37 * i, 964) for i in range(1, 964)]
    area = sum(height * max(0, min(1, end - i)) for i, height in enumerate(ahead)) / (38 * 963)
    least = Fraction(max_fpr) ** 2 / 2
    expected = (1 + (area - least) / (Fraction(max_fpr) - least)) / 2
    result = engine.ask(engine.frame(rows), "partial_auc", max_fpr=max_fpr)
    assert same(result, float(expected))


UNBOUNDED = ["ndcg", "dcg", "map", "mrr", "recall", "rbp", "err", "pfound", "eed", "eer", "awrf"]


@pytest.mark.parametrize("name", UNBOUNDED)
def test_the_largest_cutoff_is_the_whole_list(engine, name):
    """A table of its two billion positions would take all memory."""
    rows = [
        {"user": user, "item": item, "relevant": int(item % 3 == user), "score": item // 2}
        for user in range(2)
        for item in range(5)
    ]
    (result,) = engine.ask(engine.frame(rows), "evaluate", [name], k=2**31 - 1)
    (expected,) = engine.ask(engine.frame(rows), "evaluate", [name], k=5)
    assert same(result[f"{name}@{2**31 - 1}"], expected[f"{name}@5"])


@pytest.mark.parametrize("k", [None, 2**31 - 1])
def test_tied_ranks_that_are_far_away(engine, k):
    """A table of the two billion positions ahead of them would take all memory."""
    far = 2**31 - 3
    rows = [{"user": 1, "item": i, "relevant": i % 2, "rank": rank} for i, rank in enumerate([3, far, far, far])]
    labels = [spelled(name, k) for name in ("dcg", "mrr", "rbp")]
    (result,) = engine.ask(engine.frame(rows), "evaluate", labels, rank="rank")
    places = [far, far + 1, far + 2]
    first, second = Fraction(2, 3), Fraction(1, 3)
    expected = {
        "dcg": sum(2 / 3 / math.log2(place + 1) for place in places),
        "mrr": float(first * Fraction(1, places[0]) + second * Fraction(1, places[1])),
        "rbp": 0.0,
    }
    for name, value in expected.items():
        assert same(result[spelled(name, k)], value)


@pytest.mark.parametrize("name", UNBOUNDED)
def test_ranks_of_tied_rows_give_what_scores_give(engine, name):
    """Weights of tied ranks are summed block by block, those of tied scores over all positions."""
    rows = [
        {
            "user": user,
            "item": item,
            "relevant": int(item % 3 == user),
            "score": -(item // 2),
            "rank": item // 2 * 2 + 1,
        }
        for user in range(2)
        for item in range(7)
    ]
    result = engine.ask(engine.frame(rows), "evaluate", [name], rank="rank")
    (expected,) = engine.ask(engine.frame(rows), "evaluate", [name])
    assert same(result[0][name], expected[name])


def test_weights_of_too_many_positions_are_not_summed(engine):
    frame = engine.frame([{"user": 1, "item": 1, "relevant": 1, "score": 1}])
    with pytest.raises(recframe.OptionError, match="k=2147483647 is more than 10000000"):
        engine.ask(frame, "evaluate", ["ndcg(ideal=ones)"], k=2**31 - 1)


def test_rows_that_absent_ones_move_to_the_cutoff_are_kept():
    pl = pytest.importorskip("polars")
    rows = pl.LazyFrame({"start": [1, 1, 2, 2], "relevance": [0.0, 1.0, 0.0, 1.0], "absent": [2, 2, 2, 2]})
    moved = ranks.shift_past_omitted_rows(nw.from_native(rows), 3, descending=False).to_native().collect()
    assert moved.select("start", "relevance", "absent").rows() == [(1, 0.0, 2), (3, 1.0, 0), (2, 0.0, 2)]


OVERLAPPING = {"user": [1] * 4, "item": [1, 2, 3, 4], "relevant": [1, 0, 2, 1], "rank": [1, 1, 2, 3]}


@pytest.mark.parametrize("ties", ["average", "worst"])
def test_a_rank_within_the_tied_block_before_it_is_an_error(engine, ties):
    """Dense ranks put three rows at two positions: six relevant rows at 1, 1, 1, 2, 2, 2 had a precision@2 of 1.5."""
    frame = engine.frame(OVERLAPPING)
    if engine.lazy:
        pytest.skip("needs the data")
    with pytest.raises(recframe.InputError, match="'rank' holds 2 where tied rows ahead of it fill that position"):
        engine.ask(frame, "ndcg", 2, rank="rank", ties=ties)
    assert engine.ask(frame, "ndcg", 1, rank="rank", ties=ties) < 1
    spread = engine.frame({**OVERLAPPING, "rank": [1, 1, 3, 4]})
    assert engine.ask(spread, "ndcg", 2, rank="rank", ties=ties) < 1


@pytest.mark.parametrize("ties", ["worst", "item_desc"])
def test_rows_of_two_ranks_at_one_position_are_not_tied(engine, ties):
    """A policy moves the second of the first two rows to the position of the third: they were never equal."""
    if not engine.lazy:
        pytest.skip("data frames refuse such ranks")
    labels = {"precision@2": 1.0, "ndcg@2": 3 / math.log2(3) / (2 + 1 / math.log2(3)), "kendall": -2 / 30**0.5}
    (row,) = engine.ask(engine.frame(OVERLAPPING), "evaluate", [*labels], rank="rank", ties=ties)
    assert row == pytest.approx(labels)


def test_the_range_over_orders_of_ties_in_one_call(engine):
    rows = {"user": [1, 1, 1, 2, 2], "item": [1, 2, 3, 1, 2], "relevant": [1, 0, 1, 0, 1], "score": [5, 5, 1, 9, 2]}
    names = ["ndcg@2", "mrr", "first_rank", "full_recall@2"]
    result = engine.ask(engine.frame(rows), "evaluate", names, ties="range")[0]
    each = {
        ties: engine.ask(engine.frame(rows), "evaluate", names, ties=ties)[0] for ties in ("average", "best", "worst")
    }
    assert list(result) == [f"{name}{end}" for name in names for end in ("", " low", " high")]
    for name in names:
        bounds = sorted([each["best"][name], each["worst"][name]])
        assert [result[f"{name}{end}"] for end in ("", " low", " high")] == pytest.approx(
            [each["average"][name], *bounds]
        )


@pytest.mark.filterwarnings("ignore::recframe.DataWarning")
def test_the_range_of_several_models_and_of_segments():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"user": [1, 1, 2, 2], "relevant": [1, 0, 0, 1], "old": [1, 1, 2, 1], "new": [2, 1, 1, 1]})
    rec = frame.rec(score=["old", "new"], ties="range")
    assert rec.evaluate("mrr").rows() == [("old", 0.625, 0.5, 0.75), ("new", 0.875, 0.75, 1.0)]
    assert rec.evaluate("mrr", per="user", counts=True).columns[-3:] == ["mrr high", "lists", "undefined"]
    assert frame.lazy().rec.evaluate("mrr", score="old", ties="range").collect().row(0) == (0.625, 0.5, 0.75)


@pytest.mark.filterwarnings("ignore::recframe.DataWarning")
@pytest.mark.parametrize(
    ("message", "call"),
    [
        ("no least and greatest value of kendall", lambda rec: rec.evaluate("kendall", ties="range")),
        ("no least and greatest value of user_coverage@1", lambda rec: rec.evaluate("user_coverage@1", ties="range")),
        ("does not go with chance=True", lambda rec: rec.evaluate("mrr", ties="range", chance=True)),
        ("ties='range' is not one of", lambda rec: rec.mrr(ties="range")),
    ],
)
def test_what_has_no_range(message, call):
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"user": [1, 1], "item": [1, 2], "relevant": [1, 0], "score": [1, 1]})
    with pytest.raises(recframe.OptionError, match=message):
        call(frame.rec)
