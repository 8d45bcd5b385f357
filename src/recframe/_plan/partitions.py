"""A plan that evaluates its lists in parts, one after the other, and adds up their sums."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recframe._plan.plan import Plan
from recframe._plan.state import State

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._call_frames import CallFrames
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
