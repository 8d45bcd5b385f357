"""Ids of users and items: looked up in the columns of frames, and put back into the frames of answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from recframe.errors import ColumnTypeError, MissingColumnError, closest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Array = np.ndarray[Any, np.dtype[Any]]

EXAMPLES = 3
"""How many ids a message names."""


class IdColumns(ABC):
    """Looks up ids in columns, and makes frames of ids. Each library implements what Narwhals lacks or does slowly."""

    @abstractmethod
    def ids(self, ids: Any, like: Any, column: str) -> Any:
        """Return ids as a column of the library.

        If `like` is a frame, integers get the type of its column where their values fit. Ids that cannot match the
        column raise a `ColumnTypeError`, here or from `look_up`.
        """

    @abstractmethod
    def column(self, frame: Any, column: str) -> Any:
        """Return a column of a frame, by its exact name."""

    @abstractmethod
    def look_up(self, frame: Any, column: str, ids: Any) -> Array:
        """Return the position of each value of a column among the ids, from 0; -1 if it is not among them.

        Columns and ids of types that never match raise a `ColumnTypeError`.
        """

    @abstractmethod
    def append_unknown_ids(self, frame: Any, column: str, rows: Array, ids: Any) -> tuple[Any, Array]:
        """Return the ids with the distinct values of some rows appended, and the position of each row's value.

        `rows` are the numbers of the rows, none of whose values is among the ids.
        """

    @abstractmethod
    def order(self, ids: Any) -> Array:
        """Return the positions that sort the ids, the smallest id first."""

    @abstractmethod
    def frame(self, ids: Mapping[str, tuple[Any, Array]], numbers: Mapping[str, Array]) -> Any:
        """Return a frame with columns of ids and columns of numbers, in this order.

        A column of ids is a pair: the ids, and the position of each row's id among them. In a column of integers,
        a negative number becomes a missing value.
        """

    def typed(self, values: Any) -> Any:
        """Return a column of Python objects in the type of its values, and other columns unchanged."""
        return values

    def numbers(self, frame: Any, column: str) -> Array:
        """Return a column of numbers as floats, with 0 for missing values."""
        native = self.typed(self.column(frame, column))
        values = nw.from_native(native, series_only=True)
        if values.null_count() == len(values):
            return np.zeros(len(values))
        if not (values.dtype.is_numeric() or values.dtype == nw.Boolean()):
            msg = f"{column!r} has the type {native.dtype}, but relevance is bool, integer or float"
            raise ColumnTypeError(msg, "cast the column to a number first")
        numbers = values.cast(nw.Float64()).to_numpy()
        # A sum shows whether any number is NaN, in a fraction of the time of a test of each number.
        return np.where(np.isnan(numbers), 0.0, numbers) if np.isnan(numbers.sum()) else numbers

    def some(self, frame: Any, column: str, chosen: Array) -> list[Any]:
        """Return the first distinct values of some rows, for messages. `chosen` are the numbers of the rows."""
        return _examples(nw.from_native(self.column(frame, column), series_only=True)[chosen])

    def repeated(self, ids: Any) -> list[Any]:
        """Return the first ids that repeat, if any, for messages."""
        values = nw.from_native(ids, series_only=True)
        return _examples(values.filter(values.is_duplicated()))

    def first(self, ids: Any) -> list[Any]:
        """Return the first ids, for messages."""
        return _examples(nw.from_native(ids, series_only=True))


def _examples(values: nw.Series[Any]) -> list[Any]:
    """Return the first `EXAMPLES` distinct values of a column."""
    return values.unique(maintain_order=True).head(EXAMPLES).to_list()


def check_column(names: Sequence[Any], column: str) -> None:
    """Raise if a frame has no such column."""
    if column not in names:
        msg = f"{column!r}: the frame has no such column; it has {', '.join(map(repr, names)) or 'no columns'}"
        raise MissingColumnError(msg, closest(column, map(str, names)))


def unlike_ids(column: str, dtype: object, ids: object) -> ColumnTypeError:
    """Return the error for a column whose values never match the ids."""
    msg = f"{column!r} has the type {dtype}, but the ids of the factors are {ids}"
    return ColumnTypeError(msg, "cast one of them, because no row would match otherwise")


def as_list(ids: Any) -> Any:
    """Return ids of another library, or any iterable, in a form that polars accepts."""
    if isinstance(ids, np.ndarray | list):
        return ids
    to_list = getattr(ids, "to_list", getattr(ids, "tolist", None))
    return list(ids) if to_list is None else to_list()
