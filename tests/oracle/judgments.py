"""bpref, the share of judged rows and interpolated precision: of each order of the ties, row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.auc import PICK, hit, ranked
from oracle.case import of_list
from oracle.rows import Row, is_missing, mean, number, orders, tied_blocks

if TYPE_CHECKING:
    from oracle.case import Case
    from oracle.metric import Metric


def is_pooled(row: Row) -> bool:
    return not is_missing(row["relevant"])


def is_judged(row: Row) -> bool:
    return is_pooled(row) and (hit(row) or number(row["relevant"]) >= 0)


def is_nonrelevant(row: Row) -> bool:
    return is_judged(row) and not hit(row)


@of_list
def bpref(metric: Metric, case: Case, ties: str) -> float | None:
    relevant, others = sum(map(hit, case.rows)), sum(map(is_nonrelevant, case.rows))
    if not relevant:
        return None

    def of_order(order: list[Row]) -> float:
        total = 0.0
        for i, row in enumerate(order):
            if hit(row):
                ahead = sum(map(is_nonrelevant, order[:i]))
                total += 1 - min(ahead, relevant) / min(relevant, others) if ahead else 1
        return total / relevant

    return PICK[ties](map(of_order, orders(case.rows)))


@of_list
def judged(metric: Metric, case: Case, ties: str) -> float | None:
    n = len(ranked(case).rows)
    if not n:
        return None
    if ties != "average":
        raise NotImplementedError(metric.label)
    k = n if metric.k is None else metric.k
    below = min(k, n) if metric.options.get("denominator") == "list" else k
    return mean(sum(map(is_judged, order[:k])) / below for order in orders(case.rows))


@of_list
def rbp_residual(metric: Metric, case: Case, ties: str) -> float | None:
    if not any(map(hit, case.rows)):
        return None
    if ties != "average":
        raise NotImplementedError(metric.label)
    p = float(metric.options.get("p", "0.8"))

    def of_order(order: list[Row]) -> float:
        return 1 - sum((1 - p) * p**i for i, row in enumerate(order) if is_judged(row) and i < metric.last)

    return mean(map(of_order, orders(case.rows)))


@of_list
def iprec(metric: Metric, case: Case, ties: str) -> float | None:
    relevant = sum(map(hit, case.rows))
    if not relevant:
        return None
    level = metric.options.get("recall")
    levels = [i / 10 for i in range(11)] if level is None else [float(level)]

    def of_points(points: list[tuple[int, int]]) -> float:
        """Return the mean over the levels, from the positions and their hits."""
        return mean(max((h / r for r, h in points if h >= int(x * relevant + 0.9)), default=0.0) for x in levels)

    if ties != "average":
        every = ([(r, sum(map(hit, order[:r]))) for r in range(1, len(order) + 1)] for order in orders(case.rows))
        return PICK[ties](map(of_points, every))
    points, position, result = [], 0, 0
    for _, block in tied_blocks(case.rows, "score", None):
        position, result = position + len(block), result + sum(map(hit, block))
        points.append((position, result))
    return of_points(points)


@of_list
def inf_ap(metric: Metric, case: Case, ties: str) -> float | None:
    """As trec_eval writes it, of each order that the policy leaves open."""
    relevant = sum(map(hit, case.rows))
    if not relevant:
        return None

    def of_order(order: list[Row]) -> float:
        total, pool, result, others = 0.0, 0, 0, 0
        for position, row in enumerate(order, 1):
            if hit(row):
                total += (1 + pool * (result + 0.00001) / (result + others + 0.00002)) / position
            pool, result, others = pool + is_pooled(row), result + hit(row), others + is_nonrelevant(row)
        return total / relevant

    sign = {"average": 0, "best": 1, "worst": -1}[ties]
    rows = [
        row if is_missing(row["score"]) else {**row, "score": (row["score"], sign * number(row["relevant"]))}
        for row in case.rows
    ]
    return mean(map(of_order, orders(rows)))
