"""The overlap of two top-k rankings in each list, as an expected value over all orders of tied items.

A tied block has the positions a to b. In a random order, one of its items is among the first d positions with the
probability (d - a + 1) / (b - a + 1). The two rankings are ordered independently. So the expected number of items that
both have among the first d is a sum of products of two such probabilities. Measures that are linear in this number are
exact.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import narwhals as nw

from recframe._base.columns import COUNT, ITEM, POSITION, SCORE, SIZE, START
from recframe.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._base.columns import Frame
    from recframe._engines.base import Engine

LEFT = "left model"
"""The number of a pair's first model, the smaller number."""
RIGHT = "right model"
"""The number of a pair's second model."""
NUMBER = "model number"
OVERLAP = "overlap"
JACCARD = "jaccard"
RBO = "rbo"
END = "end"
"""The last position of a tied block."""
LENGTH = "top k length"
SHORT = "shorter length"
LONG = "longer length"
SHARED = "shared"
SHARED_IN_SHORTER = "shared up to the shorter length"
WEIGHTED = "weighted overlap"
WEIGHTED_TOP_K = "weighted overlap of the top k"
DEPTH = "depth"
BEFORE_BOTH = "depth before both"
"""The last depth before the item's tied blocks have started in both rankings."""
FIRST_END = "depth of the first end"
"""The depth from which one of the item's two probabilities no longer rises."""
LAST_END = "depth of the last end"
"""The depth from which neither of the item's two probabilities rises."""
TAILS = ("tail", "tail of depths", "tail of squares")
"""The sums of p^d / d, p^d and d p^d over the depths d after a depth, up to one depth after the longest top k.

Only differences between two such sums are used, so the later depths do not matter.
"""
of_left = "left {}".format
of_right = "right {}".format


class Ranking(NamedTuple):
    """The rows that one model ranks, or that all models rank in long format."""

    rows: Frame
    """The key, the item or the row's number, and the score; in long format also the model's number."""
    group: list[str]
    """The columns that identify a ranking."""
    number: int | None
    """The model's number; None in long format."""


def refuse_repeated_items(engine: Engine, rows: Frame, group: Sequence[str], item: str) -> None:
    """Raise if an eager ranking repeats an item, because the item's position would be ambiguous."""
    if not engine.eager:
        return
    count = rows.group_by(*group, ITEM).agg(nw.len().alias(COUNT))
    repeated = engine.scalar(count.filter(nw.col(COUNT) > 1).select(nw.len()))
    if repeated:
        msg = f"item={item!r} repeats items within lists: {repeated} of them"
        raise InputError(msg, "give each list's item one row; check() counts the others as duplicate_rows")


def overlaps(
    engine: Engine, rankings: Sequence[Ranking], keys: Sequence[str], item_column: str, k: int, p: float
) -> tuple[Frame, Frame]:
    """Return two frames: the lists of each pair of models with their overlaps, and the lists of each model.

    A model's lists are the lists in which it ranks an item. A pair's lists belong to both models. `item_column` is
    the column that identifies an item: the item within its list, or the number of the row.
    """
    blocks = [engine.collect_once(_tied_blocks(engine, ranking, [*keys, item_column], k)) for ranking in rankings]
    counts = [of_model.group_by(*keys, NUMBER).agg(nw.len().alias(LENGTH)) for of_model in blocks]
    lengths = engine.collect_once(engine.stack(counts))
    # In wide format, the last model is never the left one of a pair, and the first one is never the right one.
    sides = (blocks[:-1], blocks[1:]) if len(blocks) > 1 else (blocks, blocks)
    left, right = (engine.stack(side) for side in sides)
    pairs = engine.collect_once(_pairs(engine, lengths, keys, k))
    tails = engine.collect_once(_tails(engine, pairs, p))
    lists = [*keys, LEFT, RIGHT]
    shared = _shared_items(engine, left, right, keys, item_column)
    tied = any(engine.may_hold(side, nw.col(END) > nw.col(START)) for side in (left, right))
    if tied or engine.may_hold(pairs, nw.col(SHORT) < nw.col(LONG)):
        shared = engine.join(shared, pairs, lists)
    else:
        # All lists have the same length, so every shared item is also within the shorter one.
        shared = shared.with_columns(nw.lit(math.inf).alias(SHORT))
    terms = _terms if tied else _terms_without_ties
    sums = engine.sum_exactly(terms(engine, shared, tails), lists, [SHARED, SHARED_IN_SHORTER, WEIGHTED])
    table = engine.join(pairs, sums, lists).with_columns(nw.col(SHARED, SHARED_IN_SHORTER, WEIGHTED).fill_null(0.0))
    for length in (SHORT, LONG):
        table = looked_up(engine, table, tails, nw.col(length), TAILS[:1], of=length)
    return table.select(*lists, SHORT, LONG, SHARED, *_values(p)), lengths.select(*keys, NUMBER)


