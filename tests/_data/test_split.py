"""Splits: no row lost, none in both, the same whatever the order of the rows and whichever the engine."""

from __future__ import annotations

import datetime as dt
import math
from collections import defaultdict
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import recframe
from oracle import plain
from strategies import examples

NAN = math.nan
MOMENT = dt.datetime.fromisoformat("2020-01-01")


def parts(engine, data, **given):
    """Return the row numbers of train and test; the data has them as `n`."""
    with engine.running():
        answer = recframe.rec(engine.frame(data)).split(**given)
        assert isinstance(answer, tuple)
        return [[row["n"] for row in engine.rows(part)] for part in answer]


def numbered(rows):
    return {name: [row[name] for row in rows] for name in rows[0]} | {"n": list(range(len(rows)))}


def lists_of(data, by):
    """Return the rows of each list as (row, item, time)."""
    result = defaultdict(list)
    for n in data["n"]:
        result[tuple(plain(data[name][n]) for name in by)].append(n)
    return result


@st.composite
def interactions(draw):
    users = draw(st.sampled_from([st.integers(0, 3) | st.none(), st.sampled_from(["a", "b", "Ω", None])]))
    items = draw(st.sampled_from([st.integers(0, 5) | st.none(), st.sampled_from(["x", "yy", "z", None])]))
    times = draw(
        st.sampled_from(
            [
                st.integers(0, 3),
                st.sampled_from([0.5, 1.5, None, NAN]),
                st.sampled_from([MOMENT + dt.timedelta(days=day) for day in (0, 1, 2)]) | st.none(),
                st.sampled_from([dt.date(2020, 1, day) for day in (1, 2, 3)]) | st.none(),
            ]
        )
    )
    columns = {"user": users, "day": st.integers(0, 1), "item": items, "time": times}
    rows = draw(st.lists(st.fixed_dictionaries(columns), min_size=1, max_size=20))
    return numbered(rows)


WAYS = st.sampled_from(
    [
        {"fraction": 0.2},
        {"fraction": 0.7},
        {"count": 1},
        {"count": 2, "min_items": 3},
        {"fraction": 0.5, "users": 1},
        {"fraction": 0.5, "users": 0.5, "min_items": 2},
        {"last": 1, "time": "time"},
        {"last": 2, "time": "time", "users": 2},
    ]
)
BYS = st.sampled_from(["user", ["user", "day"], None])


def size_of(items, given):
    """Return how many of a list's distinct items go to the test, by hand."""
    if items < given.get("min_items", 1):
        return 0
    if "fraction" in given:
        return math.ceil(round(items * given["fraction"], 9))
    return min(items, given.get("count", given.get("last")))


@examples(40)
@given(data=interactions(), given_=WAYS, by=BYS, seed=st.integers(-5, 2**70))
def test_parts_of_each_list(engine, data, given_, by, seed):
    names = [] if by is None else [by] if isinstance(by, str) else by
    train, test = parts(engine, data, by=by, seed=seed, **given_)
    assert sorted(train + test) == data["n"]
    tested, eligible = 0, 0
    for rows in lists_of(data, names).values():
        inside = {data["item"][n] for n in rows if n in test}
        outside = {data["item"][n] for n in rows if n not in test}
        assert not inside & outside, "an item that repeats goes to one part"
        size = size_of(len(inside | outside), given_)
        eligible += size > 0
        tested += bool(inside)
        assert len(inside) == size or ("users" in given_ and not inside)
        if "last" in given_ and inside:

            def latest(item, rows=rows):
                # A missing time is the earliest.
                return max(
                    (data["time"][n] is not None and plain(data["time"][n]) is not None, data["time"][n])
                    if plain(data["time"][n]) is not None
                    else (False,)
                    for n in rows
                    if data["item"][n] == item
                )

            assert not outside or min(map(latest, inside)) >= max(map(latest, outside))
    users = given_.get("users")
    if users is not None:
        assert tested == (min(users, eligible) if isinstance(users, int) else math.ceil(round(users * eligible, 9)))
    if not engine.lazy:
        assert train == sorted(train) and test == sorted(test), "rows keep their order"


