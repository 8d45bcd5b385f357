"""Frames of `from_factors`, which hold only some of the ranked rows and count the omitted ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import narwhals as nw

from recframe._base.columns import (
    CANDIDATES,
    PLACE,
    RANKED,
    RELEVANCE,
    ROWS,
    ROWS_TO_CUTOFF,
    SIZE,
    START,
)
from recframe._plan.relevance import or_zero
from recframe.errors import InputError, OptionError
from recframe.metrics._row import ALL_ROWS, Row
from recframe.metrics._sums import at_most

if TYPE_CHECKING:
    from recframe._base.columns import Frame
    from recframe._plan.opened import Opened
    from recframe.metrics._record import Metric


CLOSE = 1e-6
"""How far a sum of shares may be from the number of rows that it counts, because of rounding."""


def candidates(context: Opened) -> Frame:
    """Return how many rows of each list are ranked."""
    counts = context.frame.group_by(*context.keys.group).agg(nw.col(CANDIDATES).max())
    return counts.select(*context.keys.group, nw.col(CANDIDATES).cast(nw.Float64()).alias(RANKED))


def check_metrics(context: Opened, kept: Frame) -> None:
    """Raise for a metric that reads rows which the frame omits."""
    for terms in context.requirements.accuracy:
        metric = terms.metric
        reads_all = terms.reads == "all"
        counts_rows = context.requirements.values[metric.label].requested & {RANKED, ROWS}
        if reads_all or counts_rows:
            _check_counted(context, metric)
        if reads_all:
            _check_complete(context, kept, metric)
        if ALL_ROWS in terms.ideal.requested:
            _check_signed_ideal(context, metric)


def _check_counted(context: Opened, metric: Metric) -> None:
    """Raise unless the number of ranked rows is known."""
    if CANDIDATES not in context.omitted:
        msg = f"{metric.label} needs the number of ranked rows, which from_factors(..., positions='top') does not count"
        raise OptionError(msg, "from_factors(..., positions='all')")


def _check_signed_ideal(context: Opened, metric: Metric) -> None:
    """Raise for negative relevance, which the ideal would put before the omitted rows of relevance 0."""
    cause = f"{metric.label} puts negative relevance at the end of the ideal, behind rows that are not in the frame"
    hint = "`grades='all'`, 'positive' or 'relevant', or evaluate the whole frame"
    if not context.engine.eager:
        msg = f"{cause}, and a lazy frame is not checked for negative relevance"
        raise OptionError(msg, f"collect the frame first, {hint}")
    least = context.engine.scalar(context.frame.select(or_zero(RELEVANCE).min()))
    if least is not None and least < 0:
        msg = f"{cause}: `relevant={context.query.relevant!r}` holds {least:g}"
        raise OptionError(msg, hint)


def _check_complete(context: Opened, kept: Frame, metric: Metric) -> None:
    """Raise unless the frame holds all rows up to the metric's cutoff."""
    k = metric.cutoff
    first = "every ranked row" if k is None else f"each of the first {k} rows"
    msg = f"{metric.label} reads {first} of a list, and the frame does not hold them all"
    hint = "evaluate the whole frame" if k is None else f"from_factors(..., k={k}), or the whole frame if scores tie"
    if not context.engine.eager:
        msg = f"{metric.label} reads {first} of a list, and a lazy frame is not checked for missing rows"
        raise OptionError(msg, "collect the frame first")
    share = Row().within(k)
    rows = kept.with_columns(nw.col(START, SIZE).cast(nw.Float64())).with_columns(share.alias(ROWS_TO_CUTOFF))
    if _lacking(context, rows, k):
        raise InputError(msg, hint)


def check_recommended(context: Opened, rows: Frame) -> None:
    """Raise unless the frame holds all rows up to the cutoffs of beyond-accuracy and exposure metrics."""
    for terms in (*context.requirements.beyond_accuracy, *context.requirements.exposure):
        metric = terms.metric
        k = metric.cutoff
        if k is None and context.omitted:
            _check_counted(context, metric)
        if CANDIDATES not in context.omitted or not context.engine.eager:
            continue
        first = rows if k is None else rows.filter(nw.col(PLACE) <= k)
        if _lacking(context, first.with_columns(nw.lit(1.0).alias(ROWS_TO_CUTOFF)), k):
            needed = "every row that a list ranks" if k is None else f"the first {k} rows of each list"
            msg = f"{metric.label} reads {needed}, and the frame does not hold them all"
            raise InputError(msg, "a cutoff up to the k of from_factors" if k is None else f"from_factors(..., k={k})")


def _lacking(context: Opened, rows: Frame, k: int | None) -> bool:
    """Return whether the frame lacks some of the first k rows of a list; ROWS_TO_CUTOFF holds the count of each row."""
    counts = context.engine.sum_by(
        rows.select(*context.keys.group, ROWS_TO_CUTOFF), context.keys.group, [ROWS_TO_CUTOFF]
    )
    lists = context.engine.join(candidates(context), counts, context.keys.group)
    lacking = lists.filter(nw.col(ROWS_TO_CUTOFF).fill_null(0.0) < at_most(nw.col(RANKED), k) - CLOSE)
    return bool(context.engine.scalar(lacking.select(nw.len())))
