"""The ideal side: what lists would get in their ideal ranking."""

from __future__ import annotations

from typing import TYPE_CHECKING

import narwhals as nw

from recframe._columns import (
    GAIN,
    HIT,
    POOLED,
    POSITION,
    RELEVANCE,
    RELEVANT,
    Addends,
    ideal_position_column,
)
from recframe._plan.positions import placed_rows, with_relevance
from recframe._plan.relevance import fill_missing, inverse_propensity, is_of_ideal, is_pooled
from recframe._plan.sum_columns import own
from recframe.metrics._ideal_row import IdealRow
from recframe.metrics._row import ALL_ROWS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._columns import Frame
    from recframe._plan.context import CallContext
    from recframe.metrics._record import BestOf
    from recframe.metrics._shared_terms import Terms


_RELEVANT = nw.col(HIT).alias(RELEVANT)


def ideal_lists(context: CallContext) -> Frame:
    """Return R and the sums in the ideal ranking, of each list that has a relevant row."""
    group = _ideal_group(context)
    lists = _summed(context, ideal_rows(context), group)
    return lists.join(context.models(), how="cross") if group != context.group else lists


def _ideal_group(context: CallContext) -> list[str]:
    """Return the key of the lists: those of a truth have no model."""
    return context.group if context.truth is None else context.keys


def ideal_rows(context: CallContext) -> Addends:
    """Return what rows add in the ideal ranking of their list."""
    group = _ideal_group(context)
    if context.truth is None:
        columns = [*group, *context.relevance, *context.propensities, *context.values]
        source = context.engine.narrow(context.frame, columns)
    else:
        columns = [*context.keys, RELEVANCE, *context.pool, *context.propensities, *context.values]
        return _best(context, context.truth.select(*columns), group, "all")
    if not context.prepared:
        source = source.with_columns(is_pooled()) if context.requirements.reads_pool else source
        source = fill_missing(source, [RELEVANCE])
    return _best(context, source, group, "all")


def ranked_ideal(context: CallContext, ranked: Frame) -> Addends:
    """Return the sums in the ideal ranking of the ranked rows only."""
    if context.truth is not None:
        ranked = placed_rows(context, ranked, None, None)
    rows = with_relevance(context, ranked).select(*context.group, RELEVANCE, HIT)
    best = _summed(context, _best(context, rows, context.group, "ranked"), context.group)
    columns = context.requirements.ideal["ranked"].by_column
    return Addends(best, {column: own(column) for column in columns}, by_list=True)


def _summed(context: CallContext, rows: Addends, group: Sequence[str]) -> Frame:
    return context.engine.sum_terms(rows.frame, group, rows.terms, in_order=rows.in_order)


def _best(context: CallContext, rows: Frame, group: Sequence[str], of: BestOf) -> Addends:
    """Return what rows add in their ideal ranking: those of positive relevance, unless a metric reads all."""
    terms = context.requirements.ideal[of]
    if not terms.requested & {ALL_ROWS, POOLED}:
        rows = rows.filter(is_of_ideal(context.query.min_relevance))
    rows = _by_gain(context, rows, group, terms)
    if POSITION in terms.requested:
        rows = context.engine.number_rows(rows, group, RELEVANCE, descending=True)
    if of == "all" and not (context.prepared and context.truth is None):
        rows = context.with_hits(rows)
    # Of equal relevance, the positions are those of any order.
    in_order = POSITION in terms.requested and not (context.propensities or context.values)
    if of == "ranked":
        return Addends(rows, terms.summands, in_order=in_order)
    relevant = (nw.col(HIT) * inverse_propensity()).alias(RELEVANT) if context.propensities else _RELEVANT
    return Addends(rows, {**terms.summands, RELEVANT: relevant}, in_order=in_order)


def _by_gain(context: CallContext, rows: Frame, group: Sequence[str], terms: Terms) -> Frame:
    """Add the positions in ideal rankings that are sorted by a gain other than the relevance."""
    for number, gain in enumerate(context.requirements.orders):
        column = ideal_position_column(number)
        if column in terms.requested:
            rows = context.with_hits(rows).with_columns(gain(IdealRow()).cast(nw.Float64()).alias(GAIN))
            rows = context.engine.number_rows(rows, group, GAIN, descending=True)
            rows = rows.with_columns(nw.col(POSITION).cast(nw.Float64()).alias(column)).drop(POSITION, GAIN)
    return rows