@examples(25)
@given(data=interactions(), given_=WAYS, by=BYS, order=st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(engine, data, given_, by, order):
    _, test = parts(engine, data, by=by, **given_)
    shuffled = list(data["n"])
    order.shuffle(shuffled)
    _, again = parts(engine, {name: [values[n] for n in shuffled] for name, values in data.items()}, by=by, **given_)
    assert sorted(test) == sorted(again)


SMALL = numbered(
    [{"user": u, "item": i, "word": f"w{i:02}", "time": (7 * i + u) % 11} for u in range(8) for i in range(u + 3)]
)


DRAWN = {}
"""What the first engine drew."""


@pytest.mark.parametrize(
    "given_",
    [
        {"fraction": 0.2},
        {"fraction": 0.2, "item": "word"},
        {"count": 2, "seed": 3},
        {"fraction": 0.3, "users": 3, "seed": 5},
    ],
)
def test_every_engine_draws_the_same(engine, given_):
    _, test = parts(engine, SMALL, **given_)
    assert sorted(test) == DRAWN.setdefault(str(given_), sorted(test))


def test_the_draw_is_the_same_in_every_version(engine):
    # Written down once, so that a seed in a paper keeps its meaning.
    assert sorted(parts(engine, SMALL, count=1, seed=42)[1]) == [2, 5, 9, 13, 21, 29, 40, 48]


def test_text_and_numbers_in_the_same_order_give_the_same_draw(engine):
    assert sorted(parts(engine, SMALL, count=1)[1]) == sorted(parts(engine, SMALL, count=1, item="word")[1])


def test_seeds_differ(engine):
    assert len({tuple(sorted(parts(engine, SMALL, count=1, seed=seed)[1])) for seed in range(5)}) == 5


def test_chance_is_even(engine):
    # 4000 lists of ten items: each place is drawn by a tenth of them, six standard deviations at most.
    data = numbered([{"user": u, "item": i} for u in range(4000) for i in range(10)])
    _, test = parts(engine, data, count=1)
    drawn = [n % 10 for n in test]
    assert len(drawn) == 4000
    assert all(abs(drawn.count(place) - 400) < 6 * math.sqrt(360) for place in range(10))
    same = sum(a == b for a, b in zip(sorted(test)[:-1], sorted(test)[1:], strict=True) if a % 10 == b % 10)
    assert same < 600


def test_latest_items(engine):
    data = {
        "user": [1, 1, 1, 2, 2, None],
        "item": ["a", "b", "a", "x", "y", "z"],
        "time": [1, 2, 3, 5, 5, None],
        "n": [0, 1, 2, 3, 4, 5],
    }
    train, test = parts(engine, data, last=1, time="time")
    # The item a is the latest of user 1, with both of its rows; of equal times the larger item is later.
    assert sorted(test) == [0, 2, 4, 5]
    assert sorted(train) == [1, 3]


@pytest.mark.parametrize(
    "since", [dt.date(2020, 1, 2), MOMENT + dt.timedelta(days=1), "2020-01-02", "2020-01-02T00:00"]
)
@pytest.mark.parametrize("kind", [dt.date, dt.datetime])
def test_a_point_in_time(engine, since, kind):
    data = {
        "user": [1, 1, 2, 2],
        "time": [kind(2020, 1, 1), kind(2020, 1, 2), None, kind(2020, 1, 3)],
        "n": [0, 1, 2, 3],
    }
    train, test = parts(engine, data, since=since, time="time")
    assert (sorted(train), sorted(test)) == ([0, 2], [1, 3])


def test_a_point_in_time_that_is_a_number(engine):
    data = {"user": [1, 1, 2, 2], "item": [1, 2, 1, 1], "time": [1.5, 2.0, NAN, 3.0], "n": [0, 1, 2, 3]}
    assert [sorted(part) for part in parts(engine, data, since=2, time="time")] == [[0, 2], [1, 3]]
    assert [sorted(part) for part in parts(engine, data, since=2, time="time", min_items=2)] == [[0, 2, 3], [1]]
    large = {"user": [1, 1], "time": [2**60 + 1, 2**60], "n": [0, 1]}
    assert parts(engine, large, since=2**60 + 1, time="time") == [[1], [0]]


@pytest.mark.parametrize("library", ["polars", "pandas"])
@pytest.mark.parametrize("lazy", [False, True])
def test_times_a_nanosecond_apart_are_two(library, lazy):
    np, frames = pytest.importorskip("numpy"), pytest.importorskip(library)
    times = np.array(["2020-01-01T00:00:00.000000001", "2020-01-01T00:00:00.000000002"], dtype="datetime64[ns]")
    data = frames.DataFrame({"user": [1, 1], "item": ["z", "a"], "time": times})
    if lazy and library == "pandas":
        pytest.skip("pandas has no lazy frames")
    _, test = recframe.rec(data.lazy() if lazy else data).split(last=1, time="time")
    assert list((test.collect() if lazy else test)["item"]) == ["a"]
    pd = pytest.importorskip("pandas")
    for since in (times[1], pd.Timestamp(times[1])):
        with pytest.raises(recframe.OptionError, match="(?s)since=.* is finer than microseconds.*floor"):
            data.rec.split(since=since, time="time")
    assert len(data.rec.split(since=pd.Timestamp(times[1]).floor("us"), time="time")[1]) == 2


def test_a_fraction_may_be_any_real_number(engine):
    np = pytest.importorskip("numpy")
    for half in (np.float32(0.5), Fraction(1, 2)):
        assert parts(engine, SMALL, fraction=half, users=half) == parts(engine, SMALL, fraction=0.5, users=0.5)


def test_times_with_zones():
    pl = pytest.importorskip("polars")
    data = pl.DataFrame({"user": [1, 1], "time": [MOMENT + dt.timedelta(hours=hour) for hour in (22, 23)]})
    data = data.with_columns(pl.col("time").dt.replace_time_zone("UTC").dt.convert_time_zone("Europe/Berlin"))
    train, test = data.rec.split(since=dt.datetime(2020, 1, 2, tzinfo=dt.timezone(dt.timedelta(hours=1))), time="time")
    assert (train.height, test.height) == (1, 1)
    assert test.schema == data.schema


def test_times_with_zones_in_pandas(pandas_engine):
    import pandas as pd

    data = pd.DataFrame({"user": [1, 1], "time": pd.to_datetime(["2020-01-01T22", "2020-01-01T23"]).tz_localize("UTC")})
    with pandas_engine.running():
        train, test = data.rec.split(since=pd.Timestamp("2020-01-02", tz="Europe/Berlin"), time="time")
    assert (len(train), len(test)) == (1, 1)
    assert list(test.index) == [0]
    assert list(test.dtypes) == list(data.dtypes)


def test_other_columns_and_the_frame_stay(polars_engine):
    pl = pytest.importorskip("polars")
    data = pl.DataFrame({"user": [1, 1, 2], "item": ["a", "b", "a"], "tags": [[1], [], None]})
    train, test = data.rec.split(fraction=0.5)
    assert train.schema == test.schema == data.schema
    assert pl.concat([train, test]).sort("user", "item").equals(data)


@pytest.mark.parametrize("fraction", [0.999999, 0.9999999, 1 - 2**-53])
def test_a_fraction_of_nearly_all_takes_nearly_all(engine, fraction):
    assert parts(engine, SMALL, fraction=fraction)[0] == []


def test_empty_parts(engine):
    assert parts(engine, SMALL, count=99, min_items=99)[1] == []
    assert parts(engine, SMALL, count=99)[0] == []


# --- errors -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ({}, "which rows go to the test"),
        ({"fraction": 0.2, "count": 1}, "fraction=0.2 and count=1 exclude each other"),
        ({"fraction": 1.0}, "fraction=1.0 is not between 0 and 1"),
        ({"fraction": 10**400}, "fraction=1.* is not between 0 and 1"),
        ({"fraction": 20}, "fraction=20 is not between 0 and 1"),
        ({"fraction": "a"}, "fraction='a' is not between 0 and 1"),
        ({"fraction": NAN}, "fraction=nan is not between 0 and 1"),
        ({"count": 0}, "count=0 is less than 1"),
        ({"count": 0.5}, "count=0.5 is not a whole number"),
        ({"count": True}, "count=True is not a whole number"),
        ({"last": 1}, "needs the column that says when"),
        ({"last": 0, "time": "time"}, "last=0 is less than 1"),
        ({"since": 3}, "needs the column that says when"),
        ({"count": 2, "time": "time"}, "time='time' is not read with count="),
        ({"fraction": 0.2, "time": []}, r"time=\[\] is not the name of a column"),
        ({"last": 1, "time": []}, r"time=\[\] is not the name of a column"),
        ({"since": 3, "time": ["time"]}, r"time=\['time'\] is not the name of a column"),
        ({"since": "soon", "time": "time"}, "since='soon' is no point in time"),
        ({"since": [1], "time": "time"}, r"since=\[1\] is no point in time"),
        ({"since": 10**400, "time": "time"}, "since=1.* is no point in time"),
        ({"since": float("inf"), "time": "time"}, "since=inf is no point in time"),
        ({"since": 2**63, "time": "time"}, "since=9223372036854775808 is no point in time"),
        ({"fraction": 0.2, "users": 0}, "users=0 is less than 1"),
        ({"fraction": 0.2, "users": 1.5}, "(?s)users=1.5 is not between 0 and 1.*Hint: users=1 or users=0.1"),
        ({"last": 1.0, "time": "time"}, "(?s)last=1.0 is not between 0 and 1.*Hint: last=1 or last=0.1"),
        ({"fraction": 0.2, "min_items": 0}, "min_items=0 is less than 1"),
        ({"fraction": 0.2, "seed": 0.5}, "seed=0.5 is not a whole number"),
        ({"fraction": 0.2, "relevant": "x"}, "no argument 'relevant'"),
    ],
)
def test_bad_arguments(engine, given_, message):
    with pytest.raises(recframe.OptionError, match=message):
        parts(engine, SMALL, **given_)


