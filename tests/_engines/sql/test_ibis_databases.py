"""Ibis on databases other than DuckDB gives what eager polars gives, and says where nothing was tested."""

from __future__ import annotations

import itertools
import math
import re
import warnings
from importlib.util import find_spec

import pytest

import recframe
from compare import ask_case
from engines import ENGINES
from engines.databases import SERVER, ClickHouse, PostgreSQL
from oracle import Case
from recframe.metrics import METRICS
from spellings import spellings_of
from strategies import crowd, shop
from tests._plan.test_lazy import CALLS, FRAME, TRUTH

pytest.importorskip("pyarrow")
pytest.importorskip("polars")
ibis = pytest.importorskip("ibis")

IS_THERE = {PostgreSQL: bool(SERVER and find_spec("psycopg")), ClickHouse: bool(find_spec("chdb"))}
"""Each database, and whether it is installed."""
DATABASES = [
    pytest.param(kind(), id=kind.name, marks=[pytest.mark.skipif(not there, reason="not installed"), pytest.mark.slow])
    for kind, there in IS_THERE.items()
]


KINDS = {"user": "int64", "item": "str", "country": "str", "relevant": "int64", "score": "float64", "other": "float64", "place": "int64"}  # fmt: skip


def same(found, expected):
    if not isinstance(expected, float):
        return found == expected
    return found is not None and math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-9)


def assert_same(found, expected, keys=()):
    """Compare rows with those of eager polars, whichever order they have."""
    if isinstance(expected, float):
        found, expected = [{"": found}], [{"": expected}]

    def by_key(rows):
        return sorted(rows, key=lambda row: [repr(row[key]) for key in keys])

    for row, other in zip(by_key(found), by_key(expected), strict=True):
        wrong = {name: (row[name], value) for name, value in other.items() if not same(row[name], value)}
        assert row.keys() == other.keys() and not wrong, wrong


def case():
    """Return lists with keys of text, ties, missing and NaN scores, prices and side information."""
    of_numbers = shop("databases", 25, side=True)
    named = [[{**row, "user": f"u{row['user']}"} for row in rows] for rows in (of_numbers.rows, of_numbers.train)]
    named[0][::9] = [{**row, "score": math.nan} for row in named[0][::9]]
    return Case(*named, of_numbers.features, of_numbers.catalog, of_numbers.max_relevance)


TOO_LONG = {"err", "pfound", "eed(browsing=cascade)"}
"""Metrics of users who stop, whose expected value over tied orders is more than a query of these databases holds."""


@pytest.mark.parametrize("database", DATABASES[:1])
@pytest.mark.parametrize("name", sorted(TOO_LONG))
def test_what_a_query_cannot_hold_is_refused(database, name):
    with pytest.raises(recframe.OptionError, match="(?s)at which of the tied rows users stop.*read the rows first"):
        ask_case(database, case(), [name])


@pytest.mark.parametrize("database", DATABASES)
@pytest.mark.parametrize("name", [name for name in METRICS if name not in TOO_LONG])
def test_each_metric_with_each_option(database, name):
    # PostgreSQL cuts names after 63 bytes, and those of the plan have up to 13 more than those of metrics.
    labels = [label for label in spellings_of(name, (2, None)) if len(label) <= 63 - 13 and "cascade" not in label]
    calls = ({},) if hasattr(METRICS[name], "of_all_lists") else ({"per": "user"}, {})
    # ClickHouse reads no query of more than 256 KB.
    for some, given in itertools.product((labels[start : start + 6] for start in range(0, len(labels), 6)), calls):
        result, expected = (ask_case(engine, case(), some, **given) for engine in (database, ENGINES["polars"].engine))
        assert_same(result, expected, ["user"] if given else [])


POLICIES = {
    "ties": {"ties": "worst"},
    "ties by item": {"ties": "item_desc"},
    "counts as 0": {"undefined": 0.0, "counts": True},
    "level": {"min_relevance": 2},
    "profile": {"like": "ranx", "ties": "average", "metrics": ["ndcg@2", "map", "mrr@3", "iprec"]},
    "weights": {"weight": "weight"},
    "propensity": {"propensity": "seen", "metrics": ["precision@2", "recall@2", "dcg@2"]},
    "median": {"mean": "median"},
    "geometric mean": {"mean": "geometric", "metrics": ["precision@2", "map"]},
    "models and segments": {"score": ["score", "other"], "per": "country"},
}


