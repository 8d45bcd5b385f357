"""ERR and PFound: a reader goes down the list and stops at each item with the probability that it satisfies."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from oracle.rows import mean, number, tied_blocks

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.case import Case
    from oracle.metric import Metric


def stops(case: Case, probability: Callable[[float], float], ties: str) -> list[float]:
    """Return the probability to stop at each position: shared within a tied block, or in the best or the worst order."""
    found: list[float] = []
    for _, block in tied_blocks(case.rows, "score", None):
        each = sorted((probability(number(row["relevant"])) for row in block), reverse=ties == "best")
        found += [mean(each)] * len(each) if ties == "average" else each
    return found


def cascade(metric: Metric, stopping: list[float], weight: Callable[[int], float]) -> float:
    """Return the expected weight of the position where the reader stops."""
    total, examines = 0.0, 1.0
    for position, stop in enumerate(stopping, 1):
        total += examines * stop * (weight(position) if position <= metric.last else 0.0)
        examines *= 1 - stop
    return total


def has_relevant(case: Case) -> bool:
    return any(number(row["relevant"]) > 0 for row in case.rows)


def err(metric: Metric, case: Case, ties: str) -> float | None:
    if not has_relevant(case):
        return None
    if "probability" in metric.options:
        known = ast.literal_eval(metric.options["probability"])
        return cascade(metric, stops(case, lambda rel: known.get(rel, 0.0), ties), lambda r: 1 / r)
    top = float(metric.options.get("max_relevance", case.max_relevance))
    return cascade(metric, stops(case, lambda rel: (2.0 ** max(rel, 0.0) - 1) / 2.0**top, ties), lambda r: 1 / r)


def pfound(metric: Metric, case: Case, ties: str) -> float | None:
    if not has_relevant(case):
        return None
    goes_on = 1 - float(metric.options.get("p_break", 0.15))
    known = ast.literal_eval(metric.options["probability"])
    return cascade(metric, stops(case, lambda rel: known.get(rel, 0.0), ties), lambda r: goes_on ** (r - 1))
