"""Errors of a call: options that a metric does not support, and data that a metric or a profile cannot use."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NoReturn

import narwhals as nw

from recframe._base.columns import ITEM, LIST_COUNTS, MODEL, PROPENSITY, RELEVANCE, VALUE, score_column
from recframe._plan.query import check_apart
from recframe._plan.relevance import is_read_row, or_zero
from recframe.errors import InputError, OptionError
from recframe.metrics import names_where
from recframe.metrics._beyond_accuracy import BeyondAccuracyMetric, ExposureMetric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._base.columns import Frame
    from recframe._plan.opened import Opened
    from recframe._plan.query import Query
    from recframe._plan.requirements import RelevanceLimit, Requirements
    from recframe.metrics._record import Metric


def metrics_with_propensity() -> str:
    """Return the names of the metrics that allow `propensity=`, for a hint."""
    names = names_where(lambda metric: metric.allows_propensity and metric.reads_relevance)
    return ", ".join([*names, "ndcg(ideal='first')"])


def check_call(query: Query, metrics: Sequence[Metric]) -> None:
    """Raise for a call that is wrong for any data: no metrics, repeated names, unsupported options."""
    if not metrics:
        msg = "the list of metrics is empty"
        raise OptionError(msg, "evaluate(['ndcg', 'map'], k=10)")
    columns = [query.averaging(metric.label).name for metric in metrics]
    check_apart(columns, "name each metric and each cutoff once")
    counts = (LIST_COUNTS[column] for column in query.count_columns)
    check_apart([*([MODEL] if query.several else []), *query.per, *columns, *counts])
    check_policies(query, metrics)


def check_policies(query: Query, metrics: Sequence[Metric]) -> None:
    """Raise for options that a metric does not support."""
    _check_ties(query, metrics)
    _check_propensity(query, metrics)
    _check_condensed_and_mean(query, metrics)
    _check_per_item(query, metrics)
    if query.lists != "all" and "lists" in query.named and all(map(_reads_all_lists, metrics)):
        name = query.averaging(metrics[0].label).name
        msg = f"`lists={query.lists!r}` says which lists the accuracy metrics average, but {name} reads all lists"
        raise OptionError(msg, "leave `lists=` out; filter the frame to look at some lists only")


def _check_ties(query: Query, metrics: Sequence[Metric]) -> None:
    """Raise for metrics that count tied rows together if `ties=` orders them."""
    for metric in metrics:
        if metric.requires_average_ties and query.ties != "average":
            name = query.averaging(metric.label).name
            msg = f"`ties={query.ties!r}` orders tied rows, but {name} counts them together"
            raise OptionError(msg, "`ties='average'`")


def _reads_all_lists(metric: Metric) -> bool:
    """Return whether a metric reads recommended items instead of relevance, so that every list counts."""
    return isinstance(metric, BeyondAccuracyMetric | ExposureMetric)


def _check_condensed_and_mean(query: Query, metrics: Sequence[Metric]) -> None:
    """Raise for metrics that cannot use ``condensed=`` or the mean of the call."""
    for metric in metrics:
        name = query.averaging(metric.label).name
        if query.condensed and _reads_all_lists(metric):
            msg = f"`condensed=True` leaves out unjudged rows, but {name} reads what is recommended, judged or not"
            raise OptionError(msg, "evaluate it in a call of its own, without `condensed=`")
        if query.mean != "arithmetic" and isinstance(metric, ExposureMetric):
            msg = f"`mean={query.mean!r}` is computed over lists, but {name} is one value of all lists together"
            raise OptionError(msg, "evaluate it in a call of its own, without `mean=`")
        if query.mean in ("geometric", "harmonic") and -math.inf < metric.range[0] < 0:
            msg = f"`mean={query.mean!r}` needs values from 0 on, but {name} may be {metric.range[0]:g}"
            raise OptionError(msg, "`mean='median'` or 'arithmetic'")


def check_median(requirements: Requirements) -> None:
    """Raise for metrics that weight their lists, because a median has no weights."""
    weighted = [value.metric.label for value in requirements.values.values() if value.weighting is not None]
    if weighted:
        msg = f"`mean='median'` has no weights, but {weighted[0]} weights its lists"
        raise OptionError(msg, "evaluate it in a call of its own, with another mean")


def _check_per_item(query: Query, metrics: Sequence[Metric]) -> None:
    """Raise for metrics that read no relevance, because ``per_item=`` selects among the relevant items."""
    for metric in metrics if query.per_item else ():
        if _reads_all_lists(metric) or metric.reads_groups:
            msg = f"`per_item={query.per_item[0]!r}` is about relevant items, but {metric.label} reads no relevance"
            raise OptionError(msg, "evaluate it in a call of its own, without `per_item=`")


def _check_propensity(query: Query, metrics: Sequence[Metric]) -> None:
    """Raise for metrics that do not allow ``propensity=``, because they cannot count a relevant row several times."""
    if query.propensity is None:
        return
    for metric in metrics:
        if metric.allows_propensity or _reads_all_lists(metric):
            continue
        name = query.called(metric.label)
        msg = f"`propensity={query.propensity!r}` counts each relevant item by itself, but {name} is no sum over them"
        raise OptionError(msg, f"leave `propensity=` out, or use one of {metrics_with_propensity()}")


def check_numbers(context: Opened) -> None:
    """Raise for a relevance, propensity or value that a metric of the call cannot use."""
    limits = context.requirements.limits
    if context.propensities and context.requirements.columns_read.relevance:
        _check_propensities(context)
    frames = [context.session.frames[name] for name in ("frame", "truth") if name in context.session.frames]
    if limits:
        # The column's extremes are computed once for all metrics. They are NaN if no row has a relevance.
        least, greatest = context.engine.extremes(frames[-1], RELEVANCE)
        for limit in limits:
            if greatest > limit.high:
                _refuse_relevance(context, limit, greatest)
            if least < limit.low:
                _refuse_relevance(context, limit, least)
    for frame in frames if context.values else ():
        infinite = next((number for number in context.engine.extremes(frame, VALUE) if math.isinf(number)), None)
        if infinite is not None:
            msg = f"`value={context.query.value!r}` holds {infinite:g}, but a value is finite"
            raise InputError(msg, "give these rows a finite value, or a missing one, which counts as 0")


def _check_propensities(context: Opened) -> None:
    """Raise for relevant rows whose propensity is missing or no probability."""
    frame = context.session.frames["frame" if context.truth is None else "truth"].select(RELEVANCE, PROPENSITY)
    graded = any(terms.metric.reads == "graded" for terms in context.requirements.accuracy)
    observed = context.with_hits(frame.with_columns(or_zero(RELEVANCE))).filter(is_read_row(graded=graded))
    propensity = nw.col(PROPENSITY).cast(nw.Float64()).fill_nan(None)
    rows = observed.select(propensity)
    role = f"`propensity={context.query.propensity!r}`"
    hint = "estimate it for every relevant row, such as from the popularity of the item"
    if context.engine.scalar(rows.filter(propensity.is_null()).select(nw.len())):
        msg = f"{role} is missing in a relevant row, but a probability is above 0"
        raise InputError(msg, hint)
    wrong = rows.filter((propensity <= 0) | (propensity > 1))
    lowest = context.engine.scalar(wrong.select(propensity.min()))
    if lowest is not None:
        msg = f"{role} holds {lowest:g} in a relevant row, but a probability is above 0 and at most 1"
        raise InputError(msg, hint)


def _refuse_relevance(context: Opened, limit: RelevanceLimit, relevance: float) -> NoReturn:
    """Raise for a relevance that is out of a metric's range."""
    allowed = f"at most {limit.high:g}" if limit.low == -math.inf else f"{limit.low:g} to {limit.high:g}"
    name = context.query.averaging(limit.metric.label).name
    msg = f"`relevant={context.query.relevant!r}` holds {relevance:g}, but {name} accepts {allowed}"
    hint = "see the metric's options, such as `gain=`, `probability=` or `max_relevance=`"
    if math.isinf(relevance):
        hint = "give these rows a finite relevance, such as the largest grade of the scale"
    raise InputError(msg, hint)


