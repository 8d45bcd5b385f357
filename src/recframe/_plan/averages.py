"""From the values of lists to the result: fill undefined values, and average over the segments of `per`."""

from __future__ import annotations

import math
from functools import lru_cache, reduce
from typing import TYPE_CHECKING, Any

import narwhals as nw

from recframe._base.columns import (
    CLUSTER,
    GREATEST,
    LEAST,
    MODEL,
    PARTLY_VALUED,
    PRESENT,
    STRATUM,
    UNVALUED,
    VALUED,
    WEIGHT,
    total_column,
    total_weight_column,
)
from recframe._engines.postponed import is_dry
from recframe._plan.sum_columns import EXPRESSION_CACHE_SIZE
from recframe.errors import InputError, UndefinedError
from recframe.metrics._sums import nan_if_infinite

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from recframe._base.columns import Frame
    from recframe._base.roles import MeanKind
    from recframe._engines.base import Engine
    from recframe._plan.opened import Opened
    from recframe._plan.query import Query
    from recframe.metrics._record import Metric


STAND_IN_FOR_INFINITY = 1e300
"""Used for the reciprocal and, with a minus sign, for the logarithm of the value 0, so that the mean is 0."""
LEAST_ROUNDED_ZERO = -1e-12
"""A value from here to 0 counts as 0: databases add terms in another order, so a 0 may be slightly negative."""
GREATEST_WEIGHT = 1e100
"""The largest weight. Tests and intervals square sums of weights, which must stay finite."""
ROLES = {WEIGHT: "weight", CLUSTER: "cluster", STRATUM: "strata"}
"""The roles of the columns that describe lists, for messages."""


def fill(
    context: Opened, rows: Frame, metrics: Sequence[Metric], key: Mapping[str, str], row_name: str = "list"
) -> Frame:
    """Return rows with `undefined=` applied: missing values are kept, filled with a number, or raise.

    Lists that `lists=` does not count lose their values. Errors show the rows by their key.
    """
    values = []
    for metric in metrics:
        undefined = context.query.averaging(metric.label).undefined
        counted = context.requirements.values[metric.label].counted
        if not counted and undefined in ("skip", "raise_all"):
            continue
        value = nw.col(metric.column)
        counts = [nw.col(column) > 0 for column in counted]
        if undefined == "raise":
            rows = context.engine.collect_once(rows)
            _raise_if_undefined(context, rows.filter(value.is_null(), *counts), metric, key, row_name)
        elif isinstance(undefined, float):
            value = value.fill_null(undefined)
        if counts:
            value = nw.when(nw.all_horizontal(*counts, ignore_nulls=False)).then(value)
        if counts or isinstance(undefined, float):
            values.append(value.alias(metric.column))
    return rows.with_columns(*values) if values else rows


def _raise_if_undefined(context: Opened, without: Frame, metric: Metric, key: Mapping[str, str], row_name: str) -> None:
    """Raise if there are rows without a value."""
    count = context.engine.scalar(without.select(nw.len()))
    if count and not is_dry():
        subject = f"1 {row_name} has" if count == 1 else f"{count} {row_name}s have"
        examples = f", such as\n{context.session.finish(without.select(*key).head(3), key, ())}" if key else ""
        name = context.query.averaging(metric.label).name
        msg = f"{subject} no {name} {metric.undefined_reason(count)}{examples}"
        raise UndefinedError(msg, "`undefined='skip'` leaves them out, `undefined=0.0` counts them as 0")


def refuse_all_undefined(context: Opened, result: Frame, metrics: Sequence[Metric], of: str | None = None) -> Frame:
    """Return the rows of a result, or raise if a metric under "raise_all" has no value in any row of a model.

    With `of`, a text for the message, all rows belong to one model.
    """
    metrics = [metric for metric in metrics if context.query.averaging(metric.label).undefined == "raise_all"]
    if not metrics:
        return result
    result = context.engine.collect_once(result)
    if is_dry():
        return result
    has_value = {metric.column: (~nw.col(metric.column).is_null()).cast(nw.Float64()) for metric in metrics}
    by = [MODEL] if of is None and context.query.several else []
    counts = context.engine.sum_by(result.select(*by, **has_value), by, list(has_value))
    for metric in metrics:
        without = counts.filter(nw.col(metric.column) == 0)
        if context.engine.scalar(without.select(nw.len())):
            model = f" of the model {_first_model(context, without)!r}" if by else of or ""
            name = context.query.averaging(metric.label).name
            msg = f"no list{model} has a value of {name}, {metric.undefined_reason()}"
            raise UndefinedError(
                msg, "look for the reason with the call check; `undefined='skip'` gives a missing value"
            )
    return result


