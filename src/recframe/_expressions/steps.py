"""Steps over a list of structs in an expression: they add fields, as the plan adds columns to frames."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from recframe._expressions.fields import field, struct_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl


@dataclass(frozen=True)
class Steps:
    """What is done to a list, one `list.eval` after the other.

    `agg` and `over` share no common subexpressions, so that only steps compute a thing once.
    """

    reads: tuple[str, ...] = ()
    """The fields of the structs before the first step."""
    names: tuple[str, ...] = ()
    """Those after the last step."""
    steps: tuple[pl.Expr, ...] = ()

    def then(self, step: pl.Expr) -> Steps:
        """Return the steps and a last one, which keeps the fields."""
        return Steps(self.reads, self.names, (*self.steps, step))

    def select(self, fields: Mapping[str, pl.Expr]) -> Steps:
        """Return the steps and a last one, which makes structs of new fields."""
        return Steps(self.reads, tuple(fields), (*self.steps, struct_of(fields)))

    def add(self, fields: Mapping[str, pl.Expr]) -> Steps:
        """Return the steps and a last one, which adds fields, or replaces those of their names."""
        return self.select({name: field(name) for name in self.names} | dict(fields)) if fields else self

    def on(self, lists: pl.Expr) -> pl.Expr:
        """Return what they make of a list."""
        return reduce(lambda found, step: found.list.eval(step), self.steps, lists)
