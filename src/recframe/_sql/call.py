"""From a call's arguments to the text of a query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

from recframe._arguments import ROLES
from recframe._query import resolved
from recframe._signatures import checked_call, show_roles
from recframe._values import as_tuple, choice, column_names
from recframe.errors import OptionTypeError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe._sql.tables import ColumnType
    from recframe.metrics import Metric

Dialect = Literal["duckdb", "postgres", "clickhouse", "bigquery", "snowflake", "databricks", "trino", "athena"]
"""The databases for which queries are written."""
SQL_ROLES = tuple(name for name, role in ROLES.items() if role.kind in ("column", "policy"))
"""The others are tables here, or nothing."""


@checked_call
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
        The database. Tests run the queries of ``"duckdb"``, ``"postgres"`` and ``"clickhouse"`` and compare them with
        polars. The queries of the others are only parsed.
    truth, train, features : str, optional
        Further tables, with what ``evaluate`` reads from the frames of these names. A query knows no schema: all rows
        of the truth are relevant, unless ``relevant=`` names their relevance.
    catalog : str or int, optional
        The table of the items that could be recommended, or how many they are.
    types : mapping, optional
        What columns hold, where that differs from the default: ``"boolean"``, ``"integer"``, ``"float"`` or ``"text"``.
        Scores, relevance and other numbers are floats, which integers and decimals may stand for; keys and items are
        text, which any type may stand for. Ranks are cast to integers, so floats may stand for them, except NaN. A
        relevance of true and false must be named, ``{"clicked": "boolean"}``, and so must ranks that hold NaN,
        ``{"rank": "float"}``.
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
    choice("dialect", dialect, get_args(Dialect))
    if unread := [name for name in roles if name not in SQL_ROLES]:
        msg = f"sql has no argument {unread[0]!r}"
        raise OptionTypeError(
            msg, "`partitions=` is about frames" if unread[0] == "partitions" else "see help(recframe.sql)"
        )
    # Ibis and sqlglot are imported by the first query.
    from recframe._sql.tables import Tables, check_text, checked_types
    from recframe._sql.written import check_size, text_of_call

    named = {"table": table, "truth": truth, "train": train, "features": features}
    texts = {name: check_text(name, text) for name, text in named.items() if name == "table" or text is not None}
    held = checked_types(types)
    of_truth = as_tuple(column_names("truth_columns", truth_columns))
    of_features = as_tuple(column_names("feature_columns", feature_columns))
    read = resolved([None], {}, roles, SQL_ROLES)
    made = Tables(read, roles, held, dialect)
    frames: dict[str, Any] = {"truth": made.truth(of_truth)} if "truth" in texts else {}
    frames |= {"train": made.train()} if "train" in texts else {}
    frames |= {"features": made.features(of_features)} if "features" in texts else {}
    if isinstance(catalog, str):
        texts["catalog"], frames["catalog"] = check_text("catalog", catalog), made.catalog()
    elif catalog is not None:
        frames["catalog"] = check_size(catalog)
    frames["table"] = made.table(of_truth, truth="truth" in texts)
    return text_of_call(metrics, k, dialect, frames, texts, read, counts=counts, **roles)


show_roles(sql, SQL_ROLES)
