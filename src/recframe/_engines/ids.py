"""Ids of users and items: looked up in the columns of frames, and put back into the frames of answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from recframe.errors import ColumnTypeError, MissingColumnError, closest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Array = np.ndarray[Any, np.dtype[Any]]

NAMED = 3
"""How many ids a message names."""


class IdColumns(Protocol):
    """Looks up ids in columns, and makes frames of ids; each library has its own."""

    def ids(self, given: Any, like: Any, column: str) -> Any:
        """Return ids as a column of the library, of the type of a frame's column where there is one."""
        ...

    def look_up(self, frame: Any, column: str, ids: Any) -> Array:
        """Return the place of each of a column's values among the ids, -1 for what is not there."""
        ...

    def append_unknown_ids(self, frame: Any, column: str, rows: Array, ids: Any) -> tuple[Any, Array]:
        """Return the ids with the distinct values of some rows appended, and the places of these rows' values."""
        ...

    def some(self, frame: Any, column: str, chosen: Array) -> list[Any]:
        """Return a few values of a column, by the numbers of their rows."""
        ...

    def numbers(self, frame: Any, column: str) -> Array:
        """Return a column of numbers as floats, missing 0."""
        ...

    def order(self, ids: Any) -> Array:
        """Return the order of the ids, the least first."""
        ...

    def repeated(self, ids: Any) -> list[Any]:
        """Return the first of the ids that repeat, if any."""
        ...

    def first(self, ids: Any) -> list[Any]:
        """Return the first ids."""
        ...

    def frame(self, ids: Mapping[str, tuple[Any, Array]], numbers: Mapping[str, Array]) -> Any:
        """Return a frame of ids, by their places, and of numbers; a negative integer is missing."""
        ...


def check_column(there: Sequence[Any], column: str) -> None:
    """Raise if a column is not among those of a frame."""
    if column not in there:
        msg = f"{column!r}: the frame has no such column; it has {', '.join(map(repr, there))}"
        raise MissingColumnError(msg, closest(column, map(str, there)))


def unlike_ids(column: str, dtype: object, ids: object) -> ColumnTypeError:
    """Return the error for a column whose values never match the ids."""
    msg = f"{column!r} has the type {dtype}, but the ids of the factors are {ids}"
    return ColumnTypeError(msg, "cast one of them, else no row would match")


def no_number(column: str, dtype: object) -> ColumnTypeError:
    """Return the error for a column of relevance that holds no numbers."""
    msg = f"{column!r} has the type {dtype}, but relevance is bool, integer or float"
    return ColumnTypeError(msg, "cast the column to a number first")


def as_list(given: Any) -> Any:
    """Return ids of another library, or any iterable, as what polars accepts."""
    if isinstance(given, np.ndarray | list):
        return given
    to_list = getattr(given, "to_list", getattr(given, "tolist", None))
    return list(given) if to_list is None else to_list()
