"""The rows that one model ranks: rank ▸ keep the rows that can matter at the largest k ▸ order ties by the policy."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import narwhals as nw

from recframe._base.columns import (
    ABSENT,
    CANDIDATES,
    GROUP,
    HIT,
    ITEM,
    MOVED,
    POOLED,
    RANKED,
    RELEVANCE,
    RELEVANT,
    ROW,
    ROWS,
    SCORE,
    SIZE,
    START,
    TIED,
    TRUE_VALUE,
    VALUE,
    score_column,
)
from recframe._base.values import MOST_ROWS
from recframe._engines.base import Needed
from recframe._engines.sharing import SHARED
from recframe._plan import ranks
from recframe._plan.relevance import hit_column, is_needed_row, known_value, number_repeats, or_zero, zero_repeats
from recframe._plan.sum_columns import constant, up_to
from recframe.errors import InputError

if TYPE_CHECKING:
    from recframe._base.columns import Frame
    from recframe._engines.base import Later
    from recframe._plan.opened import Opened


_IS_UNKNOWN = nw.col(RELEVANCE).is_null()
_IS_KNOWN = ~_IS_UNKNOWN
_IS_POOLED = or_zero(POOLED)


def ranked_rows(context: Opened, index: int) -> Frame:
    """Return the rows that a model ranks, with the model's scores in the column SCORE."""
    columns = _ranked_columns(context)
    score = score_column(index)
    if score == SCORE:
        ranked = context.engine.narrow(context.frame, [*columns, SCORE])
    else:
        ranked = context.frame.select(*columns, **{SCORE: score})
    ranked = context.engine.drop_missing(ranked, SCORE)
    _check_ranks(context, ranked)
    if context.query.by_rank and (context.query.condensed or (context.query.sampled and not context.omitted)):
        # Unjudged rows and rows outside the sample leave gaps between the user's ranks. Close the gaps.
        ranked = ranked.with_columns(nw.col(SCORE).rank("min").over(*context.keys.group).cast(nw.Int64()).alias(SCORE))
    return ranked if context.query.ordered == "as given" else _reordered(context, ranked)


def _ranked_columns(context: Opened) -> list[str]:
    """Return the columns of ranked rows beside the score."""
    keep = [ITEM] if context.with_item else []
    keep += [ROW] if context.query.ties == "first" else []
    if context.truth is None and context.requirements.columns_read.relevance:
        keep += [*context.relevance, *context.propensities]
    keep += context.omitted
    keep += [GROUP] if context.rows_have_groups else []
    return [*context.keys.group, *keep, *context.values]


def _reordered(context: Opened, ranked: Frame) -> Frame:
    """Return ranked rows with scores for the chance level, all equal, or for the best order, the relevance."""
    query = context.query
    if query.ordered == "by chance" or not context.requirements.columns_read.relevance:
        return ranked.with_columns(nw.lit(1).alias(SCORE))
    if context.truth is not None:
        truth = context.truth.select(*context.keys.key, ITEM, RELEVANCE)
        ranked = context.engine.join(ranked, truth, [*context.keys.key, ITEM])
    ranked = ranked.with_columns(or_zero(RELEVANCE).alias(SCORE))
    if query.by_rank:
        rank = nw.col(SCORE).rank("min", descending=True).over(*context.keys.group)
        if CANDIDATES in context.omitted:
            # Omitted rows have relevance 0, so they come before rows with a negative relevance.
            omitted = nw.col(CANDIDATES) - nw.len().over(*context.keys.group)
            rank += nw.when(nw.col(SCORE) < 0).then(omitted).otherwise(0)
        ranked = ranked.with_columns(rank.cast(nw.Int64()).alias(SCORE))
    return ranked if context.truth is None else ranked.drop(RELEVANCE)


