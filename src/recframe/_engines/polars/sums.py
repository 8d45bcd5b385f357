"""Sums of data frames: exact sums, which do not depend on the order of rows, and fast sums and counts over groups.

They take a few steps over all rows. Polars' own functions take a step per group, or look up the key of each row.
"""

from __future__ import annotations

import math
import sys
from functools import partial, reduce
from operator import add
from typing import TYPE_CHECKING, Any

import polars as pl

from recframe._engines.exact_sums import exactly_summable_parts
from recframe._engines.packing import BITS
from recframe._engines.polars.compat import FEW_ROWS, col, collect, numpy_if_installed, series
from recframe._engines.polars.pack import digits_of, shared_digits, sort_integers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe._engines.polars.frame import Facts
    from recframe._engines.polars.pack import Digits

IN_GROUP = "in_group"
NUMBER = "number"
SPARSE = 8
"""The largest number of possible groups per row, so that a table of all groups stays small."""
INDEX_TYPES = pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32
"""The integers that NumPy reads as row numbers as they are."""
FEW_NUMBERS = 2**9
"""Up to this number of values, Python adds faster than NumPy and polars."""
FEW_FOR_NUMPY = 2**14
"""Up to this number of values, NumPy adds faster than polars."""


def rows_before(keys: Sequence[str]) -> pl.Expr:
    """Return how many rows of the same group come before each row. The frame must be sorted by the keys."""
    index = pl.int_range(pl.len())
    return index - pl.when(is_first(keys)).then(index).forward_fill()


def is_first(keys: Sequence[str]) -> pl.Expr:
    """Return whether a row is the first of its group. The rows of a group follow each other."""
    return pl.any_horizontal(pl.int_range(pl.len()) == 0, *map(changes, keys))


def changes(name: str) -> pl.Expr:
    """Return whether the value of a column differs from the row before."""
    return col(name).ne_missing(col(name).shift(1))


def sums_before(frame: pl.DataFrame, columns: Mapping[str, str], keys: Sequence[str], order: str) -> pl.DataFrame:
    """Add the sums of columns over the earlier rows of each row's group.

    Each row starts with the value of the row before it. Then it adds the sums of the rows 1, 2, 4, 8, … places before
    it. These are a few steps over all rows, while a window needs a step for each group.

    Parameters
    ----------
    frame : polars.DataFrame
        The rows, in any order.
    columns : dict of str to str
        The columns to sum by the names of their sums.
    keys : sequence of str
        The key of a group.
    order : str
        The column that orders the rows of a group.
    """
    rows = frame.sort([*keys, order]).with_columns(rows_before(keys).alias(IN_GROUP))
    before = {
        name: pl.when(pl.col(IN_GROUP) > 0).then(pl.col(column).shift(1)).otherwise(0.0)
        for name, column in columns.items()
    }
    last = rows.get_column(IN_GROUP).max() or 0
    rows = rows.with_columns(**before)
    step = 1
    while step < last:  # type: ignore[operator]
        sums = (pl.col(name) + pl.col(name).shift(step) for name in columns)
        rows = rows.with_columns(
            pl.when(pl.col(IN_GROUP) > step).then(total).otherwise(pl.col(name))
            for name, total in zip(columns, sums, strict=True)
        )
        step *= 2
    return rows.drop(IN_GROUP)


def joined(sums: Sequence[pl.LazyFrame], keys: Sequence[str], added: Mapping[str, Sequence[pl.Expr]]) -> pl.LazyFrame:
    """Return the totals of several frames of sums; `added` holds the columns of each total."""
    rows = sums[0]
    for other in sums[1:]:
        rows = rows.join(other, on=list(keys), how="full", coalesce=True, nulls_equal=True)
    return rows.select(*keys, *(pl.sum_horizontal(pl.lit(0.0), *terms).alias(name) for name, terms in added.items()))


def count_rows(frame: pl.DataFrame, keys: Sequence[str], name: str, values: Mapping[str, str]) -> pl.DataFrame | None:
    """Return the number of rows in each group, in the column `name` and again in the columns of `values`.

    The result is None if one of the values is missing, NumPy is not installed, or the keys are not dense integers.
    """
    numpy = numpy_if_installed()
    if numpy is None or any(frame.get_column(column).null_count() for column in values.values()):
        return None
    lists, _ = digits_of(frame, keys, [], {})
    if lists is None or not lists.readable or lists.many > SPARSE * frame.height:
        return None
    numbers = _numbers(frame, lists)
    counts = pl.Series(numpy.bincount(numbers.to_numpy(), minlength=lists.many)).alias(name)
    counted = counts.to_frame().with_row_index(NUMBER).filter(pl.col(name) > 0)
    key = lists.read(pl.col(NUMBER).cast(pl.Int64))
    others = (pl.col(name).alias(other) for other in values)
    return counted.select(*key.values(), name, *others).select(*keys, name, *values)


def count_shared(
    frames: Sequence[pl.DataFrame], keys: Sequence[str], facts: Sequence[Facts]
) -> tuple[int, int, int] | None:
    """Return how many keys the first of two frames has, how many both share, and how many the second has.

    The result is None if NumPy is not installed, or the keys are not dense integers.
    """
    numpy = numpy_if_installed()
    if numpy is None:
        return None
    lists = shared_digits(frames, keys, facts)
    if lists is None or not lists.readable or lists.many > SPARSE * sum(frame.height for frame in frames):
        return None
    tables = []
    for frame in frames:
        table = numpy.zeros(lists.many, dtype=bool)
        table[_numbers(frame, lists).to_numpy()] = True
        tables.append(table)
    counts = [int(numpy.count_nonzero(table)) for table in (tables[0], tables[0] & tables[1], tables[1])]
    return counts[0], counts[1], counts[2]


