"""A fast check of a few rows: whether scores order anything, and which lists repeat an item.

It computes column by column, because a plan would cost more.
"""

from __future__ import annotations

import math
import sys
from functools import reduce
from operator import and_, xor
from typing import TYPE_CHECKING, Any

import polars as pl

from recframe._base.columns import ITEM
from recframe._engines.polars.compat import collect_columns
from recframe._engines.polars.pack import digits_of, sort_integers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._engines.codes import Codes

NUMPY_INTEGERS = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64)
"""The integers of polars that NumPy has too: none of 128 bits."""
MOST_NUMBERED = 2**62
"""How many pairs of list and item a signed integer can number."""


def lists_with_repeats(rows: pl.DataFrame, keys: Sequence[str], scores: Sequence[str], items: Any | None) -> int | None:
    """Return in how many lists an item is repeated, or None if the check cannot tell; see `Engine`."""
    in_list, numbers = ([rows.get_column(name) for name in names] for names in (keys, scores))
    # Items of pandas are arrays. The name is new, because many methods of a series read it as a pattern.
    items = None if items is None else pl.Series(ITEM, items)
    lists = _codes(in_list)
    values = [] if lists is None else [_array(column) for column in numbers]
    if lists is not None and all(array is not None for array in values):
        if not all(map(lists.has_unequal_neighbours, values)):
            return None
        codes = None if items is None else _codes([items])
        pairs = None if codes is None else lists.paired(codes)
        if items is None or (pairs is not None and pairs.are_distinct()):
            return 0
    columns = [*in_list, *numbers, *([] if items is None else [items])]
    if any(column.dtype.is_nested() or column.dtype == pl.Object for column in columns):
        return None
    if not all(_orders_a_list(column, in_list) for column in numbers):
        return None
    return 0 if items is None else _lists_with_repeats(items, in_list)


def _codes(columns: Sequence[pl.Series]) -> Codes | None:
    """Return codes of columns of integers without missing values, if NumPy is loaded already; None otherwise."""
    # To import NumPy would take longer than to check the columns without it.
    arrays = [*map(_array, columns)] if sys.modules.get("numpy") else []
    if not arrays or any(array is None for array in arrays):
        return None
    from recframe._engines.codes import Codes

    codes = map(Codes.of_integers, arrays)
    return reduce(lambda first, second: first and second and first.paired(second), codes)


def _array(column: pl.Series) -> Any | None:
    """Return numbers as an array of NumPy, missing floats as NaN; None for other types and for missing integers."""
    dtype = column.dtype
    is_array = dtype.is_float() or (dtype in NUMPY_INTEGERS and not column.null_count())
    return column.to_numpy() if is_array else None


def _lists_with_repeats(items: pl.Series, keys: Sequence[pl.Series]) -> int:
    """Return in how many lists an item is repeated."""
    # Equal pairs of list and item have equal numbers, so different numbers rule out repeats.
    frame = pl.DataFrame([*keys, items])
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
    # Half of the bits take half of the time to sort. Wrapping skips a check of all numbers, which fit.
    numbers = numbers.cast(pl.UInt32, wrap_numerical=True) if most <= 2**32 else numbers
    ordered = sort_integers(numbers)
    return not (ordered.slice(1) == ordered.slice(0, max(len(ordered) - 1, 0))).any()


def _orders_a_list(numbers: pl.Series, keys: Sequence[pl.Series]) -> bool:
    """Return whether two neighbouring rows of the same list have different numbers."""
    if numbers.dtype.is_float() and math.isnan(numbers.sum() or 0.0):
        numbers = numbers.fill_nan(None)
    last = max(len(numbers) - 1, 0)
    same_list = [key.slice(1) == key.head(last) for key in keys]
    return bool(reduce(and_, [*same_list, numbers.slice(1) != numbers.head(last)]).any())
