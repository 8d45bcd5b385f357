"""Pandas: by way of polars where that is installed, else on pandas itself.

Either way keys become integers and numbers become NumPy arrays, so that no pyarrow is needed and every index,
block and extension type reads the same.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import pandas as pd
from pandas.api import types

from recframe._columns import POSITION, ROW
from recframe._engines.base import (
    Plain,
    Session,
    check_columns,
    columns_of,
    lazy,
    names_of,
    not_a_number,
    not_a_time,
    takes_of,
    unlike_keys,
)
from recframe.errors import ColumnTypeError, MissingColumnError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from recframe._columns import Frame
    from recframe._engines.base import ColumnSpec, Engine, Source


NUMBERS = ("integer", "floating", "mixed-integer-float")
"""What pandas calls columns of numbers that compare with each other."""


class PandasEngine(Plain):
    """Narwhals on pandas itself."""

    eager = True

    def settle(self, frame: Frame) -> Frame:
        return frame

    def scalar(self, frame: Frame) -> Any:
        value = frame.collect().item()
        return None if pd.isna(value) else value

    def present(self, frame: Frame, column: str) -> Frame:
        return frame.filter(~nw.col(column).is_null())

    def sum_by(self, frame: Frame, group: Sequence[str], columns: Sequence[str]) -> Frame:
        # Natively, as Narwhals would put many columns together one by one.
        native = frame.collect().to_native()
        sums = native.groupby(list(group), dropna=False, sort=False, observed=True)[list(columns)].sum()
        return lazy(sums.copy().reset_index())  # a copy is one block, to which columns are added without a warning

    def join(self, left: Frame, right: Frame, on: Sequence[str]) -> Frame:
        # Natively: Narwhals has no join in which a missing key equals a missing key.
        return lazy(left.collect().to_native().merge(right.collect().to_native(), on=list(on), how="left"))

    def repeat(self, frame: Frame, times: str) -> Frame:
        native = frame.collect().to_native()
        many = native[times].to_numpy(dtype="int64")
        copies = native.take(np.repeat(np.arange(len(native)), many)).reset_index(drop=True)
        copies[POSITION] = np.arange(len(copies)) - np.repeat(np.cumsum(many) - many, many) + 1
        return lazy(copies)

    def positions(self, upto: int | Frame) -> Frame:
        last = upto if isinstance(upto, int) else self.scalar(upto)
        return lazy(pd.DataFrame({POSITION: np.arange(1, int(last or 0) + 1)}))  # the largest of no rows is missing


def open_frames(sources: Mapping[str, Source], *, rows: Collection[str] = ()) -> Session:
    """Take what matters out of pandas frames, after their checks."""
    for name, source in sources.items():
        check_columns(name, source)
    taken, decoders = _take(sources)
    for name in rows:
        taken[name][ROW] = np.arange(len(sources[name].native))
    by_polars = polars_engine()
    engine = by_polars or PandasEngine()
    wrap = _frame if by_polars is None else _polars_frame

    def finish(result: Frame, names: Mapping[str, str], sort: Sequence[str]) -> pd.DataFrame:
        out = taken_back(result)
        for name, values in decoders.items():
            if name in out.columns:
                # Code -1 is the missing value; a list whose attribute nobody knows has no code at all.
                out = out.assign(**{name: values.take(out[name].fillna(-1).to_numpy(dtype="int64"), allow_fill=True)})
        if sort:
            with suppress(TypeError):  # objects without an order stay as they come
                out = out.sort_values(list(sort), kind="stable", na_position="last")
        return out.reset_index(drop=True).rename(columns=dict(names))

    frames = {name: wrap(columns) for name, columns in taken.items()}
    return Session(engine, frames, finish, columns_of(sources))


def _take(sources: Mapping[str, Source]) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """Return the columns of the frames as arrays, and the values of those that were replaced by codes."""
    taken: dict[str, dict[str, Any]] = {name: {} for name in sources}
    decoders: dict[str, Any] = {}
    for column, take in takes_of(sources).items():
        holders = {
            name: _column(source.native, source.takes[column])
            for name, source in sources.items()
            if column in source.takes
        }
        if take.is_flag:
            arrays = {name: _flag(sources[name].native, series, take) for name, series in holders.items()}
        elif take.is_number:
            arrays = {name: _numbers(series, sources[name].takes[column]) for name, series in holders.items()}
        else:
            arrays, values = _codes(holders, take)
            if values is not None:
                decoders[column] = values
        for name, array in arrays.items():
            taken[name][column] = array
    return taken, decoders


def polars_engine() -> Engine | None:
    """Return the engine of the faster way, or None where polars is not installed."""
    try:
        from recframe._engines import polars
    except ImportError:
        return None
    return polars.PolarsEngine(eager=True)


def _frame(columns: Mapping[str, Any]) -> Frame:
    return lazy(pd.DataFrame(dict(columns), copy=False))


def taken_back(result: Frame) -> pd.DataFrame:
    """Return a result in pandas, whichever way it was computed."""
    native = result.to_native()
    return native if isinstance(native, pd.DataFrame) else _polars_unwrap(result)


def _polars_frame(columns: Mapping[str, Any]) -> Frame:
    import polars as pl

    def series(name: str, values: Any) -> pl.Series:
        if isinstance(values, np.ndarray):
            return pl.Series(name, values, nan_to_null=True)
        # Nullable integers, kept whole with their mask.
        known = pl.Series(name, values.to_numpy(dtype="int64", na_value=0))
        return known.to_frame().select(pl.when(pl.Series(values.notna().to_numpy())).then(pl.col(name)))[name]

    return lazy(pl.DataFrame([series(name, values) for name, values in columns.items()]))


def _polars_unwrap(result: Frame) -> pd.DataFrame:
    import polars as pl

    from recframe._engines.polars import collect

    native = collect(result)
    # Text goes by lists, which need no pyarrow.
    return pd.DataFrame(
        {column.name: column.to_list() if column.dtype == pl.String else column.to_numpy() for column in native}
    )


def _column(frame: Any, take: ColumnSpec) -> Any:
    """Return a column, or a level of the index, as a series; its default where it may be absent."""
    if take.column in frame.columns:
        series = frame[take.column]
        if series.ndim > 1:
            msg = f"{take.role}={take.column!r}: the frame has {series.shape[1]} columns of that name"
            raise MissingColumnError(msg, "rename all but one of them")
        return series
    if take.column in names_of(frame):
        return pd.Series(frame.index.get_level_values(take.column))
    return pd.Series(np.full(len(frame), take.default))


def _flag(frame: Any, series: Any, take: ColumnSpec) -> Any:
    """Return 1.0 where a column is there, or NaN and not missing, which NumPy's own types do not tell apart."""
    if take.use == "there":
        return np.full(len(frame), float(take.column in names_of(frame)))
    if not types.is_extension_array_dtype(series.dtype) or not types.is_float_dtype(series.dtype):
        return np.zeros(len(frame))
    return np.isnan(series.to_numpy(dtype="float64", na_value=0.0)).astype("float64")


