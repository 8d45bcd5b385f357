"""From the values of lists to what is reported: fill what is undefined, and average over `per`."""

from __future__ import annotations

import math
from functools import lru_cache, reduce
from typing import TYPE_CHECKING, Any

import narwhals as nw

from recframe._columns import (
    CLUSTER,
    GREATEST,
    LEAST,
    MODEL,
    PARTLY_VALUED,
    PRESENT,
    UNVALUED,
    VALUED,
    WEIGHT,
    total_column,
    total_weight_column,
)
from recframe._engines.postponed import is_dry
from recframe._plan.sum_columns import KEPT
from recframe.errors import InputError, UndefinedError
from recframe.metrics._sums import nan_if_infinite

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from recframe._arguments import MeanKind
    from recframe._columns import Frame
    from recframe._engines.base import Engine
    from recframe._plan.opened import Opened
    from recframe._query import Query
    from recframe.metrics._record import Metric


OF_ZERO = 1e300
"""A value's logarithm, without its sign, and its reciprocal if the value is 0, so that the mean is 0."""
ROUNDED_0 = -1e-12
"""The least value of a list that is 0 but for rounding: databases add the same terms in another order."""
GREATEST_WEIGHT = 1e100
"""Tests and intervals square sums of weights."""
ROLES = {WEIGHT: "weight", CLUSTER: "cluster"}
"""The roles of the columns that describe lists, for messages."""


def fill(context: Opened, rows: Frame, metrics: Sequence[Metric], key: Mapping[str, str], one: str = "list") -> Frame:
    """Fill in a number where there is no value, or raise; the key names the rows, by the user's names.

    Lists that do not count lose what value they have.
    """
    values = []
    for metric in metrics:
        how, counted = context.query.averaging(metric.label), context.requirements.values[metric.label].counted
        if not counted and how.undefined in ("skip", "raise_all"):
            continue
        value, counts = nw.col(metric.column), [nw.col(column) > 0 for column in counted]
        if how.undefined == "raise":
            rows = context.engine.collect_once(rows)
            _raise(context, rows.filter(value.is_null(), *counts), metric, key, one)
        elif isinstance(how.undefined, float):
            value = value.fill_null(how.undefined)
        if counts:
            value = nw.when(nw.all_horizontal(*counts, ignore_nulls=False)).then(value)
        if counts or isinstance(how.undefined, float):
            values.append(value.alias(metric.column))
    return rows.with_columns(*values) if values else rows


def _raise(context: Opened, without: Frame, metric: Metric, key: Mapping[str, str], one: str) -> None:
    """Raise if there is a row: each row is a list without a value."""
    count = context.engine.scalar(without.select(nw.len()))
    if count and not is_dry():
        have = f"1 {one} has" if count == 1 else f"{count} {one}s have"
        some = f", such as\n{context.session.finish(without.select(*key).head(3), key, ())}" if key else ""
        name = context.query.averaging(metric.label).name
        msg = f"{have} no {name} {metric.undefined_reason(count)}{some}"
        raise UndefinedError(msg, "`undefined='skip'` leaves them out, `undefined=0.0` counts them as 0")


def refuse_all_undefined(context: Opened, result: Frame, metrics: Sequence[Metric], of: str | None = None) -> Frame:
    """Return rows with values, or raise where a metric has none at all for a model; `of` names the only one."""
    result = context.engine.collect_once(result)
    if is_dry():
        return result
    has_value = {one.column: (~nw.col(one.column).is_null()).cast(nw.Float64()) for one in metrics}
    by = [MODEL] if of is None and context.query.several else []
    counts = context.engine.sum_by(result.select(*by, **has_value), by, list(has_value))
    for metric in metrics:
        without = counts.filter(nw.col(metric.column) == 0)
        if context.engine.scalar(without.select(nw.len())):
            of = f" of the model {_first_model(context, without)!r}" if by else of or ""
            name = context.query.averaging(metric.label).name
            msg = f"no list{of} has a value of {name}, {metric.undefined_reason()}"
            raise UndefinedError(
                msg, "look for the reason with the call check; `undefined='skip'` gives a missing value"
            )
    return result


