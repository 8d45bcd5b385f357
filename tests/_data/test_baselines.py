"""Candidates and the models that every comparison should start from, against plain Python."""

from __future__ import annotations

import datetime as dt
import math
import random
from collections import defaultdict

import pytest

import recframe
from oracle import plain


def rows_of(engine, frame, method, *args, **given):
    with engine.running():
        return engine.rows(getattr(recframe.rec(frame), method)(*args, **given))


def interactions(seed, n=300, *, text=False):
    draw = random.Random(seed)
    items = [f"i{i:02}" for i in range(15)] if text else list(range(15))
    return [
        {
            "user": draw.choice([None, *range(12)]),
            "item": draw.choice([None, *items]),
            "country": draw.choice(["at", "be", None]),
            "time": draw.choice([None, *range(100)]),
        }
        for _ in range(n)
    ]


def expected(rows, train, *, per=(), half_life=None, window=None):
    """Return the popularity of each row's item, counted by hand."""
    timed = half_life is not None or window is not None
    known = [row for row in train if not timed or row["time"] is not None]
    now = max((row["time"] for row in known), default=0) if timed else 0
    known = [row for row in known if window is None or row["time"] > now - window]
    latest = defaultdict(lambda: -math.inf)
    for row in known:
        pair = (*(row[name] for name in per), row["item"], row["user"])
        latest[pair] = max(latest[pair], row["time"] if timed else 0)
    result = defaultdict(float)
    for pair, time in latest.items():
        result[pair[:-1]] += 0.5 ** ((now - time) / half_life) if half_life is not None else 1.0
    return [result.get((*(row[name] for name in per), row["item"]), 0.0) for row in rows]


@pytest.mark.parametrize("text", [True, False])
@pytest.mark.parametrize(
    "given_",
    [
        {},
        {"per": "country"},
        {"time": "time", "half_life": 10},
        {"time": "time", "window": 30},
        {"time": "time", "window": 30.5, "half_life": 7.5, "per": ["country"]},
    ],
)
def test_popular(engine, given_, text):
    train = interactions(1, text=text)
    rows = [
        {**row, "n": n, "item": "new" if text and n == 0 else row["item"]}
        for n, row in enumerate(interactions(2, 60, text=text))
    ]
    result = rows_of(engine, engine.frame(rows), "add_popular", engine.frame(train), **given_)
    options = {name: value for name, value in given_.items() if name != "time"}
    options["per"] = [options["per"]] if isinstance(options.get("per"), str) else options.get("per", ())
    reference = expected(rows, train, **options)
    assert len(result) == len(rows)
    for row in result:
        assert row["popular"] == pytest.approx(reference[row["n"]], abs=1e-9)
    if not engine.lazy:
        assert [row["n"] for row in result] == list(range(60))


@pytest.mark.parametrize("kind", [dt.date, dt.datetime])
def test_popular_by_dates(engine, kind):
    train = {
        "user": [1, 2, 3, 4],
        "item": ["a", "a", "b", "b"],
        "day": [kind(2020, 1, 31), kind(2020, 1, 1), kind(2020, 1, 30), None],
    }
    frame = engine.frame({"user": [9, 9], "item": ["a", "b"]})
    requested = {"time": "day", "half_life": dt.timedelta(days=30)}
    result = {
        row["item"]: row["popular"] for row in rows_of(engine, frame, "add_popular", engine.frame(train), **requested)
    }
    assert result == pytest.approx({"a": 1.5, "b": 0.5 ** (1 / 30)}, abs=1e-12)
    requested = {"time": "day", "window": dt.timedelta(days=1, seconds=1), "name": "lately"}
    result = {
        row["item"]: row["lately"] for row in rows_of(engine, frame, "add_popular", engine.frame(train), **requested)
    }
    assert result == {"a": 1.0, "b": 1.0}


