"""A second frame that knows what is relevant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import narwhals as nw

from recframe._columns import HIT, ITEM, RANKED, RELEVANCE, REPEAT, ROW, ROWS, START, TRUE_VALUE, VALUE, score_column
from recframe._plan import partial_rankings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._columns import Frame
    from recframe._plan.context import CallContext


def label(context: CallContext, frame: Frame) -> Frame:
    """Return placed rows with their relevance and whether they are relevant, from the truth if there is one.

    A repeated recommendation is relevant once, where it stands first.
    """
    if context.truth is None:
        return context.hits(context.relevance(frame))
    truth = context.truth.rename({VALUE: TRUE_VALUE}) if context.valued else context.truth
    frame = context.engine.join(frame, truth, [*context.keys, ITEM])
    if context.valued:
        frame = frame.with_columns(known_value()).drop(TRUE_VALUE)
    unknown = nw.col(RELEVANCE).is_null()
    rows = [ROW] if context.query.ties == "first" else []
    found = numbered(context.hits(frame.filter(~unknown)), [*context.group, ITEM], rows)
    found = once(found, [RELEVANCE, HIT])
    # What the truth does not hold is not relevant, however low min_relevance is.
    others = frame.filter(unknown).with_columns(*(nw.lit(0.0).alias(name) for name in (RELEVANCE, HIT)))
    return nw.concat([found, others], how="vertical")


def distinct(truth: Frame, keys: Sequence[str], numbers: Sequence[str]) -> Frame:
    """Return each item of a list once: what is repeated counts with its largest numbers."""
    return truth.group_by(*keys, ITEM).agg(nw.col(*numbers).max())


def or_zero(name: str) -> nw.Expr:
    """Return a column as a number, missing 0."""
    return nw.col(name).cast(nw.Float64()).fill_nan(0.0).fill_null(0.0)


def known_value() -> nw.Expr:
    """Return what an item is worth: what the truth says, else what the frame says."""
    return nw.when(~nw.col(TRUE_VALUE).is_null()).then(nw.col(TRUE_VALUE)).otherwise(nw.col(VALUE)).alias(VALUE)


def numbered(found: Frame, pair: Sequence[str], rows: Sequence[str]) -> Frame:
    """Add which of the rows that repeat an item each is, the first by position and, if there are any, row numbers."""
    if not rows:
        return found.with_columns(nw.col(START).rank("ordinal").over(*pair).alias(REPEAT))
    found = found.with_columns((nw.col(START).cast(nw.Int64()) * 2**31 + nw.col(*rows)).alias(REPEAT))
    return found.with_columns(nw.col(REPEAT).rank("min").over(*pair).alias(REPEAT))


def once(found: Frame, numbers: Sequence[str]) -> Frame:
    """Let a repeated recommendation be relevant once: its rows but the one of `REPEAT` 1 lose their relevance."""
    first = nw.col(REPEAT) == 1
    kept = [nw.when(first).then(nw.col(name)).otherwise(0.0).alias(name) for name in numbers]
    return found.with_columns(*kept).drop(REPEAT)


def row_counts(context: CallContext) -> list[Frame]:
    """Return frames whose sums are the rows of each list, ranked or not, those of the truth included."""
    group = context.group
    if context.query.candidates is not None:
        unranked = context.frame.filter(nw.col(score_column(0)).is_null()).select(*group, nw.lit(1.0).alias(ROWS))
        return [
            context.engine.sum_by(unranked, group, [ROWS]),
            partial_rankings.candidates(context).rename({RANKED: ROWS}),
        ]

    def count(frame: Frame, each: float) -> Frame:
        return context.engine.sum_by(frame.select(*group, nw.lit(each).alias(ROWS)), group, [ROWS])

    if context.truth is None:
        return [count(context.frame, 1.0)]
    on = [*context.keys, ITEM]
    both = context.engine.join(context.frame.select(*group, ITEM), context.truth.select(*on, RELEVANCE), on)
    both = both.filter(~nw.col(RELEVANCE).is_null()).select(*group, ITEM).unique()
    truth = context.truth.join(context.models(), how="cross") if context.long else context.truth
    return [count(context.frame, 1.0), count(truth, 1.0), count(both, -1.0)]
