"""Ranks the rows of a polars frame within their lists by one sort of packed integers.

Ranking takes most of the time of a call. Each row becomes one integer: its list, its score scaled to the bits that are
left, its row number, and a bit that marks needed rows. Sorted, the rows of a list follow each other, the best first.
Scaling keeps the order of scores, but may give different scores the same bits: rows with the same bits are compared by
their scores, and the few that differ are ranked among themselves.
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from recframe._columns import POSITION, SIZE, START
from recframe._engines.polars_compat import collect

if TYPE_CHECKING:
    from collections.abc import Sequence

BITS = 62
"""The bits of a signed integer without its sign and one for the end of the last list."""
FEWEST_BITS = 8
"""The bits of a score below which too many different scores would be equal."""
MOST_BITS = 50
"""The bits of a score that a float can tell apart, rounding included."""
MANY_CORES = 8
"""With more cores, polars' sort on all of them is faster than NumPy's on one."""
SAMPLE = 20_000
"""How many keys of text to look at before all of them are encoded."""
REPEATED = 20
"""How often a key of text must repeat on average, so that encoding it pays."""

PACKED, RUN, NEXT, INDEX = "packed", "run", "next", "index"
BLOCK = (START, SIZE)
"""The columns of a tied block."""
SAME_BITS = "same_bits"
"""Whether a row has the bits of the previous one."""
NEEDED = "needed"
"""The column that marks the needed rows."""


def rank_rows(
    frame: pl.DataFrame, keys: Sequence[str], score: str, upto: int | None, marked: pl.LazyFrame | None = None
) -> pl.DataFrame | None:
    """Return rows with the positions where their tied blocks start in their lists, and the sizes of the blocks.

    Parameters
    ----------
    frame : polars.DataFrame
        Rows to rank; no score is missing.
    keys, score : sequence of str, str
        The list and what ranks it, the highest first.
    upto : int, optional
        The last position that matters: rows whose block starts after it are left out.
    marked : polars.LazyFrame, optional
        The rows with a column `NEEDED`: rows that it marks as not needed take their positions and are left out.

    Returns
    -------
    polars.DataFrame or None
        The rows by list and position, without their score; None where the keys have no integer codes, or the numbers
        do not fit.
    """
    scores = frame.get_column(score)
    pack = _pack(frame, keys, score, descending=True, marked=marked)
    if pack is None:
        return None
    found = _first_rows(pack, upto)
    rows = found.get_column(PACKED)
    same_bits = (rows // pack.row).to_frame().select(_equals_previous(pl.col(PACKED)).alias(SAME_BITS)).to_series()
    found = found.with_columns(pl.lit(1, dtype=pl.Int64).alias(SIZE))
    conditions = [] if marked is None else [pl.col(PACKED) & 1 == 1]
    if same_bits.any():
        in_block = same_bits | same_bits.shift(-1, fill_value=False)
        own_scores = scores.gather(pack.numbers(rows.filter(in_block)))
        blocks = _tied_blocks(found.filter(in_block), same_bits.filter(in_block), own_scores)
        where = in_block.arg_true()
        found = found.with_columns(found.get_column(name).scatter(where, blocks.get_column(name)) for name in BLOCK)
        # Of rows with the same bits, those of lower scores may start after the last position.
        conditions += [] if upto is None else [pl.col(START) <= upto]
    found = found.filter(*conditions) if conditions else found
    return _unpacked(frame.drop(score), keys, pack, found.get_column(PACKED)).hstack(found.drop(PACKED))


def number_rows(frame: pl.DataFrame, keys: Sequence[str], column: str, *, descending: bool) -> pl.DataFrame | None:
    """Return rows with their positions in their lists by a column, equal ones in any order; None as `rank_rows`."""
    if frame.get_column(column).null_count():
        return None
    pack = _pack(frame, keys, column, descending=descending)
    if pack is None:
        return None
    placed = _first_rows(pack, None)
    rows, position = placed.get_column(PACKED), placed.get_column(START).alias(POSITION)
    found = _unpacked(frame, keys, pack, rows)
    different = ~_equals_previous(pl.col(column))
    mixed = found.select((_equals_previous(pl.lit(rows // pack.row)) & different).any()).item()
    return None if mixed else found.with_columns(position)


# --- packing ------------------------------------------------------------------------------------------------


class Pack(NamedTuple):
    """Rows as sorted integers."""

    codes: pl.Series
    row: int
    """The distance from one scaled score to the next: the bits below it hold the row number and the mark."""
    list: int
    """The distance from one list to the next."""
    in_order: bool
    """Whether the rows came in this order."""

    def numbers(self, rows: pl.Series) -> pl.Series:
        """Return the row numbers of packed rows."""
        return rows % self.row // 2


def _pack(
    frame: pl.DataFrame, keys: Sequence[str], score: str, *, descending: bool, marked: pl.LazyFrame | None = None
) -> Pack | None:
    """Return the rows of a frame as sorted integers, if they fit."""
    lists = None if frame.is_empty() else _list_codes(frame, keys)
    if lists is None:
        return None
    list_code, many = lists
    row_bits = (frame.height - 1).bit_length() + 1
    score_bits = min(MOST_BITS, BITS - (many - 1).bit_length() - row_bits)
    distance = _scaled(frame.get_column(score), score_bits, descending=descending)
    if distance is None:
        return None
    row = pl.col(INDEX).cast(pl.Int64) * 2
    row = row if marked is None else row + pl.col(NEEDED)
    rows = (frame.lazy() if marked is None else marked).with_row_index(INDEX)
    packed = (list_code * 2**score_bits + distance) * 2**row_bits + row
    codes = collect(rows.select(packed.alias(PACKED))).to_series()
    in_order = codes.is_sorted()
    return Pack(codes if in_order else _sorted(codes), 2**row_bits, 2 ** (row_bits + score_bits), in_order)


def _list_codes(frame: pl.DataFrame, keys: Sequence[str]) -> tuple[pl.Expr, int] | None:
    """Return the code of each row's list, and how many codes there are; None where a key has no codes."""
    many, codes = 1, pl.lit(0, dtype=pl.Int64)
    for key in keys:
        values = _integers(frame.get_column(key))
        if values is None:
            return None
        first, last = int(values.min()), int(values.max())  # type: ignore[arg-type]
        if not -(2**BITS) < first <= last < 2**BITS:
            return None
        many *= last - first + 1
        codes = codes * (last - first + 1) + (pl.col(key).to_physical().cast(pl.Int64) - first)
    return codes, many


