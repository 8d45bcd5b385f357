"""PyArrow tables: tables and floats come back, keys as they were, computed by polars or pandas."""

from __future__ import annotations

import importlib.util

import pytest

import recframe
from tests._plan.test_lazy import FRAME

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


def test_arrow_tables_give_tables_and_floats():
    rec = recframe.rec(pa.table(FRAME))
    assert isinstance(rec, recframe.EagerRec)
    assert isinstance(rec.ndcg(5), float)
    assert rec.mrr(2, per="user").schema.names == ["user", "mrr@2"]
    assert rec.evaluate(["mrr"], score=["score", "other"]).schema.types == [pa.string(), pa.float64()]


def test_arrow_keys_with_and_without_a_sign_are_whole_numbers():
    frame, truth = (
        pa.table({"user": pa.array([1, 2], kind), "item": [1, 1], "score": [1.0, 1.0]})
        for kind in (pa.int64(), pa.uint64())
    )
    result = recframe.rec(frame).evaluate(["mrr"], per="user", truth=truth.drop_columns("score"))
    assert result.schema.field("user").type == pa.decimal128(38, 0)


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


@pytest.mark.parametrize("alone", [False, True])
def test_columns_that_no_call_reads_may_have_any_type(alone, monkeypatch):
    if alone:
        pytest.importorskip("pandas")
        without(monkeypatch, "polars")
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int32()), pa.array([1, 2]))
    table = pa.table({"user": [1, 1, 2], "relevant": [0, 1, 1], "score": [2.0, 1.0, 1.0], "runs": runs})
    assert recframe.rec(table).mrr() == 0.75
    assert recframe.rec(table).mrr(per="user")["mrr"].to_pylist() == [0.5, 1.0]
    with pytest.raises(recframe.MissingColumnError, match="it has 'user', 'relevant', 'score', 'runs'"):
        recframe.rec(table).mrr(score="other")


DECIMALS = pa.array([1, 2, 1]).cast(pa.decimal256(30, 2))
LACKED = {
    "decimals of 256 bits": DECIMALS,
    "lists of them": pa.array([[1], [2], [1]]).cast(pa.list_(pa.decimal256(30, 2))),
    "categories of them": DECIMALS.dictionary_encode(),
    "intervals": pa.array([(1, 2, 3)] * 3, pa.month_day_nano_interval()),
    "runs": pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int32()), pa.array([1, 2])),
    "unions": pa.UnionArray.from_sparse(pa.array([0, 0, 0], pa.int8()), [pa.array([1, 2, 1])]),
}


@pytest.mark.parametrize("role", ["by", "item", "relevant", "score", "per"])
@pytest.mark.parametrize("kind", LACKED)
def test_a_role_of_a_type_that_polars_lacks_is_an_error(kind, role):
    """Polars panicked, and its panic is no Exception."""
    table = pa.table({"user": [1, 1, 2], "item": [1, 2, 1], "relevant": [0, 1, 1], "score": [2.0, 1.0, 1.0]})
    table = table.append_column("x", LACKED[kind])
    with pytest.raises(recframe.ColumnTypeError, match=rf"{role}='x' has the type .*, which polars lacks"):
        recframe.rec(table).evaluate("ndcg", **{role: "x"})


def without(monkeypatch, *libraries):
    """Make it look as if libraries were not installed."""
    find = importlib.util.find_spec
    monkeypatch.setattr("recframe._engines.arrow.find_spec", lambda name: None if name in libraries else find(name))
    monkeypatch.setattr("recframe._engines.pandas.adapter.polars_engine", lambda: None)


def test_arrow_needs_a_library_that_computes(monkeypatch):
    without(monkeypatch, "polars", "pandas")
    with pytest.raises(ImportError, match=r"polars pyarrow, which is the extra 'arrow'"):
        recframe.rec(pa.table(FRAME)).ndcg()
