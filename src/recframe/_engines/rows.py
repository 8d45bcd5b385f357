"""What each library provides for calls that return the user's own rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe._base.columns import Frame
    from recframe._engines.base import Engine
    from recframe._engines.column_spec import Source

OTHER_ROW = "other_row"
MODEL_ROW = "model_row"


class Rows(ABC):
    """The frames of a call that returns the user's rows: renamed for the plan, with the way back to the user's names.

    Rows are numbered, and only what the call reads goes through the plan.

    Attributes
    ----------
    engine : Engine
        The engine that computes the frames.
    frames : mapping of str to Frame
        The frames under the plan's names.
    row : list of str
        The name of the column of row numbers, in a list, to put beside the names of keys.
    """

    def __init__(
        self, sources: Mapping[str, Source], engine: Engine, frames: Mapping[str, Frame], row: list[str]
    ) -> None:
        self._sources = sources
        self.engine = engine
        self.frames = frames
        self.row = row

    @abstractmethod
    def pick(self, result: Frame, new: Mapping[str, str], sort: Sequence[str] = ()) -> Any:
        """Return the user's rows of ``"frame"`` whose numbers are in a result, with new columns.

        Parameters
        ----------
        result : Frame
            The row numbers, each at most once, and the new columns.
        new : dict of str to str
            The user's names of the new columns, by the plan's names.
        sort : sequence of str, optional
            The user's names of the columns to sort by. Otherwise rows keep the user's order.
        """

    @abstractmethod
    def extend(
        self, result: Frame, added: Frame, names: Mapping[str, str], new: Mapping[str, str], model: str | None = None
    ) -> Any:
        """Return what `pick` does, with rows of ``"truth"`` below.

        Parameters
        ----------
        result : Frame
            The rows of ``"frame"``.
        added : Frame
            The rows of ``"truth"``, with their row numbers in the column `OTHER_ROW`.
        names : dict of str to str
            The user's columns, in both frames, that are filled from ``"truth"``, by the plan's names.
        new : dict of str to str
            The user's names of the new columns, by the plan's names. A column that the frame lacks gets the type of the
            truth's column of this name, or becomes integers. Other columns may hold numbers of any type.
        model : str, optional
            The user's column of models. Rows of ``"truth"`` get its value from a row of ``"frame"``, whose number is in
            the column `MODEL_ROW` of `added`.
        """
