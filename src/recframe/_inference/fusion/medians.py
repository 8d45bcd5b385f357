"""The median over several columns of a row."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import narwhals as nw

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._base.columns import Frame

sorted_column = "sorted{}".format


def in_order(frame: Frame, names: Sequence[str]) -> Frame:
    """Add columns with the values of some columns, sorted within each row, missing values last.

    Engines have no sort within a row, so neighbours are compared and swapped (odd-even sort).
    """
    columns = [sorted_column(i) for i in range(len(names))]
    values = zip(names, columns, strict=True)
    frame = frame.with_columns(*(nw.col(name).fill_null(math.inf).alias(column) for name, column in values))
    for turn in range(len(names)):
        pairs = list(zip(columns[turn % 2 :: 2], columns[turn % 2 + 1 :: 2], strict=False))
        lower = {low: nw.min_horizontal(low, high) for low, high in pairs}
        upper = {high: nw.max_horizontal(low, high) for low, high in pairs}
        frame = frame.with_columns(**lower, **upper) if pairs else frame
    return frame


def median(columns: int, count: nw.Expr) -> nw.Expr:
    """Return the median of a row's `count` values, from the columns that `in_order` adds."""
    middle = nw.lit(0.0)
    for i in range(columns):
        value = nw.col(sorted_column(i))
        for number, share in ((2 * i, 0.5), (2 * i + 1, 1.0), (2 * i + 2, 0.5)):
            middle = middle + nw.when(count == number).then(value * share).otherwise(0.0)
    return middle
