"""Spearman's and Kendall's correlation of relevance and score: ranks and pairs counted one by one."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING

from oracle.auc import hit, ranked
from oracle.case import of_list
from oracle.rows import mean, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oracle.case import Case
    from oracle.metric import Metric


def average_ranks(values: Sequence[float]) -> list[float]:
    return [sum(other < value for other in values) + (values.count(value) + 1) / 2 for value in values]


def pearson(x: Sequence[float], y: Sequence[float]) -> float | None:
    x, y = [a - mean(x) for a in x], [b - mean(y) for b in y]
    below = math.sqrt(math.fsum(a * a for a in x) * math.fsum(b * b for b in y))
    return math.fsum(a * b for a, b in zip(x, y, strict=True)) / below if below else None


def tau_b(x: Sequence[float], y: Sequence[float]) -> float | None:
    def sign(a: float) -> int:
        return (a > 0) - (a < 0)

    pairs = [(sign(a[0] - b[0]), sign(a[1] - b[1])) for a, b in combinations(list(zip(x, y, strict=True)), 2)]
    below = math.sqrt(sum(a != 0 for a, _ in pairs) * sum(b != 0 for _, b in pairs))
    return sum(a * b for a, b in pairs) / below if below else None


def pairs_of(case: Case) -> tuple[list[float], list[float]]:
    """Return the relevance and the scores of the ranked rows; of a list without a relevant row, none."""
    rows = ranked(case).rows if any(map(hit, case.rows)) else []
    return [number(row["relevant"]) for row in rows], [row["score"] for row in rows]


@of_list
def spearman(metric: Metric, case: Case, ties: str) -> float | None:
    grades, scores = pairs_of(case)
    return pearson(average_ranks(grades), average_ranks(scores)) if grades else None


@of_list
def kendall(metric: Metric, case: Case, ties: str) -> float | None:
    return tau_b(*pairs_of(case))


@of_list
def opa(metric: Metric, case: Case, ties: str) -> float | None:
    pairs = [(a, b) for a, b in combinations(list(zip(*pairs_of(case), strict=True)), 2) if a[0] != b[0]]
    return mean((a[1] == b[1]) / 2 + (a[1] != b[1]) * ((a[0] > b[0]) == (a[1] > b[1])) for a, b in pairs)