@pytest.mark.parametrize(("kind", "days"), [("uint8", [0, 100, 200]), ("uint64", [0, 1, 2]), ("int8", [-100, 0, 100])])
def test_popular_by_small_integers(engine, kind, days):
    train = {"user": [1, 2, 3], "item": ["a", "a", "b"], "day": days}
    train = engine.frame(train, {"user": "int64", "item": "str", "day": kind})
    frame = engine.frame({"user": [9, 9], "item": ["a", "b"]})
    for given, of_a in {("window", 250): 2.0, ("window", 2**70): 2.0, ("half_life", days[2] - days[1]): 0.75}.items():
        result = rows_of(engine, frame, "add_popular", train, time="day", **dict([given]))
        assert {row["item"]: row["popular"] for row in result} == pytest.approx({"a": of_a, "b": 1.0}, abs=1e-12)


def test_columns_stay_and_can_be_chained(engine):
    train = engine.frame({"user": [1, 2], "item": ["a", "a"]})
    frame = engine.frame({"user": [1, 2], "item": ["a", "b"], "note": ["x", "y"]})
    with engine.running():
        scored = recframe.rec(recframe.rec(frame).add_random(seed=3)).add_popular(train)
        result = engine.rows(scored)
    assert {tuple(row) for row in result} == {("user", "item", "note", "random", "popular")}
    assert {row["note"]: row["popular"] for row in result} == {"x": 2.0, "y": 0.0}


DRAWN = {}
"""What the first engine drew."""

# --- random -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("by", ["user", ["user", "country"], None])
def test_random(engine, by):
    rows = [{**row, "n": n} for n, row in enumerate(interactions(3, 200))]
    result = {row["n"]: row["random"] for row in rows_of(engine, engine.frame(rows), "add_random", by=by, seed=5)}
    again = rows_of(engine, engine.frame(rows[::-1]), "add_random", by=by, seed=5)
    assert {row["n"]: row["random"] for row in again} == result
    assert result == DRAWN.setdefault(str(by), result), "engines differ"
    assert all(0 < score < 1 for score in result.values())
    names = [] if by is None else [by] if isinstance(by, str) else by
    pairs = defaultdict(set)
    for row in rows:
        pairs[(*(row[name] for name in names), row["item"])].add(result[row["n"]])
    assert {len(scores) for scores in pairs.values()} == {1}
    assert len({score for scores in pairs.values() for score in scores}) == len(pairs)


def test_random_is_the_same_in_every_version(engine):
    frame = engine.frame({"user": ["a", "a", "b"], "item": [3, 4, 3]})
    result = rows_of(engine, frame, "add_random", seed=42)
    scores = {(row["user"], row["item"]): round(row["random"], 9) for row in result}
    assert scores == {("a", 3): 0.3254861, ("a", 4): 0.290012128, ("b", 3): 0.912358976}


def test_random_scores_are_even_and_unrelated(engine):
    n = 150
    rows = [{"user": u, "item": i} for u in range(n) for i in range(n)]
    scores = {(r["user"], r["item"]): r["random"] - 0.5 for r in rows_of(engine, engine.frame(rows), "add_random")}
    size = n * n
    assert abs(sum(scores.values()) / size) < 6 / math.sqrt(12 * size)
    tenths = [sum(int(10 * (score + 0.5)) == tenth for score in scores.values()) for tenth in range(10)]
    assert all(abs(count - size / 10) < 6 * math.sqrt(0.09 * size) for count in tenths)
    for step in ((0, 1), (1, 0), (1, 1), (0, 2), (1, -1)):
        pairs = [
            (v, scores[u + step[0], i + step[1]])
            for (u, i), v in scores.items()
            if (u + step[0], i + step[1]) in scores
        ]
        related = 12 * sum(a * b for a, b in pairs) / len(pairs)
        assert abs(related) < 6 / math.sqrt(len(pairs)), step


