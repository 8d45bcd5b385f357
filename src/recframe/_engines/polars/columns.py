"""Reads the needed columns of polars frames: checks them, removes NaN, and gives keys one type in all frames."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals as nw
import polars as pl

from recframe._base.columns import ROW
from recframe._engines.column_errors import no_common_type, not_a_number, not_a_time, python_objects
from recframe._engines.column_spec import specs_of
from recframe._engines.key_types import common_type
from recframe._engines.polars import texts as polars_texts
from recframe._engines.polars.compat import FEW_ROWS, col, series
from recframe._engines.postponed import RERUN

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from recframe._engines.column_spec import ColumnSpec, Source

NUMBER = "number of model"


@dataclass(frozen=True)
class EagerColumns:
    """The columns of data frames under the plan's names, and the codes that turn numbers back into values."""

    frames: Mapping[str, pl.DataFrame]
    texts: Mapping[str, pl.Series]
    """The key columns of text that are encoded as numbers, each with the text of every number."""
    models: Mapping[str, pl.Series]
    """The columns of models that are encoded as numbers, each with the models in the order of first appearance."""

    @classmethod
    def read(cls, sources: Mapping[str, Source], rows: Collection[str]) -> EagerColumns:
        """Return the columns of the sources. The frames in `rows` get a column with the numbers of their rows."""
        rerun = RERUN.get()
        keeps_keys = rerun is not None and rerun.keeps_keys
        frames = {name: _read_eager(source) for name, source in sources.items()}
        for name in rows:
            frames[name] = frames[name].with_columns(pl.int_range(pl.len(), dtype=pl.Int64).alias(ROW))
        texts = {}
        for column in () if keeps_keys else _texts(frames, sources["frame"].specs):
            holders = _holders(frames, column)
            coded, texts[column] = polars_texts.encoded([frame.get_column(column) for frame in holders.values()])
            for (name, frame), numbers in zip(holders.items(), coded, strict=True):
                frames[name] = frame.with_columns(numbers)
        compared = {column: spec for column, spec in specs_of(sources).items() if not (spec.is_number or spec.is_flag)}
        for column, spec in compared.items():
            holders = _holders(frames, column)
            types = {frame.schema[column] for frame in holders.values()}
            if len(types) > 1:
                frames |= _align(holders, column, spec)
        models: dict[str, pl.Series] = {}
        for column in (name for name, spec in specs_of(sources).items() if spec.use == "model"):
            holders = _holders(frames, column)
            # Frames without rows keep their types, because they stand for the schemas of lazy frames.
            if not keeps_keys and any(frame.height for frame in holders.values()):
                texts_of_model = texts.pop(column, None)
                coded, values = _by_appearance([frame.get_column(column) for frame in holders.values()], texts_of_model)
                for (name, frame), numbers in zip(holders.items(), coded, strict=True):
                    frames[name] = frame.with_columns(numbers)
                models[column] = values if texts_of_model is None else texts_of_model.gather(values)
        return cls(frames, texts, models)

    def decoded(self, result: pl.DataFrame, sort: Sequence[str]) -> pl.DataFrame:
        """Return a result with the user's values, sorted by some columns."""
        for name in self.texts.keys() & {*result.columns}:
            result = result.with_columns(pl.lit(self.texts[name]).gather(pl.col(name)).alias(name))
        # Sort before the models are decoded: their codes sort by first appearance.
        result = sorted_rows(result, sort) if sort else result
        for name in self.models.keys() & {*result.columns}:
            result = result.with_columns(self.models[name].gather(result[name]).alias(name))
        return result


