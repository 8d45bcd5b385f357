"""DuckDB relations."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from engines.arrow import Arrow
from engines.base import columns_of, python_value
from engines.polars import Polars

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engines.base import Data


class DuckDB(Arrow):
    """DuckDB relations on PyArrow tables."""

    name = library = "duckdb"
    lazy, sorts, share = True, False, 8
    kinds = Polars.kinds

    @cached_property
    def connection(self) -> Any:
        import duckdb

        return duckdb.connect(config={"threads": 1})

    def frame(self, data: Data, kinds: Mapping[str, str] | None = None) -> Any:
        relation = self.connection.from_arrow(self.table(data, kinds))
        for name, kind in (kinds or {}).items():
            if kind == "enum" and name in relation.columns:
                relation = self.enum(
                    relation, name, sorted({value for value in columns_of(data)[name] if value is not None})
                )
        return relation

    def enum(self, frame: Any, column: str, values: Sequence[str]) -> Any:
        listed = ", ".join(f"'{value}'" for value in values)
        return frame.project(f'* REPLACE ("{column}"::ENUM({listed}) AS "{column}")')

    def rows(self, result: Any) -> list[dict[str, Any]]:
        import duckdb

        assert isinstance(result, duckdb.DuckDBPyRelation), f"a relation in, {type(result)} out"
        names = result.columns
        return [dict(zip(names, map(python_value, row), strict=True)) for row in result.fetchall()]
