"""Tied blocks under the tie policies, and what rows say about others of their block or list, by windows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import narwhals as nw

from recframe._columns import (
    ABSENT,
    ALIKE_PLACE,
    BLOCK_HITS,
    CHANCE,
    CONCORDANCE,
    EQUAL,
    FLAG,
    GRADE_RANK,
    HIGHER_DIGITS,
    HIGHER_PLACE,
    HIT,
    HIT_START,
    HITS_BEFORE,
    ITEM,
    LENGTH,
    LEVEL,
    PLACE,
    POSITION,
    RELEVANCE,
    RELEVANT,
    ROW,
    SAME_GRADE,
    SIZE,
    START,
    TIED,
    VALUE,
)
from recframe._engines.base import sizes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from recframe._columns import Frame
    from recframe._engines.base import Engine


TIE_ORDER: dict[str, tuple[tuple[str, bool], ...]] = {
    "average": (),
    "best": ((RELEVANCE, True), (VALUE, True)),
    "worst": ((RELEVANCE, False), (VALUE, False)),
    "item": ((ITEM, False),),
    "item_desc": ((ITEM, True),),
    "first": ((ROW, False),),
}
"""The columns that order a tied block under each policy, where there are any, and whether descending."""


HOLDS_SEVERAL_FIRST_HITS = (nw.col(HITS_BEFORE) == 0) & (nw.col(BLOCK_HITS) > 1)
"""Whether a relevant row is in a block that holds several of its list's first hits. What does not differ from call to
call is converted only once."""
STARTS_OF_HITS = nw.when(nw.col(HIT) > 0).then(nw.col(START)).alias(HIT_START)
"""Where the tied blocks of relevant rows start, missing for others."""
HITS_AHEAD = (nw.col(POSITION).cast(nw.Float64()) - 1).fill_null(0.0).alias(HITS_BEFORE)
"""How many relevant rows are in front of a relevant row's block, from the first position of the block among these."""
HITS_INSIDE = nw.when(nw.col(HIT) > 0).then(nw.col(EQUAL)).otherwise(0.0).alias(BLOCK_HITS)
"""How many are in this block."""
HIT_ALONE = nw.col(HIT).alias(BLOCK_HITS)
"""The same where each block is one row."""


def given_places(frame: Frame, keys: Sequence[str], rank: str, upto: int | None) -> Frame:
    """Return what `Engine.rank_rows` does of rows that have ranks instead of scores."""
    rows = frame if upto is None else frame.filter(nw.col(rank) <= upto)
    return rows.with_columns(nw.col(rank).cast(nw.Int64()).alias(START)).drop(rank).with_columns(sizes(keys))


def split_ties(frame: Frame, keys: Sequence[str], column: str, upto: int | None, *, descending: bool) -> Frame:
    """Order each tied block by a column; what is equal there too stays one block, of its own size."""
    block = [*keys, START]
    within = nw.col(column).rank("min", descending=descending).over(*block)
    if column == ITEM:
        # A missing item has no rank: it comes last.
        missing = nw.col(column).is_null().cast(nw.Int64())
        within = within.fill_null(0) + missing * (nw.col(column).count().over(*block) + 1)
    # Before the blocks move: where ranks overlap, as 1, 1, 2 do, rows of two blocks may start at one position.
    frame = frame.with_columns(sizes([*keys, column]))
    return moved(frame, nw.col(START).cast(nw.Int64()) + within.cast(nw.Int64()) - 1, upto)


def moved(frame: Frame, start: nw.Expr, upto: int | None) -> Frame:
    """Give tied blocks other places, and keep the rows up to a position."""
    frame = frame.with_columns(start.alias(START))
    return frame if upto is None else frame.filter(nw.col(START) <= upto)


def break_ties(
    engine: Engine, sized: Frame, keys: Sequence[str], order: Sequence[tuple[str, bool]], upto: int | None
) -> Frame:
    """Give each row up to a position one of its own: tied rows by columns, what is equal there in any order."""
    alone = sized.filter(nw.col(SIZE) == 1).with_columns(nw.col(START).alias(PLACE))
    tied = sized.filter(nw.col(SIZE) > 1)
    for column, descending in order:
        tied = split_ties(tied, keys, column, upto, descending=descending)
    place = nw.col(START) + nw.col(START).rank("ordinal").over(*keys, START).cast(nw.Int64()) - 1
    tied = tied.with_columns(place.alias(PLACE))
    rows = engine.stack([alone.drop(START, SIZE), tied.drop(START, SIZE)])
    return rows if upto is None else rows.filter(nw.col(PLACE) <= upto)


def absent(frame: Frame) -> Frame:
    """Add how many rows of each row's tied block the frame omits."""
    return frame.with_columns((nw.col(TIED).cast(nw.Int64()) - nw.col(SIZE)).alias(ABSENT)).drop(TIED)


def shift_past_omitted_rows(frame: Frame, upto: int | None, *, descending: bool) -> Frame:
    """Move the rows of a block that was split by relevance behind absent ones, and leave these to relevance 0."""
    relevance = nw.col(RELEVANCE)
    behind = (relevance < 0) if descending else (relevance > 0)
    start = nw.col(START) + nw.when(behind).then(nw.col(ABSENT)).otherwise(0)
    left = nw.when(relevance == 0).then(nw.col(ABSENT)).otherwise(0)
    return moved(frame, start.cast(nw.Int64()), upto).with_columns(left.cast(nw.Int64()).alias(ABSENT))