def test_what_is_no_point_in_time(engine):
    np = pytest.importorskip("numpy")
    with pytest.raises(recframe.OptionTypeError, match=r"since=array\(\[1, 2\]\) is no point in time"):
        parts(engine, SMALL, since=np.array([1, 2]), time="time")


def test_what_is_no_name_of_the_time(engine):
    frame, pl, np = engine.frame(SMALL), pytest.importorskip("polars"), pytest.importorskip("numpy")
    for time in (frame, pl.col("time"), pl.Series("time", SMALL["time"]), np.array(SMALL["time"])):
        with pytest.raises(recframe.OptionTypeError, match="time=.* not the name of a column"):
            recframe.rec(frame).split(last=1, time=time)
    # Columns of pandas may be called 5.
    with pytest.raises((recframe.OptionTypeError, recframe.MissingColumnError), match="time=5"):
        recframe.rec(frame).split(last=1, time=5)


def test_bad_frames(engine):
    if engine.lazy:
        pytest.skip("lazy frames fail at collect")
    with pytest.raises(recframe.MissingColumnError, match="did you mean 'time'"):
        parts(engine, SMALL, last=1, time="tme")
    with pytest.raises(recframe.MissingColumnError, match="by='who'"):
        parts(engine, SMALL, fraction=0.2, by="who")
    with pytest.raises(recframe.ColumnTypeError, match="time='word' has the type"):
        parts(engine, SMALL, last=1, time="word")
    with pytest.raises(recframe.ColumnTypeError, match="compared with is one"):
        parts(engine, SMALL, since="2020-01-01", time="time")
    dated = {"user": [1], "time": [MOMENT], "n": [0]}
    with pytest.raises(recframe.ColumnTypeError, match="compared with is one"):
        parts(engine, dated, since=5, time="time")


