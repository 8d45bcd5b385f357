"""Keys of text as whole numbers, which are compared, sorted and joined in a fraction of the time.

Equal texts have equal hashes. Sorted by hash and row, equal texts follow each other, and each hash becomes one number.
Every text is then compared with the first one of its number, and those that differ get numbers of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from recframe._columns import ROW
from recframe._engines.packing import BITS
from recframe._engines.polars_pack import FEW, in_order_of_rows, sort_integers

if TYPE_CHECKING:
    from collections.abc import Sequence

HASH_BITS = 64
RUNS = 4
"""How many rows the runs of equal texts must have on average, so that only their first rows are looked at."""

HASH, NUMBER, TEXT = "hash", "number", "text"


def encoded(columns: Sequence[pl.Series]) -> tuple[list[pl.Series], pl.Series]:
    """Return columns of text as whole numbers, the same number for the same text, and the text of each number."""
    texts = pl.concat([column.alias(TEXT) for column in columns], rechunk=True)
    in_runs = all(RUNS * _heads(some).sum() <= len(some) for some in (texts.head(FEW), texts))
    numbers, known = _encoded(texts.filter(_heads(texts)) if in_runs else texts)
    numbers = numbers.gather(texts.rle_id()) if in_runs else numbers
    found, start = [], 0
    for column in columns:
        found.append(numbers.slice(start, len(column)).alias(column.name))
        start += len(column)
    return found, known


def _heads(values: pl.Series) -> pl.Series:
    """Return which values differ from the previous one."""
    return (
        values.to_frame().select(pl.first().ne_missing(pl.first().shift(1)) | (pl.int_range(pl.len()) == 0)).to_series()
    )


def _encoded(texts: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Return texts as numbers, and the text of each number."""
    row_bits = (len(texts) - 1).bit_length()
    hashes = _hashes(texts) // 2 ** (HASH_BITS - BITS + row_bits)
    packed = hashes.cast(pl.Int64).to_frame(HASH).select(pl.first() * 2**row_bits + pl.int_range(pl.len()))
    ordered = sort_integers(packed.to_series()).to_frame(HASH)
    rows = ordered.select((pl.first() % 2**row_bits).alias(ROW)).to_series()
    number = ordered.select(pl.first() // 2**row_bits).to_series().rle_id()
    numbers = in_order_of_rows(rows, number, len(texts)).alias(NUMBER)
    known = texts.gather(rows.filter(_heads(number)))
    others = known.gather(numbers).ne_missing(texts)
    if texts.null_count():
        missing = texts.is_null()
        numbers, others = numbers.to_frame().select(pl.when(~missing).then(pl.first())).to_series(), others & ~missing
    return _apart(texts, numbers, known, others) if others.any() else (numbers, known)


def _hashes(texts: pl.Series) -> pl.Series:
    return texts.hash()


def _apart(texts: pl.Series, numbers: pl.Series, known: pl.Series, others: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Give texts that share the hash of another one numbers of their own."""
    new = texts.filter(others).unique()
    own = new.to_frame().with_row_index(NUMBER, offset=len(known))
    moved = texts.filter(others).to_frame().join(own, on=TEXT, how="left", maintain_order="left").get_column(NUMBER)
    return numbers.scatter(others.arg_true(), moved), pl.concat([known, new])
