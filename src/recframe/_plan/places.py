"""The positions within tied blocks, for what no single row of a block tells: the first hit, and where users stop."""

from __future__ import annotations

from typing import TYPE_CHECKING

import narwhals as nw

from recframe._columns import BLOCK_HITS, PLACE_COUNT, POSITION, RELEVANCE, SIZE, START, stop_column
from recframe._plan import ranks

if TYPE_CHECKING:
    from recframe._columns import Frame
    from recframe._plan.context import CallContext


def first_hit_places(context: CallContext, hits: Frame, upto: int | None) -> Frame:
    """Return the places of the tied blocks with several of a list's first hits, with the probability of each."""
    several = hits.filter(ranks.several_first_hits())
    blocks = several.select(*context.group, START, SIZE, BLOCK_HITS).unique()
    return ranks.chances(places_of(context, blocks, upto), context.group)


def stop_places(context: CallContext, kept: Frame, upto: int | None, *, tied: bool) -> Frame:
    """Return the places at which users may stop who read from the top, with their examination probabilities."""
    cutoff, engine, numbers = (
        context.requirements.cascade_cutoff,
        context.engine,
        range(len(context.requirements.stops)),
    )
    kept = kept if cutoff is None else kept.filter(nw.col(START) <= cutoff)
    kept, greatest = context.with_greatest(kept)
    stops = [stop(nw.col(RELEVANCE), greatest) for stop in context.requirements.stops]
    found = ranks.stopping(kept, context.group, stops, tied=tied)
    found = places_of(context, found, upto) if tied else found.with_columns(nw.lit(1).alias(POSITION))
    found = engine.settle(found)
    surely = nw.any_horizontal(*(nw.col(stop_column(number)) >= 1 for number in numbers), ignore_nulls=True)
    return ranks.examination_probability(
        found, context.group, len(stops), certain=context.engine.may_hold(found, surely)
    )


def places_of(context: CallContext, blocks: Frame, upto: int | None) -> Frame:
    """Return a row for each place of each tied block up to the last position that is read."""
    count = nw.col(SIZE)
    if upto is not None:
        blocks = blocks.filter(nw.col(START) <= upto)
        left = upto - nw.col(START) + 1
        count = nw.when(count > left).then(left).otherwise(count)
    return context.engine.repeat(blocks.with_columns(count.cast(nw.Int64()).alias(PLACE_COUNT)), PLACE_COUNT)
