"""Ibis tables: a call becomes an expression of the table's backend.

Narwhals writes expressions that are right on DuckDB. `portable` rewrites those parts that other databases read
in another way.
"""

from __future__ import annotations

import math
import re
from importlib import import_module
from typing import TYPE_CHECKING, Any

import narwhals as nw

from recframe._base.columns import POSITION
from recframe._engines.base import lazy
from recframe._engines.sql.base import SqlEngine, check_case
from recframe._engines.sql.ibis_simple import Simpler
from recframe.errors import BackendWarning, OptionError, warn

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from narwhals.dtypes import DType

    from recframe._base.columns import Frame
    from recframe._engines.base import Session
    from recframe._engines.column_spec import Source

ibis: Any = import_module("ibis")
"""Imported by name, so that type checkers do not need it."""
ops: Any = import_module("ibis.expr.operations")

TESTED = frozenset({"duckdb", "postgres", "clickhouse"})
"""The backends on which every metric is compared with polars: tests/_engines/sql/test_ibis_databases.py."""
COMPILES = frozenset({"bigquery", "snowflake", "trino", "athena", "databricks", "risingwave", "materialize"})
"""The backends for which Ibis writes the SQL of all calls. For others it writes few or none: `docs/engines.md`."""
AS_TEXT = ", as text"
"""The suffix of a backend's name if only the text of a query is wanted."""
WARNED: set[str] = set()
"""The backends that a warning has named already."""
LEAST_EXPONENT = -708.0
"""The least exponent of e that gives a normal float, not one rounded towards 0."""


class Ibis(SqlEngine):
    """Ibis expressions, which need no connection."""

    remedy = "fetch the rows first, with table.to_polars"

    def open_frames(self, sources: Mapping[str, Source], *, rows: Collection[str] = ()) -> Session:
        for source in sources.values():
            _warn_of_backends(source.native)
            _check_names(source.native)
        opened = {name: source.with_native(_with_nullable_columns(source.native)) for name, source in sources.items()}
        return super().open_frames(opened, rows=rows)

    def folds_case(self, frame: Frame) -> bool:
        # DuckDB computes a table, or nothing does yet.
        return {*_backends(frame.to_native())} <= {"duckdb"}

    holds_long_queries = folds_case
    """PostgreSQL and ClickHouse repeat a column's expression wherever it is read, so long queries exhaust memory."""

    def rename(self, frame: Frame, names: Mapping[str, str]) -> Any:
        return portable(super().rename(frame, names))

    def collected(self, frame: Frame) -> nw.DataFrame[Any]:
        return super().collected(lazy(portable(frame.to_native())))

    def items_frame(self, column: str, items: list[Any]) -> Any:
        return ibis.memtable(import_module("pyarrow").table({column: items}))

    def in_kind(self, frame: nw.DataFrame[Any]) -> Any:
        check_case(frame.columns)
        return ibis.memtable(frame.to_arrow())

    def join(self, left: Frame, right: Frame, on: Sequence[str]) -> Frame:
        first_table, second_table = left.to_native(), right.to_native()
        # The right table gets other names, so that no two columns of the join have one name.
        # Where a join finds no row, ClickHouse puts 0 into columns that are never missing.
        kept = {name: _as_nullable(second_table[name]) for name in second_table.columns if name not in on}
        second_table = second_table.select(**{f"there {name}": second_table[name] for name in on}, **kept)
        matches = [first_table[name].identical_to(second_table[f"there {name}"]) for name in on]
        return lazy(first_table.left_join(second_table, matches).drop(*(f"there {name}" for name in on)))

    def repeat(self, frame: Frame, times: str) -> Frame:
        native = frame.to_native()
        numbers = ibis.range(ibis.literal(1, "int64"), native[times].cast("int64") + 1)
        return lazy(native.mutate(numbers.unnest().name(POSITION)))

    def positions(self, upto: int | Frame) -> Frame:
        if isinstance(upto, int):
            return lazy(ibis.range(1, upto + 1).unnest().cast("int64").name(POSITION).as_table())
        native = upto.to_native()
        (last,) = native.columns
        end = native[last].fill_null(0).cast("int64") + 1
        return lazy(native.select(ibis.range(ibis.literal(1, "int64"), end).unnest().name(POSITION)))

    def cast(self, frame: Frame, column: str, dtype: DType) -> Frame:
        if not isinstance(dtype, nw.Int128):
            return super().cast(frame, column, dtype)
        # Ibis has no integers of 128 bits, so a decimal holds them.
        native = frame.to_native()
        return lazy(native.mutate(native[column].cast("decimal(38, 0)").name(column)))

    def untyped(self, native: Any) -> set[str]:
        return set(native.schema().null_fields)


