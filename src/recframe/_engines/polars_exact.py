"""Sums of data frames that no order of the rows changes."""

from __future__ import annotations

import math
from functools import partial, reduce
from operator import add
from typing import TYPE_CHECKING, Any

import polars as pl

from recframe._engines.exact_sums import parts_of
from recframe._engines.polars_compat import FEW_ROWS, col, collect, series

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FEW_NUMBERS = 2**15
"""How many numbers Python adds sooner than polars."""


def exact_sums(
    frame: pl.DataFrame,
    group: Sequence[str],
    columns: Sequence[str],
    counted: Mapping[str, str],
    least: Sequence[str] = (),
) -> pl.DataFrame:
    """Return the sums of columns in each group, or over all rows, and by other names how many values a column has.

    Of a group, also the least values of other columns.
    """
    if group:
        return _exact_sums_by(frame, group, columns, counted, least)
    values = dict(zip(frame.columns, frame.get_columns(), strict=True))
    total = _sum if frame.height * len(columns) <= FEW_NUMBERS else _sum_of_parts
    sums = {name: total(values[name]) for name in columns}
    counts = {name: frame.height - values[column].null_count() for name, column in counted.items()}
    return pl.DataFrame([{**sums, **counts}])


def _exact_sums_by(
    frame: pl.DataFrame, group: Sequence[str], columns: Sequence[str], counted: Mapping[str, str], least: Sequence[str]
) -> pl.DataFrame:
    """Return the sums, counts and least values in each group."""
    held, totals, added = [*map(partial(series, frame), [*group, *least])], [], [col(name).min() for name in least]
    for number, name in enumerate(columns):
        sums = []
        for place, part in enumerate(_parts(series(frame, name))):
            held.append(part.alias(f"{number} {place}"))
            sums.append(pl.col(f"{number} {place}"))
        added += map(pl.Expr.sum, sums)
        totals.append(reduce(add, sums).alias(name))
    numbers = {name: number for number, name in enumerate(columns)}
    added += [pl.col(f"{numbers[column]} 0").count().alias(name) for name, column in counted.items()]
    summed = pl.DataFrame(held).lazy().group_by(list(group)).agg(added)
    return collect(summed.select([*map(col, group), *totals, *counted, *map(col, least)]), few=frame.height <= FEW_ROWS)


def _sum(values: pl.Series) -> Any:
    """Return the sum of a short column."""
    if not values.dtype.is_float():
        return values.sum()
    try:
        return math.fsum((values.drop_nulls() if values.null_count() else values).to_list())
    except (OverflowError, ValueError):
        return values.sum()


def _sum_of_parts(values: pl.Series) -> Any:
    """Return the sum of a column."""
    sums: list[Any] = [part.sum() for part in _parts(values)]
    return sums[0] + sums[1] if len(sums) > 1 else sums[0]


def _parts(values: pl.Series) -> list[pl.Series]:
    """Return the parts of a column of floats, or a column of whole numbers."""
    largest: Any = None
    if values.dtype.is_float() and values.null_count() < len(values):
        values = values.cast(pl.Float64)
        largest = max(values.max(), -values.min())  # type: ignore[type-var, operator]
    return parts_of(values, largest)
