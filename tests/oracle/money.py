"""Money metrics: the value of the relevant items in the top k, over all orders of the ties."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from oracle.auc import PICK, hit
from oracle.case import of_list
from oracle.rows import Row, mean, orders, ratio

if TYPE_CHECKING:
    from collections.abc import Iterable

    from oracle.case import Case
    from oracle.metric import Metric


def money(rows: Iterable[Row]) -> float:
    return math.fsum(row["price"] or 0.0 for row in rows)


@of_list
def money_recall(metric: Metric, case: Case, ties: str) -> float | None:
    total = money(filter(hit, case.rows))
    if total <= 0:
        return None
    if ties != "average" and len({row["relevant"] for row in case.rows if hit(row)}) > 1:
        # Tied rows are ordered by relevance before their value: a bound only where relevance is yes or no.
        raise NotImplementedError(metric.label)
    return PICK[ties](money(filter(hit, order[: metric.k])) / total for order in orders(case.rows))


@of_list
def money_precision(metric: Metric, case: Case, ties: str) -> float | None:
    """Return the expected value of the relevant rows by that of all rows."""
    if not any(map(hit, case.rows)):
        return None
    if ties != "average":
        raise NotImplementedError(metric.label)
    every = list(orders(case.rows))
    part = mean(money(filter(hit, order[: metric.k])) for order in every)
    return ratio(part, mean(money(order[: metric.k]) for order in every))
