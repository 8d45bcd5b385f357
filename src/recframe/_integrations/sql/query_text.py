"""The text of queries: a comment that says what is computed, and a WITH for each step."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from recframe._base.columns import POSITION
from recframe._integrations.sql.names import quote
from recframe._integrations.sql.packages import exp
from recframe._integrations.sql.queries import RESULT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recframe._integrations.sql.merging import Queries

POSITIONS = {
    "duckdb": "SELECT CAST({name} AS BIGINT) AS {name} FROM RANGE(1, {end}) AS numbers({name})",
    "postgres": "SELECT CAST({name} AS BIGINT) AS {name} FROM GENERATE_SERIES(1, {k}) AS numbers({name})",
    "clickhouse": "SELECT toInt64(number) + 1 AS {name} FROM numbers({k})",
    "bigquery": "SELECT {name} FROM UNNEST(GENERATE_ARRAY(1, {k})) AS {name}",
    "snowflake": "SELECT ROW_NUMBER() OVER (ORDER BY NULL) AS {name} FROM TABLE(GENERATOR(ROWCOUNT => {k}))",
    "databricks": "SELECT CAST(id AS BIGINT) AS {name} FROM RANGE(1, {end})",
    "trino": "SELECT {name} FROM UNNEST(SEQUENCE(1, {k})) AS numbers({name})",
    "athena": "SELECT {name} FROM UNNEST(SEQUENCE(1, {k})) AS numbers({name})",
}
"""Queries that return the numbers from 1 to k, by database."""


def text_of(
    queries: Queries, dialect: Any, database: str, named: Mapping[str, str], positions: Mapping[str, int]
) -> str:
    """Return the text of queries: one WITH for each, and a final SELECT.

    Parameters
    ----------
    queries : dict
        The queries by their names. The last one is the result.
    dialect : sqlglot.Dialect
        The dialect of the database.
    database : str
        The name of the database.
    named : dict
        The user's text for each table, by the table's name in the queries.
    positions : dict
        The last position in each table of positions, by the table's name in the queries.
    """
    upper = database == "snowflake"
    quoted = exp.to_identifier(POSITION)
    quote(quoted, upper=upper)
    name = quoted.sql(dialect)
    parts = {title: POSITIONS[database].format(name=name, k=k, end=k + 1) for title, k in positions.items()}
    for title, query in queries.items():
        quote(query, upper=upper)
        for table in query.find_all(exp.Table):
            if table.name in named:
                table.set("this", exp.Var(this=named[table.name]))
        parts[title] = query.sql(dialect, pretty=True)
    result = parts.pop(RESULT)
    steps = [f"{title} AS (\n{textwrap.indent(body, '  ')}\n)" for title, body in parts.items()]
    return f"WITH {', '.join(steps)}\n{result}\n" if steps else f"{result}\n"
