"""The namespace: `df.rec`, and `rec(df)` for the same with types."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

from recframe import metrics as _metrics
from recframe._frames import kind_of
from recframe._plan import Plan
from recframe._roles import Question, Roles
from recframe.errors import OptionError, OptionTypeError, UndefinedWarning

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe.metrics import Metric

__all__ = ["Rec", "rec"]


class Rec:
    __slots__ = ("_bound", "_frame")

    def __init__(self, frame: Any, bound: dict[str, Any] | None = None) -> None:
        self._frame = frame
        self._bound = bound or {}

    def __call__(self, **roles: Any) -> Rec:
        return type(self)(self._frame, self._bound | roles)

    def measure(self, metric: str | Metric, **roles: Any) -> Any:
        metric = _metrics.parse(metric) if isinstance(metric, str) else metric
        r = Roles.of(self._bound, roles, Roles.names())
        q = Question.of(r)
        plan = Plan(self._frame, r.truth, q, [metric])
        res = plan.run()
        if not plan._engine.eager:
            return plan.session.finish(res, plan.names(), plan.sort_columns())
        if q.per:
            return plan.session.finish(res, plan.names(), plan.sort_columns())
        v = plan._engine.scalar(res)
        return math.nan if v is None else float(v)

    def evaluate(self, metrics, k=None, **roles):
        r = Roles.of(self._bound, roles, Roles.names())
        q = Question.of(r)
        ms = []
        for m in metrics:
            for kk in (k if isinstance(k, list) else [k]):
                mm = m if not isinstance(m, str) else (_metrics.parse(f"{m}@{kk}") if kk and "@" not in m and m!="r_precision" else _metrics.parse(m))
                if mm not in ms: ms.append(mm)
        plan = Plan(self._frame, r.truth, q, ms)
        return plan.session.finish(plan.run(), plan.names(), plan.sort_columns())