def _first_model(context: Opened, models: Frame) -> Any:
    """Return the first model of an eager frame, as the user wrote it."""
    model = context.finish(models.select(MODEL), {}, [MODEL])
    return context.engine.as_narwhals(model).get_column(MODEL).to_list()[0]


def without_unknown(context: Opened, result: Frame, metrics: Sequence[Metric]) -> Frame:
    """Return a result without the segment whose columns of `per` are all missing, if no model has a value there."""
    if not context.keys.reports_attributes:
        return result
    columns = [metric.column for metric in metrics]
    counted = [nw.col(name) > 0 for name in count_columns(context) if name == PARTLY_VALUED]
    result = in_reported_segments(result, context.keys.per, is_any_known(*columns), *counted)
    return result.select(*context.keys.of_result, *columns, *context.query.count_columns)


def in_reported_segments(frame: Frame, per: Sequence[str], *has_value: nw.Expr) -> Frame:
    """Return the rows of known segments, and the rows of the unknown segment if any of them has a value."""
    known = is_any_known(*per)
    valued = nw.any_horizontal(*has_value, ignore_nulls=False)
    frame = frame.with_columns(known.cast(nw.Int64()).alias(PRESENT), valued.cast(nw.Int64()).alias(PARTLY_VALUED))
    frame = frame.with_columns(nw.col(PARTLY_VALUED).max().over(PRESENT))
    return frame.filter((nw.col(PRESENT) > 0) | (nw.col(PARTLY_VALUED) > 0))


def count_columns(context: Opened) -> tuple[str, ...]:
    """Return the columns of totals that count lists: the ones in the result, and PARTLY_VALUED if weights need it.

    PARTLY_VALUED decides whether an unknown segment is reported. The mean cannot decide that if lists have weights,
    because a mean is also missing if all weights are 0.
    """
    counts = context.query.count_columns
    requirements = context.requirements
    has_list_metrics = len(requirements.exposure) < len(requirements.metrics)
    if context.query.weight is not None and has_list_metrics and context.keys.reports_attributes:
        return (*counts, PARTLY_VALUED)
    return counts


@lru_cache(EXPRESSION_CACHE_SIZE)
def is_any_known(*columns: str) -> nw.Expr:
    """Return whether a row has a value in any of these columns."""
    return nw.any_horizontal(*(~nw.col(name).is_null() for name in columns), ignore_nulls=False)


def with_attributes(context: Opened, lists: Frame) -> Frame:
    """Add the columns that describe a list without being its key: of `per`, the weight, the cluster, the stratum."""
    engine = context.engine
    keys = context.keys.key
    for name, column in (context.keys.attribute_names | context.keys.list_columns).items():
        if name not in context.attributes:
            context.attributes[name] = _attribute(context, name, column)
        lists = engine.join(lists, context.attributes[name], keys)
    return lists


def _attribute(context: Opened, name: str, column: str) -> Frame:
    """Return each list with one column that describes it, or raise if the column has several values in a list."""
    engine = context.engine
    keys = context.keys.key
    in_truth = name in context.session.columns.get("truth", ())
    source = context.truth_lists if in_truth and context.truth_lists is not None else context.all_rows
    if name == WEIGHT and not engine.eager:
        return _lazy_weights(source, keys)
    error = several_segments(context.query, column)
    if name in ROLES:
        msg = f"`{ROLES[name]}={column!r}` has several values within a list"
        error = InputError(msg, "give all rows of a list the same value")
    return engine.one_value(source, keys, name, error)


def several_segments(query: Query, column: str) -> InputError:
    """Return the error for a column of `per` that has several values within a list."""
    hint = (
        f"to rank inside each {column}: `by={[*query.by, column]!r}`; for its part of the real top k, evaluate with "
        f"`per_item={column!r}`. The how-to 'Recall by genre, by item' shows both"
    )
    return InputError(f"`per={column!r}` has several values within a list", hint)


def _lazy_weights(rows: Frame, keys: Sequence[str]) -> Frame:
    """Return the weight of each list of a lazy frame. An invalid weight becomes NaN, and so do the means with it."""
    weighted = rows.with_columns(nw.col(WEIGHT).cast(nw.Float64()))
    weighted = weighted.filter(~nw.col(WEIGHT).is_null(), ~nw.col(WEIGHT).is_nan())
    lists = weighted.group_by(*keys).agg(nw.col(WEIGHT).min().alias(LEAST), nw.col(WEIGHT).max().alias(GREATEST))
    least = nw.col(LEAST)
    is_weight = (least == nw.col(GREATEST)) & (least >= 0)
    return lists.select(*keys, nw.when(is_weight).then(least).otherwise(math.nan).alias(WEIGHT))


