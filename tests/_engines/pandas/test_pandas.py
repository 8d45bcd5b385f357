"""What only pandas frames can hold: object columns, the index, categories, and keys that come back as they were."""

from __future__ import annotations

import datetime as dt
import warnings

import pytest

import oracle
import recframe
from compare import assert_equal
from spellings import SOME
from strategies import BINARY, BY, crowd

np = pytest.importorskip("numpy")
pd = pytest.importorskip("pandas")


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


def test_rows_keep_the_levels_of_the_index(pandas_engine):
    import pandas as pd

    frame = pd.DataFrame({"user": [1, 1, 2, 2], "item": [1, 2, 1, 3], "time": [4, 3, 2, 1], "model": [*"aabb"]})
    frame = frame.assign(score=[0.5, 0.25, 0.5, 0.75], other=[1.0, 2.0, 2.0, 1.0], relevant=[0, 1, 1, 0])
    truth = frame[["user", "item"]].tail(3)
    with pandas_engine.running():
        for ask in (
            lambda rec: rec.top(1, model="model"),
            lambda rec: rec.split(last=1, time="time")[1],
            lambda rec: rec.label(truth, model="model"),
            lambda rec: rec.fuse(score=["score", "other"]),
            lambda rec: rec.add_popular(truth),
        ):
            expected = ask(recframe.rec(frame))
            for levels in (["user", "time"], ["time"], ["model", "item"]):
                result = ask(recframe.rec(frame.set_index(levels)))
                pd.testing.assert_frame_equal(result[[*expected]], expected)


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


@pytest.mark.parametrize("kind", ["int64", "Int64", "int64[pyarrow]"])
def test_categories_of_large_whole_numbers_are_refused(pandas_engine, kind):
    if "pyarrow" in kind:
        pytest.importorskip("pyarrow")
    large = 2**53 + 1
    key = pd.Series(pd.Categorical.from_codes([1, 0, -1], pd.Index([large, large + 1], dtype=kind)))
    frame = pd.DataFrame({"user": 1, "item": [1, 2, 3], "day": 1, "score": [3.0, 2.0, 1.0], "relevant": [1, 0, 1]})
    with pandas_engine.running():
        for column in ("user", "item", "day"):
            large_frame = frame.assign(**{column: key})
            for ask in (
                lambda rec: rec.mrr(by=["user", "day"], per="day", truth=frame),
                lambda rec: rec.label(frame, by=["user", "day"]),
            ):
                text = f"='{column}' has categories above 2\\*\\*53(?s:.*)df.astype"
                with pytest.raises(recframe.ColumnTypeError, match=text):
                    ask(large_frame.rec)
        user = pd.Series([large, large, large + 1])
        expected = frame.assign(user=user).rec.mrr()
        assert frame.assign(user=user.astype("category")).astype({"user": "Int64"}).rec.mrr() == expected
        small = pd.Series(pd.Categorical.from_codes([1, 0, -1], pd.Index([7, 8], dtype=kind)))
        assert frame.assign(user=small).rec.mrr(per="user")["user"].to_list()[:2] == [7, 8]


def test_new_frames_hold_large_whole_numbers_beside_a_missing_one(pandas_engine):
    large = 2**53
    ids = [large, large + 1, None]
    with pandas_engine.running():
        for frame, column in (
            (recframe.from_lists([ids], library="pandas"), "item"),
            (recframe.from_dict({"a": dict.fromkeys(ids, 1.0)}, library="pandas"), "item"),
            (recframe.from_dict({key: {"a": 1.0} for key in ids}, library="pandas"), "user"),
            (recframe.candidates(users=ids, items=["a"], library="pandas"), "user"),
        ):
            assert frame[column].to_list()[:2] == ids[:2]
            assert frame[column].isna().to_list() == [False, False, True]
        frame = pd.DataFrame({"user": [1, 1], "item": ids[:2], "score": [1.0, 2.0]})
        assert recframe.rec(frame).coverage(k=2, catalog=[*ids, 3]) == 0.5


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
    result = pandas_engine.ask(frame, "mrr", per="user")
    assert sorted((row["user"], row["mrr"]) for row in result if row["user"] == 1) == [(1, 1.0)]
    assert {row["user"] for row in result} == {1, 2}


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


