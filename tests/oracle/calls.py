"""A whole call: from rows and roles to the values of the accuracy metrics."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING

from oracle.accuracy import List, over_orders
from oracle.rows import Key, Row, break_ties, grouped, mean, names, number, plain, tied_blocks

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from oracle.case import Case
    from oracle.metric import Metric


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
    metrics = tuple(metrics)
    policy = "best" if ties == "best" else "worst" if ties == "worst" else "average"

    models = sorted({plain(row[model]) for row in rows}, key=str) if model is not None else [None]
    lists = list(grouped([*rows, *(truth or ())], by))
    goods = {key: _relevance_of(group, item, relevant) for key, group in grouped(truth or (), by).items()}
    known: dict[Key, bool] = {}
    listed: dict[tuple[Hashable, Key], List] = {}
    for name in models:
        own = grouped((row for row in rows if model is None or plain(row[model]) == name), by)
        for key in lists:
            result = _list_of(
                own.get(key, []),
                goods.get(key, {}) if truth is not None else None,
                item,
                relevant,
                score,
                rank,
                ties,
                min_relevance,
            )
            listed[name, key] = result
            known[key] = known.get(key, False) or result.n_relevant > 0

    where = _attributes(rows, truth, by, per, lists)
    results: dict[Key, list[list[float | None]]] = defaultdict(list)
    for (name, key), of in listed.items():
        if known[key] and not of.n_relevant:
            # Every model is judged on the same lists: others show that this list has something to find.
            values: list[float | None] = [0.0] * len(metrics)
        else:
            values = over_orders(of, metrics)[policy]
        filled = [undefined if value is None and undefined != "skip" else value for value in values]
        results[(name, *where[key]) if model is not None else where[key]].append(filled)
    means = {
        group: {label: mean(column) for label, column in zip(metrics, zip(*values, strict=True), strict=True)}
        for group, values in results.items()
    }
    if not per or set(per) & set(by):
        return means
    # Lists that nobody describes are no segment where they have no value either.
    return {
        group: values
        for group, values in means.items()
        if any(each is not None for each in (*group[-len(per) :], *values.values()))
    }


def _relevance_of(rows: Sequence[Row], item: str, relevant: str) -> dict[Hashable, float]:
    """Return the relevance of each item of a list of the truth: the largest one that it gives."""
    result: dict[Hashable, float] = {}
    for row in rows:
        value = number(row[relevant]) if relevant in row else 1.0
        result[plain(row[item])] = max(result.get(plain(row[item]), -math.inf), value)
    return result


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
            # A repeated recommendation is relevant once, where it comes first.
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
) -> dict[Key, Key]:
    """Return the values of `per` for each list: from its key, else from the truth if that has the column."""
    columns: list[dict[Key, Hashable]] = []
    for name in per:
        if name in by:
            columns.append({key: key[by.index(name)] for key in lists})
            continue
        source = truth if truth and name in truth[0] else rows
        known = {key: {plain(row[name]) for row in group} - {None} for key, group in grouped(source, by).items()}
        columns.append({key: next(iter(known.get(key, ())), None) for key in lists})
    return {key: tuple(column[key] for column in columns) for key in lists}


def value_of_list(metric: Metric, case: Case, ties: str) -> float | None:
    """Return the value of one accuracy metric of one list of a case."""
    result = _list_of(case.rows, None, "item", "relevant", "score", None, ties, None)
    return over_orders(result, (metric.label,))[ties][0]
