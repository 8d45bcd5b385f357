"""Ibis tables in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engines.arrow import Arrow
from engines.base import python_value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engines.base import Data


class Ibis(Arrow):
    """Ibis tables in memory, which DuckDB reads."""

    name = library = "ibis"
    lazy, sorts, share = True, False, 24  # it writes SQL for DuckDB, which has a larger share itself

    def frame(self, data: Data, kinds: Mapping[str, str] | None = None) -> Any:
        import ibis

        return ibis.memtable(self.table(data, kinds))

    def rows(self, result: Any) -> list[dict[str, Any]]:
        import ibis

        assert isinstance(result, ibis.Table), f"an expression in, {type(result)} out"
        return [{name: python_value(value) for name, value in row.items()} for row in self.fetched(result).to_pylist()]

    def fetched(self, result: Any) -> Any:
        """Return the rows of an expression as a table of PyArrow."""
        return result.to_pyarrow()
