"""Calls on frames that hold no rows yet: checked at once, and made again with data frames when they are collected."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe._base.columns import Frame
    from recframe._engines.column_spec import Source


class PartReader(Protocol):
    """Collects parts of the lazy frames of a call, each named by the data frame without rows that stands for it."""

    def part(
        self, frames: Mapping[str, Any], keys: Mapping[str, str], opened: Mapping[str, Frame], index: int, of: int
    ) -> dict[str, Any]:
        """Return the rows of one part of the lists, as data frames by the names of the call's frames.

        Parameters
        ----------
        frames : dict of str to frame
            The data frames without rows that stand for the lazy frames, by their names in the call.
        keys : dict of str to str
            The user's columns of the key, by the plan's names.
        opened : dict of str to Frame
            The frames under the plan's names. Their keys have the types by which lists are assigned to parts.
        index : int
            The number of the part, from 0.
        of : int
            How many parts there are.
        """
        ...

    def distinct(self, frame: Any, columns: Sequence[str]) -> Any:
        """Return the distinct values of columns of all rows, in the order of their first rows."""
        ...

    def greatest(self, frame: Any, column: str) -> float:
        """Return the greatest number of a column in all rows, where a missing number counts as 0."""
        ...


class RowsNeededError(Exception):
    """Raised when a call first asks for the columns of a lazy frame: its arguments are checked by then."""


class ReleasedError(Exception):
    """Raised when a call reads rows that it has released: the call is then made again, and keeps its rows."""


@dataclass
class Rerun:
    """A postponed call that is made again.

    Attributes
    ----------
    dry : bool
        Whether the data frames have no rows: only the columns of the answer matter, and which columns the call reads.
    reader : PartReader, optional
        What collects parts of the frames, for a call that reads them in parts.
    columns : dict of int to set of str
        The columns that the call reads of each data frame, by the frame's identity.
    answered : set of int
        The data frames whose own rows the call returns, by their identity.
    parts : set of int
        The data frames that the call reads in parts, by their identity.
    owned : list
        The data frames, if the call may let go of their rows before it ends: nobody else holds them.
    keeps_keys : bool
        Whether keys are read as they are: numbers in place of text would differ from part to part.
    """

    dry: bool = False
    reader: PartReader | None = None
    columns: dict[int, set[str]] = field(default_factory=dict)
    answered: set[int] = field(default_factory=set)
    parts: set[int] = field(default_factory=set)
    owned: list[Any] = field(default_factory=list)
    keeps_keys: bool = False

    def note(self, *sources: Source) -> None:
        """Remember which columns of frames the call reads."""
        for source in sources:
            names = {spec.column for spec in (*source.specs.values(), *source.unread)}
            self.columns.setdefault(id(source.native), set()).update(names)


RERUN: ContextVar[Rerun | None] = ContextVar("rerun", default=None)
"""The postponed call that is being made again, if there is one."""


def is_dry() -> bool:
    """Return whether a postponed call is made with frames without rows, to learn the columns of its answer."""
    rerun = RERUN.get()
    return rerun is not None and rerun.dry
