"""Looks at single rows and items: scores, keys, repeats, and ids that never match."""

from __future__ import annotations

from typing import TYPE_CHECKING

import narwhals as nw

from recframe._checks.findings import GRADES_THERE, ITEM_THERE, MODEL_THERE, ROWS
from recframe._checks.opened import UNUSED_MODEL, all_or_none
from recframe._columns import ITEM, RELEVANCE, missing_key_column, nan_column, score_column
from recframe._plan.relevance import or_zero

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._checks.opened import Frames, Opened, Part
    from recframe._columns import Frame

MODELS, LONG = "models", "lists of several rows"
UNKNOWN = {
    "lists": ("truth_of_unknown_lists", "no_list_in_truth"),
    "items": ("truth_of_unknown_items", "no_item_in_truth"),
}
UNUSED, ASSUMED, LOWER = "unused_model", "assumed_relevance", "grades_below_relevant"


def of_rows(opened: Opened, index: int) -> Part:
    """Look at the scores or ranks of one model, and at keys."""
    score, nan = nw.col(score_column(index)), nw.col(nan_column(index)) > 0
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


def of_repeats(opened: Frames, frame: Frame, group: Sequence[str], name: str) -> Part:
    """Look for items that a list holds more than once."""
    item_flag = [ITEM_THERE] if ITEM_THERE in opened.optional else []
    item, columns = [*group, ITEM], [ROWS, *item_flag]
    items = opened.engine.sum_by(frame.select(*item, *columns), item, columns)
    truth = name == "duplicate_truth_rows"
    items = opened.for_models(items) if truth else items
    return opened.totals(items, {name: nw.col(ROWS) - 1}, columns)


def matched(opened: Frames, counts: Frame, keys: Sequence[str]) -> Frame:
    """Return the lists, or the items, of each model, with what is known of them there."""
    return opened.engine.join(opened.frame.select(*keys, *opened.long).unique(), counts, keys)


def of_unknown(opened: Frames, truth: Frame, keys: Sequence[str], some: str, all_of_them: str) -> Part:
    """Look for lists or items that only the truth knows, and no row of the model."""
    counts = opened.engine.sum_by(truth.select(*keys, ROWS), keys, [ROWS])
    # SQL sums no rows to nothing.
    seen, totals = opened.totals(matched(opened, counts, keys), {some: nw.col(ROWS).fill_null(0.0)}, [])
    totals = totals.join(counts.select(nw.col(ROWS).sum()), how="cross")
    totals = totals.with_columns((nw.col(ROWS) - nw.col(some).fill_null(0.0)).alias(some))
    return seen | {all_of_them}, totals.with_columns(all_or_none(some, ROWS, all_of_them))


def of_lower_grades(opened: Opened, least: float) -> Part:
    """Look for relevance above 0 that is not relevant, which metrics of grades count all the same."""
    columns = [LOWER, ROWS, *([GRADES_THERE] if GRADES_THERE in opened.optional else [])]
    rows = opened.frame if opened.truth is None else opened.truth
    relevance = or_zero(RELEVANCE)
    lower = ((relevance > 0) & (relevance < least)).cast(nw.Float64()).alias(LOWER)
    group = opened.group if opened.truth is None else opened.keys
    counts = opened.engine.sum_by(rows.with_columns(lower).select(*group, *columns), group, columns)
    counts = counts if opened.truth is None else opened.for_models(counts)
    return {LOWER}, opened.totals(counts, {}, columns)[1]


def of_unused_model(opened: Frames) -> Part:
    """Look for several values of a column `model` without a role."""
    models, columns = [*opened.long, UNUSED_MODEL], [ROWS, MODEL_THERE]
    counts = opened.engine.sum_by(opened.frame.select(*models, *columns), models, columns)
    _, totals = opened.totals(counts, {MODELS: nw.lit(1.0)}, columns)
    several = nw.when(nw.col(MODELS) > 1).then(nw.col(ROWS)).otherwise(0.0)
    return {UNUSED}, totals.with_columns(several.alias(UNUSED))


def of_assumed_relevance(opened: Frames, truth: Frame, candidates: Sequence[str]) -> Part:
    """Look for columns that say what is relevant, and that nobody named: in how many rows each holds 0."""
    sums, flags = {ROWS: nw.lit(1.0)}, {LONG: nw.col(ROWS) > 1}
    for name in candidates:
        zero, one, held, mixed = _counts(name)
        sums |= {count: (or_zero(name) == value).cast(nw.Float64()) for count, value in ((zero, 0), (one, 1))}
        sums[held] = nw.when(nw.col(name).cast(nw.Float64()).is_between(0, 1)).then(1.0).otherwise(0.0)
        flags[mixed] = (nw.col(zero) > 0) & (nw.col(one) > 0)
    lists = opened.engine.sum_by(truth.select(*opened.keys, **sums), opened.keys, [*sums])
    _, totals = opened.totals(opened.for_models(lists), flags, [*sums])
    zeros = [_irrelevant_rows(name).alias(name) for name in candidates]
    totals = totals.with_columns(nw.lit(0.0).alias(ASSUMED), *zeros)
    # Spark's greatest value is one of at least two.
    count = nw.max_horizontal(nw.lit(0.0), *map(nw.col, [ASSUMED, *candidates]))
    return {ASSUMED}, totals.with_columns(count.alias(ASSUMED))


def _irrelevant_rows(name: str) -> nw.Expr:
    """Return, of the sums over all lists, in how many rows a candidate holds 0; 0 if it does not seem to be relevance.

    It does if it holds only 0 and 1 where it holds something, which it does, and is not alike in all rows of each list,
    as what describes lists is.
    """
    zero, one, held, mixed = map(nw.col, _counts(name))
    flags = (zero + one == nw.col(ROWS)) & (held > 0) & ((mixed > 0) | (one == 0) | (nw.col(LONG) == 0))
    return nw.when(flags).then(zero).otherwise(0.0)


def _counts(name: str) -> tuple[str, str, str, str]:
    """Return the columns of a candidate: rows of 0 or nothing, rows of 1, rows of either, lists of both."""
    return f"{name} is 0", f"{name} is 1", f"{name} is known", f"{name} varies"
