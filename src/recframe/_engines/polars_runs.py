"""Sums over groups that have the same bits in each call: the rows of a group are added in their order.

Threads of polars add the numbers that they come across. Ranked rows of a list follow each other, so that each thread
can add those of one column instead.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

from recframe._engines.polars_compat import FEW_ROWS, col, collect_columns, numpy_if_installed, series
from recframe._engines.polars_schema import ALL_ROWS
from recframe._engines.polars_sums import exact_sums

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def sums_in_order(frame: pl.DataFrame, group: Sequence[str], columns: Sequence[str]) -> pl.DataFrame:
    """Return the sums of columns in each group, added in the order of the rows; exact if others are among them."""
    numpy, held = numpy_if_installed(), [series(frame, name) for name in columns]
    starts = pl.any_horizontal(pl.int_range(pl.len()) == 0, *(col(key).ne_missing(col(key).shift(1)) for key in group))
    first = collect_columns(frame.lazy().select(starts)).to_series()
    keys = frame.select(map(col, group)).filter(first)
    if numpy is None or not all(values.dtype.is_float() for values in held) or not _differ(keys):
        return exact_sums(frame, group, columns, {})
    added = partial(_sums_of_runs, numpy, first.arg_true().to_numpy())
    if frame.height <= FEW_ROWS:
        return keys.hstack([*map(added, held)])
    # NumPy keeps one core busy only.
    with ThreadPoolExecutor(pl.thread_pool_size()) as pool:
        return keys.hstack([*pool.map(added, held)])


def schema_of_sums(schema: pl.Schema, group: Sequence[str], columns: Sequence[str]) -> pl.Schema:
    """Return the schema of the sums of a frame with a schema."""
    return pl.LazyFrame(schema=schema).group_by(list(group)).agg(col(name).sum() for name in columns).collect_schema()


def _differ(keys: pl.DataFrame) -> bool:
    """Return whether all keys are different: each group is one run of rows."""
    first = keys.to_series()
    if keys.width == 1 and first.dtype.is_integer() and not first.null_count() and first.is_sorted():
        return True
    return bool(collect_columns(keys.lazy().unique().select(pl.len())).item() == keys.height)


def _sums_of_runs(numpy: Any, rows: Any, values: pl.Series) -> pl.Series:
    """Return the sums from each of the rows up to the next one."""
    known = values.fill_null(0.0) if values.null_count() else values
    return pl.Series(values.name, numpy.add.reduceat(known.to_numpy(), rows) if len(rows) else known)


def later(
    frame: pl.LazyFrame, function: Callable[[pl.DataFrame], pl.DataFrame], planned: Callable[[pl.Schema], pl.Schema]
) -> pl.LazyFrame:
    """Return the plan that calls a function with all rows; another one tells the schema of what it returns."""
    return frame.pipe_with_schema(partial(_later, function, planned))


def _later(
    function: Callable[[pl.DataFrame], pl.DataFrame],
    planned: Callable[[pl.Schema], pl.Schema],
    frame: pl.LazyFrame,
    schema: pl.Schema,
) -> pl.LazyFrame:
    return frame.map_batches(function, schema=planned(schema), **ALL_ROWS)
