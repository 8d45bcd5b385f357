"""Ids of users and items against the columns of frames: looked up on the way in, put back on the way out."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from recframe._engines.base import names_of
from recframe.errors import ColumnTypeError, MissingColumnError, MissingExtraError, closest

if TYPE_CHECKING:
    from collections.abc import Mapping

    Array = np.ndarray[Any, np.dtype[Any]]

SHOWN = 3
"""How many ids a message names."""


class Tables(Protocol):
    """What the way from factors to frames needs of a library."""

    def ids(self, given: Any, like: Any, column: str) -> Any:
        """Return ids as a column of the library, of the type of a frame's column where there is one."""
        ...

    def look_up(self, frame: Any, column: str, ids: Any) -> Array:
        """Return the place of each of a column's values among the ids, -1 for what is not there."""
        ...

    def append_unknown_ids(self, frame: Any, column: str, rows: Array, ids: Any) -> tuple[Any, Array]:
        """Return the ids, behind them the distinct values of some rows, and the places of these rows' values."""
        ...

    def some(self, frame: Any, column: str, chosen: Array) -> list[Any]:
        """Return a few values of a column, by the numbers of their rows."""
        ...

    def numbers(self, frame: Any, column: str) -> Array:
        """Return a column of numbers as floats, missing 0."""
        ...

    def order(self, ids: Any) -> Array:
        """Return the order of the ids, the least first."""
        ...

    def repeated(self, ids: Any) -> list[Any]:
        """Return the first of the ids that stand there twice, if any."""
        ...

    def first(self, ids: Any) -> list[Any]:
        """Return the first ids."""
        ...

    def frame(self, ids: Mapping[str, tuple[Any, Array]], numbers: Mapping[str, Array]) -> Any:
        """Return a frame of ids, by their places, and of numbers; a negative integer is missing."""
        ...


def tables_of(kind: str | None) -> Tables:
    """Return what handles frames of a kind; None: of whichever library is installed."""
    if kind is None:
        kind = "polars" if find_spec("polars") else "pandas"
        if not find_spec(kind):
            what = "making a frame"
            raise MissingExtraError.of(what, "polars")
    return PolarsIds() if kind == "polars" else PandasIds()


def _check(frame: Any, column: str) -> None:
    there = names_of(frame)
    if column not in there:
        msg = f"{column!r}: the frame has no such column; it has {', '.join(map(repr, there))}"
        raise MissingColumnError(msg, closest(column, map(str, there)))


def _unlike(column: str, dtype: object, ids: object) -> ColumnTypeError:
    msg = f"{column!r} has the type {dtype}, but the ids of the factors are {ids}"
    return ColumnTypeError(msg, "cast one of them, else no row would match")


def _no_number(column: str, dtype: object) -> ColumnTypeError:
    msg = f"{column!r} has the type {dtype}, but relevance is bool, integer or float"
    return ColumnTypeError(msg, "cast the column to a number first")


class PolarsIds:
    """Polars."""

    def ids(self, given: Any, like: Any, column: str) -> Any:
        import polars as pl

        series = given if isinstance(given, pl.Series) else pl.Series(_listed(given))
        series = series.alias("ids")
        if series.dtype in (pl.Categorical, pl.Enum):
            series = series.cast(pl.String)
        if like is None:
            return series
        _check(like, column)
        dtype = like.schema[column]
        if dtype == series.dtype or dtype in (pl.Categorical, pl.Enum, pl.String):
            return series
        if not (dtype.is_integer() and series.dtype.is_integer()):
            raise _unlike(column, dtype, series.dtype)
        to_sum_columns = series.cast(dtype, strict=False)
        return series if to_sum_columns.null_count() else to_sum_columns

    def look_up(self, frame: Any, column: str, ids: Any) -> Array:
        import polars as pl

        _check(frame, column)
        values = frame.get_column(column)
        if values.dtype in (pl.Categorical, pl.Enum):
            values = values.cast(pl.String)
        if values.dtype != ids.dtype:
            if not (values.dtype.is_integer() and ids.dtype.is_integer()):
                raise _unlike(column, values.dtype, ids.dtype)
            # Whole numbers match by value; what the narrower type cannot hold is not there.
            values = values.cast(ids.dtype, strict=False)
        places = pl.int_range(len(ids), eager=True, dtype=pl.Int64)
        found = values.replace_strict(ids, places, default=-1, return_dtype=pl.Int64)
        return np.where(values.is_null().to_numpy(), -1, found.fill_null(-1).to_numpy())

    def append_unknown_ids(self, frame: Any, column: str, rows: Array, ids: Any) -> tuple[Any, Array]:
        import polars as pl

        values = frame.get_column(column).gather(rows).alias("ids")
        if values.dtype in (pl.Categorical, pl.Enum):
            values = values.cast(pl.String)
        # A missing value is a value like any other; it has no rank.
        _, first, codes = np.unique(
            values.rank("dense").fill_null(0).to_numpy(), return_index=True, return_inverse=True
        )
        both = pl.concat([ids.to_frame(), values.gather(first).to_frame()], how="vertical_relaxed")
        return both.to_series(), len(ids) + codes

    def some(self, frame: Any, column: str, chosen: Array) -> list[Any]:
        found: list[Any] = frame.get_column(column).gather(chosen).unique(maintain_order=True).head(SHOWN).to_list()
        return found

    def numbers(self, frame: Any, column: str) -> Array:
        import polars as pl

        values = frame.get_column(column)
        if not (values.dtype.is_numeric() or values.dtype in (pl.Boolean, pl.Null)):
            raise _no_number(column, values.dtype)
        numbers: Array = values.cast(pl.Float64).fill_nan(None).fill_null(0.0).to_numpy()
        return numbers

    def order(self, ids: Any) -> Array:
        order: Array = ids.arg_sort(nulls_last=True).to_numpy()
        return order

    def repeated(self, ids: Any) -> list[Any]:
        found: list[Any] = ids.filter(ids.is_duplicated()).unique(maintain_order=True).head(SHOWN).to_list()
        return found

    def first(self, ids: Any) -> list[Any]:
        return list(ids.head(SHOWN).to_list())

    def frame(self, ids: Mapping[str, tuple[Any, Array]], numbers: Mapping[str, Array]) -> Any:
        import polars as pl

        columns = [values.gather(places).alias(name) for name, (values, places) in ids.items()]
        frame = pl.DataFrame([*columns, *(pl.Series(name, values) for name, values in numbers.items())])
        whole = [name for name, values in numbers.items() if values.dtype.kind == "i"]
        return frame.with_columns(pl.when(pl.col(name) >= 0).then(pl.col(name)).alias(name) for name in whole)


