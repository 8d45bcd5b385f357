"""Recommended items: one concrete order of the first rows, and the sums over lists and over items."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import narwhals as nw

from recframe._columns import (
    ALL,
    FIRST,
    INTERACTIONS,
    ITEM,
    LISTED,
    PLACE,
    POPULARITY,
    USERS,
    Addends,
    distinct_column,
    order_column,
)
from recframe._plan import averages, ranks
from recframe._plan.custom_values import check_values
from recframe._plan.partial_rankings import check_recommended
from recframe.metrics._item_row import RecommendedRow, feature_columns
from recframe.metrics._shared_terms import Terms

if TYPE_CHECKING:
    from recframe._columns import Frame
    from recframe._plan.opened import Opened


class RecommendedItems:
    """The first rows of each list of one model, ties broken.

    Parameters
    ----------
    context : Opened
        The frames of the call.
    placed : Frame
        The rows that can be among the first, with the item and each one's tied block.
    """

    def __init__(self, context: Opened, placed: Frame) -> None:
        self._context = context
        self._rows = self._context.engine.collect_once(self._ordered(placed))
        check_recommended(context, self._rows)

    def _ordered(self, placed: Frame) -> Frame:
        """Give each row one position: ties by item, unless the call names another order."""
        group, policy = self._context.keys.group, self._context.query.ties
        order = ranks.TIE_ORDER[policy if policy in ("item", "item_desc", "first") else "item"]
        sized = self._context.engine.collect_once(placed)
        rows = ranks.break_ties(
            self._context.engine, sized, group, order, self._context.requirements.recommended_cutoff
        )
        return rows.select(*group, ITEM, PLACE)

    def _with_requested(self, terms: Terms) -> Frame:
        """Return the rows with the columns that terms request."""
        group, rows, requested = self._context.keys.group, self._rows, terms.requested
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
        columns = [
            column for column in feature_columns(self._context.requirements.feature_count) if column in requested
        ]
        if columns:
            rows = self._context.engine.join(rows, self._context.side_tables.described.select(ITEM, *columns), [ITEM])
            rows = rows.with_columns(nw.col(*columns).fill_null(0.0))
        return rows

    def list_sums(self) -> list[Addends]:
        """Return frames whose sums are what lists get from their recommended items, and from their users' past."""
        context, metrics = self._context, self._context.requirements.beyond_accuracy
        terms = Terms.union(metric.recommended for metric in metrics)
        history = Terms.union(metric.history for metric in metrics).summands
        addends = [Addends(self._with_requested(terms), terms.summands)]
        if history:
            addends.append(Addends(self._context.side_tables.history(context.lists, context.keys.group), history))
        return addends

    def item_sums(self, *, by_list: bool = False) -> Frame:
        """Return the sums of each item over the lists of a segment that recommend it, or within each list."""
        terms = Terms.union(metric.recommended for metric in self._context.requirements.exposure)
        rows = averages.with_attributes(self._context, self._with_requested(terms))
        by = [*self._context.keys.group, *self._context.keys.reported] if by_list else self._context.keys.reported
        return self._context.engine.sum_terms(Addends(rows, terms.summands), [*dict.fromkeys(by), ITEM])


def segments(context: Opened) -> Frame:
    """Return the segments of all lists; a single one is there even where no list is."""
    if not context.keys.reported:
        return context.engine.positions(1).select(nw.lit(0).alias(ALL))
    return averages.with_attributes(context, context.lists).select(*context.keys.reported).unique()


def exposure_values(context: Opened, items: Frame, lists: Frame) -> Frame:
    """Return what the lists of segments give, with the metrics of each segment that count recommended items."""
    engine, requirements, side_tables = context.engine, context.requirements, context.side_tables
    by = context.keys.of_result or [ALL]
    items = side_tables.counted(items if context.keys.of_result else _with_all(items))
    terms = requirements.items
    for column in requirements.item_sum_columns:
        if order_column(column) not in terms.requested:
            continue
        # A sum of 0 is an item that only other segments recommend: what is missing has no rank.
        items = items.with_columns(nw.when(nw.col(column) > 0).then(nw.col(column)).alias(order_column(column)))
        order = nw.col(order_column(column)).rank("average").over(*by).fill_null(0.0)
        items = items.with_columns(order.alias(order_column(column)))
    sums = engine.sum_exactly(items.select(*by, **terms.by_column), by, list(terms.by_column))
    sums = engine.join(lists if context.keys.of_result else _with_all(lists), sums, by)
    used = [nw.col(column) > 0 for column in requirements.catalog_sums]
    used_items = items.filter(nw.any_horizontal(*used, ignore_nulls=False)) if used else items
    sums = side_tables.with_catalog_size(sums.with_columns(nw.col(*terms.by_column).fill_null(0.0)), used_items)
    metrics = [exposure.metric for exposure in requirements.exposure]
    names = {name: column for name, column in context.names.items() if name in by}
    sums = check_values(context, sums, metrics, names, "value of `per`")
    values = [requirements.values[metric.label].where_defined(eager=engine.eager) for metric in metrics]
    return averages.fill(context, sums.with_columns(*values), metrics, names, "value of `per`")


def _with_all(frame: Frame) -> Frame:
    return frame.with_columns(nw.lit(0).alias(ALL))
