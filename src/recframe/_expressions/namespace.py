"""The namespace of polars' expressions: ``pl.col("score").rec``."""

from __future__ import annotations

from functools import wraps
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, NoReturn

from recframe._expressions.calls import CALLS
from recframe.errors import OptionTypeError, no_attribute
from recframe.metrics import METRICS, meant

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl


class ExprRec:
    """Metrics as expressions: of the score in front of it, for each group of `agg`, `over` and their like."""

    __slots__ = ("_score",)

    def __init__(self, score: pl.Expr) -> None:
        self._score = score

    def __call__(self, *_: Any, **keywords: Any) -> NoReturn:
        """Raise: an expression binds no roles, as frames do."""
        msg = f".rec({', '.join(f'{name}=...' for name in keywords)}) is about frames, and an expression binds no roles"
        raise OptionTypeError(msg, "give them to the metric: pl.col('score').rec.ndcg('clicked', k=5)")

    def __getattr__(self, name: str) -> NoReturn:
        """Raise, and name the method that was meant."""
        hint = f"frames have it: df.rec.{name}(...)" if name in METRICS else meant(name, exactly=True)
        raise no_attribute(name, "an expression has no .rec.{}", CALLS, hint)


def _method(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of a score as a method of it."""

    @wraps(function)
    def method(self: ExprRec, *args: Any, **keywords: Any) -> Any:
        return function(self._score, *args, **keywords)

    first, *others = signature(function).parameters.values()
    receiver = first.replace(name="self", annotation=Parameter.empty)
    setattr(method, "__signature__", signature(function).replace(parameters=[receiver, *others]))  # noqa: B010
    return method


for _name, _function in CALLS.items():
    setattr(ExprRec, _name, _method(_function))
