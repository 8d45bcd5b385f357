"""DuckDB relations and Ibis tables: plans come back, nothing runs before, names and types are checked at once."""

from __future__ import annotations

import random
import tomllib
from pathlib import Path

import narwhals as nw
import pytest

import recframe
from recframe._engines.base import Needed
from tests._plan.test_lazy import CALLS, FRAME, TRUTH
from tests.metrics.test_subtopics import lists

pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")


@pytest.fixture
def connection():
    with pytest.importorskip("duckdb").connect(config={"threads": 1}) as open_connection:
        yield open_connection


def plans():
    yield pytest.param("duckdb", id="duckdb")
    yield pytest.param("ibis", id="ibis", marks=pytest.mark.slow)


@pytest.fixture(params=plans())
def make(request, connection):
    """Return what makes a plan of columns."""
    library = pytest.importorskip(request.param)
    return lambda columns: (
        connection.from_arrow(pa.table(columns)) if request.param == "duckdb" else library.memtable(pa.table(columns))
    )


def rows(result):
    """Return the rows of a plan, in an order of their own."""
    table = result.to_arrow_table() if hasattr(result, "to_arrow_table") else result.to_pyarrow()
    return sorted(table.to_pylist(), key=repr)


@pytest.mark.parametrize("case", list(CALLS))
def test_plans_give_plans_of_the_same_kind(make, case):
    result = CALLS[case](recframe.rec(make(FRAME)), make(TRUTH))
    assert isinstance(result, type(make(FRAME)))
    eager = CALLS[case](recframe.rec(pa.table(FRAME)), pa.table(TRUTH))
    expected = [{"value": eager}] if isinstance(eager, float) else sorted(eager.to_pylist(), key=repr)
    actual = rows(result)
    if not isinstance(eager, float):
        assert list(result.columns) == eager.column_names
    for row, other in zip(actual, expected, strict=True):
        assert list(row.values()) == [
            pytest.approx(v, abs=1e-12) if isinstance(v, float) else v for v in other.values()
        ]


@pytest.mark.filterwarnings("ignore::recframe.DataWarning")  # of a repeated item
def test_subtopics(make):
    frame, truth = ({name: [row[name] for row in side] for name in side[0]} for side in lists(4, 3))
    requested = {"metrics": ["alpha_ndcg@2", "err_ia"], "subtopic": "intent"}
    result = rows(recframe.rec(make(frame)).evaluate(truth=make(truth), **requested))
    assert result == [
        pytest.approx(pl.DataFrame(frame).rec.evaluate(truth=pl.DataFrame(truth), **requested).row(0, named=True))
    ]
    with pytest.raises(recframe.RecError, match="alpha_ndcg@10"):
        recframe.rec(make(frame)).alpha_ndcg(truth=make(truth), subtopic="intent")


def test_nothing_runs_before_rows_are_requested(connection):
    import duckdb

    broken = connection.sql("SELECT 1 AS user, 1 AS relevant, if(random() < 2, error('it ran'), 1.0) AS score")
    result = recframe.rec(broken).evaluate(["ndcg", "map", "kendall"], k=[1, 5], per="user")
    assert result.columns == ["user", "ndcg@1", "ndcg@5", "map@1", "map@5", "kendall"]
    with pytest.raises(duckdb.Error, match="it ran"):
        result.fetchall()


def test_files_are_one_query_that_leaves_nothing_behind(connection, tmp_path):
    path = tmp_path / "frame.parquet"
    connection.from_arrow(pa.table(FRAME)).write_parquet(str(path))
    before = connection.sql("SELECT count(*) FROM duckdb_views()").fetchall()
    result = recframe.rec(connection.read_parquet(str(path))).evaluate(["ndcg", "mrr"], k=[1, 2])
    assert connection.sql(result.sql_query()).fetchall() == result.fetchall()
    assert connection.sql("SELECT count(*) FROM duckdb_views()").fetchall() == before
    expected = recframe.rec(pa.table(FRAME)).evaluate(["ndcg", "mrr"], k=[1, 2]).to_pylist()[0]
    assert result.fetchall()[0] == pytest.approx(tuple(expected.values()), abs=1e-12)


def test_an_old_narwhals_is_named_where_duckdb_needs_a_newer_one(monkeypatch):
    relation = pytest.importorskip("duckdb").sql("SELECT 1 AS user, 1 AS relevant, 0.5 AS score")
    from recframe._engines.sql import duckdb

    extras = tomllib.loads(Path(__file__).parents[3].joinpath("pyproject.toml").read_text(encoding="utf-8"))
    needed = ".".join(map(str, duckdb.MIN_NARWHALS))
    assert f"narwhals>={needed}" in extras["project"]["optional-dependencies"]["duckdb"]
    monkeypatch.setattr("narwhals.__version__", "2.27.0")
    with pytest.raises(ImportError, match=rf"(?s)DuckDB.*Narwhals {needed}.*2.27.0 is installed.*--upgrade narwhals"):
        recframe.rec(relation).ndcg(5)


