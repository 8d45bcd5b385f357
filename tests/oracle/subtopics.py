"""Alpha-nDCG and ERR-IA: each subtopic by itself, position by position, and the greedy ideal item by item."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from oracle.auc import hit
from oracle.rows import Row, tied_blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from oracle.case import Case
    from oracle.metric import Metric


def log2(position: int) -> float:
    return 1 / math.log2(position + 1)


def novel(rows: list[Row], subtopics: Mapping, alpha: float, weight: Callable[[int], float], last: float) -> float:
    """Return the gain of a ranking; the rows of a tied block share their mean probability to be of a subtopic."""
    total = 0.0
    for subtopic in set().union(*subtopics.values()):
        remaining, position = 1.0, 0
        for _, block in tied_blocks(rows, "score", None):
            share = sum(subtopic in subtopics.get(row["item"], ()) for row in block) / len(block)
            for _ in block:
                position += 1
                total += remaining * share * (weight(position) if position <= last else 0.0)
                remaining *= 1 - alpha * share
    return total


def greedy(subtopics: Mapping, alpha: float, weight: Callable[[int], float], last: float) -> float:
    """Return the gain of a ranking that takes the best item for each position; of equal ones the larger."""
    left, seen, total, position = sorted(subtopics, reverse=True), {}, 0.0, 0
    while left and position < last:
        position += 1
        gains = [sum((1 - alpha) ** seen.get(subtopic, 0) for subtopic in subtopics[item]) for item in left]
        item = left.pop(next(i for i, gain in enumerate(gains) if gain >= max(gains) - 1e-9))
        total += max(gains) * weight(position)
        for subtopic in subtopics[item]:
            seen[subtopic] = seen.get(subtopic, 0) + 1
    return total


def value(metric: Metric, rows: list[Row], subtopics: Mapping) -> float | None:
    """Return the value of a list, from the subtopics of its relevant items."""
    if not subtopics:
        return None
    alpha = float(metric.options.get("alpha", 0.5))
    if metric.name == "alpha_ndcg":
        last = metric.last
        return novel(rows, subtopics, alpha, log2, last) / greedy(subtopics, alpha, log2, last)
    found = novel(rows, subtopics, alpha, lambda r: 1 / r, metric.last) / len(set().union(*subtopics.values()))
    if metric.options.get("normalized") == "True":
        return found / sum((1 - alpha) ** (r - 1) / r for r in range(1, 2000) if r <= metric.last)
    return found * alpha


def of_one_subtopic(metric: Metric, case: Case, ties: str) -> float | None:
    """Return the value of a list whose relevant items are all of one subtopic; an item by its place in the case."""
    if ties != "average":
        raise NotImplementedError(metric.label)
    rows = [{**row, "item": place} for place, row in enumerate(case.rows)]
    return value(metric, rows, {row["item"]: {0} for row in rows if hit(row)})
