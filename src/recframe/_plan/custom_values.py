"""Checks of what custom metrics return: an expression, and a value for each list that they define."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import narwhals as nw

from recframe.errors import InputError, OptionTypeError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe._columns import Frame
    from recframe._plan.context import CallContext
    from recframe.metrics._record import Metric

HINT = (
    "divide by sums.ranked(self.k), which knows k=None, or take sums.ratio(part, whole), which is 0 where whole is 0;"
    " leave lists without a value out by defined()"
)


def defined_value(metric: Metric, value: nw.Expr, defined: nw.Expr | None, *, eager: bool) -> nw.Expr:
    """Return a metric's value where it is defined, else a missing one.

    The mean skips missing values. So a custom metric of a lazy frame, which cannot be checked, is NaN where it lacks a
    value although it is defined, and its mean too.
    """
    if not isinstance(value, nw.Expr):
        msg = f"value() of metric {metric.label!r} returns {value!r}, which is not a Narwhals expression"
        raise OptionTypeError(msg, "return an expression of the sums, such as sums['hits'] / sums.relevant")
    if not (metric.is_builtin or eager):
        value = value.cast(nw.Float64()).fill_null(math.nan)
    return (value if defined is None else nw.when(defined).then(value)).alias(metric.column)


def lacks_value(value: nw.Expr, defined: nw.Expr | None) -> nw.Expr:
    """Return whether a list has no value although it is defined."""
    value = value.cast(nw.Float64())
    missing = value.is_null() | value.is_nan()
    return missing if defined is None else defined & missing


def check_values(
    context: CallContext,
    rows: Frame,
    metrics: Sequence[Metric],
    lacking: Mapping[str, nw.Expr],
    key: Mapping[str, str],
    one: str = "list",
) -> Frame:
    """Return rows, computed if there is something to check; raise for those that lack a custom metric's value."""
    engine = context.engine
    if not lacking or not engine.eager:
        return rows
    rows = engine.settle(rows)
    for metric in metrics:
        if metric.column not in lacking:
            continue
        try:
            without = rows.filter(lacking[metric.column].fill_null(value=False))
            count = engine.scalar(without.select(nw.len()))
        except TypeError as error:
            # pandas refuses to divide by None, which gives other engines a missing value.
            msg = f"metric {metric.label!r} cannot be computed: {error}"
            raise InputError(msg, HINT) from error
        if count:
            some = f", such as\n{context.session.finish(without.select(*key).head(3), key, ())}" if key else ""
            msg = f"metric {metric.label!r} defines {count} {one}{'s' if count > 1 else ''} but gives no value{some}"
            raise InputError(msg, HINT)
    return rows
