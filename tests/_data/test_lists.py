"""Lists and rows: there and back, and the retail lesson from its plain lists."""

from __future__ import annotations

import random
import uuid
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
import recframe
from strategies import crowd, examples
from tests._data.test_top import expected_top, rows_of

# --- lists --------------------------------------------------------------------------------------------------

LISTS = st.lists(st.lists(st.integers(0, 9), max_size=5), min_size=1, max_size=5)


@pytest.fixture(scope="module", params=["polars", "pandas"])
def library(request):
    pytest.importorskip(request.param)
    return request.param


def plain_rows(frame):
    """Return the rows of a frame of either library, missing values as None."""
    rows = frame.to_dicts() if hasattr(frame, "to_dicts") else frame.to_dict("records")
    return [{name: oracle.plain(value) for name, value in row.items()} for row in rows]


def pairs_of(frame, *columns):
    return [tuple(row[name] for name in columns) for row in plain_rows(frame)]


@examples(50)
@given(data=st.data())
def test_there_and_back(library, data):
    recommended = data.draw(LISTS.filter(any))
    actual = data.draw(
        st.lists(st.lists(st.integers(0, 9), max_size=4), min_size=len(recommended), max_size=len(recommended))
    )
    frame = recframe.from_lists(recommended, actual if any(actual) else None, library=library)
    back = dict(pairs_of(recframe.rec(frame).to_lists(rank="rank"), "user", "item"))
    for user, (served, happened) in enumerate(zip(recommended, actual, strict=True)):
        assert list(back.get(user, [])) == served
        if not any(actual):
            continue
        assert user in back or not (served or happened)
        mine = [row for row in plain_rows(frame) if row["user"] == user]
        assert {row["item"] for row in mine if row["relevant"]} == set(happened)
        assert sum(row["relevant"] for row in mine) == len(set(happened))
        assert {row["item"] for row in mine if row["rank"] is None} == set(happened) - set(served)


@pytest.mark.parametrize("k", [1, 3, None])
def test_to_lists(engine, k):
    rows = crowd(83, 100)
    result = rows_of(engine, engine.frame(rows), "to_lists", k, by=["user", "day"], scores=True)
    reference = expected_top(rows, k, ["user", "day"])
    assert len(result) == len(oracle.grouped(rows, ["user", "day"]))
    for row in result:
        key = (row["user"], row["day"])
        items = [
            item for _, item, _ in sorted((each for each in reference if each[0] == key), key=lambda each: each[2])
        ]
        assert [None if str(item) == "<NA>" else oracle.plain(item) for item in row["item"]] == items
        assert len(row["score"]) == len(items)
        assert list(row["score"]) == sorted(row["score"], reverse=True)
    if engine.sorts:
        users = [row["user"] for row in result]
        assert users == sorted(users, key=lambda user: (user is None, user or 0))


def test_to_lists_of_one_list(engine):
    result = rows_of(engine, engine.frame({"item": ["a", "b"], "score": [1, 2]}), "to_lists", by=None)
    assert [list(row["item"]) for row in result] == [["b", "a"]]


def test_kinds_of_lists_give_one_frame(library):
    frame = recframe.from_lists([["a", "b"], ["c"]], [["b", "x"], []], users=["u", "v"], library=library)
    by_user = recframe.from_lists({"u": ["a", "b"], "v": ["c"]}, {"u": {"b", "x"}}, library=library)
    assert plain_rows(frame) == plain_rows(by_user)
    module = pytest.importorskip(library)
    columns = {"who": ["u", "v"], "got": [["a", "b"], ["c"]], "did": [["b", "x"], None]}
    of_frame = recframe.from_lists("got", "did", frame=module.DataFrame(columns), by="who")
    assert plain_rows(of_frame) == [
        {"who" if k == "user" else k: v for k, v in row.items()} for row in plain_rows(frame)
    ]
    series = {name: module.Series(columns[name]) for name in ("got", "did")}
    assert plain_rows(recframe.from_lists(series["got"], series["did"], users=["u", "v"])) == plain_rows(frame)


def test_a_first_list_that_is_missing_is_no_list_of_floats(library):
    module = pytest.importorskip(library)
    missing = float("nan") if library == "pandas" else None
    frame = recframe.from_lists(module.Series([missing, ["a", "b"]]), module.Series([["a"], ["b"]]))
    assert [(row["user"], row["item"], row["relevant"]) for row in plain_rows(frame)] == [
        (1, "a", 0), (1, "b", 1), (0, "a", 1),
    ]  # fmt: skip
    with pytest.raises(recframe.OptionTypeError, match="recommended is a column of str, not of lists"):
        recframe.from_lists(module.Series([None, "a b"]), module.Series([["a"], ["b"]]))


