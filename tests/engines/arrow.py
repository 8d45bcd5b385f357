"""PyArrow tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engines.base import Engine, columns_of, is_nan, kind_of, python_value
from engines.polars import Polars

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engines.base import Data


class Arrow(Engine):
    """PyArrow tables, which other engines read too."""

    name = library = "pyarrow"
    answers_with_rows = False
    share = 4
    kinds = Polars.kinds - {"enum"}

    def _dtype(self, kind: str) -> Any:
        import pyarrow as pa

        return {
            "null": pa.null(), "bool": pa.bool_(), "str": pa.string(), "categorical": pa.dictionary(pa.int32(), pa.string()),
            "enum": pa.string(), "date": pa.date32(), "datetime": pa.timestamp("us"), "decimal": pa.decimal128(20, 0),
        }.get(kind) or getattr(pa, kind)()  # fmt: skip

    def table(self, data: Data, kinds: Mapping[str, str] | None = None) -> Any:
        """Return a PyArrow table."""
        import pyarrow as pa

        columns = columns_of(data)
        arrays = {}
        for name, values in columns.items():
            dtype = self._dtype((kinds or {}).get(name) or kind_of(values))
            # As anywhere, integers have no NaN.
            known = [None if is_nan(value) else value for value in values] if pa.types.is_integer(dtype) else values
            arrays[name] = pa.array(known, dtype, from_pandas=False)
        return pa.table(arrays)

    def frame(self, data: Data, kinds: Mapping[str, str] | None = None) -> Any:
        return self.table(data, kinds)

    def rows(self, result: Any) -> list[dict[str, Any]]:
        import pyarrow as pa

        assert isinstance(result, pa.Table), f"a table in, {type(result)} out"
        return [{name: python_value(value) for name, value in row.items()} for row in result.to_pylist()]