def _check_ranks(context: Opened, ranked: Frame) -> None:
    """Raise for an invalid rank in an eager frame."""
    query = context.query
    if not (query.by_rank and context.engine.eager):
        return
    rank = nw.col(SCORE)
    wrong = ranked.filter((rank < 1) | (rank.cast(nw.Float64()) % 1 != 0) | (rank > MOST_ROWS))
    lowest = context.engine.scalar(wrong.select(rank.min()))
    if lowest is not None:
        msg = f"`rank={query.orders[0]!r}` holds {lowest}, but a rank is a whole number from 1 to {MOST_ROWS}"
        hint = "for scores, higher is better, use `score=`"
        raise InputError(msg, hint if lowest else f"add 1 to ranks from 0; {hint}")


def placed_rows(
    context: Opened, ranked: Frame, ideal: Later | None, upto: int | None, index: int | None = None
) -> Frame:
    """Return the rows that can matter, each with the first position and the size of its tied block.

    With the `index` of the model that ranks all rows, the calls of a report share the ranking.
    """
    if context.query.by_rank:
        placed = context.engine.collect_once(ranks.place_by_rank(ranked, context.keys.group, SCORE, upto))
        _check_overlaps(context, placed)
    else:
        placed = _placed_by_score(context, ranked, upto, index)
    return placed if upto is not None or ideal is None else _up_to_relevant(context, placed, ideal())


def _placed_by_score(context: Opened, ranked: Frame, upto: int | None, index: int | None) -> Frame:
    """Return the ranked rows up to a position, each with the start and the size of its tied block.

    The calls of a report share one ranking. It reaches the last position that any of them reads, and each call keeps
    the rows up to its own last position.
    """
    shared = SHARED.get()
    needed = _needed_rows(context, upto)
    rank = partial(context.engine.rank_rows, ranked, context.keys.group, SCORE)
    has_all_rows = context.frame is context.session.frames["frame"]
    if shared is None or index is None or not (context.engine.eager and has_all_rows):
        return rank(upto, needed)
    last = None if upto is None or shared.upto is None else max(upto, shared.upto)
    query = context.query
    read = None if needed is None else (query.min_relevance, context.requirements.reads_graded, needed.upto)
    key = (id(context.session), index, query.ordered, last, read, *_ranked_columns(context))
    if key not in shared.rankings:
        shared.rankings[key] = context.engine.collect_once(rank(last, needed))
    placed = shared.rankings[key]
    return placed if last == upto else placed.filter(up_to(START, upto))


def _check_overlaps(context: Opened, placed: Frame) -> None:
    """Raise if a rank of an eager frame is inside the tied block before it, so that a position would hold two rows."""
    engine = context.engine
    group = context.keys.group
    if not (engine.eager and engine.may_hold(placed, nw.col(SIZE) > 1)):
        return
    end = (nw.col(START) + nw.col(SIZE)).shift(1).over(*group, order_by=START)
    with_ties = placed.filter(nw.col(SIZE) > 1).select(*group).unique()
    blocks = engine.join(with_ties, placed.select(*group, START, SIZE), group).unique().with_columns(end.alias(MOVED))
    lowest = engine.scalar(blocks.filter(nw.col(MOVED) > nw.col(START)).select(nw.col(START).min()))
    if lowest is not None:
        msg = (
            f"`rank={context.query.orders[0]!r}` holds {lowest} where tied rows ahead of it fill that position already"
        )
        raise InputError(msg, "ranks that count all rows ahead, 1, 1, 3, instead of dense ones, 1, 1, 2")