# --- the documents' own schemes -----------------------------------------------------------------------------


def movielens():
    pl = pytest.importorskip("polars")
    path = Path(__file__).resolve().parents[3] / "shared" / "data" / "ml-100k" / "ratings.parquet"
    if not path.is_file():
        pytest.skip("needs ../shared/data next to the checkout")
    return pl.read_parquet(path)


def test_a_fifth_of_the_ratings_of_each_user_rounded_up():
    ratings = movielens()
    train, test = ratings.rec.split(fraction=0.2, seed=0)
    sizes, hidden = (dict(frame["user"].value_counts().rows()) for frame in (ratings, test))
    assert train.height + test.height == ratings.height == 100_000
    assert hidden == {user: -(-size // 5) for user, size in sizes.items()}


def test_a_hundred_users_and_three_tenths_of_their_positives():
    ratings = movielens()
    positives = ratings.filter(ratings["rating"] >= 4)
    train, test = positives.rec.split(fraction=0.3, users=100, seed=1)
    sizes, hidden = (dict(frame["user"].value_counts().rows()) for frame in (positives, test))
    assert len(hidden) == 100
    assert hidden == {user: -(-3 * sizes[user] // 10) for user in hidden}
    assert train.height == positives.height - test.height


@pytest.mark.parametrize("fraction", [0.05, 0.2, 0.5, 0.99])
def test_the_latest_share_of_all_rows(engine, fraction):
    times = [5, 1, None, 9, 9, 3, 9, 2, 7, 5]
    data = {"user": [1, 1, 1, 2, 2, 2, 3, 3, 3, 3], "item": list(range(10)), "time": times, "n": list(range(10))}
    _, test = parts(engine, data, fraction=fraction, time="time")
    count = math.ceil(Fraction(str(fraction)) * len(times))
    ordered = sorted((time for time in times if time is not None), reverse=True)
    last = ordered[min(count, len(ordered)) - 1]
    assert sorted(test) == [n for n, time in enumerate(times) if time is not None and time >= last]
    _, few = parts(engine, data, fraction=fraction, time="time", min_items=4)
    assert sorted(few) == [n for n in sorted(test) if data["user"][n] == 3]


def test_the_latest_share_of_dates(engine):
    days = [dt.date(2020, 1, day) for day in (3, 1, 2, 5, 4)]
    data = {"user": [1, 1, 2, 2, 3], "item": [1, 2, 1, 2, 1], "day": days, "n": list(range(5))}
    assert sorted(parts(engine, data, fraction=0.4, time="day")[1]) == [3, 4]


def test_a_missing_date_is_never_the_latest(engine):
    days = [dt.date(2020, 1, 1), dt.date(2020, 1, 3), None, dt.date(2020, 1, 2)]
    data = {"user": [1, 1, 2, 2], "item": [1, 2, 1, 2], "day": days, "n": list(range(4))}
    assert sorted(parts(engine, data, fraction=0.75, time="day")[1]) == [0, 1, 3]
