"""Rows as dicts: what is missing, which rows make a list, and how ties order them."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, permutations, product
from typing import Any

Row = Mapping[str, Any]
Key = tuple[Hashable, ...]


def is_missing(value: object) -> bool:
    return value is None or value != value  # noqa: PLR0124 - only NaN differs from itself


def plain(value: Any) -> Any:
    """Return a key with one way to be missing."""
    return None if is_missing(value) else value


def number(value: Any) -> float:
    """Return a relevance, missing as 0."""
    return 0.0 if is_missing(value) else float(value)


def mean(values: Iterable[float | None]) -> float | None:
    defined = [value for value in values if value is not None]
    return math.fsum(defined) / len(defined) if defined else None


def ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


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


def orders(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """Yield the ranked rows in each order that their ties leave open."""
    blocks = [block for _, block in tied_blocks(rows, "score", None)]
    for arranged in product(*(permutations(block) for block in blocks)):
        yield list(chain.from_iterable(arranged))


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
