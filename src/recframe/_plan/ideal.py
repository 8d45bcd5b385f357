"""The ideal side: what lists would get in their best order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import narwhals as nw

from recframe._columns import HIT, POSITION, RELEVANCE, RELEVANT, SCORE
from recframe._plan import ranks
from recframe._plan.positions import numbered
from recframe._plan.relevance import label
from recframe.metrics._row import ALL_ROWS, IdealRow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._columns import Frame
    from recframe._plan.context import CallContext


def ideal_lists(context: CallContext) -> Frame:
    """Return R and the sums in the best order, of each list that has a relevant row."""
    source = context.truth if context.truth is not None else context.frame
    group = context.keys if context.truth is not None else context.group
    lists = _best(context, context.relevance(source.select(*group, RELEVANCE, *context.values)), group, "all")
    if context.long and context.truth is not None:
        lists = lists.join(context.models(), how="cross")
    return lists


def ranked_ideal(context: CallContext, ranked: Frame) -> Frame:
    """Return the sums in the best order of the ranked rows only."""
    if context.truth is not None:
        ranked = ranks.place(ranked, context.group, None, by_rank=context.query.by_rank).drop(SCORE)
    best = _best(context, label(context, ranked).select(*context.group, RELEVANCE), context.group, "ranked")
    return context.to_sum_columns(
        best, {column: nw.col(column) for column in context.requirements.best_terms("ranked")}
    )


def _best(context: CallContext, frame: Frame, group: Sequence[str], of: str) -> Frame:
    """Sum what rows add in their best order: those of positive relevance, unless a metric asks for all."""
    row = IdealRow()
    added = context.requirements.best_terms(of, row)
    rows = context.hits(frame)
    if ALL_ROWS not in row.asked:
        rows = rows.filter((nw.col(RELEVANCE) > 0) | (nw.col(HIT) > 0))
    if POSITION in row.asked:
        rows = numbered(context.engine, rows, group, RELEVANCE, descending=True)
        rows = rows.with_columns(nw.col(POSITION).cast(nw.Float64()))
    if of == "all":
        added[RELEVANT] = nw.col(HIT)
    return context.engine.sum_by(rows.select(*group, **added), group, list(added))
