"""Random numbers that belong to values, not to rows: the same on every engine, in any order of the rows."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import narwhals as nw

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._base.columns import Frame
    from recframe._engines.base import Engine


FIELD_SIZE = 2**31 - 1
"""How many numbers there are: a prime whose squares fit 64 bits."""
STATE = "state"
STATE_SQUARED = "square"
VALUE_RANK = "rank"


def replace_by_ranks(engine: Engine, frame: Frame, columns: Sequence[str]) -> Frame:
    """Replace columns by the ranks of their values among the distinct values, from 1; 0 if missing.

    A rank is the same on every engine: numbers are ordered by size, text by its characters, dates by time.
    """
    for name in columns:
        # Sort the distinct values, because they are fewer than the rows.
        rank = nw.col(name).rank("dense").fill_null(0).cast(nw.Int64())
        values = engine.collect_once(frame.select(name).unique()).with_columns(rank.alias(VALUE_RANK))
        frame = engine.join(frame, engine.collect_once(values), [name]).drop(name).rename({VALUE_RANK: name})
    return frame


def scramble(frame: Frame, columns: Sequence[str], seed: str, name: str) -> Frame:
    """Add random numbers from 0 to `FIELD_SIZE` - 1 that depend on the whole numbers in some columns and on a seed.

    A cipher on the field of that many elements: values are added one after the other, and between them the state goes
    through x ↦ (x + c)⁵, which maps the field onto itself. The constants c come from the seed. Only whole numbers
    below 2⁶² are multiplied and divided, so that all engines agree to the last bit.
    """
    frame = frame.with_columns(nw.lit(0, nw.Int64()).alias(STATE))
    addends = [addend for column in (*columns, None) for addend in (column, None)]
    for step, addend in enumerate(addends):
        added = nw.col(STATE) + _constant(seed, step)
        added = added if addend is None else added + nw.col(addend)
        frame = frame.with_columns((added % FIELD_SIZE).alias(STATE))
        frame = frame.with_columns((nw.col(STATE) * nw.col(STATE) % FIELD_SIZE).alias(STATE_SQUARED))
        fourth = nw.col(STATE_SQUARED) * nw.col(STATE_SQUARED) % FIELD_SIZE
        frame = frame.with_columns((fourth * nw.col(STATE) % FIELD_SIZE).alias(STATE))
    return frame.with_columns(nw.col(STATE).alias(name)).drop(STATE, STATE_SQUARED)


def _constant(seed: str, step: int) -> int:
    """Return the constant c of a step, which the seed decides."""
    digest = hashlib.blake2b(f"{seed}/{step}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") % FIELD_SIZE