def _shared_items(engine: Engine, left: Frame, right: Frame, keys: Sequence[str], item_column: str) -> Frame:
    """Return the items that both models of a pair have in the top k, with their tied blocks in both rankings."""
    on = [*keys, ITEM] if item_column == ITEM else [item_column]
    left, right = _sides(_without_repeats(engine, left, keys), _without_repeats(engine, right, keys), (START, END))
    shared = engine.join(left, right.select(*on, RIGHT, of_right(START), of_right(END)), on)
    return shared.filter(nw.col(LEFT) < nw.col(RIGHT))


def _tied_blocks(engine: Engine, ranking: Ranking, columns: Sequence[str], k: int) -> Frame:
    """Return the rows of tied blocks that start in the top k, with the start and the end of the block."""
    rows = engine.rank_rows(ranking.rows, ranking.group, SCORE, k, None)
    start = nw.col(START).cast(nw.Float64())
    number = nw.col(NUMBER) if ranking.number is None else nw.lit(ranking.number).alias(NUMBER)
    return rows.select(*columns, number, start, (start + nw.col(SIZE) - 1).alias(END))


def _without_repeats(engine: Engine, blocks: Frame, keys: Sequence[str]) -> Frame:
    """Return each item of a list once, at its first position. Only lazy frames may repeat items."""
    return blocks if engine.eager else blocks.group_by(*keys, NUMBER, ITEM).agg(nw.col(START, END).min())


def _sides(left: Frame, right: Frame, columns: Sequence[str]) -> tuple[Frame, Frame]:
    """Return the frames of the left and the right models, with the side in the names of some columns."""
    return (
        left.rename({NUMBER: LEFT, **{name: of_left(name) for name in columns}}),
        right.rename({NUMBER: RIGHT, **{name: of_right(name) for name in columns}}),
    )


def _pairs(engine: Engine, lengths: Frame, keys: Sequence[str], k: int) -> Frame:
    """Return the lists of each pair of models, with the shorter and the longer length of their top k."""
    length = nw.col(LENGTH).cast(nw.Float64())
    lengths = lengths.with_columns(nw.when(length < k).then(length).otherwise(float(k)).alias(LENGTH))
    pairs = engine.join(*_sides(lengths, lengths, (LENGTH,)), keys).filter(nw.col(LEFT) < nw.col(RIGHT))
    both = (of_left(LENGTH), of_right(LENGTH))
    return pairs.with_columns(nw.min_horizontal(*both).alias(SHORT), nw.max_horizontal(*both).alias(LONG))


def _tails(engine: Engine, pairs: Frame, p: float) -> Frame:
    """Return TAILS, the sums of weights over later depths, for each depth from 0 to the longest top k.

    They are summed from the last depth, so that small weights do not lose precision.
    """
    table = engine.positions(pairs.select(nw.col(LONG).max() + 1))
    table = table.with_columns(nw.col(POSITION).cast(nw.Float64()).alias(DEPTH))
    depth = nw.col(DEPTH)
    power = (depth * math.log(p)).exp()
    terms = dict(zip(TAILS, (power / depth, power, power * depth), strict=True))
    table = table.with_columns((0.0 - depth).alias(DEPTH), **terms)
    table = table.with_columns(*(nw.col(name).cum_sum().over(order_by=DEPTH) for name in TAILS))
    return table.select((nw.col(POSITION).cast(nw.Int64()) - 1).alias(POSITION), *TAILS)


def looked_up(engine: Engine, frame: Frame, sums: Frame, depth: nw.Expr, names: Sequence[str], of: str) -> Frame:
    """Add columns of the table `sums` at a depth of each row. `of` names the depth in the new columns."""
    frame = frame.with_columns(depth.cast(nw.Int64()).alias(POSITION))
    joined = engine.join(frame, sums.select(POSITION, *names), [POSITION])
    return joined.rename({name: sums_at(name, of) for name in names}).drop(POSITION)


def sums_at(name: str, depth: str) -> str:
    """Return the name of a column that `looked_up` adds."""
    return f"{name} at {depth}"


def _terms_without_ties(engine: Engine, shared: Frame, tails: Frame) -> Frame:
    """Add the same columns as `_terms`, if no items tie."""
    depth = nw.max_horizontal(of_left(START), of_right(START))
    shared = looked_up(
        engine, shared.with_columns(depth.alias(DEPTH)), tails, nw.col(DEPTH) - 1, TAILS[:1], of=BEFORE_BOTH
    )
    early = nw.when(nw.col(DEPTH) <= nw.col(SHORT)).then(1.0).otherwise(0.0)
    weighted = nw.col(sums_at(TAILS[0], BEFORE_BOTH)).alias(WEIGHTED)
    return shared.with_columns((nw.col(DEPTH) * 0.0 + 1.0).alias(SHARED), early.alias(SHARED_IN_SHORTER), weighted)


