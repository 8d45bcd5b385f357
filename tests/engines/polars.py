"""Polars frames, eager and lazy."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

import recframe
from engines.base import Engine, columns_of, kind_of, python_value
from strategies import leave_rows_out

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from engines.base import Data


def error_within(error: Exception) -> Exception:
    """Return the error of recframe whose name and text polars before 1.35 puts into an error of its own."""
    result = re.search(r"(\w+Error): (.*)", str(error), re.DOTALL)
    kind = getattr(recframe, result[1], None) if result else None
    return error if kind is None else kind(result[2])


class Polars(Engine):
    """Polars frames: eager, also as if they had many rows, or lazy under one of polars' own engines."""

    library = "polars"
    kinds = frozenset([
        "null", "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64",
        "str", "categorical", "enum", "date", "datetime",
    ])  # fmt: skip

    def __init__(self, name: str, *, lazy: bool, collect: str | None = None, many: bool = False) -> None:
        self.name, self.postpones = name, lazy
        self._collect, self._many = collect, many

    def _dtype(self, kind: str, values: Sequence[Any]) -> Any:
        import polars as pl

        if kind == "enum":
            return pl.Enum(sorted({value for value in values if value is not None}))
        return {
            "null": pl.Null, "bool": pl.Boolean, "str": pl.String, "categorical": pl.Categorical, "date": pl.Date,
            "datetime": pl.Datetime("us"), "object": pl.Object, "float32": pl.Float32, "float64": pl.Float64,
            "int8": pl.Int8, "int16": pl.Int16, "int32": pl.Int32, "int64": pl.Int64, "uint8": pl.UInt8,
            "uint16": pl.UInt16, "uint32": pl.UInt32, "uint64": pl.UInt64,
        }[kind]  # fmt: skip

    def frame(self, data: Data, kinds: Mapping[str, str] | None = None) -> Any:
        import polars as pl

        columns = columns_of(data)
        chosen = {name: (kinds or {}).get(name) or kind_of(values) for name, values in columns.items()}
        frame = pl.DataFrame(
            [
                pl.Series(name, values, dtype=self._dtype(chosen[name], values), strict=False)
                for name, values in columns.items()
            ]
        )
        return frame.lazy() if self.postpones else frame

    def enum(self, frame: Any, column: str, values: Sequence[str]) -> Any:
        import polars as pl

        return frame.with_columns(pl.col(column).cast(pl.Enum(values)))

    @contextmanager
    def running(self) -> Iterator[None]:
        """Let the few rows of tests be planned as many are."""
        with pytest.MonkeyPatch.context() as patch:
            if self._many:
                for module in ("adapter", "pack", "sort", "texts"):
                    patch.setattr(f"recframe._engines.polars.{module}.FEW_ROWS", 0)
                patch.setattr("recframe._engines.polars.sort.ROWS_AT_ONCE", 50)
                patch.setattr("recframe._engines.polars.sort.PIECE", 7)
                leave_rows_out(patch)
            yield

    def rows(self, result: Any) -> list[dict[str, Any]]:
        import polars as pl

        if self.postpones:
            assert isinstance(result, pl.LazyFrame), f"lazy in, {type(result)} out"
            try:
                result = result.collect(**({"engine": self._collect} if self._collect else {}))
            except pl.exceptions.ComputeError as error:
                raise error_within(error) from error
        assert isinstance(result, pl.DataFrame), f"polars in, {type(result)} out"
        return [{name: python_value(value) for name, value in row.items()} for row in result.to_dicts()]
