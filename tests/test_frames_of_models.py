"""A mapping of frames: several models, each with its own predictions, and one truth for all of them."""

from __future__ import annotations

import pytest

import recframe

pl = pytest.importorskip("polars")

OLD = {"user": [1, 1, 2, 2], "item": [1, 2, 1, 3], "score": [0.9, 0.1, 0.8, 0.3]}
NEW = {"user": [1, 1, 2, 2], "item": [2, 3, 3, 1], "score": [5, 4, 3, 2]}
TRUTH = {"user": [1, 2], "item": [2, 3]}
EXPECTED = [("new", 1.0), ("old", 0.5)]


def frames(kind):
    """Return the frames of two models and a truth, of a kind."""
    make = {
        "polars": pl.DataFrame,
        "lazy": pl.LazyFrame,
        "pandas": lambda columns: pytest.importorskip("pandas").DataFrame(columns),
        "arrow": lambda columns: pytest.importorskip("pyarrow").table(columns),
    }[kind]
    return {"old": make(OLD), "new": make(NEW)}, make(TRUTH)


def rows(result):
    """Return the rows of a result of any kind, sorted."""
    if isinstance(result, pl.LazyFrame):
        result = result.collect()
    columns = result.to_dict(as_series=False) if isinstance(result, pl.DataFrame) else None
    columns = columns or (result.to_pydict() if hasattr(result, "to_pydict") else result.to_dict("list"))
    return sorted(zip(*columns.values(), strict=True))


KINDS = ["polars", "lazy", "pandas", "arrow"]


@pytest.mark.parametrize("kind", KINDS)
def test_each_frame_is_a_model(kind):
    models, truth = frames(kind)
    rec = recframe.rec(models, truth=truth)
    assert rows(rec.evaluate("mrr")) == EXPECTED
    assert rows(recframe.rec(models, truth=truth, model="system").evaluate("mrr")) == EXPECTED
    result = rec.compare("mrr", baseline="old")
    result = result.collect() if kind == "lazy" else result
    assert len(rows(result)) == 1


@pytest.mark.parametrize("kind", ["polars", "lazy", "pandas"])
def test_calls_with_models_in_rows(kind):
    models, truth = frames(kind)
    rec = recframe.rec(models, truth=truth)
    assert len(rows(rec.describe("mrr"))) == 2
    assert len(rows(rec.rank_models("mrr"))) == 2
    assert {row[0] for row in rows(rec.contributions("mrr"))} == {"old", "new"}
    assert len(rows(rec.agreement(k=2))) == 1
    if kind != "lazy":
        assert len(rows(rec.fuse("rrf"))) == 5
    assert recframe.rec(models).top(1) is not None


def test_streams_and_data_frames_beside_lazy_ones():
    models, truth = {"old": pl.LazyFrame(OLD), "new": pl.DataFrame(NEW)}, pl.DataFrame(TRUTH)
    assert rows(recframe.rec(models, truth=truth).evaluate("mrr")) == EXPECTED
    pytest.importorskip("pyarrow")
    readers = {name: frame.to_arrow().to_reader() for name, frame in frames("polars")[0].items()}
    assert rows(recframe.rec(readers, truth=pl.DataFrame(TRUTH).to_arrow()).evaluate("mrr")) == EXPECTED


@pytest.mark.parametrize("kind", KINDS)
def test_differing_columns_are_named(kind):
    models, truth = frames(kind)
    models["new"] = frames(kind)[0]["new"]
    other = dict(NEW) | {"price": [1, 2, 3, 4]}
    del other["score"]
    models["new"] = type(models["old"])(other) if kind != "arrow" else pytest.importorskip("pyarrow").table(other)
    with pytest.raises(recframe.RecError, match="(?s)only 'old' has 'score'; only 'new' has 'price'"):
        rows(recframe.rec(models, truth=truth).evaluate("mrr"))


def test_what_is_no_mapping_of_models():
    models, truth = frames("polars")
    with pytest.raises(recframe.OptionTypeError, match="but a model is named by text"):
        recframe.rec({1: models["old"]})
    with pytest.raises(recframe.OptionTypeError, match="the frame of 'new' is a .*list"):
        recframe.rec({"old": models["old"], "new": [1]})
    with pytest.raises(recframe.OptionError, match="(?s)'old' has a column 'user' already.*model='system'"):
        recframe.rec(models, model="user")
    with pytest.raises(recframe.OptionTypeError, match="(?s)dict is no frame.*from_dict"):
        recframe.rec({"query": {"document": 1.0}})
    texts = models["new"].with_columns(item=pl.col("item").cast(pl.String))
    with pytest.raises(recframe.ColumnTypeError, match="the column 'item' of the models' frames is Int64 and String"):
        recframe.rec({"old": models["old"], "new": texts}, truth=truth)


def test_databases_stack_models_themselves():
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.sql("SELECT 1 AS user, 1 AS item, 0.5 AS score")
    with pytest.raises(recframe.OptionTypeError, match="(?s)read in memory, but these are DuckDB frames.*UNION ALL"):
        recframe.rec({"old": relation, "new": relation})