def _first_model(context: Opened, models: Frame) -> Any:
    """Return the first model of an eager frame, as the user wrote it."""
    model = context.finish(models.select(MODEL), {}, [MODEL])
    return context.engine.as_narwhals(model).get_column(MODEL).to_list()[0]


def without_unknown(context: Opened, result: Frame, metrics: Sequence[Metric]) -> Frame:
    """Return a report without the rows of lists whose columns of `per` are missing, if no model has a value there."""
    if not context.keys.reports_attributes:
        return result
    columns = [metric.column for metric in metrics]
    counted = [nw.col(name) > 0 for name in count_columns(context) if name == PARTLY_VALUED]
    result = in_reported_segments(result, context.keys.per, is_any_known(*columns), *counted)
    return result.select(*context.keys.of_result, *columns, *context.query.count_columns)


def in_reported_segments(frame: Frame, per: Sequence[str], *has_value: nw.Expr) -> Frame:
    """Return the rows of known segments, and all of the unknown one if any of them has a value."""
    known, valued = is_any_known(*per), nw.any_horizontal(*has_value, ignore_nulls=False)
    frame = frame.with_columns(known.cast(nw.Int64()).alias(PRESENT), valued.cast(nw.Int64()).alias(PARTLY_VALUED))
    frame = frame.with_columns(nw.col(PARTLY_VALUED).max().over(PRESENT))
    return frame.filter((nw.col(PRESENT) > 0) | (nw.col(PARTLY_VALUED) > 0))


def count_columns(context: Opened) -> tuple[str, ...]:
    """Return the numbers of lists in totals: those of results, and that by which an unknown segment is reported.

    A missing mean may be that of lists which have values and weigh nothing.
    """
    counts, needs = context.query.count_columns, context.requirements
    if context.query.weight is None or len(needs.exposure) == len(needs.metrics) or not context.keys.reports_attributes:
        return counts
    return (*counts, PARTLY_VALUED)


@lru_cache(KEPT)
def is_any_known(*columns: str) -> nw.Expr:
    """Return whether a row has a value in any of these columns."""
    return nw.any_horizontal(*(~nw.col(name).is_null() for name in columns), ignore_nulls=False)


def with_attributes(context: Opened, lists: Frame) -> Frame:
    """Add the columns that describe a list without being its key: those of `per`, its weight, its cluster."""
    engine, keys = context.engine, context.keys.key
    for name, column in (context.keys.attribute_names | context.keys.list_columns).items():
        if name not in context.attributes:
            context.attributes[name] = _attribute(context, name, column)
        lists = engine.join(lists, context.attributes[name], keys)
    return lists


def _attribute(context: Opened, name: str, column: str) -> Frame:
    """Return a column that describes lists, whichever model ranks them."""
    engine, keys = context.engine, context.keys.key
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
    """Return the one weight of each list of a lazy frame, NaN for one that is none, so that no mean has it."""
    weighted = rows.with_columns(nw.col(WEIGHT).cast(nw.Float64()))
    weighted = weighted.filter(~nw.col(WEIGHT).is_null(), ~nw.col(WEIGHT).is_nan())
    lists = weighted.group_by(*keys).agg(nw.col(WEIGHT).min().alias(LEAST), nw.col(WEIGHT).max().alias(GREATEST))
    least = nw.col(LEAST)
    is_weight = (least == nw.col(GREATEST)) & (least >= 0)
    return lists.select(*keys, nw.when(is_weight).then(least).otherwise(math.nan).alias(WEIGHT))


def with_weights(context: Opened, lists: Frame, columns: Iterable[str]) -> Frame:
    """Multiply the weights that metrics give their lists by the lists' own weights."""
    if context.query.weight is None:
        return lists
    weight = nw.col(WEIGHT).fill_null(0.0)
    if context.engine.eager:
        lists = context.engine.collect_once(lists)
        for wrong in (context.engine.scalar(lists.select(extreme)) for extreme in (weight.min(), weight.max())):
            if wrong is not None and not 0 <= wrong < math.inf:
                msg = f"`weight={context.query.weight!r}` holds {wrong:g}, but a weight is 0 or more, and finite"
                raise InputError(msg, "drop these lists, or give them the weight 0")
            if wrong is not None and wrong > GREATEST_WEIGHT:
                msg = f"`weight={context.query.weight!r}` holds {wrong:g}, but a weight is at most {GREATEST_WEIGHT:g}"
                raise InputError(msg, "divide all weights by the same number: only their ratios count")
    return lists.with_columns(*((weight * nw.col(name)).alias(name) for name in columns))