def _terms(engine: Engine, shared: Frame, tails: Frame) -> Frame:
    """Add the terms of each shared item: SHARED, SHARED_IN_SHORTER and WEIGHTED, whose sums are the overlap of a list.

    SHARED and SHARED_IN_SHORTER are the probabilities that both models rank the item within the longer and the shorter
    length. WEIGHTED is their sum over all depths, weighted with p^d / d. The probability that the item is among the
    first d rises from the start of its block, and stays constant after the end of the block or of the top k.
    """
    shared = shared.with_columns(
        *((nw.col(side(END)) - nw.col(side(START)) + 1).alias(side(SIZE)) for side in (of_left, of_right)),
        *(nw.min_horizontal(side(END), side(LENGTH)).alias(side(END)) for side in (of_left, of_right)),
    )
    reached = nw.lit(1.0)
    early = nw.lit(1.0)
    for side in (of_left, of_right):
        start = nw.col(side(START))
        end = nw.col(side(END))
        size = nw.col(side(SIZE))
        up_to = nw.when(nw.col(SHORT) < end).then(nw.col(SHORT)).otherwise(end)
        reached = reached * ((end - start + 1) / size)
        early = early * nw.when(up_to < start).then(0.0).otherwise((up_to - start + 1) / size)
    both_start = nw.max_horizontal(of_left(START), of_right(START)) - 1
    first_end = nw.min_horizontal(of_left(END), of_right(END))
    shared = shared.with_columns(
        reached.alias(SHARED),
        early.alias(SHARED_IN_SHORTER),
        both_start.alias(BEFORE_BOTH),
        nw.when(first_end > both_start).then(first_end).otherwise(both_start).alias(FIRST_END),
        nw.max_horizontal(of_left(END), of_right(END)).alias(LAST_END),
    )
    for depth in (BEFORE_BOTH, FIRST_END, LAST_END):
        shared = looked_up(engine, shared, tails, nw.col(depth), TAILS, of=depth)
    return shared.with_columns(_weighted().alias(WEIGHTED))


def _weighted() -> nw.Expr:
    """Return the sum, over depths d, of p^d / d times the probability that an item is among the first d of both."""
    start = {side: nw.col(side(START)) for side in (of_left, of_right)}
    size = {side: nw.col(side(SIZE)) for side in (of_left, of_right)}
    # While both probabilities rise, their product is a quadratic polynomial of d: (d - start + 1) · (d - start + 1).
    linear = 2 - start[of_left] - start[of_right]
    constant = (1 - start[of_left]) * (1 - start[of_right])
    both = _between(BEFORE_BOTH, FIRST_END, (constant, linear, nw.lit(1.0))) / (size[of_left] * size[of_right])
    # Then one probability is constant, and the other still rises.
    left_ends_last = nw.col(of_left(END)) > nw.col(of_right(END))
    rising = {side: _between(FIRST_END, LAST_END, (1 - start[side], nw.lit(1.0))) / size[side] for side in start}
    ends = {side: (nw.col(side(END)) - start[side] + 1) / size[side] for side in start}
    left_rises = rising[of_left] * ends[of_right]
    right_rises = rising[of_right] * ends[of_left]
    single = nw.when(left_ends_last).then(left_rises).otherwise(right_rises)
    # After that, both are constant.
    return both + single + nw.col(SHARED) * nw.col(sums_at(TAILS[0], LAST_END))


def _between(start: str, end: str, factors: Sequence[nw.Expr]) -> nw.Expr:
    """Return the sum of weights times a polynomial of the depth, over the depths after `start` up to `end`."""
    total = nw.lit(0.0)
    for name, factor in zip(TAILS, factors, strict=False):
        total = total + factor * (nw.col(sums_at(name, start)) - nw.col(sums_at(name, end)))
    return total


def _values(p: float) -> list[nw.Expr]:
    """Return the measures of a list. The rank-biased overlap is equation 32 of Webber, Moffat and Zobel (2010)."""
    short = nw.col(SHORT)
    long = nw.col(LONG)
    shared = nw.col(SHARED)
    early = nw.col(SHARED_IN_SHORTER)
    below_short, below_long = (nw.col(sums_at(TAILS[0], length)) for length in (SHORT, LONG))
    first = nw.col(WEIGHTED) - shared * below_long
    power_short, power_long = ((length * math.log(p)).exp() for length in (short, long))
    second = early / short * ((power_short - power_long) * p / (1 - p) - short * (below_short - below_long))
    rbo = (1 - p) / p * (first + second) + ((shared - early) / long + early / short) * power_long
    values = {OVERLAP: shared / long, JACCARD: shared / (short + long - shared), RBO: rbo, WEIGHTED_TOP_K: first}
    return [value.alias(name) for name, value in values.items()]