def with_weights(context: Opened, lists: Frame, columns: Iterable[str]) -> Frame:
    """Multiply the weights in some columns by the weights of the lists in `weight=`."""
    if context.query.weight is None:
        return lists
    weight = nw.col(WEIGHT).fill_null(0.0)
    if context.engine.eager:
        lists = context.engine.collect_once(lists)
        for extreme in (context.engine.scalar(lists.select(expr)) for expr in (weight.min(), weight.max())):
            if extreme is not None and not 0 <= extreme < math.inf:
                msg = f"`weight={context.query.weight!r}` holds {extreme:g}, but a weight is 0 or more, and finite"
                raise InputError(msg, "drop these lists, or give them the weight 0")
            if extreme is not None and extreme > GREATEST_WEIGHT:
                msg = (
                    f"`weight={context.query.weight!r}` holds {extreme:g}, but a weight is at most {GREATEST_WEIGHT:g}"
                )
                raise InputError(msg, "divide all weights by the same number: only their ratios count")
    return lists.with_columns(*((weight * nw.col(name)).alias(name) for name in columns))


def totals(context: Opened, lists: Frame, labels: Sequence[str], weights: Mapping[str, str]) -> Frame:
    """Return the totals of each row of the result: the sums of the lists' values and of their weights.

    Totals over parts of the lists can be added up, except for a median.
    """
    by = context.keys.reported
    counts = _counts(context, labels)
    if context.keys.reports_lists:
        return lists.select(*by, *labels, *counts)
    how = context.query.mean
    floor = context.query.floor
    if how == "median":
        return _medians(context, lists, labels)
    if how != "arithmetic" and context.engine.eager:
        lists = _checked(context, lists, labels)
    summands = [_total(label, weights.get(label), how, floor) for label in labels]
    summands += [_weight(label, weights[label]) for label in labels if label in weights]
    # The total weight only includes lists with a value. Without weights it is the number of values.
    counted = {total_weight_column(label): total_column(label) for label in labels if label not in weights}
    columns = [name for name in summed(context, labels) if name not in counted]
    return context.engine.sum_exactly(lists.select(*by, *summands, *counts), by, columns, counted)


@lru_cache(EXPRESSION_CACHE_SIZE)
def _total(label: str, weight: str | None, how: MeanKind, floor: float) -> nw.Expr:
    """Return the value that a list adds to the total of a metric."""
    value = _summand(nw.col(label), how, floor)
    if weight is None:
        return value.alias(total_column(label))
    total = value * nw.col(weight)
    if how != "arithmetic" and not floor:
        # A value of 0 makes the mean 0, however small its weight is.
        total = nw.when((nw.col(label) <= 0) & (nw.col(weight) > 0)).then(value).otherwise(total)
    return total.alias(total_column(label))


@lru_cache(EXPRESSION_CACHE_SIZE)
def _weight(label: str, weight: str) -> nw.Expr:
    """Return the weight that a list adds to the total of a metric."""
    return nw.when(~nw.col(label).is_null()).then(nw.col(weight)).alias(total_weight_column(label))


def _summand(value: nw.Expr, how: MeanKind, floor: float) -> nw.Expr:
    """Return the summand for a list's value: the value, its logarithm or its reciprocal; NaN if it is negative."""
    if how == "arithmetic":
        return value
    floored = nw.when(value > floor).then(value).otherwise(floor or 1.0)
    if how == "geometric":
        transformed = floored.log()
        zero = -STAND_IN_FOR_INFINITY
    else:
        transformed = 1.0 / floored + nan_if_infinite(floored)
        zero = STAND_IN_FOR_INFINITY
    if not floor:
        transformed = nw.when(value > 0).then(transformed).otherwise(zero)
    return nw.when(value >= LEAST_ROUNDED_ZERO).then(transformed).otherwise(nw.when(value < 0).then(math.nan))


def _checked(context: Opened, lists: Frame, labels: Sequence[str]) -> Frame:
    """Return the values of lists, or raise for a negative one, which has no geometric or harmonic mean."""
    lists = context.engine.collect_once(lists)
    for metric in context.requirements.metrics:
        least = context.engine.scalar(lists.select(nw.col(metric.column).min())) if metric.column in labels else None
        if least is not None and least < LEAST_ROUNDED_ZERO:
            name = context.query.averaging(metric.label).name
            msg = f"`mean={context.query.mean!r}` needs values from 0 on, but a list has {name} {least:g}"
            raise InputError(msg, "`mean='median'` or 'arithmetic'")
    return lists


