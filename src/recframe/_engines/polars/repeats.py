"""A fast check of a data frame: whether scores order anything, and which lists repeat an item.

It computes column by column, because a plan would cost more.
"""

from __future__ import annotations

import math
import sys
from functools import reduce
from operator import and_, xor
from typing import TYPE_CHECKING

import polars as pl

from recframe._engines.polars.compat import collect_columns, series
from recframe._engines.polars.pack import digits_of, sort_integers

if TYPE_CHECKING:
    from collections.abc import Sequence


FIRST_COMPARED = 2**12
"""How many rows to read before all rows are read."""
PAIRS_PER_ROW = 32
"""The largest number of possible pairs of list and item per row, so that a table of all pairs stays small."""
MOST_NUMBERED = 2**62
"""How many pairs of list and item a signed integer can number."""


def lists_with_repeats(frame: pl.DataFrame, keys: Sequence[str], scores: Sequence[str], item: str | None) -> int | None:
    """Return in how many lists an item is repeated, or None if the check cannot tell; see `Adapter`."""
    # Columns are renamed, because many methods of a series read its name as a pattern.
    named = (*keys, *scores, *([] if item is None else [item]))
    columns = {name: series(frame, name).alias(f"{number}") for number, name in enumerate(named)}
    if any(column.dtype.is_nested() or column.dtype == pl.Object for column in columns.values()):
        return None
    lists = [columns[key] for key in keys]
    if not all(_orders_a_list(columns[name], lists) for name in scores):
        return None
    return 0 if item is None else _lists_with_repeats(columns[item], lists)


def _lists_with_repeats(items: pl.Series, keys: Sequence[pl.Series]) -> int:
    """Return in how many lists an item is repeated."""
    # Equal pairs of list and item have equal numbers, so different numbers rule out repeats.
    frame = pl.DataFrame(list({column.name: column for column in (*keys, items)}.values()))
    pairs, most = _numbers(frame)
    if _are_distinct(pairs, most):
        return 0
    repeated = [column.filter(pairs.is_duplicated()) for column in keys]
    return pl.DataFrame([column.alias(f"{i}") for i, column in enumerate(repeated)]).n_unique() if keys else 1


def _numbers(frame: pl.DataFrame) -> tuple[pl.Series, float]:
    """Return a whole number for each row, and a number that is larger than all of them.

    Of few integers, only equal rows have the same number. Otherwise it is a hash.
    """
    digits, _ = digits_of(frame, frame.columns, [], {})
    if digits is None or digits.many > MOST_NUMBERED:
        hashes = (pl.col(name).hash(seed) for seed, name in enumerate(frame.columns))
        return collect_columns(frame.lazy().select(reduce(xor, hashes))).to_series(), math.inf
    return digits.number(frame.get_column), digits.many


def _are_distinct(numbers: pl.Series, most: float) -> bool:
    """Return whether all whole numbers are different; they are below `most`."""
    numpy = sys.modules.get("numpy")  # to import it would take longer than to sort
    if numpy is not None and most <= PAIRS_PER_ROW * len(numbers):
        is_used = numpy.zeros(int(most), dtype=bool)
        is_used[numbers.to_numpy()] = True
        return bool(numpy.count_nonzero(is_used) == len(numbers))
    # Half of the bits take half of the time to sort. Wrapping skips a check of all numbers, which fit.
    numbers = numbers.cast(pl.UInt32, wrap_numerical=True) if most <= 2**32 else numbers
    ordered = sort_integers(numbers)
    return not (ordered.slice(1) == ordered.slice(0, max(len(ordered) - 1, 0))).any()


def _orders_a_list(numbers: pl.Series, keys: Sequence[pl.Series]) -> bool:
    """Return whether two neighbouring rows of the same list have different numbers."""
    # The first rows usually show it.
    return any(
        _differs(numbers.head(rows), [key.head(rows) for key in keys]) for rows in (FIRST_COMPARED, len(numbers))
    )


def _differs(numbers: pl.Series, keys: Sequence[pl.Series]) -> bool:
    """Return whether two neighbouring rows have the same keys and different numbers."""
    if numbers.dtype.is_float() and math.isnan(numbers.sum() or 0.0):
        numbers = numbers.fill_nan(None)
    last = max(len(numbers) - 1, 0)
    same_list = [key.slice(1) == key.head(last) for key in keys]
    return bool(reduce(and_, [*same_list, numbers.slice(1) != numbers.head(last)]).any())
