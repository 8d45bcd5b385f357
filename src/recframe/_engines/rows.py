"""Calls that answer with the user's own rows: what each library provides for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe._columns import Frame

EngineT_co = TypeVar("EngineT_co", covariant=True)
OTHER_ROW, MODEL_ROW = "other_row", "model_row"


class Rows(Protocol[EngineT_co]):
    """Of calls that return the user's rows: the frames under the plan's names, and the way back.

    An eager frame's rows are numbered, and only what the call reads goes through the plan. A lazy frame keeps all of
    its columns, under other names than the plan's.
    """

    @property
    def engine(self) -> EngineT_co:
        """What the frames are computed with."""
        ...

    @property
    def frames(self) -> Mapping[str, Frame]:
        """The frames under the plan's names."""
        ...

    @property
    def row(self) -> list[str]:
        """The column of row numbers, where rows are numbered."""
        ...

    def pick(self, result: Frame, new: Mapping[str, str], sort: Sequence[str] = ()) -> Any:
        """Return the rows of ``"frame"`` that a result holds, with new columns under the user's names.

        Rows keep their order, or are sorted by the user's columns; those of a lazy frame come in any order.
        """
        ...

    def extend(
        self, result: Frame, added: Frame, names: Mapping[str, str], new: Mapping[str, str], model: str | None = None
    ) -> Any:
        """Return what `pick` does, with rows of ``"truth"`` below.

        Parameters
        ----------
        result : Frame
            The rows of ``"frame"``.
        added : Frame
            The others: their row numbers as `OTHER_ROW` where rows are numbered, else their columns of `names`.
        names : dict of str to str
            The user's names, in both frames, of what comes from the other frame.
        new : dict of str to str
            The user's names of the new columns of both. They get the type of the truth's column of that name, or
            become whole numbers where it has none; those that come from both frames stay numbers of any type.
        model : str, optional
            The user's column of models, filled from the rows of ``"frame"`` whose numbers are `MODEL_ROW`.
        """
        ...
