"""What every engine offers the plan, and what all of them check alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import narwhals as nw

from recframe.errors import ColumnTypeError, InputError, MissingColumnError, closest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from recframe._columns import Frame


Later: TypeAlias = "Callable[[], Frame]"
"""A frame that is built beside others, and may have to be waited for."""
Use = Literal["key", "order", "attribute", "relevance", "score", "value", "feature", "time", "nan", "there"]
"""What a column is for: compared only, sorted too, carried along, a number, or a point in time; or to be told where it
is NaN and not missing, or whether the frame has it at all, both as 1.0 or 0.0."""


@dataclass(frozen=True)
class ColumnSpec:
    """One column to take from a frame, and what it is for."""

    column: str
    """Its name in the user's frame."""
    role: str
    """The role it plays, for messages."""
    use: Use
    default: float | None = None
    """What stands for the column where the frame lacks it; None: it must be there."""
    dated: bool | None = None
    """Of a time: whether it is compared with dates, and comes in microseconds, or with numbers; None: ordered only."""

    @property
    def is_number(self) -> bool:
        """Whether the plan computes with the column."""
        return self.use in ("relevance", "score", "value", "feature", "time")

    @property
    def may_be_bool(self) -> bool:
        """Whether true and false are numbers to the plan."""
        return self.use in ("relevance", "feature")

    @property
    def is_flag(self) -> bool:
        """Whether only something about the column matters."""
        return self.use in ("nan", "there")


@dataclass(frozen=True)
class Source:
    """One of the user's frames, and what to take from it by the plan's name for it."""

    native: Any
    takes: Mapping[str, ColumnSpec]

    def with_takes(self, more: Mapping[str, ColumnSpec]) -> Source:
        """Return the same with more to take."""
        return Source(self.native, {**self.takes, **more})


class Engine(Protocol):
    """What the plan needs beside Narwhals expressions."""

    eager: bool

    def settle(self, frame: Frame) -> Frame:
        """Compute a frame once for all its branches: an eager one now, a lazy one when it runs if its engine can."""
        ...

    def later(self, build: Later) -> Later:
        """Begin to build a frame whose rows are asked for later; an engine may do so beside what comes meanwhile."""
        ...

    def scalar(self, frame: Frame) -> Any:
        """Return the one value of an eager frame of one row and one column, None where it is missing."""

    def present(self, frame: Frame, column: str) -> Frame:
        """Return the rows whose value in the column is not missing."""
        ...

    def placed(
        self, frame: Frame, keys: Sequence[str], score: str, upto: int | None, only: nw.Expr | None
    ) -> Frame | None:
        """Return the rows whose tied blocks start among the first `upto`, with where, and how many rows these hold.

        Of them `only` those that an expression says, if there is one; all take their places.
        None where the engine has no way of its own.
        """
        ...

    def numbered(self, frame: Frame, keys: Sequence[str], column: str, *, descending: bool) -> Frame | None:
        """Return settled rows with their positions in their lists by a column, equal ones in any order.

        None where the engine has no way of its own.
        """
        ...

    def sum_by(self, frame: Frame, group: Sequence[str], columns: Sequence[str]) -> Frame:
        """Return the sums of columns in each group."""
        ...

    def join(self, left: Frame, right: Frame, on: Sequence[str]) -> Frame:
        """Join the right frame to the left one on keys, where a missing key equals a missing key."""
        ...

    def repeat(self, frame: Frame, times: str) -> Frame:
        """Repeat each row as often as a column says, at least once, and number the copies from 1."""
        ...

    def positions(self, upto: int | Frame) -> Frame:
        """Return the whole numbers from 1, up to a number or the one value of a frame."""
        ...


class Plain:
    """An engine that has no way of its own to place rows, which windows then rank, and does one thing at a time."""

    def later(self, build: Later) -> Later:
        frame = build()
        return lambda: frame

    def placed(
        self,
        frame: Frame,  # noqa: ARG002
        keys: Sequence[str],  # noqa: ARG002
        score: str,  # noqa: ARG002
        upto: int | None,  # noqa: ARG002
        only: nw.Expr | None,  # noqa: ARG002
    ) -> Frame | None:
        return None

    def numbered(
        self,
        frame: Frame,  # noqa: ARG002
        keys: Sequence[str],  # noqa: ARG002
        column: str,  # noqa: ARG002
        *,
        descending: bool,  # noqa: ARG002
    ) -> Frame | None:
        return None