def test_lazy_lists():
    pl = pytest.importorskip("polars")
    data = pl.DataFrame({"user": [1, 2], "got": [["a", "b"], []], "did": [["b"], ["c"]]})
    lazy = recframe.from_lists("got", "did", frame=data.lazy())
    assert isinstance(lazy, pl.LazyFrame)
    reference = recframe.from_lists("got", "did", frame=data)
    assert lazy.collect().sort("user", "item").equals(reference.sort("user", "item"))


def test_types_of_columns_stay():
    pl = pytest.importorskip("polars")
    data = pl.DataFrame(
        {"user": [1], "got": [[1]], "did": [[2]]},
        schema_overrides={"user": pl.Int16, "got": pl.List(pl.UInt8), "did": pl.List(pl.UInt8)},
    )
    result = recframe.from_lists("got", "did", frame=data)
    assert result.schema == {"user": pl.Int16, "item": pl.UInt8, "relevant": pl.Int64, "rank": pl.Int64}


def test_scores_in_the_place_of_ranks(library):
    frame = recframe.from_lists([["a", "b"]], [["b", "c"]], scores=[[0.9, 0.1]], library=library)
    assert pairs_of(frame, "item", "relevant", "score") == [("a", 0, 0.9), ("b", 1, 0.1), ("c", 1, None)]


def test_recommendations_only(library):
    frame = recframe.from_lists({7: ["a"], 8: []}, library=library)
    assert plain_rows(frame) == [{"user": 7, "item": "a", "rank": 1}]


def test_library_of_the_answer(library):
    module = pytest.importorskip(library)
    assert isinstance(recframe.from_lists([[1]], [[1]], library=library), module.DataFrame)


# --- the retail lesson ----------------------------------------------------------------------------------------

RECOMMENDED = [143, 156, 1134, 991, 27, 1543, 3345, 533, 11, 43]
BOUGHT = [521, 32, 143, 991]
PRICES = [400, 60, 40, 40, 90, 200, 50, 100, 40, 15]


def test_retail_lesson(library):
    lesson = recframe.from_lists([RECOMMENDED], [BOUGHT], prices=[PRICES], library=library)
    r = recframe.rec(lesson)(rank="rank")
    assert r.hit_rate() == 1
    assert r.precision() == 0.2
    assert r.precision(5) == 0.4
    assert r.money_precision(5) == pytest.approx(0.6984126984126984, abs=1e-12)
    assert r.money_precision(10) == pytest.approx(0.4251207729468599, abs=1e-12)
    assert r.recall() == r.recall(10) == 0.5
    assert r.map(5, norm="hits") == pytest.approx(0.75, abs=1e-12)
    assert r.dcg(5, discount="jarvelin") / 5 == pytest.approx(0.3, abs=1e-12)


def test_retail_lesson_by_a_price_list(library):
    prices = dict(zip(RECOMMENDED, PRICES, strict=True)) | {521: 1000, 32: 60}
    lesson = recframe.from_lists({"a": RECOMMENDED}, {"a": BOUGHT}, prices=prices, library=library)
    r = recframe.rec(lesson)(rank="rank")
    assert r.money_precision(5) == pytest.approx(0.6984126984126984, abs=1e-12)
    # The formula of the lesson: the revenue of what was bought and recommended by that of all that was bought.
    assert r.money_recall(5) == pytest.approx(440 / 1500, abs=1e-12)


DAYS = [date(2026, 1, day) for day in (1, 2, 3)]
IDS = {
    "numbers": [1, 2, 3],
    "large": [2**53, 2**53 + 1, 2**53 + 2],
    "fractions": [0.5, 1.5, -0.0],
    "text": ["a", "", "c"],
    "days": DAYS,
    "booleans": [True, False, True],
    "numbers with none": [1, None, 3],
    "text with none": ["a", None, "c"],
    "nothing": [],
}


@pytest.mark.parametrize("ids", [*IDS.values()], ids=[*IDS])
@pytest.mark.parametrize("many", [0, 2])
def test_a_price_list_of_ids_of_any_type(library, ids, many):
    prices = {name: 2 * place + 1.0 for place, name in enumerate(ids[:many]) if name is not None}
    frame = recframe.from_lists({"u": ids, "v": ids[::-1]}, prices=prices, value="value", library=library)
    result = [row["value"] for row in plain_rows(frame)]
    assert result == [prices.get(name) for name in [*ids, *ids[::-1]]]