def totals(context: Opened, lists: Frame, labels: Sequence[str], weights: Mapping[str, str]) -> Frame:
    """Sum the lists' values and their weights over what is reported by; totals of parts may be summed again."""
    by, counts = context.keys.reported, _counts(context, labels)
    if context.keys.reports_lists:
        return lists.select(*by, *labels, *counts)
    how, floor = context.query.mean, context.query.floor
    if how == "median":
        return _medians(context, lists, labels)
    if how != "arithmetic" and context.engine.eager:
        lists = _checked(context, lists, labels)
    summands = [_total(label, weights.get(label), how, floor) for label in labels]
    summands += [_weight(label, weights[label]) for label in labels if label in weights]
    # A weight counts where there is a value: without one, values are counted.
    counted = {total_weight_column(label): total_column(label) for label in labels if label not in weights}
    columns = [name for name in summed(context, labels) if name not in counted]
    return context.engine.sum_exactly(lists.select(*by, *summands, *counts), by, columns, counted)


@lru_cache(KEPT)
def _total(label: str, weight: str | None, how: MeanKind, floor: float) -> nw.Expr:
    """Return the value that a list adds to the total of a metric."""
    value = _summand(nw.col(label), how, floor)
    if weight is None:
        return value.alias(total_column(label))
    total = value * nw.col(weight)
    if how != "arithmetic" and not floor:
        # A 0 makes the mean 0, however small the weight of its list is.
        total = nw.when((nw.col(label) <= 0) & (nw.col(weight) > 0)).then(value).otherwise(total)
    return total.alias(total_column(label))


@lru_cache(KEPT)
def _weight(label: str, weight: str) -> nw.Expr:
    """Return the weight that a list adds to the total of a metric."""
    return nw.when(~nw.col(label).is_null()).then(nw.col(weight)).alias(total_weight_column(label))


def _summand(value: nw.Expr, how: MeanKind, floor: float) -> nw.Expr:
    """Return what the totals sum of a list's value: itself, its logarithm or its reciprocal; NaN below 0."""
    if how == "arithmetic":
        return value
    floored = nw.when(value > floor).then(value).otherwise(floor or 1.0)
    transformed = floored.log() if how == "geometric" else 1.0 / floored + nan_if_infinite(floored)
    if not floor:
        transformed = nw.when(value > 0).then(transformed).otherwise(-OF_ZERO if how == "geometric" else OF_ZERO)
    return nw.when(value >= ROUNDED_0).then(transformed).otherwise(nw.when(value < 0).then(math.nan))


def _checked(context: Opened, lists: Frame, labels: Sequence[str]) -> Frame:
    """Return the values of lists, or raise where one is below 0: geometric and harmonic means have none there."""
    lists = context.engine.collect_once(lists)
    for metric in context.requirements.metrics:
        least = context.engine.scalar(lists.select(nw.col(metric.column).min())) if metric.column in labels else None
        if least is not None and least < ROUNDED_0:
            name = context.query.averaging(metric.label).name
            msg = f"`mean={context.query.mean!r}` needs values from 0 on, but a list has {name} {least:g}"
            raise InputError(msg, "`mean='median'` or 'arithmetic'")
    return lists


def _medians(context: Opened, lists: Frame, labels: Sequence[str]) -> Frame:
    """Return the median of the lists' values instead of totals, NaN if one is not finite, and how many have one."""
    by, totals_of = context.keys.reported, {total_column(label): label for label in labels}
    infinite = {total: nan_if_infinite(nw.col(label)) for total, label in totals_of.items()}
    lists = lists.select(*by, *labels, *_counts(context, labels), **infinite)
    medians = [nw.col(*labels).median(), nw.col(*infinite, *count_columns(context)).sum()]
    medians += [nw.col(label).count().alias(total_weight_column(label)) for label in labels]
    lists = lists.group_by(*by).agg(*medians) if by else lists.select(*medians)
    return lists.with_columns(**{total: nw.col(total) + nw.col(label) for total, label in totals_of.items()})


