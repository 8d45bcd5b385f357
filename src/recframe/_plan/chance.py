"""The chance level of a metric, its mean over random orders, and the skill of a ranking above it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import narwhals as nw

from recframe._base.columns import CANDIDATES, MODEL, TIED
from recframe._base.values import ROUNDING
from recframe._plan.averages import joined
from recframe._plan.plan import Plan
from recframe._plan.query import check_apart
from recframe._plan.sources import omitted_rows
from recframe.errors import OptionError
from recframe.metrics.subtopics import SubtopicMetric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._plan.call_frames import CallFrames
    from recframe._plan.query import Ordered, Query
    from recframe.metrics._record import Metric

CHANCE = "{} chance"
BEST = "{} best"
SKILL = "{} skill"
"""The names of these columns, made from the metric's name."""


def check_chance(query: Query, metrics: Sequence[Metric], call: str = "`chance=True`") -> None:
    """Raise for metrics whose value under a constant score is not the mean over all orders of the rows."""
    for metric in metrics:
        if metric.inexact:
            name = query.averaging(metric.label).name
            msg = f"{call} is the exact mean over all orders of the rows, but {name} has no exact mean over tied rows"
            raise OptionError(msg, f"leave {name} out: for tied rows it is {metric.inexact}")
    omitted = omitted_rows(query)
    if TIED in omitted and CANDIDATES not in omitted:
        msg = f"{call} orders all rows of a list, and from_factors(..., positions='top') does not count them"
        raise OptionError(msg, "from_factors(..., positions='all')")


def reordered(query: Query, ordered: Ordered) -> Query:
    """Return the query with another order: "by chance" ties all rows, "by relevance" sorts by the relevance."""
    return replace(query, ordered=ordered, ties="average", counts=False)


def plan_of_chance(plan: Plan, call: str) -> Plan:
    """Return a plan that computes the chance level: all rows of a list tie."""
    query = plan.context.query
    check_chance(query, plan.metrics, call)
    return Plan(plan.frames, reordered(query, "by chance"), plan.metrics)


def with_chance(call_frames: CallFrames, query: Query, metrics: Sequence[Metric]) -> tuple[Plan, Any]:
    """Return the plan of a call, and its result with two more columns per metric: the chance level and the skill."""
    check_chance(query, metrics)
    plan = Plan(call_frames, query, metrics)
    context = plan.context
    keys = context.keys.of_result
    frames = [plan.run()]
    orders: dict[Ordered, str] = {"by chance": CHANCE, "by relevance": BEST}
    for ordered, name in orders.items():
        other = Plan(call_frames, reordered(query, ordered), metrics)
        values = (nw.col(metric.column).alias(name.format(metric.column)) for metric in plan.metrics)
        frames.append(context.engine.collect_once(other.run().select(*keys, *values)))
    result = joined(context.engine, frames, keys)
    result = result.with_columns(*(_skill(query, metric) for metric in plan.metrics))
    names = dict(context.names)
    columns = list(keys)
    for metric in plan.metrics:
        called = query.averaging(metric.label).name
        names_of = {name.format(metric.column): name.format(called) for name in (CHANCE, SKILL)}
        names |= names_of
        columns += [metric.column, *names_of]
    check_apart([*query.per, *(names.get(name, name) for name in columns if name not in keys)])
    result = result.select(*columns, *query.count_columns)
    return plan, context.finish(result, names, [*context.keys.per, *([MODEL] if query.several else [])])


def _skill(query: Query, metric: Metric) -> nw.Expr:
    """Return the skill: (value - chance) / (best - chance).

    It is missing if the best value equals chance, or if the order by relevance is not the best one for the metric.
    """
    value, chance, best = (nw.col(name.format(metric.column)) for name in ("{}", CHANCE, BEST))
    several_subtopics = query.subtopic is not None and isinstance(metric, SubtopicMetric)
    has_best = metric.best_by_relevance and query.propensity is None and not several_subtopics
    has_skill = (best - chance).abs() > ROUNDING if has_best else nw.lit(value=False)
    return nw.when(has_skill).then((value - chance) / (best - chance)).alias(SKILL.format(metric.column))
