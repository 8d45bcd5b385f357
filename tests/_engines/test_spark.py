"""Spark: skewed lists, odd names, and lists that polars evaluates on the workers."""

from __future__ import annotations

import pytest

import recframe
from compare import assert_equal
from engines import Spark
from tests._plan.test_lazy import FRAME

pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")


@pytest.fixture(scope="module")
def spark():
    pytest.importorskip("pyspark")
    return Spark()


@pytest.mark.spark
@pytest.mark.parametrize("parts", [None, 5])
def test_spark_with_one_list_that_holds_most_rows(spark, parts):
    # Most rows are of one list, and many of its scores tie.
    rows = [{"user": 0, "item": i, "relevant": i % 11 == 0, "score": float(i * 7919 % 1200)} for i in range(4_000)]
    rows += [{"user": 1 + i // 5, "item": i, "relevant": i % 3 == 0, "score": float(i * 31 % 7)} for i in range(800)]
    requested = {"metrics": ["ndcg@5", "mrr", "roc_auc"], "undefined": 0.0}
    table = spark.table(rows)
    found = recframe.rec(spark.frame(rows).repartition(6)).evaluate(**requested, partitions=parts)
    (expected,) = recframe.rec(table).evaluate(**requested).to_pylist()
    assert spark.rows(found) == [pytest.approx(expected, rel=1e-9)]


@pytest.mark.spark
def test_spark_names_with_dots(spark):
    frame = spark.frame({"a.user": [1, 1], "relevant": [0, 1], "the `score`.x": [0.9, 0.1]})
    result = recframe.rec(frame).rbp(2, p=0.5, by="a.user", per="a.user", score="the `score`.x")
    assert result.columns == ["a.user", "rbp(p=0.5)@2"]
    assert spark.rows(result) == [{"a.user": 1, "rbp(p=0.5)@2": 0.25}]
    with pytest.raises(ValueError, match="(?s)row order.*fetch the rows first"):
        recframe.rec(frame).rbp(ties="first", by="a.user", score="relevant")


@pytest.mark.spark
def test_spark_columns_that_are_read_for_each_other(spark):
    columns = {"user": [1, 1], "relevant": [1, 0], "score": [0.1, 0.9]}
    frames = {"User": spark.frame({**columns, "User": [2, 3]}), "user": spark.frame(columns).select("*", "user")}
    for other, frame in frames.items():
        names = "'user' or 'User'" if other == "User" else "'user'"
        with pytest.raises(recframe.InputError, match=f"the frame has several columns of the name {names}\n"):
            recframe.rec(frame).mrr()
    spark.session.conf.set("spark.sql.caseSensitive", "true")
    try:
        result = recframe.rec(frames["User"]).mrr(by="User", per="User")
        assert spark.rows(result.na.drop()) == [{"User": 2, "mrr": 1.0}]
    finally:
        spark.session.conf.unset("spark.sql.caseSensitive")


def in_parts(spark, data, metrics, parts, **requested):
    """Return the rows of a call on Spark's workers and those of the same call on polars."""
    frames = {name: given for name, given in requested.items() if isinstance(given, pl.DataFrame)}
    there = {name: spark.session.createDataFrame(frame.to_arrow()) for name, frame in {"": data, **frames}.items()}
    found = recframe.rec(there.pop("")).evaluate(metrics, **requested | there, partitions=parts)
    expected = recframe.rec(data.lazy()).evaluate(metrics, **requested | {name: f.lazy() for name, f in frames.items()})
    return spark.rows(found), expected.collect().to_dicts()


def assert_same(found, expected, *key):
    values = [{name: value for name, value in row.items() if name not in key} for row in expected]
    assert_equal(
        found, {tuple(row[name] for name in key): own for row, own in zip(expected, values, strict=True)}, list(key)
    )


# Some look at one list, some at all rows, at what describes items, or at all lists together. Spark takes long to plan
# what has many columns, so each call has few.
@pytest.mark.spark
@pytest.mark.parametrize(
    ("parts", "per", "metrics"),
    [(1, None, ["ndcg", "gauc"]), (7, "user", ["map", "err"]), (7, "country", ["ndcg@1", "novelty", "gini"])],
)
def test_parts_on_spark_change_nothing(spark, parts, per, metrics):
    from tests._engines.test_partitions import sample

    data, train, _ = sample(5)
    # The day is dropped, so that the country is a key of its own where `per` makes it one.
    requested = {"k": 4, "per": per, "score": ["score", "other"], "train": train}
    found, expected = in_parts(spark, data.drop("day"), metrics, parts, **requested)
    assert_same(found, expected, "model", *([per] if per else []))


SUBTOPICS = pl.DataFrame(
    [
        {"user": user, "item": item, "topic": topic, "relevant": (user + item) % 3}
        for user in range(3)
        for item in range(1, 5)
        for topic in "xyz"[item % 3 :]
    ]
)
SERVED = pl.DataFrame(
    {"user": [0, 0, 0, 1, 1, 1, 1, 2, 2], "item": [1, 2, 3, 1, 2, 3, 7, 4, 1], "score": [2, 2, 1] * 3}
)
JUDGED = SUBTOPICS.select("user", "item", pl.col("relevant") - 1).unique()
NEWER = {
    "subtopics": (["err_ia@2", "alpha_ndcg@2"], {"truth": SUBTOPICS, "subtopic": "topic"}),
    "pool": (["inf_ap", "bpref"], {"truth": JUDGED}),
    "condensed": (["map"], {"truth": JUDGED, "condensed": True, "mean": "geometric"}),
    "gain": ([recframe.metrics.NDCG(3, gain={1: 1, 2: 10})], {"truth": SUBTOPICS.drop("topic").unique()}),
}


@pytest.mark.spark
@pytest.mark.parametrize(
    ("name", "parts"), [*((name, 2) for name in NEWER), ("subtopics", None), ("pool", None), ("condensed", None)]
)
def test_newer_roles_on_spark(spark, name, parts):
    metrics, requested = NEWER[name]
    # Spark takes long to plan what has many columns.
    found, expected = in_parts(spark, SERVED, metrics if parts else metrics[:1], parts, **requested)
    assert_same(found, expected)


@pytest.mark.spark
def test_a_median_needs_all_lists_together_on_spark(spark):
    frame, truth = (spark.session.createDataFrame(data.to_arrow()) for data in (SERVED, JUDGED))
    with pytest.raises(recframe.OptionError, match="(?s)mean='median' needs all lists.*leave partitions= out"):
        recframe.rec(frame).evaluate("map", truth=truth, mean="median", partitions=2)


@pytest.mark.spark
def test_parts_on_spark_may_lack_one_of_two_frames(spark):
    served = pl.DataFrame({"user": [1, 1, 2], "item": [1, 2, 1], "score": [0.5, 0.5, 0.1], "country": ["a", "a", "b"]})
    truth = pl.DataFrame({"user": [1, *range(3, 20)], "item": [2, *range(3, 20)]})
    # Most lists were never served, and user 2 has nothing to find.
    metrics = ["recall", "mrr", "err"]
    found, expected = in_parts(spark, served, metrics, 9, truth=truth, k=[1, 2], per="country", undefined=0.5)
    assert_same(found, expected, "country")
    found, expected = in_parts(spark, served, metrics, 9, truth=truth, k=[1, 2])
    assert_same(found, expected)


@pytest.mark.spark
def test_parts_on_spark_judge_models_of_which_they_have_no_row(spark):
    from tests._engines.test_partitions import served_by_one_model

    served, truth = served_by_one_model(None)
    found, expected = in_parts(spark, served, ["recall@1"], 4, truth=truth, model="model")
    assert {row["model"]: row["recall@1"] for row in expected} == {"a": 1.0, None: 1 / 8}
    assert_same(found, expected, "model")


@pytest.mark.spark
@pytest.mark.parametrize("score", [["b"], ["a", "b"]])
def test_parts_on_spark_without_a_key_or_rows(spark, score):
    data = pl.DataFrame({"user": [1, 1, 2], "relevant": [0, 3, 1], "a": [0.9, 0.9, 0.1], "b": [1, 2, None]})
    for by in (None, "user"):
        found, expected = in_parts(spark, data, ["ndcg", "err"], 4, by=by, score=score)
        assert_same(found, expected, "model")
        found, expected = in_parts(spark, data.clear(), ["ndcg", "err"], 4, by=by, score=score)
        assert_same(found, expected, "model")
    assert in_parts(spark, data.clear(), ["ndcg"], 4, per="user", score=score)[0] == []
    assert in_parts(spark, data.clear(), ["ndcg"], 4, score="a") == ([{"ndcg": None}], [{"ndcg": None}])


@pytest.mark.spark
def test_parts_on_spark_run_when_rows_are_requested(spark):
    frame, context = spark.frame(FRAME), spark.session.sparkContext
    context.setJobGroup("parts", "")
    answer = recframe.rec(frame).evaluate(["ndcg", "coverage"], k=2, partitions=3)
    assert list(context.statusTracker().getJobIdsForGroup("parts")) == []
    assert len(spark.rows(answer)) == 1
    assert list(context.statusTracker().getJobIdsForGroup("parts")) != []


@pytest.mark.spark
def test_a_call_in_parts_is_planned_with_few_calls_to_java(spark, monkeypatch):
    # Each takes a tenth of a millisecond. Narwhals' averages of so many metrics were ten thousand.
    from py4j.clientserver import ClientServerConnection
    from py4j.protocol import MEMORY_COMMAND_NAME

    calls, send = [], ClientServerConnection.send_command
    frame = spark.frame(FRAME)
    monkeypatch.setattr(ClientServerConnection, "send_command", lambda *given: calls.append(given[1]) or send(*given))
    recframe.rec(frame).evaluate(["precision", "map", "ndcg", "rbp"], k=[1, 2, 3, 4], partitions=3)
    # Objects that an earlier test left are given back whenever Python collects them.
    assert sum(not call.startswith(MEMORY_COMMAND_NAME) for call in calls) < 900


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
    with pytest.raises(recframe.MissingExtraError, match=r"(?s)on the workers.*pip install polars pyarrow"):
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
    found = spark.rows(recframe.rec(spark.frame(FRAME)).evaluate(names["Deep"](), partitions=2))
    assert found == [
        {"deep": pytest.approx(recframe.rec(pa.table(FRAME)).evaluate(names["Deep"]())["deep"][0].as_py())}
    ]
