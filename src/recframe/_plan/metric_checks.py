"""Which metrics go with condensed=, mean= and propensity=."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from recframe.errors import OptionError
from recframe.metrics._beyond_accuracy import BeyondAccuracyMetric, ExposureMetric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._query import Query
    from recframe.metrics._record import Metric

WEIGHED = "precision, recall, f1, fbeta, dcg, ndcg(ideal='first'), rbp, money_recall, serendipity, num_rel, num_rel_ret"
"""The metrics that allow `propensity=`, for hints."""


def check_policies(query: Query, metrics: Sequence[Metric]) -> None:
    """Raise for policies that mean nothing to a metric."""
    _check_propensity(query, metrics)
    _check_condensed_and_mean(query, metrics)


def _check_condensed_and_mean(query: Query, metrics: Sequence[Metric]) -> None:
    """Raise for metrics that leave nothing out, or that no such mean is of."""
    for metric in metrics:
        name = query.averaging(metric.label).name
        if query.condensed and isinstance(metric, BeyondAccuracyMetric | ExposureMetric):
            msg = f"condensed=True leaves out what nobody judged, but {name} reads what is recommended, judged or not"
            raise OptionError(msg, "evaluate it in a call of its own, without condensed=")
        if query.mean != "arithmetic" and isinstance(metric, ExposureMetric):
            msg = f"mean={query.mean!r} is taken over lists, but {name} is one value of all lists together"
            raise OptionError(msg, "evaluate it in a call of its own, without mean=")
        if query.mean in ("geometric", "harmonic") and -math.inf < metric.range[0] < 0:
            msg = f"mean={query.mean!r} takes values from 0 on, but {name} may be {metric.range[0]:g}"
            raise OptionError(msg, "mean='median' or 'arithmetic'")


def _check_propensity(query: Query, metrics: Sequence[Metric]) -> None:
    """Raise for metrics in which a relevant row cannot count as several."""
    if query.propensity is None:
        return
    for metric in metrics:
        if metric.allows_propensity or isinstance(metric, BeyondAccuracyMetric | ExposureMetric):
            continue
        name = query.averaging(metric.label).name
        msg = f"propensity={query.propensity!r} counts each relevant item by itself, but {name} is no sum over them"
        raise OptionError(msg, f"leave propensity= out, or take one of {WEIGHED}")
