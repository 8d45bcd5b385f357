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
    from collections.abc import Sequence

    from recframe._plan.query import Query

FIRST_ROWS = 10_000
"""How many of the first rows to look at."""


def first_rows(frame: Any) -> Any:
    """Return the first rows of a frame, or the frame itself if it is short."""
    return frame if len(frame) <= FIRST_ROWS else adapter_of(frame).as_narwhals(frame)[:FIRST_ROWS].to_native()


def with_first_list(frame: Any, query: Query) -> Any:
    """Return the first rows and the rest of the first row's list, or the frame itself if it is short."""
    return rows_of_sample(frame, *sample_of(frame, query.by))


def sample_of(frame: Any, keys: Sequence[Any]) -> tuple[int, nw.Series[Any] | None]:
    """Return how many of the first rows to look at, and which of the others belong to the first row's list, if any."""
    # Up to twice the rows, reading all of them is faster than picking some.
    if len(frame) <= 2 * FIRST_ROWS:
        return len(frame), None
    rows = adapter_of(frame).as_narwhals(frame)
    columns = [values_of(rows, name) for name in keys if name in rows.columns]
    if not columns or len(columns) < len(keys) or not all(is_comparable(key) and key[0] is not None for key in columns):
        return FIRST_ROWS, None
    of_first = reduce(and_, (equal_to(key[FIRST_ROWS:], key[0]) for key in columns))
    return FIRST_ROWS, of_first if of_first.any() else None


def rows_of_sample(frame: Any, first: int, others: nw.Series[Any] | None) -> Any:
    """Return the first rows of a frame, and the marked ones among the others."""
    adapter = adapter_of(frame)
    if others is not None:
        return adapter.first_rows_and(frame, first, others)
    return frame if len(frame) == first else adapter.as_narwhals(frame)[:first].to_native()


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
