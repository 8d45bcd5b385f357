"""Ranks the rows of a lazy polars frame as those of a data frame: when the plan runs, by one sort of packed integers.

A plan by windows sorts each list for itself, which takes two to three times as long and more memory. So the plan holds
a function of Python, to which polars hands the three or four columns that matter.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from recframe._columns import EQUAL, POSITION, SIZE, START
from recframe._engines import polars_sort, polars_texts
from recframe._engines.polars_compat import collect_columns
from recframe._engines.polars_runs import later
from recframe._engines.polars_schema import KNOWS_SCHEMA_LATER
from recframe._engines.polars_sort import Mark

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe._engines.base import Needed


def rank_rows(
    frame: pl.LazyFrame, keys: Sequence[str], score: str, upto: int | None, needed: Needed | None
) -> pl.LazyFrame | None:
    """Return rows as `polars_sort.rank_rows` does, in any order; None where polars does not tell the types later."""
    if not KNOWS_SCHEMA_LATER:
        return None
    ranked = partial(_ranked, tuple(keys), score, upto, Mark.of(needed))
    return later(frame, ranked, partial(_schema_with, {START: pl.Int64(), SIZE: pl.Int64()}, score))


def number_rows(frame: pl.LazyFrame, keys: Sequence[str], column: str, **how: bool) -> pl.LazyFrame | None:
    """Return rows as `polars_sort.number_rows` does, in any order; None as above."""
    if not KNOWS_SCHEMA_LATER:
        return None
    numbered = partial(_numbered, tuple(keys), column, how)
    new: dict[str, pl.DataType] = {name: pl.Float64() for name in (POSITION, *([EQUAL] if how.get("tied") else []))}
    return later(frame, numbered, partial(_schema_with, new, None))


def _schema_with(new: Mapping[str, pl.DataType], without: str | None, schema: pl.Schema) -> pl.Schema:
    """Return a schema with new columns, and without one of its own."""
    return pl.Schema({name: dtype for name, dtype in schema.items() if name != without} | dict(new))


def _ranked(keys: Sequence[str], score: str, upto: int | None, mark: Mark | None, frame: pl.DataFrame) -> pl.DataFrame:
    """Return the ranked rows of a data frame."""
    frame, texts = _with_numbers(frame, keys)
    return _with_texts(collect_columns(polars_sort.rank_rows(frame, keys, score, upto, mark, {})), texts)


def _numbered(keys: Sequence[str], column: str, how: Mapping[str, bool], frame: pl.DataFrame) -> pl.DataFrame:
    """Return the numbered rows of a data frame."""
    frame, texts = _with_numbers(frame, keys)
    return _with_texts(collect_columns(polars_sort.number_rows(frame, keys, column, **how)), texts)


def _with_numbers(frame: pl.DataFrame, keys: Sequence[str]) -> tuple[pl.DataFrame, dict[str, pl.Series]]:
    """Return a frame with numbers for keys of text, and the text of each number."""
    texts = {}
    for key in keys:
        if frame.schema[key] == pl.String and frame.height:
            (numbers,), texts[key] = polars_texts.encoded([frame.get_column(key)])
            frame = frame.with_columns(numbers)
    return frame, texts


def _with_texts(frame: pl.DataFrame, texts: Mapping[str, pl.Series]) -> pl.DataFrame:
    return frame.with_columns(pl.lit(known).gather(pl.col(key)).alias(key) for key, known in texts.items())
