"""Metrics of one list in which a relevant item counts as 1 / propensity items: the mean over all orders of its ties."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from oracle.rows import number, orders, ratio

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from oracle.metric import Metric
    from oracle.rows import Row


def value(metric: Metric, rows: Sequence[Row]) -> float | None:
    """Return the value of a list; None: it has none."""
    relevant = [row for row in rows if number(row["relevant"]) > 0]
    if not relevant:
        return 0.0 if metric.name in ("num_rel", "num_rel_ret") else None
    result = [_of_order(metric, [*enumerate(order, 1)], relevant) for order in orders(rows)]
    return math.fsum(result) / len(result)


def _of_order(metric: Metric, order: Sequence[tuple[int, Row]], relevant: Sequence[Row]) -> float:
    def total(weight: Callable[[int, Row], float]) -> float:
        top = [(r, row) for r, row in order if r <= metric.last and row in relevant]
        return math.fsum(weight(r, row) / row["p"] for r, row in top)

    everything = math.fsum(1 / row["p"] for row in relevant)
    hits = total(lambda _r, _row: 1.0)
    dcg = total(lambda r, row: row["relevant"] / math.log2(r + 1))
    k = len(order) if metric.k is None else metric.k
    match metric.name, metric.options:
        case "precision", _:
            return ratio(hits, k)
        case "recall", _:
            return hits / everything
        case "f1", _:
            return 2 * hits / (k + everything)
        case "dcg", _:
            return dcg
        case "ndcg", {"ideal": "ones"}:
            return dcg / math.fsum(1 / math.log2(r + 1) for r in range(1, k + 1))
        case "ndcg", {"ideal": "first"}:
            return dcg / math.fsum(row["relevant"] / row["p"] for row in relevant)
        case "rbp", _:
            return 0.2 * total(lambda r, _row: 0.8 ** (r - 1))
        case "money_recall", _:
            return total(lambda _r, row: row["price"]) / math.fsum(row["price"] / row["p"] for row in relevant)
        case "num_rel", _:
            return everything
        case "num_rel_ret", _:
            return hits
    raise NotImplementedError(metric)
