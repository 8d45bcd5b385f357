"""Merges queries: if one SELECT reads another one and nothing else does, both become a single SELECT."""

from __future__ import annotations

from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, Any

from recframe._integrations.sql.packages import exp

if TYPE_CHECKING:
    from collections.abc import Mapping


Queries = dict[str, Any]
"""Queries by their names, each after the queries that it reads. The last one is the result."""
MOST_REPEATED = 7
"""The largest expression, in nodes, that may be written several times to save a query."""


# --- parts of a query -------------------------------------------------------------------------------------------


def selects(query: Any) -> list[Any]:
    """Return the SELECTs of a query: one, or all that a UNION stacks."""
    if isinstance(query, exp.Select):
        return [query]
    return [select for side in (query.this, query.expression) for select in selects(side.unnest())]


def tables(select: Any) -> list[Any]:
    """Return the tables that a SELECT reads: the first one, and the joined ones."""
    first = select.args.get("from_")
    return [] if first is None else [first.this, *(join.this for join in select.args.get("joins") or ())]


def outputs(select: Any) -> dict[str, Any]:
    """Return the columns of a SELECT: its expressions by their names."""
    columns = {}
    for column in select.expressions:
        columns[column.alias_or_name] = column.this if isinstance(column, exp.Alias) else column
    return columns


def readers(queries: Queries, name: str) -> list[tuple[Any, Any]]:
    """Return the SELECTs that read a query, each with its table node for the query."""
    return [
        (select, table)
        for query in queries.values()
        for select in selects(query)
        for table in tables(select)
        if isinstance(table, exp.Table) and table.name == name
    ]


def _has(select: Any, *kinds: Any) -> bool:
    """Return whether a column of a SELECT contains a node of some kinds, such as a window."""
    return any(column.find(*kinds) is not None for column in select.expressions)


def is_grouped(select: Any) -> bool:
    """Return whether a SELECT aggregates: one row per group, or a single row."""
    if select.args.get("group") is not None:
        return True
    # A sum over a window does not aggregate rows.
    aggregates = (node for column in select.expressions for node in column.find_all(exp.AggFunc))
    return any(node.find_ancestor(exp.Window) is None for node in aggregates)


def _is_generator(select: Any) -> bool:
    """Return whether a SELECT generates rows instead of reading them from tables."""
    return (
        select.args.get("from_") is None
        or _has(select, exp.Explode, exp.Unnest, exp.UDTF)
        or any(not isinstance(table, exp.Table) for table in tables(select))
    )


# --- merging ----------------------------------------------------------------------------------------------------


def merge(queries: Queries) -> Queries:
    """Return fewer queries: a query with a single reader is merged into it, if the result stays the same."""
    for name in [*queries][:-1]:
        inner = queries[name]
        read_by = readers(queries, name)
        if isinstance(inner, exp.Select) and len(read_by) == 1 and _may_merge(inner, *read_by[0]):
            _put_into(inner, *read_by[0])
            del queries[name]
    return queries


def without_empty_parts(queries: Queries) -> Queries:
    """Return the queries without the part of a UNION that the only reader's WHERE leaves out, judging by constants."""
    simplify = import_module("sqlglot.optimizer.simplify").simplify
    for name, query in queries.items():
        read_by = readers(queries, name)
        if isinstance(query, exp.Select) or len(read_by) != 1:
            continue
        ((reader, table),) = read_by
        where = reader.args.get("where")
        if where is None or table.parent is not reader.args["from_"]:
            continue
        first = query.this.unnest()
        second = query.expression.unnest()
        if isinstance(second, exp.Select) and isinstance(first, exp.Select):
            constants = dict(zip(outputs(first), outputs(second).values(), strict=True))
            if simplify(_with_constants(where.this, table.alias_or_name, constants)) == exp.false():
                queries[name] = first
    return queries


def _with_constants(condition: Any, alias: str, columns: Mapping[str, Any]) -> Any:
    """Return a condition in which columns that are constant are replaced by their values."""

    def constant(node: Any) -> Any:
        if not isinstance(node, exp.Column) or node.table != alias:
            return node.copy() if isinstance(node, exp.Literal) else node
        value = _uncast(columns.get(node.name, node))
        return value.copy() if isinstance(value, exp.Literal) else node

    return condition.transform(constant)


