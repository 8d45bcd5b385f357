"""The call `sql`: the text of a query that computes metrics in a database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

from recframe._base.roles import ROLES
from recframe._base.signatures import checked_call, show_roles
from recframe._base.values import as_tuple, choice, column_names
from recframe._plan.request import Request
from recframe.errors import OptionTypeError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe._integrations.sql.tables import ColumnType
    from recframe.metrics import Metric

Dialect = Literal["duckdb", "postgres", "clickhouse", "bigquery", "snowflake", "databricks", "trino", "athena"]
"""The databases for which queries are written."""
SQL_ROLES = tuple(name for name, role in ROLES.items() if role.kind in ("column", "policy"))
"""The roles that `sql` takes as names of columns or as policies. The other roles are tables here, or not supported."""


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
    """Return an SQL query that computes metrics in a database.

    The query computes the same values as ``df.rec.evaluate``, also with ties and missing values.

    Parameters
    ----------
    metrics : str, Metric, or sequence of them
        As in ``evaluate``, such as ``["ndcg@10", "map@10"]``.
    k : int or sequence of int, optional
        The cutoffs of the metrics that name none.
    table : str
        The table of recommendations: ``"recs"``, ``"shop.recs"``, or ``"{{ ref('recs') }}"`` in a dbt model. The text
        is put into the query unchanged.
    dialect : {"duckdb", "postgres", "clickhouse", "bigquery", "snowflake", "databricks", "trino", "athena"}
        The database. Tests run the queries of ``"duckdb"``, ``"postgres"`` and ``"clickhouse"`` and compare them with
        polars. The queries of the other databases are only parsed.
    truth, train, features : str, optional
        Further tables, with the columns that ``evaluate`` reads from the frames of these names. The query does not know
        the schema of the truth. So all rows of the truth are relevant, unless ``relevant=`` names their relevance.
    catalog : str or int, optional
        The table of the items that could be recommended, or their number.
    types : mapping, optional
        The types of columns that differ from the default: ``"boolean"``, ``"integer"``, ``"float"`` or ``"text"``.
        Scores, relevance and other numbers are floats by default, which also fits integers and decimals. Keys and items
        are text by default, which fits any type. Ranks are cast to integers, which also fits floats without NaN. Name a
        relevance of true and false, ``{"clicked": "boolean"}``, and ranks that hold NaN, ``{"rank": "float"}``. If the
        table holds a frame of ``from_factors``, name its counts of omitted rows too:
        ``{"recframe_tied": "integer", "recframe_candidates": "integer"}``.
    truth_columns : sequence of str
        The columns of `per` and `weight` that the truth holds instead of the table.
    feature_columns : sequence of str
        The columns of the table `features` that are features.
    counts : bool
        Whether to add two columns: how many lists have a value under every metric, and how many have none.
    **roles
        Names of columns, and policies, as for ``evaluate``.

    Returns
    -------
    str
        The query, after a comment with the definitions. It has the columns of ``evaluate`` under names of letters,
        digits and underscores: ``ndcg_at_10`` for ``ndcg@10``. Names without quotes are lower case in PostgreSQL and
        upper case in Snowflake; all other names are quoted.

    Raises
    ------
    OptionError
        A query of this database cannot compute something. The error names it, and what to do.

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
    from recframe._integrations.sql.tables import Tables, check_text, checked_types
    from recframe._integrations.sql.written import check_size, text_of_call

    named = {"table": table, "truth": truth, "train": train, "features": features}
    texts = {name: check_text(name, text) for name, text in named.items() if name == "table" or text is not None}
    checked = checked_types(types)
    in_truth = as_tuple(column_names("truth_columns", truth_columns))
    feature_names = as_tuple(column_names("feature_columns", feature_columns))
    resolved_roles = Request(None, {}, roles).resolved(SQL_ROLES)
    tables = Tables(resolved_roles, roles, checked, dialect)
    frames: dict[str, Any] = {"truth": tables.truth(in_truth)} if "truth" in texts else {}
    frames |= {"train": tables.train()} if "train" in texts else {}
    frames |= {"features": tables.features(feature_names)} if "features" in texts else {}
    if isinstance(catalog, str):
        texts["catalog"] = check_text("catalog", catalog)
        frames["catalog"] = tables.catalog()
    elif catalog is not None:
        frames["catalog"] = check_size(catalog)
    frames["table"] = tables.table(in_truth, truth="truth" in texts)
    return text_of_call(metrics, k, dialect, frames, texts, resolved_roles, counts=counts, **roles)


show_roles(sql, SQL_ROLES)
