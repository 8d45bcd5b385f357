"""The positions of the rows of a polars frame in their lists: by one sort, or by windows where no sort ranks them.

Windows rank keys that have no integer codes, such as lists, and scores too far apart for those of the sort.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from recframe._columns import POSITION, ROW, SIZE, START
from recframe._engines import polars_sort
from recframe._engines.base import ranked_by_windows
from recframe._engines.polars_compat import collect_columns
from recframe._engines.polars_frame import lazy
from recframe._engines.polars_pack import in_order_of_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._engines.polars_sort import Mark


def rank_rows(
    frame: pl.DataFrame, keys: Sequence[str], score: str, upto: int | None, mark: Mark | None = None
) -> pl.LazyFrame:
    """Return rows as `polars_sort.rank_rows` does, in any order."""
    ranked = polars_sort.rank_rows(frame, keys, score, upto, mark)
    if ranked is not None:
        return ranked
    rows: pl.LazyFrame = ranked_by_windows(lazy(frame), keys, score, upto).drop(score).to_native()
    return rows if mark is None else rows.filter(mark.of_frame())


def number_rows(frame: pl.DataFrame, keys: Sequence[str], column: str, *, descending: bool) -> pl.LazyFrame:
    """Return rows with their positions by a column, equal ones in any order; missing where the column is."""
    missing = pl.col(column).is_null()
    there = frame.filter(~missing) if frame.get_column(column).null_count() else frame
    numbered = polars_sort.number_rows(there, keys, column, descending=descending)
    if numbered is None:
        position = pl.col(column).rank("ordinal", descending=descending).over(keys)
        return frame.lazy().with_columns(position.cast(pl.Float64).alias(POSITION))
    if there is frame:
        return numbered
    return pl.concat([numbered, frame.lazy().filter(missing).with_columns(pl.lit(None, pl.Float64).alias(POSITION))])


def mean_places(frame: pl.DataFrame, keys: Sequence[str], score: str) -> pl.Series:
    """Return the mean position of each row's tied block, missing where the score is."""
    rows = frame.select(*keys, score).with_row_index(ROW)
    there = rows.filter(pl.col(score).is_not_null()) if rows.get_column(score).null_count() else rows
    place = (pl.col(START) + (pl.col(SIZE) - 1) / 2).alias(START)
    ranked = collect_columns(rank_rows(there, keys, score, None).select(ROW, place))
    return in_order_of_rows(ranked.get_column(ROW), ranked.get_column(START), frame.height)
