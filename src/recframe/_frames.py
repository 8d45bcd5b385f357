"""Engines: the only room that knows that polars and pandas differ.

A frame comes in through `open_frames`, which takes the columns that matter under the plan's own names, and
leaves through `Session.finish`. In between everything is a Narwhals lazy frame.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import narwhals as nw
from narwhals import selectors as cs

from recframe._rank import ROW
from recframe._terms import POSITION
from recframe.errors import ColumnTypeError, InputError, MissingColumnError, OptionTypeError, closest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Frame = nw.LazyFrame[Any]

__all__ = ["Session", "Take", "kind_of", "open_frames"]


def kind_of(frame: object) -> str | None:
    """Return ``"polars"``, ``"polars lazy"`` or ``"pandas"``, or None for what is no supported frame."""
    # A frame's library is imported already, so nothing is imported here.
    polars, pandas = sys.modules.get("polars"), sys.modules.get("pandas")
    if polars is not None and isinstance(frame, polars.DataFrame):
        return "polars"
    if polars is not None and isinstance(frame, polars.LazyFrame):
        return "polars lazy"
    if pandas is not None and isinstance(frame, pandas.DataFrame):
        return "pandas"
    return None


@dataclass(frozen=True)
class Take:
    """One column to take from a frame, and what it is for."""

    column: str
    """Its name in the user's frame."""
    role: str
    """The role it plays, for messages."""
    use: str
    """``"key"``: compared only; ``"order"``: sorted too; ``"relevance"`` or ``"score"``: a number."""
    default: float | None = None
    """What stands for the column where the frame lacks it; None: it must be there."""


class Engine(Protocol):
    """What the plan needs beside Narwhals expressions."""

    eager: bool

    def settle(self, frame: Frame) -> Frame:
        """Compute an eager frame now, so that its branches share it; leave a lazy one be."""

    def scalar(self, frame: Frame) -> Any:
        """Return the one value of an eager frame of one row and one column."""

    def join(self, left: Frame, right: Frame, on: Sequence[str], how: str) -> Frame:
        """Join on keys, where a missing key equals a missing key."""

    def positions(self, upto: int | Frame) -> Frame:
        """Return the whole numbers from 1, up to a number or the one value of a frame."""


@dataclass(frozen=True)
class Session:
    """Frames on their way through the plan."""

    engine: Engine
    frame: Frame
    truth: Frame | None
    finish: Callable[[Frame, Mapping[str, str], Sequence[str]], Any]
    """From the result, its new column names and the columns to sort by, to a frame of the user's kind."""
    in_truth: frozenset[str]
    """The plan's names of what came from the second frame."""


def open_frames(
    frame: Any,
    truth: Any,
    columns: dict[str, Take],
    truth_columns: dict[str, Take],
    either: dict[str, Take],
    *,
    rows: bool,
) -> Session:
    """Take the columns that matter out of one or two frames of the same kind.

    Parameters
    ----------
    frame, truth : frame
        The user's frames; the second may be None.
    columns, truth_columns : mapping of str to Take
        What to take from each, by the plan's name for it.
    either : mapping of str to Take
        What to take from the second frame if it is there, else from the first.
    rows : bool
        Whether to number the rows of the first, which must be eager.
    """
    kind = kind_of(frame)
    if truth is not None and kind_of(truth) != kind:
        msg = f"truth is a {_type_name(truth)}, but the frame is a {_type_name(frame)}"
        raise OptionTypeError(msg, f"give both as {_type_name(frame)}")
    if either:
        there = _names(truth)
        found = {name: take for name, take in either.items() if take.column in there}
        truth_columns = truth_columns | found
        columns = columns | {name: take for name, take in either.items() if name not in found}
    if kind == "pandas":
        return _open_pandas(frame, truth, columns, truth_columns, rows=rows)
    return _open_polars(frame, truth, columns, truth_columns, eager=kind == "polars", rows=rows)


def _lazy(native: Any) -> Frame:
    """Return the Narwhals lazy frame of any supported frame."""
    lazy: Frame = nw.from_native(native).lazy()
    return lazy


def _names(frame: Any) -> list[Any]:
    """Return the columns of a frame; a lazy frame's schema is asked for here and nowhere else."""
    kind = kind_of(frame)
    if kind == "pandas":
        return [*frame.columns, *(name for name in frame.index.names if name is not None)]
    return list(frame.columns if kind == "polars" else frame.collect_schema().names())


