"""Lazy frames stay lazy on the way from raw data to a frame: nothing is collected, and the answer is the eager one."""

from __future__ import annotations

import datetime as dt

import pytest

import recframe

pl = pytest.importorskip("polars")

FRAME = pl.DataFrame(
    {
        "user": [1, 1, 1, 2, 2, None],
        "item": ["a", "b", "c", "a", "a", "c"],
        "score": [0.9, 0.9, 0.1, None, 0.5, 0.5],
        "key0": [1, 2, 3, 4, 5, 6],
        "row": ["p", "q", "r", "s", "t", "u"],
        "day": [dt.date(2020, 1, day) for day in (1, 2, 3, 4, 5, 6)],
        "tags": [[1], [], None, [2, 3], [4], [5]],
    }
)
TRUTH = pl.DataFrame({"user": [1, 3, None], "item": ["a", "b", "c"], "relevant": [2, 1, 1]})
CALLS = {
    "label": lambda frame, truth: recframe.rec(frame).label(truth),
    "label without seen": lambda frame, truth: recframe.rec(frame).label(truth, seen=truth),
    "top": lambda frame, _: recframe.rec(frame).top(1),
    "lists": lambda frame, _: recframe.rec(frame).to_lists(2),
    "there and back": lambda frame, _: recframe.from_lists("item", frame=recframe.rec(frame).to_lists()),
    "fraction": lambda frame, _: recframe.rec(frame).split(fraction=0.5)[1],
    "users": lambda frame, _: recframe.rec(frame).split(count=1, users=0.5)[0],
    "last": lambda frame, _: recframe.rec(frame).split(last=1, time="day")[1],
    "since": lambda frame, _: recframe.rec(frame).split(since="2020-01-03", time="day")[0],
    "random": lambda frame, _: recframe.rec(frame).add_random(seed=2),
    "popular": lambda frame, truth: recframe.rec(frame).add_popular(truth),
    "decay": lambda frame, _: recframe.rec(frame).add_popular(frame, time="day", half_life=dt.timedelta(days=2)),
    "propensity": lambda frame, truth: recframe.rec(frame).add_propensity(truth, power=1, least=0.5),
    "candidates": lambda frame, truth: recframe.candidates(frame, truth, seen=frame),
}


@pytest.mark.parametrize("case", list(CALLS))
def test_nothing_is_collected(case, monkeypatch):
    def refuse(*_args, **_kwargs):
        raise AssertionError

    with monkeypatch.context() as patch:
        for name in ("collect", "fetch", "collect_async", "profile"):
            if hasattr(pl.LazyFrame, name):
                patch.setattr(pl.LazyFrame, name, refuse)
        patch.setattr(pl, "collect_all", refuse)
        result = CALLS[case](FRAME.lazy(), TRUTH.lazy())
    assert isinstance(result, pl.LazyFrame)
    lazy, eager = result.collect(), CALLS[case](FRAME, TRUTH)
    assert lazy.schema == eager.schema
    assert sorted(map(str, lazy.rows())) == sorted(map(str, eager.rows()))


MISSING = {
    "by": lambda frame: recframe.rec(frame).to_lists(by=["user", "nope"]),
    "model": lambda frame: recframe.rec(frame).to_lists(model="nope"),
    "recommended": lambda frame: recframe.from_lists("nope", frame=frame),
    "by of lists": lambda frame: recframe.from_lists("tags", frame=frame, by="nope"),
    "by of users": lambda frame: recframe.candidates(frame, [1], by="nope"),
    "item": lambda frame: recframe.candidates([1], frame, item="nope"),
}


@pytest.mark.skipif(not hasattr(pl.LazyFrame, "pipe_with_schema"), reason="older polars names only the column")
@pytest.mark.parametrize("case", MISSING)
def test_a_missing_column_is_named_as_that_of_an_eager_frame(case):
    with pytest.raises(recframe.MissingColumnError) as eager:
        MISSING[case](FRAME)
    for ask in (pl.LazyFrame.collect, pl.LazyFrame.collect_schema):
        with pytest.raises(recframe.MissingColumnError) as lazy:
            ask(MISSING[case](FRAME.lazy()))
        assert str(lazy.value).startswith(str(eager.value))
