"""The recommended items of each list: the first rows with ties broken, and their sums per list and per item."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import narwhals as nw

from recframe._base.columns import (
    ALL,
    FIRST,
    INTERACTIONS,
    ITEM,
    LISTED,
    OTHER,
    OTHER_PLACE,
    PLACE,
    POPULARITY,
    SIMILAR_AHEAD,
    SIMILARITY,
    USERS,
    Addends,
    distinct_column,
    order_column,
)
from recframe._plan import averages, ranks
from recframe._plan.custom_values import check_values
from recframe._plan.matches import matched
from recframe._plan.partial_rankings import check_recommended
from recframe._plan.requirements import furthest
from recframe.metrics._item_row import RecommendedRow, feature_columns
from recframe.metrics._shared_terms import Terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._base.columns import Frame
    from recframe._plan.opened import Opened


class RecommendedItems:
    """The recommended items of one model: the first rows of each list, with ties broken.

    Parameters
    ----------
    context : Opened
        The frames of the call.
    placed : Frame
        The rows that can be among the first, with their items and tied blocks.
    """

    def __init__(self, context: Opened, placed: Frame) -> None:
        self._context = context
        self._rows = self._context.engine.collect_once(self._ordered(placed))
        check_recommended(context, self._rows)

    def _ordered(self, placed: Frame) -> Frame:
        """Return the rows with one position each. Items order ties, unless `ties=` names another order."""
        group = self._context.keys.group
        policy = self._context.query.ties
        order = ranks.TIE_ORDER[policy if policy in ("item", "item_desc", "first") else "item"]
        sized = self._context.engine.collect_once(placed)
        rows = ranks.break_ties(
            self._context.engine, sized, group, order, self._context.requirements.recommended_cutoff
        )
        return rows.select(*group, ITEM, PLACE)

    def _with_requested(self, terms: Terms) -> Frame:
        """Return the rows with the columns that terms request."""
        group = self._context.keys.group
        rows = self._rows
        requested = terms.requested
        if FIRST in requested:
            first = nw.col(PLACE) == nw.col(PLACE).min().over(*group, ITEM)
            rows = rows.with_columns(first.cast(nw.Float64()).alias(FIRST))
        for number, k in enumerate(self._context.requirements.numbers.distinct):
            if distinct_column(number) in requested:
                rows = rows.with_columns((RecommendedRow.within(k) * nw.col(FIRST)).alias(LISTED))
                rows = rows.with_columns(nw.col(LISTED).sum().over(*group).alias(distinct_column(number))).drop(LISTED)
        for column, of_unknown in ((USERS, 0.0), (INTERACTIONS, 0.0), (POPULARITY, math.inf)):
            if column in requested:
                table = self._context.side_tables.known(column)
                rows = self._context.engine.join(rows, table, [ITEM]).with_columns(nw.col(column).fill_null(of_unknown))
        if SIMILAR_AHEAD in requested:
            rows = self._with_similarities(rows)
        columns = [
            column for column in feature_columns(self._context.requirements.feature_count) if column in requested
        ]
        if columns:
            rows = self._context.engine.join(rows, self._context.side_tables.described.select(ITEM, *columns), [ITEM])
            rows = rows.with_columns(nw.col(*columns).fill_null(0.0))
        return rows

    def _with_similarities(self, rows: Frame) -> Frame:
        """Add to each row the similarities of its item with the different items ahead in the list, summed."""
        engine = self._context.engine
        group = self._context.keys.group
        reading = [terms for terms in self._context.requirements.beyond_accuracy if terms.metric.reads_pairs]
        cutoff = furthest([terms.metric.cutoff for terms in reading])
        items = rows.filter(nw.col(FIRST) > 0).select(*group, ITEM, PLACE)
        items = items if cutoff is None else items.filter(nw.col(PLACE) <= cutoff)
        ahead = items.select(*group, nw.col(ITEM).alias(OTHER), nw.col(PLACE).alias(OTHER_PLACE))
        pairs = matched(engine, items, ahead, group).filter(nw.col(OTHER_PLACE) < nw.col(PLACE))
        similar = matched(engine, pairs, self._context.side_tables.similarities, [ITEM, OTHER])
        similar = similar.with_columns(nw.col(SIMILARITY).alias(SIMILAR_AHEAD))
        sums = engine.sum_exactly(similar, [*group, PLACE], [SIMILAR_AHEAD])
        return engine.join(rows, sums, [*group, PLACE]).with_columns(nw.col(SIMILAR_AHEAD).fill_null(0.0))

    def list_sums(self) -> list[Addends]:
        """Return frames that add up to each list's sums over recommended items and over the user's history."""
        context = self._context
        metrics = context.requirements.beyond_accuracy
        terms = Terms.union(metric.recommended for metric in metrics)
        history = Terms.union(metric.history for metric in metrics).summands
        addends = [Addends(self._with_requested(terms), terms.summands)]
        if history:
            addends.append(Addends(self._context.side_tables.history(context.lists, context.keys.group), history))
        return addends

    def item_sums(self, *, by_list: bool = False) -> Frame:
        """Return the sums of each item over the lists in a segment that recommend it, or per list with `by_list`."""
        terms = Terms.union(metric.recommended for metric in self._context.requirements.exposure)
        rows = averages.with_attributes(self._context, self._with_requested(terms))
        by = [*self._context.keys.group, *self._context.keys.reported] if by_list else self._context.keys.reported
        return self._context.engine.sum_terms(Addends(rows, terms.summands), [*dict.fromkeys(by), ITEM])


def segments(context: Opened) -> Frame:
    """Return the segments of all lists. Without `per=` there is one segment, even if there are no lists."""
    if not context.keys.reported:
        return context.engine.positions(1).select(nw.lit(0).alias(ALL))
    return averages.with_attributes(context, context.lists).select(*context.keys.reported).unique()


def exposure_values(context: Opened, items: Frame, lists: Frame) -> Frame:
    """Return the frame of segments with one more column per exposure metric, computed from the sums of items."""
    engine = context.engine
    requirements = context.requirements
    by = context.keys.of_result or [ALL]
    items = context.side_tables.counted(items if context.keys.of_result else _with_all(items))
    items = _with_orders(context, items, by)
    columns = list(requirements.items.by_column)
    sums = engine.sum_exactly(items.select(*by, **requirements.items.by_column), by, columns)
    segments_by_key = lists if context.keys.of_result else _with_all(lists)
    sums = engine.join(segments_by_key, sums, by).with_columns(nw.col(*columns).fill_null(0.0))
    used = [nw.col(column) > 0 for column in requirements.catalog_sums]
    used_items = items.filter(nw.any_horizontal(*used, ignore_nulls=False)) if used else items
    sums = context.side_tables.with_catalog_size(sums, used_items)
    metrics = [exposure.metric for exposure in requirements.exposure]
    names = {name: column for name, column in context.names.items() if name in by}
    sums = check_values(context, sums, metrics, names, "value of `per`")
    values = [requirements.values[metric.label].where_defined(eager=engine.eager) for metric in metrics]
    return averages.fill(context, sums.with_columns(*values), metrics, names, "value of `per`")


def _with_orders(context: Opened, items: Frame, by: Sequence[str]) -> Frame:
    """Add the ranks of items by their sums, from the smallest, for the sums whose order a metric reads."""
    for column in context.requirements.item_sum_columns:
        order = order_column(column)
        if order not in context.requirements.items.requested:
            continue
        # A sum of 0 means that only other segments recommend the item. Missing values have no rank.
        items = items.with_columns(nw.when(nw.col(column) > 0).then(nw.col(column)).alias(order))
        items = items.with_columns(nw.col(order).rank("average").over(*by).fill_null(0.0).alias(order))
    return items


def _with_all(frame: Frame) -> Frame:
    """Add a constant key, which makes all rows one segment."""
    return frame.with_columns(nw.lit(0).alias(ALL))
