"""DuckDB relations: one SQL query, which runs when the user fetches its rows."""

from __future__ import annotations

from functools import cached_property, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import narwhals as nw

from recframe._base.columns import POSITION, SIZE, START
from recframe._engines.base import lazy
from recframe._engines.sql.base import SqlEngine, check_case
from recframe.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from recframe._base.columns import Frame
    from recframe._engines.base import Needed, Session
    from recframe._engines.column_spec import Source


MIN_NARWHALS = (2, 28)
"""The first version of Narwhals that quotes names such as ``ndcg@5``."""


duckdb: Any = import_module("duckdb")
"""Imported by name, so that type checkers do not need it."""


class DuckDB(SqlEngine):
    """SQL on the connection of a relation."""

    remedy = "fetch the rows first: relation.pl()"
    averages_at_once = True

    @cached_property
    def _single_row(self) -> Any:
        # A relation does not expose its connection, so new relations are made from this one, which has a single row.
        return self._frame.limit(0).aggregate("count(*) AS one")

    def open_frames(self, sources: Mapping[str, Source], *, rows: Collection[str] = ()) -> Session:
        if tuple(map(int, nw.__version__.split(".")[:2])) < MIN_NARWHALS:
            needed = ".".join(map(str, MIN_NARWHALS))
            msg = f"DuckDB relations need Narwhals {needed} or newer, but {nw.__version__} is installed"
            raise MissingExtraError(msg, "pip install --upgrade narwhals")
        for name, source in sources.items():
            if source.native is self._frame:
                continue
            try:
                self._single_row.set_alias("here").cross(source.native.limit(0).set_alias("there"))
            except duckdb.InvalidInputException as error:
                msg = f"{name} is a relation of another DuckDB connection than the frame"
                raise InputError(msg, "make both with one connection: connection.sql(...)") from error
        return super().open_frames(sources, rows=rows)

    def folds_case(self, frame: Frame) -> bool:  # noqa: ARG002
        return True

    def spelled(self, column: str) -> str:
        if column == "*":
            msg = "DuckDB's expressions read the column name '*' as all columns"
            raise InputError(msg, "rename the column first")
        return column

    def items_frame(self, column: str, items: list[Any]) -> Any:
        values = duckdb.FunctionExpression("unnest", duckdb.ConstantExpression(items))
        return self._single_row.select(values.alias(column))

    def collected(self, frame: Frame) -> nw.DataFrame[Any]:
        if nw.Duration in frame.collect_schema().dtypes():
            msg = "this call reads keys or segments of the type INTERVAL, which other libraries do not have"
            raise InputError(msg, "make them text or seconds in the query: user::VARCHAR or epoch(user)")
        return super().collected(frame)

    def in_kind(self, frame: nw.DataFrame[Any]) -> Any:
        check_case(frame.columns)
        # DuckDB reads it by its name, if no table has that name.
        _rows_of_recframe = frame.to_arrow()
        try:
            return self._single_row.query("one", "SELECT * FROM _rows_of_recframe")
        except duckdb.CatalogException as error:
            msg = "the result has rows of Python, which this connection does not read"
            raise InputError(msg, f"SET python_enable_replacements = true, or {self.remedy}") from error

    def join(self, left: Frame, right: Frame, on: Sequence[str]) -> Frame:
        first_relation, second_relation = left.to_native(), right.to_native()
        matches = " AND ".join(f"here.{_quoted(name)} IS NOT DISTINCT FROM there.{_quoted(name)}" for name in on)
        columns = [f"here.{_quoted(name)}" for name in first_relation.columns]
        columns += [f"there.{_quoted(name)}" for name in second_relation.columns if name not in on]
        joined = first_relation.set_alias("here").join(second_relation.set_alias("there"), matches, how="left")
        return lazy(joined.project(", ".join(columns)))

    def rank_rows(
        self, frame: Frame, keys: Sequence[str], score: str, upto: int | None, needed: Needed | None
    ) -> Frame:
        if needed is None:
            return super().rank_rows(frame, keys, score, upto, needed)
        # Drops the first row of each tied block if nothing reads it, but keeps the others, because the last row tells
        # the block's size. So few rows pass through the second window.
        rank = partial(nw.col(score).rank, descending=True)
        rows = frame.with_columns(rank("min").over(*keys).alias(START), rank("ordinal").over(*keys).alias(SIZE))
        is_read = needed.rows | (nw.col(SIZE) != nw.col(START)) | (nw.col(START) <= needed.upto)
        rows = rows.filter(is_read if upto is None else is_read & (nw.col(START) <= upto))
        size = nw.col(SIZE).max().over(*keys, START) - nw.col(START) + 1
        return rows.with_columns(nw.col(START).cast(nw.Int64()), size.cast(nw.Int64()).alias(SIZE), *needed.recomputed)

    def sum_by(self, frame: Frame, group: Sequence[str], columns: Sequence[str]) -> Frame:
        # Natively, because Narwhals writes two SELECTs for a grouping.
        keys = [_quoted(name) for name in group]
        sums = [f"coalesce(sum({name}), 0) AS {name}" for name in map(_quoted, columns)]
        return lazy(frame.to_native().aggregate(", ".join([*keys, *sums]), ", ".join(keys)))

    def repeat(self, frame: Frame, times: str) -> Frame:
        return lazy(frame.to_native().project(f"*, unnest(range(1, {_quoted(times)}::BIGINT + 1)) AS {POSITION}"))

    def positions(self, upto: int | Frame) -> Frame:
        if isinstance(upto, int):
            numbers = f"unnest(range(1, {upto + 1})) AS {POSITION}"
            return lazy(self._frame.filter("false").aggregate(numbers, "()"))
        native = upto.to_native()
        (last,) = native.columns
        return lazy(native.project(f"unnest(range(1, coalesce({_quoted(last)}, 0)::BIGINT + 1)) AS {POSITION}"))

    def untyped(self, native: Any) -> set[str]:
        return {name for name, dtype in zip(native.columns, native.types, strict=True) if str(dtype) == '"NULL"'}


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
