"""What a call reads of a frame: columns by the plan's names, and what each is read for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import narwhals as nw

Use = Literal["key", "order", "model", "attribute", "relevance", "score", "value", "feature", "time", "nan", "exists"]
"""What a column is read for.

- key: values that are only compared for equality;
- order: values that are compared and sorted;
- model: values that are compared, and sorted by their first appearance;
- attribute: values that results carry along;
- relevance, score, value, feature: numbers;
- time: points in time;
- nan: 1.0 if a value is NaN and not missing, otherwise 0.0;
- exists: 1.0 if the frame has the column, otherwise 0.0.
"""


@dataclass(frozen=True)
class ColumnSpec:
    """One column to read from a frame, and what for."""

    column: str
    """Its name in the user's frame."""
    role: str
    """The role it plays, for messages."""
    use: Use
    default: float | None = None
    """The value of every row where the frame lacks the column; None: the column is required."""
    made: Callable[[nw.Expr], nw.Expr] | None = None
    """An expression that SQL computes from the column, without NaN, when it reads the column."""
    remedy: str = ""
    """What to do about a missing column, for messages, besides naming another one."""
    refuses_other_names: bool = False
    """Whether a frame that lacks the column is refused if another column has a name that surely means this role."""
    dated: bool | None = None
    """For a time, whether it is compared with dates, in microseconds, or with numbers. None: it is only sorted."""

    @cached_property
    def is_number(self) -> bool:
        """Whether the plan computes with the column."""
        return self.use in ("relevance", "score", "value", "feature", "time")

    @cached_property
    def may_be_bool(self) -> bool:
        """Whether true and false are numbers to the plan."""
        return self.use in ("relevance", "feature")

    @cached_property
    def is_flag(self) -> bool:
        """Whether the plan reads 1.0 or 0.0 in place of the column's values."""
        return self.use in ("nan", "exists")


@dataclass(frozen=True)
class Source:
    """One of the user's frames, and the columns to read from it by the plan's names."""

    native: Any
    specs: Mapping[str, ColumnSpec]
    unread: Sequence[ColumnSpec] = ()
    """Columns that the frame must have, although nothing reads them."""

    def with_specs(self, more: Mapping[str, ColumnSpec]) -> Source:
        """Return the same frame with more columns to read."""
        return replace(self, specs={**self.specs, **more})

    def with_native(self, native: Any) -> Source:
        """Return the same columns of another frame."""
        return replace(self, native=native)


def specs_of(sources: Mapping[str, Source]) -> dict[str, ColumnSpec]:
    """Return the columns to read, by the plan's names. If several frames name a column, the first decides its spec."""
    by_name: dict[str, ColumnSpec] = {}
    for source in sources.values():
        for name, spec in source.specs.items():
            by_name.setdefault(name, spec)
    return by_name


def columns_of(sources: Mapping[str, Source]) -> dict[str, dict[str, str]]:
    """Return the columns that are read from each frame: the user's names by the plan's names."""
    return {name: {plan: spec.column for plan, spec in source.specs.items()} for name, source in sources.items()}
