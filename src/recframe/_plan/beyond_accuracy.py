"""What lists show: one concrete order of the first rows, and the sums over lists and over items."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import narwhals as nw

from recframe._columns import (
    ALL,
    CATEGORISED,
    DESCRIBED,
    FIRST,
    ITEM,
    ITEM_ORDER,
    LISTED,
    PLACE,
    SIZE,
    START,
    UNIT,
    UNSEEN,
    USERS,
    distinct_column,
    order_column,
)
from recframe._plan import averages, ranks
from recframe._plan.custom_values import check_values, defined_value, lacks_value
from recframe._plan.partial_rankings import check_shown
from recframe.metrics._item_row import HistoryRow, RecommendedRow, directions, shares

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._columns import Frame
    from recframe._engines.base import Engine
    from recframe._plan.context import CallContext
    from recframe._plan.positions import Placed
    from recframe._plan.side_tables import SideTables
    from recframe.metrics._beyond_accuracy import ExposureMetric


class Shown:
    """The first rows of each list of one model, ties broken.

    Parameters
    ----------
    tables : Tables
        The frames of the call.
    beside : Beside
        What stands beside them.
    placed : Placed
        The rows that can be among the first, with the item and where each one's tied block starts.
    """

    def __init__(self, context: CallContext, beside: SideTables, placed: Placed) -> None:
        self._context = context
        self._engine = context.engine
        self._requirements = context.requirements
        self._side_tables = beside
        self._rows = self._engine.settle(self._ordered(placed))
        check_shown(context, self._rows, PLACE)

    def _ordered(self, placed: Placed) -> Frame:
        """Give each row one position: ties by item, unless the call names another order."""
        context, upto = self._context, self._requirements.recommended_cutoff
        group = context.group
        policy = context.query.ties
        order = ranks.TIE_ORDER[policy if policy in ("item", "item_desc", "first") else "item"]
        sized = self._engine.settle(placed.rows if placed.sized else ranks.sizes(placed.rows, group))
        keep = [*group, ITEM, START]
        alone = sized.filter(nw.col(SIZE) == 1).select(*keep)
        tied = sized.filter(nw.col(SIZE) > 1).drop(SIZE)
        for column, descending in order:
            tied = ranks.split_ties(tied, group, column, None, descending=descending)
        # What is still tied is the same item, so that any order shows the same.
        place = nw.col(START) + nw.col(START).rank("ordinal").over(*group, START).cast(nw.Int64()) - 1
        tied = tied.with_columns(place.alias(PLACE)).select(*keep, PLACE)
        rows = nw.concat([alone.with_columns(nw.col(START).alias(PLACE)), tied], how="vertical").drop(START)
        return rows if upto is None else rows.filter(nw.col(PLACE) <= upto)

    def _ready(self, row: RecommendedRow) -> Frame:
        """Return the rows with what their terms ask for."""
        group, rows, asked = self._context.group, self._rows, row.asked
        if FIRST in asked:
            first = nw.col(PLACE) == nw.col(PLACE).min().over(*group, ITEM)
            rows = rows.with_columns(first.cast(nw.Float64()).alias(FIRST))
        for k in row.cuts:
            rows = rows.with_columns((row.within(k) * nw.col(FIRST)).alias(LISTED))
            rows = rows.with_columns(nw.col(LISTED).sum().over(*group).alias(distinct_column(k))).drop(LISTED)
        if USERS in asked:
            known = self._side_tables.popularity.select(ITEM, USERS)
            rows = self._engine.join(rows, known, [ITEM]).with_columns(nw.col(USERS).fill_null(0.0))
        columns = [*directions(self._requirements.width), DESCRIBED, UNIT] if "directions" in asked else []
        columns += [*shares(self._requirements.width), CATEGORISED] if "categories" in asked else []
        if columns:
            rows = self._engine.join(rows, self._side_tables.described.select(ITEM, *columns), [ITEM])
            rows = rows.with_columns(nw.col(*columns).fill_null(0.0))
        return rows

    def list_sums(self) -> list[Frame]:
        """Return frames whose sums are what lists get from the rows that they show, and from their users' past."""
        row, past = RecommendedRow(self._requirements.width), HistoryRow(self._requirements.width)
        terms, history = self._requirements.recommended_terms(row), self._requirements.history_terms(past)
        found = [self._context.to_sum_columns(self._ready(row), terms)]
        if history:
            found.append(self._context.to_sum_columns(self._side_tables.history(self._context.lists()), history))
        return found

    def item_sums(self) -> tuple[Frame, Frame]:
        """Return what each item gets from the lists that show it, and every group of lists, by what is reported by."""
        context = self._context
        row = RecommendedRow(self._requirements.width)
        terms = self._requirements.exposure_terms(row)
        by = groups(context)
        rows = _with_all(averages.with_attributes(context, self._ready(row)))
        items = self._engine.sum_by(rows.select(*by, ITEM, **terms), [*by, ITEM], list(terms))
        every = averages.with_attributes(context, context.lists())
        # A single group is there even where no list is.
        every = every.select(*by).unique() if context.reported else _with_all(every.select(nw.len().alias(ALL)))
        return items, every


