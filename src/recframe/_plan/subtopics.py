"""Subtopics: the positions of each subtopic's hits, the number of subtopics in a list, and the greedy ideal ranking."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import narwhals as nw

from recframe._base.columns import (
    CHANCE,
    CHOSEN,
    GAIN,
    GREATEST,
    HIT,
    HITS_BEFORE,
    ITEM,
    LAST,
    MARKED,
    NTH,
    POSITION,
    RELATED,
    RELEVANT,
    SIZE,
    START,
    SUBTOPIC,
    SUBTOPICS,
    TOTAL_GAIN,
    UPTO,
    Addends,
    greedy_column,
)
from recframe._plan.matches import matched
from recframe._plan.places import marked_places
from recframe._plan.weight_tables import GREATEST_END, MOST_POSITIONS
from recframe.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recframe._base.columns import Frame
    from recframe._plan.opened import Opened
    from recframe.metrics._row import Weight

NEARLY = 1 - 1e-12
"""Gains above this share of the greatest gain count as equal, because sums of the same numbers differ by rounding."""
NEGLIGIBLE = 1e-18
"""A number so small that adding it to a float of 1 or more changes nothing."""


def sums_of_subtopics(context: Opened, kept: Frame, ideal: Frame, *, tied: bool) -> list[Addends]:
    """Return frames that add up to the sums that subtopic metrics read."""
    requirements = context.requirements
    places = _places(context, kept, tied=tied)
    addends = [Addends(places, requirements.places[SUBTOPIC].summands)]
    if SUBTOPICS in requirements.requested:
        subtopics = context.subtopics
        distinct = ideal if subtopics is None else subtopics.select(*context.keys.key, SUBTOPIC).unique()
        counts = _for_every_model(context, distinct, nw.lit(1.0).alias(SUBTOPICS))
        addends.append(Addends(counts, {SUBTOPICS: nw.col(SUBTOPICS)}))
    for number, (alpha, weight, k) in enumerate(requirements.numbers.greedy):
        if context.subtopics is None:
            lists = _ideal_of_single_subtopic(context, ideal, alpha, weight, k)
        else:
            lists = _for_every_model(context, _greedy(context, alpha, weight, k), nw.col(TOTAL_GAIN))
        column = greedy_column(number)
        addends.append(Addends(lists.rename({TOTAL_GAIN: column}), {column: nw.col(column)}))
    return addends


def _for_every_model(context: Opened, rows: Frame, column: nw.Expr) -> Frame:
    """Return the key of each list and a column, repeated for every model if the rows come from the truth."""
    rows = rows if context.subtopics is None else context.of_models(rows)
    return rows.select(*context.keys.group, column)


def _places(context: Opened, kept: Frame, *, tied: bool) -> Frame:
    """Return the places that a subtopic's hits may have, each place's probability, and the hits ahead of it."""
    hits = kept.filter(nw.col(HIT) > 0)
    if context.subtopics is None:
        hits = hits.with_columns(nw.lit(0).alias(SUBTOPIC))
    else:
        on = [*context.keys.key, ITEM]
        hits = hits.select(*context.keys.group, ITEM, START, SIZE, HIT)
        hits = matched(context.engine, hits, context.subtopics.select(*on, SUBTOPIC), on)
    group = [*context.keys.group, SUBTOPIC]
    blocks = hits.group_by(*group, START, SIZE).agg(nw.col(HIT).sum().alias(MARKED)) if tied else hits
    blocks = context.engine.sums_before(blocks, {HITS_BEFORE: MARKED if tied else HIT}, group, START)
    if tied:
        upto = context.requirements.place_cutoffs[SUBTOPIC]
        most = _most_hits(context.requirements.numbers.alphas)
        places = marked_places(context, blocks, group, upto, most)
        return places.with_columns((nw.col(HITS_BEFORE) + nw.col(NTH) - 1).alias(HITS_BEFORE))
    position = nw.col(START).cast(nw.Float64()).alias(POSITION)
    return blocks.with_columns(position, nw.lit(1.0).alias(CHANCE))


def _most_hits(alphas: Iterable[float]) -> float:
    """Return the number of hits in a tied block after which one more hit changes no float."""
    least = min(alphas)
    return 1 if least == 1 else 1 + math.log(NEGLIGIBLE) / math.log1p(-least)


def _ideal_of_single_subtopic(context: Opened, ideal: Frame, alpha: float, weight: Weight, k: int | None) -> Frame:
    """Return the gain of the ideal ranking if all relevant items share one subtopic: they fill the first positions."""
    relevant = nw.col(RELEVANT).cast(nw.Int64())
    upto = relevant if k is None else nw.when(relevant < k).then(relevant).otherwise(k).cast(nw.Int64())
    lists = ideal.filter(nw.col(RELEVANT) > 0).select(*context.keys.group, upto.alias(UPTO))
    table = context.engine.positions(lists.select(GREATEST_END) if k is None or k > MOST_POSITIONS else k)
    position = nw.col(POSITION).cast(nw.Float64())
    gain = (nw.lit(1 - alpha).log() * (position - 1.0)).exp() * weight(position)
    table = table.with_columns(gain.alias(GAIN))
    total = nw.col(GAIN).cum_sum().over(order_by=POSITION).alias(TOTAL_GAIN)
    lists = lists.join(table.select(nw.col(POSITION).alias(UPTO), total), on=UPTO, how="left")
    return lists.select(*context.keys.group, TOTAL_GAIN)


def _greedy(context: Opened, alpha: float, weight: Weight, k: int | None) -> Frame:
    """Return the gain of the greedy ranking, which gives each position in turn to the item with the greatest gain.

    Each position is one step, because a choice depends on all earlier ones. So a lazy plan grows with the cutoff.
    """
    engine = context.engine
    keys = context.keys.key
    assert context.subtopics is not None  # noqa: S101 - for the type checker: there are subtopics
    rows = context.subtopics
    # A missing item has no rank, so it becomes the smallest item.
    item = nw.col(ITEM).rank("dense").over(*keys).cast(nw.Int64()).fill_null(0) + 1
    rows = rows.with_columns(item.alias(START), nw.lit(1.0).alias(RELATED), nw.lit(0.0).alias(CHOSEN))
    rows = engine.collect_once(rows.with_columns(nw.lit(0.0).alias(TOTAL_GAIN)))
    # The maximum is missing if no list has a relevant item.
    most = int(engine.scalar(rows.select(nw.col(START).max())) or 0) if engine.eager else None
    if most is None and k is None:
        msg = "alpha_ndcg without a cutoff needs the data, which a lazy frame does not have yet"
        raise OptionError(msg, "give a cutoff, alpha_ndcg@10, or collect the frame first")
    steps = min(number for number in (k, most) if number is not None)
    for step in range(1, steps + 1):
        discount = weight(nw.lit(float(step)))
        gain = nw.when(nw.col(CHOSEN) > 0).then(0.0).otherwise(nw.col(RELATED).sum().over(*keys, START))
        rows = rows.with_columns(gain.alias(GAIN))
        rows = rows.with_columns(nw.col(GAIN).max().over(*keys).alias(GREATEST))
        near = (nw.col(GAIN) > 0) & (nw.col(GAIN) >= nw.col(GREATEST) * NEARLY)
        rows = rows.with_columns(nw.when(near).then(nw.col(START)).alias(LAST))
        rows = rows.with_columns(nw.col(LAST).max().over(*keys))
        now = near & (nw.col(START) == nw.col(LAST))
        rows = rows.with_columns(nw.when(now).then(1.0).otherwise(0.0).alias(HIT))
        repeated = nw.col(HIT).max().over(*keys, SUBTOPIC) > 0
        rows = rows.with_columns(
            nw.when(repeated).then(nw.col(RELATED) * (1 - alpha)).otherwise(nw.col(RELATED)).alias(RELATED),
            (nw.col(CHOSEN) + nw.col(HIT)).alias(CHOSEN),
            (nw.col(TOTAL_GAIN) + nw.col(GREATEST) * discount).alias(TOTAL_GAIN),
        )
        rows = engine.collect_once(rows) if engine.eager else rows
    return rows.group_by(*keys).agg(nw.col(TOTAL_GAIN).max())
