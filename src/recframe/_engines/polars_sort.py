"""Where the rows of a polars frame stand in their lists, found by one sort of packed integers.

Ranking costs most of a call. Each row becomes one integer: its list, its score scaled to the bits that are left, its
row number, and a bit that says whether it is asked for. Sorted, the rows of a list stand together, best first. Scaling
never swaps scores, but may make different ones equal: rows of equal bits are compared by their scores, and the few that
differ are ranked among themselves.
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from recframe._columns import POSITION, SIZE, START

if TYPE_CHECKING:
    from collections.abc import Sequence

BITS = 62
"""What a signed integer holds beside its sign and the end of the last list."""
FEWEST_BITS = 8
"""Of a score, below which too many scores would fall together."""
MOST_BITS = 50
"""Of a score, which a float can tell apart, rounding included."""
MANY_CORES = 8
"""With more, sorting on all of them is faster than sorting well on one."""
SAMPLE = 20_000
"""How many keys of text to look at before all of them are encoded."""
REPEATED = 20
"""How often a key of text must stand in the frame on average, so that encoding it pays."""

PACKED, RUN, NEXT, INDEX = "packed", "run", "next", "index"
BLOCK = (START, SIZE)
"""What is told of a tied block."""
NEEDED = "asked"
"""The column that says which rows are asked for."""


def placed(
    frame: pl.DataFrame, keys: Sequence[str], score: str, upto: int | None, asked: pl.LazyFrame | None = None
) -> pl.DataFrame | None:
    """Return rows with where their tied blocks start in their lists, and how many rows these hold.

    Parameters
    ----------
    frame : polars.DataFrame
        Rows to rank; no score is missing.
    keys, score : sequence of str, str
        The list and what ranks it, the highest first.
    upto : int, optional
        How many places matter: rows whose block starts behind them are left out.
    asked : polars.LazyFrame, optional
        The rows with a column `NEEDED`, which says whether they are asked for: the others only take their places.

    Returns
    -------
    polars.DataFrame or None
        The rows by list and place, without their score; None where keys are of a kind that has no codes, or numbers
        do not fit.
    """
    scores = frame.get_column(score)
    pack = _pack(frame, keys, score, descending=True, asked=asked)
    if pack is None:
        return None
    rows, place = _first_rows(pack, upto)
    together = _together(rows // pack.row)
    tied = together | together.shift(-1, fill_value=False)
    found = pl.DataFrame([rows, place]).with_columns(pl.lit(1, dtype=pl.Int64).alias(SIZE))
    kept = [] if asked is None else [pl.col(PACKED) & 1 == 1]
    if tied.any():
        blocks = _blocks(found.filter(tied), together.filter(tied), scores.gather(pack.numbers(rows.filter(tied))))
        where = tied.arg_true()
        found = found.with_columns(found.get_column(name).scatter(where, blocks.get_column(name)) for name in BLOCK)
        # Of rows of equal bits, those of lower scores may start behind the last place.
        kept += [] if upto is None else [pl.col(START) <= upto]
    found = found.filter(*kept) if kept else found
    return _gathered(frame.drop(score), keys, pack, found.get_column(PACKED)).hstack(found.drop(PACKED))


def numbered(frame: pl.DataFrame, keys: Sequence[str], column: str, *, descending: bool) -> pl.DataFrame | None:
    """Return rows with their positions in their lists by a column, equal ones in any order; None as of `placed`."""
    if frame.get_column(column).null_count():
        return None
    pack = _pack(frame, keys, column, descending=descending)
    if pack is None:
        return None
    rows, place = _first_rows(pack, None)
    found = _gathered(frame, keys, pack, rows).with_columns(place.alias(POSITION))
    mixed = _together(rows // pack.row) & ~_together(found.get_column(column))
    return None if mixed.any() else found


def _blocks(rows: pl.DataFrame, together: pl.Series, scores: pl.Series) -> pl.DataFrame:
    """Return where the tied blocks start, and their sizes, of packed rows that stand beside others of equal bits."""
    starts = pl.when(~pl.col("together")).then(pl.col(INDEX))
    rows = rows.with_columns(together.alias("together")).with_columns(pl.int_range(pl.len()).alias(INDEX))
    rows = rows.with_columns(
        starts.forward_fill().alias(RUN), starts.shift(-1).backward_fill().fill_null(pl.len()).alias(NEXT)
    )
    blocks = rows.select(
        pl.col(START) - (pl.col(INDEX) - pl.col(RUN)), (pl.col(NEXT) - pl.col(RUN)).alias(SIZE), RUN, INDEX
    )
    run = blocks.get_column(RUN)
    apart = run.filter(_together(run) & ~_together(scores))
    if not len(apart):
        return blocks
    # Of equal bits, but not all of equal scores.
    mixed = pl.DataFrame(apart.unique())
    within = pl.col("score").rank("min", descending=True).over(RUN).cast(pl.Int64) - 1
    size = pl.len().over(RUN, "score").cast(pl.Int64).alias(SIZE)
    again = blocks.with_columns(scores.alias("score")).join(mixed, on=RUN, how="semi")
    again = again.with_columns(pl.col(START) + within, size).drop("score")
    return pl.concat([blocks.join(mixed, on=RUN, how="anti"), again]).sort(INDEX)


class Pack(NamedTuple):
    """Rows as sorted integers."""

    codes: pl.Series
    row: int
    """What one scaled score is to the next: below it stand the row number and the bit of rows that are asked for."""
    list: int
    """What one list is to the next."""
    in_order: bool
    """Whether the rows stood so already."""

    def numbers(self, rows: pl.Series) -> pl.Series:
        """Return the row numbers of packed rows."""
        return rows % self.row // 2


def _pack(
    frame: pl.DataFrame, keys: Sequence[str], score: str, *, descending: bool, asked: pl.LazyFrame | None = None
) -> Pack | None:
    """Return the rows of a frame as integers, if they fit; the last bit says whether a row is asked for."""
    if frame.is_empty():
        return None
    many, lists = 1, pl.lit(0, dtype=pl.Int64)
    for key in keys:
        code = _codes(frame.get_column(key))
        if code is None:
            return None
        first, last = int(code.min()), int(code.max())  # type: ignore[arg-type]
        if not -(2**BITS) < first <= last < 2**BITS:
            return None
        many *= last - first + 1
        lists = lists * (last - first + 1) + (pl.col(key).to_physical().cast(pl.Int64) - first)
    scores = frame.get_column(score)
    best, worst = float(scores.max()), float(scores.min())  # type: ignore[arg-type]
    row_bits = (frame.height - 1).bit_length() + 1
    score_bits = min(MOST_BITS, BITS - (many - 1).bit_length() - row_bits)
    spread = best - worst
    if score_bits < FEWEST_BITS or not spread < math.inf:
        return None
    scale = (2.0**score_bits - 1) / spread if spread else 0.0
    if not scale < math.inf:
        return None
    value = pl.col(score).cast(pl.Float64)
    distance = ((best - value if descending else value - worst) * scale).cast(pl.Int64)
    row = pl.col(INDEX).cast(pl.Int64) * 2
    row = row if asked is None else row + pl.col(NEEDED)
    rows = (frame.lazy() if asked is None else asked).with_row_index(INDEX)
    codes = _collect(rows.select(((lists * 2**score_bits + distance) * 2**row_bits + row).alias(PACKED))).to_series()
    in_order = codes.is_sorted()
    return Pack(codes if in_order else _sorted(codes), 2**row_bits, 2 ** (row_bits + score_bits), in_order)


def _codes(keys: pl.Series) -> pl.Series | None:
    """Return keys as integers; None where they are of another kind, or one is missing."""
    if keys.null_count():
        return None
    if keys.dtype.is_integer():
        return keys
    return keys.to_physical() if keys.dtype == pl.Categorical else None


def _collect(frame: pl.LazyFrame) -> pl.DataFrame:
    """Return a plan's data frame, computed by all cores where the engine for that is stable."""
    collected: pl.DataFrame = frame.collect(engine="streaming") if pl.__version__ >= "2" else frame.collect()
    return collected


