"""Groups of items: each group's share of a list's attention, and its distance from a target share."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import narwhals as nw

from recframe._base.columns import (
    ATTENTION,
    GROUP,
    GROUP_SHARE,
    HIT,
    ITEM,
    LIST_ATTENTION,
    LISTED,
    RELEVANCE,
    TARGET,
    Addends,
    group_distance_column,
    grouped_column,
    target_column,
)
from recframe._plan.matches import matched
from recframe.metrics._sums import quotient

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe._base.columns import Frame
    from recframe._plan.opened import Opened
    from recframe.metrics.awrf import GroupTarget

_SHARE = nw.col(GROUP_SHARE)
_TARGET = nw.col(TARGET)
_HAS_GROUP = ~nw.col(GROUP).is_null()


def group_distances(context: Opened, rows: Frame, terms: Mapping[str, nw.Expr]) -> list[Addends]:
    """Return frames that add up to each list's distance from a target, and to its attention to items with a group.

    A group that a list lacks adds half its target. All halves add up to 1/2. The metric adds this 1/2 itself, so only
    the groups that a list has are summed here, less half their targets.
    """
    engine = context.engine
    group = context.keys.group
    key = [*group, GROUP]
    both = [ATTENTION, LIST_ATTENTION]
    addends = []
    for number, (column, distance, target) in enumerate(context.requirements.numbers.groups):
        read = with_groups(context, rows).select(*key, *(terms[column].alias(name) for name in both))
        read = read.filter(nw.col(ATTENTION) > 0)
        groups = engine.sum_in_order(read.select(*key, ATTENTION), key, [ATTENTION])
        lists = engine.sum_in_order(read.select(*group, LIST_ATTENTION), group, [LIST_ATTENTION])
        groups = engine.join(groups, lists, group)
        groups = groups.with_columns((nw.col(ATTENTION) / nw.col(LIST_ATTENTION)).alias(GROUP_SHARE))
        groups = with_targets(context, groups, target)
        part = (_SHARE - _TARGET).abs() / 2 if distance == "tv" else _divergence()
        distances = group_distance_column(number)
        grouped = grouped_column(number)
        added = {distances: (part - _TARGET / 2).alias(distances), grouped: nw.col(ATTENTION).alias(grouped)}
        addends.append(Addends(engine.collect_once(groups), added))
    return addends


def with_groups(context: Opened, rows: Frame, *, of_truth: bool = False) -> Frame:
    """Return each row once per group of its item, without the items that have no group.

    Without ``group=``, each item is a group.
    """
    if context.query.group is None:
        rows = rows.with_columns(nw.col(ITEM).alias(GROUP))
    elif of_truth or not context.rows_have_groups:
        rows = context.engine.join(rows, grouped_items(context, context.group_frames), [ITEM])
    return rows.filter(_HAS_GROUP)


def grouped_items(context: Opened, frames: Sequence[str]) -> Frame:
    """Return the distinct pairs of an item and its group in some frames."""
    opened = {**context.session.frames, "frame": context.side_tables.frame_of_items}
    pairs = [opened[name].select(ITEM, GROUP) for name in frames]
    return context.engine.stack(pairs).filter(_HAS_GROUP).unique()


def with_targets(context: Opened, groups: Frame, target: GroupTarget) -> Frame:
    """Add the share that each group should have; lists without a target are left out."""
    engine = context.engine
    numbers = target_numbers(context, target)
    keys = context.relevant_keys if target == "relevant" else []
    if keys:
        totals = numbers.group_by(*keys).agg(_TARGET.sum().alias(LISTED))
        groups = engine.join(groups, totals, keys)
    else:
        groups = groups.join(numbers.select(_TARGET.sum().alias(LISTED)), how="cross")
    groups = engine.join(groups.filter(nw.col(LISTED) > 0), numbers, [*keys, GROUP])
    return groups.with_columns(quotient(_TARGET.fill_null(0.0), nw.col(LISTED)).alias(TARGET))


def target_numbers(context: Opened, target: GroupTarget) -> Frame:
    """Return the numbers whose shares are the target: one per group, and per list if the target depends on the list."""
    if target == "relevant":
        counts = relevant_items(context).group_by(*context.relevant_keys, GROUP).agg(nw.len().alias(TARGET))
    elif isinstance(target, str):
        items = catalog(context)
        items = items.select(GROUP).unique() if target == "equal" else items
        counts = items.group_by(GROUP).agg(nw.len().alias(TARGET))
    else:
        table = nw.col(target_column(context.target_tables.index(target)))
        named = nw.col(ITEM if context.query.group is None else GROUP).alias(GROUP)
        counts = context.session.frames["target"].select(named, table.alias(TARGET))
    return context.engine.collect_once(counts.with_columns(_TARGET.cast(nw.Float64())))


def catalog(context: Opened) -> Frame:
    """Return the distinct pairs of a catalogue item and its group."""
    named = context.side_tables.catalog()
    if context.query.group is None:
        pairs = context.side_tables.frame_of_items.select(ITEM, nw.col(ITEM).alias(GROUP)).filter(_HAS_GROUP).unique()
        return pairs if named is None else named.with_columns(nw.col(ITEM).alias(GROUP))
    pairs = grouped_items(context, context.group_frames[:1])
    return pairs if named is None else matched(context.engine, pairs, named, [ITEM])


def relevant_items(context: Opened) -> Frame:
    """Return the relevant items of each list with their groups and their relevance."""
    keys = context.relevant_keys
    if context.truth is not None:
        rows = context.with_hits(context.truth).filter(nw.col(HIT) > 0).select(*keys, ITEM, RELEVANCE)
        # If the frame lacks an item, only the truth can name its group.
        return context.engine.collect_once(with_groups(context, rows, of_truth=True))
    group = [GROUP] if context.rows_have_groups else []
    rows = context.with_relevance(context.frame.select(*keys, ITEM, *context.relevance, *group))
    rows = with_groups(context, rows.filter(nw.col(HIT) > 0)).group_by(*keys, ITEM, GROUP).agg(nw.col(RELEVANCE).max())
    return context.engine.collect_once(rows)


def _divergence() -> nw.Expr:
    """Return what a group adds to the Jensen-Shannon divergence, in bits."""
    middle = (_SHARE + _TARGET) / 2
    with_target = nw.when(_TARGET > 0).then(_TARGET / middle).otherwise(1.0).log()
    return (_SHARE * (_SHARE / middle).log() + _TARGET * with_target) * (0.5 / math.log(2))