def _numbers(series: Any, take: ColumnSpec) -> Any:
    """Return numbers as a NumPy array with NaN for missing; integers that NaN would round stay nullable."""
    if series.isna().all():
        # Nothing is known of it, so its type does not matter.
        return np.full(len(series), np.nan)
    if take.use == "time":
        series = _times(series, take)
    if series.dtype == object:
        series = series.infer_objects()
    if series.dtype == object and types.infer_dtype(series, skipna=True) in (*NUMBERS, "boolean", "decimal", "empty"):
        series = series.astype("float64")
    is_bool = types.is_bool_dtype(series.dtype)
    if not types.is_any_real_numeric_dtype(series.dtype) and not (is_bool and take.may_be_bool):
        raise not_a_number(take, series.dtype)
    if types.is_integer_dtype(series.dtype) and not series.hasnans:
        return series.to_numpy(dtype=getattr(series.dtype, "numpy_dtype", series.dtype))
    if types.is_integer_dtype(series.dtype) and take.use in ("score", "time") and series.abs().max() > 2**53:
        known = series.fillna(0).to_numpy(dtype="int64")
        return pd.Series(pd.arrays.IntegerArray(known, series.isna().to_numpy(dtype=bool)))
    if is_bool or types.is_extension_array_dtype(series.dtype):
        return series.to_numpy(dtype="float64", na_value=float("nan"))
    return series.to_numpy()


def _times(series: Any, take: ColumnSpec) -> Any:
    """Return dates and datetimes as microseconds, and numbers as they are."""
    kind = types.infer_dtype(series, skipna=True)
    if kind not in ("date", "datetime", "datetime64"):
        if take.dated or not (types.is_any_real_numeric_dtype(series.dtype) or kind in NUMBERS):
            raise not_a_time(take, series.dtype)
        return series
    if take.dated is False:
        raise not_a_time(take, series.dtype)
    moments = pd.to_datetime(series.astype(object), utc=True).dt.tz_convert(None).to_numpy().astype("datetime64[us]")
    missing = np.isnat(moments)
    return pd.Series(pd.arrays.IntegerArray(np.where(missing, 0, moments.astype("int64")), missing))


def _codes(holders: Mapping[str, Any], take: ColumnSpec) -> tuple[dict[str, Any], Any]:
    """Return a key of one or several frames as integers of one code, and the values of the codes.

    Signed integers stand for themselves, and their values are None.
    """
    present = list(holders.values())
    if all(isinstance(column.dtype, np.dtype) and column.dtype.kind == "i" for column in present):
        to_sum_columns = max((column.dtype for column in present), key=lambda dtype: dtype.itemsize)
        return {name: column.to_numpy(dtype=to_sum_columns) for name, column in holders.items()}, None
    if len(present) > 1 or take.use == "order":
        # Categories compare as what they hold, unless they have an order of their own that all frames know.
        loose = any(column.dtype != present[0].dtype for column in present)
        present = [
            column.astype(column.cat.categories.dtype)
            if isinstance(column.dtype, pd.CategoricalDtype) and (loose or not column.cat.ordered)
            else column
            for column in present
        ]
        _check_alike(dict(zip(holders, present, strict=True)), take)
    joint = pd.concat(present, ignore_index=True) if len(present) > 1 else present[0]
    try:
        codes, values = pd.factorize(joint, sort=take.use == "order")
    except TypeError as error:
        msg = f"{take.role}={take.column!r} holds values that cannot be compared: {error}"
        raise ColumnTypeError(msg, "cast the column to text first") from error
    if take.use != "key" and (codes < 0).any():
        # Sorted, a missing value comes last whatever the direction, and it is no value of an attribute: a null.
        codes = np.where(codes < 0, np.nan, codes)
    ends = np.cumsum([len(column) for column in present])[:-1]
    return dict(zip(holders, np.split(codes, ends), strict=True)), pd.Series(values).array


def _check_alike(holders: Mapping[str, Any], take: ColumnSpec) -> None:
    """Raise where a key holds things in two frames that never match."""
    (first, series), *others = holders.items()
    kinds = {name: types.infer_dtype(column, skipna=True) for name, column in holders.items()}
    for name, other in others:
        pair = {kinds[first], kinds[name]} - {"empty"}
        if len(pair) > 1 and not pair <= set(NUMBERS):
            raise unlike_keys(take, (first, series.dtype), (name, other.dtype))
