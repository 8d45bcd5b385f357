"""Polars' plans with the methods of Narwhals' lazy frames that the plan of a call uses.

Narwhals takes longer to check and convert a step than polars takes to compute it on a small frame. Here each step is
polars' own, and each expression is converted once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import narwhals as nw
import polars as pl

from recframe._engines.polars_compat import collect_columns
from recframe._engines.polars_expressions import native_expressions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe._columns import Frame

    Column = str | nw.Expr


def lazy(native: pl.DataFrame | pl.LazyFrame) -> Frame:
    """Return the plan's frame of one of polars: not Narwhals' own, but all that the plan calls is there."""
    return cast("Frame", PolarsFrame(native.lazy(), native if isinstance(native, pl.DataFrame) else None))


def held(frame: Frame) -> pl.DataFrame | None:
    """Return the rows of a frame where they are computed; None of a plan, which may be one of Narwhals."""
    return getattr(frame, "held", None)


def picked(frame: Frame) -> pl.DataFrame:
    """Return the rows of a frame that holds them, or that only picks columns of one that does."""
    rows = getattr(frame, "held", None)
    return collect_columns(frame.to_native()) if rows is None else rows


@dataclass(eq=False, slots=True)
class PolarsFrame:
    """A lazy frame of polars; its methods do what those of Narwhals do.

    Attributes
    ----------
    held : polars.DataFrame or None
        The rows, where they are computed: to pick columns of them takes no plan.
    """

    _native: pl.LazyFrame
    held: pl.DataFrame | None = None

    def to_native(self) -> pl.LazyFrame:
        return self._native

    def select(self, *columns: Column, **named: Column) -> PolarsFrame:
        if self.held is not None and {*map(type, columns), *map(type, named.values())} == {str}:
            rows = _columns(self.held, cast("Sequence[str]", columns), cast("Mapping[str, str]", named))
            return PolarsFrame(rows.lazy(), rows)
        return PolarsFrame(self._native.select(native_expressions(columns, named)))

    def with_columns(self, *columns: Column, **named: Column) -> PolarsFrame:
        return PolarsFrame(self._native.with_columns(native_expressions(columns, named)))

    def filter(self, *conditions: nw.Expr) -> PolarsFrame:
        return PolarsFrame(self._native.filter(native_expressions(conditions)))

    def drop(self, *columns: str) -> PolarsFrame:
        return PolarsFrame(self._native.drop(columns))

    def rename(self, names: Mapping[str, str]) -> PolarsFrame:
        return PolarsFrame(self._native.rename(dict(names)))

    def head(self, rows: int) -> PolarsFrame:
        return PolarsFrame(self._native.head(rows))

    def unique(self) -> PolarsFrame:
        return PolarsFrame(self._native.unique())

    def sort(self, *by: str, nulls_last: bool) -> PolarsFrame:
        return PolarsFrame(self._native.sort(by, nulls_last=nulls_last))

    def join(
        self,
        other: PolarsFrame,
        *,
        on: str | None = None,
        how: Any,
        left_on: str | None = None,
        right_on: str | None = None,
        suffix: str = "_right",
    ) -> PolarsFrame:
        order: Any = "left" if how == "left" else "none"
        sides: Any = {"left_on": left_on, "right_on": right_on, "suffix": suffix}
        return PolarsFrame(self._native.join(other.to_native(), on=on, how=how, maintain_order=order, **sides))

    def group_by(self, *keys: str) -> _Groups:
        return _Groups(self._native, keys)

    def collect_schema(self) -> nw.Schema:
        return nw.from_native(self._native).collect_schema()

    def collect(self) -> nw.DataFrame[pl.DataFrame]:
        return nw.from_native(self._native.collect(), eager_only=True)


def _columns(frame: pl.DataFrame, columns: Sequence[str], named: Mapping[str, str]) -> pl.DataFrame:
    """Return columns of a data frame, some under another name."""
    own = [*map(frame.get_column, columns)]
    return pl.DataFrame([*own, *(frame.get_column(column).alias(name) for name, column in named.items())])


class _Groups(NamedTuple):
    """The groups of a frame."""

    native: pl.LazyFrame
    keys: Sequence[str]

    def agg(self, *columns: nw.Expr) -> PolarsFrame:
        return PolarsFrame(self.native.group_by(self.keys).agg(native_expressions(columns)))
