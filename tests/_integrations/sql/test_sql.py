"""The text of a query computes what eager polars does: on DuckDB, and with --all on PostgreSQL and ClickHouse."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions, requires
from importlib.util import find_spec
from pathlib import Path
from typing import get_args

import pytest

import recframe
from engines import ENGINES
from engines.databases import SERVER, ClickHouse, PostgreSQL
from recframe._base.roles import MeanKind
from recframe.metrics import METRICS
from recframe.metrics._beyond_accuracy import ExposureMetric
from spellings import spellings_of
from strategies import crowd, shop

pytest.importorskip("polars")
pytest.importorskip("pyarrow")
sqlglot = pytest.importorskip("sqlglot")
ibis = pytest.importorskip("ibis")
from recframe._integrations.sql.names import clean  # noqa: E402 - it needs sqlglot


class DuckDB:
    """Tables of DuckDB."""

    name = "duckdb"

    def __init__(self):
        self.tables = ENGINES["ibis"].engine

    def rows(self, tables, query):
        import duckdb

        connection = duckdb.connect()
        for name, rows in tables.items():
            connection.register(name, self.tables.table(rows))
        return connection.sql(query).to_arrow_table().to_pylist()


class OnPostgreSQL(PostgreSQL):
    """Tables of PostgreSQL under names."""

    def rows(self, tables, query):
        connection = self.connection
        for name, rows in tables.items():
            with connection.con.cursor() as cursor:
                cursor.execute(f'DROP TABLE IF EXISTS "{name}"')
            connection.create_table(name, self.table(rows), temp=True)
        with connection.con.cursor() as cursor:
            cursor.execute(query)
            names = [column.name for column in cursor.description]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


class OnClickHouse(ClickHouse):
    """Tables of ClickHouse under names."""

    def rows(self, tables, query):
        for name, rows in tables.items():
            self.session.query(f"DROP VIEW IF EXISTS `{name}`")
            table = self.frame(rows)
            self.session.query(f"CREATE VIEW `{name}` AS SELECT * FROM `{table.get_name()}`")  # noqa: S608
        return self.session.query(query, "ArrowTable").to_pylist()


IS_THERE = {OnPostgreSQL: bool(SERVER and find_spec("psycopg")), OnClickHouse: bool(find_spec("chdb"))}
"""Each server, and whether it is installed."""
SERVERS = [
    pytest.param(kind(), id=kind.name, marks=[pytest.mark.skipif(not there, reason="not installed"), pytest.mark.slow])
    for kind, there in IS_THERE.items()
]
DATABASES = [pytest.param(DuckDB(), id="duckdb"), *SERVERS]
DIALECTS = {"duckdb": "duckdb", "ibis postgresql": "postgres", "ibis clickhouse": "clickhouse"}
PARSED = ("bigquery", "snowflake", "databricks", "trino", "athena")
"""The dialects in which nothing runs here."""
TOO_LONG = {"err", "pfound"}


def same(found, expected):
    if not isinstance(expected, float):
        return found == expected
    return found is not None and math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-9)


def assert_same(database, tables, metrics, k=None, keys=(), truth_columns=(), catalog=None, types=None, **given):
    """Compare the rows of the query with those of eager polars."""
    polars = ENGINES["polars"].engine
    frames = dict(zip(tables, polars.frames(*tables.values()), strict=True))
    side = {name: frame for name, frame in frames.items() if name != "recs"}
    size = {} if catalog is None else {"catalog": catalog}
    expected = polars.ask(frames["recs"], "evaluate", metrics, k, **side, **size, **given)
    features = [name for name in tables.get("features", [{}])[0] if name != "item"]
    query = recframe.sql(
        metrics,
        k,
        table="recs",
        dialect=DIALECTS[database.name],
        truth_columns=truth_columns,
        feature_columns=features,
        types=types,
        **{name: name for name in side},
        **size,
        **given,
    )
    result = database.rows(tables, query)
    names = clean(expected[0])
    keys = [names[key] for key in keys]

    def by_key(rows):
        return sorted(rows, key=lambda row: [repr(row[key]) for key in keys])

    expected = by_key([{names[name]: value for name, value in row.items()} for row in expected])
    for row, other in zip(by_key(result), expected, strict=True):
        wrong = {name: (row[name], value) for name, value in other.items() if not same(row[name], value)}
        assert row.keys() == other.keys() and not wrong, wrong


def market():
    """Return tables with keys of text, ties, missing and NaN scores, prices and side information."""
    case = shop("databases", 25, side=True)
    rows, train = ([{**row, "user": f"u{row['user']}"} for row in rows] for rows in (case.rows, case.train))
    rows[::9] = [{**row, "score": math.nan} for row in rows[::9]]
    features = [{"item": item, **{f"f{i}": x for i, x in enumerate(own)}} for item, own in case.features.items()]
    return {"recs": rows, "train": train, "features": features}, len(case.catalog)


def read(name, tables):
    """Return the tables that a metric reads."""
    inputs = {"recs", *METRICS[name].required_inputs, *METRICS[name].optional_inputs}
    return {table: rows for table, rows in tables.items() if table in inputs}


@pytest.mark.slow
@pytest.mark.parametrize("database", DATABASES)
@pytest.mark.parametrize("name", [name for name in METRICS if name not in TOO_LONG])
def test_each_metric_with_each_option(database, name):
    tables, size = market()
    labels = list(spellings_of(name, (2, None)))[:4]
    size = size if "catalog" in METRICS[name].optional_inputs else None
    per = {} if hasattr(METRICS[name], "of_all_lists") else {"per": "user", "keys": ["user"]}
    assert_same(database, read(name, tables), labels, catalog=size, **per)


MEANS = get_args(MeanKind)


def means_of(name):
    """Return the means over lists that a metric has."""
    kind = METRICS[name]
    if issubclass(kind, ExposureMetric):
        return ("arithmetic",)
    refused = {"geometric", "harmonic"} if -math.inf < kind.range[0] < 0 else {"median"} if name == "gauc" else set()
    return [mean for mean in MEANS if mean not in refused]


def assert_same_by_ranks(name, labels, mean, whole):
    """Compare the query with polars on ranks, tied and missing ones, which are integers or floats."""
    tables, size = market()
    lists = {}
    for row in tables["recs"]:
        lists.setdefault(row["user"], []).append(row)
    for rows in lists.values():
        scores = [row["score"] for row in rows if row["score"] is not None and not math.isnan(row["score"])]
        for row in rows:
            score = row.pop("score")
            rank = 1 + sum(other > score for other in scores) if score in scores else None
            # Geometric and harmonic means have no values below 0.
            row |= {"rank": rank if whole or rank is None else float(rank), "relevant": max(row["relevant"], 0)}
    size = size if "catalog" in METRICS[name].optional_inputs else None
    # Queries with the places where users stop at tied rows are too long to run here.
    ties = {"ties": "item"} if name in TOO_LONG else {}
    assert_same(DuckDB(), read(name, tables), labels, catalog=size, rank="rank", mean=mean, **ties)


@pytest.mark.parametrize(("number", "name"), [*enumerate(METRICS)])
def test_each_metric_by_ranks_that_are_floats(number, name):
    means = means_of(name)
    assert_same_by_ranks(name, list(spellings_of(name, (2, None)))[:2], means[number % len(means)], whole=False)


@pytest.mark.parametrize("mean", MEANS)
def test_an_ideal_of_ones_with_each_mean(mean):
    """Where the simplified join of positions computes a column, the query could not be written."""
    assert_same_by_ranks("ndcg", ["ndcg(ideal=ones)@3"], mean, whole=True)


@pytest.mark.slow
@pytest.mark.parametrize(("number", "name"), [*enumerate(METRICS)])
def test_each_option_by_ranks(number, name):
    """Each spelling with one mean and one type of ranks, in turn, so that all of them occur with many metrics."""
    labels, means = list(spellings_of(name, (2, None))), means_of(name)
    for turn, start in enumerate(range(0, len(labels), 6), start=number):
        assert_same_by_ranks(name, labels[start : start + 6], means[turn % len(means)], whole=turn % 2 == 0)


@pytest.mark.slow
@pytest.mark.parametrize("mean", MEANS)
@pytest.mark.parametrize("whole", [True, False], ids=["integers", "floats"])
@pytest.mark.parametrize("k", [2, None])
def test_each_mean_by_ranks(mean, whole, k):
    """One metric of each family, with and without a cutoff."""
    for name in ("ndcg", "map", "mrr", "recall", "rbp"):
        label = name if k is None else f"{name}@{k}"
        if mean in means_of(name) and label in spellings_of(name, (2, None)):
            assert_same_by_ranks(name, [label], mean, whole)


POLICIES = {
    "ties": {"ties": "worst"},
    "ties by item": {"ties": "item_desc"},
    "counts as 0": {"undefined": 0.0, "counts": True},
    "level": {"min_relevance": 2},
    "profile": {"like": "ranx", "ties": "average", "metrics": ["ndcg@2", "map", "mrr@3", "iprec"]},
    "weights": {"weight": "weight", "truth_columns": ["weight"]},
    "propensity": {"propensity": "seen", "metrics": ["precision@2", "recall@2", "dcg@2"]},
    "geometric mean": {"mean": "geometric", "metrics": ["precision@2", "map"]},
    "models and segments": {"score": ["score", "other"], "per": "country", "types": {"other": "integer"}},
    "a key of two columns": {"by": ["user", "day"], "per": ["day", "user"]},
    "condensed": {"condensed": True, "metrics": ["ndcg@2", "map"]},
    "values of items": {"per_item": "kind"},
}


@pytest.mark.slow
@pytest.mark.parametrize("database", DATABASES)
@pytest.mark.parametrize("policy", POLICIES)
def test_policies_and_models_with_a_truth(database, policy):
    rows = [{**row, "user": f"u{row['user']}", "day": str(row["day"]), "other": row["item"]} for row in crowd(3, 40)]
    rows = [*{(row["user"], row["item"]): row for row in rows}.values()]  # profiles refuse repeated items
    truth = [
        {"user": row["user"], "day": row["day"], "item": row["item"], "relevant": row["relevant"], "weight": 1.0 + len(row["user"]), "seen": 0.5, "kind": str(row["item"])[-1]}
        for row in rows[::2]
    ]  # fmt: skip
    countries = ["de", "fr", None]
    rows = [{**row, "country": countries[int(len(row["user"]) % 3)]} for row in rows]
    given = {"metrics": ["ndcg@2", "map", "mrr@3", "recall@2", "roc_auc"], "by": "user", **POLICIES[policy]}
    per = given.get("per", [])
    keys = [
        *([per] if isinstance(per, str) else per),
        *([given["per_item"]] if "per_item" in given else []),
        *(["model"] if isinstance(given.get("score"), list) else []),
    ]
    assert_same(database, {"recs": rows, "truth": truth}, given.pop("metrics"), relevant="relevant", keys=keys, **given)


OMITTED = {"recframe_tied": 2, "recframe_candidates": 9}
"""The columns of `from_factors` that count the rows which a frame omits."""
ROWS = [
    {"user_id": 1, "order": 1, "clicked": True, "Rank": 1, "Place": 1.0, "bought": 1, "model": "a", "price": 2},
    {"user_id": 1, "order": 2, "clicked": None, "Rank": 2, "Place": math.nan, "bought": 0, "model": "a", "price": 1},
    {"user_id": 1, "order": 3, "clicked": True, "Rank": 2, "Place": 2.0, "bought": 0, "model": "b", "price": None},
    {"user_id": None, "order": 1, "clicked": False, "Rank": 1, "Place": 1.0, "bought": 1, "model": "a", "price": 1},
    {"user_id": None, "order": 2, "clicked": True, "Rank": 3, "Place": 3.0, "bought": 1, "model": "b", "price": 5},
]
CALLS = {
    "a relevance of true and false": {"relevant": "clicked", "types": {"clicked": "boolean"}, "item": "order"},
    "ranks": {"rank": "Rank", "score": None, "relevant": "bought", "item": "order", "ties": "item"},
    "models in rows": {"model": "model", "relevant": "bought", "keys": ["model"]},
    "one list": {"by": None, "relevant": "bought"},
    "whole numbers and names of SQL": {"score": "order", "relevant": "bought", "types": {"order": "integer"}, "per": "user_id", "keys": ["user_id"]},
    "whole numbers as floats": {"score": "order", "relevant": "bought"},
    "a frame of from_factors": {"rank": "Rank", "score": None, "relevant": "bought", "item": "order", "types": dict.fromkeys(OMITTED, "integer")},
    "ranks with NaN": {"rank": "Place", "score": None, "relevant": "bought", "item": "order", "types": {"Place": "float"}},
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("database", DATABASES)
@pytest.mark.parametrize("call", CALLS)
def test_types_and_names_of_columns(database, call):
    given = {"by": "user_id", "score": "order", **CALLS[call]}
    given = {name: value for name, value in given.items() if value is not None or name == "by"}
    rows = [{**row, **OMITTED} for row in ROWS] if "recframe_tied" in given.get("types", ()) else ROWS
    assert_same(database, {"recs": rows}, ["ndcg@2", "mrr", "dcg@3", "roc_auc"], **given)


def test_the_query_is_readable():
    query = recframe.sql(["ndcg@10"], by="user_id", relevant="clicked", table="{{ ref('recs') }}", dialect="snowflake")
    tree = sqlglot.parse_one(query.replace("{{ ref('recs') }}", "recs"), dialect="snowflake")
    assert len([*tree.find_all(sqlglot.exp.Select)]) <= 15
    assert [name for name in ("with_position", "parts_of_lists", "totals") if f"{name} AS (" not in query] == []
    assert (
        query.count("{{ ref('recs') }}") == 2
        and "CASE WHEN NOT" not in query
        and "AS ndcg_at_10\nFROM totals\n" in query
    )
    head = [line.removeprefix("-- ") for line in query.splitlines() if line.startswith("-- ")]
    assert head[0].startswith(
        "Written by recframe for Snowflake. Such queries are parsed by its tests, and were never run"
    )
    assert "\n".join(recframe.explain("ndcg@10").splitlines()[:3]).replace("\n\n", "\n") in "\n".join(head)


@pytest.mark.parametrize(("dialect", "unsigned"), [("duckdb", False), ("clickhouse", True)])
def test_ranks_and_counts_are_cast_where_they_have_no_sign(dialect, unsigned):
    query = recframe.sql(["ndcg@10"], table="recs", dialect=dialect)
    assert [f"CAST({number} OVER" in query for number in ("RANK()", "COUNT(*)")] == [unsigned] * 2


@pytest.mark.parametrize("dialect", [*DIALECTS.values(), "snowflake", "trino"])
def test_a_query_with_a_truth_is_as_short(dialect):
    query = recframe.sql(["ndcg@10"], table="recs", truth="bought", relevant="relevant", dialect=dialect)
    assert len([*sqlglot.parse_one(query, dialect=dialect).find_all(sqlglot.exp.Select)]) <= 14


@pytest.mark.parametrize("dialect", ["bigquery", "snowflake"])
def test_queries_of_other_databases_can_be_parsed(dialect):
    query = recframe.sql(["precision@5"], by="user", relevant="clicked", table="shop.recs", truth="bought", per="country", dialect=dialect)  # fmt: skip
    assert [*sqlglot.parse_one(query, dialect=dialect).find_all(sqlglot.exp.Select)]
    # PostgreSQL's `user` is who is logged in; Snowflake's columns are upper case.
    assert {"bigquery": "recs.`user`", "snowflake": 'recs."USER"'}[dialect] in query


@pytest.mark.slow
@pytest.mark.parametrize("dialect", PARSED)
def test_ranks_ties_and_sums_can_be_parsed(dialect):
    query = recframe.sql(["ndcg@10", "map", "mrr@5"], table="recs", truth="bought", per="user", dialect=dialect)
    assert sqlglot.parse_one(query, dialect=dialect)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in METRICS if name not in TOO_LONG])
def test_each_metric_can_be_parsed(name):
    tables, _ = market()
    side = {table: f"shop.{table}" for table in read(name, tables) if table != "recs"}
    features = {"feature_columns": ["f0", "f1"]} if "features" in side else {}
    dialect = PARSED[[*METRICS].index(name) % len(PARSED)]
    metric = "serendipity@5" if name == "serendipity" else name  # of the whole list, it needs another number
    query = recframe.sql([metric], table="shop.recs", truth="shop.bought", dialect=dialect, **side, **features)
    assert sqlglot.parse_one(query, dialect=dialect)


def test_a_catalog_is_a_table_or_a_number():
    catalog = [{"item": item} for item in "abcdefgh"]
    rows = [{"user": i % 3, "item": "abcba"[i], "score": i / 5, "relevant": 1} for i in range(5)]
    ours = ENGINES["polars"].engine
    expected = ours.ask(ours.frame(rows), "coverage", 2, catalog=8)
    for given, tables in (({"catalog": "catalog"}, {"catalog": catalog}), ({"catalog": 8}, {})):
        query = recframe.sql("coverage@2", table="recs", dialect="duckdb", **given)
        (row,) = DuckDB().rows({"recs": rows, **tables}, query)
        assert same(row["coverage_at_2"], expected)


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["postgres", "bigquery", "snowflake"])
def test_equal_calls_have_equal_texts(dialect):
    query, again = (recframe.sql("ndcg@5", table="recs", dialect=dialect) for _ in range(2))
    assert query == again


@pytest.mark.slow
def test_a_query_may_be_deeper_than_calls_of_python_are():
    tables, _ = market()
    metrics, limit = ["awrf(browsing=cascade)@2", "long_tail@2"], sys.getrecursionlimit()
    assert_same(DuckDB(), read("long_tail", tables), metrics)
    assert sys.getrecursionlimit() == limit


def test_two_names_that_are_one_to_a_database_stay_apart():
    assert clean(["ndcg@10", "ndcg_at_10", "9", "@"]) == {
        "ndcg@10": "ndcg_at_10",
        "ndcg_at_10": "ndcg_at_10_2",
        "9": "_9",
        "@": "at",
    }
    assert len({*clean([f"{'x' * 70}{number}" for number in range(30)]).values()}) == 30


def test_no_step_has_the_name_of_a_table():
    query = recframe.sql(["precision@5"], table="totals", dialect="duckdb")
    assert "totals_ AS (" in query and "FROM totals AS recs" in query


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"dialect": "oracle"}, "dialect='oracle' is not one of 'duckdb', 'postgres'"),
        ({"dialect": "postgre"}, "did you mean 'postgres'"),
        ({"table": ""}, "table='' names no table"),
        ({"table": None}, "table=None names no table"),
        ({"types": {"clicked": "bool"}}, "did you mean 'boolean'"),
        ({"catalog": ["a"]}, "neither a table nor a number"),
        ({"types": ["boolean"]}, "is not a mapping of columns to types"),
        ({"metrics": "diversity", "features": "genres"}, "which of its columns are features"),
        (
            {"metrics": "err", "dialect": "postgres"},
            "(?s)at which of the tied rows users stop.*read the rows first",
        ),
        ({"ties": "first"}, "ties='first' means row order"),
        ({"undefined": "raise"}, "undefined='raise' needs the data"),
        ({"partitions": 2}, "sql has no argument 'partitions'"),
        ({"cutoff": 2}, "sql has no argument 'cutoff'"),
    ],
)
def test_what_no_query_holds_is_refused(given, message):
    with pytest.raises(recframe.RecError, match=message):
        recframe.sql(**{"metrics": "ndcg@5", "table": "recs", "dialect": "duckdb", **given})


def test_what_a_query_needs_is_named():
    with pytest.raises(
        recframe.OptionTypeError, match=r"(?s)sql: missing a required argument: 'dialect'.*dialect=\.\.\."
    ):
        recframe.sql("ndcg@5", table="recs")


def test_a_text_is_no_reason_to_believe_that_a_database_was_warned_of(monkeypatch):
    from recframe._engines.sql import ibis as adapter

    monkeypatch.setattr(adapter, "WARNED", set())
    recframe.sql("precision@5", table="recs", dialect="trino")  # warnings are errors here
    assert not adapter.WARNED


def test_a_broken_ibis_says_itself_what_is_wrong(tmp_path):
    (tmp_path / "ibis.py").write_text("raise ImportError('numpy is too old')")
    code = "import recframe; recframe.sql('ndcg@5', table='recs', dialect='duckdb')"
    path = {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=os.environ | path
    )
    assert done.stderr.splitlines()[-1] == "ImportError: numpy is too old"


@pytest.mark.parametrize("extra", ["ibis", "sql"])
def test_the_extras_leave_out_what_ibis_fails_with(extra):
    """Ibis 12 makes no tables with sqlglot 30.18 and newer."""
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (sqlglot_of_extra,) = [each for each in project["optional-dependencies"][extra] if each.startswith("sqlglot")]
    assert sqlglot_of_extra.endswith("<30.18")


@pytest.mark.slow
def test_the_extra_brings_all_that_a_query_imports():
    # Ibis needs packages for SQL that it requires only for some databases.
    requirements = pytest.importorskip("packaging.requirements")
    project = tomllib.loads(Path(__file__).parents[3].joinpath("pyproject.toml").read_text(encoding="utf-8"))["project"]
    pending = [*project["dependencies"], *project["optional-dependencies"]["sql"]]
    installed = {"recframe"}
    while pending:
        one = requirements.Requirement(pending.pop())
        if one.marker is None or one.marker.evaluate({"extra": ""}):
            name = one.name.lower().replace("_", "-")
            pending += [] if name in installed else requires(name) or []
            installed.add(name)
    modules = packages_distributions().items()
    missing = [
        module for module, names in modules if not installed & {name.lower().replace("_", "-") for name in names}
    ]
    code = f"import sys; sys.modules.update(dict.fromkeys({missing!r})); import recframe; recframe.sql('ndcg@5', table='recs', dialect='duckdb')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
