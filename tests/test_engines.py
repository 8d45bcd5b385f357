"""What is particular to polars, PyArrow, DuckDB, Ibis and Spark; that their numbers are right, all other tests say."""

from __future__ import annotations

import importlib.util
import threading
import tomllib
from pathlib import Path

import narwhals as nw
import pytest

import recframe
from compare import assert_equal
from engines import Spark
from test_lazy import CALLS, FRAME, TRUTH

pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")

KEYS = {
    "int32": pa.int32(),
    "uint64": pa.uint64(),
    "text": pa.string(),
    "large text": pa.large_string(),
    "categories": pa.dictionary(pa.int8(), pa.string()),
    "seconds": pa.timestamp("s"),
    "zone": pa.timestamp("us", "UTC"),
    "decimal": pa.decimal128(22, 2),
}


@pytest.fixture
def connection():
    with pytest.importorskip("duckdb").connect(config={"threads": 1}) as open_connection:
        yield open_connection


def plans():
    yield pytest.param("duckdb", id="duckdb")
    yield pytest.param("ibis", id="ibis")


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


@pytest.mark.parametrize(("eager", "threads", "beside"), [(True, 2, True), (True, 1, False), (False, 2, False)])
def test_eager_polars_builds_a_frame_once_beside_what_comes_meanwhile(monkeypatch, eager, threads, beside):
    from recframe._engines.polars import EagerPolars, LazyPolars

    monkeypatch.setattr(pl, "thread_pool_size", lambda: threads)
    builders = []
    later = (EagerPolars if eager else LazyPolars)().later(
        lambda: builders.append(threading.current_thread()) or pl.LazyFrame(FRAME)
    )
    assert later() is later()
    (builder,) = builders
    assert (builder is not threading.current_thread()) == beside


def test_an_error_beside_what_comes_meanwhile_is_raised():
    class Wrong(recframe.metrics.NDCG):
        def best_terms(self, row):
            return {name: nw.col("no such column") for name in super().best_terms(row)}

    with pytest.raises(pl.exceptions.ColumnNotFoundError, match="no such column"):
        pl.DataFrame(FRAME).rec.evaluate([Wrong(5)])


def test_arrow_tables_give_tables_and_floats():
    rec = recframe.rec(pa.table(FRAME))
    assert isinstance(rec, recframe.EagerRec)
    assert isinstance(rec.ndcg(5), float)
    assert rec.mrr(2, per="user").schema.names == ["user", "mrr@2"]
    assert rec.evaluate(["mrr"], score=["score", "other"]).schema.types == [pa.string(), pa.float64()]


@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize("kind", list(KEYS))
def test_arrow_keys_come_back_as_they_were(kind, alone, monkeypatch):
    if alone:
        pytest.importorskip("pandas")
        without(monkeypatch, "polars")
    values = (
        ["a", "b", None, "b"] if KEYS[kind] in (pa.string(), pa.large_string(), KEYS["categories"]) else [1, 2, None, 2]
    )
    user = pa.array(values).cast(KEYS[kind])
    table = pa.table({"user": user, "relevant": [1, 0, 1, 1], "score": [3.0, 2.0, 1.0, 1.0]})
    result = recframe.rec(table).evaluate(["mrr", "ndcg"], per="user")
    assert result.schema == pa.schema([("user", KEYS[kind]), ("mrr", pa.float64()), ("ndcg", pa.float64())])
    assert result["user"].to_pylist() == pa.array([values[0], values[1], None]).cast(KEYS[kind]).to_pylist()
    assert result["mrr"].to_pylist() == [1.0, 0.5, 1.0]


def without(monkeypatch, *libraries):
    """Make it look as if libraries were not installed."""
    find = importlib.util.find_spec
    monkeypatch.setattr("recframe._engines.arrow.find_spec", lambda name: None if name in libraries else find(name))
    monkeypatch.setattr("recframe._engines.pandas.polars_engine", lambda: None)


def test_arrow_needs_a_library_that_computes(monkeypatch):
    without(monkeypatch, "polars", "pandas")
    with pytest.raises(ImportError, match=r"recframe\[arrow\]"):
        recframe.rec(pa.table(FRAME)).ndcg()


@pytest.mark.parametrize("case", list(CALLS))
def test_plans_give_plans_of_the_same_kind(make, case):
    result = CALLS[case](recframe.rec(make(FRAME)), make(TRUTH))
    assert isinstance(result, type(make(FRAME)))
    eager = CALLS[case](recframe.rec(pa.table(FRAME)), pa.table(TRUTH))
    wanted = [{"value": eager}] if isinstance(eager, float) else sorted(eager.to_pylist(), key=repr)
    found = rows(result)
    if not isinstance(eager, float):
        assert list(result.columns) == eager.column_names
    for row, other in zip(found, wanted, strict=True):
        assert list(row.values()) == [
            pytest.approx(v, abs=1e-12) if isinstance(v, float) else v for v in other.values()
        ]


