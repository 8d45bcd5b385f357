"""A query as a list of small ones that read each other by name."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from recframe._sql.merging import merge, outputs, readers, without_empty_parts
from recframe._sql.packages import exp

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recframe._sql.merging import Queries

RANKS = (exp.Rank, exp.DenseRank, exp.RowNumber)
RESULT = ""
"""The name of the last query."""


def queries_of(tree: Any, dialect: Any, schema: Mapping[str, Mapping[str, str]], *, signed: bool) -> Queries:
    """Return a query as few small ones.

    Parameters
    ----------
    tree : sqlglot.Expression
        The query as Ibis wrote it.
    dialect : sqlglot.Dialect
        Of the database.
    schema : dict
        The columns of each table with their types.
    signed : bool
        Whether ranks and counts are integers that may be below 0, so that they need no cast.
    """
    qualify = import_module("sqlglot.optimizer.qualify").qualify
    eliminate = import_module("sqlglot.optimizer.eliminate_subqueries").eliminate_subqueries
    # Ibis puts one node into several places, and tuples where sqlglot looks into lists only.
    tree = import_module("sqlglot").parse_one(tree.sql(dialect), dialect=dialect)
    for word in [column for column in tree.find_all(exp.Column) if not column.table and column.name in ("nan", "inf")]:
        word.replace(exp.Var(this=word.name))  # of ClickHouse

    def quoted(name: str) -> str:
        # Whether letters in quotes keep their case depends on the database.
        return str(exp.to_identifier(name, quoted=True).sql(dialect))

    types = {quoted(table): {quoted(name): kind for name, kind in columns.items()} for table, columns in schema.items()}
    tree = qualify(tree, dialect=dialect, schema=types, validate_qualify_columns=False)
    tree = eliminate(tree)
    first = tree.args.get("with_")
    tree.set("with_", None)
    queries = {each.alias: each.this for each in first.expressions} if first is not None else {}
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
    """Remove the frames of windows that have none: of ranks, and of sums over all rows of a group."""
    for window in [*query.find_all(exp.Window)]:
        if isinstance(window.this, RANKS) or not window.args.get("order"):
            window.set("spec", None)


def _count_from_one(query: Any, *, signed: bool) -> None:
    """Replace ``CAST(RANK() - 1 AS BIGINT) + 1``, as Ibis counts from 0, and casts of counts that change nothing."""
    for add in [*query.find_all(exp.Add)]:
        cast = add.this
        less = cast.this if isinstance(cast, exp.Cast) else cast
        if (
            isinstance(less, exp.Sub)
            and _is_rank(less.this)
            and {less.expression, add.expression} == {exp.Literal.number(1)}
        ):
            add.replace(less.this if signed or cast is less else exp.Cast(this=less.this, to=cast.args["to"]))
    for cast in [*query.find_all(exp.Cast)] if signed else []:
        counted = isinstance(cast.this, exp.Window) and isinstance(cast.this.this, exp.Count)
        if counted and cast.to.this == exp.DataType.Type.BIGINT:
            cast.replace(cast.this)


def _is_rank(node: Any) -> bool:
    return isinstance(node, exp.Window) and isinstance(node.this, RANKS)


def _without_copies(queries: Queries) -> Queries:
    """Return the queries without those that are the same but for the names of their columns."""
    kept: dict[tuple[Any, ...], tuple[str, list[str]]] = {}
    for name, query in [*queries.items()]:
        if not isinstance(query, exp.Select) or name == RESULT:
            continue
        columns = outputs(query)
        rest = query.copy()
        rest.set("expressions", [])
        key = (tuple(columns.values()), rest)
        same = kept.setdefault(key, (name, [*columns]))
        if same[0] != name:
            _read_instead(queries, name, [*columns], *same)
            del queries[name]
    return queries


def _read_instead(queries: Queries, name: str, columns: list[str], other: str, others: list[str]) -> None:
    """Let the readers of a query read another one, whose columns have other names."""
    names = dict(zip(columns, others, strict=True))
    for select, table in readers(queries, name):
        table.set("this", exp.to_identifier(other, quoted=True))
        for column in [column for column in select.find_all(exp.Column) if column.table == table.alias_or_name]:
            _call(column, names[column.name])


def _call(column: Any, name: str) -> None:
    """Give a column another name, under which a SELECT still returns what it did."""
    old = column.name
    column.set("this", exp.to_identifier(name, quoted=True))
    if isinstance(column.parent, exp.Select) and name != old:
        column.replace(exp.alias_(column.copy(), old, quoted=True))
