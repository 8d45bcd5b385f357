"""Engines: the only room that knows that polars and pandas differ.

A frame comes in through `open_frames`, which takes the columns that matter under the plan's own names, and
leaves through `Session.finish`. In between everything is a Narwhals lazy frame.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from recframe._engines.base import ColumnSpec, Session, Source, names_of
from recframe.errors import OptionTypeError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping


KINDS = (
    ("polars", "DataFrame", "polars"),
    ("polars", "LazyFrame", "polars lazy"),
    ("pandas", "DataFrame", "pandas"),
    ("pyarrow", "Table", "pyarrow"),
    ("duckdb", "DuckDBPyRelation", "duckdb"),
    ("ibis", "Table", "ibis"),
    ("pyspark.sql", "DataFrame", "spark"),
)
"""The library and the class of each kind of frame."""
LAZY = {
    "polars lazy": "collect the frame first",
    "duckdb": "take the rows out first: recframe.rec(relation.pl())",
    "ibis": "take the rows out first: recframe.rec(table.to_polars())",
    "spark": "take the rows out first: recframe.rec(frame.toArrow())",
}
"""The kinds of frames that are plans, and how to make frames of them that hold their rows."""


def kind_of(frame: object) -> str | None:
    """Return the kind of a frame, such as ``"polars lazy"`` or ``"duckdb"``; None for what is no supported frame."""
    for library, name, kind in KINDS:
        # A frame's library is imported already, so nothing is imported here.
        module = sys.modules.get(library)
        if module is not None and isinstance(frame, getattr(module, name, ())):
            return kind
    return None


def is_lazy(frame: object) -> bool:
    """Return whether a frame is a plan, so that answers must stay frames."""
    return kind_of(frame) in LAZY


def how_to_gather(frame: object) -> str:
    """Return the remedy for what a lazy frame cannot do."""
    return LAZY[kind_of(frame) or ""]


def check_holds_rows(frame: object) -> None:
    """Raise for a frame of a library that only evaluates: rows of one's own come from polars and pandas frames."""
    kind = kind_of(frame)
    if kind is not None and not kind.startswith(("polars", "pandas")):
        msg = f"this takes frames of polars or pandas, but the frame is a {_type_name(frame)}"
        raise OptionTypeError(msg, LAZY.get(kind, "recframe.rec(polars.from_arrow(table))"))


def beside(frame: Any, other: Any) -> Any:
    """Return a frame that may stand beside another: a polars data frame beside a lazy one becomes lazy."""
    return other.lazy() if kind_of(frame) == "polars lazy" and kind_of(other) == "polars" else other


def open_frames(sources: Mapping[str, Source], either: dict[str, ColumnSpec], *, rows: Collection[str] = ()) -> Session:
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
    sources = {name: Source(beside(frame, source.native), source.takes) for name, source in sources.items()}
    for name, source in sources.items():
        if kind_of(source.native) != kind:
            msg = f"{name} is a {_type_name(source.native)}, but the frame is a {_type_name(frame)}"
            raise OptionTypeError(msg, f"give both as {_type_name(frame)}")
    if kind == "pyarrow":
        from recframe._engines import arrow

        frames = {name: Source(arrow.as_frame(source.native), source.takes) for name, source in sources.items()}
        return arrow.as_tables(open_frames(frames, either, rows=rows), sources)
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
        from recframe._engines import pandas

        return pandas.open_frames(sources, rows=rows)
    if kind == "duckdb":
        from recframe._engines import duckdb

        return duckdb.open_frames(sources)
    if kind == "ibis":
        from recframe._engines import ibis

        return ibis.open_frames(sources)
    if kind == "spark":
        from recframe._engines import spark

        return spark.open_frames(sources)
    from recframe._engines import polars

    return polars.open_lazy(sources) if kind == "polars lazy" else polars.open_eager(sources, rows=rows)


def _type_name(frame: object) -> str:
    return f"{type(frame).__module__.split('.')[0]} {type(frame).__name__}"
