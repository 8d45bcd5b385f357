"""The first k rows of each list of a polars frame, found by one sort of packed integers.

Ranking costs most of a call, and only its first k places matter. Each row becomes one integer: its list, its
score scaled to the bits that are left, its row number. Sorted, the best rows of a list stand at its start, and
where no two of them have the same bits, in their order. Scaling may make scores equal but never swaps them, so what is
left out is sure to rank below k; lists with equal bits among their first rows are left to the exact ranking.
"""

from __future__ import annotations

import math
import sys

import polars as pl

from recframe._terms import START

__all__ = ["pays_to_encode", "shortlist"]

BITS = 62
"""What a signed integer holds beside its sign and the end of the last list."""
FEWEST_BITS = 8
"""Of a score, below which too many scores would fall together."""
MOST_BITS = 52
"""Of a score, which a float can tell apart."""
MANY_CORES = 8
"""With more, sorting on all of them is faster than sorting well on one."""
SAMPLE = 20_000
"""How many keys of text to look at before all of them are encoded."""
REPEATED = 20
"""How often a key of text must stand in the frame on average, so that encoding it pays."""
WORTH_IT = 4
"""How many times as many rows as places there must be, so that finding the rows pays."""


def shortlist(frame: pl.DataFrame, key: str, score: str, upto: int) -> tuple[pl.DataFrame | None, pl.DataFrame]:
    """Return rows with their positions, and the rows that are still to be ranked.

    Parameters
    ----------
    frame : polars.DataFrame
        Rows to rank; no score is missing.
    key, score : str
        The list and what ranks it, the highest first.
    upto : int
        How many places matter.

    Returns
    -------
    placed : polars.DataFrame or None
        The first rows of lists without ties there, and where they stand; None where the short way is none.
    rest : polars.DataFrame
        Whatever can be among the first rows of the other lists.
    """
    lists, scores = _codes(frame.get_column(key)), frame.get_column(score)
    if lists is None or lists.null_count() or frame.height < WORTH_IT * upto:
        return None, frame
    first, last = int(lists.min()), int(lists.max())  # type: ignore[arg-type]
    best, worst = float(scores.max()), float(scores.min())  # type: ignore[arg-type]
    row_bits = (frame.height - 1).bit_length()
    score_bits = min(MOST_BITS, BITS - (last - first).bit_length() - row_bits)
    spread = best - worst
    dense = (last - first + 1) * upto * WORTH_IT <= frame.height
    if not dense or score_bits < FEWEST_BITS or not 0 < spread < math.inf:
        return None, frame
    scale = (2.0**score_bits - 1) / spread
    if not scale < math.inf:
        return None, frame
    below_best = ((best - pl.col("score").cast(pl.Float64)) * scale).cast(pl.Int64)
    code = (pl.col("list").cast(pl.Int64) - first) * 2**score_bits + below_best
    columns = pl.DataFrame([lists.alias("list"), scores.alias("score")]).lazy().with_row_index("row")
    packed = _sorted(_collect(columns.select((code * 2**row_bits + pl.col("row")).alias("packed"))).to_series())

    # Where each list starts and ends; an empty list starts where it ends.
    borders = packed.search_sorted(pl.int_range(last - first + 2, eager=True) * 2 ** (score_bits + row_bits))
    spans = pl.DataFrame({"start": borders.cast(pl.Int64).head(-1), "end": borders.cast(pl.Int64).tail(-1)})
    spans = spans.filter(pl.col("start") < pl.col("end"))
    # Scores that fall together with that of the last place stay too, as blocks of ties must stay whole.
    edge = spans.select(pl.min_horizontal(pl.col("start") + upto, "end")).to_series()
    limit = (packed.gather(edge - 1) // 2**row_bits + 1) * 2**row_bits
    spans = spans.with_columns(packed.search_sorted(limit).cast(pl.Int64).alias("stop"))
    ranges = spans.select(
        pl.int_ranges("start", "stop").alias("place"),
        pl.int_ranges(1, pl.col("stop") - pl.col("start") + 1).alias(START),
    )
    places = ranges.explode("place", START)
    chosen = packed.gather(places.get_column("place"))
    bits = chosen // 2**row_bits
    short = frame.select(pl.all().gather(chosen % 2**row_bits))
    together = bits == bits.shift(1)
    if not together.any():
        return short.with_columns(places.get_column(START)), short.clear()
    doubtful = pl.DataFrame([(bits // 2**score_bits).alias("list"), together.fill_null(value=False).alias("together")])
    unclear = doubtful.select(pl.col("together").any().over("list")).to_series()
    return short.with_columns(places.get_column(START)).filter(~unclear), short.filter(unclear)


def _collect(frame: pl.LazyFrame) -> pl.DataFrame:
    """Return a plan's data frame, computed by all cores where the engine for that is stable."""
    collected: pl.DataFrame = frame.collect(engine="streaming") if pl.__version__ >= "2" else frame.collect()
    return collected


def _sorted(packed: pl.Series) -> pl.Series:
    """Return the integers sorted: by NumPy if it is there anyway, which is faster unless there are many cores."""
    numpy = sys.modules.get("numpy")
    if numpy is None or pl.thread_pool_size() > MANY_CORES:
        return packed.sort()
    return pl.Series(numpy.sort(packed.to_numpy()))


def _codes(lists: pl.Series) -> pl.Series | None:
    """Return the lists as integers; None where they are of another kind."""
    if lists.dtype.is_integer():
        return lists
    return lists.to_physical() if lists.dtype == pl.Categorical else None


def pays_to_encode(keys: pl.Series) -> bool:
    """Return whether text repeats so often that encoding it once is faster than comparing it again and again."""
    drawn = min(SAMPLE, len(keys))
    different = keys.sample(drawn, with_replacement=True, seed=0).n_unique()
    # Of m keys drawn from n > m different ones about m²/2n are repeated; of fewer, most are seen.
    about = 2 * different if 2 * different < drawn else drawn**2 / (2 * max(drawn - different, 1))
    return about * REPEATED <= len(keys)
