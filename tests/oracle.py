"""Every metric computed the slow and obvious way, to compare with.

Nothing here is shared with ``src``: rows are dicts, a list is ranked by sorting it, and tied items are put into
every possible order. Keep tied blocks at five items or fewer.

The definitions follow the contract of ``.rec``; where that is open, the choice is named in a comment.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain, permutations, product
from typing import Any

Row = Mapping[str, Any]
Key = tuple[Hashable, ...]
Order = list[tuple[int, float]]
"""One strict order: the position and the relevance of every ranked row."""


def is_missing(value: object) -> bool:
    return value is None or value != value  # noqa: PLR0124 - only NaN differs from itself


def plain(value: Any) -> Any:
    """Return a key with one way to be missing."""
    return None if is_missing(value) else value


def number(value: Any) -> float:
    """Return a relevance, missing as 0."""
    return 0.0 if is_missing(value) else float(value)


# --- metrics by name --------------------------------------------------------------------------------------

DISCOUNTS: dict[str, Callable[[int], float]] = {
    "log2": lambda r: 1 / math.log2(r + 1),
    "jarvelin": lambda r: 1 / max(1.0, math.log2(r)),
    "reciprocal": lambda r: 1 / r,
    # What tests hand over as functions, known by their names.
    "inverse_square": lambda r: 1 / r**2,
}
GAINS: dict[str, Callable[[float], float]] = {"linear": lambda rel: rel, "exp2": lambda rel: 2.0**rel - 1}


@dataclass(frozen=True)
class Metric:
    """What a metric string says."""

    label: str
    name: str
    k: int | None
    options: Mapping[str, str] = field(hash=False)

    @property
    def last(self) -> float:
        return math.inf if self.k is None else self.k

    def gain(self, relevance: float, *, hit: bool) -> float:
        kind = self.options.get("gain", "linear")
        return float(hit) if kind == "binary" else GAINS[kind](relevance)

    @property
    def discount(self) -> str:
        return self.options.get("discount", "log2")


@cache
def parse(label: str) -> Metric:
    name, options, k = re.fullmatch(r"(\w+)(?:\((.*)\))?(?:@(\d+))?", label).groups()
    pairs = dict(pair.split("=") for pair in options.split(",")) if options else {}
    return Metric(label, name, None if k is None else int(k), pairs)


@cache
def discount(name: str, position: int) -> float:
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

    @property
    def n_relevant(self) -> int:
        return sum(map(self.relevant, self.everything))

    @property
    def ranked(self) -> list[float]:
        return list(chain.from_iterable(block for _, block in self.blocks))

    @property
    def positions(self) -> list[int]:
        return [start + i for start, block in self.blocks for i in range(len(block))]

    def orders(self) -> Iterator[Order]:
        """Yield all orders of the tied items; each distinct one stands for equally many."""
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
    rows = of.everything if which == "all" else of.ranked
    binary = metric.options.get("gain") == "binary"
    gains = [metric.gain(rel, hit=of.relevant(rel)) for rel in rows if rel > 0 or binary]
    best = sorted((gain for gain in gains if gain > 0), reverse=True)
    return math.fsum(gain * discount(metric.discount, r) for r, gain in enumerate(best, 1) if r <= metric.last)


def is_defined(metric: Metric, of: List) -> bool:
    return of.n_relevant > 0 and (metric.name != "ndcg" or ideal(metric, of) > 0)


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
        case "map", {"norm": "relevant"}:
            return n_relevant
        case "map", {"norm": "hits"}:
            return 1.0
        case "map", _:
            return min(n_relevant, metric.last)
        case "ndcg", _:
            return ideal(metric, of)
        case "rbp", options:
            return 1 / (1 - float(options.get("p", "0.8")))
        case _:
            return 1.0


def total(metric: Metric, order: Order, hits: Sequence[int], n_relevant: int) -> float:
    """Return what a metric sums up in one strict order."""
    if metric.options.get("over") == "ranked":
        n_relevant = len(hits)
    last = n_relevant if metric.name == "r_precision" else metric.last
    in_hits = set(hits)
    match metric.name:
        case "precision" | "recall" | "f1" | "r_precision" | "hits":
            return sum(r <= last for r in hits)
        case "hit_rate":
            return float(any(r <= last for r in hits))
        case "mrr":
            return next((1 / r for r in hits if r <= last), 0.0)
        case "map":
            return sum(count / r for count, r in enumerate(hits, 1) if r <= last)
        case "rbp":
            p = float(metric.options.get("p", "0.8"))
            graded = metric.options.get("gain") == "linear"
            return sum(
                (max(rel, 0.0) if graded else 1.0) * p ** (r - 1) for r, rel in order if r in in_hits and r <= last
            )
        case "dcg" | "ndcg":
            name = metric.discount
            return sum(metric.gain(rel, hit=r in in_hits) * discount(name, r) for r, rel in order if r <= last)
    raise NotImplementedError(metric.name)


# --- one list over all orders -----------------------------------------------------------------------------


def ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


@cache
def over_orders(of: List, metrics: tuple[str, ...]) -> dict[str, list[float | None]]:
    """Return the mean, the greatest and the least value of each metric over all orders of the tied items."""
    n_relevant = of.n_relevant
    asked = [parse(label) for label in metrics]
    defined = [is_defined(metric, of) for metric in asked]
    orders = []
    if n_relevant:
        orders = [(order, [r for r, rel in order if of.relevant(rel)]) for order in of.orders()]
    found: dict[str, list[float | None]] = {"average": [], "best": [], "worst": []}
    for metric, has_value in zip(asked, defined, strict=True):
        if not has_value:
            values = {"average": None, "best": None, "worst": None}
        elif metric.name == "map" and metric.options.get("norm") == "hits":
            values = _hits_per_hit(metric, of, orders)
        else:
            below = divisor(metric, of)
            each = [ratio(total(metric, order, hits, n_relevant), below) for order, hits in orders]
            values = {"average": math.fsum(each) / len(each), "best": max(each), "worst": min(each)}
        for ties, value in values.items():
            found[ties].append(value)
    return found


def _hits_per_hit(metric: Metric, of: List, orders: Sequence[tuple[Order, list[int]]]) -> dict[str, float | None]:
    """Return ``map(norm="hits")``: documented as the ratio of the expected values of its two sums.

    Where no tied block straddles the cutoff, the hits are the same in every order, and this is the exact mean.
    """
    hits_at = Metric("hits", "hits", metric.k, {})

    def parts(order: Order) -> tuple[float, float]:
        hits = [r for r, rel in order if of.relevant(rel)]
        return total(metric, order, hits, 0), total(hits_at, order, hits, 0)

    every = [parts(order) for order, _ in orders]
    return {
        "average": ratio(math.fsum(part for part, _ in every), math.fsum(whole for _, whole in every)),
        "best": ratio(*parts(of.sorted_by_relevance(best=True))),
        "worst": ratio(*parts(of.sorted_by_relevance(best=False))),
    }


# --- from rows to lists -----------------------------------------------------------------------------------


def tied_blocks(rows: Sequence[Row], score: str, rank: str | None) -> list[tuple[int, list[Row]]]:
    """Return the ranked rows as tied blocks, each with the position where it starts."""
    column = score if rank is None else rank
    ranked = [row for row in rows if not is_missing(row[column])]
    by_value: dict[Any, list[Row]] = defaultdict(list)
    for row in ranked:
        by_value[row[column]].append(row)
    if rank is not None:  # a rank is the position itself
        return [(int(value), by_value[value]) for value in sorted(by_value)]
    blocks, start = [], 1
    for value in sorted(by_value, reverse=True):
        blocks.append((start, by_value[value]))
        start += len(by_value[value])
    return blocks


def break_ties(start: int, block: Sequence[Row], ties: str, item: str) -> Iterator[tuple[int, list[Row]]]:
    """Yield what stays tied under a policy: the block, each of its items, or each of its rows."""
    if ties == "first":
        yield from ((start + i, [row]) for i, row in enumerate(block))
    elif ties in ("item", "item_desc"):
        # A missing item comes last under both, and rows of the same item stay tied.
        known = sorted({row[item] for row in block if not is_missing(row[item])}, reverse=ties == "item_desc")
        for value in [*known, None]:
            same = [row for row in block if plain(row[item]) == value]
            if same:
                yield start, same
                start += len(same)
    else:
        yield start, list(block)


def names(given: str | Sequence[str] | None) -> tuple[str, ...]:
    return () if given is None else (given,) if isinstance(given, str) else tuple(given)


def grouped(rows: Iterable[Row], columns: Sequence[str]) -> dict[Key, list[Row]]:
    groups: dict[Key, list[Row]] = defaultdict(list)
    for row in rows:
        groups[tuple(plain(row[column]) for column in columns)].append(row)
    return dict(groups)


def evaluate(
    rows: Sequence[Row],
    metrics: Sequence[str],
    *,
    by: str | Sequence[str] | None = "user",
    item: str = "item",
    relevant: str = "relevant",
    score: str = "score",
    rank: str | None = None,
    truth: Sequence[Row] | None = None,
    per: str | Sequence[str] | None = None,
    ties: str = "average",
    min_relevance: float | None = None,
    undefined: str | float = "skip",
    model: str | None = None,
) -> dict[Key, dict[str, float | None]]:
    """Return the metrics by the values of (model, *per); a mean over no list is None."""
    by, per = names(by), names(per)
    keys = by if truth is not None else (*by, *(name for name in per if name not in by))
    metrics = tuple(metrics)
    policy = "best" if ties == "best" else "worst" if ties == "worst" else "average"

    models = sorted({plain(row[model]) for row in rows}, key=str) if model is not None else [None]
    lists = list(grouped([*rows, *(truth or ())], keys))
    goods = {key: _relevance_of(group, item, relevant) for key, group in grouped(truth or (), keys).items()}
    known: dict[Key, bool] = {}
    listed: dict[tuple[Hashable, Key], List] = {}
    for name in models:
        own = grouped((row for row in rows if model is None or plain(row[model]) == name), keys)
        for key in lists:
            found = _list_of(
                own.get(key, []),
                goods.get(key, {}) if truth is not None else None,
                item,
                relevant,
                score,
                rank,
                ties,
                min_relevance,
            )
            listed[name, key] = found
            known[key] = known.get(key, False) or found.n_relevant > 0

    where = _attributes(rows, truth, by, per, lists, keys)
    results: dict[Key, list[list[float | None]]] = defaultdict(list)
    for (name, key), of in listed.items():
        if known[key] and not of.n_relevant:
            # Every model is judged on the same lists: others show that this list has something to find.
            values: list[float | None] = [0.0] * len(metrics)
        else:
            values = over_orders(of, metrics)[policy]
        filled = [undefined if value is None and undefined != "skip" else value for value in values]
        results[(name, *where[key]) if model is not None else where[key]].append(filled)
    return {
        group: {label: mean(column) for label, column in zip(metrics, zip(*values, strict=True), strict=True)}
        for group, values in results.items()
    }


def mean(values: Iterable[float | None]) -> float | None:
    defined = [value for value in values if value is not None]
    return math.fsum(defined) / len(defined) if defined else None


def _relevance_of(rows: Sequence[Row], item: str, relevant: str) -> dict[Hashable, float]:
    """Return the relevance of each item of a list of the truth: the largest one that it gives."""
    found: dict[Hashable, float] = {}
    for row in rows:
        value = number(row[relevant]) if relevant in row else 1.0
        found[plain(row[item])] = max(found.get(plain(row[item]), -math.inf), value)
    return found


def _list_of(
    rows: Sequence[Row],
    goods: Mapping[Hashable, float] | None,
    item: str,
    relevant: str,
    score: str,
    rank: str | None,
    ties: str,
    least: float | None,
) -> List:
    blocks: list[tuple[int, tuple[float, ...]]] = []
    seen: set[Hashable] = set()
    for start, block in tied_blocks(rows, score, rank):
        labelled = []
        for row in block:
            if goods is None:
                labelled.append({**row, "gain of row": number(row[relevant])})
                continue
            # A repeated recommendation is relevant once, where it stands first.
            name = plain(row[item])
            labelled.append({**row, "gain of row": 0.0 if name in seen else goods.get(name, 0.0)})
            seen.add(name)
        for begin, tied in break_ties(start, labelled, ties, item):
            blocks.append((begin, tuple(sorted(row["gain of row"] for row in tied))))
    everything = goods.values() if goods is not None else (number(row[relevant]) for row in rows)
    return List(tuple(blocks), tuple(sorted(everything)), least)


def _attributes(
    rows: Sequence[Row],
    truth: Sequence[Row] | None,
    by: Sequence[str],
    per: Sequence[str],
    lists: Sequence[Key],
    keys: Sequence[str],
) -> dict[Key, Key]:
    """Return the values of `per` for each list: from its key, else from the truth if that has the column."""
    columns: list[dict[Key, Hashable]] = []
    for name in per:
        if name in keys:
            columns.append({key: key[keys.index(name)] for key in lists})
            continue
        source = truth if truth and name in truth[0] else rows
        known = {key: {plain(row[name]) for row in group} - {None} for key, group in grouped(source, by).items()}
        columns.append({key: next(iter(known.get(key, ())), None) for key in lists})
    return {key: tuple(column[key] for column in columns) for key in lists}
