"""Counts the rows and items with findings: scores, keys, repeats, and ids that never match."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import narwhals as nw

from recframe._base.columns import ITEM, RELEVANCE, missing_key_column, nan_column, score_column
from recframe._checks.findings import HAS_GRADES, HAS_ITEM, HAS_MODEL, ROWS
from recframe._checks.opened import UNUSED_MODEL, all_or_none
from recframe._plan.relevance import or_zero

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._base.columns import Frame
    from recframe._checks.opened import FindingCounts, FramesToCheck, RowsToCheck

GRADE = "grade"
GRADES = "grades"
LOW_GRADES = "low grades"
GRADED_ROWS = "graded rows"
GRADES_OF_RATINGS = "grades of ratings"
WITHOUT_ZERO = "grades_without_zero"
MODELS = "models"
LONG = "lists of several rows"
UNKNOWN = {
    "lists": ("truth_of_unknown_lists", "no_list_in_truth"),
    "items": ("truth_of_unknown_items", "no_item_in_truth"),
}
FEWEST_GRADES = 3
"""A scale of ratings has at least so many distinct grades."""
MOST_GRADES = 20
"""A scale of ratings has at most so many distinct grades; columns with more are counts or weights."""
HIGHEST_JUDGMENT = 3
"""Whole grades up to this one are judgments of search results, all of them relevant, and no ratings."""
LEAST_SHARE_OF_ZEROS = 0.05
"""The share of rows that must be 0 before a column of grades in the truth is taken for the relevance."""
SEEN = "already_seen"
IN_TRAIN = "in train"
UNUSED = "unused_model"
ASSUMED = "assumed_relevance"
LOWER = "grades_below_relevant"


def count_scores_and_keys(opened: FramesToCheck, index: int) -> FindingCounts:
    """Count missing, NaN and impossible scores or ranks of one model, and missing keys."""
    score = nw.col(score_column(index))
    nan = nw.col(nan_column(index)) > 0
    missing = score.is_null()
    no_key = [nw.col(missing_key_column(i)).is_null() for i in range(len(opened.query.by))]
    flags = {
        "nan_scores": nan,
        "missing_scores": missing & ~nan,
        "missing_keys": nw.any_horizontal(*no_key, ignore_nulls=False) if no_key else missing & ~missing,
    }
    if opened.query.by_rank:
        # A missing or NaN rank is no rank at all.
        position = nw.when(missing).then(1.0).otherwise(score)
        flags["impossible_ranks"] = (position < 1) | (position.cast(nw.Float64()) % 1 != 0)
    return opened.totals(opened.frame, flags, [ROWS])


def count_repeats(opened: RowsToCheck, frame: Frame, group: Sequence[str], name: str) -> FindingCounts:
    """Count the rows that repeat an item in its list."""
    items = opened.engine.count_rows(frame, [*group, ITEM], ROWS, {}).with_columns(nw.col(ROWS).cast(nw.Float64()))
    items = opened.for_models(items) if name == "duplicate_truth_rows" else items
    counted, totals = opened.totals(items, {name: nw.col(ROWS) - 1}, [ROWS])
    if HAS_ITEM in opened.optional:
        # The flag is the same in all rows.
        totals = totals.join(frame.select(nw.col(HAS_ITEM).max()), how="cross")
    return counted, totals


def count_seen_items(opened: FramesToCheck, train: Frame, index: int) -> FindingCounts:
    """Count the ranked items that the list's user already has."""
    score = score_column(index)
    seen = train.select(*opened.keys, ITEM).unique().with_columns(nw.lit(1.0).alias(IN_TRAIN))
    rows = opened.frame.select(*opened.group, ITEM, score, ROWS)
    joined = opened.engine.join(rows, seen, [*opened.keys, ITEM])
    is_seen = ~nw.col(IN_TRAIN).is_null() & ~nw.col(score).is_null()
    return opened.totals(joined, {SEEN: is_seen}, [ROWS])