def _medians(context: Opened, lists: Frame, labels: Sequence[str]) -> Frame:
    """Return the median of the lists' values in place of totals, and the number of values in place of weights.

    The median is NaN if a value is not finite.
    """
    by = context.keys.reported
    totals_of = {total_column(label): label for label in labels}
    infinite = {total: nan_if_infinite(nw.col(label)) for total, label in totals_of.items()}
    lists = lists.select(*by, *labels, *_counts(context, labels), **infinite)
    medians = [nw.col(*labels).median(), nw.col(*infinite, *count_columns(context)).sum()]
    medians += [nw.col(label).count().alias(total_weight_column(label)) for label in labels]
    lists = lists.group_by(*by).agg(*medians) if by else lists.select(*medians)
    return lists.with_columns(**{total: nw.col(total) + nw.col(label) for total, label in totals_of.items()})


def at_once(context: Opened) -> bool:
    """Return whether `means_of_lists` can average the lists in one step, without totals."""
    is_total = context.query.mean != "median" and not context.keys.reports_lists
    return context.engine.averages_at_once and is_total and not context.requirements.exposure


def means_of_lists(context: Opened, lists: Frame, labels: Sequence[str], weights: Mapping[str, str]) -> Frame:
    """Return the means of lists in one step: the result of `means` for the `totals` of these lists."""
    by = context.keys.reported
    how = context.query.mean
    columns = []
    for label in labels:
        total = _total(label, weights.get(label), how, context.query.floor).sum()
        weight = _weight(label, weights[label]).sum() if label in weights else nw.col(label).count()
        columns.append(_average(total, weight, how).alias(label))
    counts = zip(count_columns(context), _counts(context, labels), strict=True)
    columns += [count.sum().fill_null(0).cast(nw.Int64()).alias(name) for name, count in counts]
    return lists.group_by(*by).agg(*columns) if by else lists.select(*columns)


@lru_cache(EXPRESSION_CACHE_SIZE)
def _mean(label: str, how: MeanKind) -> nw.Expr:
    """Return the mean of a metric from its totals, missing if no list has a value."""
    return _average(nw.col(total_column(label)), nw.col(total_weight_column(label)), how).alias(label)


def _average(total: nw.Expr, weight: nw.Expr, how: MeanKind) -> nw.Expr:
    """Return the mean from a total and a total weight, missing if the weight is 0."""
    if how == "median":
        mean = total
    elif how == "geometric":
        mean = (total / weight).exp()
    elif how == "harmonic":
        mean = weight / total
        # Some engines compare NaN as the largest float. 0 · NaN stays NaN.
        mean = nw.when(total >= STAND_IN_FOR_INFINITY).then(0.0 * mean).otherwise(mean)
    else:
        mean = total / weight
    return nw.when(weight > 0).then(mean)


def _counts(context: Opened, labels: Sequence[str]) -> list[nw.Expr]:
    """Return one column per name in `count_columns`: 1 if a list is counted under this name, and 0 otherwise."""
    names = count_columns(context)
    if not names:
        return []
    without = nw.any_horizontal(*(nw.col(label).is_null() for label in labels), ignore_nulls=False)
    counted = {VALUED: ~without, UNVALUED: without, PARTLY_VALUED: is_any_known(*labels)}
    return [counted[name].cast(nw.Int64()).alias(name) for name in names]


def summed(context: Opened, labels: Sequence[str]) -> list[str]:
    """Return the columns of totals that are added up, without the keys."""
    names = [name for label in labels for name in (total_column(label), total_weight_column(label))]
    return [*(labels if context.keys.reports_lists else names), *count_columns(context)]


def means(context: Opened, sums: Frame, labels: Sequence[str]) -> Frame:
    """Return the result of all metrics. Metrics in `labels` are averaged from their totals, unless lists are reported.

    An average is missing if no list has a value.
    """
    averaged = () if context.keys.reports_lists else labels
    how = context.query.mean
    columns = [metric.column for metric in context.requirements.metrics]
    # In SQL, a sum of integers has a wider type, so it is cast back.
    counts = [nw.col(name).fill_null(0).cast(nw.Int64()) for name in count_columns(context)]
    if how == "arithmetic" and not counts:
        sides = {name: (total_column(name), total_weight_column(name)) for name in averaged}
        return context.engine.ratios(sums, [*context.keys.of_result, *columns], sides)
    averages = [_mean(column, how) if column in averaged else nw.col(column) for column in columns]
    return sums.select(*context.keys.of_result, *averages, *counts)


def joined(engine: Engine, results: Sequence[Frame], by: Sequence[str]) -> Frame:
    """Return results side by side, joined by their keys."""
    if not by:
        return reduce(lambda left, right: left.join(right, how="cross"), results)
    return reduce(lambda left, right: engine.join(left, right, by), results)
