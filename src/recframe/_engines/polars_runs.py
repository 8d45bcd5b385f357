"""Sums over groups that have the same bits in each call: the rows of a group are added in their order.

Threads of polars add the numbers that they come across. Ranked rows of a list follow each other, so that each thread
can add those of one column instead.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

from recframe._engines.polars_compat import FEW_ROWS, col, collect, collect_columns, numpy_if_installed, series
from recframe._engines.polars_sums import exact_sums
from recframe._engines.polars_threads import background_pool

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

BLOCK, MIXED, RUN = "block", "mixed", "run"


def sums_in_order(
    frame: pl.DataFrame,
    group: Sequence[str],
    terms: Mapping[str, pl.Expr],
    order: str = "",
    upto: Mapping[str, int] | None = None,
) -> pl.DataFrame:
    """Return the sums of terms in each group, added in the order of the rows; exact if others are among them.

    Parameters
    ----------
    frame, group : polars.DataFrame, sequence of str
        The rows, those of a group one after the other.
    terms : dict of str to polars.Expr
        What a row adds, a float, by the names of the sums.
    order, upto : str, dict of str to int
        A column of positions, and the last of them at which a term is not 0, for those that have one.
    """
    numpy = numpy_if_installed()
    starts = pl.any_horizontal(pl.int_range(pl.len()) == 0, *map(_changes, group))
    first = collect_columns(frame.lazy().select(starts)).to_series()
    keys = frame.select(map(col, group)).filter(first)
    if numpy is None or not _differ(keys):
        return exact_sums(collect(frame.lazy().select(*map(col, group), **terms)), group, list(terms), {})
    rows, sums = frame.with_columns((first.cast(pl.Int64).cum_sum() - 1).alias(RUN)), dict[str, pl.Series]()
    # NumPy keeps one core busy only.
    with background_pool() as pool:
        ends = {name: upto.get(name, math.inf) if upto else math.inf for name in terms}
        for last in sorted({*ends.values()}, reverse=True):
            few, near = rows.height <= FEW_ROWS, [name for name, end in ends.items() if end <= last]
            if last < math.inf:
                read = {order, *(column for name in near for column in terms[name].meta.root_names())}
                rows = collect(rows.lazy().filter(pl.col(order) <= last).select(RUN, *read), few=few)
            some = {name: terms[name] for name in near if ends[name] == last}
            values = collect(rows.lazy().select(RUN, **some), few=few)
            added = partial(_sums_of_runs, numpy, series(values, RUN).to_numpy(), keys.height)
            sums |= zip(some, pool.map(added, map(partial(series, values), some)), strict=True)
    return keys.hstack([sums[name] for name in terms])


def ordered_ties(frame: pl.DataFrame, block: Sequence[str], columns: Sequence[str]) -> pl.DataFrame:
    """Return ranked rows, where those of a tied block that differ in columns are sorted by these.

    Few rows are in such a block, so that only they are sorted.
    """
    starts = pl.any_horizontal(pl.int_range(pl.len()) == 0, *map(_changes, block))
    numbers, mixed = starts.cum_sum().alias(BLOCK), (~starts & pl.any_horizontal(map(_changes, columns))).alias(MIXED)
    looked = collect_columns(frame.lazy().select(numbers, mixed))
    if not looked.get_column(MIXED).any():
        return frame
    blocks = looked.get_column(BLOCK)
    rows = col(BLOCK).is_in(blocks.filter(looked.get_column(MIXED)).unique().implode())
    rows_of = collect_columns(looked.lazy().select(rows)).to_series().arg_true()
    keys = pl.DataFrame([blocks.gather(rows_of), *(series(frame, name).gather(rows_of) for name in columns)])
    order = collect_columns(keys.lazy().select(pl.arg_sort_by(BLOCK, *columns, nulls_last=True))).to_series()
    sources = pl.int_range(frame.height, eager=True).scatter(rows_of, rows_of.gather(order).cast(pl.Int64))
    return frame.select(pl.all().gather(sources))


def _changes(name: str) -> pl.Expr:
    """Return whether the value of a column is another one than in the row before."""
    return col(name).ne_missing(col(name).shift(1))


def _differ(keys: pl.DataFrame) -> bool:
    """Return whether all keys are different: each group is one run of rows."""
    first = keys.to_series()
    if keys.width == 1 and first.dtype.is_integer() and not first.null_count() and first.is_sorted():
        return True
    return bool(collect_columns(keys.lazy().unique().select(pl.len())).item() == keys.height)


def _sums_of_runs(numpy: Any, runs: Any, count: int, values: pl.Series) -> pl.Series:
    """Return the sums of many runs of rows, from the number of each row's run."""
    filled = values.fill_null(0.0) if values.null_count() else values
    # Of no rows, NumPy counts whole numbers.
    return pl.Series(values.name, numpy.bincount(runs, filled.to_numpy(), count), dtype=values.dtype)