def _type_name(frame: object) -> str:
    return f"{type(frame).__module__.split('.')[0]} {type(frame).__name__}"


def _check_columns(which: str, takes: dict[str, Take], there: Sequence[Any], n_rows: int) -> None:
    for take in takes.values():
        if take.column not in there and take.default is None:
            names = ", ".join(repr(name) for name in there)
            msg = f"{take.role}={take.column!r}: {which} has no such column; it has {names}"
            raise MissingColumnError(msg, closest(take.column, map(str, there)))
    if n_rows == 0:
        msg = f"{which} has no rows, so there is nothing to evaluate"
        raise InputError(msg)


def _not_a_number(take: Take, dtype: object) -> ColumnTypeError:
    wanted = "bool, integer or float" if take.use == "relevance" else "integer or float"
    msg = f"{take.role}={take.column!r} has the type {dtype}, but a {take.role} is {wanted}"
    return ColumnTypeError(msg, "cast the column to a number first")


def _unlike_keys(take: Take, left: object, right: object) -> ColumnTypeError:
    msg = f"{take.role}={take.column!r} has the type {left} in the frame, but {right} in truth"
    return ColumnTypeError(msg, "cast one of them, else no row would match")


# --- polars -----------------------------------------------------------------------------------------------


class PolarsEngine:
    """Polars plans, run by the streaming engine where it is stable."""

    def __init__(self, *, eager: bool) -> None:
        self.eager = eager

    @staticmethod
    def collect(frame: Frame) -> Any:
        """Return the polars frame of a plan."""
        import polars as pl

        native = frame.to_native()
        # The streaming engine has been polars' own default since version 2.
        return native.collect(engine="streaming") if int(pl.__version__.split(".")[0]) > 1 else native.collect()

    def settle(self, frame: Frame) -> Frame:
        return _lazy(self.collect(frame).lazy()) if self.eager else frame

    def scalar(self, frame: Frame) -> Any:
        return self.collect(frame).item()

    def join(self, left: Frame, right: Frame, on: Sequence[str], how: str) -> Frame:
        import polars as pl

        # Renamed in polars 1.24.
        nulls = "nulls_equal" if _version(pl) >= (1, 24) else "join_nulls"
        options: dict[str, Any] = {nulls: True}
        return _lazy(left.to_native().join(right.to_native(), on=list(on), how=how, **options))

    def positions(self, upto: int | Frame) -> Frame:
        import polars as pl

        if isinstance(upto, int):
            return _lazy(pl.LazyFrame({POSITION: range(1, upto + 1)}, schema={POSITION: pl.Int64}))
        last = pl.first().max().cast(pl.Int64).fill_null(0)
        return _lazy(upto.to_native().select(pl.int_range(1, last + 1).alias(POSITION)))


def _version(module: Any) -> tuple[int, ...]:
    return tuple(int(part) for part in module.__version__.split(".")[:2])