@pytest.mark.parametrize("dtype", ["int8[pyarrow]", "int64[pyarrow]", "Int64"])
def test_the_least_integer_is_a_score(pandas_engine, dtype):
    pytest.importorskip("pyarrow")
    least = -(2**7) if dtype.startswith("int8") else -(2**63)
    frame = pd.DataFrame({"user": [1, 1, 1], "relevant": [1, 0, 0]})
    frame["score"] = pd.Series([least, least + 1, None], dtype=dtype)
    assert frame.rec.mrr() == 0.5


@pytest.mark.parametrize("text", ["string", "large_string"])
def test_arrows_dictionaries_are_keys(pandas_engine, text):
    pa = pytest.importorskip("pyarrow")
    values = pa.array(["b", "a", None], getattr(pa, text)()).dictionary_encode()
    frame = pd.DataFrame({"user": [1, 2, 3], "item": [1, 1, 1], "relevant": [1, 1, 1], "score": [1, 2, 3]})
    frame["country"] = pd.Series(pd.arrays.ArrowExtensionArray(values))
    assert frame.rec.mrr(per="country")["country"].tolist()[:2] == ["a", "b"]
    result = frame.drop(columns="relevant").rec.mrr(
        by="country", truth=pd.DataFrame({"country": ["a", "b"], "item": [1, 1]})
    )
    assert result == 1.0


@pytest.mark.parametrize("left", ["int64", "Int64", "int64[pyarrow]"])
@pytest.mark.parametrize("right", ["uint64", "UInt64", "uint64[pyarrow]"])
def test_large_ids_with_and_without_a_sign_stay_apart(pandas_engine, left, right):
    pytest.importorskip("pyarrow")
    ids = [2**60, 2**60 + 1]
    for one, other in ((left, right), (right, left)):
        frame = pd.DataFrame({"user": pd.Series(ids, dtype=one), "item": [1, 2], "score": [1, 2]})
        truth = pd.DataFrame({"user": pd.Series(ids, dtype=other), "item": [1, 3]})
        assert frame.rec.mrr(truth=truth, per="user").to_dict("list") == {"user": ids, "mrr": [1.0, 0.0]}


@pytest.mark.parametrize(
    ("left", "right"), [([2**64 - 1, 2**64 - 2], [1, 2]), ([2**64 - 1], [-1]), ([2**63, None], [1])]
)
def test_ids_beyond_63_bits_meet_small_ones(pandas_engine, left, right):
    frame = pd.DataFrame({"user": pd.Series(left, dtype="UInt64"), "item": 1, "score": 1})
    truth = pd.DataFrame({"user": pd.Series(right, dtype="int64"), "item": 1})
    with warnings.catch_warnings(action="ignore"):
        result = frame.rec.mrr(truth=truth, per="user")["user"]
    assert {None if pd.isna(value) else int(value) for value in result} == {*left, *right}


@pytest.mark.parametrize("units", [("s", "us"), ("us", "ns"), ("ns", "s")])
def test_points_in_time_of_two_units_match_far_ones_too(pandas_engine, units):
    def days(unit):
        last = "2024-01-02" if unit == "ns" else "9999-12-31"
        return pd.Series(np.array(["2024-01-01", last], dtype=f"datetime64[{unit}]"))

    frame = pd.DataFrame({"user": days(units[0]), "item": 1, "score": 1})
    truth = pd.DataFrame({"user": days(units[1]), "item": 1})
    result = frame.rec.mrr(truth=truth, per="user")
    assert {*result["user"][result["mrr"] == 1].dt.date} == {*frame["user"].dt.date} & {*truth["user"].dt.date}
    if "ns" in units:
        for side in (frame, truth):
            if side["user"].dtype == "datetime64[ns]":
                side["user"] += pd.Timedelta(1, "ns")
        with pytest.raises(recframe.errors.ColumnTypeError, match="and none holds the values of all frames"):
            frame.rec.mrr(truth=truth)