def _backends(table: Any) -> list[str]:
    """Return the names of the backends of a table."""
    return [each.source.name for each in table.op().find((ops.DatabaseTable, ops.SQLQueryResult))]


def _warn_of_backends(table: Any) -> None:
    """Warn once for each untested backend of a table. An unbound table does not say its backend."""
    for name in sorted({name for name in _backends(table) if not name.endswith(AS_TEXT)} - TESTED - WARNED):
        claim = "Ibis writes SQL for it" if name in COMPILES else "Ibis writes SQL of few calls or none for it"
        msg = (
            f"recframe was never tested on {name}: {claim}. It is tested on DuckDB, PostgreSQL and ClickHouse. Compare "
            "the values of some lists with polars on the same rows"
        )
        warn(msg, BackendWarning)
        WARNED.add(name)


def _check_names(table: Any) -> None:
    """Raise for a table named like a part of Ibis's queries (t1), because the query would read that part instead."""
    for each in table.op().find(ops.DatabaseTable):
        if re.fullmatch(r"t\d+", each.name, re.IGNORECASE) and each.namespace.database is None:
            msg = f"the table {each.name!r} is called as Ibis calls parts of its queries, which are read instead"
            raise OptionError(msg, f"con.table({each.name!r}, database='main'), or a view of another name")


def _with_nullable_columns(table: Any) -> Any:
    """Return a table whose columns may all hold nulls, because Ibis stacks only such tables with a join."""
    required = [name for name, kind in table.schema().items() if not kind.nullable]
    return table.mutate(**{name: _as_nullable(table[name]) for name in required})


def _as_nullable(column: Any) -> Any:
    """Return a column cast to the type that Ibis reports, in the variant that allows nulls."""
    return ops.Cast(column.op(), column.type().copy(nullable=True)).to_expr()


def portable(table: Any) -> Any:
    """Return an expression that means the same in all databases."""
    # PostgreSQL reads literals such as 1.0 as decimals, so columns of floats are cast.
    floats = {name: _as_nullable(table[name]) for name, kind in table.schema().items() if kind.is_floating()}
    simpler = Simpler()

    def rewrite(node: Any, changed: Mapping[str, Any] | None) -> Any:
        return simpler.simple(_portable(node, changed))

    return table.mutate(**floats).op().replace(rewrite).to_expr()


def _portable(node: Any, changed: Mapping[str, Any] | None) -> Any:
    """Return a node of an expression, with its changed arguments, so that it means the same in all databases."""
    if isinstance(node, ops.WindowFunction):
        return _window(node, dict(zip(node.__argnames__, node.__args__, strict=True)) | dict(changed or {}))
    node = node.__recreate__(changed) if changed else node
    return REWRITTEN.get(type(node), lambda unchanged: unchanged)(node)


def _window(node: Any, arguments: dict[str, Any]) -> Any:
    """Return a window with signed counts, and with ranks that ClickHouse computes like other databases."""
    if not isinstance(node.func, (ops.RankBase, *COUNTS)):
        return node.__recreate__(arguments)
    if isinstance(arguments["func"], ops.Cast):  # of the count alone, as the window comes after it
        arguments["func"] = arguments["func"].arg
    # Ranks have no frame, but ClickHouse gives each tied row its own frame and rank.
    frame = {"how": "range"} if isinstance(node.func, ops.MinRank | ops.DenseRank) else {}
    return _integer(node.__recreate__(arguments | frame))


def _integer(node: Any) -> Any:
    """Return a count as a signed integer: ClickHouse's counts are unsigned, so a negative difference would be huge."""
    return ops.Cast(node, "int64")


def _cast(node: Any) -> Any:
    """Return a cast of a boolean by way of an integer, because PostgreSQL cannot cast booleans to floats."""
    of_flag = node.arg.dtype.is_boolean() and node.to.is_numeric()
    return ops.Cast(ops.Cast(node.arg, "int32"), node.to) if of_flag else node


def _logarithm(node: Any) -> Any:
    """Return a logarithm by natural logarithms. PostgreSQL's other logarithms are decimals of hundreds of digits."""
    return ops.Divide(ops.Ln(node.arg), ops.Literal(math.log(node.base.value), "float64"))


def _exponential(node: Any) -> Any:
    """Return an exponential that is 0 below the least exponent, for which PostgreSQL raises an error."""
    least = ops.Literal(LEAST_EXPONENT, "float64")
    return ops.IfElse(ops.Less(node.arg, least), ops.Literal(0.0, "float64"), ops.Exp(node.arg))


COUNTS = (ops.Count, ops.CountStar, ops.CountDistinct)
REWRITTEN = {
    **dict.fromkeys(COUNTS, _integer),
    ops.Cast: _cast,
    ops.Log: _logarithm,
    ops.Exp: _exponential,
}
"""The functions that rewrite nodes, by the kind of node. Other nodes are not rewritten."""
