"""What only pandas frames can hold: object columns, the index, categories, and keys that come back as they were."""

from __future__ import annotations

import datetime as dt

import pytest

import oracle
import recframe
from compare import assert_equal
from spellings import SOME
from strategies import BINARY, BY, crowd


def pandas_rows(engine, frame, **roles):
    return engine.ask(frame, "evaluate", SOME, by=BY, per=BY, **roles)


@pytest.mark.parametrize("ties", ["average", "item"])
def test_pandas_object_columns(pandas_engine, ties):
    rows = crowd(37, 60, relevance=BINARY)
    frame = pandas_engine.frame(rows).astype("object")
    assert_equal(
        pandas_rows(pandas_engine, frame, ties=ties), oracle.evaluate(rows, SOME, by=BY, per=BY, ties=ties), BY
    )


def test_pandas_text_as_object_with_none(pandas_engine):
    rows = crowd(38, 60, text=True)
    frame = pandas_engine.frame(rows)
    frame["user"] = [row["user"] for row in rows]
    frame["user"] = frame["user"].astype("object").where([row["user"] is not None for row in rows], None)
    assert_equal(pandas_rows(pandas_engine, frame), oracle.evaluate(rows, SOME, by=BY, per=BY), BY)


@pytest.mark.parametrize("levels", [["user"], ["day", "user"], ["item"]])
@pytest.mark.parametrize("ties", ["average", "item"])
def test_pandas_index_levels_as_roles(pandas_engine, levels, ties):
    rows = crowd(39, 60)
    frame = pandas_engine.frame(rows).set_index(levels)
    assert_equal(
        pandas_rows(pandas_engine, frame, ties=ties), oracle.evaluate(rows, SOME, by=BY, per=BY, ties=ties), BY
    )


def test_pandas_index_does_not_matter(pandas_engine):
    rows = crowd(40, 60)
    expected = oracle.evaluate(rows, SOME, by=BY, per=BY, ties="first")
    frame = pandas_engine.frame(rows)
    for index in ([7] * len(rows), list(range(len(rows)))[::-1], [f"r{i % 5}" for i in range(len(rows))]):
        other = frame.copy()
        other.index = index
        assert_equal(pandas_rows(pandas_engine, other, ties="first"), expected, BY)
    sliced = frame.iloc[::-1].iloc[::-1]
    assert_equal(pandas_rows(pandas_engine, sliced, ties="first"), expected, BY)


def test_pandas_categorical_numbers(pandas_engine):
    rows = crowd(41, 60)
    frame = pandas_engine.frame(rows)
    frame["user"], frame["item"] = frame["user"].astype("category"), frame["item"].astype("category")
    for ties in ("average", "item"):
        expected = oracle.evaluate(rows, SOME, by=BY, per=BY, ties=ties)
        assert_equal(pandas_rows(pandas_engine, frame, ties=ties), expected, BY)


def test_pandas_unused_categories_are_no_lists(pandas_engine):
    import pandas as pd

    frame = pandas_engine.frame({"user": [1, 2], "relevant": [1, 0], "score": [1, 2]})
    frame["user"] = pd.Categorical(frame["user"], categories=[3, 2, 1])
    found = pandas_engine.ask(frame, "mrr", per="user")
    assert sorted((row["user"], row["mrr"]) for row in found if row["user"] == 1) == [(1, 1.0)]
    assert {row["user"] for row in found} == {1, 2}


@pytest.mark.filterwarnings("ignore::recframe.DataWarning")
def test_pandas_keys_come_back_as_they_were(pandas_engine):
    rows = [row for row in crowd(42, 60) if row["user"] is not None]
    for kind in ("int32", "int64", "float32", "categorical", "datetime", "str"):
        relabel = {"categorical": str, "str": str, "datetime": lambda i: dt.datetime(2024, 1, 1) + dt.timedelta(days=i)}  # noqa: DTZ001
        named = [{**row, "user": relabel.get(kind, int)(row["user"])} for row in rows]
        frame = pandas_engine.frame(named, {"user": kind})
        with pandas_engine.running():
            result = recframe.rec(frame).ndcg(per="user")
        assert result["user"].dtype == frame["user"].dtype, kind
