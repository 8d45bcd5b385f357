"""Frames that cannot be read as they are: columns twice, sparse columns, relations of two connections."""

from __future__ import annotations

import pytest

import recframe

COLUMNS = {"user": [1, 1, 2], "item": [1, 2, 1], "relevant": [0, 1, 1], "score": [0.9, 0.1, 0.0]}


def test_sparse_columns_are_read(pandas_engine):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(COLUMNS)
    sparse = frame.astype({name: pd.SparseDtype(str(frame[name].dtype), 0) for name in COLUMNS})
    with pandas_engine.running():
        for ask in (
            lambda rec: rec.ndcg(),
            lambda rec: rec.map(2, ties="item"),
            lambda rec: rec.recall(1, truth=frame),
        ):
            assert ask(recframe.rec(sparse)) == ask(recframe.rec(frame))


def test_a_table_with_a_column_twice_is_named():
    pa = pytest.importorskip("pyarrow")
    twice = pa.table([[1], [1], [1], [0.5]], names=["user", "user", "relevant", "score"])
    with pytest.raises(recframe.InputError, match="the frame has several columns of the name 'user'"):
        recframe.rec(twice).ndcg()
    with pytest.raises(recframe.InputError, match="truth has several columns of the name 'user'"):
        recframe.rec(pa.table(COLUMNS)).ndcg(truth=twice.append_column("item", [[1]]))


def test_relations_of_two_connections_are_named():
    duckdb, pa = pytest.importorskip("duckdb"), pytest.importorskip("pyarrow")
    table = pa.table(COLUMNS)
    here, there = (duckdb.connect().from_arrow(table) for _ in range(2))
    with pytest.raises(recframe.InputError, match="truth is a relation of another DuckDB connection"):
        recframe.rec(here).ndcg(truth=there)
    assert recframe.rec(here).ndcg(truth=here.filter("relevant > 0")) is not None


def test_columns_without_a_role_may_have_one_name_on_pandas():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(COLUMNS).assign(other=[1.0, 2.0, 3.0])
    twice = pd.concat([frame, pd.DataFrame([[1, 2]] * 3, columns=["note", "note"])], axis=1)
    models = {"score": ["score", "other"], "folds": 2}
    assert recframe.rec(twice).ndcg() == recframe.rec(frame).ndcg()
    assert recframe.to_dict(twice) == recframe.to_dict(frame) == recframe.to_dict(frame.set_index(["user", "item"]))
    with pytest.raises(recframe.InputError, match=r"(?s)'note' 2 times.*Hint: rename or drop one"):
        recframe.rec(twice).check()
    pytest.importorskip("scipy")
    assert (
        recframe.rec(twice).tune_fusion("ndcg@2", **models).equals(recframe.rec(frame).tune_fusion("ndcg@2", **models))
    )


def test_a_missing_key_is_not_the_column_of_another_key(polars_engine):
    frame = polars_engine.frame({**COLUMNS, "day": [1, 1, 2]})
    for more, hint in (({}, "the column that holds it"), ({"Day": [1, 1, 2]}, "'Day'")):
        truth = polars_engine.frame({**COLUMNS, **more})
        with pytest.raises(recframe.MissingColumnError, match=f"in truth, rename {hint} to 'day'"):
            recframe.rec(frame).ndcg(by=["user", "day"], truth=truth)


def test_a_column_twice_is_named_with_its_frame():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(COLUMNS)
    twice = pd.concat([frame, frame[["user"]]], axis=1)
    for ask, name in (
        (lambda: recframe.to_dict(twice), "the frame"),
        (lambda: recframe.candidates(twice, frame), "users"),
        (lambda: recframe.rec(frame).ndcg(truth=twice), "truth"),
    ):
        with pytest.raises(recframe.MissingColumnError, match=f"by='user': {name} has 2 columns of that name"):
            ask()


def test_attributes_that_are_arrays(pandas_engine):
    pd, np = pytest.importorskip("pandas"), pytest.importorskip("numpy")
    frame = pd.DataFrame(COLUMNS).astype({"user": "str"})
    described = frame.copy()
    described.attrs["edges"] = np.arange(3)
    with pandas_engine.running():
        for ask in (
            lambda given: recframe.rec(given).ndcg(truth=given, per="user"),
            lambda given: recframe.rec(given[given["item"] == 1]).label(given),
            lambda given: recframe.rec(given.assign(model="a")).label(given, model="model"),
            lambda given: recframe.rec(given).to_lists(1),
            lambda given: recframe.candidates(given, given, seen=given),
        ):
            assert ask(described).equals(ask(frame))
    assert described.attrs["edges"].tolist() == [0, 1, 2]
