"""Expected exposure: the mean attention that each item gets over the orders of the ties, as a stochastic ranking."""

from __future__ import annotations

import math
from ast import literal_eval
from collections import Counter
from typing import TYPE_CHECKING

from oracle.auc import hit
from oracle.case import of_list
from oracle.rows import is_missing, mean, orders, plain

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    from oracle.case import Case
    from oracle.metric import Metric
    from oracle.rows import Row


def attention(metric: Metric, position: int) -> float:
    if metric.k is not None and position > metric.k:
        return 0.0
    browsing = metric.options.get("browsing", "")
    if browsing.startswith("{"):
        return float(literal_eval(browsing).get(position, 0))
    if browsing == "log2":
        return 1 / math.log2(position + 1)
    return float(metric.options.get("p") or 0.5) ** (position - 1)


def stays(metric: Metric, hits: int) -> float:
    """Return the probability to go on past relevant rows."""
    return (
        (1 - float(metric.options.get("stop") or 0.5)) ** hits if metric.options.get("browsing") == "cascade" else 1.0
    )


def exposures(metric: Metric, case: Case, ties: str) -> list[tuple[float, float]] | None:
    """Return what each row of a list gets, and what it should get."""
    if ties != "average":
        raise NotImplementedError(metric.label)
    relevant = sum(map(hit, case.rows))
    ideal = [attention(metric, place) * stays(metric, place - 1) for place in range(1, relevant + 1)]
    target = math.fsum(ideal) / relevant if relevant else 0.0
    return [
        (result, target if hit(row) else 0.0)
        for result, row in zip(expected(metric, case.rows), case.rows, strict=True)
    ]


def expected(metric: Metric, rows: Sequence[Row]) -> list[float]:
    """Return the mean attention to each row of a list over all orders of the ties."""
    each: list[list[float]] = [[] for _ in rows]
    for order in orders(rows):
        for number, row in enumerate(rows):
            places = [place for place, other in enumerate(order, 1) if other is row]
            ahead = sum(map(hit, order[: places[0] - 1])) if places else 0
            each[number].append(attention(metric, places[0]) * stays(metric, ahead) if places else 0.0)
    return [mean(result) or 0.0 for result in each]


@of_list
def eed(metric: Metric, case: Case, ties: str) -> float | None:
    if all(row["score"] is None for row in case.rows):
        return None
    return math.fsum(result**2 for result, _ in exposures(metric, case, ties))


@of_list
def eer(metric: Metric, case: Case, ties: str) -> float | None:
    if not any(map(hit, case.rows)):
        return None
    return math.fsum(result * target for result, target in exposures(metric, case, ties))


@of_list
def eel(metric: Metric, case: Case, ties: str) -> float | None:
    if not any(map(hit, case.rows)):
        return None
    return math.fsum((result - target) ** 2 for result, target in exposures(metric, case, ties))


def shares(weights: Iterable[tuple[Hashable, float]]) -> dict[Hashable, float]:
    """Return the share of each group in a sum, of those that are known."""
    sums: Counter[Hashable] = Counter()
    for group, weight in weights:
        if plain(group) is not None and weight > 0:
            sums[group] += weight  # type: ignore[assignment]
    return {group: weight / math.fsum(sums.values()) for group, weight in sums.items()}


def apart(metric: Metric, found: Mapping[Hashable, float], target: Mapping[Hashable, float]) -> float | None:
    """Return the distance of shares from their target."""
    if not found or not target:
        return None
    pairs = [(found.get(group, 0.0), target.get(group, 0.0)) for group in {*found, *target}]
    if metric.options.get("distance") == "js":
        return math.fsum(part(one, (one + other) / 2) / 2 for pair in pairs for one, other in (pair, pair[::-1]))
    return math.fsum(abs(one - other) for one, other in pairs) / 2


def part(share: float, middle: float) -> float:
    return share * math.log2(share / middle) if share else 0.0


def distance(
    metric: Metric, rows: Sequence[Row], groups: Mapping[Hashable, Hashable], catalog: Iterable[Hashable]
) -> float | None:
    """Return how far the attention to groups of items in a list is from the metric's target."""
    kind = metric.options.get("target", "equal")
    members = [(groups.get(item), 1.0) for item in dict.fromkeys(catalog)]
    if kind == "equal":
        members = list(dict.fromkeys(members))
    elif kind == "relevant":
        relevant = dict.fromkeys(row["item"] for row in rows if hit(row))
        members = [(groups.get(item), 1.0) for item in relevant]
    elif kind.startswith("{"):
        members = list(literal_eval(kind).items())
    seen = [(groups.get(row["item"]), each) for row, each in zip(rows, expected(metric, rows), strict=True)]
    return apart(metric, shares(seen), shares(members))


@of_list
def awrf(metric: Metric, case: Case, ties: str) -> float | None:
    if ties != "average":
        raise NotImplementedError(metric.label)
    items = [*case.catalog] or [row["item"] for row in case.rows]
    known = {*items, *(row["item"] for row in case.rows)}
    return distance(metric, case.rows, {item: item for item in known if not is_missing(item)}, items)
