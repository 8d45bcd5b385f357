"""The least and the greatest value over all orders of tied rows, beside the expected one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args

import narwhals as nw

from recframe._base.columns import MODEL
from recframe._base.roles import TieBound
from recframe._plan.averages import joined
from recframe._plan.plan import Plan
from recframe._plan.query import check_apart
from recframe.errors import OptionError
from recframe.metrics._beyond_accuracy import RecommendedMetric
from recframe.metrics.subtopics import SubtopicMetric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._plan.call_frames import CallFrames
    from recframe._plan.query import Query
    from recframe.metrics._record import Metric

LOW = "{} low"
"""The column of a metric's least value, by the metric's name."""
HIGH = "{} high"
"""The column of a metric's greatest value, by the metric's name."""


BOUND = "{} {}"
"""What a metric's column is called under a policy, by its own name and the policy."""
READ_MORE = frozenset({"awrf", "eed", "eel", "eer", "inf_ap", "judged", "money_recall", "rbp_residual", "serendipity"})
"""Metrics that read more of a row than its relevance, so that an order by relevance bounds nothing."""


def _bound(metric: Metric, ties: str) -> str:
    """Return the column of a metric under a policy."""
    return BOUND.format(metric.column, ties)


def _is_bounded(query: Query, metric: Metric) -> bool:
    """Return whether the orders of tied rows by relevance have the least and the greatest value of a metric."""
    several_subtopics = query.subtopic is not None and isinstance(metric, SubtopicMetric)
    is_read = isinstance(metric, RecommendedMetric) or metric.name in READ_MORE or several_subtopics
    is_signed = getattr(metric, "grades", "") == "signed"
    return metric.best_by_relevance and not (is_read or is_signed or metric.inexact or metric.requires_average_ties)


def check_range(query: Query, metrics: Sequence[Metric]) -> None:
    """Raise for metrics whose bounds are not their values of the orders by relevance."""
    for metric in metrics:
        if query.propensity is not None or not _is_bounded(query, metric):
            name = query.averaging(metric.label).name
            msg = f"`ties='range'` orders tied rows by relevance, which gives no least and greatest value of {name}"
            raise OptionError(msg, f"evaluate {name} in a call of its own, with `ties='average'`")


def _ends(metric: Metric) -> dict[str, str]:
    """Return the columns with the least and the greatest value of a metric, by the names of the result's columns."""
    best, worst = (_bound(metric, ties) for ties in get_args(TieBound))
    # If lower is better, the best order has the lowest value.
    return {LOW: worst, HIGH: best} if metric.higher_is_better else {LOW: best, HIGH: worst}


def with_range(call_frames: CallFrames, query: Query, metrics: Sequence[Metric]) -> tuple[Plan, Any]:
    """Return the plan of a call, and its result with the least and the greatest value of each metric."""
    check_range(query, metrics)
    plan = Plan(call_frames, query, metrics)
    context = plan.context
    keys = plan.context.keys.of_result
    frames = [plan.run()]
    for ties in get_args(TieBound):
        other = Plan(call_frames, replace(query, ties=ties, counts=False), metrics)
        values = (nw.col(metric.column).alias(_bound(metric, ties)) for metric in plan.metrics)
        frames.append(context.engine.collect_once(other.run().select(*keys, *values)))
    result = joined(context.engine, frames, keys)
    names = dict(context.names)
    columns = list(keys)
    ends = []
    for metric in plan.metrics:
        called = query.averaging(metric.label).name
        for name, end in _ends(metric).items():
            column = name.format(metric.column)
            ends.append(nw.col(end).alias(column))
            names[column] = name.format(called)
        columns += [metric.column, LOW.format(metric.column), HIGH.format(metric.column)]
    check_apart([*query.per, *(names.get(name, name) for name in columns if name not in keys)])
    result = result.with_columns(*ends).select(*columns, *query.count_columns)
    return plan, context.finish(result, names, [*context.keys.per, *([MODEL] if query.several else [])])
