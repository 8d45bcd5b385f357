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
