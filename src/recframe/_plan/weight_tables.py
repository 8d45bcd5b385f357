"""The weights of tied blocks: sums of weights over the positions before a block, and up to its end."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import narwhals as nw

from recframe._columns import BEFORE, POSITION, SIZE, START, UPTO, before_column
from recframe._plan.sum_columns import KEPT
from recframe.metrics._row import cut

if TYPE_CHECKING:
    from recframe.metrics._row import Weight


MOST_POSITIONS = 1_000
"""Up to more positions, a table of those that lists have is likely shorter than one of all."""
GREATEST_END = nw.col(UPTO).max()
"""The last position of all tied blocks."""


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
    return cut(of(position), position, k) + 0.0 * position


@lru_cache(KEPT)
def ends_of_blocks(upto: int | None) -> tuple[nw.Expr, nw.Expr]:
    """Return the last position before a row's tied block, and the last one of the block."""
    before = nw.col(START).cast(nw.Int64()) - 1
    ends = {BEFORE: before, UPTO: before + nw.col(SIZE).cast(nw.Int64())}
    if upto is not None:
        ends = {side: nw.when(end < upto).then(end).otherwise(upto) for side, end in ends.items()}
    first, last = (end.cast(nw.Int64()).alias(side) for side, end in ends.items())
    return first, last
