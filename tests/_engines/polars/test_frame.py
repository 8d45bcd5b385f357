"""Expressions are converted for polars once, and what is kept of them goes with them."""

import gc

import narwhals as nw
import pytest

import recframe  # noqa: F401 - registers the namespace

pl = pytest.importorskip("polars")

from recframe._engines.polars import frame as polars_frame  # noqa: E402
from recframe._engines.polars import pack as polars_pack  # noqa: E402
from recframe._engines.polars.frame import native_expressions  # noqa: E402


def test_each_expression_is_what_narwhals_makes_of_it():
    expressions = [
        nw.when(nw.col("a") > 1).then(nw.col("a") / 2).otherwise(0.0).alias("half"),
        nw.lit(1.5).cast(nw.Float64()).alias("constant"),
        nw.col("a", "b").cast(nw.Float64()) + 1,
    ]
    frame = pl.LazyFrame({"a": [1, 2, 3], "b": [4, 5, 6], "c": ["x", "y", "z"]})
    expected = nw.from_native(frame).select("c", *expressions).to_native().collect()
    assert frame.select(native_expressions(["c", *expressions])).collect().equals(expected)


def test_an_expression_is_converted_once_and_forgotten_with_its_last_use():
    kept = polars_frame._converted
    expression = nw.col("a") + 1
    (native,) = native_expressions([expression])
    assert native_expressions([expression])[0] is native
    number = id(expression)
    assert number in kept
    del expression
    gc.collect()
    assert number not in kept


def test_an_option_that_is_a_function_is_called_again_in_each_call():
    frame = pl.DataFrame({"user": [1, 1], "relevant": [0, 1], "score": [0.9, 0.3]})
    power = -1.0

    def discount(position):
        return position**power

    assert frame.rec.dcg(discount=discount) == 0.5
    power = -2.0
    assert frame.rec.dcg(discount=discount) == 0.25


def test_what_is_asked_of_a_column_is_known_to_all_frames_that_pick_it(monkeypatch):
    facts, asked = polars_pack.facts, []

    def counted(values, dtype):
        asked.append((values.name, len(values)))
        return facts(values, dtype)

    monkeypatch.setattr(polars_pack, "facts", counted)
    frame = pl.DataFrame({"user": [1, 1, 2], "relevant": [1, 0, 2], "a": [0.1, 0.2, 0.3], "b": [0.2, 0.1, 0.3]})
    frame.rec.evaluate(["ndcg@2"], score=["a", "b"])
    assert sorted(fact for fact in asked if fact[1] == 3 and fact[0] != "size") == [("key0", 3), ("relevance", 3)]
