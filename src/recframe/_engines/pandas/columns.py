"""Reads the needed columns of pandas frames as arrays: numbers as numbers, keys as the codes of their values.

So pyarrow is not needed, and every index, block and extension type is read in the same way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from pandas.api import types

from recframe._base.values import MOST_EXACT
from recframe._engines.column_errors import (
    frame_text,
    large_categories,
    no_common_type,
    not_a_number,
    not_a_time,
    unlike_keys,
)
from recframe._engines.column_spec import specs_of
from recframe.errors import ColumnTypeError, MissingColumnError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from recframe._engines.column_spec import ColumnSpec, Source

NUMBERS = ("integer", "floating", "mixed-integer-float")
"""The kinds of numeric columns, by pandas' names, whose values can be compared with each other."""


def names_of(frame: Any) -> list[Any]:
    """Return the names of a frame's columns and index levels, without NA, which equals nothing."""
    return [name for name in (*frame.columns, *frame.index.names) if name is not None and name is not pd.NA]


def with_levels(frame: Any, columns: Collection[Any]) -> Any:
    """Return a frame in which the index levels that `columns` names are columns. The other levels are dropped."""
    levels = [name for name in frame.index.names if name is not None and name in columns and name not in frame.columns]
    # With one level, older versions of pandas read a number as the level's position.
    every = frame.index.nlevels == 1
    frame = (frame.reset_index(level=None if every else levels) if levels else frame).reset_index(drop=True)
    # pandas cannot select rows of columns with a foreign byte order.
    foreign = {name: dtype.newbyteorder("=") for name, dtype in frame.dtypes.items() if is_foreign(dtype)}
    return frame.astype(foreign) if foreign else frame


def is_foreign(dtype: Any) -> bool:
    """Return whether a type has a foreign byte order: little-endian on a big-endian machine, or the reverse."""
    return isinstance(dtype, np.dtype) and not dtype.isnative


def column_of(frame: Any, name: Any) -> Any:
    """Return a column, or a level of the index, as a series."""
    return frame[name] if name in frame.columns else pd.Series(frame.index.get_level_values(name))


def read_columns(sources: Mapping[str, Source]) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """Return the columns of the frames as arrays, and the values of columns that were replaced by codes."""
    columns: dict[str, dict[str, Any]] = {name: {} for name in sources}
    decoders: dict[str, Any] = {}
    for column, spec in specs_of(sources).items():
        series_by_frame = {
            name: _column(source.native, source.specs[column])
            for name, source in sources.items()
            if column in source.specs
        }
        if spec.is_flag:
            arrays = {name: _flag(sources[name].native, series, spec) for name, series in series_by_frame.items()}
        elif spec.is_number:
            arrays = {name: _numbers(series, sources[name].specs[column]) for name, series in series_by_frame.items()}
        else:
            arrays, values = _codes(series_by_frame, spec)
            if values is not None:
                decoders[column] = values
        for name, array in arrays.items():
            columns[name][column] = array
    return columns, decoders


def _column(frame: Any, spec: ColumnSpec) -> Any:
    """Return a column, or a level of the index, as a series. A column that the frame lacks has its default value."""
    if spec.column in frame.columns or spec.column in frame.index.names:
        series = column_of(frame, spec.column)
        categories = getattr(getattr(series, "cat", None), "categories", None)
        if categories is not None and is_large(pd.Series(categories)):
            raise large_categories(spec)
        return plain_column(series)
    return pd.Series(np.full(len(frame), spec.default))


def check_once(name: str, source: Source) -> None:
    """Raise if a frame has several columns with the name of a column that a call reads."""
    frame = source.native
    for spec in source.specs.values():
        if spec.column in frame.columns and (columns := frame[spec.column]).ndim > 1:
            msg = f"`{spec.role}={spec.column!r}`: {frame_text(name)} has {columns.shape[1]} columns of that name"
            raise MissingColumnError(msg, "rename all but one of them")


def plain_column(series: Any) -> Any:
    """Return a column as a dense series in a type that pandas and polars compute with, without attributes."""
    dtype = series.dtype
    if isinstance(dtype, pd.SparseDtype):
        series = series.sparse.to_dense()
    elif dtype == np.longdouble:
        series = series.astype("float64")
    elif is_foreign(dtype):
        series = series.astype(dtype.newbyteorder("="))
    elif str(arrow := getattr(dtype, "pyarrow_dtype", "")).endswith("_view"):
        # pandas can hold the view types of Arrow, but cannot compute with them.
        return pd.Series(series.array.astype(f"large_{str(arrow).removesuffix('_view')}[pyarrow]"))
    return without_attributes(series)