def arrow(values, kind):
    pa = pytest.importorskip("pyarrow")
    return pd.Series(pd.arrays.ArrowExtensionArray(pa.array(values, getattr(pa, kind)())))


@pytest.mark.parametrize("other", ["float64", "float32", "numpy"])
def test_nan_and_null_of_arrow_are_one_missing_key(pandas_engine, other):
    nan = float("nan")
    users, items = arrow([None, nan, 1.0], "float64"), arrow([1.0, None, 3.0], "float64")
    frame = pd.DataFrame({"user": users, "item": items, "score": [2.0, 1.0, 1.0]})
    known = [np.array([nan]) if other == "numpy" else arrow([value], other) for value in (nan, None)]
    with pandas_engine.running():
        for user in known:
            truth = pd.DataFrame({"user": user, "item": known[0]})
            assert frame.rec.mrr(truth=truth) == 0.5
            assert frame.rec.mrr(truth=truth, per="user")["user"].isna().tolist() == [False, True]
        judged = frame.assign(relevant=[0, 1, 1])
        assert judged.rec.mrr(per="user")["mrr"].tolist() == [1.0, 0.5]
        assert judged.rec.evaluate("mrr", model="user", by="item")["model"].isna().tolist() == [True, False]
        assert len(judged.rec.check()) > 0
        assert [len(items) for items in frame.rec.to_lists()["item"]] == [1, 2]
        assert len(recframe.candidates(frame[["user"]], [1])) == 2


@pytest.mark.parametrize("kind", ["float16", "float32", "float64"])
def test_both_zeros_of_arrow_are_one_key(pandas_engine, kind):
    zeros = arrow(np.array([0.0, -0.0, 1.0], kind), kind)
    frame = pd.DataFrame({"user": zeros, "item": [1, 2, 3], "relevant": [0, 1, 1], "score": [2.0, 1.0, 1.0]})
    with pandas_engine.running():
        assert frame.rec.mrr(per="user")["mrr"].tolist() == [0.5, 1.0]
        served = pd.DataFrame({"user": 1, "item": zeros[1:], "score": [1.0, 2.0]})
        assert served.rec.recall(2, truth=pd.DataFrame({"user": 1, "item": zeros[:1]})) == 1


@pytest.mark.parametrize("kind", ["list", "struct"])
def test_lists_and_structs_of_arrow_are_no_keys(pandas_engine, kind):
    pa = pytest.importorskip("pyarrow")
    values = pa.array([[1], [2]] if kind == "list" else [{"a": 1}, {"a": 2}])
    frame = pd.DataFrame({"user": [1, 2], "item": [1, 2], "relevant": 1, "score": [1.0, 2.0]})
    with pandas_engine.running():
        for column, given in (("user", {}), ("item", {"ties": "item"})):
            nested = frame.assign(**{column: pd.arrays.ArrowExtensionArray(values)})
            with pytest.raises(recframe.errors.ColumnTypeError, match=f"holds values that cannot be compared: {kind}<"):
                nested.rec.mrr(**given)


@pytest.mark.parametrize(
    ("users", "order"),
    [(["b", 1, None, "a"], [1, "a", "b", None]), ([("b", 1), "c", None, 0.5], [("b", 1), "c", 0.5, None])],
)
def test_missing_keys_come_last_among_objects_of_several_types(pandas_engine, users, order):
    pytest.importorskip("scipy", reason="describe has intervals")
    frame = pd.DataFrame({"user": pd.Series(users, dtype="object"), "item": 1, "relevant": 1, "score": 1.0})
    with pandas_engine.running():
        for answer in (
            frame.rec.mrr(per="user"),
            frame.rec.describe("mrr", per="user"),
            frame.rec.top(1),
            frame.rec.to_lists(),
        ):
            assert [None if value != value else value for value in answer["user"]] == order  # noqa: PLR0124


