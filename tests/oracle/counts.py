"""Counts of a list's rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.auc import PICK, hit, ranked
from oracle.case import of_list
from oracle.rows import orders

if TYPE_CHECKING:
    from oracle.case import Case
    from oracle.metric import Metric


@of_list
def num_rel(metric: Metric, case: Case, ties: str) -> float:
    return sum(map(hit, case.rows))


@of_list
def num_ret(metric: Metric, case: Case, ties: str) -> float:
    return len(ranked(case).rows[: metric.k])


@of_list
def num_rel_ret(metric: Metric, case: Case, ties: str) -> float:
    return PICK[ties](sum(map(hit, order[: metric.k])) for order in orders(case.rows))


@of_list
def catalog_accuracy(metric: Metric, case: Case, ties: str) -> float | None:
    """Return the share of the catalogue that is a hit in the top k or neither relevant nor there, item by item."""
    relevant = sum(map(hit, case.rows))
    if not relevant:
        return None
    items = [*case.catalog] or [row["item"] for row in case.rows]
    n = len(ranked(case).rows)
    listed = n if metric.k is None else min(metric.k, n)
    places = listed if metric.k is None or metric.options.get("denominator") == "list" else metric.k
    right = [
        found + len(set(items)) - places - (relevant - found)
        for found in (sum(map(hit, order[: metric.k])) for order in orders(case.rows))
    ]
    return PICK[ties](count / len(set(items)) for count in right)
