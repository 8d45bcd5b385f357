"""Splits the query of Ibis into small queries that read each other by name."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from recframe._integrations.sql.merging import merge, outputs, readers, without_empty_parts
from recframe._integrations.sql.packages import exp

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recframe._integrations.sql.merging import Queries

RANKS = (exp.Rank, exp.DenseRank, exp.RowNumber)
RESULT = ""
"""The name of the last query."""


def queries_of(tree: Any, dialect: Any, schema: Mapping[str, Mapping[str, str]], *, signed: bool) -> Queries:
    """Return a query as a few small queries.

    Parameters
    ----------
    tree : sqlglot.Expression
        The query, written by Ibis.
    dialect : sqlglot.Dialect
        The dialect of the database.
    schema : dict
        The columns of each table with their types.
    signed : bool
        Whether ranks and counts are signed integers in this database. Then casts of them are not needed.
    """
    qualify = import_module("sqlglot.optimizer.qualify").qualify
    eliminate = import_module("sqlglot.optimizer.eliminate_subqueries").eliminate_subqueries
    # Parse the text again, because Ibis shares nodes and uses tuples in places where sqlglot only searches lists.
    tree = import_module("sqlglot").parse_one(tree.sql(dialect), dialect=dialect)
    for word in [column for column in tree.find_all(exp.Column) if not column.table and column.name in ("nan", "inf")]:
        word.replace(exp.Var(this=word.name))  # ClickHouse's words for these numbers

    def quoted(name: str) -> str:
        # It depends on the database whether quoted names keep their case.
        return str(exp.to_identifier(name, quoted=True).sql(dialect))

    types = {quoted(table): {quoted(name): kind for name, kind in columns.items()} for table, columns in schema.items()}
    tree = qualify(tree, dialect=dialect, schema=types, validate_qualify_columns=False)
    tree = eliminate(tree)
    first = tree.args.get("with_")
    tree.set("with_", None)
    queries = {step.alias: step.this for step in first.expressions} if first is not None else {}
    queries[RESULT] = tree
    for query in queries.values():
        _drop_frames(query)
        _count_from_one(query, signed=signed)
    count = 0
    while count != len(queries):
        count = len(queries)
        queries = _without_copies(merge(without_empty_parts(queries)))
    return queries


def _drop_frames(query: Any) -> None:
    """Remove window frames that change nothing: of ranks, and of windows without an order."""
    for window in [*query.find_all(exp.Window)]:
        if isinstance(window.this, RANKS) or not window.args.get("order"):
            window.set("spec", None)


def _count_from_one(query: Any, *, signed: bool) -> None:
    """Simplify ``CAST(RANK() - 1 AS BIGINT) + 1``, because Ibis counts from 0, and remove casts of counts."""
    for add in [*query.find_all(exp.Add)]:
        cast = add.this
        minus = cast.this if isinstance(cast, exp.Cast) else cast
        if (
            isinstance(minus, exp.Sub)
            and _is_rank(minus.this)
            and {minus.expression, add.expression} == {exp.Literal.number(1)}
        ):
            add.replace(minus.this if signed or cast is minus else exp.Cast(this=minus.this, to=cast.args["to"]))
    for cast in [*query.find_all(exp.Cast)] if signed else []:
        is_count = isinstance(cast.this, exp.Window) and isinstance(cast.this.this, exp.Count)
        if is_count and cast.to.this == exp.DataType.Type.BIGINT:
            cast.replace(cast.this)


def _is_rank(node: Any) -> bool:
    """Return whether a node is a rank or a row number over a window."""
    return isinstance(node, exp.Window) and isinstance(node.this, RANKS)


def _without_copies(queries: Queries) -> Queries:
    """Return the queries without copies: queries that only differ in the names of their columns."""
    originals: dict[tuple[Any, ...], tuple[str, list[str]]] = {}
    for name, query in [*queries.items()]:
        if not isinstance(query, exp.Select) or name == RESULT:
            continue
        columns = outputs(query)
        rest = query.copy()
        rest.set("expressions", [])
        key = (tuple(columns.values()), rest)
        original, original_columns = originals.setdefault(key, (name, [*columns]))
        if original != name:
            _read_instead(queries, name, [*columns], original, original_columns)
            del queries[name]
    return queries


def _read_instead(queries: Queries, name: str, columns: list[str], other: str, others: list[str]) -> None:
    """Change the readers of a query so that they read another query, whose columns have other names."""
    names = dict(zip(columns, others, strict=True))
    for select, table in readers(queries, name):
        table.set("this", exp.to_identifier(other, quoted=True))
        for column in [column for column in select.find_all(exp.Column) if column.table == table.alias_or_name]:
            _rename_column(column, names[column.name])


def _rename_column(column: Any, name: str) -> None:
    """Read a column under another name. A SELECT that returns it gets an alias, so that the result stays the same."""
    old = column.name
    column.set("this", exp.to_identifier(name, quoted=True))
    if isinstance(column.parent, exp.Select) and name != old:
        column.replace(exp.alias_(column.copy(), old, quoted=True))