@pytest.mark.parametrize("lists", [[["a", 1]], [[2], None, ["a"]], [["1", True]]])
def test_numbers_beside_text_are_errors_on_polars(lists):
    pytest.importorskip("polars")
    with pytest.raises(recframe.InputError, match="'recommended of user' holds .*, which is a number beside text"):
        recframe.from_lists(lists, library="polars")


def test_recommendations_in_a_set_are_errors(library):
    items = {"tea", "jam", "rye"}
    for lists in ({"ann": items}, [frozenset(items)]):
        with pytest.raises(recframe.OptionTypeError, match="(?s)recommended holds .* list of a user.*in order"):
            recframe.from_lists(lists, library=library)
    with pytest.raises(recframe.OptionTypeError, match="scores holds"):
        recframe.from_lists([["tea"]], scores=[{0.5}], library=library)
    frame = recframe.from_lists({"ann": dict.fromkeys(["tea", "oat"]).keys()}, {"ann": items}, library=library)
    assert frame.rec.mrr() == 1
    if library == "pandas":
        pd = pytest.importorskip("pandas")
        shown = pd.DataFrame({"user": [1], "shown": [["tea"]], "bought": [items]})
        assert recframe.from_lists("shown", "bought", frame=shown).rec.recall() == pytest.approx(1 / 3)
        with pytest.raises(recframe.ColumnTypeError, match="(?s)lists are needed.*in order"):
            recframe.from_lists("bought", frame=shown)
        with pytest.raises(recframe.ColumnTypeError, match="lists are needed"):
            recframe.from_lists(shown["bought"])


@pytest.mark.parametrize("lists", [[[2**130, 1]], [[], [1], None, [2, 10**400]], [["a", 2**130]]])
def test_ids_in_lists_that_polars_would_lose_are_errors(lists):
    pl = pytest.importorskip("polars")
    if pl.Series([[2**130, 1]], strict=False).dtype == pl.List(pl.Float64):
        pytest.skip("this polars rounds them")
    with pytest.raises(recframe.InputError, match="'recommended of user' holds .* too large for polars"):
        recframe.from_lists(lists, library="polars")
    assert recframe.from_lists([[2**70, None], [], None], library="polars")["item"].to_list() == [2**70, None]


@pytest.mark.parametrize(
    ("items", "prices"),
    [
        ([7, 1], {7.9: 5.0, "07": 9.0, "a": 1.0, (1, 2): 3.0, 1.0: 2.0, None: 4.0}),
        (["7", "a"], {7: 1.0, "a": 2.0, DAYS[0]: 3.0}),
        ([True], {1: 2.0, "true": 3.0}),
        (DAYS, {str(DAYS[0]): 1.0, DAYS[1]: 2.0}),
    ],
)
def test_a_price_is_that_of_an_equal_item_only(library, items, prices):
    frame = recframe.from_lists({"u": items}, {"u": items}, prices=prices, value="value", library=library)
    assert [row["value"] for row in plain_rows(frame)] == [prices.get(item) for item in items]


@pytest.mark.parametrize("ids", [["a", 1, (1, 2), "a"], [(1, 2), (3, 4), (1, 2)], [b"a", b"b", b"a"]])
def test_a_price_list_of_objects(ids):
    pd = pytest.importorskip("pandas")
    prices = {name: place + 1.0 for place, name in enumerate(ids[:2])}
    frame = recframe.from_lists({"u": ids, "v": ids[::-1]}, prices=prices, value="value", library="pandas")
    expected = pd.Series([prices.get(name, float("nan")) for name in [*ids, *ids[::-1]]], name="value")
    pd.testing.assert_series_equal(frame["value"], expected)


def test_objects_in_lists_of_polars_are_refused():
    pl = pytest.importorskip("polars")
    ids = [uuid.UUID(int=number) for number in (1, 1, 2)]
    frame = pl.DataFrame({"user": [1, 1, 2], "item": [1, 2, 1], "score": [1.0, 2.0, 3.0]})
    for column in ("user", "item"):
        of_objects = frame.with_columns(pl.Series(column, ids, dtype=pl.Object))
        with pytest.raises(recframe.ColumnTypeError, match=f"'{column}' holds Python objects, (of which|which) polars"):
            recframe.rec(of_objects).to_lists()
    with pytest.raises(recframe.ColumnTypeError, match="recommended holds Python objects(?s:.*)give text or numbers"):
        recframe.from_lists({1: ids}, library="polars")