def _sorted(packed: pl.Series) -> pl.Series:
    """Return the integers sorted: by NumPy if it is there anyway, which is faster unless there are many cores."""
    numpy = sys.modules.get("numpy")
    if numpy is None or pl.thread_pool_size() > MANY_CORES:
        return packed.sort()
    return pl.Series(PACKED, numpy.sort(packed.to_numpy()))


def _first_rows(pack: Pack, upto: int | None) -> tuple[pl.Series, pl.Series]:
    """Return the rows that can stand among the first of their lists, and their places there, were none tied."""
    packed, many = pack.codes, len(pack.codes)
    start = (~_together(packed // pack.list)).arg_true().cast(pl.Int64)
    end = start.shift(-1).fill_null(many)
    if upto is not None:
        stop = pl.select(pl.min_horizontal(start + upto, end)).to_series()
        # Scores that fall together with that of the last place stay too, as blocks of ties must stay whole.
        last = packed.gather(stop - 1) // pack.row
        goes_on = (last == packed.gather(stop.clip(upper_bound=many - 1)) // pack.row) & (stop < end)
        limit = (last.filter(goes_on) + 1) * pack.row
        end = stop.scatter(goes_on.arg_true(), packed.search_sorted(limit).cast(pl.Int64)) if len(limit) else stop
    spans = pl.DataFrame({"start": start, "end": end})
    places = spans.select(pl.int_ranges(1, pl.col("end") - pl.col("start") + 1).alias(START)).explode(START).to_series()
    if len(places) == many:
        return packed, places
    kept = spans.select(pl.int_ranges("start", "end").alias(INDEX)).explode(INDEX).to_series()
    return packed.gather(kept), places


def _together(values: pl.Series) -> pl.Series:
    """Return which values are equal to the one before."""
    return (values == values.shift(1)).fill_null(value=False)


def _gathered(frame: pl.DataFrame, keys: Sequence[str], pack: Pack, rows: pl.Series) -> pl.DataFrame:
    """Return the packed rows of a frame; one key is faster told by its code."""
    if pack.in_order and len(rows) == frame.height:
        return frame
    number = pack.numbers(rows)
    key, *others = (frame.get_column(name) for name in keys)
    if others or not key.dtype.is_integer():
        return frame.select(pl.all().gather(number))
    told = (rows // pack.list + int(key.min())).cast(key.dtype).alias(key.name)  # type: ignore[arg-type]
    return frame.select(told if name == key.name else pl.col(name).gather(number) for name in frame.columns)


def pays_to_encode(keys: pl.Series) -> bool:
    """Return whether text repeats so often that encoding it once is faster than comparing it again and again."""
    drawn = min(SAMPLE, len(keys))
    different = keys.sample(drawn, with_replacement=True, seed=0).n_unique()
    # Of m keys drawn from n > m different ones about m²/2n are repeated; of fewer, most are seen.
    about = 2 * different if 2 * different < drawn else drawn**2 / (2 * max(drawn - different, 1))
    return about * REPEATED <= len(keys)