@pytest.mark.parametrize(
    "kind", ["INTEGER", "UBIGINT", "FLOAT", "VARCHAR", "DATE", "TIMESTAMP_NS", "UUID", "ENUM('b', 'a')"]
)
def test_duckdb_keys_come_back_as_they_were(connection, kind):
    texts = {"DATE": "2020-01-02", "TIMESTAMP_NS": "2020-01-02", "UUID": "7d444840-9dc0-11d1-b245-5ffdce74fad2"}
    text = texts.get(kind, "a" if kind[0] in "EV" else "7")
    frame = connection.sql(f"SELECT '{text}'::{kind} AS \"The user\", 1 AS relevant, 1.5 AS score, 1 AS item")
    for truth in ({}, {"truth": frame}):
        result = recframe.rec(frame).ndcg(by="The user", per="The user", **truth)
        assert (result.columns[0], result.types[0]) == (frame.columns[0], frame.types[0])
        assert result.fetchall()[0][1] == 1.0


@pytest.mark.parametrize(
    ("here", "there"),
    [
        (pa.uint64(), pa.int64()),
        (pa.int8(), pa.uint32()),
        (pa.decimal128(20, 0), pa.int64()),
        (pa.float32(), pa.float64()),
        (pa.timestamp("s"), pa.timestamp("us")),
        (pa.timestamp("ns"), pa.timestamp("ms")),
        (pa.dictionary(pa.int8(), pa.string()), pa.string()),
    ],
    ids=str,
)
@pytest.mark.parametrize("database", ["duckdb", "ibis"])
def test_keys_of_two_types_match_by_value(database, here, there, connection):
    def plan(kind, users, **columns):
        users = pa.array(users).cast(pa.timestamp("s") if pa.types.is_timestamp(there) else there)
        users = users.dictionary_encode() if pa.types.is_dictionary(kind) else users.cast(kind)
        table = pa.table({"user": users, **columns})
        return connection.from_arrow(table) if database == "duckdb" else pytest.importorskip("ibis").memtable(table)

    frame = plan(here, [1, 1, 2, 2, 3], item=[1, 2, 1, 2, 1], score=[2, 1, 2, 1, 1])
    truth = plan(there, [1, 2, 2], item=[2, 1, 9])
    # The relevant item of the first user is second, that of the second first; the third is no user of the truth.
    assert rows(recframe.rec(frame).evaluate(["mrr", "recall"], truth=truth)) == [{"mrr": 0.75, "recall": 0.75}]


def test_names_and_types_are_checked_at_once(make):
    rec = recframe.rec(make({**FRAME, "text": ["x"] * 6}))
    with pytest.raises(KeyError, match="(?s)by='usr': the frame has no such column.*did you mean 'user'"):
        rec.ndcg(by="usr")
    with pytest.raises(KeyError, match="item='sku': truth has no such column"):
        recframe.rec(make({**FRAME, "sku": ["a"] * 6})).ndcg(item="sku", truth=make(TRUTH))
    with pytest.raises(TypeError, match="(?s)score='text' has the type String.*integer or float"):
        rec.ndcg(score="text")
    with pytest.raises(TypeError, match="(?s)by='user' has the type Int64 in the frame, but String in truth"):
        rec.ndcg(truth=make({"user": ["1"], "item": ["a"]}))


def test_what_a_plan_cannot_do_is_an_error_at_once(make):
    rec = recframe.rec(make(FRAME))
    assert isinstance(rec, recframe.LazyRec)
    with pytest.raises(ValueError, match="(?s)ties='first' means row order.*fetch the rows first"):
        rec.ndcg(ties="first")
    with pytest.raises(ValueError, match="(?s)undefined='raise' needs the data.*fetch the rows first"):
        rec.ndcg(undefined="raise")
    with pytest.raises(TypeError, match=r"(?s)truth is a pyarrow Table, but the frame is an? .*give both as"):
        rec.ndcg(truth=pa.table(TRUTH))
    # A relation and a table have no `collect`.
    with pytest.raises(TypeError, match=r"(?s)a gate needs its values.*first(: relation.pl|, with table.to_polars)"):
        recframe.require(rec.ndcg(2), 0.4)


def test_frames_are_named_with_their_article():
    table = pytest.importorskip("ibis").memtable(pa.table(FRAME))
    with pytest.raises(TypeError, match="but the frame is an ibis Table"):
        recframe.rec(table).top(2)