def test_a_price_list_in_the_types_of_columns():
    pd = pytest.importorskip("pandas")
    from recframe._engines.pandas.constructors import priced

    prices = {"a": 2, "b": 3.5}
    for dtype in ("object", "category", "string"):
        frame = pd.Series(["b", None, "z", "a", "b"], [3, 3, 1, 0, 7], dtype, "item").to_frame()
        assert priced(frame, "item", prices, "value")["value"].fillna(0.0).tolist() == [3.5, 0.0, 0.0, 2.0, 3.5]
    whole = pd.DataFrame({"item": pd.Series([7, None, 9, 7], dtype="Int64")})
    assert priced(whole, "item", {7: 1, 8: 2}, "value")["value"].fillna(0.0).tolist() == [1.0, 0.0, 0.0, 1.0]


def test_retail_lesson_of_three_users(library):
    recommended = [
        RECOMMENDED,
        [1134, 533, 14, 4, 15, 1543, 1, 99, 27, 3345],
        [991, 3345, 27, 533, 43, 143, 1543, 156, 1134, 11],
    ]
    bought = [[521, 32, 143], [143, 156, 991, 43, 11], [1, 2]]
    r = recframe.rec(recframe.from_lists(recommended, bought, library=library))(rank="rank")
    assert r.map(5, norm="hits", undefined=0.0) == pytest.approx(1 / 3, abs=1e-12)
    assert r.mrr(10) == pytest.approx(1 / 3, abs=1e-12)


# --- errors -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "given_", "error", "message"),
    [
        (([1, 2], [3]), {}, recframe.OptionTypeError, r"recommended=\[\[...\]\]"),
        (("got",), {}, recframe.OptionTypeError, "only with frame="),
        ((3,), {}, recframe.OptionTypeError, "recommended is a int, not lists"),
        (
            ([[("a", 0.5)]], [["a"]]),
            {},
            recframe.OptionTypeError,
            "(?s)holds .'a', 0.5. where an item.*and scores= with",
        ),
        (([[1]], [[1], [2]]), {}, recframe.InputError, "1 in recommended, 2 in actual"),
        (([[1]], [[1]]), {"users": [1, 2]}, recframe.InputError, "2 in users"),
        (([[1]], [[1]]), {"users": {1}}, recframe.OptionTypeError, r"users=\{1\} is neither a frame nor a sequence"),
        (({1: [1]}, [[1]]), {}, recframe.OptionTypeError, "recommended says whose each list is, but actual does not"),
        (({1: [1]}, {1: [1]}), {"users": [1]}, recframe.OptionError, "users= is for plain lists"),
        (
            ([[1, 2]], [[1]]),
            {"scores": [[0.5]]},
            recframe.InputError,
            "recommended and scores .* unlike lengths, in 1 of",
        ),
        (([[1, 2]], [[1]]), {"prices": [[5]]}, recframe.InputError, "recommended and prices"),
        (([], []), {}, recframe.InputError, "recommended holds no list"),
        (([[1]],), {"library": "spark"}, recframe.OptionError, "library='spark' is not one of"),
        (([[1]],), {"item": "user"}, recframe.OptionError, "several columns of the name 'user'"),
        (([[1]],), {"by": ["a", "b"]}, recframe.OptionError, "names 2 columns"),
    ],
)
def test_bad_lists(args, given_, error, message):
    with pytest.raises(error, match=message):
        recframe.from_lists(*args, **given_)


@pytest.mark.parametrize("large", [2**70, -(2**200)])
def test_a_price_of_an_item_that_no_column_can_hold_is_that_of_no_item(library, large):
    frame = recframe.from_lists([[1]], prices={1: 2.0, large: 3.0}, library=library)
    assert list(frame["price"]) == [2.0]


@pytest.mark.parametrize("price", [10**400, Decimal("2.50"), float("inf"), None, "2"])
def test_a_price_that_is_no_usual_number_is_refused(library, price):
    with pytest.raises(recframe.OptionTypeError, match=r"gives 1 the price .*, which is not a number up to 1e\+300"):
        recframe.from_lists([[1]], prices={1: price}, library=library)


def test_several_lists_of_one_key_are_refused(library):
    frame = pytest.importorskip(library).DataFrame(
        {"user": [1, 1], "visit": [1, 2], "got": [[7, 8], [8]], "took": [[8], [8]], "score": [[0.9, 0.5], [0.7]]}
    )
    # Both lists have an item of rank 1, which one list of ranks reads as a tie.
    for names in (("got",), ("got", "took")):
        with pytest.raises(
            recframe.InputError, match=r"(?s)by=\['user'\]: several lists have one key.*Hint: give each list"
        ):
            recframe.from_lists(*names, frame=frame)
    with pytest.raises(recframe.InputError, match="several lists have one key"):
        recframe.from_lists([[7], [8]], users=[1, 1], library=library)
    assert recframe.from_lists("got", "took", frame=frame, by=["user", "visit"]).rec(by=["user", "visit"]).mrr() == 0.75
    assert len(recframe.from_lists("got", scores="score", frame=frame)) == 3


