"""Polars, eager and lazy."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import narwhals as nw
import polars as pl
from narwhals import selectors as cs

from recframe._frames import _shortlist
from recframe._frames._session import Session, Take, check_columns, lazy, not_a_number, unlike_keys
from recframe._rank import ROW
from recframe._terms import POSITION
from recframe.errors import ColumnTypeError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Frame = nw.LazyFrame[Any]
    Takes = dict[str, Take]

VERSION = tuple(int(part) for part in pl.__version__.split(".")[:2])


class PolarsEngine:
    """Polars plans; those of eager frames are collected on the way."""

    def __init__(self, *, eager: bool) -> None:
        self.eager = eager

    def settle(self, frame: Frame) -> Frame:
        return lazy(collect(frame)) if self.eager else frame

    def scalar(self, frame: Frame) -> Any:
        return collect(frame).item()

    def present(self, frame: Frame, column: str) -> Frame:
        if self.eager and _held(frame).get_column(column).null_count() == 0:
            return frame
        return frame.filter(~nw.col(column).is_null())

    def shortlist(self, frame: Frame, keys: Sequence[str], score: str, upto: int) -> tuple[Frame | None, Frame]:
        if not self.eager or len(keys) > 1:
            return None, frame
        placed, rest = _shortlist.shortlist(_held(frame), keys[0], score, upto)
        return None if placed is None else lazy(placed), lazy(rest)

    def sum_by(self, frame: Frame, group: Sequence[str], columns: Sequence[str]) -> Frame:
        return frame.group_by(*group).agg(*(nw.col(column).sum() for column in columns))

    def join(self, left: Frame, right: Frame, on: Sequence[str]) -> Frame:
        # Narwhals joins have no such option; polars renamed it.
        options: dict[str, Any] = {"nulls_equal" if VERSION >= (1, 24) else "join_nulls": True}
        return lazy(left.to_native().join(right.to_native(), on=list(on), how="left", **options))

    def positions(self, upto: int | Frame) -> Frame:
        if isinstance(upto, int):
            return lazy(pl.LazyFrame({POSITION: range(1, upto + 1)}, schema={POSITION: pl.Int64}))
        last = pl.first().max().cast(pl.Int64).fill_null(0)
        return lazy(upto.to_native().select(pl.int_range(1, last + 1).alias(POSITION)))


def collect(frame: Frame) -> pl.DataFrame:
    """Return the data frame of a plan."""
    native = frame.to_native()
    # Since version 2 the streaming engine is polars' own default; it is the faster one for eager frames too.
    collected: pl.DataFrame = native.collect(engine="streaming") if VERSION >= (2, 0) else native.collect()
    return collected


def _held(frame: Frame) -> pl.DataFrame:
    """Return the data frame behind a plan that only picks columns of one, without a copy."""
    held: pl.DataFrame = frame.to_native().collect(engine="in-memory") if VERSION >= (1, 23) else collect(frame)
    return held


# --- lazy frames ------------------------------------------------------------------------------------------


def open_lazy(frame: pl.LazyFrame, truth: pl.LazyFrame | None, columns: Takes, truth_columns: Takes) -> Session:
    """Take what matters out of lazy frames, without asking for a schema."""

    def finish(result: Frame, names: Mapping[str, str], sort: Sequence[str]) -> Any:  # noqa: ARG001
        return result.to_native().rename(dict(names))

    taken_truth = None if truth is None else _take_lazy(truth, truth_columns)
    return Session(PolarsEngine(eager=False), _take_lazy(frame, columns), taken_truth, finish, frozenset(truth_columns))


def _take_lazy(source: pl.LazyFrame, takes: Takes) -> Frame:
    taken = lazy(source.select(_lazy_column(name, take) for name, take in takes.items()))
    # Selectors ask for types when the plan is run: NaN is missing in a key, and text is ordered as text.
    keys = "|".join(name for name, take in takes.items() if not take.is_number)
    taken = taken.with_columns((cs.by_dtype(nw.Float32, nw.Float64) & cs.matches(f"^({keys})$")).fill_nan(None))
    ordered = "|".join(name for name, take in takes.items() if take.use == "order")
    if ordered:
        taken = taken.with_columns((cs.categorical() & cs.matches(f"^({ordered})$")).cast(nw.String()))
    scores = [name for name, take in takes.items() if take.use == "score"]
    # Adding 0 makes a column without any value one of numbers, which polars 1.21 can ask for NaN.
    return taken.with_columns(*((nw.col(name) + 0).fill_nan(None) for name in scores)) if scores else taken


def _col(name: str) -> pl.Expr:
    """Return the column of exactly that name, also where polars would read it as a pattern."""
    pattern = name == "*" or (name.startswith("^") and name.endswith("$"))
    return pl.col(f"^{re.escape(name)}$" if pattern else name)


def _lazy_column(name: str, take: Take) -> pl.Expr:
    """Return the expression that takes a column, or its default where the frame turns out to lack it."""
    if take.default is None:
        return _col(take.column).alias(name)
    # A pattern matches no column or one, which needs no schema: the first tells which, the second the value.
    pattern = pl.col(f"^{re.escape(take.column)}$")
    found = pl.max_horizontal(pattern.is_null().cast(pl.Int8) + 1, pl.lit(0))
    value = pl.sum_horizontal(pattern.cast(pl.Float64), pl.lit(0.0))
    return pl.when(found == 0).then(take.default).otherwise(value).alias(name)


# --- eager frames -----------------------------------------------------------------------------------------


def open_eager(
    frame: pl.DataFrame, truth: pl.DataFrame | None, columns: Takes, truth_columns: Takes, *, rows: bool
) -> Session:
    """Take what matters out of eager frames, after their checks."""
    check_columns("the frame", columns, frame)
    if truth is not None:
        check_columns("truth", truth_columns, truth)
    taken = _take_eager(frame, columns)
    if rows:
        taken = taken.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).alias(ROW))
    taken_truth = None if truth is None else _take_eager(truth, truth_columns)
    texts = [] if truth is not None else _long_texts(taken, columns)
    taken = taken.with_columns(pl.col(texts).cast(pl.Categorical))
    decoders: dict[str, list[Any]] = {}
    for name, take in (columns | truth_columns).items():
        if take.is_number:
            continue
        sources = [source for source in (taken, taken_truth) if source is not None and name in source.columns]
        if pl.Object in {source.schema[name] for source in sources}:
            sources, decoders[name] = _encode_objects(sources, name, take)
        elif len({source.schema[name] for source in sources}) > 1:
            sources = _align(sources, name, take)
        else:
            continue
        if name in taken.columns:
            taken = sources[0]
        if taken_truth is not None and name in taken_truth.columns:
            taken_truth = sources[-1]

    def finish(result: Frame, names: Mapping[str, str], sort: Sequence[str]) -> pl.DataFrame:
        out = collect(result)
        out = out.with_columns(pl.col(name).cast(pl.String) for name in texts if name in out.columns)
        # The codes of objects sort as the objects do.
        out = out.sort(list(sort), nulls_last=True, maintain_order=True) if sort else out
        objects = [
            pl.Series(name, [None if code is None else values[code] for code in out[name]], dtype=pl.Object)
            for name, values in decoders.items()
            if name in out.columns
        ]
        return out.with_columns(objects).rename(dict(names))

    truth_frame = None if taken_truth is None else lazy(taken_truth)
    return Session(PolarsEngine(eager=True), lazy(taken), truth_frame, finish, frozenset(truth_columns))


def _take_eager(source: pl.DataFrame, takes: Takes) -> pl.DataFrame:
    return source.select(_eager_column(source, name, take) for name, take in takes.items())


def _eager_column(source: pl.DataFrame, name: str, take: Take) -> pl.Expr:
    """Return the expression that takes a column, checked and without NaN."""
    if take.column not in source.columns:
        return pl.repeat(take.default, pl.len(), dtype=pl.Float64).alias(name)
    dtype = source.schema[take.column]
    column = _col(take.column)
    if take.is_number and dtype == pl.Null:
        column = column.cast(pl.Float64)
    elif take.is_number and not (dtype.is_numeric() or (dtype == pl.Boolean and take.use == "relevance")):
        raise not_a_number(take, dtype)
    if take.use == "order" and dtype == pl.Categorical:
        column = column.cast(pl.String)
    # Looking costs a fraction of rewriting, and few columns hold NaN.
    if dtype.is_float() and take.use != "relevance" and source.get_column(take.column).is_nan().any():
        column = column.fill_nan(None)
    return column.alias(name)


def _long_texts(frame: pl.DataFrame, takes: Takes) -> list[str]:
    """Return the keys of text that are faster as categories."""
    return [
        name
        for name, take in takes.items()
        if take.use == "key" and frame.schema[name] == pl.String and _shortlist.pays_to_encode(frame.get_column(name))
    ]


def _encode_objects(sources: list[pl.DataFrame], name: str, take: Take) -> tuple[list[pl.DataFrame], list[Any]]:
    """Replace Python objects, which polars can neither join nor sort, by numbers in the order of the objects."""
    values = list({value for source in sources for value in source[name].to_list() if value is not None})
    try:
        values.sort()
    except TypeError:
        if take.use == "order":
            msg = f"{take.role}={take.column!r} holds objects that have no order"
            raise ColumnTypeError(msg, "cast the column to text first") from None
    codes = {None: None} | {value: code for code, value in enumerate(values)}
    encoded = [
        source.with_columns(pl.Series(name, [codes[value] for value in source[name].to_list()], dtype=pl.Int64))
        for source in sources
    ]
    return encoded, values


def _align(sources: list[pl.DataFrame], name: str, take: Take) -> list[pl.DataFrame]:
    """Give a key one type in both frames, or raise where the types cannot match."""
    left, right = (source.schema[name] for source in sources)
    text = (pl.String, pl.Categorical, pl.Enum)
    common: Any
    if left.is_integer() and right.is_integer():
        common = pl.Int128 if pl.UInt64 in (left, right) else pl.Int64
    elif left.is_float() and right.is_float():
        common = pl.Float64
    elif left.base_type() in text and right.base_type() in text:
        common = pl.String
    elif left.base_type() == right.base_type() == pl.Datetime and left.time_zone == right.time_zone:  # type: ignore[attr-defined]
        common = pl.Datetime("ns", left.time_zone)  # type: ignore[attr-defined]
    elif pl.Null in (left, right):
        common = left if right == pl.Null else right
    else:
        raise unlike_keys(take, left, right)
    return [source.with_columns(pl.col(name).cast(common)) for source in sources]
