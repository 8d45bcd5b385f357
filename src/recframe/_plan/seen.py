"""The attention that a row gets if users stop at relevant rows, as an exact expected value over all orders of ties."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import narwhals as nw

from recframe._base.columns import (
    HIT,
    HITS_AHEAD,
    HITS_INSIDE,
    MARKED,
    POSITION,
    SIZE,
    START,
    seen_column,
    stop_column,
    survival_column,
)
from recframe._plan import ranks
from recframe._plan.requirements import Cascade, furthest
from recframe._plan.tied_stops import survivals
from recframe.metrics._row import cut
from recframe.metrics._sums import quotient

if TYPE_CHECKING:
    from recframe._base.columns import Frame
    from recframe._plan.opened import Opened


def with_seen(context: Opened, rows: Frame, *, tied: bool) -> Frame:
    """Add each row's attention: the weight of its position times the probability that users reach it.

    All hits of a list must be among the rows.
    """
    requested = context.requirements.numbers.seen
    rows = ranks.count_ahead(context.engine, rows, context.keys.group, nw.col(HIT), HITS_AHEAD, HITS_INSIDE, tied=tied)
    start = nw.col(START).cast(nw.Float64())
    weights = {seen_column(number): cut(weight(start), start, k) for number, (_, weight, k) in enumerate(requested)}
    if tied:
        row = [*context.keys.group, START, HIT]
        rows = context.engine.join(rows, _attention_after_first_place(context, rows, row), row)
        for name, first in weights.items():
            mean = quotient(first + nw.col(name).fill_null(0.0), nw.col(SIZE))
            weights[name] = nw.when(nw.col(SIZE) > 1).then(mean).otherwise(first)
    attention = []
    for (name, weight), (stop, _, _) in zip(weights.items(), requested, strict=True):
        reached = (nw.col(HITS_AHEAD) * math.log(1 - stop)).exp()
        attention.append((weight * reached).alias(name))
    return rows.with_columns(*attention).drop(HITS_AHEAD, HITS_INSIDE)


def _attention_after_first_place(context: Opened, rows: Frame, row: list[str]) -> Frame:
    """Return the attention that a row gets at all places of its tied block except the first, for hits and for others.

    The other rows of the block form a block with one row less.
    """
    requested = context.requirements.numbers.seen
    stops = [*dict.fromkeys(stop for stop, _, _ in requested)]
    blocks = rows.filter(nw.col(SIZE) > 1).select(*row, SIZE, HITS_INSIDE).unique()
    blocks = blocks.with_columns(
        (nw.col(HITS_INSIDE) - nw.col(HIT)).alias(MARKED),
        (nw.col(SIZE).cast(nw.Int64()) - 1).alias(SIZE),
        *(nw.lit(stop).alias(stop_column(number)) for number, stop in enumerate(stops)),
    )
    upto = furthest([k for _, _, k in requested])
    if upto is not None:
        blocks = blocks.filter(nw.col(START) <= upto)
    cascade = Cascade(tuple(range(len(stops))), upto)
    places = survivals(context.engine, context.engine.collect_once(blocks), row, [], cascade)
    position = nw.col(START).cast(nw.Float64()) + nw.col(POSITION)
    added = {
        seen_column(number): nw.col(survival_column(stops.index(stop))) * cut(weight(position), position, k)
        for number, (stop, weight, k) in enumerate(requested)
    }
    places = places.select(*row, *(value.alias(name) for name, value in added.items()))
    return context.engine.sum_exactly(places, row, [*added])
