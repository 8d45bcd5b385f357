"""A plan that evaluates its lists in parts, in turn or on the workers of a cluster, and adds up their sums."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import narwhals as nw

from recframe._call_frames import CallFrames
from recframe._columns import GREATEST, MODEL, POSITION
from recframe._plan import averages
from recframe._plan.plan import Plan
from recframe._plan.sources import name_of_model
from recframe._plan.state import State
from recframe.metrics._beyond_accuracy import ExposureMetric

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe._query import Query
    from recframe.metrics._record import Metric


def in_parts(call_frames: CallFrames, query: Query, metrics: Sequence[Metric], parts: int) -> Any:
    """Return the lazy frame of a call that reads its frames once for each part of the lists."""
    plan = Plan(call_frames, query, metrics)
    engine = plan.context.engine

    def state(index: int) -> State:
        frames = Plan(call_frames, query, metrics, (index, parts)).state()
        return State(*engine.collect_together([frame for frame in frames if frame is not None]))

    def compute() -> Any:
        return plan.finish(plan.result(plan.merge([state(index) for index in range(parts)])))

    return engine.deferred(compute, plan.frame().collect_schema)


def on_workers(frames: CallFrames, query: Query, metrics: Sequence[Metric], parts: int) -> Any:
    """Return the frame of a call whose lists the workers evaluate, in so many parts.

    Metrics that read more than their lists, side information or all lists together, stay with the
    cluster's own plan.
    """
    # Workers read the relevance as it is.
    plan = Plan(frames, query, metrics, prepared=False)
    beyond = [
        metric
        for metric in metrics
        if isinstance(metric, ExposureMetric) or metric.reads_groups or metric.required_inputs or metric.optional_inputs
    ]
    within = [metric for metric in metrics if metric not in beyond]
    results = [Plan(frames, query, beyond).run()] if beyond else []
    if within:
        inner = Plan(CallFrames(frames.frame, frames.truth), query, within, prepared=False) if beyond else plan
        results.append(inner.result(_on_workers(inner, query, parts)))
    keys = plan.context.result_keys
    result = averages.joined(plan.context.engine, results, keys)
    return plan.finish(result.select(*keys, *(metric.column for metric in metrics)))


def _on_workers(plan: Plan, query: Query, parts: int) -> State:
    """Return the sums that the workers compute."""
    context, engine = plan.context, plan.context.engine
    frames = {name: context.session.frames[name] for name in ("frame", "truth") if name in context.session.frames}
    if context.requirements.numbers.stops:
        # Of all rows, of which a worker sees some.
        frames = {name: context.with_greatest(frame)[0] for name, frame in frames.items()}
    names = {name: dict(context.session.columns[name]) for name in frames}
    if context.long:
        names["models"] = {MODEL: names["frame"][MODEL]}
    numbered = query.several and not context.long
    # The columns of the sums: None is the type that the frames have.
    types = dict.fromkeys(context.result_keys) | ({MODEL: int} if numbered else {})
    types |= dict.fromkeys(averages.summed(context, plan.labels), float)
    # Workers see the columns that are read: the cluster's plan has looked for the others that the call names.
    task = partial(_state_of_part, replace(query, in_call=frozenset()), tuple(plan.metrics), names)
    state = plan.merge([State(engine.evaluate_on_workers(frames, context.user_keys, parts, task, types))])
    if not numbered:
        return state
    lists = state.lists
    if not context.per:
        # A model without any list has a row too.
        models = engine.positions(len(query.orders)).select((nw.col(POSITION) - 1).alias(MODEL))
        lists = engine.join(models, lists, [MODEL])
    return State(lists.with_columns(name_of_model(query, nw.col(MODEL)).alias(MODEL)))


def _state_of_part(
    query: Query, metrics: Sequence[Metric], names: Mapping[str, Mapping[str, str]], frames: Mapping[str, Any]
) -> Any:
    """Return the sums of the lists of some frames, read under the user's names; runs on a worker."""
    parts = {name: nw.from_native(frame, eager_only=True) for name, frame in frames.items()}
    greatest = [part[GREATEST][0] for part in parts.values() if GREATEST in part.columns and len(part)]
    named = {
        name: parts[name].select(**{column: nw.col(name_read) for name_read, column in columns.items()}).to_native()
        for name, columns in names.items()
    }
    plan = Plan(CallFrames(**named, greatest=next(iter(greatest), None)), query, metrics)
    # Keys as the user wrote them: within a call numbers may replace them, other ones for each part.
    return plan.context.session.finish(plan.state().lists, {}, [])