def count_ahead(
    engine: Engine, frame: Frame, keys: Sequence[str], flag: nw.Expr, before: str, inside: str, *, tied: bool
) -> Frame:
    """Add how many rows of a kind are in front of each row's tied block, and in it."""
    frame = frame.with_columns(flag.cast(nw.Float64()).alias(FLAG))
    frame = engine.sums_before(frame, {before: FLAG}, keys, START)
    if not tied:
        return frame.with_columns(nw.col(FLAG).alias(inside))
    block = [*keys, START]
    return frame.with_columns(nw.col(before).min().over(*block), nw.col(FLAG).sum().over(*block).alias(inside))


def interpolated_precision(frame: Frame, keys: Sequence[str], level: float, column: str) -> Frame:
    """Add each list's greatest precision at the end of a tied block from a recall on; 0 if none reaches it."""
    ends = nw.col(HITS_BEFORE) + nw.col(BLOCK_HITS)
    precision = ends / (nw.col(START) + nw.col(SIZE) - 1).cast(nw.Float64())
    # As trec_eval 9 rounds: from int(level · R + 0.9) relevant rows on.
    reached = (nw.col(HIT) > 0) & (ends + 1 > nw.col(RELEVANT) * level + 0.9)
    frame = frame.with_columns(nw.when(reached).then(precision).otherwise(0.0).alias(column))
    return frame.with_columns(nw.col(column).max().over(*keys))


def chances(frame: Frame, keys: Sequence[str]) -> Frame:
    """Add the chance of each place to be the first hit, in blocks with several of a list's first hits.

    In a block of t rows with m hits, the j-th place holds the first with the chance
    m/(t-j+1) · Π_{i<j-1} (t-m-i)/(t-i); from j = t-m+2 on it is 0.
    """
    frame = frame.with_columns(nw.col(POSITION, SIZE).cast(nw.Float64()))
    j, t, m = nw.col(POSITION), nw.col(SIZE), nw.col(BLOCK_HITS)
    frame = frame.filter(j <= t - m + 1)
    frame = frame.with_columns(missed_before(j, t, m).alias(CHANCE))
    passed = nw.col(CHANCE).cum_sum().over(*keys, START, order_by=POSITION)
    return frame.with_columns(
        first_chance(passed, j, t, m).alias(CHANCE),
        (nw.col(START).cast(nw.Float64()) + j - 1).alias(POSITION),
    )


def missed_before(j: nw.Expr, t: nw.Expr, m: nw.Expr) -> nw.Expr:
    """Return the logarithm of the factor that the place before the j-th adds to the chance that none holds a hit."""
    return nw.when(j > 1).then(((t - m - j + 2) / (t - j + 2)).log()).otherwise(0.0)


def first_chance(passed: nw.Expr, j: nw.Expr, t: nw.Expr, m: nw.Expr) -> nw.Expr:
    """Return the chance of the j-th place to be the first hit, from the sum of these logarithms up to it."""
    return passed.exp() * m / (t - j + 1)


def grades(frame: Frame, keys: Sequence[str], requested: AbstractSet[str]) -> Frame:
    """Add what rank correlations read about a row's relevance among the ranked rows of its list."""
    columns = {
        LENGTH: nw.len().over(*keys),
        GRADE_RANK: nw.col(RELEVANCE).rank("average", descending=True).over(*keys),
        SAME_GRADE: nw.len().over(*keys, RELEVANCE),
    }
    # Floats: DuckDB may be set to divide whole numbers without a rest.
    numbers = {name: expr.cast(nw.Float64()) for name, expr in columns.items() if name in requested}
    return frame.with_columns(**numbers)


def levels(frame: Frame, keys: Sequence[str]) -> Frame:
    """Add which of its list's distinct relevances each row has, the least 0."""
    return frame.with_columns((nw.col(RELEVANCE).rank("dense").over(*keys).cast(nw.Int64()) - 1).alias(LEVEL))


def concordant_pairs(engine: Engine, frame: Frame, keys: Sequence[str], digits: int) -> Frame:
    """Add numbers whose sum over a list is its concordant pairs less its discordant ones.

    Two levels differ first in some binary digit. A row's place among the rows that agree in all digits before it, less
    that among those that agree in the digit too, is the others behind it, tied ones by half. So each pair is counted
    once, by the row ahead: with 1 where that has the higher level, else with -1.
    """
    frame = engine.with_places(frame, {ALIKE_PLACE: ([*keys, LEVEL], START)})
    frame = frame.with_columns((0.0 * nw.col(LEVEL)).alias(CONCORDANCE), (nw.col(LEVEL) // 2).alias(HIGHER_DIGITS))
    for digit in range(digits):
        frame = engine.with_places(frame, {HIGHER_PLACE: ([*keys, HIGHER_DIGITS], START)})
        others = nw.col(HIGHER_PLACE) - nw.col(ALIKE_PLACE)
        share = nw.when((nw.col(LEVEL) // 2**digit) % 2 == 1).then(others).otherwise(-1 * others)
        frame = frame.with_columns(
            (nw.col(CONCORDANCE) + share).alias(CONCORDANCE),
            nw.col(HIGHER_PLACE).alias(ALIKE_PLACE),
            (nw.col(LEVEL) // 2 ** (digit + 2)).alias(HIGHER_DIGITS),
        )
    return frame
