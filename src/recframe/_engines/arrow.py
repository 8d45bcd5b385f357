"""PyArrow tables: polars computes for them, or pandas if polars is not installed, and results are tables."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from recframe._engines.base import Adapter
from recframe._engines.column_errors import check_same_columns, several_columns_of_name
from recframe.errors import ColumnTypeError, MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    import narwhals as nw

    from recframe._base.columns import Frame
    from recframe._engines.base import Session
    from recframe._engines.column_spec import Source

    Table = Any

pa: Any = import_module("pyarrow")
"""Imported by name, so that type checkers do not need it."""


LACKING = ("is_decimal256", "is_interval", "is_union", "is_run_end_encoded", "is_list_view", "is_large_list_view")
"""The tests of PyArrow for types that polars lacks; older versions have some of them."""


class Arrow(Adapter):
    """Tables, which another library computes."""

    eager = True
    remedy = "recframe.rec(polars.from_arrow(table))"

    def names(self, frame: Table) -> list[Any]:
        return list(frame.column_names)

    def open_frames(self, sources: Mapping[str, Source], *, rows: Collection[str] = ()) -> Session:
        for name, source in sources.items():
            _check_names(name, source.native)
        self.check_names(sources)
        adapter, convert = _computing()
        if convert is _as_polars:
            _check_types(sources)
        frames = {name: source.with_native(convert(_read_columns(source))) for name, source in sources.items()}
        session = adapter.open_frames(frames, rows=rows)
        types = _types(sources)

        def finish(result: Frame, names: Mapping[str, str], sort: Sequence[str]) -> Table:
            # Columns are still under the plan's names, because a user's column may have such a name.
            table = _table(session.finish(result, {}, sort))
            for name, dtype in types.items():
                if name in table.column_names:
                    table = table.set_column(table.column_names.index(name), name, _cast(table[name], dtype))
            return table.rename_columns([names.get(name, name) for name in table.column_names])

        return replace(session, finish=finish)

    def values_to_compare(self, frame: Table, column: Any, count: int, marked: nw.Series[Any] | None) -> Any | None:
        adapter, convert = _computing()
        return adapter.values_to_compare(convert(frame.select([column])), column, count, marked)

    def stack_models(self, frames: Mapping[str, Table], model: str) -> Table:
        check_same_columns({name: table.column_names for name, table in frames.items()}, model)
        columns = next(iter(frames.values())).column_names
        named = [
            table.select(columns).append_column(model, pa.array([name] * len(table), pa.string()))
            for name, table in frames.items()
        ]
        return pa.concat_tables(named, promote_options="permissive")

    def items_frame(self, column: str, items: list[Any]) -> Table:
        return pa.table({column: items})


def _check_names(name: str, table: Table) -> None:
    """Raise for a table with several columns of one name."""
    names = table.column_names
    if twice := [column for column in names if names.count(column) > 1]:
        raise several_columns_of_name(name, twice)


def _read_columns(source: Source) -> Table:
    """Return only the columns that a call reads from a table, because polars and pandas lack some types of Arrow."""
    read = {spec.column for spec in (*source.specs.values(), *source.unread)}
    return source.native.select([name for name in source.native.column_names if name in read])


def _check_types(sources: Mapping[str, Source]) -> None:
    """Raise for a column whose type polars lacks. Otherwise polars would panic, or raise a less helpful error."""
    for source in sources.values():
        for spec in (*source.specs.values(), *source.unread):
            if spec.column in source.native.column_names:
                dtype = source.native.schema.field(spec.column).type
                if _is_unknown_to_polars(dtype):
                    msg = f"{spec.role}={spec.column!r} has the type {dtype}, which polars lacks"
                    raise ColumnTypeError(msg, "cast the column first, as to pyarrow.decimal128(38, 2) or to text")


def _is_unknown_to_polars(dtype: Any) -> bool:
    """Return whether polars lacks a type of Arrow, or a type inside it."""
    if pa.types.is_dictionary(dtype):
        return _is_unknown_to_polars(dtype.value_type)
    is_lacking = any(getattr(pa.types, name)(dtype) for name in LACKING if hasattr(pa.types, name))
    return is_lacking or any(_is_unknown_to_polars(dtype.field(number).type) for number in range(dtype.num_fields))


def _computing() -> tuple[Adapter, Callable[[Table], Any]]:
    """Return the adapter of the library that computes, and the function that converts a table to its frame."""
    if find_spec("polars") is not None:
        from recframe._engines.polars.adapter import EagerPolars

        return EagerPolars(), _as_polars
    if find_spec("pandas") is not None:
        from recframe._engines.pandas.adapter import Pandas

        return Pandas(), _as_pandas
    what = "evaluating a PyArrow table"
    raise MissingExtraError.of(what, "arrow")


def _as_polars(table: Table) -> Any:
    """Return a table as a polars frame."""
    import polars as pl

    return pl.from_arrow(table)


def _as_pandas(table: Table) -> Any:
    """Return a table as a pandas frame of Arrow's types."""
    import pandas as pd

    # pandas factorises only the dictionaries that it made itself.
    types = [dtype.value_type if pa.types.is_dictionary(dtype) else dtype for dtype in table.schema.types]
    plain = table.cast(pa.schema(zip(table.column_names, types, strict=True)))
    return plain.to_pandas(types_mapper=pd.ArrowDtype)


def _table(frame: Any) -> Table:
    """Return a frame of polars or pandas as a table."""
    if hasattr(frame, "to_arrow"):
        import polars as pl

        # Signed and unsigned 64-bit keys have 128 bits in common, which Arrow can hold only as decimals.
        exceeds_64_bits = [name for name, dtype in frame.schema.items() if dtype == pl.Int128]
        table = frame.with_columns(pl.col(exceeds_64_bits).cast(pl.Decimal(38, 0))).to_arrow()
    else:
        table = pa.Table.from_pandas(frame, preserve_index=False)
    texts = [pa.string() if pa.types.is_large_string(dtype) else dtype for dtype in table.schema.types]
    return table.cast(pa.schema(zip(table.column_names, texts, strict=True)))


def _types(sources: Mapping[str, Source]) -> dict[str, Any]:
    """Return the types of the columns that results may carry, by the plan's names, if all tables have the same type."""
    by_name: dict[str, set[Any]] = {}
    for source in sources.values():
        for name, spec in source.specs.items():
            if not spec.is_number and spec.column in source.native.column_names:
                by_name.setdefault(name, set()).add(source.native.schema.field(spec.column).type)
    return {name: types.pop() for name, types in by_name.items() if len(types) == 1}


def _cast(column: Any, dtype: Any) -> Any:
    """Return a column in another type, also in a dictionary type."""
    if pa.types.is_dictionary(dtype):
        return column.cast(dtype.value_type).dictionary_encode().cast(dtype)
    return column.cast(dtype)
