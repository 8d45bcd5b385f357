"""Engines: the only room that knows that polars and pandas differ.

A frame comes in through `open_frames`, which takes the columns that matter under the plan's own names, and
leaves through `Session.finish`. In between everything is a Narwhals lazy frame.
"""

from __future__ import annotations

import sys
from typing import Any

from recframe._frames._session import Engine, Session, Take, names_of
from recframe.errors import OptionTypeError

__all__ = ["Engine", "Session", "Take", "is_lazy", "kind_of", "open_frames"]


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


def open_frames(
    frame: Any,
    truth: Any,
    columns: dict[str, Take],
    truth_columns: dict[str, Take],
    either: dict[str, Take],
    *,
    rows: bool,
) -> Session:
    """Take the columns that matter out of one or two frames of the same kind.

    Parameters
    ----------
    frame, truth : frame
        The user's frames; the second may be None.
    columns, truth_columns : dict of str to Take
        What to take from each, by the plan's name for it.
    either : dict of str to Take
        What to take from the second frame if it is there, else from the first.
    rows : bool
        Whether to number the rows of the first, which must be eager.
    """
    kind = kind_of(frame)
    if truth is not None and kind_of(truth) != kind:
        msg = f"truth is a {_type_name(truth)}, but the frame is a {_type_name(frame)}"
        raise OptionTypeError(msg, f"give both as {_type_name(frame)}")
    if either:
        # The only question that a lazy frame's schema must answer.
        there = names_of(truth)
        found = {name: take for name, take in either.items() if take.column in there}
        truth_columns = truth_columns | found
        columns = columns | {name: take for name, take in either.items() if name not in found}
    if kind == "pandas":
        from recframe._frames import _pandas

        return _pandas.open_frames(frame, truth, columns, truth_columns, rows=rows)
    from recframe._frames import _polars

    if kind == "polars lazy":
        return _polars.open_lazy(frame, truth, columns, truth_columns)
    return _polars.open_eager(frame, truth, columns, truth_columns, rows=rows)


def _type_name(frame: object) -> str:
    return f"{type(frame).__module__.split('.')[0]} {type(frame).__name__}"
