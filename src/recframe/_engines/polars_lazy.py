"""Polars lazy frames: one plan, which runs when the user collects it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

from recframe._engines import polars_compat, polars_lazy_ranks, polars_partitions, polars_runs, polars_sums
from recframe._engines.base import VALIDATE, Session, known_values
from recframe._engines.column_spec import columns_of
from recframe._engines.polars import EagerPolars, Polars
from recframe._engines.polars_columns import read_lazy
from recframe._engines.polars_compat import MARKS_COMMON_PARTS, col
from recframe._engines.polars_frame import lazy
from recframe._engines.polars_rows import LazyRows
from recframe._engines.polars_schema import ALL_ROWS, KNOWS_SCHEMA_LATER, SchemaCheck
from recframe.errors import OptionError, OptionTypeError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from recframe._columns import Frame
    from recframe._engines.base import Needed
    from recframe._engines.column_spec import Source
    from recframe._engines.rows import Rows
    from recframe.errors import RecError


class LazyPolars(Polars):
    """Lazy frames."""

    eager = False
    remedy = "collect the frame first"
    partitions = "in turn"

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
        return source.native.pipe_with_schema(partial(_checked, name, source)) if KNOWS_SCHEMA_LATER else source.native

    def items_frame(self, column: str, items: list[Any]) -> pl.LazyFrame:
        return pl.LazyFrame({column: items}, strict=False)

    def side_frame(self, other: Any) -> Any:
        """Return a data frame as a lazy one."""
        return other.lazy() if isinstance(other, pl.DataFrame) else other

    def spread_arrays(self, frame: pl.LazyFrame, item: str, column: str, names: Sequence[str]) -> pl.LazyFrame:
        if not names:
            msg = f"features[{column!r}] holds lists, and a lazy frame does not say how long they are"
            raise OptionTypeError(msg, "give one column per feature, an Array column, or an eager frame")
        places = (col(column).arr.get(index).alias(name) for index, name in enumerate(names))
        return frame.select(item, *places)

    def collect_once(self, frame: Frame) -> Frame:
        # Of common parts in common parts polars finds only the outer ones by itself, and computes the inner ones again.
        return lazy(frame.to_native().cache()) if MARKS_COMMON_PARTS else frame

    def deferred(self, compute: Callable[[], pl.LazyFrame], schema: Callable[[], pl.Schema]) -> pl.LazyFrame:
        return polars_partitions.deferred(compute, schema)

    def part(self, frame: Frame, keys: Sequence[str], index: int, of: int) -> Frame:
        return polars_partitions.part(frame, keys, index, of)

    def collect_together(self, frames: Sequence[Frame]) -> list[Frame]:
        return polars_partitions.collect_together(frames)

    def rank_rows(
        self, frame: Frame, keys: Sequence[str], score: str, upto: int | None, needed: Needed | None
    ) -> Frame:
        ranked = polars_lazy_ranks.rank_rows(frame.to_native(), keys, score, upto, needed)
        return super().rank_rows(frame, keys, score, upto, needed) if ranked is None else lazy(ranked)

    def one_value(self, rows: Frame, keys: Sequence[str], column: str, error: RecError) -> Frame:
        known = known_values(rows, keys, column).to_native()
        refuse = partial(_refuse_repeats, tuple(keys), error)
        return lazy(known.map_batches(refuse, **ALL_ROWS))

    def sum_in_order(self, frame: Frame, group: Sequence[str], columns: Sequence[str]) -> Frame:
        if not KNOWS_SCHEMA_LATER:
            return super().sum_in_order(frame, group, columns)
        summed = partial(polars_runs.sums_in_order, group=group, terms={name: col(name) for name in columns})
        planned = partial(polars_runs.schema_of_sums, group=group, columns=columns)
        return lazy(polars_runs.later(frame.to_native(), summed, planned))

    def sum_exactly(
        self, frame: Frame, group: Sequence[str], columns: Sequence[str], counted: Mapping[str, str] | None = None
    ) -> Frame:
        if not KNOWS_SCHEMA_LATER:
            return super().sum_exactly(frame, group, columns, counted)
        return self._exactly(frame, group, columns, counted or {}, ())

    def sum_disordered(self, frame: Frame, group: Sequence[str], columns: Sequence[str], least: Sequence[str]) -> Frame:
        if not KNOWS_SCHEMA_LATER:
            return super().sum_disordered(frame, group, columns, least)
        return self._exactly(frame, group, columns, {}, least)

    def _exactly(
        self,
        frame: Frame,
        group: Sequence[str],
        columns: Sequence[str],
        counted: Mapping[str, str],
        least: Sequence[str],
    ) -> Frame:
        summed = partial(polars_sums.exact_sums, group=group, columns=columns, counted=counted, least=least)
        return lazy(polars_runs.later(frame.to_native(), summed, partial(_schema_of, summed)))

    def number_rows(self, frame: Frame, keys: Sequence[str], column: str, **how: bool) -> Frame:
        numbered = polars_lazy_ranks.number_rows(frame.to_native(), keys, column, **how)
        return super().number_rows(frame, keys, column, **how) if numbered is None else lazy(numbered)


def _checked(name: str, source: Source, frame: pl.LazyFrame, schema: pl.Schema) -> pl.LazyFrame:
    """Return a frame, or raise if its schema lacks a column."""
    EagerPolars().check_names(name, source.with_native(pl.DataFrame(schema=schema)))
    return frame


def _schema_of(function: Callable[[pl.DataFrame], pl.DataFrame], schema: pl.Schema) -> pl.Schema:
    """Return the schema of what a function makes of a frame."""
    return function(pl.DataFrame(schema=schema)).schema


def _refuse_repeats(keys: Sequence[str], error: RecError, frame: pl.DataFrame) -> pl.DataFrame:
    """Return a data frame, or raise if several rows have the same keys."""
    if frame.select(keys).is_duplicated().any():
        raise error
    return frame
