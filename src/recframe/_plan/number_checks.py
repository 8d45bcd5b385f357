"""Numbers of eager frames that a metric cannot use: relevances out of its range, and infinite values of hits."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import narwhals as nw

from recframe._columns import PROPENSITY, RELEVANCE, VALUE
from recframe._plan.relevance import fill_missing, is_observed
from recframe.errors import InputError

if TYPE_CHECKING:
    from recframe._plan.context import CallContext
    from recframe.metrics._record import Metric

ANY = (-math.inf, math.inf)


def check_numbers(context: CallContext) -> None:
    """Raise for relevances and values of hits that a metric of the call cannot use."""
    limited = [terms.metric for terms in context.requirements.accuracy if terms.metric.relevances != ANY]
    if context.propensities and context.requirements.reads_relevance:
        _check_propensities(context)
    frames = [context.session.frames[name] for name in ("frame", "truth") if name in context.session.frames]
    if limited:
        # One look at the column serves all metrics.
        extremes = context.engine.extremes(frames[-1], RELEVANCE)
        for metric in limited:
            _check_relevance(context, metric, *extremes)
    for frame in frames if context.values else ():
        found = next((number for number in context.engine.extremes(frame, VALUE) if math.isinf(number)), None)
        if found is not None:
            msg = f"value={context.query.value!r} holds {found:g}, but a value is finite"
            raise InputError(msg, "give these rows a finite value, or a missing one, which counts as 0")


def _check_propensities(context: CallContext) -> None:
    """Raise for relevant rows without a probability that their relevance was observed."""
    frame = context.session.frames["frame" if context.truth is None else "truth"].select(RELEVANCE, PROPENSITY)
    observed = context.with_hits(fill_missing(frame, [RELEVANCE])).filter(is_observed())
    propensity = nw.col(PROPENSITY).cast(nw.Float64()).fill_nan(None)
    rows = observed.select(propensity)
    role = f"propensity={context.query.propensity!r}"
    hint = "estimate it for every relevant row, such as from the popularity of the item"
    if context.engine.scalar(rows.filter(propensity.is_null()).select(nw.len())):
        msg = f"{role} is missing in a relevant row, but a probability is above 0"
        raise InputError(msg, hint)
    wrong = rows.filter((propensity <= 0) | (propensity > 1))
    found = context.engine.scalar(wrong.select(propensity.min()))
    if found is not None:
        msg = f"{role} holds {found:g} in a relevant row, but a probability is above 0 and at most 1"
        raise InputError(msg, hint)


def _check_relevance(context: CallContext, metric: Metric, least: float, greatest: float) -> None:
    """Raise for relevances from `least` to `greatest` that are beyond what a metric can use."""
    low, high = metric.relevances
    # NaN: no row has a relevance.
    if math.isnan(least) or (low <= least and greatest <= high):
        return
    found = greatest if greatest > high else least
    takes = f"at most {high:g}" if low == -math.inf else f"{low:g} to {high:g}"
    name = context.query.averaging(metric.label).name
    msg = f"relevant={context.query.relevant!r} holds {found:g}, but {name} takes {takes}"
    hint = "see the metric's options, such as gain=, probability= or max_relevance="
    if math.isinf(found):
        hint = "give these rows a finite relevance, such as the largest grade of the scale"
    raise InputError(msg, hint)