def without_attributes(series: Any) -> Any:
    """Return a column without attributes, because pandas cannot concatenate columns whose attributes are arrays."""
    return pd.Series(series.array, dtype=series.dtype, copy=False)


def is_number(series: Any) -> bool:
    """Return whether a column of any type holds numbers or booleans."""
    if series.dtype == object:
        return types.infer_dtype(series, skipna=True) in (*NUMBERS, "boolean", "decimal")
    return bool(types.is_any_real_numeric_dtype(series.dtype) or types.is_bool_dtype(series.dtype))


def _flag(frame: Any, series: Any, spec: ColumnSpec) -> Any:
    """Return a flag as a float: whether the column exists (`use="exists"`), or whether a value is NaN but not missing.

    In NumPy's own types, NaN always means missing.
    """
    if spec.use == "exists":
        return np.full(len(frame), float(spec.column in names_of(frame)))
    if not types.is_extension_array_dtype(series.dtype) or not types.is_float_dtype(series.dtype):
        return np.zeros(len(frame))
    return np.isnan(series.to_numpy(dtype="float64", na_value=0.0)).astype("float64")


def _inferred(series: Any) -> Any:
    """Return a column of Python objects in a numeric type if they are numbers, otherwise as pandas infers it."""
    # NA and NaT cannot be cast to floats, so only present values are cast. `reindex` adds the missing ones again.
    present = series.dropna()
    kind = types.infer_dtype(present)
    dtype = "boolean" if kind == "boolean" else "object"
    dtype = _integer_type([present]) if kind == "integer" else dtype
    if dtype == "object" and kind in (*NUMBERS, "decimal"):
        dtype = "float64"
    return series.infer_objects() if dtype == "object" else present.astype(dtype).reindex(series.index)


def series_of(values: Any) -> Any:
    """Return values as a column with exact integers, which pandas would make floats next to a missing value."""
    column = pd.Series(values)
    rounded = types.is_float_dtype(column.dtype) and column.abs().max() >= MOST_EXACT
    return _inferred(pd.Series(values, dtype="object")) if rounded else column


def _integer_type(columns: Sequence[Any]) -> str:
    """Return the nullable type that holds the integers of some columns, or "object" if no type does."""
    ends = [0, *(int(end) for column in columns if column.notna().any() for end in (column.min(), column.max()))]
    bounds = ("Int64", -(2**63), 2**63), ("UInt64", 0, 2**64)
    return next((dtype for dtype, least, end in bounds if least <= min(ends) and max(ends) < end), "object")


def _numbers(series: Any, spec: ColumnSpec) -> Any:
    """Return numbers as a NumPy array with NaN for missing. Integers that a float would round stay nullable."""
    if series.isna().all():
        # Without values, the type does not matter.
        return np.full(len(series), np.nan)
    if spec.use == "time":
        series = _times(series, spec)
    if series.dtype == object:
        try:
            series = _inferred(series)
        except OverflowError:
            raise not_a_number(spec, "object, of integers that no float can hold") from None
    is_bool = types.is_bool_dtype(series.dtype)
    if not types.is_any_real_numeric_dtype(series.dtype) and not (is_bool and spec.may_be_bool):
        type_names = dict.fromkeys(type(value).__name__ for value in series.dropna()) if series.dtype == object else ()
        raise not_a_number(spec, f"{series.dtype}{', of ' if type_names else ''}{' and '.join(type_names)}")
    exact = _exact_integers(series, spec) if types.is_integer_dtype(series.dtype) else None
    if exact is not None:
        return exact
    if is_bool or types.is_extension_array_dtype(series.dtype):
        return series.to_numpy(dtype="float64", na_value=float("nan"))
    return series.to_numpy()


def is_large(column: Any) -> bool:
    """Return whether a column has whole numbers that floats would round."""
    return types.is_integer_dtype(column.dtype) and not column.between(-MOST_EXACT, MOST_EXACT).all()