@dataclass(frozen=True)
class Session:
    """Frames on their way through the plan."""

    engine: Engine
    frames: Mapping[str, Frame]
    finish: Callable[[Frame, Mapping[str, str], Sequence[str]], Any]
    """From the result, its new column names and the columns to sort by, to a frame of the user's kind."""
    columns: Mapping[str, Mapping[str, str]]
    """What came from each frame: the user's names by the plan's."""


def lazy(native: Any) -> Frame:
    """Return the Narwhals lazy frame of any supported frame."""
    frame: Frame = nw.from_native(native).lazy()
    return frame


def columns_of(sources: Mapping[str, Source]) -> dict[str, dict[str, str]]:
    """Return what comes from each frame: the user's names by the plan's."""
    return {name: {plan: take.column for plan, take in source.takes.items()} for name, source in sources.items()}


def names_of(frame: Any) -> list[Any]:
    """Return the names of a frame's columns, and of the levels of its index if it has one."""
    if hasattr(type(frame), "collect_schema"):
        return list(frame.collect_schema().names())
    if hasattr(type(frame), "column_names"):
        return list(frame.column_names)
    if isinstance(frame.columns, list | tuple):
        return list(frame.columns)
    return [*frame.columns, *(name for name in frame.index.names if name is not None)]


def check_names(name: str, source: Source) -> None:
    """Raise if a frame lacks a column."""
    which, there = called(name), names_of(source.native)
    for take in source.takes.values():
        if take.column not in there and take.default is None:
            names = ", ".join(repr(name) for name in there)
            msg = f"{take.role}={take.column!r}: {which} has no such column; it has {names}"
            raise MissingColumnError(msg, closest(take.column, map(str, there)))


def check_columns(name: str, source: Source) -> None:
    """Raise if an eager frame lacks a column or has no rows."""
    check_names(name, source)
    which, frame = called(name), source.native
    if len(frame) == 0:
        msg = f"{which} has no rows, so there is nothing to evaluate"
        raise InputError(msg)


def not_a_number(take: ColumnSpec, dtype: object) -> ColumnTypeError:
    """Return the error for a column whose type its role cannot use."""
    wanted = "bool, integer or float" if take.may_be_bool else "integer or float"
    msg = f"{take.role}={take.column!r} has the type {dtype}, but a {take.role} is {wanted}"
    return ColumnTypeError(msg, "cast the column to a number first")


def not_a_time(take: ColumnSpec, dtype: object) -> ColumnTypeError:
    """Return the error for a column that holds no points in time, or none of the kind that is asked for."""
    wanted, hint = {
        None: ("a date, a datetime or a number", "parse the column first"),
        True: ("a date or a datetime, as what it is compared with is one", "give a number instead, or cast the column"),
        False: ("a number, as what it is compared with is one", "give a datetime or a timedelta instead"),
    }[take.dated]
    msg = f"{take.role}={take.column!r} has the type {dtype}, but a {take.role} is {wanted}"
    return ColumnTypeError(msg, hint)


def no_lists(role: str, column: str, dtype: object) -> ColumnTypeError:
    """Return the error for a column that should hold lists."""
    return ColumnTypeError(f"{role}={column!r} has the type {dtype}, but lists are needed", "one list of items a row")


def unlike_keys(take: ColumnSpec, left: tuple[str, object], right: tuple[str, object]) -> ColumnTypeError:
    """Return the error for a key that has types in two frames, each named with its type, which never match."""
    types = ", but ".join(f"{dtype} in {called(name)}" for name, dtype in (left, right))
    msg = f"{take.role}={take.column!r} has the type {types}"
    return ColumnTypeError(msg, "cast one of them, else no row would match")


def called(name: str) -> str:
    """Return what messages call a frame."""
    return "the frame" if name == "frame" else name


def takes_of(sources: Mapping[str, Source]) -> dict[str, ColumnSpec]:
    """Return what is taken from any frame; the first of a name says what it is for."""
    found: dict[str, ColumnSpec] = {}
    for source in sources.values():
        for name, take in source.takes.items():
            found.setdefault(name, take)
    return found
