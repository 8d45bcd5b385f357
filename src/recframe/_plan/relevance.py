"""Rules of relevance: which rows are relevant, and how repeated or missing judgments count."""

from __future__ import annotations

import math
from functools import cache, lru_cache
from typing import TYPE_CHECKING

import narwhals as nw

from recframe._base.columns import HIT, ITEM, POOLED, PROPENSITY, RELEVANCE, REPEAT, START, SUBTOPIC, TRUE_VALUE, VALUE
from recframe._plan.sum_columns import EXPRESSION_CACHE_SIZE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recframe._base.columns import Frame


def distinct(truth: Frame, keys: Sequence[str], numbers: Sequence[str]) -> Frame:
    """Return each item of a list once, with the largest of its numbers if it is repeated."""
    return truth.group_by(*keys, ITEM).agg(_largest(*numbers))


@lru_cache(EXPRESSION_CACHE_SIZE)
def _largest(*columns: str) -> nw.Expr:
    """Return the maximum of each column."""
    return nw.col(*columns).max()


@lru_cache(EXPRESSION_CACHE_SIZE)
def or_zero(name: str) -> nw.Expr:
    """Return a column as a float, with 0 for missing values and NaN."""
    return nw.col(name).cast(nw.Float64()).fill_nan(0.0).fill_null(0.0)


def filled(column: nw.Expr) -> nw.Expr:
    """Return an expression as a float, with 0 for missing values. It must not hold NaN."""
    return column.cast(nw.Float64()).fill_null(0.0)


def made_of_relevance(min_relevance: float | None) -> dict[str, Callable[[nw.Expr], nw.Expr]]:
    """Return the columns that a query computes when it reads the relevance of a frame without a truth."""
    return {
        RELEVANCE: filled,
        HIT: lambda column: is_hit(filled(column), min_relevance).cast(nw.Float64()),
        POOLED: lambda column: (~column.is_null()).cast(nw.Float64()),
    }


IS_POOLED = (~nw.col(RELEVANCE).cast(nw.Float64()).fill_nan(None).is_null()).cast(nw.Float64()).alias(POOLED)
"""1 if the relevance of a row is not missing, so that the row is in the pool; for frames without a truth."""


def is_hit(relevance: nw.Expr, min_relevance: float | None) -> nw.Expr:
    """Return whether a relevance makes a row relevant."""
    if min_relevance == -math.inf:
        return ~relevance.is_null()  # SQL has no literal for minus infinity
    return relevance > 0 if min_relevance is None else relevance >= min_relevance


@lru_cache(EXPRESSION_CACHE_SIZE)
def hit_column(min_relevance: float | None) -> nw.Expr:
    """Return the column of hits: 1 for a relevant row. The relevance must not be missing."""
    return is_hit(nw.col(RELEVANCE), min_relevance).cast(nw.Float64()).alias(HIT)


@lru_cache(EXPRESSION_CACHE_SIZE)
def is_of_ideal(min_relevance: float | None) -> nw.Expr:
    """Return whether a row belongs to the ideal ranking: it is relevant, or its relevance is positive."""
    relevance = nw.col(RELEVANCE)
    return relevance > 0 if min_relevance is None else (relevance > 0) | is_hit(relevance, min_relevance)


def is_read(hit: nw.Expr, relevance: nw.Expr, *, graded: bool) -> nw.Expr:
    """Return whether a metric reads a row if it does not read all: hits, and with `graded` any other relevance too."""
    return hit | (relevance != 0) if graded else hit


@cache
def is_read_row(*, graded: bool) -> nw.Expr:
    """Return `is_read` for rows with a column of hits."""
    return is_read(nw.col(HIT) > 0, nw.col(RELEVANCE), graded=graded)


@lru_cache(EXPRESSION_CACHE_SIZE)
def is_needed_row(min_relevance: float | None, *, graded: bool) -> nw.Expr:
    """Return `is_read` for rows of the user's frame, whose relevance may be missing or NaN."""
    # A missing relevance counts as 0, which is a hit only if min_relevance is 0 or less.
    zero_is_hit = min_relevance is not None and min_relevance <= 0
    relevance = or_zero(RELEVANCE) if zero_is_hit else nw.col(RELEVANCE).cast(nw.Float64())
    if graded and min_relevance is None:
        return relevance != 0
    return is_read(is_hit(relevance, min_relevance), relevance, graded=graded)


def inverse_propensity(*, graded: bool) -> nw.Expr:
    """Return how many items a row counts as: 1 / propensity, or 0 if no metric reads the row.

    It is NaN if the propensity is no probability.
    """
    propensity = nw.col(PROPENSITY)
    # Eager frames are checked. In lazy frames NaN reaches the result, while sums would skip a missing term.
    inverse = nw.when((propensity > 0) & (propensity <= 1)).then(1.0 / propensity).otherwise(nw.lit(math.nan))
    return nw.when(is_read_row(graded=graded)).then(inverse).otherwise(0.0)


def relevant_pairs(truth: Frame, keys: Sequence[str], min_relevance: float | None) -> Frame:
    """Return the distinct pairs of a relevant item and its subtopic, per list."""
    pairs = distinct(truth.with_columns(or_zero(RELEVANCE)), [*keys, SUBTOPIC], [RELEVANCE])
    return pairs.with_columns(hit_column(min_relevance)).filter(nw.col(HIT) > 0).select(*keys, SUBTOPIC, ITEM)


def known_value() -> nw.Expr:
    """Return the value of an item: the truth's value, or the frame's value if the truth has none."""
    return nw.when(~nw.col(TRUE_VALUE).is_null()).then(nw.col(TRUE_VALUE)).otherwise(nw.col(VALUE)).alias(VALUE)


def number_repeats(judged: Frame, pair: Sequence[str], rows: Sequence[str]) -> Frame:
    """Add numbers to the rows that repeat an item, from 1: by position, then by the row numbers in `rows`, if any."""
    if not rows:
        return judged.with_columns(_repeat(*pair))
    judged = judged.with_columns((nw.col(START).cast(nw.Int64()) * 2**31 + nw.col(*rows)).alias(REPEAT))
    return judged.with_columns(nw.col(REPEAT).rank("min").over(*pair).alias(REPEAT))


@lru_cache(EXPRESSION_CACHE_SIZE)
def _repeat(*pair: str) -> nw.Expr:
    """Return the number of a row among the rows with the same item, by position."""
    return nw.col(START).rank("ordinal").over(*pair).alias(REPEAT)


def zero_repeats(judged: Frame, numbers: Sequence[str]) -> Frame:
    """Set the numbers of repeated rows to 0, except for the row numbered 1: an item is relevant once per list."""
    return judged.with_columns(*(_zero_unless_first(name) for name in numbers)).drop(REPEAT)


@lru_cache(EXPRESSION_CACHE_SIZE)
def _zero_unless_first(name: str) -> nw.Expr:
    """Return a column with 0 in every row that repeats an item."""
    return nw.when(nw.col(REPEAT) == 1).then(nw.col(name)).otherwise(0.0).alias(name)
