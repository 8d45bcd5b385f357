"""What the top k of two rankings share, list by list: the expected value over all orders of tied items.

In a random order of its tied block, an item of the positions a to b is among the first d with the probability
(d - a + 1) / (b - a + 1). Both rankings are ordered independently, so the expected number of items that both have among
the first d is a sum of products of two such probabilities, and every value that is linear in it is exact.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import narwhals as nw

from recframe._columns import COUNT, ITEM, POSITION, SCORE, SIZE, START
from recframe.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._columns import Frame
    from recframe._engines.base import Engine

LEFT, RIGHT = "left model", "right model"
"""The numbers of the models of a pair, the smaller one first."""
NUMBER = "model number"
OVERLAP, JACCARD, RBO = "overlap", "jaccard", "rbo"
END, LENGTH, SHORT, LONG = "end", "top k length", "shorter length", "longer length"
SHARED, EARLY, WEIGHTED = "shared", "shared up to the shorter length", "weighted overlap"
SEEN = "weighted overlap of the top k"
DEPTH, RISE, BEND, REST = "depth", "rise", "bend", "rest"
"""Depths: before both probabilities of an item rise, where one has reached its end, where both have."""
TAILS = ("tail", "tail of depths", "tail of squares")
"""The sums of p^d / d, p^d and d p^d over the depths d below a depth."""
of_left, of_right = "left {}".format, "right {}".format


class Ranking(NamedTuple):
    """The rows that one model ranks, or several models in long format."""

    rows: Frame
    """The key, the item or the row's number, and the score; in long format the number of the model."""
    group: list[str]
    """What tells the rankings apart."""
    number: int | None
    """The number of the one model."""


def refuse_repeated_items(engine: Engine, rows: Frame, group: Sequence[str], item: str) -> None:
    """Raise where an item is repeated in an eager ranking, so that it has no one place."""
    if not engine.eager:
        return
    count = rows.group_by(*group, ITEM).agg(nw.len().alias(COUNT))
    repeated = engine.scalar(count.filter(nw.col(COUNT) > 1).select(nw.len()))
    if repeated:
        msg = f"item={item!r} repeats items within lists: {repeated} of them"
        raise InputError(msg, "give each list's item one row; check() counts the others as duplicate_rows")


def overlaps(
    engine: Engine, rankings: Sequence[Ranking], keys: Sequence[str], same: str, k: int, p: float
) -> tuple[Frame, Frame]:
    """Return the lists of each pair of models, with what their top k share, and those of each model.

    A list is one of a model that ranks an item in it, and of a pair if it is one of both. Same: the column that two
    rows of one item share: the item within a list, or the number of the row.
    """
    placed = [engine.collect_once(_placed(engine, ranking, [*keys, same], k)) for ranking in rankings]
    counts = [one.group_by(*keys, NUMBER).agg(nw.len().alias(LENGTH)) for one in placed]
    lengths = engine.collect_once(engine.stack(counts))
    # Of models in columns, only an earlier one can be the left model of a pair.
    sides = (placed[:-1], placed[1:]) if len(placed) > 1 else (placed, placed)
    left, right = (engine.stack(side) for side in sides)
    pairs = engine.collect_once(_pairs(engine, lengths, keys, k))
    tails = engine.collect_once(_tails(engine, pairs, p))
    lists = [*keys, LEFT, RIGHT]
    on = [*keys, ITEM] if same == ITEM else [same]
    one, other = _sides(_once(engine, left, keys), _once(engine, right, keys), (START, END))
    shared = engine.join(one, other.select(*on, RIGHT, of_right(START), of_right(END)), on)
    shared = shared.filter(nw.col(LEFT) < nw.col(RIGHT))
    tied = any(engine.may_hold(side, nw.col(END) > nw.col(START)) for side in (left, right))
    if tied or engine.may_hold(pairs, nw.col(SHORT) < nw.col(LONG)):
        shared = engine.join(shared, pairs, lists)
    else:
        shared = shared.with_columns(nw.lit(math.inf).alias(SHORT))
    terms = _terms if tied else _terms_without_ties
    sums = engine.sum_exactly(terms(engine, shared, tails), lists, [SHARED, EARLY, WEIGHTED])
    table = engine.join(pairs, sums, lists).with_columns(nw.col(SHARED, EARLY, WEIGHTED).fill_null(0.0))
    for length in (SHORT, LONG):
        table = looked_up(engine, table, tails, nw.col(length), TAILS[:1], of=length)
    return table.select(*lists, SHORT, LONG, SHARED, *_values(p)), lengths.select(*keys, NUMBER)


