"""The beyond-accuracy metrics: users and items counted one by one, pairs of items and of lists formed one by one."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from itertools import combinations
from typing import TYPE_CHECKING

from oracle.auc import PICK, hit
from oracle.case import ORACLES, of_list
from oracle.rows import is_missing, mean, orders, ratio

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from oracle.case import Case
    from oracle.metric import Metric


def recommended(metric: Metric, case: Case, ties: str = "average") -> list[Hashable]:
    """Return the top k of a list, tied items in the order of their names under every policy but one."""
    rows = [row for row in case.rows if not is_missing(row["score"])]
    rows = sorted(rows, key=lambda row: row["item"], reverse=ties == "item_desc")
    return [row["item"] for row in sorted(rows, key=lambda row: -row["score"])][: metric.k]


def users_of(case: Case) -> dict[Hashable, set[Hashable]]:
    """Return who had each item in the past."""
    result: dict[Hashable, set[Hashable]] = defaultdict(set)
    for row in case.train:
        result[row["item"]].add(row["user"])
    return result


def popularity(metric: Metric, case: Case) -> tuple[Counter[Hashable], int]:
    """Return how often each item was had, and the whole: by users, or by rows of the past."""
    if metric.options.get("unit") == "interactions":
        return Counter(row["item"] for row in case.train), len(case.train)
    return Counter({item: len(users) for item, users in users_of(case).items()}), n_users(case)


def n_users(case: Case) -> int:
    return len({row["user"] for row in case.train})


def cosine(a: Sequence[float], b: Sequence[float]) -> float:
    lengths = math.sqrt(sum(x * x for x in a)) * math.sqrt(sum(x * x for x in b))
    return sum(x * y for x, y in zip(a, b, strict=True)) / lengths if lengths else 0.0


def hamming(a: Sequence[float], b: Sequence[float]) -> float:
    return sum((x == 0) != (y == 0) for x, y in zip(a, b, strict=True)) / len(a)


# --- one list -----------------------------------------------------------------------------------------------


@of_list
def novelty(metric: Metric, case: Case, ties: str) -> float | None:
    items, (counts, whole) = recommended(metric, case, ties), popularity(metric, case)
    if not items:
        return None
    total = 0.0
    for item in items:
        if counts[item] or metric.options.get("unseen") != "zero":
            total -= math.log2(max(counts[item], 1) / whole)
    return total / (len(items) if metric.k is None or metric.options.get("denominator") == "list" else metric.k)


@of_list
def arp(metric: Metric, case: Case, ties: str) -> float | None:
    counts, whole = popularity(metric, case)
    whole = 1 if metric.options.get("unit") == "interactions" else whole
    return mean([counts[item] / whole for item in recommended(metric, case, ties)])


@of_list
def long_tail(metric: Metric, case: Case, ties: str) -> float | None:
    users = users_of(case)
    by_popularity = sorted(users, key=lambda item: (-len(users[item]), item))
    head = by_popularity[: math.floor(float(metric.options.get("head", "0.2")) * len(by_popularity))]
    return mean([float(item not in head) for item in recommended(metric, case, ties)])


@of_list
def user_coverage(metric: Metric, case: Case, ties: str) -> float:
    least = metric.k if metric.k and metric.options.get("filled") else 1
    return float(len(recommended(metric, case, ties)) >= least)


@of_list
def diversity(metric: Metric, case: Case, ties: str) -> float | None:
    items = dict.fromkeys(recommended(metric, case, ties))
    vectors = [case.features[item] for item in items if item in case.features]
    if metric.options.get("distance") == "hamming":
        return mean([hamming(a, b) for a, b in combinations(vectors, 2)])
    return mean([1 - cosine(a, b) for a, b in combinations(vectors, 2)])


@of_list
def category_entropy(metric: Metric, case: Case, ties: str) -> float | None:
    known = [case.features[item] for item in recommended(metric, case, ties) if sum(case.features.get(item, ())) > 0]
    if not known:
        return None
    smoothing = float(metric.options.get("smoothing", 0))
    totals = [sum(vector[g] / sum(vector) for vector in known) + smoothing for g in range(len(known[0]))]
    return -sum(total / sum(totals) * math.log2(total / sum(totals)) for total in totals if total)


@of_list
def calibration(metric: Metric, case: Case, ties: str) -> float | None:
    """Return the divergence of what a user is recommended from what the user had, by features."""
    alpha = float(metric.options.get("alpha", 0.01))
    past = {row["item"] for row in case.train if row["user"] == case.rows[0]["user"]}
    mixes = [mix_of(past, case), mix_of(recommended(metric, case, ties), case)]
    if None in mixes:
        return None
    return sum(p * math.log(p / ((1 - alpha) * q + alpha * p)) for p, q in zip(*mixes, strict=True) if p > 0)


def mix_of(items: Iterable[Hashable], case: Case) -> list[float] | None:
    """Return the mean share of each feature among items that have any."""
    known = [case.features[item] for item in items if sum(case.features.get(item, ())) > 0]
    if not known:
        return None
    return [sum(vector[g] / sum(vector) for vector in known) / len(known) for g in range(len(known[0]))]


@of_list
def serendipity(metric: Metric, case: Case, ties: str) -> float | None:
    """Return how unexpected the relevant items of the first places are, on average over these places."""
    hits = {row["item"] for row in case.rows if hit(row)}
    if not hits:
        return None
    users = users_of(case)
    by_popularity = sorted(users, key=lambda item: (-len(users[item]), item))
    expected = by_popularity[: int(metric.options.get("expected", metric.k or 0))]
    levels = sorted({len(who) for who in users.values()}, reverse=True)
    had = [item for item in users if case.rows[0]["user"] in users[item]]

    def unexpected(item: Hashable, place: int) -> float:
        match metric.options.get("unexpected"):
            case "ranks":
                level = levels.index(len(users[item])) + 1 if item in users else len(case.catalog) + 1
                return max(level - place, 0) / len(case.catalog)
            case "history":
                pairs = [(case.features.get(item), case.features.get(other)) for other in had]
                return 1 - (mean([cosine(a, b) if a and b else 0.0 for a, b in pairs]) or 0.0)
        return float(item not in expected)

    # Unlike the others here it reads the relevance, so its ties are those of accuracy: all orders.
    tops = [[row["item"] for row in order[: metric.k]] for order in orders(case.rows)]
    places = len(tops[0]) if metric.k is None or metric.options.get("denominator") == "list" else metric.k
    totals = (sum(unexpected(item, at) for at, item in enumerate(top, 1) if item in hits) for top in tops)
    return PICK[ties](ratio(total, places) for total in totals)


# --- all lists ----------------------------------------------------------------------------------------------


def over_lists(value: Callable[..., float | None]) -> Callable[..., float | None]:
    """Enter the function of a metric of all lists, from their recommended items and the options to the value."""

    def value_of_call(metric: Metric, case: Case, ties: str = "average") -> float | None:
        return value([recommended(metric, of, ties) for of in case.lists], case, **metric.options)

    ORACLES[value.__name__] = value_of_call
    return value


def exposures(lists: list[list[Hashable]], case: Case) -> Counter[Hashable]:
    """Return how often each item of the catalog is recommended."""
    return Counter(item for items in lists for item in items if item in case.catalog)


@over_lists
def coverage(lists: list[list[Hashable]], case: Case) -> float:
    return len(exposures(lists, case)) / len(case.catalog)


@over_lists
def personalization(lists: list[list[Hashable]], case: Case) -> float | None:
    sets = [set(items) for items in lists if items]
    return mean([1 - len(a & b) / math.sqrt(len(a) * len(b)) for a, b in combinations(sets, 2)])


@over_lists
def entropy(lists: list[list[Hashable]], case: Case) -> float | None:
    counts = exposures(lists, case)
    total = sum(counts.values())
    return -sum(x / total * math.log2(x / total) for x in counts.values()) if total else None


@over_lists
def gini(lists: list[list[Hashable]], case: Case, denominator: str = "n") -> float | None:
    counts = exposures(lists, case)
    x, n = sorted(counts[item] for item in case.catalog), len(case.catalog)
    below = (n if denominator == "n" else n - 1) * sum(x)
    return sum((2 * i - n - 1) * value for i, value in enumerate(x, 1)) / below if below else None
