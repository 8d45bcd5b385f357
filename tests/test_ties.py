"""Large tied blocks: the expected values over all orders equal the closed forms, on every engine."""

from __future__ import annotations

import math
from fractions import Fraction

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