def _open_polars(
    frame: Any, truth: Any, columns: dict[str, Take], truth_columns: dict[str, Take], *, eager: bool, rows: bool
) -> Session:
    import polars as pl

    decoders: dict[str, Any] = {}
    if eager:
        _check_columns("the frame", columns, frame.columns, frame.height)
        if truth is not None:
            _check_columns("truth", truth_columns, truth.columns, truth.height)

    def take(source: Any, takes: dict[str, Take]) -> Any:
        if not eager:
            chosen = [_lazy_column(name, take) for name, take in takes.items()]
            taken = _lazy(source.select(chosen))
            # NaN is missing: in a key, where a schema would be needed to ask for floats, and in numbers.
            keys = "|".join(name for name, take in takes.items() if take.use in ("key", "order"))
            floats = cs.by_dtype(nw.Float32, nw.Float64) & cs.matches(f"^({keys})$")
            taken = taken.with_columns(floats.fill_nan(None)) if keys else taken
            order = [name for name, take in takes.items() if take.use == "order"]
            if order:
                text = cs.categorical() & cs.matches(f"^({'|'.join(order)})$")
                taken = taken.with_columns(text.cast(nw.String()))
            scores = [name for name, take in takes.items() if take.use == "score"]
            missing = [nw.when(~nw.col(name).is_nan()).then(nw.col(name)).alias(name) for name in scores]
            return taken.with_columns(*missing) if missing else taken
        chosen = [_polars_column(source, name, take) for name, take in takes.items()]
        if rows and takes is columns:
            chosen.append(pl.int_range(pl.len(), dtype=pl.Int64).alias(ROW))
        return _lazy(source.lazy().select(chosen))

    if eager:
        for name in [name for name, take in columns.items() if take.use in ("key", "order")]:
            other = truth if name in truth_columns else None
            dtypes = {source.schema[take[name].column] for source, take in ((frame, columns), (truth, truth_columns)) if
                      source is not None and name in take}
            if pl.Object in dtypes:
                frame, truth, decoders[name] = _encode_objects(frame, other, truth, columns, truth_columns, name)
            elif len(dtypes) > 1:
                frame, truth = _align(frame, truth, columns[name], truth_columns[name])
    taken = take(frame, columns)
    taken_truth = None if truth is None else take(truth, truth_columns)

    def finish(result: Frame, names: Mapping[str, str], sort: Sequence[str]) -> Any:
        if not eager:
            return result.to_native().rename(dict(names))
        out = PolarsEngine.collect(result)
        for name, values in decoders.items():
            if name in out.columns:
                out = out.with_columns(pl.Series(name, [values[code] for code in out[name]], dtype=pl.Object))
        plain = [name for name in sort if out.schema[name] != pl.Object]
        out = out.sort(plain, nulls_last=True, maintain_order=True) if plain else out
        return out.rename(dict(names))

    return Session(PolarsEngine(eager=eager), taken, taken_truth, finish, frozenset(truth_columns))


def _lazy_column(name: str, take: Take) -> Any:
    """Return the expression that takes a column, or its default where the frame turns out to lack it."""
    import polars as pl

    if take.default is None:
        return pl.col(take.column).alias(name)
    # A pattern matches no column or one, which needs no schema: the first tells which, the second the value.
    pattern = pl.col(f"^{re.escape(take.column)}$")
    found = pl.max_horizontal(pattern.is_null().cast(pl.Int8) + 1, pl.lit(0))
    value = pl.sum_horizontal(pattern.cast(pl.Float64), pl.lit(0.0))
    return pl.when(found == 0).then(take.default).otherwise(value).alias(name)


def _polars_column(source: Any, name: str, take: Take) -> Any:
    """Return the expression that takes a column from an eager frame, checked and without NaN."""
    import polars as pl

    if take.column not in source.columns:
        return pl.lit(take.default).alias(name)
    dtype = source.schema[take.column]
    column = pl.col(take.column)
    if take.use in ("relevance", "score"):
        numeric = dtype.is_numeric() or dtype == pl.Null or (dtype == pl.Boolean and take.use == "relevance")
        if not numeric:
            raise _not_a_number(take, dtype)
        if dtype == pl.Null:
            column = column.cast(pl.Float64)
    if take.use == "order" and dtype == pl.Categorical:
        column = column.cast(pl.String)
    if dtype.is_float() and take.use != "relevance":
        # Looking costs a fraction of rewriting, and few scores hold NaN.
        holds_nan = source.get_column(take.column).is_nan().any()
        column = column.fill_nan(None) if holds_nan else column
    return column.alias(name)


def _encode_objects(
    frame: Any, other: Any, truth: Any, columns: dict[str, Take], truth_columns: dict[str, Take], name: str
) -> tuple[Any, Any, list[Any]]:
    """Replace Python objects, which polars can neither join nor sort, by numbers in the order of the objects."""
    import polars as pl

    take = columns[name]
    seen = set(frame[take.column].to_list())
    if other is not None:
        seen |= set(other[truth_columns[name].column].to_list())
    try:
        values = sorted(seen, key=lambda value: (value is None, value))
    except TypeError:
        if take.use == "order":
            msg = f"{take.role}={take.column!r} holds objects that have no order"
            raise ColumnTypeError(msg, "cast the column to text first") from None
        values = list(seen)
    codes = {value: code for code, value in enumerate(values)}

    def encode(source: Any, column: str) -> Any:
        numbers = [codes[value] for value in source[column].to_list()]
        return source.with_columns(pl.Series(column, numbers, dtype=pl.Int64))

    frame = encode(frame, take.column)
    if other is not None:
        truth = encode(truth, truth_columns[name].column)
    return frame, truth, values


