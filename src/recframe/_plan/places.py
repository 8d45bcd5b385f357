"""Places: the positions within a tied block, with the probability that a certain hit is there."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import narwhals as nw

from recframe._base.columns import (
    BLOCK_HITS,
    BLOCK_NONRELEVANT,
    BLOCK_POOLED,
    CHANCE,
    HIT,
    HITS_BEFORE,
    INFERRED,
    MARKED,
    NONRELEVANT_BEFORE,
    NTH,
    ORDER,
    PASSED,
    PLACE_COUNT,
    POOLED_BEFORE,
    POSITION,
    SIZE,
    START,
)
from recframe._plan import ranks
from recframe.metrics._row import ALL_HITS, EPSILON, FIRST_HIT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._base.columns import Frame
    from recframe._engines.base import Engine
    from recframe._plan.opened import Opened


def first_hit_places(context: Opened, hits: Frame) -> Frame:
    """Return the places where a list's first hit may be, if tied hits compete for it, with each place's probability."""
    upto = context.requirements.place_cutoffs[FIRST_HIT]
    several = hits.filter(nw.col(HIT) > 0, ranks.HOLDS_SEVERAL_FIRST_HITS)
    blocks = _up_to(several.select(*context.keys.group, START, SIZE, BLOCK_HITS).unique(), upto)
    return ranks.chances(repeated(context.engine, blocks, nw.col(SIZE), _left(upto)), context.keys.group)


def all_hits_places(context: Opened, hits: Frame) -> Frame:
    """Return the hits of the tied blocks whose hits may all be at positions that are read, numbered in each block."""
    upto = context.requirements.place_cutoffs[ALL_HITS]
    # Without a cutoff, no block straddles one: such a metric has no places.
    assert upto is not None  # noqa: S101 - for the type checker
    tied = hits.filter(nw.col(HIT) > 0, nw.col(SIZE) > 1, nw.col(BLOCK_HITS) <= upto - nw.col(START) + 1)
    return repeated(
        context.engine, tied.select(*context.keys.group, START, SIZE, BLOCK_HITS).unique(), nw.col(BLOCK_HITS)
    )


def marked_places(
    context: Opened, blocks: Frame, keys: Sequence[str], upto: int | None = None, most: float = math.inf
) -> Frame:
    """Return the places that each of the first `most` marked rows of a tied block may have, with probabilities.

    Of m marked rows in a block of t rows, the i-th has the j-th place with the probability
    C(j-1, i-1) · C(t-j, m-i) / C(t, m). It is computed as a product: along i up to j = i, then along j.
    """
    size = nw.col(SIZE)
    marked = nw.col(MARKED)
    nth = nw.col(NTH)
    position = nw.col(POSITION)
    blocks = _up_to(blocks, upto).with_columns(nw.col(SIZE).cast(nw.Float64()))
    left = _left(upto)
    count = marked if math.isinf(most) else nw.when(marked > most).then(most).otherwise(marked)
    frame = repeated(context.engine, blocks, count, left)
    frame = frame.with_columns(position.cast(nw.Float64()).alias(NTH)).drop(POSITION)
    frame = frame.with_columns(((marked - nth + 1) / (size - nth + 1)).log().alias(PASSED))
    block = [*keys, START]
    frame = frame.with_columns(nw.col(PASSED).cum_sum().over(*block, order_by=NTH).alias(CHANCE))
    left = None if left is None else left - nth + 1
    frame = repeated(context.engine, frame, size - marked + 1, left)
    frame = frame.with_columns(position.cast(nw.Float64()))
    divisor = nw.when(position > 1).then((position - 1) * (size - nth - position + 2)).otherwise(1.0)
    ratio = nw.when(position > 1).then((nth + position - 2) * (size - marked - position + 2) / divisor).otherwise(1.0)
    frame = frame.with_columns(ratio.log().alias(PASSED))
    passed = nw.col(PASSED).cum_sum().over(*block, NTH, order_by=POSITION)
    frame = frame.with_columns((nw.col(CHANCE) + passed).exp().alias(CHANCE))
    return frame.with_columns((nw.col(START).cast(nw.Float64()) + nth + position - 2).alias(POSITION))


def with_first_pairs(context: Opened, rows: Frame, n: int, column: str, *, tied: bool) -> Frame:
    """Add how many of the list's first n irrelevant rows come after each hit; for tied hits, the expected number.

    A hit with n or more hits ahead gets 0.
    """

    def ahead_of(position: nw.Expr, hits: nw.Expr) -> nw.Expr:
        left = n - (position - 1 - hits)
        return nw.when((hits < n) & (left > 0)).then(left).otherwise(0.0)

    engine = context.engine
    hits = nw.col(HITS_BEFORE)
    rows = rows.with_columns(ahead_of(nw.col(ORDER), hits).alias(column))
    if not tied:
        return rows
    blocks = rows.filter((nw.col(HIT) > 0) & (nw.col(SIZE) > 1) & (hits < n))
    start = nw.col(ORDER).cast(nw.Int64()).alias(START)
    marked = nw.col(BLOCK_HITS).alias(MARKED)
    blocks = blocks.select(*context.keys.group, start, SIZE, HITS_BEFORE, marked).unique()
    # The first 2n positions hold at least n hits or at least n other rows.
    places = marked_places(context, blocks, context.keys.group, 2 * n, n)
    expected = nw.col(CHANCE) / nw.col(MARKED) * ahead_of(nw.col(POSITION), hits + nw.col(NTH) - 1)
    block = [*context.keys.group, START]
    sums = engine.sum_exactly(places.select(*block, expected.alias(CHANCE)), block, [CHANCE])
    sums = sums.with_columns(nw.col(START).cast(nw.Float64())).rename({START: ORDER})
    rows = engine.join(rows, sums, [*context.keys.group, ORDER])
    mean = nw.when(nw.col(SIZE) > 1).then(nw.col(CHANCE).fill_null(0.0)).otherwise(nw.col(column))
    return rows.with_columns(mean.alias(column)).drop(CHANCE)


def with_inferred_precision(context: Opened, rows: Frame, *, tied: bool) -> Frame:
    """Add the inferred precision at a hit to each row of the hit's tied block.

    A hit is equally likely to be any of the block's judged rows, from the first to the last. The judged rows ahead of
    it are hits in proportion, and the other rows ahead of it are in the pool in proportion.
    """
    start = nw.col(START).cast(nw.Float64())
    before = nw.col(HITS_BEFORE), nw.col(NONRELEVANT_BEFORE), nw.col(POOLED_BEFORE)
    rows = rows.with_columns(_inferred(*before, start).alias(INFERRED))
    if not tied:
        return rows
    columns = [HITS_BEFORE, BLOCK_HITS, NONRELEVANT_BEFORE, BLOCK_NONRELEVANT, POOLED_BEFORE, BLOCK_POOLED]
    blocks = (
        rows.filter((nw.col(HIT) > 0) & (nw.col(SIZE) > 1)).select(*context.keys.group, START, SIZE, *columns).unique()
    )
    marked = nw.col(MARKED)
    size = nw.col(SIZE)
    blocks = blocks.with_columns((nw.col(BLOCK_HITS) + nw.col(BLOCK_NONRELEVANT)).alias(MARKED))
    places = marked_places(context, blocks, context.keys.group)
    judged = nw.col(NTH) - 1
    hits = nw.when(marked > 1).then(judged * (nw.col(BLOCK_HITS) - 1) / (marked - 1)).otherwise(0.0)
    others = nw.col(POSITION) - start - judged
    pooled = nw.when(size > marked).then(others * (nw.col(BLOCK_POOLED) - marked) / (size - marked)).otherwise(0.0)
    ahead = before[0] + hits, before[1] + judged - hits, before[2] + judged + pooled
    expected = nw.col(CHANCE) / marked * _inferred(*ahead, nw.col(POSITION))
    sums = context.engine.sum_exactly(
        places.select(*context.keys.group, START, expected.alias(CHANCE)), [*context.keys.group, START], [CHANCE]
    )
    rows = context.engine.join(rows, sums, [*context.keys.group, START])
    return rows.with_columns(nw.when(size > 1).then(nw.col(CHANCE)).otherwise(nw.col(INFERRED)).alias(INFERRED))


def _inferred(hits: nw.Expr, nonrelevant: nw.Expr, pooled: nw.Expr, position: nw.Expr) -> nw.Expr:
    """Return the precision at a hit, estimated from the counts of rows ahead of it."""
    return (pooled * (hits + EPSILON) / (hits + nonrelevant + 2 * EPSILON) + 1.0) / position


def repeated(engine: Engine, rows: Frame, count: nw.Expr, most: nw.Expr | None = None) -> Frame:
    """Return `count` copies of each row, at most `most`, numbered from 1."""
    count = count if most is None else nw.when(count > most).then(most).otherwise(count)
    return engine.repeat(rows.with_columns(count.cast(nw.Int64()).alias(PLACE_COUNT)), PLACE_COUNT)


def _up_to(blocks: Frame, upto: int | None) -> Frame:
    """Return the tied blocks that start at the last read position or before."""
    return blocks if upto is None else blocks.filter(nw.col(START) <= upto)


def _left(upto: int | None) -> nw.Expr | None:
    """Return how many positions of a tied block are read, or None for all."""
    return None if upto is None else upto - nw.col(START) + 1
