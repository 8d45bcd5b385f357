"""Arrays into Narwhals frames and results back into pandas, by way of polars where that is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recframe._engines.base import lazy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recframe._base.columns import Frame


def pandas_frame(columns: Mapping[str, Any]) -> Frame:
    """Return columns as a frame that pandas computes."""
    return lazy(pd.DataFrame(dict(columns), copy=False))


def polars_frame(columns: Mapping[str, Any]) -> Frame:
    """Return columns as a frame that polars computes."""
    import polars as pl

    from recframe._engines.polars import frame as polars_frame

    def series(name: str, values: Any) -> pl.Series:
        if isinstance(values, np.ndarray):
            return pl.Series(name, values, nan_to_null=True)
        # Nullable integers stay exact, with their mask.
        numbers = pl.Series(name, values.to_numpy(dtype=values.dtype.numpy_dtype, na_value=0))
        return numbers.to_frame().select(pl.when(pl.Series(values.notna().to_numpy())).then(pl.col(name)))[name]

    return polars_frame.lazy(pl.DataFrame([series(name, values) for name, values in columns.items()]))


def to_pandas(result: Frame) -> pd.DataFrame:
    """Return a result in pandas, no matter which library computed it."""
    native = result.to_native()
    return native if isinstance(native, pd.DataFrame) else _from_polars(result)


def _from_polars(result: Frame) -> pd.DataFrame:
    """Return a result of polars as a pandas frame."""
    import polars as pl

    from recframe._engines.polars.compat import collect

    native = collect(result.to_native())
    # Text is converted by Python lists, which need no pyarrow.
    return pd.DataFrame(
        {column.name: column.to_list() if column.dtype == pl.String else column.to_numpy() for column in native}
    )
