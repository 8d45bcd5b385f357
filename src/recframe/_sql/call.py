"""From a call's arguments to the text of a query."""

from __future__ import annotations

import textwrap
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, get_args

from recframe._arguments import ALL_ROLES, EXPLAINED
from recframe._columns import POSITION
from recframe._evaluate import expand
from recframe._query import resolved
from recframe._signatures import show_roles
from recframe._sql.names import clean, rename
from recframe._sql.queries import queries_of
from recframe._sql.query_text import text_of
from recframe._sql.tables import NAMES, Tables, check_text, check_types, ibis, ops
from recframe._values import as_tuple
from recframe.accessor import rec
from recframe.errors import OptionError, OptionTypeError, one_of, quoted
from recframe.profiles import explain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe._arguments import Roles
    from recframe._sql.tables import ColumnType
    from recframe.metrics import Metric

Dialect = Literal["duckdb", "postgres", "clickhouse", "bigquery", "snowflake", "databricks", "trino", "athena"]
"""The databases for which queries are written."""
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
RUN = ("duckdb", "postgres", "clickhouse")
"""The databases on which queries are run and compared with polars; for the others they are only parsed."""
UNREAD = ("partitions", "train", "features", "catalog", "truth")
"""The roles that are tables here, or nothing."""
SQL_ROLES = tuple(name for name in ALL_ROLES if name not in UNREAD)
PLACES = f"{NAMES['table']}_positions_"


def sql(
    metrics: str | Metric | Sequence[str | Metric],
    k: int | Sequence[int | None] | None = None,
    *,
    table: str,
    dialect: Dialect,
    truth: str | None = None,
    train: str | None = None,
    features: str | None = None,
    catalog: str | int | None = None,
    types: Mapping[str, ColumnType] | None = None,
    truth_columns: Sequence[str] = (),
    feature_columns: Sequence[str] = (),
    counts: bool = False,
    **roles: Any,
) -> str:
    """Return the query of SQL that computes metrics in a database.

    It computes what ``df.rec.evaluate`` does, ties and missing values included, from the same definitions.

    Parameters
    ----------
    metrics : str, Metric, or sequence of them
        As in ``evaluate``, such as ``["ndcg@10", "map@10"]``.
    k : int or sequence of int, optional
        The cutoffs of the metrics that name none.
    table : str
        The table of recommendations as the query names it: ``"recs"``, ``"shop.recs"``, or ``"{{ ref('recs') }}"`` in a
        model of dbt. It is put into the query as it is.
    dialect : {"duckdb", "postgres", "clickhouse", "bigquery", "snowflake", "databricks", "trino", "athena"}
        The database. Tests run the queries of the first three and compare them with polars; those of the others are
        parsed.
    truth, train, features : str, optional
        Further tables, with what ``evaluate`` reads from the frames of these names.
    catalog : str or int, optional
        The table of the items that could be recommended, or how many they are.
    types : mapping, optional
        What columns hold, where that differs from the default: ``"boolean"``, ``"integer"``, ``"float"`` or ``"text"``.
        Scores, relevance and other numbers are floats, which integers and decimals may stand for; keys and items are
        text, which any type may stand for. A relevance of true and false must be named: ``{"clicked": "boolean"}``.
    truth_columns : sequence of str
        Those of `per` and `weight` that are columns of the truth and not of the table.
    feature_columns : sequence of str
        The columns of `features` that are features.
    counts : bool
        Whether to add how many lists have a value under every metric, and how many have none.
    **roles
        As for ``evaluate``: names of columns, and policies.

    Returns
    -------
    str
        The query, after a comment with the definitions. Its columns are those of ``evaluate``, with names of letters,
        digits and underscores: ``ndcg_at_10`` for ``ndcg@10``. Names without quotes are lower case in PostgreSQL and
        upper case in Snowflake; all others are quoted.

    Raises
    ------
    OptionError
        What a query of the database cannot hold; the error names it, and what to do.

    Examples
    --------
    >>> import recframe
    >>> query = recframe.sql("precision@2", by="user_id", relevant="clicked", table="recs", dialect="duckdb")
    >>> import duckdb
    >>> recs = duckdb.sql("SELECT * FROM (VALUES (1, 1, 0.9), (1, 0, 0.5), (2, 0, 0.7)) t(user_id, clicked, score)")
    >>> duckdb.sql(query).fetchall()
    [(0.5,)]
    """
    if dialect not in get_args(Dialect):
        raise one_of("dialect", dialect, get_args(Dialect))  # noqa: EM101 - the name of the argument
    if unread := [name for name in roles if name not in SQL_ROLES]:
        msg = f"sql has no argument {unread[0]!r}"
        raise OptionTypeError(
            msg, "partitions= is about frames" if unread[0] == "partitions" else "see help(recframe.sql)"
        )
    given = {
        name: check_text(name, text)
        for name, text in (("table", table), ("truth", truth), ("train", train), ("features", features))
        if text is not None
    }
    types = dict(types or {})
    check_types(types)
    read = resolved([None], {}, roles, SQL_ROLES)
    made = Tables(read, roles, types, dialect)
    frames: dict[str, Any] = {"truth": made.truth(truth_columns)} if truth is not None else {}
    frames |= {"train": made.train()} if train is not None else {}
    frames |= {"features": made.features(feature_columns)} if features is not None else {}
    if isinstance(catalog, str):
        given["catalog"], frames["catalog"] = check_text("catalog", catalog), made.catalog()
    elif catalog is not None:
        frames["catalog"] = _size(catalog)
    frame = made.table(truth_columns, truth=truth is not None)
    result = rec(frame).evaluate(metrics, k, counts=counts, **frames, **roles)
    tables = {"table": frame, **{name: each for name, each in frames.items() if isinstance(each, ibis.Table)}}
    schemas = {NAMES[name]: dict.fromkeys(each.columns, "text") for name, each in tables.items()}
    return _head(metrics, k, read, dialect) + _body(result, dialect, schemas, given, as_tuple(read.by))


