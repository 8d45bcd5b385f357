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
    from collections.abc import Mapping, Sequence

_converted: dict[int, tuple[ref[nw.Expr], pl.Expr]] = {}
"""What was made of each expression that is still in use, by its identity: expressions have no hash."""


class _Listener(pl.LazyFrame):
    """A frame that keeps the expressions which Narwhals selects from it."""

    heard: Sequence[pl.Expr] = ()

    def select(self, *expressions: Any, **named: Any) -> pl.LazyFrame:  # noqa: ARG002
        self.heard = expressions
        return self


def native_expressions(
    columns: Sequence[str | nw.Expr], named: Mapping[str, str | nw.Expr] | None = None
) -> list[str | pl.Expr]:
    """Return columns, and those that are given by name, as polars selects them."""
    natives: list[str | pl.Expr] = []
    for column in columns:
        if isinstance(column, str):
            natives.append(column)
        else:
            kept = _converted.get(id(column))
            natives.append(_convert(column) if kept is None else kept[1])
    if named:
        for name, other in zip(named, native_expressions([*named.values()]), strict=True):
            natives.append((pl.col(other) if isinstance(other, str) else other).alias(name))
    return natives


def native(expression: nw.Expr) -> pl.Expr:
    """Return one expression as polars computes it."""
    (converted,) = native_expressions([expression])
    return cast("pl.Expr", converted)


def _convert(expression: nw.Expr) -> pl.Expr:
    """Return an expression as polars computes it, and remember it for as long as something else uses it."""
    listener = _Listener()
    nw.from_native(listener).select(expression)
    (native,), number, kept = listener.heard, id(expression), _converted  # a module loses its names when Python ends

    def forget(_: ref[nw.Expr]) -> None:
        kept.pop(number, None)

    kept[number] = ref(expression, forget), native
    return native