def _may_merge(inner: Any, outer: Any, table: Any) -> bool:
    """Return whether one SELECT can compute what two do, without being harder to read."""
    clauses = ("distinct", "limit", "offset", "order", "qualify", "having")
    if _is_generator(inner) or any(inner.args.get(name) for name in clauses):
        return False
    columns = outputs(inner)
    if table.parent is not outer.args["from_"]:
        bare = all(isinstance(_uncast(column), exp.Column) for column in columns.values())
        return bare and len(tables(inner)) == 1 and not inner.args.get("where") and not is_grouped(inner)
    reads = _reads(outer, table.alias_or_name)
    if any(len(read) > 1 and _is_long(columns[name]) for name, read in reads.items()):
        return False
    if is_grouped(inner) or _has(inner, exp.Window):
        rows = outer.args.get("where") or outer.args.get("joins") or is_grouped(outer)
        windows = _has(outer, exp.Window) if is_grouped(inner) else _windows_over(reads, columns)
        return not rows and not windows
    grouped = outer.args.get("group")
    keys = [key for key in grouped.expressions if isinstance(key, exp.Column)] if grouped is not None else []
    return all(isinstance(columns[key.name], exp.Column) for key in keys if key.table == table.alias_or_name)


def _uncast(column: Any) -> Any:
    """Return the expression inside a cast. A row without a match in a join has a missing value, cast or not.

    In ClickHouse such a row has a 0, unless a cast before the join makes the column nullable. That cast stays.
    """
    return column.this if isinstance(column, exp.Cast) and not column.to.args.get("nullable") else column


def _reads(outer: Any, alias: str) -> dict[str, list[Any]]:
    """Return the nodes of a SELECT that read columns of a table, by the name of the column."""
    reads: dict[str, list[Any]] = {}
    for column in outer.find_all(exp.Column):
        if column.table == alias:
            reads.setdefault(column.name, []).append(column)
    return reads


def _windows_over(reads: Mapping[str, list[Any]], columns: Mapping[str, Any]) -> bool:
    """Return whether a window reads a column that contains a window."""
    windowed = [name for name in reads if columns[name].find(exp.Window) is not None]
    return any(column.find_ancestor(exp.Window) is not None for name in windowed for column in reads[name])


def _is_long(node: Any) -> bool:
    """Return whether an expression is too long to be written several times."""
    size = sum(not isinstance(part, exp.Identifier | exp.DataType) for part in node.walk())
    return size > MOST_REPEATED or node.find(exp.Window) is not None


def _put_into(inner: Any, outer: Any, table: Any) -> None:
    """Merge the inner SELECT into the outer one, in place of the table that reads it."""
    alias = table.alias_or_name
    taken = {other.alias_or_name for other in tables(outer)} - {alias}
    _rename_tables(inner, taken)
    columns = outputs(inner)
    for name, read in _reads(outer, alias).items():
        for column in read:
            new = columns[name].copy()
            if isinstance(column.parent, exp.Select) and column.arg_key == "expressions":
                new = exp.alias_(new, name, quoted=True)
            column.replace(
                new
                if isinstance(new, exp.Column | exp.Alias | exp.Literal | exp.Cast | exp.Func)
                else exp.paren(new, copy=False)
            )
    table.replace(inner.args["from_"].this.copy())
    joins = [join.copy() for join in inner.args.get("joins") or ()]
    if joins:
        outer.set("joins", [*joins, *(outer.args.get("joins") or ())])
    where = inner.args.get("where")
    if where is not None:
        outer.where(where.this.copy(), copy=False)
    if inner.args.get("group") is not None:
        outer.set("group", inner.args["group"].copy())


def _rename_tables(select: Any, taken: set[str]) -> None:
    """Give the tables of a SELECT names that are not taken."""
    for table in tables(select):
        old = table.alias_or_name
        new = old
        number = 2
        while new in taken:
            new = f"{old}_{number}"
            number += 1
        if new != old:
            table.set("alias", exp.TableAlias(this=exp.to_identifier(new, quoted=True)))
            for column in chain.from_iterable(_reads(select, old).values()):
                column.set("table", exp.to_identifier(new, quoted=True))
