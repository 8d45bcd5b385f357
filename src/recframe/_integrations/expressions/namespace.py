"""The namespace of polars' expressions: ``pl.col("score").rec``."""

from __future__ import annotations

from functools import wraps
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, NoReturn

from recframe._integrations.expressions.calls import CALLS, REPLACED_CALLS
from recframe.errors import OptionTypeError, no_attribute
from recframe.metrics import METRICS, metric_hint

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl


class ExprRec:
    """Metrics as expressions of a score, for each group of `agg` or `over`."""

    __slots__ = ("_score",)

    def __init__(self, score: pl.Expr) -> None:
        self._score = score

    def __call__(self, *_: Any, **keywords: Any) -> NoReturn:
        """Raise: an expression binds no roles, as frames do."""
        msg = f".rec({', '.join(f'{name}=...' for name in keywords)}) is about frames, and an expression binds no roles"
        raise OptionTypeError(msg, "give them to the metric: pl.col('score').rec.ndcg('clicked', k=5)")

    def __getattr__(self, name: str) -> NoReturn:
        """Raise, and name the method that was meant."""
        hint = f"frames have it: df.rec.{name}(...)" if name in METRICS else metric_hint(name, exactly=True)
        hint = REPLACED_CALLS.get(name, hint)
        raise no_attribute(name, "an expression has no .rec.{}", CALLS, hint)


BY_POSITION = ("metrics", "relevant", "k")
"""The arguments that a method also accepts by position, in this order; the score is the expression before `.rec`."""


def _method(call: Callable[..., pl.Expr]) -> Callable[..., pl.Expr]:
    """Return a function of a score as a method of the score's namespace."""
    parameters = dict(signature(call).parameters)
    positional = [name for name in BY_POSITION if name in parameters]

    @wraps(call)
    def method(self: ExprRec, *args: Any, **keywords: Any) -> pl.Expr:
        if len(args) > len(positional):
            msg = f"{call.__name__} accepts {', '.join(positional)} by position, but there are {len(args)} arguments"
            raise OptionTypeError(msg, "name the others")
        named = {"score": self._score, **dict(zip(positional, args, strict=False))}
        if twice := [name for name in named if name in keywords]:
            msg = f"{call.__name__} got {twice[0]!r} twice"
            raise OptionTypeError(msg, "give it once: the score is the expression in front of .rec")
        return call(**named, **keywords)

    plain = Parameter.POSITIONAL_OR_KEYWORD
    first = [Parameter("self", plain), *(parameters.pop(name).replace(kind=plain) for name in positional)]
    del parameters["score"]
    shown = signature(call).replace(parameters=[*first, *parameters.values()])
    setattr(method, "__signature__", shown)  # noqa: B010 - functions declare no such attribute
    return method


for _name, _function in CALLS.items():
    setattr(ExprRec, _name, _method(_function))