def _size(catalog: Any) -> int:
    """Return how many items could be recommended, or raise for items: a query holds none."""
    if isinstance(catalog, bool) or not isinstance(catalog, int):
        msg = f"catalog={quoted(catalog)} is neither a table nor a number"
        raise OptionTypeError(
            msg, "catalog='items', the table of the items that could be recommended, or how many they are"
        )
    return catalog


def _body(
    result: Any, dialect: str, schemas: Mapping[str, Mapping[str, str]], given: Mapping[str, str], keys: Sequence[str]
) -> str:
    """Return the query of an expression."""
    # Some compilers of Ibis have names of their own for what a database does not accept.
    result = result.rename({new: old for old, new in clean(result.columns).items()})
    compiler = getattr(import_module("ibis.backends.sql.compilers"), dialect).compiler
    positions: dict[str, int] = {}

    def without_ranges(node: Any, changed: Mapping[str, Any] | None) -> Any:
        node = node.__recreate__(changed) if changed else node
        last = _last_position(node)
        if last is None:
            return node
        name = f"{PLACES}{last}"
        positions[name] = last
        return ops.UnboundTable(name, ibis.schema({POSITION: "int64"}))

    tree = compiler.to_sqlglot(result.unbind().op().replace(without_ranges).to_expr())
    schemas = {**schemas, **{name: {POSITION: "int"} for name in positions}}
    queries = queries_of(tree, compiler.dialect, schemas, signed=dialect != "clickhouse")
    sources = {NAMES[name]: "recs" if name == "table" else name for name in NAMES}
    titles = {name: "positions" if len(positions) == 1 else f"positions_to_{last}" for name, last in positions.items()}
    queries = rename(queries, {**sources, **titles}, keys, " ".join(given.values()))
    texts = {NAMES[name]: text for name, text in given.items()} | titles
    return text_of(queries, compiler.dialect, dialect, texts, {titles[name]: last for name, last in positions.items()})


def _last_position(node: Any) -> int | None:
    """Return up to which number a table counts, if it holds nothing else than the numbers from 1."""
    if not isinstance(node, ops.DummyTable) or [*node.values] != [POSITION]:
        return None
    (value,) = node.values.values()
    while isinstance(value, ops.Alias | ops.Cast | ops.Unnest):
        value = value.arg
    is_range = isinstance(value, ops.IntegerRange) and isinstance(value.stop, ops.Literal)
    return int(value.stop.value) - 1 if is_range else None


def _head(metrics: Any, k: Any, roles: Roles, dialect: str) -> str:
    """Return the comment that says what is computed."""
    default = type(roles)()
    policies = {name: getattr(roles, name) for name in EXPLAINED if getattr(roles, name) != getattr(default, name)}
    lines = [f"Written by recframe for {TITLES[dialect]}."]
    if dialect not in RUN:
        lines[0] += " Such queries are parsed by its tests, and were never run: compare some lists with polars."
    for spec in expand(metrics, k, roles.like):
        try:
            lines += ["", *explain(spec.name, roles.like, **policies).splitlines()]
        except OptionError:
            lines += ["", spec.name]
    wrapped = [piece for line in lines for piece in (textwrap.wrap(line, 110, drop_whitespace=False) or [""])]
    return "".join(f"-- {line}".rstrip() + "\n" for line in wrapped)


show_roles(sql, SQL_ROLES)
