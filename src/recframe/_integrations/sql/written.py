"""Writes the text of a query: a call on tables of Ibis becomes an expression, small queries, and text."""

from __future__ import annotations

import sys
import textwrap
from contextlib import contextmanager
from importlib import import_module
from threading import Lock
from typing import TYPE_CHECKING, Any

from recframe._base.columns import POSITION
from recframe._base.roles import EXPLAINED
from recframe._base.values import as_tuple
from recframe._call.evaluate import expand
from recframe._integrations.sql.names import clean, rename, without_random_parts
from recframe._integrations.sql.packages import ibis, ops
from recframe._integrations.sql.queries import queries_of
from recframe._integrations.sql.query_text import text_of
from recframe._integrations.sql.tables import TABLE_NAMES
from recframe.accessor import rec
from recframe.errors import OptionError, OptionTypeError, quoted
from recframe.profiles import explain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from recframe._base.roles import Roles

TITLES = {
    "duckdb": "DuckDB",
    "postgres": "PostgreSQL",
    "clickhouse": "ClickHouse",
    "bigquery": "BigQuery",
    "snowflake": "Snowflake",
    "databricks": "Databricks",
    "trino": "Trino",
    "athena": "Athena",
}
TESTED_DATABASES = ("duckdb", "postgres", "clickhouse")
"""The databases on which tests run the queries. For other databases, queries are only parsed."""
DEEPEST = 10_000
"""Python's recursion limit while a query is written. Nested queries need more than the default of 1,000."""
_DEEP = Lock()
POSITION_TABLES = f"{TABLE_NAMES['table']}_positions_"
"""How the names of tables of positions start."""


def text_of_call(
    metrics: Any,
    k: Any,
    dialect: str,
    frames: Mapping[str, Any],
    table_texts: Mapping[str, str],
    resolved_roles: Roles,
    **roles: Any,
) -> str:
    """Return the query of a call, after a comment with its definitions.

    Parameters
    ----------
    metrics, k
        The metrics and the cutoffs, as for `evaluate`.
    dialect : str
        The database.
    frames : dict
        The tables of Ibis and the size of the catalogue, by the names of the arguments, such as ``"truth"``.
    table_texts : dict
        The user's text of each table, by the same names.
    resolved_roles : Roles
        The roles with defaults filled in: the comment shows them.
    **roles
        The roles and options as the user gave them, for `evaluate`.
    """
    sides = {name: frame for name, frame in frames.items() if name != "table"}
    result = rec(frames["table"]).evaluate(metrics, k, **sides, **roles)
    tables = {name: frame for name, frame in frames.items() if isinstance(frame, ibis.Table)}
    schemas = {TABLE_NAMES[name]: dict.fromkeys(table.columns, "text") for name, table in tables.items()}
    with _deep_calls():
        head = _head(metrics, k, resolved_roles, dialect)
        return head + _body(result, dialect, schemas, table_texts, as_tuple(resolved_roles.by))


@contextmanager
def _deep_calls() -> Iterator[None]:
    """Raise Python's recursion limit for a while, in one thread at a time, because all threads share the limit."""
    with _DEEP:
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(max(limit, DEEPEST))
        try:
            yield
        finally:
            sys.setrecursionlimit(limit)


def check_size(catalog: Any) -> int:
    """Return the number of items in `catalog=`, or raise for a list of items, which a query cannot hold."""
    if isinstance(catalog, bool) or not isinstance(catalog, int):
        msg = f"catalog={quoted(catalog)} is neither a table nor a number"
        raise OptionTypeError(msg, "catalog='items', the table of the items that could be recommended, or their number")
    return catalog


def _body(
    result: Any,
    dialect: str,
    schemas: Mapping[str, Mapping[str, str]],
    table_texts: Mapping[str, str],
    keys: Sequence[str],
) -> str:
    """Return the text of the query for an expression of Ibis."""
    # Rename the columns first, because some compilers of Ibis replace names that a database does not accept.
    result = result.rename({new: old for old, new in clean(result.columns).items()})
    compiler = getattr(import_module("ibis.backends.sql.compilers"), dialect).compiler
    positions: dict[str, int] = {}

    def without_ranges(node: Any, changed: Mapping[str, Any] | None) -> Any:
        node = node.__recreate__(changed) if changed else node
        last = _last_position(node)
        if last is None:
            return node
        name = f"{POSITION_TABLES}{last}"
        positions[name] = last
        return ops.UnboundTable(name, ibis.schema({POSITION: "int64"}))

    tree = without_random_parts(compiler.to_sqlglot(result.unbind().op().replace(without_ranges).to_expr()))
    schemas = {**schemas, **{name: {POSITION: "int"} for name in positions}}
    queries = queries_of(tree, compiler.dialect, schemas, signed=dialect != "clickhouse")
    sources = {TABLE_NAMES[name]: "recs" if name == "table" else name for name in TABLE_NAMES}
    titles = {name: "positions" if len(positions) == 1 else f"positions_to_{last}" for name, last in positions.items()}
    queries = rename(queries, {**sources, **titles}, keys, " ".join(table_texts.values()))
    texts = {TABLE_NAMES[name]: text for name, text in table_texts.items()} | titles
    return text_of(queries, compiler.dialect, dialect, texts, {titles[name]: last for name, last in positions.items()})


def _last_position(node: Any) -> int | None:
    """Return the last number in a table of positions, or None if a table is not the numbers from 1."""
    if not isinstance(node, ops.DummyTable) or [*node.values] != [POSITION]:
        return None
    (value,) = node.values.values()
    while isinstance(value, ops.Alias | ops.Cast | ops.Unnest):
        value = value.arg
    is_range = isinstance(value, ops.IntegerRange) and isinstance(value.stop, ops.Literal)
    return int(value.stop.value) - 1 if is_range else None


def _head(metrics: Any, k: Any, roles: Roles, dialect: str) -> str:
    """Return the comment with the definitions of the metrics."""
    default = type(roles)()
    policies = {name: getattr(roles, name) for name in EXPLAINED if getattr(roles, name) != getattr(default, name)}
    lines = [f"Written by recframe for {TITLES[dialect]}."]
    if dialect not in TESTED_DATABASES:
        lines[0] += " Such queries are parsed by its tests, and were never run: compare some lists with polars."
    for spec in expand(metrics, k, roles.like):
        try:
            lines += ["", *explain(spec.name, roles.like, **policies).splitlines()]
        except OptionError:
            lines += ["", spec.name]
    wrapped = [piece for line in lines for piece in (textwrap.wrap(line, 110, drop_whitespace=False) or [""])]
    return "".join(f"-- {line}".rstrip() + "\n" for line in wrapped)
