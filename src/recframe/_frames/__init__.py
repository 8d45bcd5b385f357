"""Engines: the only room that knows that polars and pandas differ.

A frame comes in through `open_frames`, which takes the columns that matter under the plan's own names, and
leaves through `Session.finish`. In between everything is a Narwhals lazy frame.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from recframe._frames._beside import feature_columns, items_frame
from recframe._frames._session import Engine, Session, Source, Take, names_of
from recframe.errors import OptionTypeError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

__all__ = [
    "Engine",
    "Session",
    "Source",
    "Take",
    "beside",
    "feature_columns",
    "is_lazy",
    "items_frame",
    "kind_of",
    "names_of",
    "open_frames",
]


def kind_of(frame: object) -> str | None:
    """Return ``"polars"``, ``"polars lazy"`` or ``"pandas"``, or None for what is no supported frame."""
    # A frame's library is imported already, so nothing is imported here.
    polars, pandas = sys.modules.get("polars"), sys.modules.get("pandas")
    if polars is not None and isinstance(frame, polars.DataFrame):
        return "polars"
    if polars is not None and isinstance(frame, polars.LazyFrame):
        return "polars lazy"
    if pandas is not None and isinstance(frame, pandas.DataFrame):
        return "pandas"
    return None


def is_lazy(frame: object) -> bool:
    """Return whether a frame is a plan, so that answers must stay frames."""
    return kind_of(frame) == "polars lazy"


def beside(frame: Any, other: Any) -> Any:
    """Return a frame that may stand beside another: a polars data frame beside a lazy one becomes lazy."""
    return other.lazy() if kind_of(frame) == "polars lazy" and kind_of(other) == "polars" else other


def open_frames(sources: Mapping[str, Source], either: dict[str, Take], *, rows: Collection[str] = ()) -> Session:
    """Take the columns that matter out of frames of the same kind.

    Parameters
    ----------
    sources : dict of str to Source
        The user's frames by their names: ``"frame"``, and whatever stands beside it.
    either : dict of str to Take
        What to take from ``"truth"`` if it is there, else from ``"frame"``.
    rows : collection of str
        The frames whose rows to number, which must be eager.
    """
    frame = sources["frame"].native
    kind = kind_of(frame)
    for name, source in sources.items():
        if kind_of(source.native) != kind:
            msg = f"{name} is a {_type_name(source.native)}, but the frame is a {_type_name(frame)}"
            raise OptionTypeError(msg, f"give both as {_type_name(frame)}")
    if either:
        # The only question that a lazy frame's schema must answer.
        there = names_of(sources["truth"].native)
        found = {name: take for name, take in either.items() if take.column in there}
        rest = {name: take for name, take in either.items() if name not in found}
        sources = {
            **sources,
            "frame": sources["frame"].with_takes(rest),
            "truth": sources["truth"].with_takes(found),
        }
    if kind == "pandas":
        from recframe._frames import _pandas

        return _pandas.open_frames(sources, rows=rows)
    from recframe._frames import _polars

    return _polars.open_lazy(sources) if kind == "polars lazy" else _polars.open_eager(sources, rows=rows)


def _type_name(frame: object) -> str:
    return f"{type(frame).__module__.split('.')[0]} {type(frame).__name__}"
