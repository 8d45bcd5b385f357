"""Sums of a metric's position weights: over the positions before a tied block, and up to its end."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import narwhals as nw

from recframe._base.columns import BEFORE, POSITION, SIZE, START, UPTO, before_column
from recframe._plan.sum_columns import EXPRESSION_CACHE_SIZE
from recframe.metrics._row import cut

if TYPE_CHECKING:
    from recframe.metrics._row import Weight


MOST_POSITIONS = 1_000
"""Above this cutoff the table stops at the longest list, which is likely shorter than the cutoff."""
GREATEST_END = nw.col(UPTO).max()
"""The last position of all tied blocks."""


class WeightSums(NamedTuple):
    """One weight, and its running sum over the positions."""

    number: int
    k: int | None
    """The last position that counts."""
    weight: nw.Expr
    sums: nw.Expr
    """The sum of the weight up to each position."""

    @classmethod
    def of(cls, number: int, weight: Weight, k: int | None) -> WeightSums:
        """Return a weight up to position k with its running sum."""
        weights = _weights(weight, k)
        return cls(number, k, weights, weights.cum_sum().over(order_by=POSITION).alias(before_column(number)))


def _weights(weight: Weight, k: int | None) -> nw.Expr:
    """Return the weight of each position, 0 after position k."""
    position = nw.col(POSITION).cast(nw.Float64())
    # A constant weight has no column. Adding 0 · position gives it one value per row.
    return cut(weight(position), position, k) + 0.0 * position


@lru_cache(EXPRESSION_CACHE_SIZE)
def ends_of_blocks(upto: int | None) -> tuple[nw.Expr, nw.Expr]:
    """Return the last position before a row's tied block, and the block's last position."""
    before = nw.col(START).cast(nw.Int64()) - 1
    ends = {BEFORE: before, UPTO: before + nw.col(SIZE).cast(nw.Int64())}
    if upto is not None:
        ends = {side: nw.when(end < upto).then(end).otherwise(upto) for side, end in ends.items()}
    first, last = (end.cast(nw.Int64()).alias(side) for side, end in ends.items())
    return first, last
