"""Ids of users and items in columns of pandas frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from pandas.api import types

from recframe._engines.ids import IdColumns, as_list, check_column, unlike_ids
from recframe._engines.pandas.columns import column_of, names_of, no_nan, same_integers, without_categories

if TYPE_CHECKING:
    from collections.abc import Mapping

    Array = np.ndarray[Any, np.dtype[Any]]


class PandasIds(IdColumns):
    """Ids as pandas series."""

    def column(self, frame: Any, column: str) -> Any:
        check_column(names_of(frame), column)
        return _plain(column_of(frame, column))

    def typed(self, values: Any) -> Any:
        return values.infer_objects()

    def ids(self, ids: Any, like: Any, column: str) -> Any:
        if like is not None:
            check_column(names_of(like), column)
        return _plain(ids if isinstance(ids, pd.Index | pd.Series) else as_list(ids))

    def look_up(self, frame: Any, column: str, ids: Any) -> Array:
        values = self.column(frame, column)
        kinds = [types.infer_dtype(each, skipna=True) for each in (values, ids)]
        if kinds[0] != kinds[1] and "empty" not in kinds:
            raise unlike_ids(column, values.dtype, ids.dtype)
        values, ids = same_integers([values, ids])
        rows: Array = _index(ids).get_indexer(values)
        return np.where(np.asarray(values.isna()), -1, rows)

    def append_unknown_ids(self, frame: Any, column: str, rows: Array, ids: Any) -> tuple[Any, Array]:
        codes, values = pd.factorize(self.column(frame, column).take(rows), use_na_sentinel=False)
        both = same_integers([ids, pd.Series(values)])
        return pd.concat(both, ignore_index=True), len(ids) + codes

    def order(self, ids: Any) -> Array:
        try:
            return np.asarray(_index(ids).argsort())
        except TypeError:  # objects without an order keep the order of the factors
            return np.arange(len(ids))

    def frame(self, ids: Mapping[str, tuple[Any, Array]], numbers: Mapping[str, Array]) -> Any:
        columns: dict[str, Any] = {name: values.array.take(rows) for name, (values, rows) in ids.items()}
        for name, values in numbers.items():
            columns[name] = values if values.dtype.kind == "f" else pd.arrays.IntegerArray(values, values < 0)
        return pd.DataFrame(columns)


def _plain(ids: Any) -> Any:
    """Return ids as a series with values in place of categories, and null for NaN."""
    return no_nan(without_categories(pd.Series(_index(ids))))


def _index(values: Any) -> Any:
    """Return values as an index. A tuple stays one value."""
    return pd.Index(values, tupleize_cols=False)