def kept_exact(column: Any) -> Any:
    """Return a column with large integers in a nullable type, because NumPy has only floats for missing values."""
    return column.convert_dtypes() if isinstance(column.dtype, np.dtype) and is_large(column) else column


def _nullable(column: Any) -> Any:
    """Return integers in a nullable type. A cast of Arrow's integers would round them next to missing values."""
    present = column.fillna(0).to_numpy(dtype=getattr(column.dtype, "numpy_dtype", column.dtype))
    return pd.Series(pd.arrays.IntegerArray(present, column.isna().to_numpy(dtype=bool)))


def _exact_integers(series: Any, spec: ColumnSpec) -> Any:
    """Return integers that floats with NaN would round; None if floats hold them exactly."""
    if not series.hasnans:
        return series.to_numpy(dtype=getattr(series.dtype, "numpy_dtype", series.dtype))
    return _nullable(series) if spec.use in ("score", "time") and is_large(series) else None


def _times(series: Any, spec: ColumnSpec) -> Any:
    """Return times as numbers: in microseconds if they are compared with a time, in their own unit if only sorted."""
    kind = types.infer_dtype(series, skipna=True)
    if kind not in ("date", "datetime", "datetime64"):
        if spec.dated or not (types.is_any_real_numeric_dtype(series.dtype) or kind in NUMBERS):
            raise not_a_time(spec, series.dtype)
        return series
    if spec.dated is False:
        raise not_a_time(spec, series.dtype)
    moments = pd.to_datetime(series.astype(object), utc=True).dt.tz_convert(None).to_numpy()
    moments = moments.astype("datetime64[us]") if spec.dated else moments
    missing = np.isnat(moments)
    return pd.Series(pd.arrays.IntegerArray(np.where(missing, 0, moments.astype("int64")), missing))


def _codes(series_by_frame: Mapping[str, Any], spec: ColumnSpec) -> tuple[dict[str, Any], Any]:
    """Return a key of one or several frames as integer codes that the frames share, and the value of each code.

    Signed integers are their own codes, and the values are None, unless they name models or may be missing for lists.
    """
    present = list(map(plain_key, series_by_frame.values()))
    kinds = {column.dtype.kind if isinstance(column.dtype, np.dtype) else "" for column in present}
    if kinds == {"i"} and spec.use not in ("model", "attribute"):
        widest = max((column.dtype for column in present), key=lambda dtype: dtype.itemsize)
        return {name: column.to_numpy(dtype=widest) for name, column in series_by_frame.items()}, None
    if len(present) > 1 or spec.use == "order":
        present = _without_categories(present)
        _check_comparable(dict(zip(series_by_frame, present, strict=True)), spec)
    # Columns without rows do not affect the common type.
    filled = [column for column in present if len(column)] or present[:1]
    joint = _joined(filled, spec) if len(filled) > 1 else filled[0]
    codes, values = _factorized(joint, spec)
    ends = np.cumsum([len(column) for column in present])[:-1]
    return dict(zip(series_by_frame, np.split(codes, ends), strict=True)), pd.Series(values).array


def plain_key(column: Any) -> Any:
    """Return a key with null for NaN and 0 for -0, without Arrow's dictionaries and 16-bit floats.

    pandas cannot compare these two types.
    """
    arrow: Any = getattr(column.dtype, "pyarrow_dtype", None)
    if hasattr(arrow, "index_type"):
        column = column.astype(pd.ArrowDtype(arrow.value_type))
    elif str(arrow) == "halffloat":
        column = column.astype("float[pyarrow]")
    # For Arrow, 0 and -0 are different values.
    return no_nan(column + 0.0 if arrow is not None and types.is_float_dtype(column.dtype) else column)


def no_nan(column: Any) -> Any:
    """Return a column with null for NaN, if its type distinguishes NaN from null."""
    if not types.is_extension_array_dtype(column.dtype) or not types.is_float_dtype(column.dtype):
        return column
    nan = np.isnan(column.to_numpy(dtype="float64", na_value=0.0))
    return column.mask(nan) if nan.any() else column


def sort_mixed(frame: Any, columns: Sequence[Any]) -> Any:
    """Return rows sorted by columns that may hold values of several types; see `ordered_codes`."""
    return frame.take(np.lexsort([ordered_codes(frame[name]) for name in reversed(columns)]))


