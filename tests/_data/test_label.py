"""Labelled recommendations: every metric of them equals the metric with `truth=`, on every engine."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
import recframe
from compare import assert_equal
from spellings import SOME, spellings_of
from strategies import examples, frames, truths
from tests._plan.test_truth import BY, OF_RELEVANCE, models_and_truth, served_and_truth, without

# Random frames may hold nothing that the truth knows; test_data_warnings.py tells when that is warned of.
pytestmark = pytest.mark.filterwarnings("ignore::recframe.DataWarning")

PRICED = ["money_precision@3", "money_recall@3"]
# The ideal of signed grades holds the rows of the truth alone, but those of the whole labelled frame; prices have a test.
ALL = [
    label
    for name in OF_RELEVANCE
    if f"{name}@3" not in PRICED
    for label in spellings_of(name, (3,))
    if "signed" not in label
]


def rows_of(engine, frame, *args, **given):
    with engine.running():
        return engine.rows(recframe.rec(frame).label(*args, **given))


def by_key(rows, by):
    return {tuple(row[name] for name in by): row for row in rows}


def assert_as_truth(engine, frame, truth, labels, **roles):
    """Compare the labelled frame with the second frame, list by list and as means."""
    labelled = recframe.rec(frame).label(
        truth, **{k: v for k, v in roles.items() if k in ("by", "score", "rank", "model")}
    )
    for per in (None, roles.get("by")):
        expected = engine.ask(frame, "evaluate", labels, truth=truth, per=per, **roles)
        result = engine.ask(labelled, "evaluate", labels, per=per, **roles)
        keys = [*(["model"] if "model" in roles else []), *oracle.names(per)]
        expected = {key: {label: row[label] for label in labels} for key, row in by_key(expected, keys).items()}
        assert_equal(result, expected, keys)


def test_signed_grades_have_the_ideal_of_the_truth_alone(engine):
    frame = engine.frame({"user": [1, 1, 1, 1], "item": [1, 2, 3, 4], "score": [4.0, 3.0, 2.0, 1.0]})
    truth = engine.frame({"user": [1, 1], "item": [1, 4], "relevant": [2, -1]})
    with engine.running():
        labelled = recframe.rec(frame).label(truth)
        result = engine.ask(frame, "ndcg", grades="signed", truth=truth), engine.ask(labelled, "ndcg", grades="signed")
    dcg = 2 - 1 / math.log2(5)
    assert result == pytest.approx((dcg / (2 - 1 / math.log2(3)), 1.0), abs=1e-12)


# --- every metric -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ties", ["average", "best", "worst", "item"])
def test_every_metric_equals_truth(engine, ties):
    served, truth = served_and_truth(70, 90)
    with engine.running():
        # Only the expected values of tied rows may count them together.
        labels = [label for label in ALL if ties == "average" or "thresholds" not in label]
        assert_as_truth(engine, engine.frame(served), engine.frame(truth), labels, by=BY, ties=ties)


@pytest.mark.parametrize("undefined", ["skip", 0.0])
@pytest.mark.parametrize("relevance", [True, False])
def test_small_relevance_and_undefined(engine, undefined, relevance):
    served, truth = served_and_truth(71, 100)
    truth, least = (truth, {"min_relevance": 0.5}) if relevance else (without(truth, "relevant"), {})
    with engine.running():
        assert_as_truth(engine, engine.frame(served), engine.frame(truth), ALL, by=BY, undefined=undefined, **least)


@examples(25)
@given(rows=frames(), data=st.data(), by=st.sampled_from(["user", BY, None]), relevance=st.booleans())
def test_small_frames(engine, rows, data, by, relevance):
    some = engine.some(SOME)
    truth = data.draw(truths(rows, relevance=relevance))
    served = without(rows, "relevant")
    expected = oracle.evaluate(served, some, by=by, truth=truth, per=by)
    frame, other = engine.frames(served, truth)
    with engine.running():
        labelled = recframe.rec(frame).label(other, by=by)
    assert_equal(engine.ask(labelled, "evaluate", some, by=by, per=by), expected, list(oracle.names(by)))


def test_ranks(engine):
    some = engine.some(SOME, 3)
    served, truth = served_and_truth(72, 80)
    draw = random.Random(5)
    placed = [
        {**without([row], "score")[0], "rank": None if draw.random() < 0.1 else 1 + 2 * i}
        for rows in oracle.grouped(served, BY).values()
        for i, row in enumerate(rows)
    ]
    with engine.running():
        assert_as_truth(engine, engine.frame(placed), engine.frame(truth), some, by=BY, rank="rank")


def test_models_in_the_long_format(engine):
    some = engine.some(SOME, 2)
    served, truth = models_and_truth()
    with engine.running():
        assert_as_truth(engine, engine.frame(served), engine.frame(truth), some, by=BY, model="model")


def test_models_in_columns(engine):
    some = engine.some(SOME, 1)
    served, truth = served_and_truth(73, 80)
    once = {(oracle.plain(r["user"]), oracle.plain(r["day"]), r["item"]): r for r in served}
    served = [{**row, "other": None if row["item"] is None else -float(row["item"])} for row in once.values()]
    frame, other = engine.frame(served), engine.frame(truth)
    with engine.running():
        labelled = recframe.rec(frame).label(other, by=BY, score=["score", "other"])
    requested = {"by": BY, "score": ["score", "other"], "per": BY}
    expected = by_key(engine.ask(frame, "evaluate", some, truth=other, **requested), ["model", *BY])
    result = engine.ask(labelled, "evaluate", some, **requested)
    assert_equal(result, {k: {n: r[n] for n in some} for k, r in expected.items()}, ["model", *BY])


def test_money(engine):
    draw = random.Random(8)
    served, truth = (
        [{**row, "price": draw.choice([1.0, 2.5, None, 10.0])} for row in rows] for rows in served_and_truth(74, 80)
    )
    with engine.running():
        assert_as_truth(engine, engine.frame(served), engine.frame(truth), PRICED, by=BY)


# --- by hand ------------------------------------------------------------------------------------------------


def test_rows(engine):
    served = {"user": [1, 1, None], "item": ["a", "b", "a"], "score": [0.5, 0.1, 0.3], "note": ["x", "y", "z"]}
    truth = {"user": [1, 1, None, None, 2], "item": ["b", "c", "a", None, "a"]}
    result = rows_of(engine, engine.frame(served), engine.frame(truth))
    assert sorted(result, key=lambda row: (str(row["user"]), str(row["item"]))) == [
        {"user": 1, "item": "a", "score": 0.5, "note": "x", "relevant": 0},
        {"user": 1, "item": "b", "score": 0.1, "note": "y", "relevant": 1},
        {"user": 1, "item": "c", "score": None, "note": None, "relevant": 1},
        {"user": 2, "item": "a", "score": None, "note": None, "relevant": 1},
        {"user": None, "item": None, "score": None, "note": None, "relevant": 1},
        {"user": None, "item": "a", "score": 0.3, "note": "z", "relevant": 1},
    ]
    if not engine.lazy:
        assert [row["note"] for row in result] == ["x", "y", "z", None, None, None]


def test_a_repeated_recommendation_is_relevant_where_it_comes_first(engine):
    served = {"user": [1, 1, 1, 1], "item": [5, 5, 5, 6], "score": [None, 1.0, 3.0, 2.0], "n": [0, 1, 2, 3]}
    result = rows_of(engine, engine.frame(served), engine.frame({"user": [1, 1], "item": [5, 5], "relevant": [1, 4]}))
    assert {row["n"]: row["relevant"] for row in result} == {0: 0, 1: 0, 2: 4, 3: 0}
    ranked = {"user": [1, 1], "item": [5, 5], "rank": [2, 1]}
    result = rows_of(engine, engine.frame(ranked), engine.frame({"user": [1], "item": [5]}), rank="rank")
    assert {row["rank"]: row["relevant"] for row in result} == {1: 1, 2: 0}


def test_of_equal_rows_the_first_is_relevant(engine):
    if engine.lazy:
        pytest.skip("rows of a lazy frame have no order")
    served = {"user": [1] * 50, "item": [5] * 50, "score": [1.0] * 50}
    result = rows_of(engine, engine.frame(served), engine.frame({"user": [1], "item": [5]}))
    assert [row["relevant"] for row in result] == [1] + [0] * 49


def test_seen_items_are_left_out_of_both(engine):
    served = {"user": [1, 1, None], "item": ["a", "b", "a"], "score": [3.0, 2.0, 1.0]}
    truth = {"user": [1, 1, 2], "item": ["a", "c", "d"]}
    seen = {"user": [1, None, 1, 2], "item": ["a", "a", "a", "d"]}
    result = rows_of(engine, engine.frame(served), engine.frame(truth), seen=engine.frame(seen))
    assert {(row["user"], row["item"]): row["relevant"] for row in result} == {(1, "b"): 0, (1, "c"): 1}


def test_what_nobody_liked_is_added_too(engine):
    # The area under the curve counts rows that are not relevant, recommended or not.
    served = {"user": [1], "item": [1], "score": [1.0]}
    truth = {"user": [1, 1], "item": [1, 2], "relevant": [1, 0]}
    result = rows_of(engine, engine.frame(served), engine.frame(truth))
    assert sorted((row["item"], row["relevant"]) for row in result) == [(1, 1), (2, 0)]


def test_a_column_of_that_name_is_replaced(engine):
    served = {"user": [1, 1], "relevant": ["no", "yes"], "item": [1, 2], "score": [1.0, 2.0]}
    result = rows_of(engine, engine.frame(served), engine.frame({"user": [1], "item": [1]}))
    assert list(result[0]) == ["user", "relevant", "item", "score"]
    assert {row["item"]: row["relevant"] for row in result} == {1: 1, 2: 0}


def test_types_stay(polars_engine):
    pl = pytest.importorskip("polars")
    served = pl.DataFrame(
        {"user": [1, 2], "item": ["a", "b"], "score": [1.0, 2.0], "tags": [[1], [2, 3]]},
        schema_overrides={"user": pl.Int32, "item": pl.Categorical, "score": pl.Float32},
    )
    truth = pl.DataFrame({"user": [1, 3], "item": ["a", "c"], "relevant": [True, True]})
    result = served.rec.label(truth)
    assert result.schema == {**served.schema, "relevant": pl.Boolean}
    assert served.columns == ["user", "item", "score", "tags"]


def test_types_stay_in_pandas(pandas_engine):
    import pandas as pd

    served = pd.DataFrame(
        {"user": [1, 2], "item": pd.Categorical(["a", "b"]), "score": [1.0, 2.0], "n": pd.array([1, 2], dtype="Int64")},
        index=[7, 8],
    )
    before = served.copy()
    truth = pd.DataFrame({"user": [1, 3], "item": ["a", "b"], "relevant": [True, True]})
    with pandas_engine.running():
        result = served.rec.label(truth)
    types = {name: str(dtype) for name, dtype in result.dtypes.items()}
    assert types == {"user": "int64", "item": "category", "score": "float64", "n": "Int64", "relevant": "bool"}
    assert list(result.index) == [0, 1, 2]
    pd.testing.assert_frame_equal(served, before)


def test_large_whole_numbers_stay_exact_beside_missing_ones(pandas_engine):
    import pandas as pd

    large = 2**53 + 1
    served = pd.DataFrame({"user": [large], "item": [1], "score": [0.5], "session": [large], "n": [1]})
    with pandas_engine.running():
        result = served.rec.label(pd.DataFrame({"user": [large], "item": [2]}))
    assert result["user"].to_list() == [large, large]
    assert int(result["session"][0]) == large
    assert str(result["n"].dtype) == "float64"


def test_large_whole_numbers_of_arrow_keep_their_type(pandas_engine):
    import pandas as pd

    pytest.importorskip("pyarrow")
    key = {"user": "uint64[pyarrow]", "item": "int64[pyarrow]"}
    served = pd.DataFrame({"user": [2**63 + 1], "item": [1], "score": [0.5]}).astype(key)
    with pandas_engine.running():
        result = served.rec.label(pd.DataFrame({"user": [2**63 + 3], "item": [2]}).astype(key))
    assert result["user"].to_list() == [2**63 + 1, 2**63 + 3]
    assert {name: str(result[name].dtype) for name in key} == key


@pytest.mark.parametrize("library", ["polars", "pandas"])
@pytest.mark.parametrize(("dtype", "largest"), [("Int64", 2**63 - 1), ("UInt64", 2**64 - 1), ("Int8", 127)])
def test_the_largest_relevance_of_a_type_stays_large(library, dtype, largest):
    frames = pytest.importorskip(library)
    dtype = getattr(frames, dtype) if library == "polars" else dtype.lower()
    served = frames.DataFrame({"user": [1], "item": [1], "score": [0.5]})
    relevant = frames.Series([largest, 1], dtype=dtype)
    truth = frames.DataFrame({"user": [1, 1], "item": [1, 2], "relevant": relevant})
    assert list(map(int, served.rec.label(truth)["relevant"])) == [pytest.approx(largest), 1]


@pytest.mark.parametrize("types", [("UInt64", "Int64"), ("Int64", "UInt64")])
def test_keys_with_and_without_a_sign_stay_exact(types):
    # Older polars makes fractions of both, which are one above 2**53.
    pl = pytest.importorskip("polars")
    users = [2**60 + 1, 2**60 + 2]
    served, truth = (
        pl.LazyFrame({"user": pl.Series([user], dtype=getattr(pl, dtype)), "item": [1]})
        for user, dtype in zip(users, types, strict=True)
    )
    for kind in (pl.LazyFrame.lazy, pl.LazyFrame.collect):
        result = kind(served.with_columns(score=1.0)).rec.label(kind(truth)).lazy().collect()
        assert (result["user"].dtype, result["user"].to_list()) == (getattr(pl, types[0]), users)


def test_keys_in_the_index(pandas_engine):
    import pandas as pd

    served = pd.DataFrame({"user": [1, 2], "item": [1, 1], "score": [1.0, 2.0]}).set_index(["user", "item"])
    truth = pd.DataFrame({"user": [2, 2], "item": [1, 3]})
    with pandas_engine.running():
        result = served.rec.label(truth)
    assert result[["user", "item", "relevant"]].to_numpy().tolist() == [[1, 1, 0], [2, 1, 1], [2, 3, 1]]


def test_bound_roles(engine):
    served = engine.frame({"who": [1], "what": [1], "model": [2.0]})
    truth = engine.frame({"who": [1], "what": [2], "good": [3]})
    with engine.running():
        bound = recframe.rec(served)(by="who", item="what", score="model", relevant="good", ties="item")
        result = engine.rows(bound.label(truth))
    assert sorted(row["good"] for row in result) == [0, 3]


# --- errors -------------------------------------------------------------------------------------------------


def test_errors(engine):
    if engine.lazy:
        pytest.skip("lazy frames fail at collect")
    served = engine.frame({"user": [1, 1], "item": [1, 1], "score": [1.0, 2.0], "other": [2.0, 1.0]})
    truth = engine.frame({"user": [1], "item": [1]})
    with pytest.raises(recframe.MissingColumnError, match="Hint: item='item'"):
        rows_of(engine, served, truth, item="itm")
    with pytest.raises(recframe.OptionTypeError, match="truth is a list"):
        rows_of(engine, served, [1])
    with pytest.raises(recframe.OptionTypeError, match="no argument 'per'"):
        rows_of(engine, served, truth, per="user")
    with pytest.raises(recframe.InputError, match="recommendations repeat"):
        rows_of(engine, served, truth, score=["score", "other"])
    unscored = engine.frame({"user": [1, 1], "item": [1, 1], "knn": [1.0, 2.0]})
    with pytest.raises(recframe.InputError, match="no column 'score' to say which"):
        rows_of(engine, unscored, truth)
    with pytest.raises(recframe.MissingColumnError, match="score='kn'"):
        rows_of(engine, unscored, truth, score="kn")
    assert len(rows_of(engine, served, truth, seen=truth[:0])) == 2


def test_scores_may_come_later(engine):
    served = engine.frame({"user": [1, 1], "item": [1, 2], "random": [1.0, 2.0]})
    result = rows_of(engine, served, engine.frame({"user": [1], "item": [1]}))
    assert {row["item"]: row["relevant"] for row in result} == {1: 1, 2: 0}


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        ({"by": ["user", "item"]}, r"by=\['user', 'item'\] and item='item' name the column 'item' twice"),
        ({"item": "user"}, "by='user' and item='user' name the column 'user' twice"),
        ({"model": "user"}, "model='user' and by='user' name the column 'user' twice"),
        ({"relevant": "item"}, "item='item' and relevant='item' name the column 'item' twice"),
        ({"value": "user"}, "by='user' and value='user' name the column 'user' twice"),
    ],
)
def test_label_refuses_one_column_in_two_roles(engine, roles, message):
    frame = engine.frame({"user": [1, 1], "item": [1, 2], "score": [1.0, 2.0]})
    with pytest.raises(recframe.OptionError, match=message):
        recframe.rec(frame).label(frame, **roles)
