"""Spark: skewed lists, odd names, and roles that its own tests do not cover."""

from __future__ import annotations

import pytest

import recframe
from compare import assert_equal
from engines import Spark

pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")


@pytest.fixture(scope="module")
def spark():
    pytest.importorskip("pyspark")
    return Spark()


@pytest.mark.spark
def test_spark_with_one_list_that_holds_most_rows(spark):
    # Most rows are of one list, and many of its scores tie.
    rows = [{"user": 0, "item": i, "relevant": i % 11 == 0, "score": float(i * 7919 % 1200)} for i in range(4_000)]
    rows += [{"user": 1 + i // 5, "item": i, "relevant": i % 3 == 0, "score": float(i * 31 % 7)} for i in range(800)]
    requested = {"metrics": ["ndcg@5", "mrr", "roc_auc"], "undefined": 0.0}
    table = spark.table(rows)
    result = recframe.rec(spark.frame(rows).repartition(6)).evaluate(**requested)
    (expected,) = recframe.rec(table).evaluate(**requested).to_pylist()
    assert spark.rows(result) == [pytest.approx(expected, rel=1e-9)]


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


def both(spark, data, metrics, **requested):
    """Return the rows of a call on Spark and those of the same call on polars."""
    frames = {name: given for name, given in requested.items() if isinstance(given, pl.DataFrame)}
    there = {name: spark.session.createDataFrame(frame.to_arrow()) for name, frame in {"": data, **frames}.items()}
    result = recframe.rec(there.pop("")).evaluate(metrics, **requested | there)
    expected = recframe.rec(data.lazy()).evaluate(metrics, **requested | {name: f.lazy() for name, f in frames.items()})
    return spark.rows(result), expected.collect().to_dicts()


def assert_same(found, expected, *key):
    values = [{name: value for name, value in row.items() if name not in key} for row in expected]
    assert_equal(
        found, {tuple(row[name] for name in key): own for row, own in zip(expected, values, strict=True)}, list(key)
    )


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
@pytest.mark.parametrize("name", NEWER)
def test_newer_roles_on_spark(spark, name):
    metrics, requested = NEWER[name]
    # Spark takes long to plan what has many columns.
    result, expected = both(spark, SERVED, metrics[:1], **requested)
    assert_same(result, expected)


@pytest.mark.spark
def test_partitions_on_spark_name_the_page_on_states(spark):
    frame = recframe.rec(spark.frame({"user": [1], "relevant": [1], "score": [0.9]}))
    text = "(?s)partitions=2 is for lazy polars frames, but this is a DataFrame.*States: Spark, Dask, Ray, Daft"
    for call in (frame.ndcg, lambda **given: frame.evaluate(["ndcg"], **given)):
        with pytest.raises(recframe.OptionError, match=text):
            call(partitions=2)
    with recframe.Config(partitions=2):
        assert spark.rows(frame.ndcg()) == [{"ndcg": 1.0}]
