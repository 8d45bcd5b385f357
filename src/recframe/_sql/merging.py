"""Fewer queries: what two SELECTs in a row compute, one computes."""

from __future__ import annotations

from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, Any

from recframe._sql.packages import exp

if TYPE_CHECKING:
    from collections.abc import Mapping


Queries = dict[str, Any]
"""The queries of a text by their names, each after those that it reads; the last one is the result."""
MOST_REPEATED = 7
"""How large an expression may be that is written several times so that its query can go."""


# --- what is where ----------------------------------------------------------------------------------------------


def selects(query: Any) -> list[Any]:
    """Return the SELECTs of a query: one, or those whose rows are put together."""
    if isinstance(query, exp.Select):
        return [query]
    return [select for side in (query.this, query.expression) for select in selects(side.unnest())]


def tables(select: Any) -> list[Any]:
    """Return the tables that a SELECT reads: the first, and those that it joins."""
    first = select.args.get("from_")
    return [] if first is None else [first.this, *(join.this for join in select.args.get("joins") or ())]


def outputs(select: Any) -> dict[str, Any]:
    """Return the columns of a SELECT: its expressions by their names."""
    return {each.alias_or_name: each.this if isinstance(each, exp.Alias) else each for each in select.expressions}


def readers(queries: Queries, name: str) -> list[tuple[Any, Any]]:
    """Return the SELECTs that read a query, each with the table as which it does."""
    return [
        (select, table)
        for query in queries.values()
        for select in selects(query)
        for table in tables(select)
        if isinstance(table, exp.Table) and table.name == name
    ]


def _has(select: Any, *kinds: Any) -> bool:
    """Return whether a column of a SELECT holds an expression of some kinds: one with a window reads other rows."""
    return any(each.find(*kinds) is not None for each in select.expressions)


def is_grouped(select: Any) -> bool:
    """Return whether a SELECT gives a row for each group, or one for all rows."""
    if select.args.get("group") is not None:
        return True
    # A sum over a window is none of a group.
    return any(
        found.find_ancestor(exp.Window) is None for each in select.expressions for found in each.find_all(exp.AggFunc)
    )


def _is_generator(select: Any) -> bool:
    """Return whether a SELECT makes rows of its own."""
    return (
        select.args.get("from_") is None
        or _has(select, exp.Explode, exp.Unnest, exp.UDTF)
        or any(not isinstance(table, exp.Table) for table in tables(select))
    )


# --- one instead of two -----------------------------------------------------------------------------------------


def merge(queries: Queries) -> Queries:
    """Return fewer queries: each one that a single SELECT reads is put into it where that computes the same."""
    for name in [*queries][:-1]:
        inner, read = queries[name], readers(queries, name)
        if isinstance(inner, exp.Select) and len(read) == 1 and _may_merge(inner, *read[0]):
            _put_into(inner, *read[0])
            del queries[name]
    return queries


def without_empty_parts(queries: Queries) -> Queries:
    """Return the queries without rows that the only reader leaves out, as their constants tell."""
    simplify = import_module("sqlglot.optimizer.simplify").simplify
    for name, query in queries.items():
        read = readers(queries, name)
        if isinstance(query, exp.Select) or len(read) != 1:
            continue
        ((reader, table),) = read
        where = reader.args.get("where")
        if where is None or table.parent is not reader.args["from_"]:
            continue
        first, second = query.this.unnest(), query.expression.unnest()
        if isinstance(second, exp.Select) and isinstance(first, exp.Select):
            constants = dict(zip(outputs(first), outputs(second).values(), strict=True))
            if simplify(_with_constants(where.this, table.alias_or_name, constants)) == exp.false():
                queries[name] = first
    return queries


def _with_constants(condition: Any, alias: str, columns: Mapping[str, Any]) -> Any:
    """Return a condition with the numbers of the columns that are one."""

    def constant(node: Any) -> Any:
        of = _uncast(columns.get(node.name, node)) if isinstance(node, exp.Column) and node.table == alias else node
        return of.copy() if isinstance(of, exp.Literal) else node

    return condition.transform(constant)


def _may_merge(inner: Any, outer: Any, table: Any) -> bool:
    """Return whether one SELECT computes what two do, and is as easy to read."""
    other = ("distinct", "limit", "offset", "order", "qualify", "having")
    if _is_generator(inner) or any(inner.args.get(name) for name in other):
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
    """Return what a cast is of: a row that finds no other one has no value, and the cast of none is none.

    In ClickHouse such a row has a 0, unless a cast before the join says that values may be missing.
    """
    return column.this if isinstance(column, exp.Cast) and not column.to.args.get("nullable") else column


def _reads(outer: Any, alias: str) -> dict[str, list[Any]]:
    """Return where a SELECT reads the columns of a table, by their names."""
    found: dict[str, list[Any]] = {}
    for column in outer.find_all(exp.Column):
        if column.table == alias:
            found.setdefault(column.name, []).append(column)
    return found


def _windows_over(reads: Mapping[str, list[Any]], columns: Mapping[str, Any]) -> bool:
    """Return whether a window reads what is one itself."""
    windowed = [name for name in reads if columns[name].find(exp.Window) is not None]
    return any(column.find_ancestor(exp.Window) is not None for name in windowed for column in reads[name])


def _is_long(node: Any) -> bool:
    """Return whether an expression is too long to be written several times."""
    size = sum(not isinstance(each, exp.Identifier | exp.DataType) for each in node.walk())
    return size > MOST_REPEATED or node.find(exp.Window) is not None


def _put_into(inner: Any, outer: Any, table: Any) -> None:
    """Replace the table that a SELECT reads by what its own SELECT reads."""
    alias = table.alias_or_name
    taken = {each.alias_or_name for each in tables(outer)} - {alias}
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
    """Give the tables of a SELECT other names than those that are taken."""
    for each in tables(select):
        old, new, number = each.alias_or_name, each.alias_or_name, 2
        while new in taken:
            new, number = f"{old}_{number}", number + 1
        if new != old:
            each.set("alias", exp.TableAlias(this=exp.to_identifier(new, quoted=True)))
            for column in chain.from_iterable(_reads(select, old).values()):
                column.set("table", exp.to_identifier(new, quoted=True))
