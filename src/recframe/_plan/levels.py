"""Metrics of several levels of relevance in one call: a plan for each level, side by side in one result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw

from recframe._columns import MODEL
from recframe._plan.averages import joined

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe._plan.plan import Plan

NAMED = "named {}"
"""What a metric's column is called beside those of other levels, by what the user calls it."""


def side_by_side(plans: Sequence[Plan], order: Sequence[str]) -> Any:
    """Return the results of plans for the same frames and roles as one frame of the user's kind.

    Their numbers for the values of keys agree, as each reads the same columns in the same way.

    Parameters
    ----------
    plans : sequence of Plan
        A plan for each level, of at least one metric.
    order : sequence of str
        What the user calls the metrics, in the order of the call.
    """
    context = plans[0].context
    model = [MODEL] if context.query.several else []
    keys = [*model, *context.per]
    results = []
    for plan in plans:
        names: Mapping[str, str] = {
            metric.column: plan.context.query.averaging(metric.label).name for metric in plan.metrics
        }
        columns = (nw.col(column).alias(NAMED.format(name)) for column, name in names.items())
        results.append(context.engine.collect_once(plan.run().select(*keys, *columns)))
    if keys:
        # A segment that one level leaves out has no value there.
        results = [context.engine.stack([part.select(*keys) for part in results]).unique(), *results]
    result = joined(context.engine, results, keys).select(*keys, *(NAMED.format(name) for name in order))
    names = {name: column for name, column in context.names.items() if name in context.per}
    return context.finish(result, {**names, **{NAMED.format(name): name for name in order}}, [*context.per, *model])
