"""The weights of tied blocks: sums of weights over the positions before a block, and up to its end."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import narwhals as nw

from recframe._columns import BEFORE, POSITION, SIZE, START, UPTO, WITH_BLOCK, before_column, upto_column
from recframe._plan.sum_columns import KEPT, constant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._columns import Frame
    from recframe._engines.base import Engine
    from recframe.metrics._row import Weight


MOST_POSITIONS = 1_000
"""Up to more positions, a table of those that lists have is likely shorter than one of all."""


class WeightSums(NamedTuple):
    """What the table of positions holds of one weight."""

    number: int
    k: int | None
    """The last position that counts."""
    weight: nw.Expr
    sums: nw.Expr
    """The sums up to each position."""

    @classmethod
    def of(cls, number: int, weight: Weight, k: int | None) -> WeightSums:
        """Return the sums of a weight."""
        one = _weight(weight, k)
        return cls(number, k, one, one.cum_sum().over(order_by=POSITION).alias(before_column(number)))


def _weight(of: Weight, k: int | None) -> nw.Expr:
    """Return the weight of a position, 0 past k, also where it is the same for all."""
    position = nw.col(POSITION).cast(nw.Float64())
    weight = of(position) if k is None else nw.when(position <= k).then(of(position)).otherwise(0.0)
    return weight + 0.0 * position


def with_weights(engine: Engine, rows: Frame, weights: Sequence[WeightSums], upto: int | None) -> Frame:
    """Look up the sums of each weight over the positions before a tied block, and up to its end.

    Past `upto`, the last position that counts, sums do not change.
    """
    rows = rows.with_columns(*_ends(upto))
    table = engine.positions(rows.select(_greatest_end()) if upto is None or upto > MOST_POSITIONS else upto)
    table = table.select(POSITION, *(weight.sums for weight in weights))
    rows = rows.join(table, left_on=BEFORE, right_on=POSITION, how="left")
    return rows.join(table, left_on=UPTO, right_on=POSITION, how="left", suffix=WITH_BLOCK)


def without_blocks(rows: Frame, weights: Sequence[WeightSums]) -> Frame:
    """Add the columns of tied blocks, which nothing reads where each is one row."""
    return rows.with_columns(*(constant(column, 0.0) for column in _columns(weights)))


def _columns(weights: Sequence[WeightSums]) -> list[str]:
    return [total(weight.number) for total in (before_column, upto_column) for weight in weights]


@lru_cache(KEPT)
def _ends(upto: int | None) -> tuple[nw.Expr, nw.Expr]:
    """Return the last position before a row's tied block, and the last one of the block."""
    before = nw.col(START).cast(nw.Int64()) - 1
    ends = {BEFORE: before, UPTO: before + nw.col(SIZE).cast(nw.Int64())}
    if upto is not None:
        ends = {side: nw.when(end < upto).then(end).otherwise(upto) for side, end in ends.items()}
    first, last = (end.cast(nw.Int64()).alias(side) for side, end in ends.items())
    return first, last


@lru_cache(1)
def _greatest_end() -> nw.Expr:
    return nw.col(UPTO).max()
