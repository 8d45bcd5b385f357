"""Names that say what a query adds, and that all databases accept."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from recframe._columns import key_column
from recframe._sql.merging import is_grouped, outputs, selects, tables
from recframe._sql.packages import exp

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from recframe._sql.merging import Queries

LONGEST_SQL_NAME = 60
"""How long a name may be: PostgreSQL cuts names after 63 bytes."""
PLAIN = re.compile("[a-z_][a-z0-9_]*")
DRAWN = re.compile("_?[0-9a-f]{12,}")
"""What Narwhals draws at random for a column of its own; equal calls have equal texts."""
MOST_ADDED = 2
"""How many columns the name of a query mentions."""
RESERVED = frozenset(
    """
    all analyse analyze and any array as asc asymmetric at authorization between binary both by case cast check
    collate collation column columns concurrently constraint count create cross cube current current_catalog
    current_date current_role current_schema current_time current_timestamp current_user date default deferrable
    delete desc describe distinct do drop else end enum escape except exclude exists explain extract false fetch
    filter final first following for foreign format freeze from full function grant group grouping groups having if
    ignore ilike in index initially inner insert int integer intersect interval into is isnull item join key last
    lateral leading left like limit localtime localtimestamp lookup merge model natural new no not notnull null
    nulls number of offset on only or order outer over overlaps partition placing position preceding primary proto
    qualify range rank recursive references regexp respect returning right rlike rollup row rows sample score select
    session_user set similar some start symmetric table tablesample text then time timestamp to trailing treat
    trigger true try_cast unbounded union unique unnest update user using value values variadic verbose view when
    where window with within
    """.split()  # noqa: SIM905 - a word a line is a page
)
"""Words that a database may read as something else than a name. PostgreSQL reads ``user`` as who is logged in."""


def clean(names: Iterable[str], taken: Iterable[str] = ()) -> dict[str, str]:
    """Return a name of letters, digits and underscores for each name: ``ndcg_at_10`` for ``ndcg@10``."""
    renamed: dict[str, str] = {}
    used = set(taken)
    for name in names:
        name_of_call = DRAWN.sub("", name)
        base = re.sub(r"\W+", "_", name_of_call.replace("@", "_at_")).strip("_").lower() or "column"
        base = base if not base[0].isdigit() else f"_{base}"
        base = new = base[:LONGEST_SQL_NAME]
        number = 2
        while new in used:
            new, number = f"{base[: LONGEST_SQL_NAME - 4]}_{number}", number + 1
        used.add(new)
        renamed[name] = new
    return renamed


def rename(queries: Queries, sources: Mapping[str, str], keys: Sequence[str], text: str) -> Queries:
    """Return queries under names that say what each adds, and their columns under names that need no quotes.

    Parameters
    ----------
    queries : dict
        By the names that they have.
    sources : dict
        The names of the user's tables in queries by what they hold, such as ``"truth"``.
    keys : sequence of str
        The user's columns of the list key.
    text : str
        What no name of a query may be part of: the text of the user's tables.
    """
    columns = _columns(queries, keys)
    _rename_columns(queries, columns)
    names = _names(queries, {columns.get(key_column(index), key) for index, key in enumerate(keys)}, text)
    for query in queries.values():
        for select in selects(query):
            _rename_tables(select, names, sources)
    return {names[name]: query for name, query in queries.items()}


def _columns(queries: Queries, keys: Sequence[str]) -> dict[str, str]:
    """Return the new names of the columns of queries."""
    every = dict.fromkeys(name for query in queries.values() for select in selects(query) for name in outputs(select))
    key_of = {key_column(index): key for index, key in enumerate(keys)}
    key_of = {name: key for name, key in key_of.items() if name in every and key not in every}
    result = list(outputs(selects([*queries.values()][-1])[0]))
    first = clean(result)
    others = clean(
        [name for name in every if name not in first and name not in key_of], taken=[*first.values(), *key_of.values()]
    )
    return {**others, **key_of, **first}


def _rename_columns(queries: Queries, columns: Mapping[str, str]) -> None:
    for query in queries.values():
        for select in selects(query):
            queried = {
                table.alias_or_name
                for table in tables(select)
                if isinstance(table, exp.Table) and table.name in queries
            }
            for column in select.find_all(exp.Column):
                if column.table in queried:
                    column.set("this", exp.to_identifier(columns[column.name]))
            for each in select.expressions:
                new = columns[each.alias_or_name]
                if isinstance(each, exp.Alias):
                    each.set("alias", exp.to_identifier(new))
                elif each.alias_or_name != new:
                    each.replace(exp.alias_(each.copy(), new))


def _names(queries: Queries, keys: set[str], text: str) -> dict[str, str]:
    """Return names that say what queries add to those that they read."""
    written: dict[str, set[str]] = {}
    titles: dict[str, str] = {}
    *steps, result = queries
    for name in steps:
        first, *others = selects(queries[name])
        written[name] = set(outputs(first))
        read_columns = keys.union(*(written.get(table.name, ()) for table in tables(first)))
        added = [column for column in outputs(first) if column not in read_columns]
        what = "_and_".join(added[-MOST_ADDED:])
        if others:
            title = "parts_of_lists"
        elif first.args.get("group") is not None:
            title = f"lists_with_{what}" if what else "lists"
        elif is_grouped(first):
            title = "totals"
        else:
            title = f"with_{what}" if what else "needed_rows"
        free = clean([title], taken=titles.values())[title]
        while free in text.lower():
            free = f"{free}_"
        titles[name] = free
    return {**titles, result: ""}


def _rename_tables(select: Any, names: Mapping[str, str], sources: Mapping[str, str]) -> None:
    """Let a SELECT read the queries by their new names."""
    taken = {table.alias_or_name for table in tables(select) if not isinstance(table, exp.Table)}
    for table in [table for table in tables(select) if isinstance(table, exp.Table)]:
        old, name = table.alias_or_name, table.name
        new = base = sources.get(name) or names[name]
        number = 2
        while new in taken:
            new, number = f"{base}_{number}", number + 1
        taken.add(new)
        for column in [column for column in select.find_all(exp.Column) if column.table == old]:
            column.set("table", exp.to_identifier(f"\0{new}"))  # not a name that another table has still
        table.set("this", exp.to_identifier(names.get(name, name)))
        table.set("alias", None if new == names.get(name) else exp.TableAlias(this=exp.to_identifier(new)))
    for column in [column for column in select.find_all(exp.Column) if column.table.startswith("\0")]:
        column.set("table", exp.to_identifier(column.table[1:]))


def quote(tree: Any, *, upper: bool) -> None:
    """Quote the names that need it: databases that read names without quotes as upper case have them so."""
    for identifier in tree.find_all(exp.Identifier):
        name = identifier.this
        plain = PLAIN.fullmatch(name) is not None and name not in RESERVED
        if upper and not plain and PLAIN.fullmatch(name):
            identifier.set("this", name.upper())
        identifier.set("quoted", not plain)