class PandasIds:
    """Pandas."""

    def ids(self, given: Any, like: Any, column: str) -> Any:
        import pandas as pd

        index = pd.Index(given if isinstance(given, pd.Index | pd.Series) else _listed(given))
        if isinstance(index, pd.CategoricalIndex):
            index = pd.Index(index.astype(index.categories.dtype))
        if like is not None:
            _check(like, column)
        return index

    def look_up(self, frame: Any, column: str, ids: Any) -> Array:
        import pandas as pd
        from pandas.api import types

        _check(frame, column)
        values = pd.Index(self._column(frame, column))
        if isinstance(values, pd.CategoricalIndex):
            values = pd.Index(values.astype(values.categories.dtype))
        kinds = [types.infer_dtype(each, skipna=True) for each in (values, ids)]
        if kinds[0] != kinds[1] and "empty" not in kinds:
            raise _unlike(column, values.dtype, ids.dtype)
        found: Array = ids.get_indexer(values)
        return np.where(np.asarray(values.isna()), -1, found)

    def append_unknown_ids(self, frame: Any, column: str, rows: Array, ids: Any) -> tuple[Any, Array]:
        import pandas as pd

        codes, values = pd.factorize(self._column(frame, column).take(rows), use_na_sentinel=False)
        return ids.append(pd.Index(values)), len(ids) + codes

    def some(self, frame: Any, column: str, chosen: Array) -> list[Any]:
        return list(dict.fromkeys(self._column(frame, column).take(chosen).tolist()))[:SHOWN]

    def numbers(self, frame: Any, column: str) -> Array:
        from pandas.api import types

        series = self._column(frame, column)
        if series.dtype == object:
            series = series.infer_objects()
        if not types.is_any_real_numeric_dtype(series.dtype) and not types.is_bool_dtype(series.dtype):
            if not series.isna().all():
                raise _no_number(column, series.dtype)
            return np.zeros(len(series))
        numbers: Array = series.to_numpy(dtype="float64", na_value=np.nan)
        return np.where(np.isnan(numbers), 0.0, numbers)

    def order(self, ids: Any) -> Array:
        try:
            return np.asarray(ids.argsort())
        except TypeError:  # objects without an order keep that of the factors
            return np.arange(len(ids))

    def repeated(self, ids: Any) -> list[Any]:
        return list(ids[ids.duplicated()].unique()[:SHOWN])

    def first(self, ids: Any) -> list[Any]:
        return list(ids[:SHOWN])

    def frame(self, ids: Mapping[str, tuple[Any, Array]], numbers: Mapping[str, Array]) -> Any:
        import pandas as pd

        columns: dict[str, Any] = {name: values.take(places) for name, (values, places) in ids.items()}
        for name, values in numbers.items():
            columns[name] = values if values.dtype.kind == "f" else pd.arrays.IntegerArray(values, values < 0)
        return pd.DataFrame(columns)

    @staticmethod
    def _column(frame: Any, column: str) -> Any:
        import pandas as pd

        if column in frame.columns:
            return frame[column]
        return pd.Series(frame.index.get_level_values(column))


def _listed(given: Any) -> Any:
    """Return ids of another library, or any iterable, as what polars takes."""
    if isinstance(given, np.ndarray | list):
        return given
    to_list = getattr(given, "to_list", getattr(given, "tolist", None))
    return list(given) if to_list is None else to_list()