def ordered_codes(column: Any) -> Any:
    """Return integers that sort like a key: numbers before text, null last, other values by first appearance."""
    column = plain_key(column)
    try:
        codes, values = pd.factorize(column, sort=True)
    except TypeError:
        codes, values = pd.factorize(column)
    return np.where(codes < 0, len(values), codes)


def same_integers(columns: Sequence[Any]) -> Sequence[Any]:
    """Return integer columns in one type, because pandas would round signed and unsigned integers to floats."""
    if len({column.dtype for column in columns}) == 1 or not all(types.is_integer_dtype(each) for each in columns):
        return columns
    integer_type = _integer_type(columns)
    return [_nullable(column).astype(integer_type) for column in columns]


def _joined(columns: Sequence[Any], spec: ColumnSpec) -> Any:
    """Return the columns of several frames as one, in a type that holds the values of all."""
    if any(map(is_large, columns)):
        if any(types.is_float_dtype(column) and column.notna().any() for column in columns):
            raise no_common_type(spec, (column.dtype for column in columns))
        columns = [column.astype("Int64") if types.is_float_dtype(column) else column for column in columns]
    try:
        return pd.concat(same_integers(columns), ignore_index=True)
    except pd.errors.OutOfBoundsDatetime as error:
        # Nanoseconds end in the year 2262, and dates such as 9999-12-31 stand for "never".
        cut = [column.dt.as_unit("us") for column in columns]
        if not all((column.dropna() == short.dropna()).all() for column, short in zip(columns, cut, strict=True)):
            raise no_common_type(spec, (column.dtype for column in columns)) from error
        return pd.concat(cut, ignore_index=True)


def _factorized(joint: Any, spec: ColumnSpec) -> tuple[Any, Any]:
    """Return the codes of a column's values, and the value of each code."""
    try:
        # A missing model gets a code like any other model. Codes follow the order of appearance.
        codes, values = pd.factorize(joint, sort=spec.use == "order", use_na_sentinel=spec.use != "model")
    except (TypeError, NotImplementedError) as error:
        # Arrow's own error does not name a value.
        reason = error if isinstance(error, TypeError) else joint.dtype
        msg = f"`{spec.role}={spec.column!r}` holds values that cannot be compared: {reason}"
        raise ColumnTypeError(msg, "cast the column to text first") from error
    if spec.use != "key" and (codes < 0).any():
        # A missing value becomes null: it sorts last in both directions, and is not a value of an attribute.
        codes = np.where(codes < 0, np.nan, codes)
    return codes, values


def _without_categories(columns: list[Any]) -> list[Any]:
    """Return columns with values in place of categories, unless all share one ordered categorical type."""
    several = any(column.dtype != columns[0].dtype for column in columns)
    return [
        without_categories(column) if several or not getattr(column.dtype, "ordered", False) else column
        for column in columns
    ]


def without_categories(column: Any) -> Any:
    """Return a column with categories as a column of their values, and other columns unchanged."""
    values = getattr(getattr(column, "cat", None), "categories", None)
    if values is None:
        return column
    # Next to missing values, integers would become floats, so they stay objects.
    return column.astype(object if column.hasnans and types.is_integer_dtype(values) else values.dtype)


def _check_comparable(series_by_frame: Mapping[str, Any], spec: ColumnSpec) -> None:
    """Raise if the types of a key in two frames never match."""
    (first, series), *others = series_by_frame.items()
    kinds = {name: _kind(column) for name, column in series_by_frame.items()}
    for name, other in others:
        pair = {kinds[first], kinds[name]} - {"empty"}
        if len(pair) > 1 and not pair <= set(NUMBERS):
            raise unlike_keys(spec, (first, series.dtype), (name, other.dtype))


def _kind(column: Any) -> str:
    """Return the kind of values of a key: keys of different kinds never match. "empty" matches every kind."""
    zone = getattr(getattr(column.dtype, "pyarrow_dtype", column.dtype), "tz", None)
    kind = types.infer_dtype(column, skipna=True) if zone is None else "datetime of a zone"
    if column.isna().all():
        return "empty"
    # Periods of different frequencies, and intervals closed on different sides, never match.
    mark = {"period": "freqstr", "interval": "closed"}.get(kind)
    return kind if mark is None else f"{kind} {getattr(column.dropna().iloc[0], mark)}"
