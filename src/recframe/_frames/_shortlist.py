"""The rows of a polars frame that can be among the first k of their list, found by one sort of packed integers.

Ranking costs most of a call, and only its first k places matter. Each row becomes one integer: its list, its
score scaled to the bits that are left, its row number. Sorted, the best rows of a list stand at its start. Scaling
may make scores equal but never swaps them, so what is left out is sure to rank below k; what stays is ranked exactly.
"""

from __future__ import annotations

import math

import polars as pl

__all__ = ["shortlist"]

BITS = 62
"""What a signed integer holds beside its sign and the end of the last list."""
FEWEST_BITS = 8
"""Of a score, below which too many scores would fall together."""
MOST_BITS = 52
"""Of a score, which a float can tell apart."""
WORTH_IT = 4
"""How many times as many rows as places there must be, so that finding the rows pays."""


def shortlist(frame: pl.DataFrame, key: str, score: str, upto: int) -> pl.DataFrame:
    """Return the rows that can be among the first `upto` of their list, or the frame where the short way is none.

    Parameters
    ----------
    frame : polars.DataFrame
        Rows to rank; no score is missing.
    key, score : str
        The list and what ranks it, the highest first.
    upto : int
        How many places matter.
    """
    lists, scores = frame.get_column(key), frame.get_column(score)
    if not lists.dtype.is_integer() or lists.null_count() or frame.height < WORTH_IT * upto:
        return frame
    first, last = int(lists.min()), int(lists.max())  # type: ignore[arg-type]
    best, worst = float(scores.max()), float(scores.min())  # type: ignore[arg-type]
    row_bits = (frame.height - 1).bit_length()
    score_bits = min(MOST_BITS, BITS - (last - first).bit_length() - row_bits)
    spread = best - worst
    dense = (last - first + 1) * upto * WORTH_IT <= frame.height
    if not dense or score_bits < FEWEST_BITS or not 0 < spread < math.inf:
        return frame
    scale = (2.0**score_bits - 1) / spread
    if not scale < math.inf:
        return frame
    below_best = ((best - pl.col(score).cast(pl.Float64)) * scale).cast(pl.Int64)
    packed_row = (pl.col(key).cast(pl.Int64) - first) * 2**score_bits + below_best
    row = pl.int_range(pl.len(), dtype=pl.Int64)
    packed = frame.select((packed_row * 2**row_bits + row).alias("packed")).get_column("packed").sort()

    # Where each list starts and ends; an empty list starts where it ends.
    borders = packed.search_sorted(pl.int_range(last - first + 2, eager=True) * 2 ** (score_bits + row_bits))
    spans = pl.DataFrame({"start": borders.cast(pl.Int64).head(-1), "end": borders.cast(pl.Int64).tail(-1)})
    spans = spans.filter(pl.col("start") < pl.col("end"))
    # Scores that fall together with that of the last place stay too, as blocks of ties must stay whole.
    edge = spans.select(pl.min_horizontal(pl.col("start") + upto, "end")).to_series()
    limit = (packed.gather(edge - 1) // 2**row_bits + 1) * 2**row_bits
    spans = spans.with_columns(packed.search_sorted(limit).cast(pl.Int64).alias("stop"))
    places = spans.select(pl.int_ranges("start", "stop").alias("place")).explode("place").get_column("place")
    rows = packed.gather(places) % 2**row_bits
    return frame.select(pl.all().gather(rows))
