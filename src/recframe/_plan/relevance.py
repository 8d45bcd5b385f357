"""What makes a row relevant, and how a ground truth counts; nothing here knows the call."""

from __future__ import annotations

import math
from functools import cache, lru_cache
from typing import TYPE_CHECKING

import narwhals as nw

from recframe._columns import HIT, ITEM, POOLED, PROPENSITY, RELEVANCE, REPEAT, START, SUBTOPIC, TRUE_VALUE, VALUE
from recframe._plan.sum_columns import KEPT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recframe._columns import Frame


def distinct(truth: Frame, keys: Sequence[str], numbers: Sequence[str]) -> Frame:
    """Return each item of a list once: what is repeated counts with its largest numbers."""
    return truth.group_by(*keys, ITEM).agg(_largest(*numbers))


@lru_cache(KEPT)
def _largest(*columns: str) -> nw.Expr:
    return nw.col(*columns).max()


@lru_cache(KEPT)
def or_zero(name: str) -> nw.Expr:
    """Return a column as a number, missing 0."""
    return nw.col(name).cast(nw.Float64()).fill_nan(0.0).fill_null(0.0)


def filled(column: nw.Expr) -> nw.Expr:
    """Return a column without NaN as a number, missing 0."""
    return column.cast(nw.Float64()).fill_null(0.0)


def made_of_relevance(min_relevance: float | None) -> dict[str, Callable[[nw.Expr], nw.Expr]]:
    """Return what SQL makes of the relevance of a frame that has no truth where it reads it."""
    return {
        RELEVANCE: filled,
        HIT: lambda column: is_hit(filled(column), min_relevance).cast(nw.Float64()),
        POOLED: lambda column: (~column.is_null()).cast(nw.Float64()),
    }


IS_POOLED = (~nw.col(RELEVANCE).cast(nw.Float64()).fill_nan(None).is_null()).cast(nw.Float64()).alias(POOLED)
"""Whether a row of a frame without a truth is in the pool: its relevance is not missing."""


def is_hit(relevance: nw.Expr, min_relevance: float | None) -> nw.Expr:
    """Return whether a relevance makes a row relevant."""
    if min_relevance == -math.inf:
        return ~relevance.is_null()  # SQL has no literal for it
    return relevance > 0 if min_relevance is None else relevance >= min_relevance


@lru_cache(KEPT)
def hit_column(min_relevance: float | None) -> nw.Expr:
    """Return the column of which rows are relevant, from a relevance without missing values."""
    return is_hit(nw.col(RELEVANCE), min_relevance).cast(nw.Float64()).alias(HIT)


@lru_cache(KEPT)
def is_of_ideal(min_relevance: float | None) -> nw.Expr:
    """Return whether a row has a place in the ideal ranking: its relevance is positive, or makes it relevant."""
    relevance = nw.col(RELEVANCE)
    return relevance > 0 if min_relevance is None else (relevance > 0) | is_hit(relevance, min_relevance)


def is_read(hit: nw.Expr, relevance: nw.Expr, *, graded: bool) -> nw.Expr:
    """Return whether a metric that does not see all rows reads one, also for a relevance that makes it no hit."""
    return hit | (relevance != 0) if graded else hit


@cache
def is_read_row(*, graded: bool) -> nw.Expr:
    """Return whether such a metric reads a row of known hits."""
    return is_read(nw.col(HIT) > 0, nw.col(RELEVANCE), graded=graded)


@lru_cache(KEPT)
def is_needed_row(min_relevance: float | None, *, graded: bool) -> nw.Expr:
    """Return the same of a row of the user's frame, also of one whose relevance is NaN."""
    # What is missing counts as 0, which is a hit only from 0 on.
    filled_in = min_relevance is not None and min_relevance <= 0
    relevance = or_zero(RELEVANCE) if filled_in else nw.col(RELEVANCE).cast(nw.Float64())
    if graded and min_relevance is None:
        return relevance != 0
    return is_read(is_hit(relevance, min_relevance), relevance, graded=graded)


def inverse_propensity(*, graded: bool) -> nw.Expr:
    """Return as how many items a row counts: 1 / propensity, 0 if none reads it, NaN if there is no probability."""
    propensity = nw.col(PROPENSITY)
    # Eager frames are checked. NaN shows in the values of lazy frames, where missing terms would be skipped.
    inverse = nw.when((propensity > 0) & (propensity <= 1)).then(1.0 / propensity).otherwise(nw.lit(math.nan))
    return nw.when(is_read_row(graded=graded)).then(inverse).otherwise(0.0)


def relevant_pairs(truth: Frame, keys: Sequence[str], min_relevance: float | None) -> Frame:
    """Return the relevant items of each list with their subtopics, each pair once."""
    pairs = distinct(truth.with_columns(or_zero(RELEVANCE)), [*keys, SUBTOPIC], [RELEVANCE])
    return pairs.with_columns(hit_column(min_relevance)).filter(nw.col(HIT) > 0).select(*keys, SUBTOPIC, ITEM)


def known_value() -> nw.Expr:
    """Return the value of an item: that of the truth, else that of the frame."""
    return nw.when(~nw.col(TRUE_VALUE).is_null()).then(nw.col(TRUE_VALUE)).otherwise(nw.col(VALUE)).alias(VALUE)


def number_repeats(judged: Frame, pair: Sequence[str], rows: Sequence[str]) -> Frame:
    """Add which of the rows that repeat an item each is, the first by position and, if there are any, row numbers."""
    if not rows:
        return judged.with_columns(_repeat(*pair))
    judged = judged.with_columns((nw.col(START).cast(nw.Int64()) * 2**31 + nw.col(*rows)).alias(REPEAT))
    return judged.with_columns(nw.col(REPEAT).rank("min").over(*pair).alias(REPEAT))


@lru_cache(KEPT)
def _repeat(*pair: str) -> nw.Expr:
    return nw.col(START).rank("ordinal").over(*pair).alias(REPEAT)


def once(found: Frame, numbers: Sequence[str]) -> Frame:
    """Let a repeated recommendation be relevant once: its rows but the one of `REPEAT` 1 lose their relevance."""
    return found.with_columns(*map(_of_first, numbers)).drop(REPEAT)


@lru_cache(KEPT)
def _of_first(name: str) -> nw.Expr:
    return nw.when(nw.col(REPEAT) == 1).then(nw.col(name)).otherwise(0.0).alias(name)