def check_profile(context: Opened) -> None:
    """Raise for relevances and repeated items that the library in `like=` refuses."""
    _check_least(context)
    if context.truth is None or context.truth_lists is None:
        return
    scores = [score_column(index) for index in range(len(context.query.orders))]
    ranked = context.frame.filter(nw.any_horizontal(*(~nw.col(name).is_null() for name in scores), ignore_nulls=True))
    _check_repeats(context, ranked, context.keys.group, "the frame", "df")
    _check_repeats(context, context.truth_lists, context.keys.key, "`truth=`", "truth")


def _check_least(context: Opened) -> None:
    """Raise for a relevance below the least one that the library in `like=` accepts."""
    query = context.query
    for terms in context.requirements.accuracy:
        averaging = query.averaging(terms.metric.label)
        if averaging.least is None:
            continue
        source = context.frame if context.truth is None else context.truth
        least = context.engine.scalar(source.select(or_zero(RELEVANCE).min()))
        if least is not None and least < averaging.least:
            msg = (
                f"`relevant={query.relevant!r}` holds {least:g}, but under `like={query.like!r}` {averaging.name} "
                f"accepts no relevance below {averaging.least:g}"
            )
            raise InputError(msg, "leave out `like=`, or make negative relevance 0")


def _check_repeats(context: Opened, frame: Frame, keys: Sequence[str], where: str, name: str) -> None:
    """Raise for items that a list holds twice, because other libraries refuse them or count them each time."""
    pairs = frame.select(*keys, ITEM)
    repeated = context.engine.scalar(pairs.select(nw.len())) - context.engine.scalar(pairs.unique().select(nw.len()))
    if repeated:
        query = context.query
        key = [*query.by, *([query.model] if MODEL in keys else []), query.item]
        msg = f"{where} repeats {repeated} items of their lists, which `like={query.like!r}` refuses"
        raise InputError(msg, f"{name}.unique({key!r}), or leave out `like=`: then they count once")
