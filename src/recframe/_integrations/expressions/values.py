"""The values of metrics in all groups of an expression: one call of the plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from recframe._plan.call_frames import CallFrames
from recframe._plan.plan import Plan

if TYPE_CHECKING:
    from recframe._call.cached_calls import Call

GROUP = "number of the group"
"""The column with the number of each group."""
SEVERAL = "metrics"
"""What the expression of several metrics is called."""


def values_of_groups(call: Call, score: pl.Expr, relevance: pl.Expr, *, as_struct: bool) -> pl.Expr:
    """Return the expression of the metrics' values in each group: a struct, or the value of the only metric.

    Polars calls the function once with all groups, as a column of lists of rows.
    """
    names = [call.query.averaging(metric.label).name for metric in call.metrics]
    dtypes = dict.fromkeys(names, pl.Float64())

    def values(groups: pl.Series) -> pl.Series:
        lists = groups.to_frame("row").with_row_index(GROUP)
        is_empty = pl.col("row").list.len().fill_null(0) == 0
        without_rows = lists.filter(is_empty).select(GROUP)
        # Most frames have no such group, and to filter or to concatenate would copy all rows.
        some_are_empty = not without_rows.is_empty()
        rows = (lists.filter(~is_empty) if some_are_empty else lists).explode("row").unnest("row")
        if some_are_empty:
            # A group without rows becomes a list with one row that has no score, so the row is not recommended.
            rows = pl.concat([rows, without_rows], how="diagonal")
        result: pl.DataFrame = Plan(CallFrames(rows), call.query, call.metrics).frame()
        return result.select(names).to_struct() if as_struct else result.get_column(names[0])

    dtype = pl.Struct(dtypes) if as_struct else pl.Float64()
    values_of_lists = pl.struct(score, relevance).implode().map_batches(values, return_dtype=dtype, is_elementwise=True)
    return values_of_lists.alias(SEVERAL if as_struct else names[0])
