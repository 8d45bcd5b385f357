"""Makes polars frames from columns, lists and lines of text, and converts between rows and lists."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import reduce
from io import BytesIO
from itertools import chain
from operator import or_
from typing import TYPE_CHECKING, Any

import polars as pl
from polars import selectors as cs
from polars.exceptions import PolarsError

from recframe._engines.column_errors import no_lists
from recframe._engines.polars.compat import EXPLODE, col, series
from recframe.errors import ColumnTypeError, InputError, quoted

if TYPE_CHECKING:
    from collections.abc import Mapping

Frame = Any
"""A data frame or a lazy frame. Each function returns the same kind as it gets."""


def is_series(value: object) -> bool:
    """Return whether a value is a series of polars."""
    return isinstance(value, pl.Series)


def table(columns: Mapping[str, Any]) -> pl.DataFrame:
    """Return a frame from columns, each a sequence or a series."""
    return pl.DataFrame([_column(name, values) for name, values in columns.items()])


SMALLEST_LOST = 2**63
"""From this number on, integers need a type that older versions of polars lack."""


def _column(name: str, values: Any) -> pl.Series:
    """Return a column, or raise if polars would lose a large integer or turn a number into text."""
    if isinstance(values, pl.Series):
        return values.alias(name)
    column = pl.Series(name, values, strict=False)
    has_lists = column.dtype == pl.List
    singles = column.filter(column.list.len() > 0).explode() if has_lists else column
    is_lost = singles.is_null() | (singles.dtype == pl.Object)
    is_text = singles.dtype == pl.String
    if not (is_text or is_lost.any()) or not isinstance(values, Sequence):
        return column
    originals = [*chain.from_iterable(filter(None, values))] if has_lists else values
    lost = (originals[row] for row in is_lost.arg_true())
    large = next((value for value in lost if isinstance(value, int) and abs(value) >= SMALLEST_LOST), None)
    wrong = next((value for value in originals if isinstance(value, int | float)), None) if is_text else large
    if wrong is not None:
        problem = "a number beside text" if large is None else "too large for polars beside its other values"
        msg = f"{name!r} holds {quoted(wrong if large is None else large)}, which is {problem}"
        raise InputError(msg, "give floats, or ids as text")
    return column


def distinct(frame: Frame, columns: Sequence[str]) -> Frame:
    """Return the distinct values of some columns."""
    return _no_nan(frame.select(map(col, columns)), columns).unique(maintain_order=True)


def uneven(frame: Frame, columns: Sequence[str]) -> int:
    """Return how many rows hold lists of different lengths."""
    if len(columns) == 1:
        return 0
    # Renamed, because old versions of polars read a series' name as a pattern in some methods.
    lengths = [series(frame, name).alias("lengths").list.len().fill_null(0) for name in columns]
    return int(reduce(or_, (length != lengths[0] for length in lengths[1:])).sum())


def check_lists(frame: Frame, role: str, column: str) -> None:
    """Raise if a column does not hold lists."""
    dtype = frame.schema[column]
    if dtype != pl.List:
        raise _no_lists_of_objects(role) if dtype == pl.Object else no_lists(role, column, dtype)


def _no_lists_of_objects(subject: str) -> ColumnTypeError:
    """Return the error for a column of Python objects."""
    return ColumnTypeError(
        f"{subject} holds Python objects, which polars cannot put into lists", "give text or numbers"
    )


def explode(frame: Frame, keys: Sequence[str], lists: Mapping[str, str], rank_column: str | None) -> Frame:
    """Return one row for each element of parallel lists.

    Parameters
    ----------
    frame : frame
        The keys and the lists.
    keys : sequence of str
        The columns that are repeated.
    lists : dict of str to str
        The columns of lists, by the names of the columns of their elements.
    rank_column : str, optional
        A column to add: the position of an element, from 1.
    """
    first = next(iter(lists))
    frame = frame.select(*map(col, keys), *(col(column).alias(name) for name, column in lists.items()))
    frame = frame.filter(col(first).list.len() > 0)
    names = list(lists)
    if rank_column is not None:
        frame = frame.with_columns(pl.int_ranges(1, col(first).list.len().cast(pl.Int64) + 1).alias(rank_column))
        names.append(rank_column)
    return frame.explode(list(map(col, names)), **EXPLODE)


def priced(frame: Frame, item: str, prices: Mapping[Any, Any], value: str) -> Frame:
    """Add a column with the value of each item, missing for an item without one."""
    dtype = frame.schema[item]
    price_of = dict[Any, float]()
    for kind in {*map(type, prices)} - {type(None)}:
        names = [name for name in prices if type(name) is kind]
        with suppress(PolarsError):  # not convertible to the items' type
            # A converted name only counts if it stays equal: 7.9 and "07" are not 7.
            cast = pl.Series(names, strict=False).cast(dtype, strict=False).to_list()
            price_of |= {key: float(prices[name]) for name, key in zip(names, cast, strict=True) if name == key}
    value_of = pl.lit(None, pl.Float64)
    if price_of:
        items = pl.Series([*price_of], dtype=dtype)
        amounts = pl.Series([*price_of.values()])
        value_of = col(item).replace_strict(items, amounts, default=None, return_dtype=pl.Float64)
    return frame.with_columns(value_of.alias(value))


def reorder(frame: Frame, columns: Sequence[str]) -> Frame:
    """Return some columns in this order."""
    return frame.select(map(col, columns))


def implode(frame: Frame, ranked: Frame, keys: Sequence[str], columns: Sequence[str], rank: str) -> Frame:
    """Return one row per key of a frame, with the values of its ranked rows as lists."""
    for name in (*keys, *columns):
        if ranked.schema[name] == pl.Object:
            raise _no_lists_of_objects(repr(name))
    # Keys are renamed, because polars before version 2 cannot join by a column whose name is a pattern.
    names = [f"key{index}" for index in range(len(keys))] or ["key"]
    key_columns = [col(key).alias(name) for key, name in zip(keys, names, strict=False)] or [pl.lit(0).alias("key")]
    lists = _no_nan(
        ranked.select(*key_columns, *(col(name).alias(f"list{i}") for i, name in enumerate(columns)), rank), names
    )
    lists = lists.group_by(names).agg(pl.col(f"list{i}").sort_by(rank) for i in range(len(columns)))
    all_keys = _no_nan(frame.select(*key_columns) if keys else pl.select(*key_columns), names)
    imploded = all_keys.unique(maintain_order=True).join(lists, on=names, how="left", nulls_equal=True)
    if keys:
        imploded = imploded.sort(names, nulls_last=True, maintain_order=True)
    back = [pl.col(f"list{i}").fill_null([]).alias(name) for i, name in enumerate(columns)]
    return imploded.select(*(pl.col(name).alias(key) for key, name in zip(keys, names, strict=False)), *back)


def fields(lines: bytes, names: Sequence[str], number: str | None, columns: Mapping[str, str]) -> pl.DataFrame | None:
    """Return fields between single spaces as a frame, or None if a line cannot be read."""
    # A relevance is an integer in most files and stays one. A score is always a float.
    for kind in (pl.Float64,) if number == "score" else (pl.Int64, pl.Float64):
        schema = {name: kind if name == number else pl.String for name in names}
        try:
            frame = pl.read_csv(
                BytesIO(lines), has_header=False, separator=" ", quote_char=None, schema=schema, raise_if_empty=False
            )
        except (pl.exceptions.PolarsError, OSError):  # OSError: the lines start like a compressed file
            continue
        if sum(frame.null_count().row(0)):
            return None  # a field is empty
        return frame.select(pl.col(name).alias(column) for name, column in columns.items())
    return None


def _no_nan(frame: Frame, keys: Sequence[str]) -> Frame:
    """Return a frame with missing values in place of NaN in its keys."""
    return frame.with_columns((cs.float() & cs.by_name(*keys, require_all=False)).fill_nan(None))
