"""Large tied blocks: the expected values over all orders equal the closed forms, on every engine."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import pytest

from compare import same
from spellings import spelled

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
    ((*found,),) = (row.values() for row in engine.ask(engine.frame(rows), "evaluate", labels))
    for label, value, exact in zip(labels, found, expected.values(), strict=True):
        assert same(value, float(exact)), f"{label}: {value} instead of {float(exact)}"


@cache
def passed(counts: tuple[tuple[int, int], ...], size: int) -> list[Fraction]:
    """Return the expected probability to pass the first 0, 1, … rows of a tied block, from its rows of each grade."""
    # The coefficients of the product of 1 + q·x: sums over subsets of rows. In eighths, so that they are whole.
    found = [1]
    for grade, count in (*counts, (0, size - sum(count for _, count in counts))):
        eighths = int(8 - 8 * CHANCES.get(grade, 0))
        power = [math.comb(count, i) * eighths**i for i in range(count + 1 if eighths else 1)]
        product = [0] * (len(found) + len(power) - 1)
        for i, coefficient in enumerate(found):
            for j, other in enumerate(power):
                product[i + j] += coefficient * other
        found = product
    found += [0] * (size + 1 - len(found))
    return [Fraction(coefficient, 8**j * math.comb(size, j)) for j, coefficient in enumerate(found)]


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
    (found,) = engine.ask(engine.frame(rows), "evaluate", labels)
    places = max(0, min(size, size if k is None else k - 2))
    of_err = [1 / (3 + j) for j in range(places)]
    of_pfound = [0.75 ** (2 + j) for j in range(places)]
    for label, weights in zip(labels, (of_err, of_pfound), strict=True):
        on = passed(tuple(counts.items()), size)
        stops = sum(weight * float(before - after) for weight, before, after in zip(weights, on, on[1:], strict=False))
        exact = 1 / 8 + 7 / 8 * stops
        assert same(found[label], exact), f"{label}: {found[label]} instead of {exact}"


@pytest.mark.parametrize("max_fpr", [0.001, 0.25, 1.0])
def test_large_blocks_across_a_false_positive_rate(engine, max_fpr):
    # One relevant row is before the block of 37 relevant and 963 other rows.
    rows = [{"user": 0, "item": i, "relevant": int(i < 38), "score": int(i < 1)} for i in range(1001)]
    end = 963 * Fraction(max_fpr)
    ahead = [1 + Fraction(37 * i, 964) for i in range(1, 964)]
    area = sum(height * max(0, min(1, end - i)) for i, height in enumerate(ahead)) / (38 * 963)
    least = Fraction(max_fpr) ** 2 / 2
    expected = (1 + (area - least) / (Fraction(max_fpr) - least)) / 2
    found = engine.ask(engine.frame(rows), "partial_auc", max_fpr=max_fpr)
    assert same(found, float(expected))
