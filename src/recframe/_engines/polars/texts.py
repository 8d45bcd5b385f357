"""Encodes keys of text as integers, because integers are compared, sorted and joined much faster.

Equal texts have equal hashes. Texts that repeat are encoded by a table: the hash's last bits are the slot, and each
slot that a sample of the rows fills is one number. The other texts are sorted by hash and row. Equal texts then follow
each other, and each hash becomes one number. In both ways, every text is compared with the text of its number, and
texts that differ get other numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from recframe._base.columns import ROW
from recframe._engines.packing import BITS
from recframe._engines.polars.compat import FEW_ROWS
from recframe._engines.polars.pack import FEW, in_order_of_rows, sort_integers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

HASH_BITS = 64
RUNS = 4
"""From this average length of runs of equal texts, only the first row of each run is encoded."""

SAMPLED = 4
"""Every fourth row is in the sample that fills the table."""
SLOTS_BITS = 2
"""A slot has so many bits fewer than the number of rows, because a larger table is slower to read."""
REPEATS = 2
"""From this average number of rows per filled slot, a table is faster than a sort."""
ENCODED_PARTS = 16
"""The number of parts in which the table is read. Small parts need no new memory."""

HASH = "hash"
NUMBER = "number"
TEXT = "text"
OTHER = "other"


class _Encoded(NamedTuple):
    """Texts as numbers."""

    numbers: pl.Series
    known: pl.Series
    """The text of each number."""
    others: pl.Series
    """Whether a text differs from the text of its number, so that it needs another one."""


def encoded(columns: Sequence[pl.Series]) -> tuple[list[pl.Series], pl.Series]:
    """Return columns of text as integers, with equal numbers for equal texts, and the text of each number."""
    texts = pl.concat([column.alias(TEXT) for column in columns], rechunk=True)
    in_runs = all(RUNS * _heads(some).sum() <= len(some) for some in (texts.head(FEW), texts))
    numbers, unique = _encoded(texts.filter(_heads(texts)) if in_runs else texts)
    numbers = numbers.gather(texts.rle_id()) if in_runs else numbers
    coded = []
    start = 0
    for column in columns:
        coded.append(numbers.slice(start, len(column)).alias(column.name))
        start += len(column)
    return coded, unique


def _heads(values: pl.Series) -> pl.Series:
    """Return which values differ from the previous one."""
    return (
        values.to_frame().select(pl.first().ne_missing(pl.first().shift(1)) | (pl.int_range(pl.len()) == 0)).to_series()
    )


def _by_table(texts: pl.Series) -> _Encoded | None:
    """Return numbers by a table of hashes, or None if few texts repeat."""
    if len(texts) <= FEW_ROWS:
        return None
    slot_count = 2 ** max(len(texts).bit_length() - SLOTS_BITS, 0)
    slot = (_hash(TEXT) & pl.lit(slot_count - 1, dtype=pl.UInt64)).cast(pl.UInt32)
    sample = texts.gather_every(SAMPLED)
    rows = _table(sample.to_frame(TEXT).select(slot).to_series(), slot_count, empty=len(sample))
    filled = (rows < len(sample)).arg_true()
    unique = sample.gather(rows.gather(filled))
    if REPEATS * len(unique) > len(sample):
        return None
    # An empty slot has the number of another slot. So the texts in it differ from the text of their number.
    numbers = pl.lit(_table(filled, slot_count, empty=0))
    number = numbers.gather(slot).alias(NUMBER)
    other = pl.lit(unique).gather(NUMBER).ne_missing(pl.col(TEXT)).alias(OTHER)
    size = -(-len(texts) // ENCODED_PARTS)
    parts = [texts.slice(start, size).to_frame(TEXT).lazy() for start in range(0, len(texts), size)]
    collected = pl.collect_all([part.select(TEXT, number).select(NUMBER, other) for part in parts])
    both = pl.concat(collected, rechunk=True)
    return _Encoded(both.get_column(NUMBER), unique, both.get_column(OTHER))


def _table(slots: pl.Series, slot_count: int, *, empty: int) -> pl.Series:
    """Return the last index of each slot in `slots`, and `empty` for a slot that is not there."""
    rows = pl.int_range(len(slots), dtype=pl.UInt32, eager=True)
    return pl.repeat(empty, slot_count, dtype=pl.UInt32, eager=True).scatter(slots, rows)


def _by_sort(texts: pl.Series) -> _Encoded:
    """Return numbers by a sort of hashes."""
    row_bits = (len(texts) - 1).bit_length()
    hashes = texts.to_frame(TEXT).select(_hash(TEXT)).to_series() // 2 ** (HASH_BITS - BITS + row_bits)
    packed = hashes.cast(pl.Int64).to_frame(HASH).select(pl.first() * 2**row_bits + pl.int_range(pl.len()))
    ordered = sort_integers(packed.to_series()).to_frame(HASH)
    rows = ordered.select((pl.first() % 2**row_bits).alias(ROW)).to_series()
    number = ordered.select(pl.first() // 2**row_bits).to_series().rle_id()
    numbers = in_order_of_rows(rows, number, len(texts)).alias(NUMBER)
    unique = texts.gather(rows.filter(_heads(number)))
    return _Encoded(numbers, unique, unique.gather(numbers).ne_missing(texts))


def _by_join(texts: pl.Series) -> _Encoded:
    """Return numbers by a join of the texts themselves, which is slower but does not depend on hashes."""
    unique = texts.unique(maintain_order=True)  # in order, so that equal frames get equal numbers
    numbers = texts.to_frame(TEXT).join(unique.to_frame(TEXT).with_row_index(NUMBER), on=TEXT, maintain_order="left")
    return _Encoded(numbers.get_column(NUMBER), unique, pl.repeat(value=False, n=len(texts), eager=True))


def _hash(name: str) -> pl.Expr:
    """Return the hash of each text."""
    return pl.col(name).hash()


def _encoded(
    texts: pl.Series, ways: Sequence[Callable[[pl.Series], _Encoded | None]] = (_by_table, _by_sort, _by_join)
) -> tuple[pl.Series, pl.Series]:
    """Return texts as numbers, and the text of each number. Texts that one way cannot encode are left to the next."""
    encoding = ways[0](texts)
    if encoding is None:
        return _encoded(texts, ways[1:])
    numbers, unique, others = encoding
    if texts.null_count():
        missing = texts.is_null()
        numbers = numbers.to_frame().select(pl.when(~missing).then(pl.first())).to_series()
        others = others & ~missing
    if not others.any():
        return numbers, unique
    more, new = _encoded(texts.filter(others), ways[1:])
    # With more than 2^32 rows, polars uses longer integers than the table.
    more = (more + len(unique)).cast(numbers.dtype)
    return numbers.scatter(others.arg_true(), more), pl.concat([unique, new])
