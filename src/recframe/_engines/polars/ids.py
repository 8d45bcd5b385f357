"""Ids of users and items in columns of polars frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from polars.exceptions import PolarsError

from recframe._engines.ids import IdColumns, as_list, check_column, unlike_ids
from recframe._engines.polars import compat as polars_compat
from recframe.errors import InputError, quoted

if TYPE_CHECKING:
    from collections.abc import Mapping

    Array = np.ndarray[Any, np.dtype[Any]]


class PolarsIds(IdColumns):
    """Ids as polars series."""

    def column(self, frame: Any, column: str) -> pl.Series:
        check_column(frame.columns, column)
        return _plain(polars_compat.series(frame, column))

    def ids(self, ids: Any, like: Any, column: str) -> Any:
        try:
            series = _plain(ids if isinstance(ids, pl.Series) else pl.Series(as_list(ids)))
        except (TypeError, OverflowError, PolarsError) as error:
            msg = f"the ids of {column!r} are no column of polars: {str(error).splitlines()[0]}"
            raise InputError(msg, "give all of them as text, or as whole numbers of up to 64 bits") from None
        if series.dtype == pl.Object:
            msg = f"the ids of {column!r} are objects that polars does not compare, such as {quoted(series[0])}"
            raise InputError(msg, "give all of them as text, or as whole numbers of up to 64 bits")
        if like is None:
            return series
        check_column(like.columns, column)
        dtype = like.schema[column]
        if dtype == series.dtype or dtype in (pl.Categorical, pl.Enum, pl.String):
            return series  # `look_up` raises if these are no text
        if not (dtype.is_integer() and series.dtype.is_integer()):
            raise unlike_ids(column, dtype, series.dtype)
        in_type = series.cast(dtype, strict=False)
        return series if in_type.null_count() else in_type

    def look_up(self, frame: Any, column: str, ids: Any) -> Array:
        values = self.column(frame, column)
        if values.dtype != ids.dtype:
            if not (values.dtype.is_integer() and ids.dtype.is_integer()):
                raise unlike_ids(column, values.dtype, ids.dtype)
            # Integers match by value. A value that the other type cannot hold becomes missing, so it matches no id.
            values = values.cast(ids.dtype, strict=False)
        indices = pl.int_range(len(ids), eager=True, dtype=pl.Int64)
        looked_up = values.replace_strict(ids, indices, default=-1, return_dtype=pl.Int64)
        return np.where(values.is_null().to_numpy(), -1, looked_up.fill_null(-1).to_numpy())

    def append_unknown_ids(self, frame: Any, column: str, rows: Array, ids: Any) -> tuple[Any, Array]:
        values = self.column(frame, column).gather(rows)
        # A missing value counts as an id too. It has no rank, so it gets 0.
        _, first, codes = np.unique(
            values.rank("dense").fill_null(0).to_numpy(), return_index=True, return_inverse=True
        )
        both = pl.concat([ids.to_frame(), values.gather(first).to_frame()], how="vertical_relaxed")
        return both.to_series(), len(ids) + codes

    def order(self, ids: pl.Series) -> Array:
        return ids.arg_sort(nulls_last=True).to_numpy()

    def frame(self, ids: Mapping[str, tuple[Any, Array]], numbers: Mapping[str, Array]) -> Any:
        columns = [values.gather(rows).alias(name) for name, (values, rows) in ids.items()]
        frame = pl.DataFrame([*columns, *(pl.Series(name, values) for name, values in numbers.items())])
        integers = [name for name, values in numbers.items() if values.dtype.kind == "i"]
        return frame.with_columns(pl.when(pl.col(name) >= 0).then(pl.col(name)).alias(name) for name in integers)


def _plain(ids: pl.Series) -> pl.Series:
    """Return a series with text in place of categories, and with a name that polars cannot read as a pattern."""
    series = ids.alias("ids")
    return series.cast(pl.String) if series.dtype in (pl.Categorical, pl.Enum) else series