def _align(frame: Any, truth: Any, take: Take, truth_take: Take) -> tuple[Any, Any]:
    """Give a key one type in both frames, or raise where the types cannot match."""
    import polars as pl

    left, right = frame.schema[take.column], truth.schema[truth_take.column]
    common: Any
    if left.is_integer() and right.is_integer():
        common = pl.Int128 if pl.UInt64 in (left, right) else pl.Int64
    elif left.is_float() and right.is_float():
        common = pl.Float64
    elif {left.base_type(), right.base_type()} <= {pl.String, pl.Categorical, pl.Enum}:
        common = pl.String
    elif left.base_type() == right.base_type() == pl.Datetime and left.time_zone == right.time_zone:
        common = pl.Datetime("ns", left.time_zone)
    elif pl.Null in (left, right):
        common = left if right == pl.Null else right
    else:
        raise _unlike_keys(take, left, right)
    return (
        frame.with_columns(pl.col(take.column).cast(common)),
        truth.with_columns(pl.col(truth_take.column).cast(common)),
    )


# --- pandas -----------------------------------------------------------------------------------------------


class PandasEngine:
    """Narwhals on pandas itself."""

    eager = True

    def settle(self, frame: Frame) -> Frame:
        return frame

    def scalar(self, frame: Frame) -> Any:
        return frame.collect().item()

    def join(self, left: Frame, right: Frame, on: Sequence[str], how: str) -> Frame:
        # Keys are numbers here, a missing one included.
        return left.join(right, on=list(on), how=how)  # type: ignore[arg-type]

    def positions(self, upto: int | Frame) -> Frame:
        import pandas as pd

        last = upto if isinstance(upto, int) else int(self.scalar(upto) or 0)
        return _lazy(pd.DataFrame({POSITION: range(1, last + 1)}))


def _open_pandas(
    frame: Any, truth: Any, columns: dict[str, Take], truth_columns: dict[str, Take], *, rows: bool
) -> Session:
    import pandas as pd

    _check_columns("the frame", columns, _names(frame), len(frame))
    if truth is not None:
        _check_columns("truth", truth_columns, _names(truth), len(truth))
    taken: dict[str, Any] = {}
    taken_truth: dict[str, Any] = {}
    decoders: dict[str, Any] = {}
    for name, take in columns.items():
        series = _pandas_column(frame, take)
        if take.use in ("relevance", "score"):
            taken[name] = _pandas_numbers(series, take)
            continue
        other = _pandas_column(truth, truth_columns[name]) if name in truth_columns else None
        taken[name], codes, values = _pandas_codes(series, other, take)
        if codes is not None:
            taken_truth[name] = codes
        if values is not None:
            decoders[name] = values
    for name, take in truth_columns.items():
        if name in taken_truth:
            continue
        if take.column not in _names(truth):
            taken_truth[name] = [take.default] * len(truth)
            continue
        series = _pandas_column(truth, take)
        if take.use == "relevance":
            taken_truth[name] = _pandas_numbers(series, take)
        else:
            taken_truth[name], _, values = _pandas_codes(series, None, take)
            if values is not None:
                decoders[name] = values

    if rows:
        taken[ROW] = list(range(len(frame)))

    engine: Engine
    try:
        import polars as pl
    except ImportError:
        engine = PandasEngine()
        wrap = _wrap_pandas
    else:
        engine = PolarsEngine(eager=True)
        wrap = _wrap_polars

    def finish(result: Frame, names: Mapping[str, str], sort: Sequence[str]) -> Any:
        if isinstance(engine, PolarsEngine):
            native = PolarsEngine.collect(result)
            out = pd.DataFrame({name: _from_polars(native[name]) for name in native.columns})
        else:
            out = result.collect().to_native().reset_index(drop=True)
        for name, values in decoders.items():
            if name in out.columns:
                # An unknown attribute has no code; code -1 is the missing value itself.
                codes = out[name].fillna(-1).astype("int64")
                out[name] = values.take(codes, allow_fill=True)
        if sort:
            try:
                out = out.sort_values(list(sort), kind="stable", na_position="last", ignore_index=True)
            except TypeError:  # objects without an order stay in the order of their first rows
                out = out.reset_index(drop=True)
        return out.rename(columns=dict(names))

    taken_frames = wrap(taken), None if truth is None else wrap(taken_truth)
    return Session(engine, *taken_frames, finish, frozenset(truth_columns))