def at_once(context: Opened) -> bool:
    """Return whether the means over lists are one step."""
    is_total = context.query.mean != "median" and not context.keys.reports_lists
    return context.engine.averages_at_once and is_total and not context.requirements.exposure


def means_of_lists(context: Opened, lists: Frame, labels: Sequence[str], weights: Mapping[str, str]) -> Frame:
    """Return what `means` does of the totals of lists."""
    by, how, floor = context.keys.reported, context.query.mean, context.query.floor
    found = []
    for label in labels:
        total = _total(label, weights.get(label), how, floor).sum()
        weight = _weight(label, weights[label]).sum() if label in weights else nw.col(label).count()
        found.append(_average(total, weight, how).alias(label))
    counts = zip(count_columns(context), _counts(context, labels), strict=True)
    found += [count.sum().fill_null(0).cast(nw.Int64()).alias(name) for name, count in counts]
    return lists.group_by(*by).agg(*found) if by else lists.select(*found)


@lru_cache(KEPT)
def _mean(label: str, how: MeanKind) -> nw.Expr:
    """Return the mean that the totals of a metric give, missing where no list has a value."""
    return _average(nw.col(total_column(label)), nw.col(total_weight_column(label)), how).alias(label)


def _average(total: nw.Expr, weight: nw.Expr, how: MeanKind) -> nw.Expr:
    """Return the mean that a total and a weight give, missing where there is no weight."""
    mean = total if how == "median" else weight / total if how == "harmonic" else total / weight
    if how == "geometric":
        mean = mean.exp()
    elif how == "harmonic":
        # NaN is the largest float to some engines, and stays NaN.
        mean = nw.when(total >= OF_ZERO).then(0.0 * mean).otherwise(mean)
    return nw.when(weight > 0).then(mean)


def _counts(context: Opened, labels: Sequence[str]) -> list[nw.Expr]:
    """Return, for a list, 1 where it is counted under a name of `count_columns`, and 0 where it is not."""
    names = count_columns(context)
    if not names:
        return []
    without = nw.any_horizontal(*(nw.col(label).is_null() for label in labels), ignore_nulls=False)
    counted = {VALUED: ~without, UNVALUED: without, PARTLY_VALUED: is_any_known(*labels)}
    return [counted[name].cast(nw.Int64()).alias(name) for name in names]


def summed(context: Opened, labels: Sequence[str]) -> list[str]:
    """Return the columns of totals without those that tell segments apart."""
    names = [name for label in labels for name in (total_column(label), total_weight_column(label))]
    return [*(labels if context.keys.reports_lists else names), *count_columns(context)]


def means(context: Opened, sums: Frame, labels: Sequence[str]) -> Frame:
    """Return the result of all metrics: of those with these labels the averages that totals give, if they are totals.

    An average is missing where no list has a value.
    """
    averaged, how = () if context.keys.reports_lists else labels, context.query.mean
    columns = [metric.column for metric in context.requirements.metrics]
    # SQL sums whole numbers to wider ones.
    counts = [nw.col(name).fill_null(0).cast(nw.Int64()) for name in count_columns(context)]
    if how == "arithmetic" and not counts:
        sides = {name: (total_column(name), total_weight_column(name)) for name in averaged}
        return context.engine.ratios(sums, [*context.keys.of_result, *columns], sides)
    averages = [_mean(column, how) if column in averaged else nw.col(column) for column in columns]
    return sums.select(*context.keys.of_result, *averages, *counts)


def joined(engine: Engine, results: Sequence[Frame], by: Sequence[str]) -> Frame:
    """Put results side by side that have one row for each value of what is reported by."""
    if not by:
        return reduce(lambda left, right: left.join(right, how="cross"), results)
    return reduce(lambda left, right: engine.join(left, right, by), results)
