"""The positions of the rows of a polars frame in their lists, in the rows' own order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from recframe._columns import ROW, SIZE, START
from recframe._engines.polars_pack import in_order_of_rows
from recframe._engines.polars_sort import rank_rows

if TYPE_CHECKING:
    from collections.abc import Sequence


def mean_places(frame: pl.DataFrame, keys: Sequence[str], score: str) -> pl.Series | None:
    """Return the mean position of each row's tied block, missing where the score is; None as `rank_rows`."""
    rows = frame.select(*keys, score).with_row_index(ROW)
    there = rows.filter(pl.col(score).is_not_null()) if rows.get_column(score).null_count() else rows
    ranked = rank_rows(there, keys, score, None)
    if ranked is None:
        return None
    places = ranked.select(pl.col(START) + (pl.col(SIZE) - 1) / 2).to_series()
    return in_order_of_rows(ranked.get_column(ROW), places, frame.height)
