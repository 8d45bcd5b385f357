"""Counts of a list's rows, and the ranks of its relevant ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.auc import PICK, hit, ranked
from oracle.case import of_list
from oracle.rows import orders

if TYPE_CHECKING:
    from oracle.case import Case
    from oracle.metric import Metric

LOWER_IS_BETTER = {**PICK, "best": min, "worst": max}


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
def full_recall(metric: Metric, case: Case, ties: str) -> float | None:
    relevant = sum(map(hit, case.rows))
    return PICK[ties](sum(map(hit, order[: metric.k])) == relevant for order in orders(case.rows)) if relevant else None


@of_list
def first_rank(metric: Metric, case: Case, ties: str) -> float | None:
    return _rank(case, 0, ties) if any(map(hit, ranked(case).rows)) else None


@of_list
def last_rank(metric: Metric, case: Case, ties: str) -> float | None:
    result, relevant = sum(map(hit, ranked(case).rows)), sum(map(hit, case.rows))
    return _rank(case, -1, ties) if result == relevant > 0 else None


def _rank(case: Case, which: int, ties: str) -> float:
    """Return the rank of the first or the last hit: of the ranks in all orders the mean, the least or the greatest."""
    ranks = [[rank for rank, row in enumerate(order, 1) if hit(row)][which] for order in orders(case.rows)]
    return LOWER_IS_BETTER[ties](ranks)
