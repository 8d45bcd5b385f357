"""Expected exposure: the mean attention that each item gets over the orders of the ties, as a stochastic ranking."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from oracle.auc import hit
from oracle.case import of_list
from oracle.rows import mean, orders

if TYPE_CHECKING:
    from oracle.case import Case
    from oracle.metric import Metric


def attention(metric: Metric, position: int) -> float:
    if metric.k is not None and position > metric.k:
        return 0.0
    if metric.options.get("browsing") == "log2":
        return 1 / math.log2(position + 1)
    return float(metric.options.get("p") or 0.5) ** (position - 1)


def exposures(metric: Metric, case: Case, ties: str) -> list[tuple[float, float]] | None:
    """Return what each row of a list gets, and what it should get."""
    if ties != "average":
        raise NotImplementedError(metric.label)
    relevant = sum(map(hit, case.rows))
    target = math.fsum(attention(metric, place) for place in range(1, relevant + 1)) / relevant if relevant else 0.0
    each: list[list[float]] = [[] for _ in case.rows]
    for order in orders(case.rows):
        for number, row in enumerate(case.rows):
            places = [place for place, other in enumerate(order, 1) if other is row]
            each[number].append(attention(metric, places[0]) if places else 0.0)
    return [(mean(found) or 0.0, target if hit(row) else 0.0) for found, row in zip(each, case.rows, strict=True)]


@of_list
def eed(metric: Metric, case: Case, ties: str) -> float | None:
    if all(row["score"] is None for row in case.rows):
        return None
    return math.fsum(found**2 for found, _ in exposures(metric, case, ties))


@of_list
def eer(metric: Metric, case: Case, ties: str) -> float | None:
    if not any(map(hit, case.rows)):
        return None
    return math.fsum(found * target for found, target in exposures(metric, case, ties))


@of_list
def eel(metric: Metric, case: Case, ties: str) -> float | None:
    if not any(map(hit, case.rows)):
        return None
    return math.fsum((found - target) ** 2 for found, target in exposures(metric, case, ties))
