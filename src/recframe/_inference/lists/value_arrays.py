"""The values of lists as arrays, for charts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from recframe._inference.lists.calls import plan_of_data
from recframe._inference.lists.values import ListValues, check_values_per_list, segments

if TYPE_CHECKING:
    from recframe._plan.request import Request
    from recframe.metrics import Metric


class ValueArrays(NamedTuple):
    """The values of one metric."""

    metric: Metric
    models: list[Any]
    """The names of the models, or None in place of the only name if the call names no models."""
    values: list[Any]
    """The values of the lists of each model, NaN where a list has none."""
    weights: list[Any]
    """The weights of the lists of each model."""


def value_arrays(request: Request, metric: Any, k: Any) -> ValueArrays:
    """Return the values of lists, in one order for all models."""
    plan = plan_of_data(request, metric, k, None)
    check_values_per_list(plan.metrics, "plot")
    by_list = ListValues(plan)
    _, (lists,) = segments(by_list, plan.context)  # charts of values have no `per`
    pairs = (by_list.in_segment(lists, number, 0) for number in range(len(by_list.models)))
    models = [*by_list.models] if plan.context.query.several else [None]
    values, weights = map(list, zip(*pairs, strict=True))
    return ValueArrays(plan.metrics[0], models, values, weights)
