"""Ranks the rows of a lazy polars frame as those of a data frame: when the plan runs, by one sort of packed integers.

A plan by windows sorts each list for itself, which takes two to three times as long and more memory. So the plan holds
a function of Python, to which polars hands the three or four columns that matter.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from recframe._columns import SIZE, START
from recframe._engines import polars_sort, polars_texts
from recframe._engines.polars_compat import collect
from recframe._engines.polars_schema import KNOWS_SCHEMA_LATER
from recframe._engines.polars_sort import Mark

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._engines.base import Needed


def rank_rows(
    frame: pl.LazyFrame, keys: Sequence[str], score: str, upto: int | None, needed: Needed | None
) -> pl.LazyFrame | None:
    """Return rows as `polars_sort.rank_rows` does, in any order; None where polars does not tell the types later."""
    if not KNOWS_SCHEMA_LATER:
        return None
    return frame.pipe_with_schema(partial(_ranked_later, tuple(keys), score, upto, Mark.of(needed)))


def _ranked_later(
    keys: Sequence[str], score: str, upto: int | None, mark: Mark | None, frame: pl.LazyFrame, schema: pl.Schema
) -> pl.LazyFrame:
    """Return the rows of a plan whose types are known."""
    types = {name: dtype for name, dtype in schema.items() if name != score}
    return frame.map_batches(
        partial(_ranked, keys, score, upto, mark),
        schema=types | {START: pl.Int64(), SIZE: pl.Int64()},
        predicate_pushdown=False,
        projection_pushdown=False,
        slice_pushdown=False,
    )


def _ranked(keys: Sequence[str], score: str, upto: int | None, mark: Mark | None, frame: pl.DataFrame) -> pl.DataFrame:
    """Return the ranked rows of a data frame."""
    texts = {}
    for key in keys:
        if frame.schema[key] == pl.String and frame.height:
            (numbers,), texts[key] = polars_texts.encoded([frame.get_column(key)])
            frame = frame.with_columns(numbers)
    found = polars_sort.rank_rows(frame, keys, score, upto, mark)
    found = _ranked_by_windows(frame, keys, score, upto, mark) if found is None else found
    return found.with_columns(pl.lit(known).gather(pl.col(key)).alias(key) for key, known in texts.items())


def _ranked_by_windows(
    frame: pl.DataFrame, keys: Sequence[str], score: str, upto: int | None, mark: Mark | None
) -> pl.DataFrame:
    """Return the same where the numbers do not fit: keys that are no numbers or missing, scores too far apart."""
    start = pl.col(score).rank("min", descending=True).over(keys).cast(pl.Int64).alias(START)
    rows = frame.lazy().with_columns(start).drop(score)
    rows = rows if upto is None else rows.filter(pl.col(START) <= upto)
    rows = rows.with_columns(pl.len().over(*keys, START).cast(pl.Int64).alias(SIZE))
    return collect(rows if mark is None else rows.filter(mark.of_frame()))
