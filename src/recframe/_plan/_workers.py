"""A plan whose lists are evaluated by polars on the workers of a cluster, which adds up what they give."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import narwhals as nw

from recframe._plan import Plan, _report
from recframe._plan._shown import joined
from recframe._plan._tables import MODEL, Given
from recframe._terms import CASCADE, GREATEST, POSITION
from recframe.metrics._shown_record import ExposureMetric

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe._plan._tables import Tables
    from recframe._roles import Question
    from recframe.metrics._record import Metric

    Frame = nw.LazyFrame[Any]

__all__ = ["on_workers"]

ORDER = "order of models"


def on_workers(given: Given, question: Question, metrics: Sequence[Metric], parts: int) -> Any:
    """Return the frame of a call whose lists the workers evaluate, in so many parts.

    Metrics that look beyond their lists, at what stands beside the frame or at all lists together, stay with the
    cluster's own plan.
    """
    plan = Plan(given, question, metrics)
    beyond = [metric for metric in metrics if isinstance(metric, ExposureMetric) or metric.needs or metric.takes]
    within = [metric for metric in metrics if metric not in beyond]
    found = [Plan(given, question, beyond).run()] if beyond else []
    if within:
        found.append(_means(Plan(Given(given.frame, given.truth), question, within).tables, within, parts))
    tables = plan.tables
    key = [*([MODEL] if question.several else []), *tables.per]
    return plan.finish(joined(tables.engine, found, key).select(*key, *(metric.column for metric in metrics)))


def _means(tables: Tables, metrics: Sequence[Metric], parts: int) -> Frame:
    """Return the result of metrics that the workers compute."""
    from recframe._frames import _workers

    question = tables.question
    frames = {name: tables.session.frames[name] for name in ("frame", "truth") if name in tables.session.frames}
    # Of all rows, of which a worker sees some.
    constant = GREATEST if CASCADE in tables.need.asked else None
    frames = {name: tables.with_greatest(frame)[0] if constant else frame for name, frame in frames.items()}
    labels = [metric.column for metric in metrics]
    order = [ORDER] if len(question.orders) > 1 else []
    sums = _workers.computed(
        frames,
        tables.session.columns,
        list(tables.key_names),
        parts,
        partial(_sums, question, tuple(metrics)),
        tables.reported,
        dict.fromkeys(order, int) | dict.fromkeys(_report.summed(tables, labels), float),
        constant,
    )
    sums = _report.added(tables, [sums], also=order)
    if order and not tables.reported:
        # A model without any list has a row too.
        models = tables.engine.positions(len(question.orders)).select((nw.col(POSITION) - 1).alias(ORDER))
        sums = tables.engine.join(models, sums, [ORDER])
    means = _report.means(tables, sums, labels, also=order)
    if not question.several or tables.long:
        return means
    name, *others = (nw.lit(model) for model in question.orders)
    for index, other in enumerate(others, start=1):
        name = nw.when(nw.col(ORDER) == index).then(other).otherwise(name)
    return means.with_columns(name.alias(MODEL)).drop(*order)


def _sums(question: Question, metrics: Sequence[Metric], frames: Mapping[str, Any], greatest: float | None) -> Any:
    """Return the sums of the lists of some frames, those of one model below those of another; runs on a worker."""
    from recframe._frames import _workers

    plan = Plan(Given(frames["frame"], frames.get("truth"), greatest=greatest), question, metrics)
    totals = [part.totals for part in plan.partial()]
    found = [sums.with_columns(nw.lit(index).alias(ORDER)) for index, sums in enumerate(totals) if sums is not None]
    return _workers.collect(nw.concat(found, how="vertical"))
