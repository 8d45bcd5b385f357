"""`top`: the first rows of each list, with their positions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
import recframe
from strategies import crowd, examples, frames, is_missing, ranked_crowd


def rows_of(engine, frame, method, *args, **given):
    with engine.running():
        return engine.rows(getattr(recframe.rec(frame), method)(*args, **given))


def expected_top(rows, k, by):
    """Return (key, item, rank) of the first k rows of each list, by sorting plain rows."""
    result = []
    for key, members in oracle.grouped(rows, by).items():
        ranked = [row for row in members if not is_missing(row["score"])]
        ranked.sort(key=lambda row: (-row["score"], row["item"] is None, row["item"] or 0))
        result += [(key, row["item"], place) for place, row in enumerate(ranked[:k], 1)]
    return sorted(result, key=str)


@pytest.mark.parametrize("k", [1, 3, 20, None])
def test_top(engine, k):
    rows = crowd(80, 120)
    result = rows_of(engine, engine.frame(rows), "top", k, by=["user", "day"])
    plain = [((row["user"], row["day"]), row["item"], row["rank"]) for row in result]
    assert sorted(plain, key=str) == expected_top(rows, k, ["user", "day"])


@examples(30)
@given(rows=frames(), k=st.integers(1, 4) | st.none(), by=st.sampled_from(["user", None]))
def test_top_of_small_frames(engine, rows, k, by):
    rows = [{**row, "item": None if row["item"] is None else str(row["item"])} for row in rows]
    names = list(oracle.names(by))
    expected = []
    for key, members in oracle.grouped(rows, names).items():
        ranked = [row for row in members if not is_missing(row["score"])]
        ranked.sort(key=lambda row: (-row["score"], row["item"] is None, row["item"] or ""))
        expected += [(*key, row["item"], place) for place, row in enumerate(ranked[:k], 1)]
    result = rows_of(engine, engine.frame(rows, {"item": "str"}), "top", k, by=by)
    assert sorted(((*(row[n] for n in names), row["item"], row["rank"]) for row in result), key=str) == sorted(
        expected, key=str
    )


def test_top_by_rank_keeps_gaps(engine):
    rows = ranked_crowd(81, 60)
    result = rows_of(engine, engine.frame(rows), "top", 5, rank="rank", name="place")
    for user, members in oracle.grouped(rows, ["user"]).items():
        places = sorted(row["place"] for row in result if (row["user"],) == user)
        assert len(places) == len(set(places))
        starts = [row["rank"] for row in members if row["rank"] is not None]
        expected = [place for start in set(starts) for place in range(start, start + starts.count(start)) if place <= 5]
        assert places == sorted(expected)


def test_top_is_sorted_and_keeps_the_rest(engine):
    data = {"user": [2, None, 1, 2], "item": ["b", "c", "a", "a"], "score": [1, 2, 3, 1], "note": ["p", "q", "r", "s"]}
    result = rows_of(engine, engine.frame(data), "top", 1)
    assert sorted((row["note"], row["rank"]) for row in result) == [("q", 1), ("r", 1), ("s", 1)]
    if not engine.lazy:
        assert [row["note"] for row in result] == ["r", "s", "q"]


def test_top_of_models_below_each_other(engine):
    data = {"model": ["a", "a", "b"], "user": [1, 1, 1], "item": [1, 2, 1], "score": [1.0, 2.0, 3.0]}
    result = rows_of(engine, engine.frame(data), "top", 1, model="model")
    assert sorted((row["model"], row["item"]) for row in result) == [("a", 2), ("b", 1)]


def test_the_metric_of_the_top_is_the_metric_at_k(engine):
    once = {(row["user"], oracle.plain(row["day"]), row["item"]): row for row in crowd(82, 100, relevance=(0, 1))}
    rows = [{**row, "day": oracle.plain(row["day"])} for row in once.values()]
    frame = engine.frame(rows)
    with engine.running():
        top = recframe.rec(frame).top(3, by=["user", "day"])
    labels = ["precision@3", "dcg@3", "mrr@3"]
    result = engine.ask(top, "evaluate", labels, by=["user", "day"], rank="rank", per=["user", "day"])
    expected = engine.ask(frame, "evaluate", labels, by=["user", "day"], ties="item", per=["user", "day"])
    expected = {(row["user"], row["day"]): row for row in expected}
    for row in result:
        for label in labels:
            if row[label] is not None:
                assert row[label] == pytest.approx(expected[row["user"], row["day"]][label], abs=1e-12)


def test_bad_tops(engine):
    frame = engine.frame({"user": [1], "item": [1], "score": [1.0]})
    with pytest.raises(recframe.OptionError, match="k=0 is less than 1"):
        rows_of(engine, frame, "top", 0)
    with pytest.raises(recframe.OptionError, match="ranks by one column"):
        rows_of(engine, frame, "top", 1, score=["score", "item"])
    with pytest.raises(recframe.OptionTypeError, match="name=3"):
        rows_of(engine, frame, "top", 1, name=3)
    if not engine.lazy:
        with pytest.raises(recframe.MissingColumnError, match="score='scre'"):
            rows_of(engine, frame, "to_lists", score="scre")


def test_top_of_categories_of_arrow_with_a_missing_key(pandas_engine):
    import pandas as pd

    pa = pytest.importorskip("pyarrow")
    user = pa.array(["b", None, "a", "b"]).dictionary_encode()
    frame = pd.DataFrame({"user": pd.Series(user, dtype=pd.ArrowDtype(user.type)), "item": [1, 2, 3, 4], "score": 1.0})
    with pandas_engine.running():
        assert frame.rec.top(1)["item"].to_list() == [3, 1, 2]
        assert frame.rec.to_lists()["item"].to_list() == [[3], [1, 4], [2]]
