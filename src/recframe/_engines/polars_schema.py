"""Checks lazy polars frames by their schemas, as data frames are checked before any work."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

from recframe.errors import ColumnTypeError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from recframe._engines.base import Engine
    from recframe._engines.column_spec import Source

KNOWS_SCHEMA_LATER = hasattr(pl.LazyFrame, "pipe_with_schema")
"""Whether polars calls a function with the schema when it resolves a plan, and not before."""
ALL_ROWS = dict.fromkeys(("predicate_pushdown", "projection_pushdown", "slice_pushdown"), False)
"""The arguments of polars that hand a function of a plan all rows and columns."""


def later(frame: pl.LazyFrame, function: Callable[[pl.LazyFrame, pl.Schema], pl.LazyFrame]) -> pl.LazyFrame:
    """Return what a function makes of a plan and its schema when polars resolves it; the plan where it does not."""
    return frame.pipe_with_schema(function) if KNOWS_SCHEMA_LATER else frame


class SchemaCheck:
    """The check of the lazy frames of one call, and the types in which their keys compare.

    Parameters
    ----------
    sources : dict of str to Source
        The frames, and the columns to read from each.
    eager : Engine
        The engine of data frames, which checks frames without rows of the same schemas.
    """

    def __init__(self, sources: Mapping[str, Source], eager: Engine) -> None:
        self._sources = sources
        self._eager = eager
        self._schemas: dict[str, pl.Schema] = {}
        self._types: dict[str, dict[str, pl.DataType]] = {}

    def now(self) -> None:
        """Raise for columns that are missing or of types that their roles cannot use."""
        self._check({name: source.native.collect_schema() for name, source in self._sources.items()})

    def native(self, name: str) -> pl.LazyFrame:
        """Return the user's frame, which is checked when polars resolves the plan of the answer, if it can."""
        return later(self._sources[name].native, partial(self._resolved, name))

    def aligned(self, name: str, frame: pl.LazyFrame) -> pl.LazyFrame:
        """Return the columns that were read from a frame, where keys will have the same types in all frames."""
        return frame if len(self._sources) == 1 else later(frame, partial(self._cast, name))

    def _resolved(self, name: str, frame: pl.LazyFrame, schema: pl.Schema) -> pl.LazyFrame:
        # Each part of a plan that reads a frame resolves its schema again; the next collect may find another file.
        if self._schemas.get(name) != schema:
            others = {other: source.native for other, source in self._sources.items() if other != name}
            self._check({name: schema} | {other: native.collect_schema() for other, native in others.items()})
        return frame

    def _check(self, schemas: dict[str, pl.Schema]) -> None:
        empty = {name: self._sources[name].with_native(pl.DataFrame(schema=schema)) for name, schema in schemas.items()}
        read = self._eager.open_frames(empty).frames
        for spec in (spec for source in empty.values() for spec in source.specs.values() if not spec.is_flag):
            if any(schema.get(spec.column) == pl.Object for schema in schemas.values()):
                msg = f"`{spec.role}={spec.column!r}` holds Python objects, which lazy frames cannot compare"
                raise ColumnTypeError(msg, "cast the column to text, or collect() the frame first")
        self._types = {name: dict(read[name].to_native().collect_schema()) for name in read}
        self._schemas = schemas

    def _cast(self, name: str, frame: pl.LazyFrame, schema: pl.Schema) -> pl.LazyFrame:
        if not self._types:
            # A plan that was stored and read again has several copies of this.
            self.now()
        # A column that may be absent has the type of whichever it is, and no other frame to match.
        specs = self._sources[name].specs.items()
        keys = [plan for plan, spec in specs if not (spec.is_number or spec.is_flag) and spec.default is None]
        types = self._types[name]
        unlike: dict[Any, pl.DataType] = {plan: types[plan] for plan in keys if types[plan] != schema[plan]}
        return frame.cast(unlike) if unlike else frame
