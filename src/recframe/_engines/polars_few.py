"""Ranks rows of a small polars frame: there a step costs more than what it computes, so these take few."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from recframe._columns import POSITION, SIZE, START
from recframe._engines.polars_compat import collect_columns
from recframe._engines.polars_pack import PACKED, Digits, digits_of, pack
from recframe._engines.polars_sums import rows_before

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._engines.polars_pack import Pack

NO_DIGITS = Digits(())


def rank_rows(
    frame: pl.DataFrame, keys: Sequence[str], score: str, upto: int | None, needed: pl.Expr
) -> pl.LazyFrame | None:
    """Return the needed rows as `polars_sort.rank_rows` does: only these look up their places among the sorted codes.

    None too where different scores have the same bits.
    """
    lists, _ = digits_of(frame, keys, [])
    # Without a tail, equal codes are rows of one tied block, whatever the type of the keys.
    packed = None if lists is None else pack(frame, lists, NO_DIGITS, score, keys, descending=True)
    if packed is None:
        return None
    # Of numbers that are known to be sorted, the different ones are counted at once.
    differ = packed.codes.set_sorted().n_unique() == len(packed.codes)
    if not differ and not _are_exact(packed, frame, score):
        return None
    codes, code = pl.lit(packed.codes), pl.col(PACKED)
    begin = codes.search_sorted(code, "left").cast(pl.Int64)
    size = pl.lit(1, pl.Int64) if differ else codes.search_sorted(code, "right").cast(pl.Int64) - begin
    first = codes.search_sorted(code // packed.list * packed.list, "left").cast(pl.Int64)
    rows = frame.lazy().filter(needed).with_columns(_code(packed)).drop(score)
    rows = rows.with_columns((begin - first + 1).alias(START), size.alias(SIZE)).drop(PACKED)
    return rows if upto is None else rows.filter(pl.col(START) <= upto)


def _code(packed: Pack) -> pl.Expr:
    """Return the integer of each row."""
    return (packed.lists.number() * packed.list + packed.distance).alias(PACKED)


def _are_exact(packed: Pack, frame: pl.DataFrame, score: str) -> bool:
    """Return whether rows of the same bits have the same score."""
    differ = pl.col(score).min() < pl.col(score).max()
    blocks = frame.lazy().group_by(_code(packed)).agg(differ.alias("differ"))
    return not collect_columns(blocks.select(pl.col("differ").any())).item()


def number_rows(frame: pl.LazyFrame, keys: Sequence[str], column: str, *, descending: bool) -> pl.LazyFrame:
    """Add the position of each row in its list by a column, equal ones in any order; missing where the column is."""
    rows = frame.sort([*keys, column], descending=[*(False for _ in keys), descending], nulls_last=True)
    position = pl.when(pl.col(column).is_not_null()).then(rows_before(keys) + 1)
    return rows.with_columns(position.cast(pl.Float64).alias(POSITION))
