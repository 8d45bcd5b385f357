"""The rows that one model ranks: rank ▸ keep what can matter at the largest k ▸ tied blocks under the policy."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import narwhals as nw

from recframe._columns import (
    COUNT,
    ITEM,
    RANKED,
    RELEVANCE,
    RELEVANT,
    ROW,
    SCORE,
    SIZE,
    START,
    TIED,
    VALUE,
    score_column,
)
from recframe._plan import partial_rankings, ranks
from recframe._plan.relevance import label, or_zero
from recframe.errors import InputError
from recframe.metrics._row import CASCADE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._columns import Frame
    from recframe._engines.base import Engine, Later
    from recframe._plan.context import CallContext


SAMPLE = 1000
"""How many scores to look at before it is believed that few of them tie."""


def ranked_rows(context: CallContext, index: int) -> Frame:
    """Return the rows that the model of an order ranks."""
    keep = [ITEM] if context.with_item else []
    keep += [ROW] if context.query.ties == "first" else []
    keep += [RELEVANCE] if context.truth is None and context.labelled else []
    keep += [TIED] if context.query.tied is not None else []
    score = nw.col(score_column(index)).alias(SCORE)
    ranked = context.engine.present(context.frame.select(*context.group, *keep, *context.values, score), SCORE)
    _check_ranks(context, ranked)
    partial_rankings.check_counts(context, ranked)
    return ranked


def _check_ranks(context: CallContext, ranked: Frame) -> None:
    """Raise for a position that is none, where the data can be seen."""
    query = context.query
    if not (query.by_rank and context.engine.eager):
        return
    rank = nw.col(SCORE)
    wrong = ranked.filter((rank < 1) | (rank % 1 != 0))
    found = context.engine.scalar(wrong.select(rank.min()))
    if found is not None:
        msg = f"rank={query.orders[0]!r} holds {found}, but a rank is a whole number from 1"
        raise InputError(msg, "for scores, higher is better, use score=")


class Placed(NamedTuple):
    """Rows with where their tied blocks start."""

    rows: Frame
    sized: bool
    """Whether they also say how many rows these hold."""


def placed_rows(context: CallContext, ranked: Frame, ideal: Later | None, upto: int | None) -> Placed:
    """Return the rows that can matter, each with where its tied block starts."""
    by_rank = context.query.by_rank
    own = (
        None if by_rank else context.engine.rank_rows(ranked, context.group, SCORE, upto, _needed_rows_filter(context))
    )
    placed = ranks.place(ranked, context.group, upto, by_rank=by_rank).drop(SCORE) if own is None else own
    placed = placed if upto is not None or ideal is None else _up_to_relevant(context, placed, ideal())
    return Placed(placed, sized=own is not None)


def is_read(context: CallContext, hit: nw.Expr, relevance: nw.Expr) -> nw.Expr:
    """Return whether a metric that does not see all rows reads one."""
    graded = any(metric.reads == "graded" for metric in context.requirements.accuracy)
    return hit | (relevance != 0) if graded else hit


def _needed_rows_filter(context: CallContext) -> nw.Expr | None:
    """Return which of the rows any metric reads, where it is known before they are ranked; None: all."""
    requirements, query = context.requirements, context.query
    all_rows = context.truth is not None or context.reads_recommended or query.tied is not None
    all_rows = all_rows or bool(ranks.TIE_ORDER[query.ties] or requirements.asked & {CASCADE, RANKED})
    all_rows = all_rows or any(metric.reads == "all" for metric in requirements.accuracy)
    relevance = or_zero(RELEVANCE)
    return None if all_rows else is_read(context, context.is_hit(relevance), relevance)


def _up_to_relevant(context: CallContext, placed: Frame, ideal: Frame) -> Frame:
    """Leave out what stands past the cutoff and past R, of which a lazy frame does not tell the largest."""
    cutoff = context.requirements.cutoff
    if cutoff is None:
        return placed
    placed = context.engine.join(placed, ideal.select(*context.group, RELEVANT), context.group)
    matters = (nw.col(START) <= cutoff) | (nw.col(START) <= nw.col(RELEVANT).fill_null(0.0))
    return placed.filter(matters).drop(RELEVANT)


def kept_rows(context: CallContext, ranked: Frame, placed: Placed, upto: int | None) -> Frame:
    """Return the rows that can matter, each with its tied block under the policy and its relevance."""
    group, query, engine = context.group, context.query, context.engine
    compact = query.tied is not None
    order = ranks.TIE_ORDER[query.ties]
    if placed.sized and not order:
        return engine.settle(label(context, placed.rows))
    kept = label(context, placed.rows.drop(SIZE) if placed.sized else placed.rows)
    if compact:
        kept = ranks.absent(kept, group)
    for column, descending in order:
        if column != VALUE or context.valued:
            kept = ranks.split_ties(kept, group, column, upto, descending=descending)
        if compact and column == RELEVANCE:
            kept = ranks.shift_past_omitted_rows(kept, upto, descending=descending)
    if not compact and _seem_different(context, ranked):
        # Counting the rows of lists is far less work than counting those of blocks.
        kept = engine.settle(kept)
        if not engine.scalar(ranks.tie_excess(kept, group)):
            return kept.with_columns(nw.lit(1).alias(SIZE))
    return engine.settle(ranks.sizes(kept, group, absent=compact))


def numbered(engine: Engine, frame: Frame, keys: Sequence[str], column: str, *, descending: bool) -> Frame:
    """Add the position of each row in its list by a column, those of equal value in any order."""
    if engine.eager:
        # It is looked at, and may be numbered by other means afterwards.
        frame = engine.settle(frame)
    own = engine.number_rows(frame, keys, column, descending=descending)
    return ranks.number(frame, keys, column, descending=descending) if own is None else own


def _seem_different(context: CallContext, ranked: Frame) -> bool:
    """Return whether it is worth to look for ties: the scores can be seen, and some of them are all different."""
    if not context.engine.eager or context.query.by_rank:
        return False
    some = ranked.select(SCORE).head(SAMPLE)
    repeated = some.group_by(SCORE).agg(nw.len().alias(COUNT)).filter(nw.col(COUNT) > 1)
    return not context.engine.scalar(repeated.select(nw.len()))
