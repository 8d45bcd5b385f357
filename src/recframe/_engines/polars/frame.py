"""A frame of polars with the methods of Narwhals' lazy frames that the plan uses.

On a small frame, Narwhals takes longer to check and convert a step than polars takes to compute it. So each step is
done by polars directly, and each expression is converted only once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, cast
from weakref import ref

import narwhals as nw
import polars as pl

from recframe._engines.polars.compat import collect_columns
from recframe._engines.postponed import ReleasedError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from recframe._base.columns import Frame

    Column = str | nw.Expr
    Facts = dict[str, list[Any]]
    """Facts about computed columns: an empty list if nothing is known. Otherwise the least and the largest number,
    whether all numbers are integers, and whether some values are missing."""


def lazy(native: pl.DataFrame | pl.LazyFrame) -> Frame:
    """Return a frame of polars for the plan. It is typed as a frame of Narwhals, and has the methods that are used."""
    return cast("Frame", PolarsFrame(native.lazy(), native if isinstance(native, pl.DataFrame) else None))


def computed_rows(frame: Frame) -> pl.DataFrame | None:
    """Return the rows of a frame if they are computed already, and None otherwise."""
    return getattr(frame, "rows", None)


def eager_rows(frame: Frame) -> pl.DataFrame:
    """Return the rows of a frame. It should be computed already, or only select columns of a computed frame."""
    rows = getattr(frame, "rows", None)
    return collect_columns(frame.to_native()) if rows is None else rows


@dataclass(eq=False, slots=True)
class PolarsFrame:
    """A lazy frame of polars with methods like Narwhals' lazy frames.

    Attributes
    ----------
    rows : polars.DataFrame or None
        The rows, if they are computed already. Columns can then be selected without a plan.
    facts : dict of str to list
        Facts about computed columns. Frames that select these columns share the facts.
    is_untied : bool
        Whether the rows are ranked without ties, and sorted by list and position.
    """

    _native: pl.LazyFrame | None
    rows: pl.DataFrame | None = None
    facts: Facts = field(default_factory=dict)
    is_untied: bool = False

    def to_native(self) -> pl.LazyFrame:
        if self._native is None:
            raise ReleasedError
        return self._native

    def release(self, columns: Collection[str] | None) -> None:
        """Free the rows, or some of their columns, because nothing reads them anymore."""
        if columns is None:
            self._native = self.rows = None
        elif self.rows is not None:
            self.rows = self.rows.drop(columns, strict=False)
            self._native = self.rows.lazy()

    def select(self, *columns: Column, **named: Column) -> PolarsFrame:
        if self.rows is not None and {*map(type, columns), *map(type, named.values())} == {str}:
            picks = cast("dict[str, str]", dict(zip(columns, columns, strict=True)) | named)
            rows = pl.DataFrame([self.rows.get_column(column).alias(name) for name, column in picks.items()])
            facts = {name: self.facts.setdefault(column, []) for name, column in picks.items()}
            return PolarsFrame(rows.lazy(), rows, facts)
        return PolarsFrame(self.to_native().select(native_expressions(columns, named)))

    def with_columns(self, *columns: Column, **named: Column) -> PolarsFrame:
        rows = self.to_native().with_columns(native_expressions(columns, named))
        return PolarsFrame(rows, is_untied=self.is_untied)

    def filter(self, *conditions: nw.Expr) -> PolarsFrame:
        return PolarsFrame(self.to_native().filter(native_expressions(conditions)), is_untied=self.is_untied)

    def drop(self, *columns: str) -> PolarsFrame:
        return PolarsFrame(self.to_native().drop(columns), is_untied=self.is_untied)

    def rename(self, names: Mapping[str, str]) -> PolarsFrame:
        return PolarsFrame(self.to_native().rename(dict(names)))

    def head(self, rows: int) -> PolarsFrame:
        return PolarsFrame(self.to_native().head(rows))

    def unique(self) -> PolarsFrame:
        return PolarsFrame(self.to_native().unique())

    def sort(self, *by: str, nulls_last: bool) -> PolarsFrame:
        return PolarsFrame(self.to_native().sort(by, nulls_last=nulls_last))

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
        return PolarsFrame(self.to_native().join(other.to_native(), on=on, how=how, maintain_order=order, **sides))

    def group_by(self, *keys: str) -> _Groups:
        return _Groups(self.to_native(), keys)

    def collect_schema(self) -> nw.Schema:
        return nw.from_native(self.to_native()).collect_schema()

    def collect(self) -> nw.DataFrame[pl.DataFrame]:
        return nw.from_native(self.to_native().collect(), eager_only=True)


class _Groups(NamedTuple):
    """The groups of a frame."""

    native: pl.LazyFrame
    keys: Sequence[str]

    def agg(self, *columns: nw.Expr) -> PolarsFrame:
        return PolarsFrame(self.native.group_by(self.keys).agg(native_expressions(columns)))


# --- expressions: the plan caches its expressions, so each one is converted only once, also for later calls -----------

_converted: dict[int, tuple[ref[nw.Expr], pl.Expr]] = {}
"""The converted version of each expression that is still in use, by `id`, because expressions cannot be hashed."""


class _Listener(pl.LazyFrame):
    """A frame that records the expressions which Narwhals selects from it, instead of computing them."""

    heard: Sequence[pl.Expr] = ()

    def select(self, *expressions: Any, **named: Any) -> pl.LazyFrame:  # noqa: ARG002
        self.heard = expressions
        return self


def native_expressions(
    columns: Sequence[str | nw.Expr], named: Mapping[str, str | nw.Expr] | None = None
) -> list[str | pl.Expr]:
    """Return columns as names and expressions of polars; `named` columns get their new names."""
    natives: list[str | pl.Expr] = []
    for column in columns:
        if isinstance(column, str):
            natives.append(column)
        else:
            cached = _converted.get(id(column))
            natives.append(_convert(column) if cached is None else cached[1])
    if named:
        for name, other in zip(named, native_expressions([*named.values()]), strict=True):
            natives.append((pl.col(other) if isinstance(other, str) else other).alias(name))
    return natives


def native(expression: nw.Expr) -> pl.Expr:
    """Return an expression of Narwhals as an expression of polars."""
    (converted,) = native_expressions([expression])
    return cast("pl.Expr", converted)


def _convert(expression: nw.Expr) -> pl.Expr:
    """Return an expression of polars, and cache it as long as the expression of Narwhals exists."""
    listener = _Listener()
    nw.from_native(listener).select(expression)
    (native,) = listener.heard
    number = id(expression)
    cache = _converted  # a local name, because a module loses its names when Python ends

    def forget(_: ref[nw.Expr]) -> None:
        cache.pop(number, None)

    cache[number] = ref(expression, forget), native
    return native
