"""The rows that one model ranks: rank ▸ keep what can matter at the largest k ▸ tied blocks under the policy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import narwhals as nw

from recframe import _rank
from recframe._plan import _compact
from recframe._plan._truth import label, or_zero
from recframe._terms import CASCADE, RANKED, RELEVANCE, RELEVANT, SIZE, START, TIED, VALUE
from recframe.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._frames import Engine, Later
    from recframe._plan._tables import Tables

    Frame = nw.LazyFrame[Any]

__all__ = ["is_read", "kept_rows", "numbered", "placed_rows", "ranked_rows"]

SAMPLE = 1000
"""How many scores to look at before it is believed that few of them tie."""


def ranked_rows(tables: Tables, index: int) -> Frame:
    """Return the rows that the model of an order ranks."""
    keep = [_rank.ITEM] if tables.with_item else []
    keep += [_rank.ROW] if tables.question.ties == "first" else []
    keep += [RELEVANCE] if tables.truth is None and tables.labelled else []
    keep += [TIED] if tables.question.tied is not None else []
    score = nw.col(f"score{index}").alias(_rank.SCORE)
    ranked = tables.engine.present(tables.frame.select(*tables.group, *keep, *tables.values, score), _rank.SCORE)
    _check_ranks(tables, ranked)
    _compact.check_counts(tables, ranked)
    return ranked


def _check_ranks(tables: Tables, ranked: Frame) -> None:
    """Raise for a position that is none, where the data can be seen."""
    question = tables.question
    if not (question.by_rank and tables.engine.eager):
        return
    rank = nw.col(_rank.SCORE)
    wrong = ranked.filter((rank < 1) | (rank % 1 != 0))
    found = tables.engine.scalar(wrong.select(rank.min()))
    if found is not None and found == found:  # noqa: PLR0124 - only NaN differs from itself
        msg = f"rank={question.orders[0]!r} holds {found}, but a rank is a whole number from 1"
        raise InputError(msg, "for scores, higher is better, use score=")


class Placed(NamedTuple):
    """Rows with where their tied blocks start."""

    rows: Frame
    sized: bool
    """Whether they also say how many rows these hold."""


def placed_rows(tables: Tables, ranked: Frame, ideal: Later | None, upto: int | None) -> Placed:
    """Return the rows that can matter, each with where its tied block starts."""
    by_rank = tables.question.by_rank
    own = None if by_rank else tables.engine.placed(ranked, tables.group, _rank.SCORE, upto, _only(tables))
    placed = _rank.place(ranked, tables.group, upto, by_rank=by_rank).drop(_rank.SCORE) if own is None else own
    placed = placed if upto is not None or ideal is None else _up_to_relevant(tables, placed, ideal())
    return Placed(placed, sized=own is not None)


def is_read(tables: Tables, hit: nw.Expr, relevance: nw.Expr) -> nw.Expr:
    """Return whether a metric that does not see all rows reads one."""
    graded = any(metric.reads == "graded" for metric in tables.need.accuracy)
    return hit | (relevance != 0) if graded else hit


def _only(tables: Tables) -> nw.Expr | None:
    """Return which of the rows any metric reads, where it is known before they are ranked; None: all."""
    need, question = tables.need, tables.question
    all_rows = tables.truth is not None or tables.lists_shown or question.tied is not None
    all_rows = all_rows or bool(_rank.TIE_ORDER[question.ties] or need.asked & {CASCADE, RANKED})
    all_rows = all_rows or any(metric.reads == "all" for metric in need.accuracy)
    relevance = or_zero(RELEVANCE)
    return None if all_rows else is_read(tables, tables.is_hit(relevance), relevance)


def _up_to_relevant(tables: Tables, placed: Frame, ideal: Frame) -> Frame:
    """Leave out what stands past the cutoff and past R, of which a lazy frame does not tell the largest."""
    cutoff = tables.need.cutoff
    if cutoff is None:
        return placed
    placed = tables.engine.join(placed, ideal.select(*tables.group, RELEVANT), tables.group)
    matters = (nw.col(START) <= cutoff) | (nw.col(START) <= nw.col(RELEVANT).fill_null(0.0))
    return placed.filter(matters).drop(RELEVANT)


def kept_rows(tables: Tables, ranked: Frame, placed: Placed, upto: int | None) -> Frame:
    """Return the rows that can matter, each with its tied block under the policy and its relevance."""
    group, question, engine = tables.group, tables.question, tables.engine
    compact = question.tied is not None
    order = _rank.TIE_ORDER[question.ties]
    if placed.sized and not order:
        return engine.settle(label(tables, placed.rows))
    kept = label(tables, placed.rows.drop(SIZE) if placed.sized else placed.rows)
    if compact:
        kept = _rank.absent(kept, group)
    for column, descending in order:
        if column != VALUE or tables.valued:
            kept = _rank.split_ties(kept, group, column, upto, descending=descending)
        if compact and column == RELEVANCE:
            kept = _rank.past_absent(kept, upto, descending=descending)
    if not compact and _seem_different(tables, ranked):
        # Counting the rows of lists is far less work than counting those of blocks.
        kept = engine.settle(kept)
        if not engine.scalar(_rank.excess(kept, group)):
            return kept.with_columns(nw.lit(1).alias(SIZE))
    return engine.settle(_rank.sizes(kept, group, absent=compact))


def numbered(engine: Engine, frame: Frame, keys: Sequence[str], column: str, *, descending: bool) -> Frame:
    """Add the position of each row in its list by a column, those of equal value in any order."""
    if engine.eager:
        # It is looked at, and may be numbered by other means afterwards.
        frame = engine.settle(frame)
    own = engine.numbered(frame, keys, column, descending=descending)
    return _rank.number(frame, keys, column, descending=descending) if own is None else own


def _seem_different(tables: Tables, ranked: Frame) -> bool:
    """Return whether it is worth to look for ties: the scores can be seen, and some of them are all different."""
    if not tables.engine.eager or tables.question.by_rank:
        return False
    some = ranked.select(_rank.SCORE).head(SAMPLE)
    repeated = some.group_by(_rank.SCORE).agg(nw.len().alias(SIZE)).filter(nw.col(SIZE) > 1)
    return not tables.engine.scalar(repeated.select(nw.len()))