def _integers(keys: pl.Series) -> pl.Series | None:
    """Return keys as integers; None where they are of another type, or one is missing."""
    if keys.null_count():
        return None
    if keys.dtype.is_integer():
        return keys
    return keys.to_physical() if keys.dtype == pl.Categorical else None


def _scaled(scores: pl.Series, bits: int, *, descending: bool) -> pl.Expr | None:
    """Return the distance of each score from the best one, in whole numbers of some bits; None where that fails."""
    best, worst = float(scores.max()), float(scores.min())  # type: ignore[arg-type]
    spread = best - worst
    if bits < FEWEST_BITS or not spread < math.inf:
        return None
    scale = (2.0**bits - 1) / spread if spread else 0.0
    if not scale < math.inf:
        return None
    value = pl.col(scores.name).cast(pl.Float64)
    return ((best - value if descending else value - worst) * scale).cast(pl.Int64)


def _sorted(packed: pl.Series) -> pl.Series:
    """Return the integers sorted: by NumPy if it is imported, which is faster unless there are many cores."""
    numpy = sys.modules.get("numpy")
    if numpy is None or pl.thread_pool_size() > MANY_CORES:
        return packed.sort()
    return pl.Series(PACKED, numpy.sort(packed.to_numpy()))


def _unpacked(frame: pl.DataFrame, keys: Sequence[str], pack: Pack, rows: pl.Series) -> pl.DataFrame:
    """Return the rows of a frame that packed rows number; a single integer key is decoded from the packed code."""
    if pack.in_order and len(rows) == frame.height:
        return frame
    number = pack.numbers(rows)
    key, *others = (frame.get_column(name) for name in keys)
    if others or not key.dtype.is_integer():
        return frame.select(pl.all().gather(number))
    decoded = (rows // pack.list + int(key.min())).cast(key.dtype).alias(key.name)  # type: ignore[arg-type]
    return frame.select(decoded if name == key.name else pl.col(name).gather(number) for name in frame.columns)


# --- positions ----------------------------------------------------------------------------------------------


def _first_rows(pack: Pack, upto: int | None) -> pl.DataFrame:
    """Return the rows that can be among the first of their lists, and the positions that they had without ties."""
    # Few steps of many expressions each: in a small frame, a step costs more than what it computes.
    packed, many = pack.codes, len(pack.codes)
    lists = (packed // pack.list).to_frame()
    start, end = pl.col("start"), pl.col("start").shift(-1).fill_null(many)
    stop = end if upto is None else pl.min_horizontal(start + upto, end)
    spans = lists.select((~_equals_previous(pl.col(PACKED))).arg_true().cast(pl.Int64).alias("start"))
    spans = spans.select(start, end.alias("end"), stop.alias("stop"))
    spans = spans if upto is None else _to_whole_blocks(pack, spans)
    position = pl.int_ranges(1, pl.col("stop") - start + 1).explode().alias(START)
    if spans.get_column("stop").equals(spans.get_column("end")):
        return spans.select(pl.lit(packed), position)
    return spans.select(pl.lit(packed).gather(pl.int_ranges("start", "stop").explode()), position)


def _to_whole_blocks(pack: Pack, spans: pl.DataFrame) -> pl.DataFrame:
    """Stop reading a list after the rows that have the bits of its last one, so that the last block stays whole."""
    packed, stop = pl.lit(pack.codes), pl.col("stop")
    last = packed.gather(stop - 1) // pack.row
    next_one = packed.gather(stop.clip(upper_bound=len(pack.codes) - 1)) // pack.row
    found = spans.select("stop", last.alias("last"), ((last == next_one) & (stop < pl.col("end"))).alias("goes_on"))
    goes_on = found.get_column("goes_on")
    if not goes_on.any():
        return spans
    limit = (found.get_column("last").filter(goes_on) + 1) * pack.row
    moved = found.get_column("stop").scatter(goes_on.arg_true(), _first_at_least(pack.codes, limit))
    return spans.with_columns(moved)


def _first_at_least(ordered: pl.Series, limits: pl.Series) -> pl.Series:
    """Return where the first value of an ordered column stands that is not less than each limit."""
    # The method of a column needs NumPy in polars 1.21, the expression does not.
    return pl.select(pl.lit(ordered).search_sorted(limits).cast(pl.Int64)).to_series()


def _tied_blocks(rows: pl.DataFrame, same_bits: pl.Series, scores: pl.Series) -> pl.DataFrame:
    """Return the starts and the sizes of the tied blocks of packed rows that have the bits of a neighbour."""
    starts = pl.when(~pl.col(SAME_BITS)).then(pl.col(INDEX))
    rows = rows.with_columns(same_bits).with_columns(pl.int_range(pl.len()).alias(INDEX))
    rows = rows.with_columns(
        starts.forward_fill().alias(RUN), starts.shift(-1).backward_fill().fill_null(pl.len()).alias(NEXT)
    )
    blocks = rows.select(
        pl.col(START) - (pl.col(INDEX) - pl.col(RUN)), (pl.col(NEXT) - pl.col(RUN)).alias(SIZE), RUN, INDEX
    )
    run = blocks.get_column(RUN)
    apart = run.filter(blocks.select(_equals_previous(pl.col(RUN)) & ~_equals_previous(pl.lit(scores))).to_series())
    if not len(apart):
        return blocks
    # Runs of the same bits but different scores are ranked by these.
    mixed = pl.DataFrame(apart.unique())
    within = pl.col("score").rank("min", descending=True).over(RUN).cast(pl.Int64) - 1
    size = pl.len().over(RUN, "score").cast(pl.Int64).alias(SIZE)
    ranked = blocks.with_columns(scores.alias("score")).join(mixed, on=RUN, how="semi")
    ranked = ranked.with_columns(pl.col(START) + within, size).drop("score")
    return pl.concat([blocks.join(mixed, on=RUN, how="anti"), ranked]).sort(INDEX)


def _equals_previous(values: pl.Expr) -> pl.Expr:
    """Return which values are equal to the previous one."""
    return (values == values.shift(1)).fill_null(value=False)


def pays_to_encode(keys: pl.Series) -> bool:
    """Return whether text repeats so often that encoding it once is faster than comparing it again and again."""
    drawn = min(SAMPLE, len(keys))
    different = keys.sample(drawn, with_replacement=True, seed=0).n_unique()
    # Of m keys drawn from n > m different ones about m²/2n are repeated; of fewer, most are seen.
    about = 2 * different if 2 * different < drawn else drawn**2 / (2 * max(drawn - different, 1))
    return about * REPEATED <= len(keys)
