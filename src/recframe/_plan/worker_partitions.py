"""A plan whose lists are evaluated on the workers of a cluster, which adds up what they give."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import narwhals as nw

from recframe._columns import GREATEST, MODEL, MODEL_NUMBER, POSITION, total_column, total_weight_column
from recframe._engines.worker_task import WorkerTask
from recframe._given_frames import Given
from recframe._plan import averages
from recframe._plan.plan import Plan
from recframe.metrics._beyond_accuracy import ExposureMetric

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe._columns import Frame
    from recframe._plan.context import CallContext
    from recframe._query import Query
    from recframe.metrics._record import Metric


def on_workers(given: Given, query: Query, metrics: Sequence[Metric], parts: int) -> Any:
    """Return the frame of a call whose lists the workers evaluate, in so many parts.

    Metrics that read more than their lists, side information or all lists together, stay with the
    cluster's own plan.
    """
    plan = Plan(given, query, metrics)
    beyond = [
        metric
        for metric in metrics
        if isinstance(metric, ExposureMetric) or metric.required_inputs or metric.optional_inputs
    ]
    within = [metric for metric in metrics if metric not in beyond]
    found = [Plan(given, query, beyond).run()] if beyond else []
    context = plan.context
    if within:
        own = Plan(Given(given.frame, given.truth), query, within).context if beyond else context
        found.append(_means(own, within, parts))
    key = [*([MODEL] if query.several else []), *context.per]
    return plan.finish(averages.joined(context.engine, found, key).select(*key, *(metric.column for metric in metrics)))


def _means(context: CallContext, metrics: Sequence[Metric], parts: int) -> Frame:
    """Return the result of metrics that the workers compute."""
    query = context.query
    frames = {name: context.session.frames[name] for name in ("frame", "truth") if name in context.session.frames}
    # Of all rows, of which a worker sees some.
    constant = GREATEST if context.requirements.stops else None
    frames = {name: context.with_greatest(frame)[0] if constant else frame for name, frame in frames.items()}
    labels = [metric.column for metric in metrics]
    order = [MODEL_NUMBER] if len(query.orders) > 1 else []
    task = WorkerTask(
        evaluate=partial(_sums, query, tuple(metrics)),
        names={name: dict(context.session.columns[name]) for name in frames},
        kept=list(context.reported),
        columns=dict.fromkeys(order, int) | dict.fromkeys(averages.summed(context, labels), float),
        constant=constant,
    )
    sums = context.engine.evaluate_on_workers(frames, list(context.key_names), parts, task)
    means = sums if averages.by_list(context) else _averages(context, sums, labels, order)
    if order and not context.reported:
        # A model without any list has a row too.
        models = context.engine.positions(len(query.orders)).select((nw.col(POSITION) - 1).alias(MODEL_NUMBER))
        means = context.engine.join(models, means, [MODEL_NUMBER])
    return means if not query.several or context.long else means.with_columns(_model_name(query)).drop(*order)


def _model_name(query: Query) -> nw.Expr:
    """Return the name of each model from its number."""
    name, *others = (nw.lit(model) for model in query.orders)
    for index, other in enumerate(others, start=1):
        name = nw.when(nw.col(MODEL_NUMBER) == index).then(other).otherwise(name)
    return name.alias(MODEL)


def _averages(context: CallContext, sums: Frame, labels: Sequence[str], order: Sequence[str]) -> Frame:
    """Return the averages that the sums of all parts give, for each model and segment."""
    if context.query.mean != "arithmetic":
        return averages.means(context, averages.added(context, [sums], also=order), labels, also=order)
    columns = {label: (total_column(label), total_weight_column(label)) for label in labels}
    return context.engine.ratios_of_sums(sums, [*order, *context.reported], columns)


def _sums(query: Query, metrics: Sequence[Metric], frames: Mapping[str, Any], greatest: float | None) -> Any:
    """Return the sums of the lists of some frames, those of one model below those of another; runs on a worker."""
    given = Given(frames["frame"], frames.get("truth"), greatest=greatest, models=frames.get("models"))
    plan = Plan(given, query, metrics)
    totals = [part.totals for part in plan.partial()]
    found = [
        sums.with_columns(nw.lit(index).alias(MODEL_NUMBER)) for index, sums in enumerate(totals) if sums is not None
    ]
    # Keys as the user wrote them: within a call numbers may replace them, other ones for each part.
    return plan.context.session.finish(plan.context.engine.stack(found), {}, [])
