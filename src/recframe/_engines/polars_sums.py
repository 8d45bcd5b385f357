"""The sums over the rows that come before each row of its group, without a window."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

IN_GROUP = "in_group"


def sums_before(frame: pl.DataFrame, columns: Mapping[str, str], keys: Sequence[str], order: str) -> pl.DataFrame:
    """Add the sums of columns over the rows of a group that come before each row.

    Each row takes the value of the row before it, then adds what the row 1, 2, 4, 8, … places before it has summed:
    few steps over all rows, where a window takes one for each group.

    Parameters
    ----------
    frame : polars.DataFrame
        The rows, in any order.
    columns : dict of str to str
        The columns to sum by the names of their sums.
    keys, order : sequence of str, str
        The group, and what its rows are in the order of.
    """
    rows = frame.sort([*keys, order])
    index = pl.int_range(pl.len())
    is_first = pl.any_horizontal(index == 0, *(pl.col(key).ne_missing(pl.col(key).shift(1)) for key in keys))
    rows = rows.with_columns((index - pl.when(is_first).then(index).forward_fill()).alias(IN_GROUP))
    before = {
        name: pl.when(pl.col(IN_GROUP) > 0).then(pl.col(column).shift(1)).otherwise(0.0)
        for name, column in columns.items()
    }
    rows, step, last = rows.with_columns(**before), 1, rows.get_column(IN_GROUP).max() or 0
    while step < last:  # type: ignore[operator]
        sums = (pl.col(name) + pl.col(name).shift(step) for name in columns)
        rows = rows.with_columns(
            pl.when(pl.col(IN_GROUP) > step).then(total).otherwise(pl.col(name))
            for name, total in zip(columns, sums, strict=True)
        )
        step *= 2
    return rows.drop(IN_GROUP)