def test_a_column_called_star_is_refused(connection):
    frame = connection.sql('SELECT 1 AS "*", 2 AS "^a$", 1 AS user, 1 AS relevant, 0.25 AS score, 3 AS price')
    for roles in ({"by": "*"}, {"score": "*"}, {"relevant": "*"}):
        with pytest.raises(recframe.InputError, match="read the column name '\\*' as all columns"):
            recframe.rec(frame).ndcg(**roles)
    assert recframe.rec(frame).ndcg(by="^a$").fetchall() == [(1.0,)]


@pytest.mark.parametrize(
    ("key", "other", "call", "given"),
    [
        ("MODEL", "model", "evaluate", {"metrics": "mrr", "score": ["score", "other"], "per": "MODEL"}),
        ("Lists", "lists", "evaluate", {"metrics": "mrr", "counts": True, "per": "Lists"}),
        ("MRR", "mrr", "mrr", {"per": "MRR"}),
        ("Position", "position", "contributions", {"metric": "mrr"}),
        ("Total", "total", "state", {"metrics": "mrr", "per": "Total"}),
    ],
)
def test_columns_that_differ_only_by_case_are_refused(make, key, other, call, given):
    if call == "state":
        pytest.importorskip("scipy")
    columns = {key: [1, 1], "item": [1, 2], "relevant": [1, 0], "score": [1.0, 2.0], "other": [2.0, 1.0]}
    names = "|".join(f"'{one}' and '{two}'" for one, two in ((key, other), (other, key)))
    with pytest.raises(recframe.OptionError, match=f"the columns ({names}), which DuckDB reads for each other"):
        getattr(recframe.rec(make(columns)), call)(**given, by=key)


@pytest.mark.parametrize("other", ["User", "user"])
def test_columns_of_a_frame_that_are_read_for_each_other_are_refused(connection, other):
    frame = connection.sql(f'SELECT 1 AS "user", 2 AS "{other}", 1 AS relevant, 0.5 AS score, 1 AS "Price", 2 AS price')
    names = "'user' or 'User'" if other == "User" else "'user'"
    for by in {"user", other}:
        with pytest.raises(recframe.InputError, match=f"the frame has several columns of the name {names}\n"):
            recframe.rec(frame).mrr(by=by)
    # Nothing reads the others.
    assert recframe.rec(frame).mrr(by="relevant").fetchall() == [(1.0,)]


@pytest.mark.slow
def test_columns_of_an_ibis_table_that_are_read_for_each_other_are_refused():
    table = pytest.importorskip("ibis").memtable(pa.table({"user": [1], "User": [2], "relevant": [1], "score": [0.5]}))
    with pytest.raises(recframe.InputError, match="the frame has several columns of the name 'user' or 'User'"):
        recframe.rec(table).mrr(by="User")


@pytest.mark.filterwarnings("ignore:fetch_arrow_table")  # by Ibis
def test_a_table_that_is_called_as_a_part_of_a_query_is_refused(connection):
    ibis = pytest.importorskip("ibis")
    con = ibis.duckdb.from_connection(connection)
    for name in ("t9", "t10x", "rows"):
        connection.execute(f"create table {name} as select 1 as user, 1 as relevant, 0.5 as score")
    with pytest.raises(recframe.OptionError, match=r"(?s)the table 't9' is called as Ibis calls.*database='main'"):
        recframe.rec(con.table("t9")).mrr()
    for table in (con.table("t9", database="main"), con.table("t10x"), con.table("rows")):
        assert recframe.rec(table).mrr().to_pyarrow().to_pylist() == [{"mrr": 1.0}]


@pytest.mark.parametrize("metric", ["spearman", "kendall", "opa"])
def test_a_connection_may_divide_whole_numbers_without_a_rest(connection, metric):
    table = pa.table({"user": [1] * 4, "relevant": [2, 0, 1, 0], "score": [4, 3, 2, 2]})
    connection.execute("SET integer_division = true")
    ((result,),) = getattr(recframe.rec(connection.from_arrow(table)), metric)().fetchall()
    assert result == pytest.approx(getattr(recframe.rec(table), metric)())


def test_decimals_are_numbers(connection):
    frame = connection.sql(
        "SELECT 1 AS user, 1.0::DECIMAL(4, 1) AS relevant, 0.25::DECIMAL(9, 4) AS score, 2::HUGEINT AS h"
    )
    assert recframe.rec(frame).ndcg().fetchall() == [(1.0,)]
    assert recframe.rec(frame).mrr(score="h", relevant="h").fetchall() == [(1.0,)]


def test_a_discount_of_your_own_is_an_expression(make):
    result = recframe.rec(make(FRAME)).dcg(2, discount=lambda position: position**-2.0, per="user")
    expected = recframe.rec(pa.table(FRAME)).dcg(2, discount=lambda position: position**-2.0, per="user")
    assert [r["dcg(discount=<lambda>)@2"] for r in rows(result)] == pytest.approx(
        [r["dcg(discount=<lambda>)@2"] for r in sorted(expected.to_pylist(), key=repr)]
    )


