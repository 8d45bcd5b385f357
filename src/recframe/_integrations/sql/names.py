"""Readable names for queries and columns, which all databases accept."""

from __future__ import annotations

import re
from hashlib import md5
from typing import TYPE_CHECKING, Any

from recframe._base.columns import key_column
from recframe._integrations.sql.merging import is_grouped, outputs, selects, tables
from recframe._integrations.sql.packages import exp

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from recframe._integrations.sql.merging import Queries

LONGEST_SQL_NAME = 60
"""The longest name. PostgreSQL cuts names after 63 bytes."""
PLAIN = re.compile("[a-z_][a-z0-9_]*")
RANDOM_PARTS = re.compile("_?[0-9a-f]{12,}")
"""Random parts of Narwhals' own column names. They are removed, so that equal calls have equal texts."""
RANDOM_NAME = re.compile("(ibis_[a-z_]+)_[a-z2-7]{26}")
"""A name that Ibis gives to an array or to its values."""
RANDOM_TEXT = re.compile("[0-9a-f]{32}")
"""A text of Ibis that no value is likely to hold, to separate values."""
MOST_ADDED = 2
"""How many added columns the name of a query mentions."""
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
"""Words that a database may not read as a name. In PostgreSQL, ``user`` is the user who is logged in."""


def clean(names: Iterable[str], taken: Iterable[str] = ()) -> dict[str, str]:
    """Return a unique name of letters, digits and underscores for each name: ``ndcg_at_10`` for ``ndcg@10``."""
    renamed: dict[str, str] = {}
    used = set(taken)
    for name in names:
        name_of_call = RANDOM_PARTS.sub("", name)
        base = re.sub(r"\W+", "_", name_of_call.replace("@", "_at_")).strip("_").lower() or "column"
        base = base if not base[0].isdigit() else f"_{base}"
        base = base[:LONGEST_SQL_NAME]
        new = base
        number = 2
        while new in used:
            new = f"{base[: LONGEST_SQL_NAME - 4]}_{number}"
            number += 1
        used.add(new)
        renamed[name] = new
    return renamed


def without_random_parts(tree: Any) -> Any:
    """Return a query whose random names and separators, as Ibis makes them, have numbers in place of random letters."""
    new: dict[str, str] = {}
    for node in [*tree.find_all(exp.Identifier, exp.Literal)]:
        text = node.this
        if isinstance(node, exp.Identifier) and (match := RANDOM_NAME.fullmatch(text)):
            node.set("this", new.setdefault(text, f"{match[1]}_{len(new) + 1}"))
        elif isinstance(node, exp.Literal) and node.is_string and RANDOM_TEXT.fullmatch(text):
            node.set("this", new.setdefault(text, md5(f"{len(new)}".encode(), usedforsecurity=False).hexdigest()))
    return tree


def rename(queries: Queries, sources: Mapping[str, str], keys: Sequence[str], text: str) -> Queries:
    """Return queries with new names: a query is named after the columns that it adds, and columns need no quotes.

    Parameters
    ----------
    queries : dict
        The queries by their current names.
    sources : dict
        The new names of the user's tables, such as ``"truth"``, by their current names.
    keys : sequence of str
        The user's columns of the list key.
    text : str
        The user's text of the tables. No name of a query may be part of it.
    """
    columns = _columns(queries, keys)
    _rename_columns(queries, columns)
    names = _names(queries, {columns.get(key_column(index), key) for index, key in enumerate(keys)}, text)
    for query in queries.values():
        for select in selects(query):
            _rename_tables(select, names, sources)
    return {names[name]: query for name, query in queries.items()}


def _columns(queries: Queries, keys: Sequence[str]) -> dict[str, str]:
    """Return the new name of each column. Columns of the result come first, so that they get the best names."""
    names = dict.fromkeys(name for query in queries.values() for select in selects(query) for name in outputs(select))
    key_of = {key_column(index): key for index, key in enumerate(keys)}
    key_of = {name: key for name, key in key_of.items() if name in names and key not in names}
    result = list(outputs(selects([*queries.values()][-1])[0]))
    first = clean(result)
    others = clean(
        [name for name in names if name not in first and name not in key_of], taken=[*first.values(), *key_of.values()]
    )
    return {**others, **key_of, **first}


def _rename_columns(queries: Queries, columns: Mapping[str, str]) -> None:
    """Rename the columns that the queries return, and the columns that they read from each other."""
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
            for output in select.expressions:
                new = columns[output.alias_or_name]
                if isinstance(output, exp.Alias):
                    output.set("alias", exp.to_identifier(new))
                elif output.alias_or_name != new:
                    output.replace(exp.alias_(output.copy(), new))


def _names(queries: Queries, keys: set[str], text: str) -> dict[str, str]:
    """Return new names of queries, by their current names. A name mentions the columns that the query adds."""
    written: dict[str, set[str]] = {}
    titles: dict[str, str] = {}
    *steps, result = queries
    for name in steps:
        first, *others = selects(queries[name])
        written[name] = set(outputs(first))
        read_columns = keys.union(*(written.get(table.name, ()) for table in tables(first)))
        added = [column for column in outputs(first) if column not in read_columns]
        added_text = "_and_".join(added[-MOST_ADDED:])
        if others:
            title = "parts_of_lists"
        elif first.args.get("group") is not None:
            title = f"lists_with_{added_text}" if added_text else "lists"
        elif is_grouped(first):
            title = "totals"
        else:
            title = f"with_{added_text}" if added_text else "needed_rows"
        unused = clean([title], taken=titles.values())[title]
        while unused in text.lower():
            unused = f"{unused}_"
        titles[name] = unused
    return {**titles, result: ""}


def _rename_tables(select: Any, names: Mapping[str, str], sources: Mapping[str, str]) -> None:
    """Change the tables of a SELECT to the new names of queries."""
    taken = {table.alias_or_name for table in tables(select) if not isinstance(table, exp.Table)}
    for table in [table for table in tables(select) if isinstance(table, exp.Table)]:
        old = table.alias_or_name
        name = table.name
        base = sources.get(name) or names[name]
        new = base
        number = 2
        while new in taken:
            new = f"{base}_{number}"
            number += 1
        taken.add(new)
        for column in [column for column in select.find_all(exp.Column) if column.table == old]:
            # Marked by a character that no name has, because another table may still have the new name as its old one.
            column.set("table", exp.to_identifier(f"\0{new}"))
        table.set("this", exp.to_identifier(names.get(name, name)))
        table.set("alias", None if new == names.get(name) else exp.TableAlias(this=exp.to_identifier(new)))
    for column in [column for column in select.find_all(exp.Column) if column.table.startswith("\0")]:
        column.set("table", exp.to_identifier(column.table[1:]))


def quote(tree: Any, *, upper: bool) -> None:
    """Quote the names that need it. With `upper`, the database reads unquoted names as upper case."""
    for identifier in tree.find_all(exp.Identifier):
        name = identifier.this
        needs_no_quotes = PLAIN.fullmatch(name) is not None and name not in RESERVED
        if upper and not needs_no_quotes and PLAIN.fullmatch(name):
            identifier.set("this", name.upper())
        identifier.set("quoted", not needs_no_quotes)