def _wrap_pandas(columns: Mapping[str, Any]) -> Frame:
    import pandas as pd

    return _lazy(pd.DataFrame(dict(columns), copy=False))


def _wrap_polars(columns: Mapping[str, Any]) -> Frame:
    import polars as pl

    def series(name: str, values: Any) -> pl.Series:
        if hasattr(values, "isna"):  # nullable integers: kept whole, with their mask
            known = pl.Series(name, values.to_numpy(dtype=values.dtype.numpy_dtype, na_value=0))
            return pl.select(pl.when(pl.Series(~values.isna().to_numpy(dtype=bool))).then(known)).to_series().alias(name)
        return pl.Series(name, values, nan_to_null=True)

    return _lazy(pl.DataFrame([series(name, values) for name, values in columns.items()]))


def _from_polars(series: Any) -> Any:
    """Return the NumPy array of a result's column, without pyarrow."""
    import polars as pl

    if series.dtype == pl.String:
        return series.to_list()
    return series.to_numpy()


def _pandas_column(frame: Any, take: Take) -> Any:
    """Return a column, or a level of the index, as a series with a fresh index."""
    if take.column not in frame.columns:
        return frame.index.get_level_values(take.column).to_series(index=range(len(frame)))
    series = frame[take.column]
    if series.ndim > 1:
        msg = f"{take.role}={take.column!r}: the frame has {series.shape[1]} columns of that name"
        raise MissingColumnError(msg)
    return series


def _pandas_numbers(series: Any, take: Take) -> Any:
    """Return numbers as a NumPy array with NaN for missing; integers that NaN would round stay nullable."""
    import pandas as pd
    from pandas.api import types

    if series.dtype == object:
        series = series.infer_objects()
        if series.dtype == object and types.infer_dtype(series, skipna=True) in (
            "boolean", "integer", "floating", "mixed-integer-float", "decimal", "empty",
        ):
            series = pd.to_numeric(series.astype("float64"))
    if types.is_bool_dtype(series.dtype) and take.use == "relevance":
        return series.to_numpy(dtype="float64", na_value=float("nan"))
    if not types.is_numeric_dtype(series.dtype) or types.is_bool_dtype(series.dtype) or types.is_complex_dtype(series):
        raise _not_a_number(take, series.dtype)
    if types.is_integer_dtype(series.dtype):
        if not series.isna().any():
            return series.to_numpy(dtype=getattr(series.dtype, "numpy_dtype", series.dtype))
        if take.use == "score" and series.abs().max() > 2**53:
            return series.astype("Int64").reset_index(drop=True)
    if isinstance(series.dtype, pd.api.extensions.ExtensionDtype):
        return series.to_numpy(dtype="float64", na_value=float("nan"))
    return series.to_numpy()


def _pandas_codes(series: Any, other: Any, take: Take) -> tuple[Any, Any, Any]:
    """Return a key as integers, that of a second frame in the same code, and the values of the codes.

    Integers stand for themselves, and their values are None.
    """
    import pandas as pd
    from pandas.api import types

    def plain(column: Any) -> bool:
        return isinstance(column.dtype, type(pd.Series([0]).dtype)) and column.dtype.kind == "i"

    if plain(series) and (other is None or plain(other)):
        return series.to_numpy(), None if other is None else other.to_numpy(), None

    def loose(column: Any) -> Any:
        return column.astype(column.cat.categories.dtype) if isinstance(column.dtype, pd.CategoricalDtype) else column

    if other is not None:
        series, other = loose(series), loose(other)
        kinds = {types.infer_dtype(column, skipna=True) for column in (series, other)} - {"empty"}
        if len(kinds) > 1 and not kinds <= {"integer", "floating", "mixed-integer-float"}:
            raise _unlike_keys(take, series.dtype, other.dtype)
        joint = pd.concat([series, other], ignore_index=True)
    else:
        joint = loose(series) if take.use == "order" else series
    try:
        codes, values = pd.factorize(joint, sort=take.use == "order")
    except TypeError as error:
        msg = f"{take.role}={take.column!r} holds values that have no order or hash: {error}"
        raise ColumnTypeError(msg) from error
    values = pd.Series(values).array
    if take.use == "order" and (codes < 0).any():
        # Sorted, a missing value must come last whatever the direction: a null, not a number.
        codes = codes.astype("float64")
        codes[codes < 0] = float("nan")
    return codes[: len(series)], None if other is None else codes[len(series) :], values