@pytest.mark.parametrize("arrow", [False, True])
def test_times_with_and_without_a_zone_never_match(arrow):
    pa = pytest.importorskip("pyarrow") if arrow else None
    days = pd.Series(pd.to_datetime(["2026-01-01", "2026-01-02"]))
    frame = pd.DataFrame({"user": days, "item": [1, 2], "score": [1.0, 2.0]})
    for zone in ("UTC", "Europe/Berlin"):
        zoned = days.dt.tz_localize(zone)
        truth = frame[["item"]].assign(user=zoned.astype(pd.ArrowDtype(pa.timestamp("us", zone))) if arrow else zoned)
        with pytest.raises(recframe.ColumnTypeError, match=rf"{zone}\].* in truth"):
            frame.rec.mrr(truth=truth)
    others = truth.assign(user=zoned.dt.tz_convert("UTC"), score=1.0)
    assert others.rec.mrr(truth=truth) == 1.0
    if arrow:
        dates = frame.assign(user=days.dt.date).astype({"user": pd.ArrowDtype(pa.date32())})
        assert dates.rec.mrr(truth=dates[["user", "item"]]) == 1.0


@pytest.mark.parametrize("kind", ["string_view", "binary_view"])
def test_views_of_arrow_are_keys(pandas_engine, kind):
    pa = pytest.importorskip("pyarrow")
    if not hasattr(pa, kind):
        pytest.skip("older Arrow has no views")
    texts = {name: ["a", "a", "b"] if name == "user" else ["x", "y", "x"] for name in ("user", "item")}
    columns = {name: pa.array(values).cast(getattr(pa, kind)()) for name, values in texts.items()}
    table = pa.table({**columns, "relevant": [0, 1, 1], "score": [0.9, 0.5, 0.1]})
    frame = table.to_pandas(types_mapper=pd.ArrowDtype)
    truth = frame[["user", "item"]]
    with pandas_engine.running():
        assert frame.rec.mrr() == 0.75
        assert frame.rec.mrr(per="user")["mrr"].tolist() == [0.5, 1.0]
        assert frame.rec.mrr(truth=truth) == 1.0
        with pytest.raises(recframe.ColumnTypeError, match=f"score='item' has the type large_{kind[:-5]}"):
            frame.rec.mrr(score="item")


def test_lists_of_arrow_are_no_users(pandas_engine):
    pa = pytest.importorskip("pyarrow")
    lists = pd.Series([[1], [2]], dtype=pd.ArrowDtype(pa.list_(pa.int64())))
    with pandas_engine.running():
        for given in ((pd.DataFrame({"user": lists}), [1]), ([1], pd.DataFrame({"item": lists}))):
            with pytest.raises(recframe.ColumnTypeError, match="(?s)hold values that cannot be compared.*cast the col"):
                recframe.candidates(*given)


@pytest.mark.parametrize("recommended", ["tea", {"tea", "jam"}])
def test_pandas_texts_and_sets_are_no_lists(recommended):
    frame = pd.DataFrame({"user": [1], "recommended": [recommended]})
    with pytest.raises(recframe.ColumnTypeError, match="lists are needed"):
        recframe.from_lists("recommended", frame=frame)


def test_pandas_dates_are_no_numbers_to_compare_with():
    frame = pd.DataFrame({"user": [1, 1], "item": [1, 2], "day": pd.to_datetime(["2026-01-01", "2026-01-02"])})
    with pytest.raises(recframe.ColumnTypeError, match="a number, as what it is compared with is one"):
        recframe.rec(frame).split(time="day", since=5)
