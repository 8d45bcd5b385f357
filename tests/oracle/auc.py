"""The areas under the ROC and the precision-recall curve: pairs counted one by one, and all orders of the ties."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING

from oracle.case import of_call, of_list
from oracle.rows import Row, mean, number, orders, ratio, tied_blocks

if TYPE_CHECKING:
    from oracle.case import Case
    from oracle.metric import Metric

PICK = {"average": mean, "best": max, "worst": min}


def hit(row: Row) -> bool:
    return number(row["relevant"]) > 0


def ranked(case: Case) -> Case:
    return case.of([row for row in case.rows if row["score"] is not None])


@of_list
def roc_auc(metric: Metric, case: Case, ties: str) -> float | None:
    if not any(map(hit, case.rows)):
        return None
    if metric.k is not None:
        if ties != "average":
            raise NotImplementedError(metric.label)
        return _roc_auc_at(case, metric.k)
    of = ranked(case) if metric.options.get("over") == "ranked" else case
    sign = {"average": 0, "best": 1, "worst": -1}[ties]

    def place(row: Row) -> tuple[float, ...]:
        """Return what orders rows; the unranked ones share the last position."""
        return (-math.inf,) if row["score"] is None else (row["score"], sign * number(row["relevant"]))

    pairs = [(place(a), place(b)) for a in of.rows for b in of.rows if hit(a) and not hit(b)]
    return mean((a > b) + (a == b) / 2 for a, b in pairs)


def _roc_auc_at(case: Case, k: int) -> float | None:
    """Return the expected number of ordered pairs among the top k by that of all pairs there."""
    ordered, pairs = [], []
    for order in orders(case.rows):
        result = [(a, b) for a, b in combinations([hit(row) for row in order[:k]], 2) if a != b]
        pairs.append(len(result))
        ordered.append(sum(a for a, _ in result))
    return ratio(mean(ordered), mean(pairs)) if sum(pairs) else None


@of_call
def gauc(metric: Metric, case: Case, ties: str = "average") -> float | None:
    """Return the mean over lists of the AUC, weighted by their rows."""
    of_hits = metric.options.get("weigh_by") == "relevant"
    values = [(sum(map(hit, of.rows)) if of_hits else len(of.rows), roc_auc(metric, of, ties)) for of in case.lists]
    defined = [(n, value) for n, value in values if value is not None]
    return math.fsum(n * value for n, value in defined) / sum(n for n, _ in defined) if defined else None


@of_list
def partial_auc(metric: Metric, case: Case, ties: str) -> float | None:
    """Return the standardised area below the steps of the curve."""
    if "negatives" in metric.options:
        return _of_first_others(
            case, int(metric.options["negatives"]), metric.options.get("positives") == "first", ties
        )
    total = sum(map(hit, ranked(case).rows))
    others = len(ranked(case).rows) - total
    if not total * others:
        return None
    end = float(metric.options.get("max_fpr", "0.1"))
    least = end * end / 2
    if metric.options.get("points") == "thresholds":
        return (1 + (_below_lines(case, end, total, others) - least) / (end - least)) / 2

    def of_order(order: list[Row]) -> float:
        area, right, up = 0.0, 0, 0
        for row in order:
            if not hit(row):
                area += max(0.0, min((right + 1) / others, end) - right / others) * up / total
            right, up = right + (not hit(row)), up + hit(row)
        return (1 + (area - least) / (end - least)) / 2

    return PICK[ties](map(of_order, orders(case.rows)))


def _of_first_others(case: Case, n: int, few: bool, ties: str) -> float | None:
    """Return the share of the pairs of a relevant item and one of the first n other rows that the item comes first."""

    def won(order: list[Row]) -> float:
        hits = [i for i, row in enumerate(order) if hit(row)]
        return float(sum(max(n - sum(not hit(other) for other in order[:i]), 0) for i in hits[: n if few else None]))

    total = sum(map(hit, case.rows))
    total = min(total, n) if few else total
    return PICK[ties](map(won, orders(case.rows))) / (n * total) if total else None


def _below_lines(case: Case, end: float, total: int, others: int) -> float:
    """Return the area below the lines between the points of the curve, one after each tied block."""
    area, x, y = 0.0, 0.0, 0.0
    for _, block in tied_blocks(case.rows, "score", None):
        right, up = x + sum(not hit(row) for row in block) / others, y + sum(map(hit, block)) / total
        if x < end and right > x:
            stop = min(right, end)
            area += (stop - x) * (y + y + (up - y) * (stop - x) / (right - x)) / 2
        x, y = right, up
    return area


@of_list
def pr_auc(metric: Metric, case: Case, ties: str) -> float | None:
    below = sum(map(hit, ranked(case).rows if metric.options.get("over") == "ranked" else case.rows))
    if not below:
        return None
    if metric.options.get("points") == "thresholds":
        return ratio(_steps(case), below)
    return ratio(PICK[ties](_precisions(order) for order in orders(case.rows)), below)


def _precisions(order: list[Row]) -> float:
    """Return the sum over the relevant rows of the precision at each."""
    flags = [hit(row) for row in order]
    return math.fsum(sum(flags[: r + 1]) / (r + 1) for r in range(len(flags)) if flags[r])


def _steps(case: Case) -> float:
    """Return the sum over the relevant rows of the precision where their tied block ends."""
    total, position, before = 0.0, 0, 0
    for _, block in tied_blocks(case.rows, "score", None):
        here = sum(map(hit, block))
        position, before = position + len(block), before + here
        total += here * before / position
    return total
