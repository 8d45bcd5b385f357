"""A fast check of a data frame: whether scores order anything, and which lists repeat an item.

It computes column by column, because a plan would cost more.
"""

from __future__ import annotations

import math
from functools import reduce
from operator import and_, xor
from typing import TYPE_CHECKING

import polars as pl

from recframe._engines.polars.compat import collect_columns, series
from recframe._engines.polars.pack import digits_of, sort_integers

if TYPE_CHECKING:
    from collections.abc import Sequence


MOST_NUMBERED = 2**62
"""How many pairs of list and item a signed integer can number."""


def lists_with_repeats(frame: pl.DataFrame, keys: Sequence[str], scores: Sequence[str], item: str | None) -> int | None:
    """Return in how many lists an item is repeated, or None if the check cannot tell; see `Adapter`."""
    # Columns are renamed, because many methods of a series read its name as a pattern.
    named = (*keys, *scores, *([] if item is None else [item]))
    columns = {name: series(frame, name).alias(f"{number}") for number, name in enumerate(named)}
    if any(column.dtype.is_nested() or column.dtype == pl.Object for column in columns.values()):
        return None
    same_list = [_repeats(columns[key]) for key in keys]
    if not all(_differs(columns[name], same_list) for name in scores):
        return None
    return 0 if item is None else _lists_with_repeats(columns[item], [columns[key] for key in keys])


def _lists_with_repeats(items: pl.Series, keys: Sequence[pl.Series]) -> int:
    """Return in how many lists an item is repeated."""
    # Equal pairs of list and item have equal numbers, so different numbers rule out repeats.
    frame = pl.DataFrame(list({column.name: column for column in (*keys, items)}.values()))
    pairs = _numbers(frame)
    if not _repeats(sort_integers(pairs)).any():
        return 0
    repeated = [column.filter(pairs.is_duplicated()) for column in keys]
    return pl.DataFrame([column.alias(f"{i}") for i, column in enumerate(repeated)]).n_unique() if keys else 1


def _numbers(frame: pl.DataFrame) -> pl.Series:
    """Return a number for each row: unique for each distinct row if the columns hold few integers, otherwise a hash."""
    digits, _ = digits_of(frame, frame.columns, [], {})
    if digits is None or digits.many > MOST_NUMBERED:
        hashes = (pl.col(name).hash(seed) for seed, name in enumerate(frame.columns))
        return collect_columns(frame.lazy().select(reduce(xor, hashes))).to_series()
    pairs: pl.Series = digits.number(frame.get_column)
    # Half of the bits take half of the time to sort. Wrapping skips a check of all numbers, which fit.
    return pairs.cast(pl.UInt32, wrap_numerical=True) if digits.many <= 2**32 else pairs


def _repeats(column: pl.Series) -> pl.Series:
    """Return which rows have the same value as the row before them."""
    return column.slice(1) == column.slice(0, max(len(column) - 1, 0))


def _differs(numbers: pl.Series, same_list: Sequence[pl.Series]) -> bool:
    """Return whether two neighbouring rows of the same list have different numbers."""
    if numbers.dtype.is_float() and math.isnan(numbers.sum() or 0.0):
        numbers = numbers.fill_nan(None)
    differs = numbers.slice(1) != numbers.slice(0, max(len(numbers) - 1, 0))
    return bool(reduce(and_, [*same_list, differs]).any())
