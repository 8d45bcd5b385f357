"""Frames made of lists and values: what each library that makes frames provides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Constructors(Protocol):
    """Makes frames; a module for each library."""

    def is_series(self, value: object) -> bool:
        """Return whether a value is a column of the library."""
        ...

    def table(self, columns: Mapping[str, Any]) -> Any:
        """Return a frame from columns, each a sequence or a series."""
        ...

    def distinct(self, frame: Any, columns: Sequence[str]) -> Any:
        """Return the distinct values of some columns, as a lazy frame if the frame is lazy."""
        ...

    def uneven(self, frame: Any, columns: Sequence[str]) -> int:
        """Return how many rows hold lists of different lengths."""
        ...

    def check_lists(self, frame: Any, role: str, column: str) -> None:
        """Raise if a column does not hold lists."""
        ...

    def explode(self, frame: Any, keys: Sequence[str], lists: Mapping[str, str], rank_column: str | None) -> Any:
        """Return one row for each element of parallel lists.

        Parameters
        ----------
        frame : frame
            The keys and the lists.
        keys : sequence of str
            The columns that are repeated.
        lists : dict of str to str
            The columns of lists, by the names of the columns of their elements.
        rank_column : str, optional
            A column to add: the position of an element, from 1.
        """
        ...

    def priced(self, frame: Any, item: str, prices: Mapping[Any, Any], value: str) -> Any:
        """Add a column with the value of each item, missing for an item without one."""
        ...

    def reorder(self, frame: Any, columns: Sequence[str]) -> Any:
        """Return some columns in this order."""
        ...

    def implode(self, frame: Any, ranked: Any, keys: Sequence[str], columns: Sequence[str], rank: str) -> Any:
        """Return one row for each list, with the values of its ranked rows as lists.

        Parameters
        ----------
        frame : frame
            The user's rows. A list without ranked rows has empty lists.
        ranked : frame
            The ranked rows, with the keys, the columns and the rank.
        keys : sequence of str
            The columns that identify a list.
        columns : sequence of str
            The columns of `ranked` whose values become lists.
        rank : str
            The column of `ranked` that orders the values.
        """
        ...

    def fields(self, lines: bytes, names: Sequence[str], number: str | None, columns: Mapping[str, str]) -> Any:
        """Return fields between single spaces as a frame, or None if a line cannot be read.

        Parameters
        ----------
        lines : bytes
            The lines, each with its end.
        names : sequence of str
            The names of their fields.
        number : str or None
            The field that is a number, if there is one; the others are text.
        columns : mapping of str to str
            The names of the frame's columns, by the names of the fields.
        """
        ...