def sorted_rows(frame: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Return rows in a stable sort by columns, missing values last.

    Many rows are sorted by one column after the other, and text by numbers for its values. For rows in random order,
    polars takes ten times as long to sort by several columns at once.
    """
    first = series(frame, names[0])
    if frame.height <= FEW_ROWS or first.dtype.is_nested() or first.is_sorted(nulls_last=True):
        return frame.sort([*map(col, names)], nulls_last=True, maintain_order=True)
    keys = pl.DataFrame([series(frame, name).alias(str(number)) for number, name in enumerate(names)])
    texts = keys.select(pl.col(pl.String)).get_columns()
    rows = keys.with_columns(text.cast(pl.Enum(text.unique().drop_nulls().sort())) for text in texts)
    rows = rows.with_row_index(ROW)
    for number in reversed(keys.columns):
        rows = rows.sort(number, nulls_last=True, maintain_order=True)
    return frame[rows[ROW]]


def _holders(frames: Mapping[str, pl.DataFrame], column: str) -> dict[str, pl.DataFrame]:
    """Return the frames that have a column."""
    return {name: frame for name, frame in frames.items() if column in frame.columns}


def _read_eager(source: Source) -> pl.DataFrame:
    """Return the columns of one frame under the plan's names."""
    frame: pl.DataFrame = source.native
    columns = [_eager_column(frame, name, spec) for name, spec in source.specs.items()]
    # If no column is computed, the frame is made of series without a plan.
    return pl.DataFrame(columns) if {*map(type, columns)} == {pl.Series} else frame.select(columns)


def _eager_column(source: pl.DataFrame, name: str, spec: ColumnSpec) -> pl.Expr | pl.Series:
    """Return a checked column without NaN: the series itself if nothing changes, and an expression otherwise."""
    if spec.column not in source.columns:
        return pl.repeat(spec.default, pl.len(), dtype=pl.Float64).alias(name)
    column = col(spec.column)
    dtype = source.schema[spec.column]
    if spec.is_flag:
        return _flag(column, dtype, spec).alias(name)
    if dtype == pl.Object and not spec.is_number:
        raise python_objects(spec)
    read = _number(column, dtype, spec) if spec.is_number else column
    if spec.use == "order" and dtype == pl.Categorical:
        read = read.cast(pl.String)
    values = series(source, spec.column).alias(name)
    if dtype.is_float() and spec.use != "relevance" and _holds_nan(values):
        read = read.fill_nan(None)
    return values if read is column else read.alias(name)


def _holds_nan(values: pl.Series) -> bool:
    """Return whether floats hold NaN. A sum is a fast first test, but it is also NaN for opposite infinite numbers."""
    total: Any = values.sum()
    return total is not None and math.isnan(total) and bool(values.is_nan().any())


def _flag(column: pl.Expr, dtype: pl.DataType, spec: ColumnSpec) -> pl.Expr:
    """Return a flag as a float: whether the column exists (`use="exists"`), or whether a value is NaN."""
    if spec.use == "exists" or not dtype.is_float():
        return pl.repeat(1.0 if spec.use == "exists" else 0.0, pl.len(), dtype=pl.Float64)
    return column.is_nan().fill_null(value=False).cast(pl.Float64)


def _number(column: pl.Expr, dtype: pl.DataType, spec: ColumnSpec) -> pl.Expr:
    """Return a column as numbers, or raise if it has another type."""
    if dtype == pl.Null:
        return column.cast(pl.Float64)
    if spec.use == "time":
        return _time(column, dtype, spec)
    if not (dtype.is_numeric() or (dtype == pl.Boolean and spec.may_be_bool)):
        raise not_a_number(spec, dtype)
    return column


def _time(column: pl.Expr, dtype: pl.DataType, spec: ColumnSpec) -> pl.Expr:
    """Return times as numbers: in microseconds if dates are needed, and in any unit if only their order matters."""
    if dtype in (pl.Date, pl.Datetime) and spec.dated is not False:
        return column.dt.timestamp("us") if spec.dated else column.to_physical()
    if not dtype.is_numeric() or spec.dated:
        raise not_a_time(spec, dtype)
    return column


def _texts(frames: Mapping[str, pl.DataFrame], specs: Mapping[str, ColumnSpec]) -> list[str]:
    """Return the key columns that are text in all frames that have them, if any of these frames has rows."""
    holders = {name: [frame for frame in frames.values() if name in frame.columns] for name in specs}
    return [
        name
        for name, spec in specs.items()
        if spec.use in ("key", "model")
        and any(frame.height for frame in holders[name])
        and all(frame.schema[name] == pl.String for frame in holders[name])
    ]


def _by_appearance(columns: Sequence[pl.Series], texts: pl.Series | None) -> tuple[list[pl.Series], pl.Series]:
    """Return columns encoded by first appearance, missing values included, and the value of each code.

    If the columns already hold numbers for texts, codes are read from a table, which is much faster than a join.
    """
    name = columns[0].name
    values = pl.concat(columns).unique(maintain_order=True)
    if texts is None:
        numbers = values.to_frame(name).with_row_index(NUMBER)
        numbered = [
            column.to_frame().join(numbers, on=name, how="left", maintain_order="left", nulls_equal=True)
            for column in columns
        ]
        return [frame.get_column(NUMBER).alias(name) for frame in numbered], values
    missing = len(texts)
    codes = pl.int_range(len(values), dtype=pl.UInt32, eager=True)
    table = pl.repeat(0, missing + 1, dtype=pl.UInt32, eager=True).scatter(values.fill_null(missing), codes)
    return [table.gather(column.fill_null(missing)).alias(name) for column in columns], values


def _align(holders: Mapping[str, pl.DataFrame], column: str, spec: ColumnSpec) -> dict[str, pl.DataFrame]:
    """Return the frames with a key column in one type, or raise if there is no common type."""
    # A column of type Null can become any type.
    keys = {name: frame.get_column(column) for name, frame in holders.items() if frame.schema[column] != pl.Null}
    types = {name: nw.from_native(key, series_only=True).dtype for name, key in keys.items()}
    shared = common_type(spec, types, {name: key.dtype for name, key in keys.items()})
    example: Any = next((keys[name] for name, dtype in types.items() if dtype == shared), None)
    if example is None:
        example = nw.new_series(column, [], shared, backend="polars").to_native()
    common: Any = example.dtype
    try:
        return _cast(holders, column, common)
    except pl.exceptions.InvalidOperationError as error:
        nanoseconds = [key for key in keys.values() if getattr(key.dtype, "time_unit", "") == "ns"]
        if not nanoseconds or not all((times.to_physical() % 1000 == 0).all() for times in nanoseconds):
            raise no_common_type(spec, (frame.schema[column] for frame in holders.values())) from error
        # Nanoseconds end in the year 2262, but some data have dates far in the future that mean "never".
        return _cast(holders, column, pl.Datetime("us", common.time_zone))


def _cast(holders: Mapping[str, pl.DataFrame], column: str, dtype: Any) -> dict[str, pl.DataFrame]:
    """Return the frames with a column in one type, or raise if the type cannot hold a value."""
    converted = {name: frame.with_columns(pl.col(column).cast(dtype)) for name, frame in holders.items()}
    if isinstance(dtype, pl.Datetime) and dtype.time_unit == "ns":
        for name, frame in holders.items():
            times: Any = frame.get_column(column)
            if not converted[name].get_column(column).cast(times.dtype).equals(times):
                msg = f"{column} holds times that nanoseconds do not"  # older polars changes them silently
                raise pl.exceptions.InvalidOperationError(msg)
    return converted
