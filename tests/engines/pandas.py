"""Pandas frames, with polars behind them or alone."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from engines.base import Engine, columns_of, kind_of, python_value
from engines.polars import Polars

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from engines.base import Data


class Pandas(Engine):
    """Pandas frames of one family of dtypes, with polars behind them where it is installed."""

    library = "pandas"
    tells_nan = False
    _NUMPY = {"bool": "bool", "date": "object", "datetime": "datetime64[us]", "categorical": "category",
              "object": "object", "null": "object"}  # fmt: skip
    _NULLABLE = {"bool": "boolean", "str": "string", "float32": "Float32", "float64": "Float64"}

    kinds = Polars.kinds | {"object"}

    def __init__(self, name: str, dtypes: str = "numpy", *, alone: bool = False) -> None:
        self.name, self._dtypes, self._alone = name, dtypes, alone
        # Where polars is not installed, which is tested too, pandas computes all.
        self.share = 4 if alone or dtypes != "numpy" else 1

    def _series(self, kind: str, values: list[Any]) -> Any:
        import pandas as pd

        if kind == "enum":
            categories = sorted({value for value in values if value is not None})
            return pd.Series(pd.Categorical(values, categories=categories, ordered=True))
        if self._dtypes == "pyarrow" and kind not in ("categorical", "object"):
            return pd.Series(values, dtype=self._arrow(kind))
        if self._dtypes == "nullable" and kind in self._NULLABLE:
            return pd.Series(values, dtype=self._NULLABLE[kind])
        if self._dtypes == "nullable" and "int" in kind:
            return pd.Series(
                values, dtype=kind.replace("uint", "UInt") if kind[0] == "u" else kind.replace("int", "Int")
            )
        if kind == "str":
            return pd.Series(values)  # pandas 3: `str`, before: object
        if None in values and (kind == "bool" or "int" in kind):
            # NumPy's types hold no missing value: pandas itself makes floats of integers, and objects of bools.
            return pd.Series(values, dtype="object" if kind == "bool" else "float64")
        return pd.Series(values, dtype=self._NUMPY.get(kind, kind))

    @staticmethod
    def _arrow(kind: str) -> Any:
        import pandas as pd
        import pyarrow as pa

        name = {"str": pa.string(), "date": pa.date32(), "datetime": pa.timestamp("us"), "bool": pa.bool_()}
        return pd.ArrowDtype(name[kind] if kind in name else getattr(pa, kind)())

    def frame(self, data: Data, kinds: Mapping[str, str] | None = None) -> Any:
        import pandas as pd

        columns = columns_of(data)
        return pd.DataFrame(
            {name: self._series((kinds or {}).get(name) or kind_of(values), values) for name, values in columns.items()}
        )

    def enum(self, frame: Any, column: str, values: Sequence[str]) -> Any:
        import pandas as pd

        return frame.assign(**{column: pd.Categorical(frame[column], categories=values, ordered=True)})

    def rows(self, result: Any) -> list[dict[str, Any]]:
        import pandas as pd

        assert isinstance(result, pd.DataFrame), f"pandas in, {type(result)} out"
        assert list(result.index) == list(range(len(result))), "the index is not fresh"
        values = zip(*(result[name].tolist() for name in result.columns), strict=True)
        return [dict(zip(result.columns, map(python_value, row), strict=True)) for row in values]

    @contextmanager
    def running(self) -> Iterator[None]:
        """Take polars away where pandas is to work alone."""
        with pytest.MonkeyPatch.context() as patch:
            if self._alone:
                # What recframe finds where polars is not installed; whoever imports it all the same fails.
                patch.setattr("recframe._engines.pandas.adapter.polars_engine", lambda: None)
                patch.setitem(sys.modules, "polars", None)
            yield
