"""Alpha-nDCG, ERR-IA and subtopic recall: of each order of the ties, item by item, and the greedy ideal in the same way."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from oracle.auc import PICK, hit
from oracle.case import ORACLES, mean_over_lists
from oracle.rows import Row, orders

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from oracle.case import Case
    from oracle.metric import Metric


def log2(position: int) -> float:
    return 1 / math.log2(position + 1)


def novel(order: list[Row], subtopics: Mapping, alpha: float, weight: Callable[[int], float], last: float) -> float:
    """Return the gain of a ranking, item by item."""
    seen, total = {}, 0.0
    for position, row in enumerate(order, 1):
        for subtopic in subtopics.get(row["item"], ()):
            if position <= last:
                total += (1 - alpha) ** seen.get(subtopic, 0) * weight(position)
            seen[subtopic] = seen.get(subtopic, 0) + 1
    return total


def greedy(subtopics: Mapping, alpha: float, weight: Callable[[int], float], last: float) -> float:
    """Return the gain of a ranking that picks the best item for each position; of equal ones the larger."""
    left, seen, total, position = sorted(subtopics, reverse=True), {}, 0.0, 0
    while left and position < last:
        position += 1
        gains = [sum((1 - alpha) ** seen.get(subtopic, 0) for subtopic in subtopics[item]) for item in left]
        item = left.pop(next(i for i, gain in enumerate(gains) if gain >= max(gains) - 1e-9))
        total += max(gains) * weight(position)
        for subtopic in subtopics[item]:
            seen[subtopic] = seen.get(subtopic, 0) + 1
    return total


def value(metric: Metric, rows: list[Row], subtopics: Mapping, ties: str = "average") -> float | None:
    """Return the value of a list, from the subtopics of its relevant items."""
    if not subtopics:
        return None
    if metric.name == "subtopic_recall":
        result = [set().union(*(subtopics.get(row["item"], ()) for row in order[: metric.k])) for order in orders(rows)]
        return PICK[ties](map(len, result)) / len(set().union(*subtopics.values()))
    alpha = float(metric.options.get("alpha", 0.5))
    weight = log2 if metric.name == "alpha_ndcg" else lambda r: 1 / r
    result = PICK[ties](novel(order, subtopics, alpha, weight, metric.last) for order in orders(rows))
    if metric.name == "alpha_ndcg":
        return result / greedy(subtopics, alpha, log2, metric.last)
    result /= len(set().union(*subtopics.values()))
    if metric.options.get("normalized") == "True":
        return result / sum((1 - alpha) ** (r - 1) / r for r in range(1, 2000) if r <= metric.last)
    return result * alpha


def of_one_subtopic(metric: Metric, case: Case, ties: str) -> float | None:
    """Return the value of a list whose relevant items are all of one subtopic; an item by its place in the case."""
    rows = [{**row, "item": place} for place, row in enumerate(case.rows)]
    return value(metric, rows, {row["item"]: {0} for row in rows if hit(row)}, ties)


ORACLES.update(dict.fromkeys(("alpha_ndcg", "err_ia", "subtopic_recall"), mean_over_lists(of_one_subtopic)))