def test_random_expects_the_average_over_all_orders(engine):
    n, items, hits, k, seeds = 500, 10, 2, 5, range(8)
    frame = engine.frame([{"user": u, "item": i, "relevant": int(i < hits)} for u in range(n) for i in range(items)])
    names = [f"of {seed}" for seed in seeds]
    with engine.running():
        for seed, name in zip(seeds, names, strict=True):
            frame = recframe.rec(frame).add_random(seed=seed, name=name)
    result = [row["precision@5"] for row in engine.ask(frame, "evaluate", "precision@5", score=names)]
    mean, variance = hits / items, hits / items * (1 - hits / items) * (items - k) / (items - 1) / k / n
    # Each seed within 4 of its standard deviations, and all of them together: 0.024 and 0.008.
    assert all(abs(value - mean) < 4 * math.sqrt(variance) for value in result)
    assert abs(sum(result) / len(seeds) - mean) < 4 * math.sqrt(variance / len(seeds))


# --- candidates ---------------------------------------------------------------------------------------------


def test_candidates(engine):
    train = interactions(4, 60)
    frame = engine.frame(train)
    with engine.running():
        result = engine.rows(recframe.candidates(frame, frame, seen=frame))
    users, items = ({plain(row[name]) for row in train} for name in ("user", "item"))
    seen = {(plain(row["user"]), plain(row["item"])) for row in train}
    pairs = [(row["user"], row["item"]) for row in result]
    assert len(pairs) == len(set(pairs))
    assert set(pairs) == {(user, item) for user in users for item in items} - seen


def test_candidates_of_lists(engine):
    seen = engine.frame({"who": [1, 3], "what": ["a", "b"]})
    with engine.running():
        result = engine.rows(recframe.candidates([1, 2, 1], ("a", "b"), seen, by="who", item="what"))
    assert sorted((row["who"], row["what"]) for row in result) == [(1, "b"), (2, "a"), (2, "b")]


def test_candidates_keep_what_belongs_to_a_user(engine):
    users = engine.frame({"user": [1, 2, 2], "country": ["at", "be", "be"]})
    with engine.running():
        result = engine.rows(recframe.candidates(users, ["a"], by=["user", "country"]))
    assert len(result) == 2
    assert {(row["user"], row["country"], row["item"]) for row in result} == {(1, "at", "a"), (2, "be", "a")}


def test_candidates_need_one_library_and_a_key():
    pl, pd = pytest.importorskip("polars"), pytest.importorskip("pandas")
    for arguments, given, match in (
        ((pl.Series([1]), pd.Series([2])), {}, "(?s)what is given is of pandas and polars.*give everything in one"),
        ((pl.Series([1]), [2]), {"library": "pandas"}, "what is given is of polars, but library='pandas'"),
        (([1], [2]), {"by": None}, "(?s)by=None names no column, but users need one.*by='user'"),
    ):
        with pytest.raises(recframe.RecError, match=match):
            recframe.candidates(*arguments, **given)


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_candidates_of_a_library(library):
    module = pytest.importorskip(library)
    result = recframe.candidates(range(2), [5], library=library)
    assert isinstance(result, module.DataFrame)
    assert result.shape == (2, 2)
    assert isinstance(recframe.candidates(module.Series([1]), module.Series([1])), module.DataFrame)


# --- errors -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ({"half_life": 3}, "half_life=3 needs the column that says when"),
        ({"time": "time"}, "time='time' is not read"),
        ({"time": "time", "half_life": 0}, "half_life=0 is not greater than 0"),
        ({"time": "time", "window": "a day"}, "window='a day' is no length of time"),
        ({"time": "time", "half_life": 10**400}, "half_life=1.* is more than a float can hold"),
        ({"time": "time", "window": 3, "half_life": dt.timedelta(1)}, "unlike types"),
        ({"name": 7}, "name=7 is not the name of a column"),
    ],
)
def test_bad_arguments(engine, given_, message):
    train = engine.frame({"user": [1], "item": [1], "time": [1]})
    with pytest.raises(recframe.OptionError, match=message):
        rows_of(engine, train, "add_popular", train, **given_)


