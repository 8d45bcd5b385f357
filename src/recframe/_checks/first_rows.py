"""The first rows of an eager frame, for checks that must be nearly free."""

from __future__ import annotations

from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any

import narwhals as nw

from recframe._base.columns import MODEL
from recframe._checks.definitions import is_comparable, values_of
from recframe._checks.findings import ROWS
from recframe._checks.opened import RowsToCheck
from recframe._engines.column_spec import ColumnSpec, Source
from recframe._engines.registry import adapter_of, open_frames
from recframe._plan.sources import key_specs, with_list_key

if TYPE_CHECKING:
    from recframe._plan.query import Query

FIRST_ROWS = 10_000
"""How many of the first rows to look at."""


def first_rows(frame: Any) -> Any:
    """Return the first rows of a frame, or the frame itself if it is short."""
    return frame if len(frame) <= FIRST_ROWS else adapter_of(frame).as_narwhals(frame)[:FIRST_ROWS].to_native()


def with_first_list(frame: Any, query: Query) -> Any:
    """Return the first rows and the rest of the first row's list, or the frame itself if it is short."""
    # Up to twice the rows, reading all of them is faster than picking some.
    if len(frame) <= 2 * FIRST_ROWS:
        return frame
    adapter = adapter_of(frame)
    rows = adapter.as_narwhals(frame)
    keys = [values_of(rows, name) for name in query.by if name in rows.columns]
    if keys and len(keys) == len(query.by) and all(is_comparable(key) and key[0] is not None for key in keys):
        of_first = reduce(and_, (equal_to(key[FIRST_ROWS:], key[0]) for key in keys))
        if of_first.any():
            return adapter.first_rows_and(frame, FIRST_ROWS, of_first)
    return rows[:FIRST_ROWS].to_native()


def equal_to(column: Any, value: Any) -> Any:
    """Return which values of a column equal a value; polars would read bytes as a whole column."""
    if isinstance(value, int) and value >= 2**63:  # pandas gives it to Arrow as a signed number
        return column.cast(nw.String()) == str(value)
    return column.is_in([value]) if isinstance(value, bytes) else column == value


def open_rows_of(frame: Any, query: Query, specs: dict[str, ColumnSpec]) -> RowsToCheck:
    """Return some columns of the rows together with their list key, under the plan's names."""
    keys = key_specs(query)
    session = open_frames({"frame": Source(frame, keys | specs)}, {})
    rows, key = with_list_key(session.frames["frame"], keys)
    return RowsToCheck(
        session.engine, rows.with_columns(nw.lit(1.0).alias(ROWS)), key, [MODEL] if MODEL in specs else []
    )