def with_relevance(context: Opened, frame: Frame) -> Frame:
    """Return placed rows with their relevance and hits, from the truth if there is one.

    A repeated recommendation is relevant once, at its first position.
    """
    if context.truth is None:
        return context.with_relevance(frame)
    truth = context.truth.rename({VALUE: TRUE_VALUE}) if context.values else context.truth
    frame = context.engine.join(frame, truth, [*context.keys.key, ITEM])
    if context.values:
        frame = frame.with_columns(known_value()).drop(TRUE_VALUE)
    rows = [ROW] if context.query.ties == "first" else []
    if context.pool:
        frame = frame.with_columns(_IS_POOLED)
    judged = number_repeats(context.with_hits(frame.filter(_IS_KNOWN)), [*context.keys.group, ITEM], rows)
    judged = zero_repeats(judged, [RELEVANCE, HIT, *context.pool])
    # Rows that the truth lacks are not relevant, however low min_relevance is.
    others = frame.filter(_IS_UNKNOWN).with_columns(*(constant(name, 0.0) for name in (RELEVANCE, HIT)))
    return context.engine.stack([judged, others])


def _needed_rows(context: Opened, upto: int | None) -> Needed | None:
    """Return which ranked rows metrics read, so that engines drop the others early, or None if all rows must be ranked.

    All rows are ranked if the relevance is joined after the ranking (from a truth), if tied rows are put in order, if
    the frame omits tied rows, or if subtopics, recommended items, a metric without a cutoff or a count read every row.
    """
    requirements = context.requirements
    query = context.query
    all_rows_upto = requirements.all_rows_upto
    counts_kept_rows = RANKED in requirements.requested and ROWS not in requirements.requested and upto is not None
    if (
        context.truth is not None
        or TIED in context.omitted
        or ranks.TIE_ORDER[query.ties]
        or requirements.numbers.alphas
        or requirements.reads_recommended
        or all_rows_upto is None
        or counts_kept_rows
    ):
        return None
    recomputed = (hit_column(query.min_relevance),) if context.made_by_sql else ()
    return Needed(is_needed_row(query.min_relevance, graded=requirements.reads_graded), all_rows_upto, recomputed)


def _up_to_relevant(context: Opened, placed: Frame, ideal: Frame) -> Frame:
    """Return the rows up to the cutoff or up to R, whichever is further. R is only known once data is read."""
    cutoff = context.requirements.cutoff
    if cutoff is None:
        return placed
    placed = context.engine.join(placed, ideal.select(*context.keys.group, RELEVANT), context.keys.group)
    matters = (nw.col(START) <= cutoff) | (nw.col(START) <= nw.col(RELEVANT).fill_null(0.0))
    return placed.filter(matters).drop(RELEVANT)


def kept_rows(context: Opened, placed: Frame, upto: int | None) -> Frame:
    """Return the rows that can matter with their relevance and their tied blocks, ordered by the tie policy."""
    engine = context.engine
    kept = with_relevance(context, placed)
    if TIED in context.omitted:
        kept = _split(context, ranks.count_omitted_rows(kept), upto)
        # The positions of omitted rows belong to the tied block.
        return engine.collect_once(kept.with_columns((nw.col(SIZE) + nw.col(ABSENT)).alias(SIZE)).drop(ABSENT))
    if not ranks.TIE_ORDER[context.query.ties]:
        return kept if getattr(kept, "is_untied", False) else engine.collect_once(kept)
    if engine.writes_sql:
        return _split(context, kept, upto)
    return _split_tied(context, engine.collect_once(kept), upto)


def _split(context: Opened, kept: Frame, upto: int | None) -> Frame:
    """Split tied blocks by the tie policy. Omitted rows keep their positions."""
    for column, descending in ranks.TIE_ORDER[context.query.ties]:
        if column != VALUE or context.values:
            kept = ranks.split_ties(kept, context.keys.group, column, upto, descending=descending)
        if column == RELEVANCE and TIED in context.omitted:
            kept = ranks.shift_past_omitted_rows(kept, upto, descending=descending)
    return kept


def _split_tied(context: Opened, sized: Frame, upto: int | None) -> Frame:
    """Split only the tied blocks with several rows by the policy. Most lists have few, and sorting text is slow."""
    tied = _split(context, sized.filter(nw.col(SIZE) > 1), upto)
    untied = sized.filter(nw.col(SIZE) == 1)
    return context.engine.collect_once(context.engine.stack([untied, tied]))