def keys_with_counts(opened: RowsToCheck, counts: Frame, keys: Sequence[str]) -> Frame:
    """Return the lists or the items of each model, joined with the columns of `counts`."""
    return opened.engine.join(opened.engine.distinct(opened.frame, [*keys, *opened.long]), counts, keys)


def count_unknown(opened: RowsToCheck, truth: Frame, keys: Sequence[str], some: str, all_of_them: str) -> FindingCounts:
    """Count the rows of the truth whose list or item is in no row of the model: `some`, or `all_of_them` if none is."""
    counts = opened.engine.sum_by(truth.select(*keys, ROWS), keys, [ROWS])
    # In SQL, the sum over no rows is missing.
    seen, totals = opened.totals(keys_with_counts(opened, counts, keys), {some: nw.col(ROWS).fill_null(0.0)}, [])
    totals = totals.join(counts.select(nw.col(ROWS).sum()), how="cross")
    totals = totals.with_columns((nw.col(ROWS) - nw.col(some).fill_null(0.0)).alias(some))
    return seen | {all_of_them}, totals.with_columns(all_or_none(some, ROWS, all_of_them))


def count_lower_grades(opened: FramesToCheck, least: float) -> FindingCounts:
    """Count the rows with a relevance above 0 and below `least`, which graded metrics still count."""
    columns = [LOWER, ROWS, *([HAS_GRADES] if HAS_GRADES in opened.optional else [])]
    rows = opened.frame if opened.truth is None else opened.truth
    relevance = or_zero(RELEVANCE)
    lower = ((relevance > 0) & (relevance < least)).cast(nw.Float64()).alias(LOWER)
    group = opened.group if opened.truth is None else opened.keys
    counts = opened.engine.sum_by(rows.with_columns(lower).select(*group, *columns), group, columns)
    counts = counts if opened.truth is None else opened.for_models(counts)
    return {LOWER}, opened.totals(counts, {}, columns)[1]


def count_grades_without_zero(opened: FramesToCheck) -> FindingCounts:
    """Count the graded rows if the relevance is a scale of grades without 0, whose lowest grade counts as relevant."""
    columns = [ROWS, *([HAS_GRADES] if HAS_GRADES in opened.optional else [])]
    rows, long = (opened.frame, opened.long) if opened.truth is None else (opened.truth, [])
    grade = nw.col(RELEVANCE).cast(nw.Float64()).fill_nan(None).alias(GRADE)
    counts = opened.engine.sum_by(rows.select(*long, grade, *columns), [*long, GRADE], columns)
    counts = counts if opened.truth is None else opened.for_models(counts)
    known = ~nw.col(GRADE).is_null()
    of_ratings = (nw.col(GRADE) > HIGHEST_JUDGMENT) | (nw.col(GRADE) % 1 != 0)
    flags = {GRADES: known, LOW_GRADES: known & (nw.col(GRADE) <= 0), GRADES_OF_RATINGS: known & of_ratings}
    graded = nw.when(known).then(nw.col(ROWS)).otherwise(0.0).alias(GRADED_ROWS)
    _, totals = opened.totals(counts.with_columns(graded), flags, [*columns, GRADED_ROWS])
    is_scale = (nw.col(LOW_GRADES) == 0) & nw.col(GRADES).is_between(FEWEST_GRADES, MOST_GRADES)
    is_scale &= nw.col(GRADES_OF_RATINGS) > 0
    return {WITHOUT_ZERO}, totals.with_columns(
        nw.when(is_scale).then(nw.col(GRADED_ROWS)).otherwise(0.0).alias(WITHOUT_ZERO)
    )


