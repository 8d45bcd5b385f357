"""Polars' plans with the methods of Narwhals' lazy frames that the plan of a call uses.

Narwhals takes longer to check and convert a step than polars takes to compute it on a small frame. Here each step is
polars' own, and each expression is converted once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, cast
from weakref import ref

import narwhals as nw
import polars as pl

from recframe._engines.polars_compat import collect_columns
from recframe._engines.postponed import ReleasedError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from recframe._columns import Frame

    Column = str | nw.Expr
    Facts = dict[str, list[Any]]
    """What is known of columns that are held: nothing, or the least and the largest number, whether all are whole, and
    whether some are missing."""


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
    facts : dict of str to list
        What was looked up of columns that are held; frames that pick them share it.
    """

    _native: pl.LazyFrame | None
    held: pl.DataFrame | None = None
    facts: Facts = field(default_factory=dict)

    def to_native(self) -> pl.LazyFrame:
        if self._native is None:
            raise ReleasedError
        return self._native

    def release(self, columns: Collection[str] | None) -> None:
        """Let go of the rows, or of some columns of rows that are held: nothing reads them anymore."""
        if columns is None:
            self._native = self.held = None
        elif self.held is not None:
            self.held = self.held.drop(columns, strict=False)
            self._native = self.held.lazy()

    def select(self, *columns: Column, **named: Column) -> PolarsFrame:
        if self.held is not None and {*map(type, columns), *map(type, named.values())} == {str}:
            picks = cast("dict[str, str]", dict(zip(columns, columns, strict=True)) | named)
            rows = pl.DataFrame([self.held.get_column(column).alias(name) for name, column in picks.items()])
            facts = {name: self.facts.setdefault(column, []) for name, column in picks.items()}
            return PolarsFrame(rows.lazy(), rows, facts)
        return PolarsFrame(self.to_native().select(native_expressions(columns, named)))

    def with_columns(self, *columns: Column, **named: Column) -> PolarsFrame:
        return PolarsFrame(self.to_native().with_columns(native_expressions(columns, named)))

    def filter(self, *conditions: nw.Expr) -> PolarsFrame:
        return PolarsFrame(self.to_native().filter(native_expressions(conditions)))

    def drop(self, *columns: str) -> PolarsFrame:
        return PolarsFrame(self.to_native().drop(columns))

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


# --- expressions: the plan keeps those of metrics of earlier calls, so that a second call finds them converted --------

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