def test_bad_frames_of_lists(library):
    frame = pytest.importorskip(library).DataFrame({"user": [1], "got": [[1]]})
    with pytest.raises(recframe.MissingColumnError, match="did you mean 'got'"):
        recframe.from_lists("gt", frame=frame)
    with pytest.raises(recframe.OptionTypeError, match="names a column of lists"):
        recframe.from_lists([[1]], frame=frame)
    with pytest.raises(recframe.OptionError, match="users= is for plain lists"):
        recframe.from_lists("got", frame=frame, users=[1])
    with pytest.raises(recframe.ColumnTypeError, match="recommended='user'"):
        recframe.from_lists("user", frame=frame)


def test_random_lists_there_and_back_by_engine(engine):
    # A frame of lists of each engine's library, made long and short again.
    draw = random.Random(9)
    rows = [{"user": u, "item": i, "score": draw.random()} for u in range(20) for i in range(draw.randint(1, 6))]
    with engine.running():
        lists = recframe.rec(engine.frame(rows)).to_lists()
        long = recframe.from_lists("item", frame=lists)
        again = engine.rows(recframe.rec(long).to_lists(rank="rank"))
        first = engine.rows(lists)
    assert {r["user"]: list(r["item"]) for r in again} == {r["user"]: list(r["item"]) for r in first}


NAMES = ["*", "^a$", "^.*$", "a\nb", " ", 'a"b', "a'b", "{a}", "recommended", "actual", "place of an item"]
ROLES = {"by": "user", "item": "item", "relevant": "relevant", "score": "score", "value": "price"}


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_columns_of_any_name(library):
    module = pytest.importorskip(library)

    def rows(roles, lists):
        names = {name: lists if name == "got" else name for name in ("got", "did", "points")}
        given = {
            roles["by"]: ["u", "v"],
            names["got"]: [["a", "b"], ["c"]],
            "did": [["b", "z"], ["c"]],
            "points": [[2, 1], [1]],
        }
        frame = module.DataFrame(given | {"a": [1, 2]})
        prices = {"a": 1.0, "z": 4.0}
        result = recframe.from_lists(names["got"], "did", frame=frame, scores="points", prices=prices, **roles)
        columns = list(result.columns)
        assert columns == list(roles.values())
        values = [result[name].to_list() for name in columns]
        return [[None if oracle.is_missing(value) else value for value in column] for column in values]

    expected = rows(ROLES, "got")
    for number, name in enumerate(NAMES):
        assert rows(ROLES, name) == expected
        role = list(ROLES)[number % len(ROLES)]
        assert rows({**ROLES, role: name}, "got") == expected, (role, name)


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_two_columns_of_one_name_are_refused(library):
    pytest.importorskip(library)
    lists = {"u": [1, 2]}, {"u": [2]}
    for role, name in (
        ("item", "score"),
        ("value", "user"),
        ("value", "item"),
        ("value", "score"),
        ("value", "relevant"),
    ):
        for prices in ({1: 5.0}, {"u": [5.0, 6.0]}):
            with pytest.raises(recframe.OptionError, match=f"several columns of the name '{name}'"):
                recframe.from_lists(*lists, scores={"u": [2.0, 1.0]}, prices=prices, library=library, **{role: name})


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        ({"by": ["user", "item"]}, r"by=\['user', 'item'\] and item='item' name the column 'item' twice"),
        ({"item": "user"}, "by='user' and item='user' name the column 'user' twice"),
        ({"model": "user"}, "model='user' and by='user' name the column 'user' twice"),
        ({"item": "score", "scores": True}, "item='score' and score='score' name the column 'score' twice"),
    ],
)
def test_to_lists_refuses_one_column_in_two_roles(engine, roles, message):
    frame = engine.frame({"user": [1, 1], "item": [1, 2], "score": [1.0, 2.0]})
    with pytest.raises(recframe.OptionError, match=message):
        recframe.rec(frame).to_lists(**roles)


@pytest.mark.parametrize("shape", [(), (2,)])
def test_an_array_of_no_rows_is_no_list_of_lists(shape):
    np = pytest.importorskip("numpy")
    with pytest.raises(recframe.OptionTypeError, match="recommended is a ndarray, not lists"):
        recframe.from_lists(np.ones(shape))
