"""ERR and PFound: a reader goes down the list and stops at each item with the probability that it satisfies."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from oracle.auc import PICK
from oracle.case import of_list
from oracle.rows import number, orders

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.case import Case
    from oracle.metric import Metric


def cascade(case: Case, probability: Callable[[float], float], weight: Callable[[int], float], ties: str) -> float:
    """Return the expected weight of the position where the reader stops, over all orders of the ties."""
    return PICK[ties](
        stopped([probability(number(row["relevant"])) for row in order], weight) for order in orders(case.rows)
    )


def stopped(stopping: list[float], weight: Callable[[int], float]) -> float:
    """Return the same of one order, from the probability to stop at each position."""
    total, examines = 0.0, 1.0
    for position, stop in enumerate(stopping, 1):
        total += examines * stop * weight(position)
        examines *= 1 - stop
    return total


def has_relevant(case: Case) -> bool:
    return any(number(row["relevant"]) > 0 for row in case.rows)


@of_list
def err(metric: Metric, case: Case, ties: str) -> float | None:
    if not has_relevant(case):
        return None
    top = float(metric.options.get("max_relevance", case.max_relevance))
    known = ast.literal_eval(metric.options.get("probability", "None"))

    def probability(rel: float) -> float:
        return (2.0 ** max(rel, 0.0) - 1) / 2.0**top if known is None else known.get(rel, 0.0)

    return cascade(case, probability, lambda r: 1 / r if r <= metric.last else 0.0, ties)


@of_list
def pfound(metric: Metric, case: Case, ties: str) -> float | None:
    if not has_relevant(case):
        return None
    goes_on = 1 - float(metric.options.get("p_break", 0.15))
    known = ast.literal_eval(metric.options["probability"])
    weight = lambda r: goes_on ** (r - 1) if r <= metric.last else 0.0  # noqa: E731
    return cascade(case, lambda rel: known.get(rel, 0.0), weight, ties)