def _placed(engine: Engine, ranking: Ranking, columns: Sequence[str], k: int) -> Frame:
    """Return the tied blocks that start in the top k: where each row's block starts and ends."""
    rows = engine.rank_rows(ranking.rows, ranking.group, SCORE, k, None)
    start = nw.col(START).cast(nw.Float64())
    number = nw.col(NUMBER) if ranking.number is None else nw.lit(ranking.number).alias(NUMBER)
    return rows.select(*columns, number, start, (start + nw.col(SIZE) - 1).alias(END))


def _once(engine: Engine, placed: Frame, keys: Sequence[str]) -> Frame:
    """Return each item of a list once: where it is first in lazy frames, whose items may repeat."""
    return placed if engine.eager else placed.group_by(*keys, NUMBER, ITEM).agg(nw.col(START, END).min())


def _sides(left: Frame, right: Frame, columns: Sequence[str]) -> tuple[Frame, Frame]:
    """Return frames of the two sides of pairs, their columns named after the side."""
    return (
        left.rename({NUMBER: LEFT, **{name: of_left(name) for name in columns}}),
        right.rename({NUMBER: RIGHT, **{name: of_right(name) for name in columns}}),
    )


def _pairs(engine: Engine, lengths: Frame, keys: Sequence[str], k: int) -> Frame:
    """Return the lists of each pair of models, with the lengths of both top k."""
    length = nw.col(LENGTH).cast(nw.Float64())
    lengths = lengths.with_columns(nw.when(length < k).then(length).otherwise(float(k)).alias(LENGTH))
    pairs = engine.join(*_sides(lengths, lengths, (LENGTH,)), keys).filter(nw.col(LEFT) < nw.col(RIGHT))
    both = (of_left(LENGTH), of_right(LENGTH))
    return pairs.with_columns(nw.min_horizontal(*both).alias(SHORT), nw.max_horizontal(*both).alias(LONG))