def test_nothing_runs_before_rows_are_asked_for(connection):
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
    from recframe._engines import duckdb

    extras = tomllib.loads(Path(__file__).parents[1].joinpath("pyproject.toml").read_text(encoding="utf-8"))
    needed = ".".join(map(str, duckdb.NEEDED))
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


def test_what_a_plan_cannot_do_is_said_at_once(make):
    rec = recframe.rec(make(FRAME))
    assert isinstance(rec, recframe.LazyRec)
    with pytest.raises(ValueError, match="(?s)ties='first' means row order.*take the rows out first"):
        rec.ndcg(ties="first")
    with pytest.raises(ValueError, match="(?s)undefined='raise' needs the data.*take the rows out first"):
        rec.ndcg(undefined="raise")
    with pytest.raises(TypeError, match=r"(?s)truth is a pyarrow Table, but the frame is a .*give both as"):
        rec.ndcg(truth=pa.table(TRUTH))


def test_decimals_are_numbers(connection):
    frame = connection.sql(
        "SELECT 1 AS user, 1.0::DECIMAL(4, 1) AS relevant, 0.25::DECIMAL(9, 4) AS score, 2::HUGEINT AS h"
    )
    assert recframe.rec(frame).ndcg().fetchall() == [(1.0,)]
    assert recframe.rec(frame).mrr(score="h", relevant="h").fetchall() == [(1.0,)]


def test_a_discount_of_your_own_is_an_expression(make):
    result = recframe.rec(make(FRAME)).dcg(2, discount=lambda position: position**-2.0, per="user")
    wanted = recframe.rec(pa.table(FRAME)).dcg(2, discount=lambda position: position**-2.0, per="user")
    assert [r["dcg(discount=<lambda>)@2"] for r in rows(result)] == pytest.approx(
        [r["dcg(discount=<lambda>)@2"] for r in sorted(wanted.to_pylist(), key=repr)]
    )


def test_calls_that_answer_with_rows_say_what_they_take(make):
    with pytest.raises(TypeError, match="(?s)takes frames of polars or pandas.*take the rows out first"):
        recframe.rec(make(FRAME)).top(2)
    with pytest.raises(TypeError, match="(?s)but the frame is a pyarrow Table.*from_arrow"):
        recframe.rec(pa.table(FRAME)).top(2)


@pytest.fixture(scope="module")
def spark():
    pytest.importorskip("pyspark")
    return Spark()


