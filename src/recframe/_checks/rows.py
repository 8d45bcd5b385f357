"""Looks at single rows and items: scores, keys, repeats, and ids that never match."""

from __future__ import annotations

from typing import TYPE_CHECKING

import narwhals as nw

from recframe._checks.assumed_relevance import irrelevant_rows, sums_of_lists
from recframe._checks.findings import GRADES_THERE, ITEM_THERE, MODEL_THERE, ROWS
from recframe._checks.opened import UNUSED_MODEL, all_or_none
from recframe._columns import ITEM, RELEVANCE, missing_key_column, nan_column, score_column
from recframe._plan.relevance import or_zero

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._checks.opened import Opened, Part
    from recframe._columns import Frame

SEEN, MODELS = "seen", "models"
UNUSED, ASSUMED, LOWER = "unused_model", "assumed_relevance", "grades_below_relevant"


def of_rows(opened: Opened, index: int) -> Part:
    """Look at the scores or ranks of one model, and at keys."""
    score, nan = nw.col(score_column(index)), nw.col(nan_column(index)) > 0
    missing = score.is_null()
    # A missing or NaN rank is no rank at all.
    position = nw.when(missing).then(1.0).otherwise(score)
    no_key = [nw.col(missing_key_column(i)).is_null() for i in range(len(opened.query.by))]
    flags = {
        "nan_scores": nan,
        "missing_scores": missing & ~nan,
        "impossible_ranks": (position < 1) | (position.cast(nw.Float64()) % 1 != 0),
        "missing_keys": nw.any_horizontal(*no_key, ignore_nulls=False) if no_key else missing & ~missing,
    }
    return opened.totals(opened.frame, flags, [ROWS])


def of_repeats(opened: Opened, frame: Frame, group: Sequence[str], name: str) -> Part:
    """Look for items that a list holds more than once."""
    there = [ITEM_THERE] if ITEM_THERE in opened.optional else []
    item, columns = [*group, ITEM], [ROWS, *there]
    items = opened.engine.sum_by(frame.select(*item, *columns), item, columns)
    truth = name == "duplicate_truth_rows"
    items = opened.for_models(items) if truth else items
    return opened.totals(items, {name: nw.col(ROWS) - 1}, columns)


def of_unknown(opened: Opened, truth: Frame, keys: Sequence[str], some: str, all_of_them: str) -> Part:
    """Look for lists or items that only the truth knows, and no row of the model."""
    group = [*keys, *opened.long]
    here = opened.frame.select(*group).unique()
    here = here.with_columns(nw.lit(0.0).alias(ROWS), nw.lit(1.0).alias(SEEN))
    there = opened.for_models(opened.engine.sum_by(truth.select(*keys, ROWS), keys, [ROWS]))
    there = there.select(*group, ROWS, nw.lit(0.0).alias(SEEN))
    known = opened.engine.sum_by(opened.engine.stack([here, there]), group, [ROWS, SEEN])
    unseen = nw.when(nw.col(SEEN) == 0).then(nw.col(ROWS)).otherwise(0.0)
    seen, totals = opened.totals(known, {some: unseen}, [ROWS])
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


def of_unused_model(opened: Opened) -> Part:
    """Look for several values of a column `model` without a role."""
    models, columns = [*opened.long, UNUSED_MODEL], [ROWS, MODEL_THERE]
    counts = opened.engine.sum_by(opened.frame.select(*models, *columns), models, columns)
    _, totals = opened.totals(counts, {MODELS: nw.lit(1.0)}, columns)
    several = nw.when(nw.col(MODELS) > 1).then(nw.col(ROWS)).otherwise(0.0)
    return {UNUSED}, totals.with_columns(several.alias(UNUSED))


def of_assumed_relevance(opened: Opened, truth: Frame, candidates: Sequence[str]) -> Part:
    """Look for a column that says what is relevant, and that nobody named."""
    lists, columns = sums_of_lists(truth, opened.keys, candidates, opened.engine)
    _, totals = opened.totals(opened.for_models(lists), {}, columns)
    # Spark's greatest value is one of at least two.
    count = nw.lit(0.0)
    if candidates:
        count = nw.max_horizontal(nw.lit(0.0), *(irrelevant_rows(name) for name in candidates))
    return {ASSUMED}, totals.with_columns(count.alias(ASSUMED))