def count_unused_models(opened: RowsToCheck) -> FindingCounts:
    """Count the rows if a column `model` without a role has several values."""
    models = [*opened.long, UNUSED_MODEL]
    columns = [ROWS, HAS_MODEL]
    counts = opened.engine.sum_by(opened.frame.select(*models, *columns), models, columns)
    # A row that no model recommended has no model, such as a relevant item that `label` adds.
    _, totals = opened.totals(counts, {MODELS: ~nw.col(UNUSED_MODEL).is_null()}, columns)
    several = nw.when(nw.col(MODELS) > 1).then(nw.col(ROWS)).otherwise(0.0)
    return {UNUSED}, totals.with_columns(several.alias(UNUSED))


def count_assumed_relevance(opened: RowsToCheck, truth: Frame, candidates: Sequence[str]) -> FindingCounts:
    """Count the rows of 0 in columns that seem to hold the relevance but have no role."""
    sums = {ROWS: nw.lit(1.0)}
    flags = {LONG: nw.col(ROWS) > 1}
    for name in candidates:
        of = CandidateColumns.of(name)
        number = nw.col(name).cast(nw.Float64())
        ones = (or_zero(name) == 1).cast(nw.Float64())
        sums |= {of.zero_or_missing: (or_zero(name) == 0).cast(nw.Float64()), of.ones: ones}
        sums |= {of.zero: indicator(number == 0), of.larger: (or_zero(name) > 0).cast(nw.Float64())}
        sums[of.flag] = indicator(number.is_between(0, 1))
        flags[of.varies] = (nw.col(of.zero_or_missing) > 0) & (nw.col(of.larger) > 0)
        flags[of.has_lower] = (nw.col(of.zero) > 0) & (nw.col(of.larger) > 0)
    lists = opened.engine.sum_by(truth.select(*opened.keys, **sums), opened.keys, [*sums])
    _, totals = opened.totals(opened.for_models(lists), flags, [*sums])
    zeros = [_irrelevant_rows(CandidateColumns.of(name)).alias(name) for name in candidates]
    totals = totals.with_columns(nw.lit(0.0).alias(ASSUMED), *zeros)
    # Spark's `greatest` needs at least two columns.
    count = nw.max_horizontal(nw.lit(0.0), *map(nw.col, [ASSUMED, *candidates]))
    return {ASSUMED}, totals.with_columns(count.alias(ASSUMED))


class CandidateColumns(NamedTuple):
    """Names of the columns that count rows and lists for one column that may hold the relevance."""

    zero_or_missing: str
    zero: str
    ones: str
    larger: str
    """Rows above 0."""
    flag: str
    """Rows that hold a number from 0 to 1."""
    varies: str
    """Lists with a row of 0 or without a value, and a row above 0."""
    has_lower: str
    """Lists with a row of 0 and a row above 0."""

    @classmethod
    def of(cls, name: str) -> CandidateColumns:
        """Return the names of these columns."""
        return cls(*(f"{name} {count}" for count in cls._fields))


def indicator(condition: nw.Expr) -> nw.Expr:
    """Return 1.0 if a condition holds, and 0.0 if it does not hold or is missing."""
    return nw.when(condition).then(1.0).otherwise(0.0)


def _irrelevant_rows(candidate: CandidateColumns) -> nw.Expr:
    """Return in how many rows a candidate column is 0, or 0 if the column does not look like the relevance.

    A column looks like the relevance if its values are only 0, 1 and missing, or if enough of its grades are 0. In both
    cases its values must differ within a list, because a column that describes lists is constant there.
    """
    zero_or_missing, zero, ones, larger, flag, varies, has_lower = map(nw.col, candidate)
    single = nw.col(LONG) == 0
    flags = (zero_or_missing + ones == nw.col(ROWS)) & (flag > 0) & ((varies > 0) | (ones == 0) | single)
    # Row numbers and hours of the day are 0 in few rows.
    grades = (zero >= LEAST_SHARE_OF_ZEROS * nw.col(ROWS)) & (larger > 0) & ((has_lower > 0) | single) & (zero > 0)
    return nw.when(flags).then(zero_or_missing).otherwise(nw.when(grades).then(zero).otherwise(0.0))
