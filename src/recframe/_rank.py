"""Positions, tied blocks and tie policies: the only room that ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import narwhals as nw

from recframe._terms import (
    BLOCK_HITS,
    CHANCE,
    FIRST_HIT,
    HIT,
    HITS_BEFORE,
    POSITION,
    RELEVANCE,
    SIZE,
    START,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    Frame = nw.LazyFrame[Any]

__all__ = ["Ties", "best_order", "chances", "first_blocks", "hits_before", "place", "sizes", "split_ties"]

SCORE, ITEM, ROW, MOVED, HIT_START = "score", "item", "row", "moved", "hit_start"

Ties = Literal["average", "best", "worst", "item", "item_desc", "first"]
"""What becomes of items of equal score: the expected value over their orders, its bounds, or a fixed order."""

TIE_ORDER: dict[str, tuple[str, bool]] = {
    "best": (RELEVANCE, True),
    "worst": (RELEVANCE, False),
    "item": (ITEM, False),
    "item_desc": (ITEM, True),
    "first": (ROW, False),
}
"""The column that orders a tied block under each policy but the average, and whether descending."""


def place(frame: Frame, keys: Sequence[str], upto: int | None, *, by_rank: bool) -> Frame:
    """Add where each row's tied block starts, and keep the blocks that start up to a position.

    Whole blocks stay, so that their sizes can be counted afterwards.
    """
    start = nw.col(SCORE) if by_rank else nw.col(SCORE).rank("min", descending=True).over(*keys)
    frame = frame.with_columns(start.cast(nw.Int64()).alias(START))
    return frame if upto is None else frame.filter(nw.col(START) <= upto)


def split_ties(frame: Frame, keys: Sequence[str], ties: Ties, upto: int | None) -> Frame:
    """Order each tied block by the policy's column; what is equal there too stays one block."""
    if ties == "average":
        return frame
    column, descending = TIE_ORDER[ties]
    block = [*keys, START]
    within = nw.col(column).rank("min", descending=descending).over(*block)
    if column == ITEM:
        # A missing item has no rank: it comes last.
        missing = nw.col(column).is_null().cast(nw.Int64())
        within = within.fill_null(0) + missing * (nw.col(column).count().over(*block) + 1)
    moved = nw.col(START).cast(nw.Int64()) + within.cast(nw.Int64()) - 1
    frame = frame.with_columns(moved.alias(MOVED))
    frame = frame if upto is None else frame.filter(nw.col(MOVED) <= upto)
    # A name of its own: polars 1.21 would let the filter see the column before it was overwritten.
    return frame.drop(START).rename({MOVED: START})


def sizes(frame: Frame, keys: Sequence[str]) -> Frame:
    """Add the number of rows of each row's tied block."""
    return frame.with_columns(nw.len().over(*keys, START).alias(SIZE))


def block_hits(frame: Frame, keys: Sequence[str]) -> Frame:
    """Add the number of relevant rows of each row's tied block."""
    return frame.with_columns(nw.col(HIT).sum().over(*keys, START).alias(BLOCK_HITS))


def first_blocks(frame: Frame, keys: Sequence[str]) -> Frame:
    """Add where the list's first block with a relevant row starts."""
    return _hit_starts(frame).with_columns(nw.col(HIT_START).min().over(*keys).alias(FIRST_HIT))


def hits_before(frame: Frame, keys: Sequence[str]) -> Frame:
    """Add the number of relevant rows in front of each relevant row's tied block."""
    frame = _hit_starts(frame)
    before = nw.col(HIT_START).rank("min").over(*keys).cast(nw.Float64()) - 1
    return frame.with_columns(before.fill_null(0.0).alias(HITS_BEFORE))


def _hit_starts(frame: Frame) -> Frame:
    # A column of its own: on pandas, Narwhals 2.10 and older rank the column inside a when/then as if it stood alone.
    return frame.with_columns(nw.when(nw.col(HIT) > 0).then(nw.col(START)).alias(HIT_START))


def several_first_hits() -> nw.Expr:
    """Return whether a row stands in a block that holds several of its list's first hits."""
    return (nw.col(START) == nw.col(FIRST_HIT)) & (nw.col(BLOCK_HITS) > 1)


def chances(frame: Frame, keys: Sequence[str]) -> Frame:
    """Keep the blocks that hold several of a list's first hits, and add the chance of each place to be the first.

    In a block of t rows with m hits, the j-th place holds the first with the chance
    m/(t-j+1) · Π_{i<j-1} (t-m-i)/(t-i); from j = t-m+2 on it is 0.
    """
    frame = frame.filter(several_first_hits()).with_columns(
        nw.col(START).rank("ordinal").over(*keys, START).cast(nw.Float64()).alias(POSITION),
        nw.col(SIZE).cast(nw.Float64()),
    )
    j, t, m = nw.col(POSITION), nw.col(SIZE), nw.col(BLOCK_HITS)
    frame = frame.filter(j <= t - m + 1)
    missed = nw.when(j > 1).then(((t - m - j + 2) / (t - j + 2)).log()).otherwise(0.0)
    frame = frame.with_columns(missed.alias(CHANCE))
    passed = nw.col(CHANCE).cum_sum().over(*keys, START, order_by=POSITION)
    return frame.with_columns(
        (passed.exp() * m / (t - j + 1)).alias(CHANCE),
        (nw.col(START).cast(nw.Float64()) + j - 1).alias(POSITION),
    )


def best_order(frame: Frame, keys: Sequence[str]) -> Frame:
    """Add each row's position when the list is sorted by relevance; rows of equal relevance may swap."""
    position = nw.col(RELEVANCE).rank("ordinal", descending=True).over(*keys)
    return frame.with_columns(position.cast(nw.Float64()).alias(POSITION))