@pytest.mark.parametrize("database", DATABASES)
@pytest.mark.parametrize("policy", POLICIES)
def test_policies_and_models_with_a_truth(database, policy):
    rows = [{**row, "user": f"u{row['user']}", "other": row["item"]} for row in crowd(3, 40)]
    rows = [*{(row["user"], row["item"]): row for row in rows}.values()]  # profiles refuse repeated items
    countries = ["de", "fr", None]
    truth = [
        {"user": row["user"], "item": row["item"], "relevant": row["relevant"], "weight": 1.0 + len(row["user"]), "seen": 0.5}
        for row in rows[::2]
    ]  # fmt: skip
    rows = [{**row, "country": countries[int(len(row["user"]) % 3)]} for row in rows]
    given = {"metrics": ["ndcg@2", "map", "mrr@3", "recall@2", "roc_auc"], **POLICIES[policy]}

    def ask(engine):
        frame, known = engine.frames(rows, truth)
        return engine.ask(frame, "evaluate", by="user", truth=known, **given)

    keys = [name for name in ("country", "model") if name in ask(ENGINES["polars"].engine)[0]]
    assert_same(ask(database), ask(ENGINES["polars"].engine), keys)


@pytest.mark.parametrize("database", DATABASES)
@pytest.mark.parametrize("call", CALLS)
def test_each_call(database, call):
    def ask(engine):
        frame, truth = engine.frames(FRAME, TRUTH)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", recframe.RecWarning)
            result = CALLS[call](recframe.rec(frame), truth)
        return result if isinstance(result, float) else engine.rows(result)

    actual, expected = ask(database), ask(ENGINES["polars"].engine)
    if isinstance(expected, float):
        ((actual,),) = (row.values() for row in actual)
    keys = (
        [] if isinstance(expected, float) else [name for name, is_ in expected[0].items() if not isinstance(is_, float)]
    )
    assert_same(actual, expected, keys)


@pytest.mark.parametrize("rows", [FRAME, {name: values[:0] for name, values in FRAME.items()}], ids=["rows", "no rows"])
@pytest.mark.parametrize("database", DATABASES)
def test_calls_that_run_at_once(database, rows):
    if isinstance(database, ClickHouse):
        pytest.skip("Ibis has no connection to ClickHouse inside the process")
    frame, same_rows = database.frame(rows, KINDS), ENGINES["polars"].engine.frame(rows, KINDS)
    result = recframe.rec(frame).describe(["ndcg", "mrr"], k=2)
    assert_same(result.rows(named=True), recframe.rec(same_rows).describe(["ndcg", "mrr"], k=2).rows(named=True))


@pytest.fixture
def sqlite(monkeypatch):
    """Return a table of a backend that is not tested, of which no call has warned yet."""
    from recframe._engines.sql import ibis as adapter

    monkeypatch.setattr(adapter, "WARNED", set())
    connection = ibis.sqlite.connect()
    return connection.create_table(
        "rows", schema=ibis.schema({"user": "int64", "relevant": "int64", "score": "float64"})
    )


def test_a_backend_that_is_not_tested_is_named_once(sqlite):
    with pytest.warns(
        recframe.BackendWarning, match="never tested on sqlite: Ibis writes SQL of few calls or none"
    ) as caught:
        recframe.rec(sqlite).ndcg(5)
    assert [warning.filename for warning in caught] == [__file__]
    recframe.rec(sqlite).ndcg(5)  # warnings are errors here


def test_an_error_instead_of_the_warning_comes_each_time(sqlite):
    for _ in range(2):
        with pytest.raises(recframe.RecWarning, match="sqlite"):
            recframe.rec(sqlite).ndcg(5)


def test_tables_that_do_not_say_their_backend_warn_of_nothing():
    unbound = ibis.table({"user": "int64", "relevant": "int64", "score": "float64"}, name="rows")
    for table in (unbound, ENGINES["ibis"].engine.frame(FRAME)):
        recframe.rec(table).ndcg(5)


def test_ranks_have_no_frame_and_counts_a_sign():
    # Without a database: what was wrong without a word on ClickHouse, and an error on PostgreSQL.
    table = ibis.table({"user": "!int64", "relevant": "!boolean", "score": "float64"}, name="rows")
    result = recframe.rec(table).evaluate(["ndcg", "map", "precision"], per="user")
    text = str(ibis.to_sql(result, dialect="clickhouse"))
    ranks = re.findall(r"RANK\(\) OVER \((.*?)\)", text, re.DOTALL)
    assert ranks and not [rank for rank in ranks if "ROWS" in rank]
    assert not re.search(r"(?<!CAST\()COUNT\(", text)
    assert "> 0 AS DOUBLE PRECISION" not in str(ibis.to_sql(result, dialect="postgres"))


def test_only_a_literal_with_a_value_is_never_missing():
    from recframe._engines.sql.ibis_simple import Simpler

    simpler = Simpler()
    assert simpler.never_missing(ibis.literal(1.0).op())
    assert not simpler.never_missing(ibis.literal(None, "float64").op())
