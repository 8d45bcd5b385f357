"""Sums over groups with the same bits in each call, because the rows of a group are added in their order.

Polars splits rows among threads, so the order of its sums varies. Here the ranked rows of a list follow each other, and
each thread adds one column.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

from recframe._engines.polars.compat import FEW_ROWS, col, collect, collect_columns, numpy_if_installed, series
from recframe._engines.polars.sums import changes, exact_sums, is_first
from recframe._engines.polars.threads import background_pool

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

BLOCK = "block"
"""The number of a row's tied block."""
MIXED = "mixed"
"""Whether a row differs from the row before it in the same tied block."""
RUN = "run"
"""The number of a row's group."""


def sums_in_order(
    frame: pl.DataFrame,
    group: Sequence[str],
    terms: Mapping[str, pl.Expr],
    order: str = "",
    upto: Mapping[str, int] | None = None,
) -> pl.DataFrame:
    """Return the sums of terms in each group, added in the order of the rows.

    If the rows of a group do not follow each other, the sums are exact instead.

    Parameters
    ----------
    frame : polars.DataFrame
        The rows.
    group : sequence of str
        The key of a group.
    terms : dict of str to polars.Expr
        The term of each sum, a float.
    order : str
        A column of positions.
    upto : dict of str to int
        The last position at which a term is not 0, for the terms that have one.
    """
    numpy = numpy_if_installed()
    first = collect_columns(frame.lazy().select(is_first(group))).to_series()
    keys = frame.select(map(col, group)).filter(first)
    if numpy is None or not _differ(keys):
        return exact_sums(collect(frame.lazy().select(*map(col, group), **terms)), group, list(terms), {})
    rows = frame.with_columns((first.cast(pl.Int64).cum_sum() - 1).alias(RUN))
    sums = dict[str, pl.Series]()
    # NumPy uses only one core, so columns are summed in several threads.
    with background_pool() as pool:
        ends = {name: upto.get(name, math.inf) if upto else math.inf for name in terms}
        # From the deepest cutoff to the smallest, so that rows after a cutoff are dropped step by step.
        for last in sorted({*ends.values()}, reverse=True):
            few = rows.height <= FEW_ROWS
            remaining = [name for name, end in ends.items() if end <= last]
            if last < math.inf:
                read = {order, *(column for name in remaining for column in terms[name].meta.root_names())}
                rows = collect(rows.lazy().filter(pl.col(order) <= last).select(RUN, *read), few=few)
            at_cutoff = {name: terms[name] for name in remaining if ends[name] == last}
            values = collect(rows.lazy().select(RUN, **at_cutoff), few=few)
            sum_of_column = partial(_sums_of_runs, numpy, series(values, RUN).to_numpy(), keys.height)
            sums |= zip(at_cutoff, pool.map(sum_of_column, map(partial(series, values), at_cutoff)), strict=True)
    return keys.hstack([sums[name] for name in terms])


def ordered_ties(frame: pl.DataFrame, block: Sequence[str], columns: Sequence[str]) -> pl.DataFrame:
    """Return ranked rows, with the rows of a tied block sorted by some columns if they differ in them.

    Only these blocks are sorted, because they have few rows.
    """
    starts = is_first(block)
    numbers = starts.cum_sum().alias(BLOCK)
    mixed = (~starts & pl.any_horizontal(map(changes, columns))).alias(MIXED)
    flags = collect_columns(frame.lazy().select(numbers, mixed))
    if not flags.get_column(MIXED).any():
        return frame
    blocks = flags.get_column(BLOCK)
    is_in_mixed_block = col(BLOCK).is_in(blocks.filter(flags.get_column(MIXED)).unique().implode())
    mixed_rows = collect_columns(flags.lazy().select(is_in_mixed_block)).to_series().arg_true()
    keys = pl.DataFrame([blocks.gather(mixed_rows), *(series(frame, name).gather(mixed_rows) for name in columns)])
    order = collect_columns(keys.lazy().select(pl.arg_sort_by(BLOCK, *columns, nulls_last=True))).to_series()
    sources = pl.int_range(frame.height, eager=True).scatter(mixed_rows, mixed_rows.gather(order).cast(pl.Int64))
    return frame.select(pl.all().gather(sources))


def _differ(keys: pl.DataFrame) -> bool:
    """Return whether all keys are different, so that the rows of each group follow each other."""
    first = keys.to_series()
    if keys.width == 1 and first.dtype.is_integer() and not first.null_count() and first.is_sorted():
        return True
    return bool(collect_columns(keys.lazy().unique().select(pl.len())).item() == keys.height)


def _sums_of_runs(numpy: Any, runs: Any, count: int, values: pl.Series) -> pl.Series:
    """Return the sum of each run of rows; `runs` holds the number of each row's run."""
    filled = values.fill_null(0.0) if values.null_count() else values
    # The type is set, because NumPy returns integers for no rows.
    return pl.Series(values.name, numpy.bincount(runs, filled.to_numpy(), count), dtype=values.dtype)