def _tails(engine: Engine, pairs: Frame, p: float) -> Frame:
    """Return the sums of weights over the depths below each depth, from 0 to the longest top k.

    Sums from the far end keep their precision where the weights are small.
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
    """Add sums of weights below or up to a depth."""
    frame = frame.with_columns(depth.cast(nw.Int64()).alias(POSITION))
    joined = engine.join(frame, sums.select(POSITION, *names), [POSITION])
    return joined.rename({name: sums_at(name, of) for name in names}).drop(POSITION)


def sums_at(name: str, depth: str) -> str:
    """Return the column of sums of weights at a depth."""
    return f"{name} at {depth}"


def _terms_without_ties(engine: Engine, shared: Frame, tails: Frame) -> Frame:
    """Add what `_terms` adds, where no items tie."""
    depth = nw.max_horizontal(of_left(START), of_right(START))
    shared = looked_up(engine, shared.with_columns(depth.alias(DEPTH)), tails, nw.col(DEPTH) - 1, TAILS[:1], of=RISE)
    early = nw.when(nw.col(DEPTH) <= nw.col(SHORT)).then(1.0).otherwise(0.0)
    weighted = nw.col(sums_at(TAILS[0], RISE)).alias(WEIGHTED)
    return shared.with_columns((nw.col(DEPTH) * 0.0 + 1.0).alias(SHARED), early.alias(EARLY), weighted)


def _terms(engine: Engine, shared: Frame, tails: Frame) -> Frame:
    """Add what an item of both top k adds to what they share, up to both lengths, and weighted over all depths.

    The probability to be among the first d rises from the start of a block on, and stays from its end on, or from the
    length of the top k on.
    """
    shared = shared.with_columns(
        *((nw.col(side(END)) - nw.col(side(START)) + 1).alias(side(SIZE)) for side in (of_left, of_right)),
        *(nw.min_horizontal(side(END), side(LENGTH)).alias(side(END)) for side in (of_left, of_right)),
    )
    reached, early = nw.lit(1.0), nw.lit(1.0)
    for side in (of_left, of_right):
        start, end, size = nw.col(side(START)), nw.col(side(END)), nw.col(side(SIZE))
        up_to = nw.when(nw.col(SHORT) < end).then(nw.col(SHORT)).otherwise(end)
        reached = reached * ((end - start + 1) / size)
        early = early * nw.when(up_to < start).then(0.0).otherwise((up_to - start + 1) / size)
    both_start = nw.max_horizontal(of_left(START), of_right(START)) - 1
    first_end = nw.min_horizontal(of_left(END), of_right(END))
    shared = shared.with_columns(
        reached.alias(SHARED),
        early.alias(EARLY),
        both_start.alias(RISE),
        nw.when(first_end > both_start).then(first_end).otherwise(both_start).alias(BEND),
        nw.max_horizontal(of_left(END), of_right(END)).alias(REST),
    )
    for depth in (RISE, BEND, REST):
        shared = looked_up(engine, shared, tails, nw.col(depth), TAILS, of=depth)
    return shared.with_columns(_weighted().alias(WEIGHTED))


def _weighted() -> nw.Expr:
    """Return the sum over depths d of p^d / d times the probability that an item is among the first d of both."""
    start = {side: nw.col(side(START)) for side in (of_left, of_right)}
    size = {side: nw.col(side(SIZE)) for side in (of_left, of_right)}
    # Where both rise: (d - start + 1) of one times that of the other.
    linear = 2 - start[of_left] - start[of_right]
    constant = (1 - start[of_left]) * (1 - start[of_right])
    both = _between(RISE, BEND, (constant, linear, nw.lit(1.0))) / (size[of_left] * size[of_right])
    # Where one has reached its end, and the other still rises.
    left_last = nw.col(of_left(END)) > nw.col(of_right(END))
    rising = {side: _between(BEND, REST, (1 - start[side], nw.lit(1.0))) / size[side] for side in start}
    ends = {side: (nw.col(side(END)) - start[side] + 1) / size[side] for side in start}
    one = nw.when(left_last).then(rising[of_left] * ends[of_right]).otherwise(rising[of_right] * ends[of_left])
    return both + one + nw.col(SHARED) * nw.col(sums_at(TAILS[0], REST))


def _between(start: str, end: str, factors: Sequence[nw.Expr]) -> nw.Expr:
    """Return the sum, over the depths after one and up to another, of weights times a polynomial of the depth."""
    total = nw.lit(0.0)
    for name, factor in zip(TAILS, factors, strict=False):
        total = total + factor * (nw.col(sums_at(name, start)) - nw.col(sums_at(name, end)))
    return total


def _values(p: float) -> list[nw.Expr]:
    """Return the values of a list: equation 32 of Webber, Moffat and Zobel (2010) for the rank-biased overlap."""
    short, long = nw.col(SHORT), nw.col(LONG)
    shared, early = nw.col(SHARED), nw.col(EARLY)
    below_short, below_long = (nw.col(sums_at(TAILS[0], length)) for length in (SHORT, LONG))
    first = nw.col(WEIGHTED) - shared * below_long
    power_short, power_long = ((length * math.log(p)).exp() for length in (short, long))
    second = early / short * ((power_short - power_long) * p / (1 - p) - short * (below_short - below_long))
    rbo = (1 - p) / p * (first + second) + ((shared - early) / long + early / short) * power_long
    values = {OVERLAP: shared / long, JACCARD: shared / (short + long - shared), RBO: rbo, SEEN: first}
    return [value.alias(name) for name, value in values.items()]
