"""Counts per list: all rows, the ranked rows, and the empty positions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import narwhals as nw

from recframe._base.columns import (
    CANDIDATES,
    ITEM,
    RANKED,
    ROWS,
    SIZE,
    START,
    Addends,
    score_column,
    vacant_column,
)
from recframe._plan import partial_rankings
from recframe._plan.matches import matched
from recframe._plan.sum_columns import as_float
from recframe.metrics._row import Row
from recframe.metrics._sums import at_most

if TYPE_CHECKING:
    from recframe._base.columns import Frame
    from recframe._plan.opened import Opened


def row_counts(context: Opened, ranked: Frame, kept: Frame, index: int, upto: int | None) -> list[Addends]:
    """Return frames that add up to the counts that metrics request, for one model.

    Parameters
    ----------
    context : Opened
        The frames of the call.
    ranked : Frame
        The rows that the model ranks.
    kept : Frame
        The ranked rows that can matter.
    index : int
        The number of the model's scores.
    upto : int or None
        The last position that matters; None: all.
    """
    requested = context.requirements.requested
    omits_rows = CANDIDATES in context.omitted
    addends = _vacant(context, ranked, kept)
    if {RANKED, ROWS} <= requested and context.truth is None and not omits_rows:
        counts = context.engine.count_rows(context.frame, context.keys.group, ROWS, {RANKED: score_column(index)})
        terms = {ROWS: as_float(ROWS), RANKED: as_float(RANKED)}
        return [Addends(counts, terms, one_row_each=True), *addends]
    if RANKED in requested and omits_rows:
        addends.append(Addends(partial_rankings.candidates(context), {RANKED: as_float(RANKED)}))
    elif RANKED in requested:
        # The kept rows suffice to count up to a position. Ranks from the user may have gaps, so all rows are counted.
        counted = ranked if context.query.by_rank or upto is None else kept
        counts = context.engine.count_rows(counted, context.keys.group, RANKED, {})
        addends.append(Addends(counts, {RANKED: as_float(RANKED)}, one_row_each=True))
    if ROWS in requested:
        addends += [Addends(rows, {ROWS: as_float(ROWS)}, one_row_each=True) for rows in _all_rows(context)]
    return addends


def _vacant(context: Opened, ranked: Frame, kept: Frame) -> list[Addends]:
    """Return frames that add up to the empty positions among the first min(N, k), if ranks are given with gaps."""
    requested = context.requirements.requested
    row = Row()
    cutoffs = {metric.cutoff for metric in context.requirements.metrics}
    columns = {k: vacant_column(k) for k in cutoffs if vacant_column(k) in requested}
    if not columns or context.omitted or not context.query.by_rank:
        return []
    counts = ranked.group_by(*context.keys.group).agg(nw.len().alias(RANKED))
    rows = kept.with_columns(nw.col(START, SIZE).cast(nw.Float64()))
    positions = {name: at_most(nw.col(RANKED).cast(nw.Float64()), k).alias(name) for k, name in columns.items()}
    filled = {name: (0.0 - row.within(k)).alias(name) for k, name in columns.items()}
    return [Addends(counts, positions), Addends(rows, filled)]


def _all_rows(context: Opened) -> list[Frame]:
    """Return frames that add up to the number of a list's rows, ranked or not, in the frame or in the truth."""
    group = context.keys.group
    if CANDIDATES in context.omitted:
        unranked = context.frame.filter(nw.col(score_column(0)).is_null())
        return [_count(context, unranked, 1.0), partial_rankings.candidates(context).rename({RANKED: ROWS})]
    if context.truth is None:
        return [_count(context, context.frame, 1.0)]
    on = [*context.keys.key, ITEM]
    both = matched(context.engine, context.frame.select(*group, ITEM), context.truth.select(*on), on).unique()
    truth = context.of_models(context.truth)
    return [_count(context, context.frame, 1.0), _count(context, truth, 1.0), _count(context, both, -1.0)]


def _count(context: Opened, frame: Frame, each: float) -> Frame:
    """Return the number of rows per list, times `each`."""
    rows = frame.select(*context.keys.group, nw.lit(each).alias(ROWS))
    return context.engine.sum_by(rows, context.keys.group, [ROWS])
