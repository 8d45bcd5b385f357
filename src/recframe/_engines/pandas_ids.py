"""Ids of users and items in columns of pandas frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from pandas.api import types

from recframe._engines.ids import NAMED, as_list, check_column, no_number, unlike_ids
from recframe._engines.pandas_columns import names_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    Array = np.ndarray[Any, np.dtype[Any]]


class PandasIds:
    """Ids as a pandas index."""

    def ids(self, given: Any, like: Any, column: str) -> Any:
        index = pd.Index(given if isinstance(given, pd.Index | pd.Series) else as_list(given))
        if isinstance(index, pd.CategoricalIndex):
            index = pd.Index(index.astype(index.categories.dtype))
        if like is not None:
            check_column(names_of(like), column)
        return index

    def look_up(self, frame: Any, column: str, ids: Any) -> Array:
        check_column(names_of(frame), column)
        values = pd.Index(self._column(frame, column))
        if isinstance(values, pd.CategoricalIndex):
            values = pd.Index(values.astype(values.categories.dtype))
        kinds = [types.infer_dtype(each, skipna=True) for each in (values, ids)]
        if kinds[0] != kinds[1] and "empty" not in kinds:
            raise unlike_ids(column, values.dtype, ids.dtype)
        places: Array = ids.get_indexer(values)
        return np.where(np.asarray(values.isna()), -1, places)

    def append_unknown_ids(self, frame: Any, column: str, rows: Array, ids: Any) -> tuple[Any, Array]:
        codes, values = pd.factorize(self._column(frame, column).take(rows), use_na_sentinel=False)
        return ids.append(pd.Index(values)), len(ids) + codes

    def some(self, frame: Any, column: str, chosen: Array) -> list[Any]:
        return list(dict.fromkeys(self._column(frame, column).take(chosen).tolist()))[:NAMED]

    def numbers(self, frame: Any, column: str) -> Array:
        series = self._column(frame, column)
        if series.dtype == object:
            series = series.infer_objects()
        if not types.is_any_real_numeric_dtype(series.dtype) and not types.is_bool_dtype(series.dtype):
            if not series.isna().all():
                raise no_number(column, series.dtype)
            return np.zeros(len(series))
        numbers: Array = series.to_numpy(dtype="float64", na_value=np.nan)
        return np.where(np.isnan(numbers), 0.0, numbers)

    def order(self, ids: Any) -> Array:
        try:
            return np.asarray(ids.argsort())
        except TypeError:  # objects without an order keep that of the factors
            return np.arange(len(ids))

    def repeated(self, ids: Any) -> list[Any]:
        return list(ids[ids.duplicated()].unique()[:NAMED])

    def first(self, ids: Any) -> list[Any]:
        return list(ids[:NAMED])

    def frame(self, ids: Mapping[str, tuple[Any, Array]], numbers: Mapping[str, Array]) -> Any:
        columns: dict[str, Any] = {name: values.take(places) for name, (values, places) in ids.items()}
        for name, values in numbers.items():
            columns[name] = values if values.dtype.kind == "f" else pd.arrays.IntegerArray(values, values < 0)
        return pd.DataFrame(columns)

    @staticmethod
    def _column(frame: Any, column: str) -> Any:
        if column in frame.columns:
            return frame[column]
        return pd.Series(frame.index.get_level_values(column))
