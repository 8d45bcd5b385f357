"""Ranks rows within their lists by one sort of NumPy, of integers that hold the list, the score and the row's number.

From the highest bit on::

    ┌──────────────┬──────────────────────────────────┬───────────────────┐
    │     list     │ score: its distance to the best, │  the row's number │
    │              │ scaled to the bits that are left │                   │
    └──────────────┴──────────────────────────────────┴───────────────────┘

Scaling keeps the order of scores, but may give different scores the same bits: such rows are sorted again by score.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from recframe._engines.packing import BITS, FEWEST_BITS, MOST_BITS, scale

if TYPE_CHECKING:
    from collections.abc import Sequence


class Placed(NamedTuple):
    """Rows by list and position."""

    rows: Any
    """Their numbers."""
    start: Any
    """Where their tied blocks start in their lists, from 1."""
    size: Any
    """How many rows their tied blocks have."""


def placed(keys: Sequence[Any], scores: Any, upto: int | None) -> Placed | None:
    """Return the rows whose tied blocks start up to a position; None where the numbers do not fit.

    Parameters
    ----------
    keys : sequence of numpy.ndarray of integer
        The list of each row.
    scores : numpy.ndarray of number
        What ranks the rows, the highest first; none is missing.
    upto : int, optional
        The last position that matters.
    """
    found = _ordered(keys, scores, descending=True)
    if found is None:
        return None
    rows, ordered, first_of_list = found
    first_of_block = first_of_list.copy()
    first_of_block[1:] |= ordered[1:] != ordered[:-1]
    blocks = np.flatnonzero(first_of_block)
    sizes = np.diff(blocks, append=len(rows))
    starts = blocks - np.maximum.accumulate(np.where(first_of_list[blocks], blocks, 0)) + 1
    if upto is not None:
        early = starts <= upto
        rows, starts, sizes = rows[np.repeat(early, sizes)], starts[early], sizes[early]
    return Placed(rows, np.repeat(starts, sizes), np.repeat(sizes, sizes))


def numbered(keys: Sequence[Any], values: Any, *, descending: bool) -> tuple[Any, Any] | None:
    """Return the rows by list and value, and their positions, those of equal value in any order; None as `placed`."""
    found = _ordered(keys, values, descending=descending)
    if found is None:
        return None
    rows, _, first_of_list = found
    lists = np.flatnonzero(first_of_list)
    return rows, np.arange(len(rows)) - np.repeat(lists, np.diff(lists, append=len(rows))) + 1


def _ordered(keys: Sequence[Any], values: Any, *, descending: bool) -> tuple[Any, Any, Any] | None:
    """Return the rows by list and value, their values, and which of them are the first of their list."""
    found = _lists(keys)
    if found is None or values.dtype.kind not in "iuf" or np.isnan(values).any():
        return None
    lists, many = found
    row_bits = (len(values) - 1).bit_length()
    bits = min(MOST_BITS, BITS - (many - 1).bit_length() - row_bits)
    distance = _scaled(values, bits, descending=descending)
    if distance is None:
        return None
    # In place: each copy of a long column takes time.
    lists <<= bits
    lists |= distance
    lists <<= row_bits
    lists |= np.arange(len(values))
    lists.sort()
    rows, packed = lists & (2**row_bits - 1), lists >> row_bits
    ordered = values[rows]
    _sort_mixed(rows, ordered, packed, descending=descending)
    return rows, ordered, _heads(packed >> bits)


def _heads(values: Any) -> Any:
    """Return which values differ from the previous one."""
    found = np.ones(len(values), dtype=bool)
    np.not_equal(values[1:], values[:-1], out=found[1:])
    return found


def _sort_mixed(rows: Any, ordered: Any, packed: Any, *, descending: bool) -> None:
    """Sort the rows that have the same bits, but different values, by their values, in place."""
    heads = _heads(packed)
    mixed = ~heads[1:] & (ordered[1:] != ordered[:-1])
    if not mixed.any():
        return
    run = np.cumsum(heads)
    where = np.flatnonzero(np.isin(run, np.unique(run[1:][mixed])))
    by_value = np.argsort(ordered[where], kind="stable")
    by_value = by_value[::-1] if descending else by_value
    moved = where[by_value[np.argsort(run[where][by_value], kind="stable")]]
    rows[where], ordered[where] = rows[moved], ordered[moved]


def _lists(keys: Sequence[Any]) -> tuple[Any, int] | None:
    """Return the lists as whole numbers from 0, and how many there may be; None where they do not fit."""
    lists, many = None, 1
    for key in keys:
        if key.dtype.kind != "i" or not len(key):
            return None
        least, most = int(key.min()), int(key.max())
        many *= most - least + 1
        if many > 2**BITS:
            return None
        digit = np.subtract(key, least, dtype="int64")
        lists = digit if lists is None else lists * (most - least + 1) + digit
    return None if lists is None else (lists, many)


def _scaled(values: Any, bits: int, *, descending: bool) -> Any:
    """Return the distance of each value from the best one, in whole numbers of some bits; None where that fails."""
    values = np.asarray(values, dtype="float64")
    most, least = float(values.max()), float(values.min())
    factor = None if bits < FEWEST_BITS else scale(most, least, bits)
    if factor is None:
        return None
    distance = most - values if descending else values - least
    distance *= factor
    return distance.astype("int64")