def groups(context: CallContext) -> list[str]:
    """Return what tells groups of lists apart; one constant where there is a single group."""
    return context.reported or [ALL]


class Exposure:
    """How often lists show each item, for the metrics of all lists together."""

    def __init__(self, context: CallContext, beside: SideTables) -> None:
        self._context = context
        self._engine = context.engine
        self._requirements = context.requirements
        self._side_tables = beside

    def added(self, parts: Sequence[Frame]) -> Frame:
        """Return the sums of items over all lists from those over parts of them."""
        key = [*groups(self._context), ITEM]
        return self._engine.sum_by(
            nw.concat(list(parts), how="vertical"), key, list(dict.fromkeys(self._requirements.item_columns.values()))
        )

    def values(self, items: Frame, every: Frame) -> Frame:
        """Return the metrics of each group of lists."""
        context, by = self._context, groups(self._context)
        items = self._of_catalog(items)
        summed, ranked = self._requirements.item_terms()
        for column in sorted(ranked):
            # A sum of 0 is an item that is shown elsewhere only.
            unseen = (~(nw.col(column) > 0)).cast(nw.Float64())
            items = items.with_columns(nw.col(column).rank("average").over(*by).alias(ITEM_ORDER), unseen.alias(UNSEEN))
            items = items.with_columns((nw.col(ITEM_ORDER) - nw.col(UNSEEN).sum().over(*by)).alias(ITEM_ORDER))
            order = nw.when(nw.col(column) > 0).then(nw.col(ITEM_ORDER)).otherwise(0.0)
            items = items.with_columns(order.alias(order_column(column))).drop(ITEM_ORDER, UNSEEN)
        stacked = [items.select(*by, **summed), every.select(*by, **dict.fromkeys(summed, nw.lit(0.0)))]
        sums = self._engine.sum_by(nw.concat(stacked, how="vertical"), by, list(summed))
        sums = self._side_tables.with_catalog_size(sums)
        metrics = self._requirements.exposure
        names = {name: column for name, column in context.names.items() if name in by}
        found = {metric.column: self._value(metric) for metric in metrics}
        lacking = {metric.column: lacks_value(*found[metric.column]) for metric in metrics if not metric.is_builtin}
        sums = check_values(context, sums, metrics, lacking, names, "value of `per`")
        eager = self._engine.eager
        values = sums.select(*by, *(defined_value(metric, *found[metric.column], eager=eager) for metric in metrics))
        values = averages.fill(context, values, metrics, names, "value of `per`")
        return values.select(*context.reported, *(metric.column for metric in metrics))

    def _value(self, metric: ExposureMetric) -> tuple[nw.Expr, nw.Expr | None]:
        """Return a metric's value, and which groups of lists have one."""
        sums = self._requirements.sums(metric)
        return metric.value(sums), metric.defined(sums)

    def _of_catalog(self, items: Frame) -> Frame:
        """Leave out the items that a given catalogue lacks."""
        catalog = self._side_tables.catalog()
        if catalog is None:
            return items
        listed = self._engine.join(items, catalog.with_columns(nw.lit(1.0).alias(LISTED)), [ITEM])
        return listed.filter(~nw.col(LISTED).is_null()).drop(LISTED)


def _with_all(frame: Frame) -> Frame:
    return frame.with_columns(nw.lit(0).alias(ALL))


def joined(engine: Engine, results: Sequence[Frame], by: Sequence[str]) -> Frame:
    """Put results side by side that have one row for each value of what is reported by."""
    if not by:
        return reduce(lambda left, right: left.join(right, how="cross"), results)
    return reduce(lambda left, right: engine.join(left, right, by), results)
