"""Narwhals expressions as expressions of polars, each object converted once.

To convert takes Narwhals longer than polars takes to compute a small frame. The plan keeps the expressions of metrics
of earlier calls, so that a second call finds them converted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast
from weakref import ref

import narwhals as nw
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Sequence

_converted: dict[int, tuple[ref[nw.Expr], pl.Expr]] = {}
"""What was made of each expression that is still in use, by its identity: expressions have no hash."""


class _Listener(pl.LazyFrame):
    """A frame that keeps the expressions which Narwhals selects from it."""

    heard: Sequence[pl.Expr] = ()

    def select(self, *expressions: Any, **named: Any) -> pl.LazyFrame:  # noqa: ARG002
        self.heard = expressions
        return self


def native_expressions(columns: Sequence[str | nw.Expr]) -> list[str | pl.Expr]:
    """Return columns as polars selects them."""
    new = [column for column in columns if isinstance(column, nw.Expr) and id(column) not in _converted]
    if new:
        listener = _Listener()
        nw.from_native(listener).select(*new)
        for expression, native in zip(new, listener.heard, strict=True):
            _keep(expression, native)
    return [column if isinstance(column, str) else _converted[id(column)][1] for column in columns]


def native(expression: nw.Expr) -> pl.Expr:
    """Return one expression as polars computes it."""
    (converted,) = native_expressions([expression])
    return cast("pl.Expr", converted)


def _keep(expression: nw.Expr, native: pl.Expr) -> None:
    """Remember what was made of an expression for as long as something else uses it."""
    number, kept = id(expression), _converted  # a module loses its names when Python ends

    def forget(_: ref[nw.Expr]) -> None:
        kept.pop(number, None)

    kept[number] = ref(expression, forget), native
