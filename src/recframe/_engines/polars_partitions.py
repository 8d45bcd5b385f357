"""Lazy polars frames in parts: one at a time, so that memory holds the ranking of a part only."""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, Any

import polars as pl
from polars.io import plugins

from recframe._engines.polars_compat import VERSION
from recframe._engines.polars_frame import lazy
from recframe._engines.polars_schema import KNOWS_SCHEMA_LATER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from recframe._columns import Frame


STREAMING: dict[str, Any] = {"engine": "streaming"} if "engine" in signature(pl.collect_all).parameters else {}
"""How several plans are computed in morsels; older versions do not."""
GIVES_SCHEMA_LATER = VERSION >= (1, 30)
"""Whether a source may give its schema when its plan is resolved."""


def part(frame: Frame, keys: Sequence[str], index: int, of: int) -> Frame:
    """Return the rows of one part of the lists, by a hash of their key."""
    key = pl.col(keys[0]) if len(keys) == 1 else pl.struct(list(keys))
    return lazy(frame.to_native().filter(key.hash() % of == index))


def collect_together(frames: Sequence[Frame]) -> list[Frame]:
    """Compute several plans in one go, so that they read their files once."""
    return [lazy(collected) for collected in pl.collect_all([frame.to_native() for frame in frames], **STREAMING)]


def deferred(compute: Callable[[], pl.LazyFrame], schema: Callable[[], pl.Schema]) -> pl.LazyFrame:
    """Return a lazy frame whose rows are computed when it is collected."""

    def source(
        columns: list[str] | None,
        predicate: pl.Expr | None,
        rows: int | None,
        size: int | None,  # noqa: ARG001
    ) -> Iterator[pl.DataFrame]:
        frame = compute()
        frame = frame if predicate is None else frame.filter(predicate)
        frame = frame if rows is None else frame.head(rows)
        yield (frame if columns is None else frame.select(columns)).collect()

    if not KNOWS_SCHEMA_LATER:
        return plugins.register_io_source(source, schema=schema if GIVES_SCHEMA_LATER else schema())
    # Errors of the schema pass through this callback as they are; those of a source's schema become polars' own.
    return pl.LazyFrame().pipe_with_schema(lambda *_: plugins.register_io_source(source, schema=schema()))
