"""Ibis tables: an expression of whatever backend the table has."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import narwhals as nw

from recframe._columns import POSITION
from recframe._engines.base import lazy
from recframe._engines.sql import SqlEngine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from narwhals.dtypes import DType

    from recframe._columns import Frame

ibis: Any = import_module("ibis")
"""By name, so that type checkers do without it."""


class Ibis(SqlEngine):
    """Ibis expressions, which need no connection."""

    remedy = "fetch the rows first: table.to_polars()"

    def items_frame(self, column: str, items: list[Any]) -> Any:
        return ibis.memtable(import_module("pyarrow").table({column: items}))

    def join(self, left: Frame, right: Frame, on: Sequence[str]) -> Frame:
        here, there = left.to_native(), right.to_native()
        # Names of their own, so that no column of the result needs a second look at where it came from.
        there = there.rename({f"there {name}": name for name in on})
        matches = [here[name].identical_to(there[f"there {name}"]) for name in on]
        return lazy(here.left_join(there, matches).drop(*(f"there {name}" for name in on)))

    def repeat(self, frame: Frame, times: str) -> Frame:
        native = frame.to_native()
        numbers = ibis.range(ibis.literal(1, "int64"), native[times].cast("int64") + 1)
        return lazy(native.mutate(numbers.unnest().name(POSITION)))

    def positions(self, upto: int | Frame) -> Frame:
        if isinstance(upto, int):
            return lazy(ibis.range(1, upto + 1).unnest().cast("int64").name(POSITION).as_table())
        native = upto.to_native()
        (last,) = native.columns
        end = native[last].fill_null(0).cast("int64") + 1
        return lazy(native.select(ibis.range(ibis.literal(1, "int64"), end).unnest().name(POSITION)))

    def cast(self, frame: Frame, column: str, dtype: DType) -> Frame:
        if not isinstance(dtype, nw.Int128):
            return super().cast(frame, column, dtype)
        # What no integer of ibis holds, a decimal does.
        native = frame.to_native()
        return lazy(native.mutate(native[column].cast("decimal(38, 0)").name(column)))

    def untyped(self, native: Any) -> set[str]:
        return set(native.schema().null_fields)