def _numbers(frame: pl.DataFrame, lists: Digits) -> pl.Series:
    """Return the number of each row's key."""
    first, *others = lists.columns
    if not others and not first.lacks and not first.least and first.dtype in INDEX_TYPES:
        return frame.get_column(first.name)
    if frame.height <= FEW_ROWS:
        numbers: pl.Series = lists.number(frame.get_column)
        return numbers
    return collect(frame.lazy().select(lists.number().alias(NUMBER))).to_series()


def distinct(frame: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame | None:
    """Return the distinct keys of many rows, in any order, by their numbers; None if the keys have none."""
    key = frame.get_column(keys[0]) if len(keys) == 1 else None
    if key is not None and key.dtype.is_integer() and key.is_sorted():
        # One pass without numbers, if polars knows that equal values follow each other.
        return key.set_sorted().unique().to_frame()
    lists, _ = digits_of(frame, keys, [], {})
    if lists is None or not lists.readable or lists.many > 2**BITS:
        return None
    numbers = _numbers(frame, lists).alias(NUMBER)
    numpy = numpy_if_installed()
    if numpy is not None and lists.many <= frame.height:
        is_key = numpy.zeros(lists.many, dtype=bool)
        is_key[numbers.to_numpy()] = True
        numbers = pl.Series(NUMBER, is_key.nonzero()[0])
    else:
        numbers = sort_integers(numbers)
        numbers = numbers.filter(pl.Series([True]).append(numbers.slice(1) != numbers.slice(0, len(numbers) - 1)))
    return numbers.to_frame().select(**lists.read(pl.col(NUMBER).cast(pl.Int64))).select(keys)


# --- exact sums --------------------------------------------------------------------------------------------------


def exact_sums(
    frame: pl.DataFrame,
    group: Sequence[str],
    columns: Sequence[str],
    counted: Mapping[str, str],
    least: Sequence[str] = (),
) -> pl.DataFrame:
    """Return the exact sums of columns in each group, or over all rows.

    `counted` maps the name of each count to the column, one of `columns`, whose values it counts. `least` adds the
    least values of other columns.
    """
    if group:
        return _exact_sums_by(frame, group, columns, counted, least)
    values = dict(zip(frame.columns, frame.get_columns(), strict=True))
    total = _sum if frame.height <= FEW_NUMBERS else _sum_of_parts
    sums = {name: total(values[name]) for name in columns}
    counts = {name: frame.height - values[column].null_count() for name, column in counted.items()}
    return pl.DataFrame([{**sums, **counts}])


def _exact_sums_by(
    frame: pl.DataFrame, group: Sequence[str], columns: Sequence[str], counted: Mapping[str, str], least: Sequence[str]
) -> pl.DataFrame:
    """Return the sums, counts and least values in each group."""
    inputs = [*map(partial(series, frame), [*group, *least])]
    added = [col(name).min() for name in least]
    totals = []
    for number, name in enumerate(columns):
        sums = []
        for index, part in enumerate(_parts(series(frame, name))):
            inputs.append(part.alias(f"{number} {index}"))
            sums.append(pl.col(f"{number} {index}"))
        added += map(pl.Expr.sum, sums)
        totals.append(reduce(add, sums).alias(name))
    numbers = {name: number for number, name in enumerate(columns)}
    added += [pl.col(f"{numbers[column]} 0").count().alias(name) for name, column in counted.items()]
    summed = pl.DataFrame(inputs).lazy().group_by(list(group)).agg(added)
    return collect(summed.select([*map(col, group), *totals, *counted, *map(col, least)]), few=frame.height <= FEW_ROWS)


def _sum(values: pl.Series) -> Any:
    """Return the exact sum of a short column."""
    if not values.dtype.is_float():
        return values.sum()
    try:
        array = _array(values)
        return math.fsum(values.drop_nulls().to_list() if array is None else memoryview(array))
    except (OverflowError, ValueError):
        return values.sum()


def _sum_of_parts(values: pl.Series) -> Any:
    """Return the exact sum of a column, from the sums of its parts."""
    array = _array(values) if len(values) <= FEW_FOR_NUMPY else None
    if array is None:
        sums: list[Any] = [part.sum() for part in _parts(values)]
        return reduce(add, sums)
    with sys.modules["numpy"].errstate(over="ignore", invalid="ignore"):
        return reduce(add, [float(part.sum()) for part in exactly_summable_parts(array, _largest_of_array)])


def _array(values: pl.Series) -> Any | None:
    """Return the known numbers of a column of floats as an array, if NumPy is loaded already; None otherwise."""
    # To import NumPy would take longer than to add without it.
    if values.dtype != pl.Float64 or not sys.modules.get("numpy"):
        return None
    return (values.drop_nulls() if values.null_count() else values).to_numpy()


def _largest_of_array(values: Any) -> Any:
    """Return the largest absolute value of an array, or None without values."""
    return float(max(values.max(), -values.min())) if len(values) else None


def _parts(values: pl.Series) -> list[pl.Series]:
    """Return the parts of a column of floats, which add up without rounding, or a column of integers itself."""
    if not values.dtype.is_float():
        return [values]
    return exactly_summable_parts(values if values.dtype == pl.Float64 else values.cast(pl.Float64), _largest)


def _largest(values: pl.Series) -> Any:
    """Return the largest absolute value of a column, or None without values."""
    most: Any = values.max()
    least: Any = values.min()
    # `abs` would be slower, because it makes a plan.
    return None if most is None else max(most, -least)