def test_calls_that_answer_with_rows_say_which_frames_they_accept(make):
    with pytest.raises(TypeError, match="(?s)accepts frames of polars or pandas.*fetch the rows first"):
        recframe.rec(make(FRAME)).top(2)
    with pytest.raises(TypeError, match="(?s)but the frame is a pyarrow Table.*from_arrow"):
        recframe.rec(pa.table(FRAME)).top(2)


def test_counts_are_integers_that_files_hold(connection):
    relation = connection.sql("SELECT 1 AS user, 1 AS relevant, 0.5 AS score, 2 AS seg")
    for given in ({}, {"per": "seg"}):
        result = recframe.rec(relation).evaluate("mrr", counts=True, **given)
        assert [str(kind) for kind in result.types[-2:]] == ["BIGINT", "BIGINT"]


@pytest.mark.parametrize(("metric", "k", "most"), [("precision", 2, 10), ("ndcg", 5, 16)])
def test_a_query_has_few_selects(connection, metric, k, most):
    relation = connection.from_arrow(pa.table({"user": [1, 1], "relevant": [1, 0], "score": [0.9, 0.5]}))
    assert getattr(recframe.rec(relation), metric)(k).sql_query().count("SELECT") <= most


def test_whole_lists_are_ranked_once_to_find_how_long_they_are(connection):
    relation = connection.from_arrow(pa.table({"user": [1, 1, 2], "relevant": [1, 0, 1], "score": [0.9, 0.5, 0.1]}))
    result = recframe.rec(relation).ndcg()
    assert result.explain().lower().count("rank()") == 1
    assert result.fetchall() == [(1.0,)]


@pytest.mark.parametrize("upto", [None, 4])
@pytest.mark.parametrize("needed_upto", [0, 2])
@pytest.mark.parametrize("distinct_scores", [1, 9, 10**9])
def test_duckdb_ranks_the_rows_that_are_read_as_windows_rank_all(connection, upto, needed_upto, distinct_scores):
    from recframe._engines.sql.duckdb import DuckDB

    rng = random.Random(distinct_scores)
    columns = {
        "row": list(range(300)),
        "user": [rng.choice([None, 1, 2, 3, 4, 5]) for _ in range(300)],
        "score": [rng.randrange(distinct_scores) / 8 for _ in range(300)],
        "relevance": [float(rng.random() < 0.2) for _ in range(300)],
        "hit": [0.0] * 300,
    }
    relation = connection.from_arrow(pa.table(columns))
    is_hit = nw.col("relevance") > 0
    needed = Needed(is_hit, needed_upto, (is_hit.cast(nw.Float64()).alias("hit"),))
    ranked = DuckDB(relation).rank_rows(nw.from_native(relation), ["user"], "score", upto, needed)
    result = {row["row"]: row for row in ranked.to_native().to_arrow_table().to_pylist()}
    frame = pl.DataFrame(columns).with_columns(
        start=pl.col("score").rank("min", descending=True).over("user"), size=pl.len().over("user", "score")
    )
    frame = frame.with_columns(hit=pl.col("relevance")).filter(pl.lit(upto is None) | (pl.col("start") <= (upto or 0)))
    expected = {row["row"]: row for row in frame.to_dicts()}
    assert all(row == expected[number] for number, row in result.items())
    read = frame.filter((pl.col("relevance") > 0) | (pl.col("start") <= needed_upto))
    assert result.keys() >= {*read["row"]}


def test_keys_that_only_duckdb_has(connection):
    """A plan of the database reads intervals, and a call that needs the rows says what to do."""
    shown = pa.table(FRAME)  # noqa: F841 - DuckDB reads it by its name
    rec = recframe.rec(connection.sql("SELECT to_days(user) AS user, item, relevant, score FROM shown"))
    assert rec.evaluate("mrr").fetchall()
    with pytest.raises(recframe.InputError, match=r"(?s)of the type INTERVAL.*user::VARCHAR"):
        rec.state("mrr")


def test_what_fetches_rows_names_the_extra_with_pyarrow(connection, monkeypatch):
    pytest.importorskip("scipy")
    rec = recframe.rec(connection.from_arrow(pa.table(FRAME)))
    monkeypatch.setattr("recframe.errors.find_spec", lambda name: None if name == "pyarrow" else name)
    for call in (rec.describe, lambda metric: recframe.table(rec.evaluate(metric))):
        with pytest.raises(recframe.MissingExtraError, match=r"(?s)rows of a database are.*pyarrow.*extra 'arrow'"):
            call("mrr")
