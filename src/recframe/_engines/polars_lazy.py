"""Polars lazy frames: one plan, which runs when the user collects it."""

from __future__ import annotations

from functools import partial
from inspect import signature
from typing import TYPE_CHECKING, Any

import polars as pl
from polars.io import plugins

from recframe._columns import EQUAL, POSITION, SIZE, START
from recframe._engines import polars_compat, polars_runs, polars_schema, polars_sort, polars_sums, polars_texts
from recframe._engines.base import VALIDATE, Session, known_values
from recframe._engines.column_spec import columns_of
from recframe._engines.polars import EagerPolars, Polars
from recframe._engines.polars_columns import read_lazy
from recframe._engines.polars_compat import MARKS_COMMON_PARTS, VERSION, col, collect_columns
from recframe._engines.polars_frame import lazy
from recframe._engines.polars_rows import LazyRows
from recframe._engines.polars_schema import ALL_ROWS, SchemaCheck, later
from recframe._engines.polars_sort import Mark
from recframe.errors import OptionError, OptionTypeError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from recframe._columns import Frame
    from recframe._engines.base import Needed
    from recframe._engines.column_spec import Source
    from recframe._engines.rows import Rows
    from recframe.errors import RecError

    OnRows = Callable[[pl.DataFrame], pl.DataFrame]
    Types = Callable[[pl.Schema], pl.Schema]

STREAMING: dict[str, Any] = {"engine": "streaming"} if "engine" in signature(pl.collect_all).parameters else {}
"""How several plans are computed in morsels; older versions do not."""
GIVES_SCHEMA_LATER = VERSION >= (1, 30)
"""Whether a source may give its schema when its plan is resolved."""


class LazyPolars(Polars):
    """Lazy frames."""

    eager = False
    remedy = "collect the frame first"
    reads_parts = True

    def open_frames(self, sources: Mapping[str, Source], *, rows: Collection[str] = ()) -> Session:  # noqa: ARG002
        """Read the needed columns, without asking for a schema."""

        def finish(result: Frame, names: Mapping[str, str], sort: Sequence[str]) -> Any:  # noqa: ARG001
            return result.to_native().rename(dict(names))

        check = self._schema_check(sources)
        frames = {name: read_lazy(check, name, source.specs) for name, source in sources.items()}
        return Session(self, frames, finish, columns_of(sources))

    def open_rows(self, sources: Mapping[str, Source], numbered: Sequence[str]) -> Rows:  # noqa: ARG002
        return LazyRows(self, sources, self._schema_check(sources))

    def _schema_check(self, sources: Mapping[str, Source]) -> SchemaCheck:
        """Return the check of a call's frames by their schemas, after it where `validate` requests it."""
        if polars_compat.LAZY_FAILS:
            msg = f"lazy frames need another polars: {pl.__version__} loses columns of their plans"
            raise OptionError(msg, "upgrade polars, or collect the frame first")
        check = SchemaCheck(sources, EagerPolars())
        if VALIDATE.get():
            check.now()
        return check

    def checked(self, name: str, source: Source) -> Any:
        return later(source.native, partial(_checked, name, source))

    def items_frame(self, column: str, items: list[Any]) -> pl.LazyFrame:
        return pl.LazyFrame({column: items}, strict=False)

    def side_frame(self, other: Any) -> Any:
        """Return a data frame as a lazy one."""
        return other.lazy() if isinstance(other, pl.DataFrame) else other

    def spread_arrays(self, frame: pl.LazyFrame, item: str, column: str, names: Sequence[str]) -> pl.LazyFrame:
        if not names:
            msg = f"features[{column!r}] holds lists, and a lazy frame does not say how long they are"
            raise OptionTypeError(msg, "give one column per feature, an Array column, or an eager frame")
        fields = (col(column).arr.get(index).alias(name) for index, name in enumerate(names))
        return frame.select(item, *fields)

    def collect_once(self, frame: Frame) -> Frame:
        # Of common parts in common parts polars finds only the outer ones by itself, and computes the inner ones again.
        return lazy(frame.to_native().cache()) if MARKS_COMMON_PARTS else frame

    def deferred(self, compute: Callable[[], pl.LazyFrame], schema: Callable[[], pl.Schema]) -> pl.LazyFrame:
        def source(
            columns: list[str] | None,
            predicate: pl.Expr | None,
            rows: int | None,
            size: int | None,  # noqa: ARG001
        ) -> Iterator[pl.DataFrame]:
            frame = compute()
            frame = frame if predicate is None else frame.filter(predicate)
            frame = frame if rows is None else frame.head(rows)
            yield (frame if columns is None else frame.select(columns)).collect()

        if not polars_schema.KNOWS_SCHEMA_LATER:
            return plugins.register_io_source(source, schema=schema if GIVES_SCHEMA_LATER else schema())
        # Errors of the schema pass through this callback as they are; those of a source's schema become polars' own.
        return later(pl.LazyFrame(), lambda *_: plugins.register_io_source(source, schema=schema()))

    def part(self, frame: Frame, keys: Sequence[str], index: int, of: int) -> Frame:
        key = pl.col(keys[0]) if len(keys) == 1 else pl.struct(list(keys))
        return lazy(frame.to_native().filter(key.hash() % of == index))

    def collect_together(self, frames: Sequence[Frame]) -> list[Frame]:
        return [lazy(collected) for collected in pl.collect_all([frame.to_native() for frame in frames], **STREAMING)]

    def rank_rows(
        self, frame: Frame, keys: Sequence[str], score: str, upto: int | None, needed: Needed | None
    ) -> Frame:
        rank = partial(polars_sort.rank_rows, score=score, upto=upto, mark=Mark.of(needed))
        types = partial(_types_with, {START: pl.Int64(), SIZE: pl.Int64()}, without=score)
        ranked = _on_rows(frame, partial(_ranked, rank, tuple(keys)), types)
        return ranked or super().rank_rows(frame, keys, score, upto, needed)

    def number_rows(
        self, frame: Frame, keys: Sequence[str], column: str, *, descending: bool, tied: bool = False
    ) -> Frame:
        rank = partial(polars_sort.number_rows, column=column, descending=descending, tied=tied)
        types = partial(_types_with, dict.fromkeys((POSITION, EQUAL) if tied else (POSITION,), pl.Float64()))
        numbered = _on_rows(frame, partial(_ranked, rank, tuple(keys)), types)
        return numbered or super().number_rows(frame, keys, column, descending=descending, tied=tied)

    def one_value(self, rows: Frame, keys: Sequence[str], column: str, error: RecError) -> Frame:
        values = known_values(rows, keys, column).to_native()
        refuse = partial(_refuse_repeats, tuple(keys), error)
        return lazy(values.map_batches(refuse, **ALL_ROWS))

    def sum_in_order(self, frame: Frame, group: Sequence[str], columns: Sequence[str]) -> Frame:
        summed = partial(polars_runs.sums_in_order, group=group, terms={name: col(name) for name in columns})
        return _on_rows(frame, summed, partial(_types_with, {})) or super().sum_in_order(frame, group, columns)

    def sum_exactly(
        self, frame: Frame, group: Sequence[str], columns: Sequence[str], counted: Mapping[str, str] | None = None
    ) -> Frame:
        summed = partial(polars_sums.exact_sums, group=group, columns=columns, counted=counted or {})
        return _on_rows(frame, summed) or super().sum_exactly(frame, group, columns, counted)

    def sum_disordered(self, frame: Frame, group: Sequence[str], columns: Sequence[str], least: Sequence[str]) -> Frame:
        summed = partial(polars_sums.exact_sums, group=group, columns=columns, counted={}, least=least)
        return _on_rows(frame, summed) or super().sum_disordered(frame, group, columns, least)