def test_bad_frames(engine):
    train = engine.frame({"user": [1], "item": [1], "time": [1], "country": ["at"]})
    frame = engine.frame({"user": [1], "item": [1]})
    with pytest.raises(recframe.OptionTypeError, match="train is a list"):
        rows_of(engine, frame, "add_popular", [1])
    if engine.lazy:
        return
    with pytest.raises(recframe.MissingColumnError, match="per='country': the frame has no such column"):
        rows_of(engine, frame, "add_popular", train, per="country")
    with pytest.raises(
        recframe.MissingColumnError, match="(?s)item='itm': the frame .*item='itm': train .*Hint: item='item'"
    ):
        rows_of(engine, frame, "add_popular", train, item="itm")
    with pytest.raises(recframe.ColumnTypeError, match="compared with is one"):
        rows_of(engine, frame, "add_popular", train, time="time", half_life=dt.timedelta(1))
    with pytest.raises(recframe.MissingColumnError, match="by='user': users has no such column"):
        engine.rows(recframe.candidates(engine.frame({"u": [1]}), [1]))
    with pytest.raises(recframe.OptionTypeError, match="several columns"):
        recframe.candidates([1], [1], by=["user", "day"])
    with pytest.raises(recframe.OptionTypeError, match="neither a frame nor a sequence"):
        recframe.candidates("ann", [1])


@pytest.mark.parametrize("library", ["polars", "pandas"])
@pytest.mark.parametrize("name", ["user", "item", "relevant", "clicked"])
@pytest.mark.parametrize("call", ["add_random", "add_popular", "add_propensity", "fuse", "top"])
def test_no_new_column_replaces_the_key_the_item_or_the_relevance(library, call, name):
    frame = pytest.importorskip(library).DataFrame(
        {"user": [1, 1], "item": [1, 2], "relevant": [1, 0], "clicked": [0, 1], "old": [1, 2], "new": [2, 1]}
    )
    bound = frame.rec(relevant="clicked") if name == "clicked" else frame.rec
    train = {"train": frame}
    given = {
        "add_popular": train,
        "add_propensity": train,
        "fuse": {"score": ["old", "new"]},
        "top": {"score": "old"},
    }.get(call, {})
    with pytest.raises(recframe.errors.OptionError, match=f"name='{name}' is the column of .*=, which would be lost"):
        getattr(bound, call)(name=name, **given)
    assert "clicked" in getattr(frame.rec, call)(name="price", **given)  # of other columns nothing is asked
    with (
        recframe.Config(item="thing"),
        pytest.raises(recframe.errors.OptionError, match="'thing' is the column of item="),
    ):
        getattr(frame.rec, call)(name="thing", **given)


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_ranks_do_not_replace_the_scores_that_they_are_made_of(library):
    frame = pytest.importorskip(library).DataFrame({"user": [1, 1], "item": [1, 2], "score": [1, 2], "old": [2, 1]})
    for name, roles in {"score": {}, "old": {"score": "old"}}.items():
        with pytest.raises(recframe.OptionError, match=f"(?s)name='{name}' is the column of score=.*its own"):
            frame.rec.top(name=name, **roles)
    # Other columns are replaced, and ranks are renewed.
    assert list(frame.rec.top(name="old")["old"]) == [1, 2]
    assert list(frame.rec.top().rec.top(1, rank="rank")["rank"]) == [1]


@pytest.mark.parametrize("call", ["add_random", "top"])
def test_what_is_bound_to_roles_that_a_call_does_not_read_is_no_name(engine, call):
    frame = engine.frame({"user": [1, 1], "item": [1, 2], "score": [1, 2]})
    # Of polars, an expression is a column; elsewhere it is no name.
    expressions = [] if engine.name.startswith("polars") else [pytest.importorskip("polars").col("relevant")]
    for column in (frame, *expressions):
        answer = getattr(recframe.rec(frame)(relevant=column), call)(name="price")
        assert [sorted(row) for row in engine.rows(answer)] == [["item", "price", "score", "user"]] * 2
