"""Windows over tied blocks and lists: order ties by a policy, count rows ahead, compare grades."""

from __future__ import annotations

from typing import TYPE_CHECKING

import narwhals as nw

from recframe._base.columns import (
    ABSENT,
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
    SAME_DIGIT_PLACE,
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

    from recframe._base.columns import Frame
    from recframe._engines.base import Engine


TIE_ORDER: dict[str, tuple[tuple[str, bool], ...]] = {
    "average": (),
    "best": ((RELEVANCE, True), (VALUE, True)),
    "worst": ((RELEVANCE, False), (VALUE, False)),
    "item": ((ITEM, False),),
    "item_desc": ((ITEM, True),),
    "first": ((ROW, False),),
}
"""The columns that order a tied block under each policy, and whether descending. Absent columns are skipped."""


# Constant expressions: an engine converts each of them only once.
HOLDS_SEVERAL_FIRST_HITS = (nw.col(HITS_BEFORE) == 0) & (nw.col(BLOCK_HITS) > 1)
"""Whether several hits tie for being the first hit of the list."""
STARTS_OF_HITS = nw.when(nw.col(HIT) > 0).then(nw.col(START)).alias(HIT_START)
"""The column HIT_START: where the tied block of a hit starts, missing for other rows."""
COUNT_HITS_BEFORE = (nw.col(POSITION).cast(nw.Float64()) - 1).fill_null(0.0).alias(HITS_BEFORE)
"""The column HITS_BEFORE of a hit, from the first position of its block among the hits."""
COUNT_BLOCK_HITS = nw.when(nw.col(HIT) > 0).then(nw.col(EQUAL)).otherwise(0.0).alias(BLOCK_HITS)
"""The column BLOCK_HITS of a hit, from the number of hits that start where it starts."""
COUNT_HIT_ALONE = nw.col(HIT).alias(BLOCK_HITS)
"""The column BLOCK_HITS if no rows tie."""


def place_by_rank(frame: Frame, keys: Sequence[str], rank: str, upto: int | None) -> Frame:
    """Return rows with the starts and sizes of their tied blocks, like `Engine.rank_rows`, from the user's ranks."""
    rows = frame if upto is None else frame.filter(nw.col(rank) <= upto)
    return rows.with_columns(nw.col(rank).cast(nw.Int64()).alias(START)).drop(rank).with_columns(sizes(keys))


def split_ties(frame: Frame, keys: Sequence[str], column: str, upto: int | None, *, descending: bool) -> Frame:
    """Split each tied block by a column. Rows that are equal in this column too stay one block."""
    block = [*keys, START]
    within = nw.col(column).rank("min", descending=descending).over(*block)
    if column == ITEM:
        # A missing item has no rank, so it is put last.
        missing = nw.col(column).is_null().cast(nw.Int64())
        within = within.fill_null(0) + missing * (nw.col(column).count().over(*block) + 1)
    # Sizes come first: if ranks overlap, like 1, 1, 2, moved rows of two blocks may start at one position.
    frame = frame.with_columns(sizes([*keys, column]))
    return with_starts(frame, nw.col(START).cast(nw.Int64()) + within.cast(nw.Int64()) - 1, upto)


def with_starts(frame: Frame, start: nw.Expr, upto: int | None) -> Frame:
    """Return rows with new starts of their tied blocks, up to a position."""
    frame = frame.with_columns(start.alias(START))
    return frame if upto is None else frame.filter(nw.col(START) <= upto)


def break_ties(
    engine: Engine, sized: Frame, keys: Sequence[str], order: Sequence[tuple[str, bool]], upto: int | None
) -> Frame:
    """Return the rows up to a position, each with its own place: ties are broken by columns, then in any order."""
    alone = sized.filter(nw.col(SIZE) == 1).with_columns(nw.col(START).alias(PLACE))
    tied = sized.filter(nw.col(SIZE) > 1)
    for column, descending in order:
        tied = split_ties(tied, keys, column, upto, descending=descending)
    position = nw.col(START) + nw.col(START).rank("ordinal").over(*keys, START).cast(nw.Int64()) - 1
    tied = tied.with_columns(position.alias(PLACE))
    rows = engine.stack([alone.drop(START, SIZE), tied.drop(START, SIZE)])
    return rows if upto is None else rows.filter(nw.col(PLACE) <= upto)


def count_omitted_rows(frame: Frame) -> Frame:
    """Add the column ABSENT: how many rows of a tied block the frame omits. It replaces TIED, the size of the block."""
    return frame.with_columns((nw.col(TIED).cast(nw.Int64()) - nw.col(SIZE)).alias(ABSENT)).drop(TIED)


def shift_past_omitted_rows(frame: Frame, upto: int | None, *, descending: bool) -> Frame:
    """Move rows behind the omitted rows of their block, after a split by relevance: omitted rows have relevance 0."""
    relevance = nw.col(RELEVANCE)
    is_behind = (relevance < 0) if descending else (relevance > 0)
    start = nw.col(START) + nw.when(is_behind).then(nw.col(ABSENT)).otherwise(0)
    left = nw.when(relevance == 0).then(nw.col(ABSENT)).otherwise(0)
    return with_starts(frame, start.cast(nw.Int64()), upto).with_columns(left.cast(nw.Int64()).alias(ABSENT))


def count_ahead(
    engine: Engine, frame: Frame, keys: Sequence[str], flag: nw.Expr, before: str, inside: str, *, tied: bool
) -> Frame:
    """Add how many flagged rows are ahead of each row's tied block, and how many are in the block."""
    frame = frame.with_columns(flag.cast(nw.Float64()).alias(FLAG))
    frame = engine.sums_before(frame, {before: FLAG}, keys, START)
    if not tied:
        return frame.with_columns(nw.col(FLAG).alias(inside))
    block = [*keys, START]
    return frame.with_columns(nw.col(before).min().over(*block), nw.col(FLAG).sum().over(*block).alias(inside))


def interpolated_precision(frame: Frame, keys: Sequence[str], level: float, column: str) -> Frame:
    """Add each list's greatest precision at or after a recall level, at ends of tied blocks; 0 if none reaches it."""
    ends = nw.col(HITS_BEFORE) + nw.col(BLOCK_HITS)
    precision = ends / (nw.col(START) + nw.col(SIZE) - 1).cast(nw.Float64())
    # trec_eval 9 rounds like this: the level is reached with int(level · R + 0.9) relevant rows.
    reached = (nw.col(HIT) > 0) & (ends + 1 > nw.col(RELEVANT) * level + 0.9)
    frame = frame.with_columns(nw.when(reached).then(precision).otherwise(0.0).alias(column))
    return frame.with_columns(nw.col(column).max().over(*keys))


def chances(frame: Frame, keys: Sequence[str]) -> Frame:
    """Add the probability that each place holds the first hit, in blocks where several hits tie for it.

    In a block of t rows with m hits, the j-th place holds the first hit with the probability
    m/(t-j+1) · Π_{i<j-1} (t-m-i)/(t-i). It is 0 after j = t-m+1.
    """
    frame = frame.with_columns(nw.col(POSITION, SIZE).cast(nw.Float64()))
    j = nw.col(POSITION)
    t = nw.col(SIZE)
    m = nw.col(BLOCK_HITS)
    frame = frame.filter(j <= t - m + 1)
    frame = frame.with_columns(missed_before(j, t, m).alias(CHANCE))
    passed = nw.col(CHANCE).cum_sum().over(*keys, START, order_by=POSITION)
    return frame.with_columns(
        first_chance(passed, j, t, m).alias(CHANCE),
        (nw.col(START).cast(nw.Float64()) + j - 1).alias(POSITION),
    )


def missed_before(j: nw.Expr, t: nw.Expr, m: nw.Expr) -> nw.Expr:
    """Return the logarithm of the probability that place j - 1 holds no hit, given that no earlier place does."""
    return nw.when(j > 1).then(((t - m - j + 2) / (t - j + 2)).log()).otherwise(0.0)


def first_chance(passed: nw.Expr, j: nw.Expr, t: nw.Expr, m: nw.Expr) -> nw.Expr:
    """Return the probability that place j holds the first hit; `passed` sums `missed_before` up to j."""
    return passed.exp() * m / (t - j + 1)


def grades(frame: Frame, keys: Sequence[str], requested: AbstractSet[str]) -> Frame:
    """Add the requested columns of rank correlations: the list's length, the rank of a grade, rows of equal grade."""
    columns = {
        LENGTH: nw.len().over(*keys),
        GRADE_RANK: nw.col(RELEVANCE).rank("average", descending=True).over(*keys),
        SAME_GRADE: nw.len().over(*keys, RELEVANCE),
    }
    # Floats, because DuckDB may be configured to round the quotient of two integers.
    numbers = {name: expr.cast(nw.Float64()) for name, expr in columns.items() if name in requested}
    return frame.with_columns(**numbers)


def levels(frame: Frame, keys: Sequence[str]) -> Frame:
    """Add the numbers of each list's distinct relevances, from 0 for the least."""
    return frame.with_columns((nw.col(RELEVANCE).rank("dense").over(*keys).cast(nw.Int64()) - 1).alias(LEVEL))


def concordant_pairs(engine: Engine, frame: Frame, keys: Sequence[str], digits: int) -> Frame:
    """Add numbers that sum to the concordant pairs of a list minus its discordant pairs.

    Each pair is counted at the first binary digit in which its two levels differ. For each digit, compare two groups
    of rows: those equal to a row in all higher digits, and those equal in this digit too. The difference between
    the row's places in the two groups counts the rows that differ in this digit, with ties as one half. The pair adds 1
    if the row ahead has the higher level, and -1 otherwise.
    """
    frame = engine.with_positions(frame, {SAME_DIGIT_PLACE: ([*keys, LEVEL], START)})
    frame = frame.with_columns((0.0 * nw.col(LEVEL)).alias(CONCORDANCE), (nw.col(LEVEL) // 2).alias(HIGHER_DIGITS))
    for digit in range(digits):
        frame = engine.with_positions(frame, {HIGHER_PLACE: ([*keys, HIGHER_DIGITS], START)})
        others = nw.col(HIGHER_PLACE) - nw.col(SAME_DIGIT_PLACE)
        share = nw.when((nw.col(LEVEL) // 2**digit) % 2 == 1).then(others).otherwise(-1 * others)
        frame = frame.with_columns(
            (nw.col(CONCORDANCE) + share).alias(CONCORDANCE),
            nw.col(HIGHER_PLACE).alias(SAME_DIGIT_PLACE),
            (nw.col(LEVEL) // 2 ** (digit + 2)).alias(HIGHER_DIGITS),
        )
    return frame