def _checked(name: str, source: Source, frame: pl.LazyFrame, schema: pl.Schema) -> pl.LazyFrame:
    """Return a frame, or raise if its schema lacks a column."""
    EagerPolars().check_names({name: source.with_native(pl.DataFrame(schema=schema))})
    return frame


def _on_rows(frame: Frame, function: OnRows, types: Types | None = None) -> Frame | None:
    """Return the plan that calls a function with all rows; None where polars does not tell the types later.

    The types of its result are those that it has without rows, unless they are given, which takes less time.
    """
    called = partial(_called_with_rows, function, types or partial(_types_without_rows, function))
    return lazy(later(frame.to_native(), called)) if polars_schema.KNOWS_SCHEMA_LATER else None


def _called_with_rows(function: OnRows, types: Types, frame: pl.LazyFrame, schema: pl.Schema) -> pl.LazyFrame:
    return frame.map_batches(function, schema=types(schema), **ALL_ROWS)


def _types_without_rows(function: OnRows, schema: pl.Schema) -> pl.Schema:
    return function(pl.DataFrame(schema=schema)).schema


def _types_with(new: Mapping[str, pl.DataType], schema: pl.Schema, without: str = "") -> pl.Schema:
    """Return the types of the columns of a frame without one of them, and of new ones."""
    return pl.Schema({name: dtype for name, dtype in schema.items() if name != without} | dict(new))


def _ranked(
    rank: Callable[[pl.DataFrame, Sequence[str]], pl.LazyFrame], keys: Sequence[str], frame: pl.DataFrame
) -> pl.DataFrame:
    """Return ranked rows: when the plan runs, by one sort of packed integers.

    A plan by windows sorts each list for itself, which takes two to three times as long and more memory.
    """
    texts = {}
    for key in keys:
        if frame.schema[key] == pl.String and frame.height:
            (numbers,), texts[key] = polars_texts.encoded([frame.get_column(key)])
            frame = frame.with_columns(numbers)
    ranked = collect_columns(rank(frame, keys))
    return ranked.with_columns(pl.lit(values).gather(pl.col(key)).alias(key) for key, values in texts.items())


def _refuse_repeats(keys: Sequence[str], error: RecError, frame: pl.DataFrame) -> pl.DataFrame:
    """Return a data frame, or raise if several rows have the same keys."""
    if frame.select(keys).is_duplicated().any():
        raise error
    return frame
