"""A plan that reads its lists in parts, one after the other, and adds up what they give."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from recframe._plan.plan import Partial, Plan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._engines.base import Engine
    from recframe._given_frames import Given
    from recframe._query import Query
    from recframe.metrics._record import Metric


def in_parts(given: Given, query: Query, metrics: Sequence[Metric], parts: int) -> Any:
    """Return the lazy frame of a call that reads its frames once for each part of the lists."""
    plan = Plan(given, query, metrics)
    engine = plan.context.engine

    def compute() -> Any:
        found = [_computed(engine, Plan(given, query, metrics, (index, parts)).partial()) for index in range(parts)]
        return plan.finish(plan.whole(found))

    return engine.deferred(compute, plan.frame().collect_schema)


def _computed(engine: Engine, models: Sequence[Partial]) -> list[Partial]:
    """Return the same with all its frames computed together."""
    names = ("totals", "items", "groups")
    places = [(index, name) for index, model in enumerate(models) for name in names if getattr(model, name) is not None]
    frames = engine.settle_together([getattr(models[index], name) for index, name in places])
    found = list(models)
    for (index, name), frame in zip(places, frames, strict=True):
        found[index] = replace(found[index], **{name: frame})
    return found