@pytest.mark.spark
@pytest.mark.parametrize("parts", [None, 5])
def test_spark_with_one_list_that_holds_most_rows(spark, parts):
    # Most rows are of one list, and many of its scores tie.
    rows = [{"user": 0, "item": i, "relevant": i % 11 == 0, "score": float(i * 7919 % 6000)} for i in range(20_000)]
    rows += [{"user": 1 + i // 5, "item": i, "relevant": i % 3 == 0, "score": float(i * 31 % 7)} for i in range(2_000)]
    asked = {"metrics": ["ndcg", "map", "mrr", "roc_auc"], "k": [5, None], "undefined": 0.0}
    table = spark.table(rows)
    found = recframe.rec(spark.frame(rows).repartition(6)).evaluate(**asked, partitions=parts)
    (wanted,) = recframe.rec(table).evaluate(**asked).to_pylist()
    assert spark.rows(found) == [pytest.approx(wanted, rel=1e-9)]


@pytest.mark.spark
def test_spark_names_with_dots(spark):
    frame = spark.frame({"a.user": [1, 1], "relevant": [0, 1], "the `score`.x": [0.9, 0.1]})
    result = recframe.rec(frame).rbp(2, p=0.5, by="a.user", per="a.user", score="the `score`.x")
    assert result.columns == ["a.user", "rbp(p=0.5)@2"]
    assert spark.rows(result) == [{"a.user": 1, "rbp(p=0.5)@2": 0.25}]
    with pytest.raises(ValueError, match="(?s)row order.*take the rows out first"):
        recframe.rec(frame).rbp(ties="first", by="a.user", score="relevant")


def in_parts(spark, data, metrics, parts, **asked):
    """Return the rows of a call on Spark's workers and those of the same call on polars."""
    frames = {name: given for name, given in asked.items() if isinstance(given, pl.DataFrame)}
    there = {name: spark.session.createDataFrame(frame.to_arrow()) for name, frame in {"": data, **frames}.items()}
    found = recframe.rec(there.pop("")).evaluate(metrics, **asked | there, partitions=parts)
    wanted = recframe.rec(data.lazy()).evaluate(metrics, **asked | {name: f.lazy() for name, f in frames.items()})
    return spark.rows(found), wanted.collect().to_dicts()


def assert_same(found, wanted, *key):
    values = [{name: value for name, value in row.items() if name not in key} for row in wanted]
    assert_equal(
        found, {tuple(row[name] for name in key): own for row, own in zip(wanted, values, strict=True)}, list(key)
    )


@pytest.mark.spark
@pytest.mark.parametrize(("parts", "per"), [(1, None), (7, "user"), (7, "country")])
def test_parts_on_spark_change_nothing(spark, per, parts):
    from test_partitions import sample

    data, train, _ = sample(5)
    # The day is dropped, so that the country is a key of its own where `per` makes it one.
    asked = {"k": [1, 4], "per": per, "score": ["score", "other"], "train": train}
    # Some look at one list, some at all rows, at what stands beside, or at all lists together.
    metrics = ["ndcg", "map", "gauc", "err", "novelty", "gini"]
    found, wanted = in_parts(spark, data.drop("day"), metrics, parts, **asked)
    assert_same(found, wanted, "model", *([per] if per else []))


@pytest.mark.spark
def test_parts_on_spark_may_lack_one_of_two_frames(spark):
    served = pl.DataFrame({"user": [1, 1, 2], "item": [1, 2, 1], "score": [0.5, 0.5, 0.1], "country": ["a", "a", "b"]})
    truth = pl.DataFrame({"user": [1, *range(3, 20)], "item": [2, *range(3, 20)]})
    # Most lists were never served, and user 2 has nothing to find.
    metrics = ["recall", "mrr", "err"]
    found, wanted = in_parts(spark, served, metrics, 9, truth=truth, k=[1, 2], per="country", undefined=0.5)
    assert_same(found, wanted, "country")
    found, wanted = in_parts(spark, served, metrics, 9, truth=truth, k=[1, 2])
    assert_same(found, wanted)


@pytest.mark.spark
@pytest.mark.parametrize("score", [["b"], ["a", "b"]])
def test_parts_on_spark_without_a_key_or_rows(spark, score):
    data = pl.DataFrame({"user": [1, 1, 2], "relevant": [0, 3, 1], "a": [0.9, 0.9, 0.1], "b": [1, 2, None]})
    for by in (None, "user"):
        found, wanted = in_parts(spark, data, ["ndcg", "err"], 4, by=by, score=score)
        assert_same(found, wanted, "model")
        found, wanted = in_parts(spark, data.clear(), ["ndcg", "err"], 4, by=by, score=score)
        assert_same(found, wanted, "model")
    assert in_parts(spark, data.clear(), ["ndcg"], 4, per="user", score=score)[0] == []
    assert in_parts(spark, data.clear(), ["ndcg"], 4, score="a") == ([{"ndcg": None}], [{"ndcg": None}])


@pytest.mark.spark
def test_parts_on_spark_run_when_rows_are_asked_for(spark):
    frame, context = spark.frame(FRAME), spark.session.sparkContext
    context.setJobGroup("parts", "")
    answer = recframe.rec(frame).evaluate(["ndcg", "coverage"], k=2, partitions=3)
    assert list(context.statusTracker().getJobIdsForGroup("parts")) == []
    assert len(spark.rows(answer)) == 1
    assert list(context.statusTracker().getJobIdsForGroup("parts")) != []


@pytest.mark.spark
def test_parts_on_spark_say_what_is_wrong(spark, monkeypatch):
    import pyspark

    frame = spark.frame({"user": [1, 1], "relevant": [9, 1], "score": [0.9, 0.3]})
    with pytest.raises(recframe.MissingColumnError, match="by='usr': the frame has no such column"):
        recframe.rec(frame).ndcg(by="usr", partitions=2)
    with pytest.raises(recframe.OptionError, match="partitions=0 is less than 1"):
        recframe.rec(frame).ndcg(partitions=0)
    # What only rows can tell, the workers tell.
    wrong = recframe.rec(frame).err(max_relevance=4, partitions=2)
    with pytest.raises(pyspark.errors.PythonException, match="relevant='relevant' holds 9, but err"):
        wrong.collect()
    from recframe._engines import spark_workers

    monkeypatch.setattr(spark_workers, "find_spec", lambda _: None)
    with pytest.raises(recframe.MissingExtraError, match=r"(?s)on the workers.*recframe\[arrow\]"):
        recframe.rec(frame).ndcg(partitions=2)


@pytest.mark.spark
def test_metrics_of_ones_own_on_spark_workers(spark):
    # Defined in no module that a worker could import.
    names = {"recframe": recframe}
    exec(  # noqa: S102
        "class Deep(recframe.Metric):\n"
        "    name = 'deep'\n"
        "    def terms(self, row): return {'sum': row.hit * row.weight(lambda r: r ** -0.25, None)}\n"
        "    def value(self, sums): return sums['sum']\n",
        names,
    )
    names["Deep"].__module__ = "__main__"
    found = spark.rows(recframe.rec(spark.frame(FRAME)).measure(names["Deep"](), partitions=2))
    assert found == [{"deep": pytest.approx(recframe.rec(pa.table(FRAME)).measure(names["Deep"]()))}]
