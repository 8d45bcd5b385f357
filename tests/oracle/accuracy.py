"""Precision, recall, reciprocal rank, average precision, DCG and RBP of one list: the mean over all orders of its ties.

Keep tied blocks at five items or fewer. The definitions follow the contract of ``.rec``; where that is open, the choice
is named in a comment.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain, permutations, product
from typing import TYPE_CHECKING

from oracle.metric import Metric, parse
from oracle.rows import ratio

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

Order = list[tuple[int, float]]
"""One strict order: the position and the relevance of every ranked row."""

DISCOUNTS: dict[str, Callable[[int], float]] = {
    "log2": lambda r: 1 / math.log2(r + 1),
    "jarvelin": lambda r: 1 / max(1.0, math.log2(r)),
    "reciprocal": lambda r: 1 / r,
    # What tests hand over as functions, known by their names.
    "inverse_square": lambda r: 1 / r**2,
}


@cache
def discount(name: str, position: int) -> float:
    if name.startswith("{"):
        return dict(map(float, each.split(":")) for each in name.strip("{}").split(",")).get(position, 0.0)
    return DISCOUNTS[name](position)


# --- one list in one order --------------------------------------------------------------------------------


@dataclass(frozen=True)
class List:
    """A list: tied blocks with the position where each starts, and the relevance of all its items."""

    blocks: tuple[tuple[int, tuple[float, ...]], ...]
    everything: tuple[float, ...]
    """With unranked rows; with a truth, its relevance."""
    least: float | None
    """From which relevance on a row is relevant; None: above 0. With a truth the oracle knows only positive ones."""

    def relevant(self, relevance: float) -> bool:
        return relevance > 0 if self.least is None else relevance >= self.least

    @cached_property
    def n_relevant(self) -> int:
        return sum(map(self.relevant, self.everything))

    @cached_property
    def ranked(self) -> list[float]:
        return list(chain.from_iterable(block for _, block in self.blocks))

    @cached_property
    def positions(self) -> list[int]:
        return [start + i for start, block in self.blocks for i in range(len(block))]

    def orders(self) -> Iterator[Order]:
        """Yield all orders of the tied items; each distinct one counts for equally many."""
        choices = [
            [list(enumerate(arranged, start)) for arranged in sorted(set(permutations(block)))]
            for start, block in self.blocks
        ]
        for chosen in product(*choices):
            yield list(chain.from_iterable(chosen))

    def sorted_by_relevance(self, *, best: bool) -> Order:
        """Return the order that puts the most (least) relevant item of each tied block first."""
        rows = [enumerate(sorted(block, reverse=best), start) for start, block in self.blocks]
        return list(chain.from_iterable(rows))


def ideal(metric: Metric, of: List) -> float:
    """Return what the DCG is divided by."""
    which = metric.options.get("ideal", "all")
    if which == "ones":
        # Without a cutoff: the positions of the ranked rows, which differ from 1..N where rank= has gaps.
        positions = of.positions if metric.k is None else range(1, metric.k + 1)
        return math.fsum(discount(metric.discount, r) for r in positions)
    rows = of.ranked if which == "ranked" else of.everything
    last = math.inf if which == "uncut" else metric.last
    if which == "first":
        gains = [metric.gain(rel, hit=of.relevant(rel)) for rel in rows]
        return math.fsum(gain * discount(metric.discount, 1) for gain in gains if gain > 0)
    if metric.signed:
        gains = sorted((metric.gain(rel, hit=of.relevant(rel)) for rel in rows), reverse=True)
        return math.fsum(gain * discount(metric.discount, r) for r, gain in enumerate(gains, 1) if r <= last)
    binary = metric.options.get("gain") == "binary"
    gains = [metric.gain(rel, hit=of.relevant(rel)) for rel in rows if rel > 0 or binary]
    best = sorted((gain for gain in gains if gain > 0), reverse=True)
    return math.fsum(gain * discount(metric.discount, r) for r, gain in enumerate(best, 1) if r <= last)


def is_defined(metric: Metric, of: List) -> bool:
    if metric.options.get("over") == "ranked":
        return any(map(of.relevant, of.ranked))
    if metric.name != "ndcg":
        return of.n_relevant > 0
    which = metric.options.get("ideal", "all")
    if metric.signed and which in ("all", "ranked", "uncut"):
        # The engines sum rounded numbers: where the exact ideal is 0, so is theirs, or the tests would say.
        result = any(map(of.relevant, of.ranked if which == "ranked" else of.everything))
        return result and abs(ideal(metric, of)) > 1e-12
    # Of positive grades there is an ideal whatever makes a row relevant.
    own = metric.options.get("grades") == "positive" and which != "ones"
    return (own or of.n_relevant > 0) and ideal(metric, of) > 0


def divisor(metric: Metric, of: List) -> float:
    """Return what a metric is divided by, which no order of tied items changes; ``map(norm=hits)`` has none."""
    n_relevant, n_ranked = of.n_relevant, len(of.ranked)
    match metric.name, metric.options:
        case "precision", options:
            return n_ranked if metric.k is None else min(metric.k, n_ranked) if options else metric.k
        case (("recall" | "r_precision"), options):
            counted = sum(map(of.relevant, of.ranked)) if options.get("over") == "ranked" else n_relevant
            return min(counted, metric.last) if options.get("capped") == "True" else counted
        case "f1", _:
            return ((n_ranked if metric.k is None else metric.k) + n_relevant) / 2
        case "fbeta", options:
            # From precision and recall over 1 hit: 1 / divisor = (1 + β²)·P·R / (β²·P + R), each of them.
            squared = float(options.get("beta", "2")) ** 2
            return (squared * n_relevant + (n_ranked if metric.k is None else metric.k)) / (1 + squared)
        case "map", {"norm": "k"}:
            return n_ranked if metric.k is None else metric.k
        case "map", {"norm": "hits"}:
            return 1.0
        case "map", options:
            counted = sum(map(of.relevant, of.ranked)) if options.get("over") == "ranked" else n_relevant
            return counted if options.get("norm") == "relevant" else min(counted, metric.last)
        case "ndcg", _:
            return ideal(metric, of)
        case "rbp", options:
            greatest = max(of.everything) if options.get("gain") == "scaled" else 1.0
            return max(greatest, 0.0) / (1 - float(options.get("p", "0.8")))
        case _:
            return 1.0


def total(metric: Metric, order: Order, hits: Sequence[int], n_relevant: int, gains: Mapping[float, float]) -> float:
    """Return what a metric sums up in one strict order; `gains` are those of each relevance."""
    if metric.options.get("over") == "ranked":
        n_relevant = len(hits)
    last = n_relevant if metric.name == "r_precision" else metric.last
    match metric.name:
        case "precision" | "recall" | "f1" | "fbeta" | "r_precision" | "hits":
            return sum(r <= last for r in hits)
        case "hit_rate":
            return float(any(r <= last for r in hits))
        case "mrr":
            return next((1 / r for r in hits if r <= last), 0.0)
        case "map":
            return sum(count / r for count, r in enumerate(hits, 1) if r <= last)
        case "rbp":
            p = float(metric.options.get("p", "0.8"))
            graded, in_hits = metric.options.get("gain", "binary") != "binary", set(hits)
            return sum(
                (max(rel, 0.0) if graded else 1.0) * p ** (r - 1) for r, rel in order if r in in_hits and r <= last
            )
        case "dcg" | "ndcg":
            name = metric.discount
            return sum(gains[rel] * discount(name, r) for r, rel in order if r <= last)
    raise NotImplementedError(metric.name)


# --- one list over all orders -----------------------------------------------------------------------------


def over_orders(of: List, metrics: Sequence[str]) -> dict[str, list[float | None]]:
    """Return the mean, the greatest and the least value of each metric over all orders of the tied items."""
    known = KNOWN[of]
    missing = [parse(label) for label in metrics if label not in known]
    defined = [is_defined(metric, of) for metric in missing]
    relevant = {rel: of.relevant(rel) for rel in of.ranked}
    orders = []
    if any(defined):
        orders = [(order, [r for r, rel in order if relevant[rel]]) for order in of.orders()]
    for metric, has_value in zip(missing, defined, strict=True):
        if not has_value:
            values = {"average": None, "best": None, "worst": None}
        elif metric.name == "map" and metric.options.get("norm") == "hits":
            values = _hits_per_hit(metric, of, orders)
        else:
            below = divisor(metric, of)
            gains = {rel: metric.gain(rel, hit=hit) for rel, hit in relevant.items()} if "dcg" in metric.name else {}
            each = [total(metric, order, hits, of.n_relevant, gains) for order, hits in orders]
            # The bounds are those of what is divided, as an ideal may be below 0.
            summed = {"average": math.fsum(each) / len(each), "best": max(each), "worst": min(each)}
            values = {ties: ratio(value, below) for ties, value in summed.items()}
        known[metric.label] = values
    return {ties: [known[label][ties] for label in metrics] for ties in ("average", "best", "worst")}


KNOWN: dict[List, dict[str, dict[str, float | None]]] = defaultdict(dict)
"""What was computed: the same lists are tested under several policies and on several engines."""


def _hits_per_hit(metric: Metric, of: List, orders: Sequence[tuple[Order, list[int]]]) -> dict[str, float | None]:
    """Return ``map(norm="hits")``: documented as the ratio of the expected values of its two sums.

    Where no tied block straddles the cutoff, the hits are the same in every order, and this is the exact mean.
    """
    hits_at = Metric("hits", "hits", metric.k, {})

    def parts(order: Order) -> tuple[float, float]:
        hits = [r for r, rel in order if of.relevant(rel)]
        return total(metric, order, hits, 0, {}), total(hits_at, order, hits, 0, {})

    every = [parts(order) for order, _ in orders]
    return {
        "average": ratio(math.fsum(part for part, _ in every), math.fsum(whole for _, whole in every)),
        "best": ratio(*parts(of.sorted_by_relevance(best=True))),
        "worst": ratio(*parts(of.sorted_by_relevance(best=False))),
    }
