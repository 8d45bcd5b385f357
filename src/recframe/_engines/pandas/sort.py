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

from recframe._engines.packing import BITS, FEWEST_BITS, MOST_BITS, bits_of_sample, scale, score_to_sort_from

if TYPE_CHECKING:
    from collections.abc import Sequence


class RankedRows(NamedTuple):
    """Rows, sorted by list and position."""

    rows: Any
    """Their numbers."""
    start: Any
    """Where their tied blocks start in their lists, from 1."""
    size: Any
    """How many rows their tied blocks have."""


def rank_rows(keys: Sequence[Any], scores: Any, upto: int | None) -> RankedRows | None:
    """Return the rows whose tied blocks start up to a position; None if list, score and row do not fit into 64 bits.

    Parameters
    ----------
    keys : sequence of numpy.ndarray of integer
        The list of each row.
    scores : numpy.ndarray of number
        The scores to rank by, the highest first, without missing ones.
    upto : int, optional
        The last position that matters.
    """
    numbers = _lists(keys)
    if numbers is None or not _fits(scores):
        return None
    lists, count = numbers
    least = None if upto is None else _score_to_sort_from(lists, count, scores, upto)
    if upto is None or least is None:
        return _rank_all_rows(lists, count, scores, upto)
    high = np.flatnonzero(scores >= least)
    lacks = np.bincount(lists[high], minlength=count) < upto
    others = np.flatnonzero(lacks[lists])
    high = high[~lacks[lists[high]]]
    parts = []
    for rows in (high, others):
        if len(rows):
            part = _rank_all_rows(lists[rows], count, scores[rows], upto)
            if part is None:
                return None
            parts.append(part._replace(rows=rows[part.rows]))
    return RankedRows(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def _score_to_sort_from(lists: Any, count: int, scores: Any, upto: int) -> float | None:
    """Return a score at or above which most lists have enough rows; None if it is faster to sort all rows."""
    bits = bits_of_sample(len(lists), count, upto)
    if bits is None:
        return None
    last_bits = lists & (2**bits - 1)
    # The last bits come from the list of one row, so the sample is never empty.
    some = np.flatnonzero(last_bits == last_bits[len(lists) // 2])
    return score_to_sort_from(lists[some].tolist(), scores[some].tolist(), upto)


def _rank_all_rows(
    lists: Any, count: int, scores: Any, upto: int | None, *, descending: bool = True
) -> RankedRows | None:
    """Return what `rank_rows` returns, by sorting all rows. It overwrites `lists`."""
    ordered = _ordered(lists, count, scores, descending=descending)
    if ordered is None:
        return None
    rows, first_of_list, first_of_block = ordered
    blocks = np.flatnonzero(first_of_block)
    sizes = np.diff(blocks, append=len(rows))
    starts = blocks - np.maximum.accumulate(np.where(first_of_list[blocks], blocks, 0)) + 1
    if upto is not None:
        early = starts <= upto
        rows = rows[np.repeat(early, sizes)]
        starts = starts[early]
        sizes = sizes[early]
    return RankedRows(rows, np.repeat(starts, sizes), np.repeat(sizes, sizes))


def numbered(keys: Sequence[Any], values: Any, *, descending: bool, tied: bool = False) -> RankedRows | None:
    """Return the rows by list and value with their positions, or None as `rank_rows` does.

    Equal values are in any order, or with `tied` they form one block.
    """
    numbers = _lists(keys)
    if numbers is None or not _fits(values):
        return None
    if tied:
        return _rank_all_rows(*numbers, values, None, descending=descending)
    ordered = _ordered(*numbers, values, descending=descending)
    if ordered is None:
        return None
    rows, first_of_list, _ = ordered
    index = np.arange(len(rows))
    return RankedRows(rows, index - np.maximum.accumulate(np.where(first_of_list, index, 0)) + 1, np.ones_like(index))


def _fits(values: Any) -> bool:
    """Return whether values can be scaled to integers."""
    return values.dtype.kind in "iuf" and not np.isnan(values).any()


def _ordered(lists: Any, count: int, values: Any, *, descending: bool) -> tuple[Any, Any, Any] | None:
    """Return the rows by list and value, and flags for the first row of each list and of each run of equal values.

    It overwrites `lists`.
    """
    row_bits = (len(values) - 1).bit_length()
    bits = min(MOST_BITS, BITS - (count - 1).bit_length() - row_bits)
    distance = _scaled(values, bits, descending=descending)
    if distance is None:
        return None
    # In place: each copy of a long column takes time.
    lists <<= bits
    lists |= distance
    lists <<= row_bits
    lists |= np.arange(len(values))
    lists.sort()
    rows = lists & (2**row_bits - 1)
    packed = lists >> row_bits
    first_of_value = _heads(packed)
    _sort_equal_bits(rows, values, first_of_value, descending=descending)
    return rows, _heads(packed >> bits), first_of_value


def _heads(values: Any) -> Any:
    """Return which values differ from the previous one."""
    heads = np.ones(len(values), dtype=bool)
    np.not_equal(values[1:], values[:-1], out=heads[1:])
    return heads


def _sort_equal_bits(rows: Any, values: Any, heads: Any, *, descending: bool) -> None:
    """Sort rows whose scaled scores are equal by their exact scores, and flag where another score begins, in place."""
    in_run = ~heads
    in_run[:-1] |= ~heads[1:]
    members = np.flatnonzero(in_run)
    # Look up only the values of these rows, because lookups are slow.
    values_of_runs = values[rows[members]]
    is_head = heads[members]
    differs = _heads(values_of_runs) & ~is_head
    if differs.any():
        run = np.cumsum(is_head) - 1
        mixed = np.zeros(run[-1] + 1, dtype=bool)
        mixed[run[differs]] = True
        where = np.flatnonzero(mixed[run])
        by_value = np.argsort(values_of_runs[where], kind="stable")
        by_value = by_value[::-1] if descending else by_value
        moved = where[by_value[np.argsort(run[where][by_value], kind="stable")]]
        rows[members[where]] = rows[members[moved]]
        values_of_runs[where] = values_of_runs[moved]
        differs = _heads(values_of_runs) & ~is_head
    heads[members] |= differs


def _lists(keys: Sequence[Any]) -> tuple[Any, int] | None:
    """Return the lists as whole numbers from 0, and the largest possible number of lists; None if they do not fit."""
    lists = None
    count = 1
    for key in keys:
        if key.dtype.kind != "i" or not len(key):
            return None
        least, most = int(key.min()), int(key.max())
        count *= most - least + 1
        if count > 2**BITS:
            return None
        digit = np.subtract(key, least, dtype="int64")
        lists = digit if lists is None else lists * (most - least + 1) + digit
    return None if lists is None else (lists, count)


def _scaled(values: Any, bits: int, *, descending: bool) -> Any:
    """Return the distance of each value from the best value, scaled to integers; None if there are too few bits."""
    values = np.asarray(values, dtype="float64")
    most, least = float(values.max()), float(values.min())
    factor = None if bits < FEWEST_BITS else scale(most, least, bits)
    if factor is None:
        return None
    distance = most - values if descending else values - least
    distance *= factor
    return distance.astype("int64")
