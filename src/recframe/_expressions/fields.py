"""Narwhals expressions as expressions of polars, with other expressions instead of columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import narwhals as nw
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def on_columns(expression: nw.Expr, column: Callable[[str], pl.Expr]) -> pl.Expr:
    """Return an expression as polars computes it, with what `column` makes of each name instead of a column.

    Narwhals has no public way to do it. A test holds this one on the oldest and the newest Narwhals.
    """
    frame: Any = nw.from_native(pl.LazyFrame())
    outer = frame._compliant_frame.__narwhals_namespace__()  # noqa: SLF001

    def col(self: Any, name: str) -> Any:
        return self._expr(column(name), self._version)

    namespace = type("Namespace", (type(outer),), {"col": col})(version=outer._version)  # noqa: SLF001
    return cast("pl.Expr", cast("Any", expression)._to_compliant_expr(namespace).native)  # noqa: SLF001


def columns_of(expression: nw.Expr) -> list[str]:
    """Return the columns that an expression reads."""
    return on_columns(expression, pl.col).meta.root_names()


def field(name: str) -> pl.Expr:
    """Return a field of the struct that is an element of a list."""
    return pl.element().struct.field(name)


def on_fields(expression: nw.Expr) -> pl.Expr:
    """Return an expression of the fields of the struct that is an element of a list."""
    return on_columns(expression, field)


def struct_of(fields: Mapping[str, pl.Expr]) -> pl.Expr:
    """Return the struct of these fields."""
    return pl.struct(*(value.alias(name) for name, value in fields.items()))
