"""The types of keys, items, relevance, scores and ranks do not matter, nor what they hold for missing values."""

from __future__ import annotations

import datetime as dt
import math
import random
import uuid
import warnings
from decimal import Decimal
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
import recframe
from compare import assert_equal, lists_of, same
from spellings import SOME
from strategies import BINARY, BY, GRADED, crowd, examples, frames, ranked_crowd

# --- labels -----------------------------------------------------------------------------------------------

SOME_DAY = dt.date(2024, 2, 27)
LABELS: dict[str, tuple[str | None, Any]] = {
    # Each keeps the order of the numbers, because ties="item" reads it.
    "int8": ("int8", lambda i: i - 100),
    "int32": ("int32", lambda i: i - 50),
    "uint8": ("uint8", lambda i: i),
    "uint32": ("uint32", lambda i: 4_000_000_000 + i),
    "uint64": ("uint64", lambda i: 2**63 + i),
    "large int64": ("int64", lambda i: 2**60 + i),
    "float64": ("float64", lambda i: i / 4 - 3),
    "float32": ("float32", lambda i: i / 4 - 3),
    "text": ("str", lambda i: f"{i:04} ü"),
    "categorical": ("categorical", lambda i: f"c{i:04}"),
    "enum": ("enum", lambda i: f"e{i:04}"),
    "date": ("date", lambda i: SOME_DAY + dt.timedelta(days=i)),
    "datetime": ("datetime", lambda i: dt.datetime(2024, 2, 27) + dt.timedelta(microseconds=i)),  # noqa: DTZ001
    "uuid": ("object", lambda i: uuid.UUID(int=i << 90 | i)),
}
MISSING_TOO = [name for name in LABELS if not (name.endswith(("int64", "int32", "int8")))]


@cache
def labelled(ties: str) -> tuple[list[dict[str, Any]], dict[Any, dict[str, Any]]]:
    """Return rows whose users and items are all known, and the oracle's values of their lists."""
    rows = [
        {**row, "day": int(row["day"])}
        for row in crowd(24, 120)
        if oracle.plain(row["day"]) and row["user"] is not None and row["item"] is not None
    ]
    return rows, oracle.evaluate(rows, SOME, by=BY, per=BY, ties=ties)


@pytest.mark.parametrize("ties", ["average", "item", "item_desc"])
@pytest.mark.parametrize("label", LABELS)
def test_labels(engine, label, ties):
    kind, relabel = LABELS[label]
    if kind not in engine.kinds:
        pytest.skip(f"{engine} has no {kind}")
    rows, expected = labelled(ties)
    new = [{**row, "user": relabel(row["user"]), "item": relabel(row["item"])} for row in rows]
    reference = {(relabel(user), day): values for (user, day), values in expected.items()}
    some = engine.some(SOME)
    result = engine.ask(engine.frame(new, {"user": kind, "item": kind}), "evaluate", some, by=BY, per=BY, ties=ties)
    assert_equal(result, {key: {name: values[name] for name in some} for key, values in reference.items()}, BY)


@pytest.mark.parametrize("metric", ["ndcg@3", "mrr", "map"])
@pytest.mark.parametrize("label", LABELS)
def test_labels_of_one_metric(engine, label, metric):
    # Alone, a metric reads some of the ranked rows only, which are found in another way.
    kind, relabel = LABELS[label]
    if kind not in engine.kinds:
        pytest.skip(f"{engine} has no {kind}")
    rows, _ = labelled("average")
    rows = [row for row in rows if oracle.plain(row["score"]) is not None]
    reference = oracle.evaluate(rows, [metric], by=BY, per=BY)
    new = [{**row, "user": relabel(row["user"])} for row in rows]
    result = engine.ask(engine.frame(new, {"user": kind}), "evaluate", [metric], by=BY, per=BY)
    assert_equal(result, {(relabel(user), day): values for (user, day), values in reference.items()}, BY)


@pytest.mark.parametrize("label", MISSING_TOO)
def test_missing_labels(engine, label):
    kind, relabel = LABELS[label]
    if kind not in engine.kinds:
        pytest.skip(f"{engine} has no {kind}")
    rows = [{**row, "day": 0 if row["day"] is None else 1} for row in crowd(26, 120)]
    new = [{**row, "user": None if row["user"] is None else relabel(row["user"])} for row in rows]
    some = engine.some(SOME, 1)
    # NumPy's integers become floats next to a missing one.
    reference = {
        (None if user is None else relabel(int(user)), day): values
        for (user, day), values in lists_of(engine, rows, labels=some).items()
    }
    result = engine.ask(engine.frame(new, {"user": kind}), "evaluate", some, by=BY, per=BY)
    assert (None, 0) in reference
    assert_equal(result, reference, BY)


def test_ordered_categories_break_ties_in_their_order(engine):
    # An enum (in pandas: an ordered categorical) says itself which item is the smaller one: here c < b < a.
    data = {"user": [1, 1, 1], "item": ["a", "b", "c"], "relevant": [0, 0, 1], "score": [1, 1, 1]}
    if "enum" not in engine.kinds:
        pytest.skip(f"{engine} has no enum")
    frame = engine.enum(engine.frame(data), "item", ["c", "b", "a"])
    assert engine.ask(frame, "mrr", ties="item") == 1.0
    assert engine.ask(frame, "mrr", ties="item_desc") == 1 / 3


@pytest.mark.parametrize("truths", [(False, True), (False, True, None)])
def test_bool_keys(engine, truths):
    draw = random.Random(3)
    rows = [
        {
            "user": draw.choice(truths),
            "day": draw.choice(truths),
            "item": i,
            "relevant": draw.randint(0, 1),
            "score": i // 3,
        }
        for i in range(40)
    ]
    assert_equal(
        engine.ask(engine.frame(rows, {"user": "bool", "day": "bool"}), "evaluate", SOME, by=BY, per=BY),
        oracle.evaluate(rows, SOME, by=BY, per=BY),
        BY,
    )


def test_nan_and_null_are_one_key(engine):
    data = {"user": [None, math.nan, 1.0, math.nan], "relevant": [1, 0, 1, 0], "score": [1.0, 3.0, 1.0, 2.0]}
    result = engine.ask(engine.frame(data), "mrr", per="user")
    assert sorted(result, key=lambda row: row["user"] is None) == [
        {"user": 1.0, "mrr": 1.0},
        {"user": None, "mrr": 1 / 3},
    ]


# --- numbers ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind", ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"]
)
def test_types_of_binary_relevance(engine, kind):
    rows = crowd(26, 100, relevance=BINARY, missing=0.0)
    kinds = {"relevant": kind}
    as_kind = rows if kind == "bool" else [{**row, "relevant": int(row["relevant"])} for row in rows]
    some = engine.some(SOME, 2)
    result = lists_of(engine, as_kind, kinds, some)
    reference = oracle.evaluate(rows, some, by=BY, per=BY)
    assert_equal([dict(zip(BY, key, strict=True)) | values for key, values in result.items()], reference, BY)


@pytest.mark.parametrize("kind", ["bool", "int8", "int64", "uint8", "float32", "float64"])
def test_types_of_relevance_with_missing(engine, kind):
    rows = crowd(27, 100, relevance=BINARY, missing=0.2)
    as_kind = (
        rows
        if kind == "bool"
        else [{**row, "relevant": None if row["relevant"] is None else int(row["relevant"])} for row in rows]
    )
    some = engine.some(SOME, 3)
    result = lists_of(engine, as_kind, {"relevant": kind}, some)
    assert_equal(
        [dict(zip(BY, key, strict=True)) | values for key, values in result.items()],
        oracle.evaluate(rows, some, by=BY, per=BY),
        BY,
    )


def test_grades_of_small_types_do_not_overflow(engine):
    # 2^rel - 1 and sums of relevance leave the range of 8 bits.
    data = {"user": [1] * 4, "relevant": [100, 100, 90, 0], "score": [1, 2, 3, 4]}
    reference = engine.ask(
        engine.frame(data, {"relevant": "float64"}), "evaluate", ["dcg", "dcg(gain=exp2)", "ndcg(gain=exp2)@2"]
    )
    for kind in ("int8", "uint8", "int16"):
        result = engine.ask(
            engine.frame(data, {"relevant": kind}), "evaluate", ["dcg", "dcg(gain=exp2)", "ndcg(gain=exp2)@2"]
        )
        for label, value in reference[0].items():
            assert same(result[0][label], value)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("kind", ["int8", "int64", "uint8", "uint64", "float32", "float64"])
def test_types_of_scores(engine, kind, missing):
    draw = random.Random(4)
    rows = [
        {
            "user": i // 6,
            "item": i % 6,
            "relevant": draw.choice(GRADED),
            "score": None if missing and draw.random() < 0.2 else draw.randint(0, 3),
        }
        for i in range(300)
    ]
    result = engine.ask(engine.frame(rows, {"score": kind}), "evaluate", SOME, per="user")
    assert_equal(result, oracle.evaluate(rows, SOME, per="user"), ["user"])


@pytest.mark.parametrize("missing", [False, True])
def test_large_integer_scores_stay_apart(engine, missing):
    # As floats, these would tie.
    if missing and engine.library == "pandas" and engine.name in ("pandas", "pandas alone"):
        pytest.skip("NumPy's integers hold no missing value")
    scores = [2**60, 2**60 + 1, 2**60 + 2, None if missing else 0]
    data = {"user": [1] * 4, "relevant": [0, 0, 1, 0], "score": scores}
    assert engine.ask(engine.frame(data), "mrr") == 1.0
    assert engine.ask(engine.frame({**data, "relevant": [1, 0, 0, 0]}), "mrr") == 1 / 3


@pytest.mark.parametrize("dtype", ["UInt64", "uint64[pyarrow]"])
def test_large_integers_without_a_sign_stay_apart_beside_a_missing_one(pandas_engine, dtype):
    pd = pytest.importorskip("pandas")
    if dtype != "UInt64":
        pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"user": [1] * 4, "relevant": [0, 1, 0, 0]})
    frame["score"] = pd.array([2**64 - 1, 2**64 - 2, 0, None], dtype=dtype)
    with pandas_engine.running():
        assert recframe.rec(frame).mrr() == 1 / 2


@pytest.mark.parametrize(
    ("first", "last", "missing"),
    [(2**63, -(2**63), None), (2**63, 0, math.nan), (2**64, 0, None), (2**64, 0, math.nan)],
)
def test_large_python_integers_stay_apart_beside_a_missing_one(pandas_engine, first, last, missing):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"user": [1] * 4, "relevant": [0, 1, 0, 0]})
    frame["score"] = pd.Series([first - 1, first - 2, last, missing], dtype=object)
    with pandas_engine.running():
        assert recframe.rec(frame).mrr() == 1 / 2


@pytest.mark.filterwarnings("ignore::recframe.DataWarning")  # no user or item is in the truth
@pytest.mark.parametrize("kind", ["int64", "uint64", "Int64"])
@pytest.mark.parametrize("role", ["user", "item"])
def test_large_whole_numbers_match_no_floats(pandas_engine, role, kind):
    pd, large = pytest.importorskip("pandas"), 2**53
    frame = pd.DataFrame({"user": [1, 2], "item": [3, 4], "score": [1.0, 2.0]})
    frame[role] = pd.array([large, large + 1], dtype=kind)
    truth = frame.drop(columns="score").astype({role: "float64"})  # as pandas reads them beside a missing one
    with pandas_engine.running():
        with pytest.raises(recframe.ColumnTypeError, match=f"{role!r} has the types {kind} and float64, and none"):
            recframe.rec(frame).recall(truth=truth)
        truth[role] = math.nan  # without values, a column compares with all
        result = recframe.rec(frame).recall(truth=truth, per="user")
    assert result["user"].to_list()[:2] == frame["user"].to_list()


@pytest.mark.parametrize("kind", ["int64[pyarrow]", "uint64[pyarrow]"])
@pytest.mark.parametrize("other", ["Int64", "UInt64", "int64[pyarrow]"])
def test_large_whole_numbers_of_arrow_match_beside_a_missing_one(pandas_engine, kind, other):
    pd, large = pytest.importorskip("pandas"), 2**53
    pytest.importorskip("pyarrow")
    items = {"item": pd.array([large, large + 1, None], dtype=kind), "score": [1.0, 2.0, 3.0]}
    truth = pd.DataFrame({"user": 1, "item": pd.array([large + 1, None], dtype=other)})
    with pandas_engine.running():
        assert recframe.rec(pd.DataFrame({"user": 1, **items})).precision(k=3, truth=truth) == pytest.approx(2 / 3)


@pytest.mark.parametrize("kind", ["int64", "uint64"])
def test_large_segments_stay_apart_beside_an_unknown_one(pandas_engine, kind):
    pd, large = pytest.importorskip("pandas"), 2**53
    frame = pd.DataFrame({"user": [1, 2, 3], "item": [1, 2, 3], "score": [1.0, 1.0, 1.0]})
    truth = pd.DataFrame({"user": [1, 2], "item": [1, 9], "day": pd.Series([large, large + 1], dtype=kind)})
    with pandas_engine.running():
        result = recframe.rec(frame).recall(truth=truth, per="day", undefined=0.0)
    assert result["day"].to_list()[:2] == [large, large + 1]
    assert result["recall"].to_list() == [1.0, 0.0, 0.0]


def test_equal_float32_scores_tie(engine):
    data = {"user": [1, 1], "relevant": [1, 0], "score": [0.1, 0.1 + 1e-12]}
    assert engine.ask(engine.frame(data, {"score": "float32"}), "mrr") == 0.75
    assert engine.ask(engine.frame(data), "mrr") == 0.5


def test_both_zeros_tie(engine):
    data = {"user": [1, 1], "relevant": [1, 0], "score": [0.0, -0.0]}
    assert engine.ask(engine.frame(data), "mrr") == 0.75


@pytest.mark.filterwarnings("ignore::recframe.DataWarning")  # a score is NaN
@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("role", ["user", "item", "score", "relevant"])
def test_floats_of_16_bits_are_read_as_others(role, lazy):
    pl = pytest.importorskip("polars")
    if not hasattr(pl, "Float16"):
        pytest.skip(f"polars {pl.__version__} has no floats of 16 bits")
    from polars.testing import assert_frame_equal

    rows = pl.DataFrame([
        pl.Series("user", [0.25, 0.5, 0.25, 0.5, 0.75, math.nan, None, math.nan]), pl.Series("item", [0.5, 0.25, 0.25, 0.75, 0.5, 0.75, math.nan, 1.0]), pl.Series("relevant", [1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0]),
        pl.Series("score", [2.0, 1.5, math.nan, 1.75, 3.0, 1.0, 1.0, 2.0]),
    ])  # fmt: skip
    result = []
    for kind in (pl.Float16, pl.Float64):
        frame = rows.with_columns(pl.col(role).cast(kind))
        frame = frame.lazy() if lazy else frame
        answer = frame.rec.evaluate(["ndcg", "map"], k=2, ties="item", per="user")
        result.append(answer.lazy().collect().with_columns(pl.col("user").cast(pl.Float64)).sort("user"))
    assert_frame_equal(*result)


@pytest.mark.parametrize("kind", ["int8", "int64", "uint32", "float64"])
def test_types_of_ranks(engine, kind):
    rows = ranked_crowd(28, 100)
    result = engine.ask(engine.frame(rows, {"rank": kind}), "evaluate", SOME, rank="rank", per="user")
    assert_equal(result, oracle.evaluate(rows, SOME, rank="rank", per="user"), ["user"])


@examples(30)
@given(rows=frames(), ties=st.sampled_from(["average", "best", "worst", "item"]))
def test_monotone_transforms_of_scores(engine, rows, ties):
    if not engine.runs(rows, ties):
        return
    known = sorted({row["score"] for row in rows if not oracle.is_missing(row["score"])})
    higher = {value: 10 * i * i - 7 for i, value in enumerate(known)}
    moved = [{**row, "score": None if oracle.is_missing(row["score"]) else higher[row["score"]]} for row in rows]
    reference = engine.ask(engine.frame(rows), "evaluate", SOME, ties=ties)
    result = engine.ask(engine.frame(moved, {"score": "float64"}), "evaluate", SOME, ties=ties)
    for label, value in reference[0].items():
        assert same(result[0][label], value), label


def test_decimals_are_scores_and_ranks_on_lazy_polars_too(polars_engine):
    import polars as pl

    numbers = [Decimal("2.000000000000000001"), None, Decimal(2), Decimal(3)]
    frame = polars_engine.frame({"user": [1] * 4, "item": [*"abcd"], "relevant": [1, 1, 0, 0], "rank": [2, None, 3, 1]})
    frame = frame.with_columns(pl.Series("score", numbers, pl.Decimal(38, 18)), pl.col("rank").cast(pl.Decimal(10, 0)))
    for roles in ({"score": "score"}, {"rank": "rank"}):
        assert frame.lazy().rec.mrr(**roles).collect().item() == frame.rec.mrr(**roles) == 1 / 2
        assert frame.lazy().rec.check(**roles).collect().equals(frame.rec.check(**roles))


def test_a_rank_beyond_every_list_is_refused(polars_engine):
    frame = polars_engine.frame({"user": [1, 1], "relevant": [1, 0], "rank": [1, 2**31]})
    with pytest.raises(
        recframe.InputError, match="holds 2147483648, but a rank is a whole number from 1 to 2147483647"
    ):
        frame.rec.ndcg(rank="rank")


@pytest.mark.parametrize("kind", ["list", "struct"])
@pytest.mark.parametrize("lazy", [False, True])
def test_keys_that_are_lists_or_structs_in_comparisons(kind, lazy):
    """Every comparison has the numbers of keys of text."""
    pl = pytest.importorskip("polars")
    pytest.importorskip("scipy")
    from polars.testing import assert_frame_equal

    users = [[1, 2], [1, 3], [2, 1]]
    rows = {
        "user": [",".join(map(str, user)) for user in users for _ in range(3)],
        "item": ["a", "b", "c"] * 3,
        "relevant": [1, 0, 1, 0, 1, 0, 1, 0, 0],
        "new": [3, 2, 1, 1, 2, 3, 2, 3, 1],
        "old": [1, 2, 3, 3, 2, 1, 3, 1, 2],
    }
    text = pl.DataFrame(rows)
    nested = text.with_columns(pl.col("user").str.split(","))
    if kind == "struct":
        nested = nested.with_columns(pl.col("user").list.to_struct(fields=["first", "second"]))
    try:
        nested.join(nested, on="user")
    except pl.exceptions.ComputeError as error:
        pytest.skip(f"polars {pl.__version__}: {error}")
    judged = [frame.filter(pl.col("item") != "c") for frame in (text, nested)]
    both = {"score": ["new", "old"]}
    calls = {
        "changes": lambda frame, _: frame.rec.changes("ndcg@2", **both),
        "describe": lambda frame, _: frame.rec.describe("ndcg@2", score="new", per="user"),
        "compare": lambda frame, _: frame.rec.compare("ndcg@2", **both, cluster="user"),
        "rank_models": lambda frame, _: frame.rec.rank_models("ndcg@2", **both, per="user"),
        "clusters": lambda frame, _: frame.rec.describe("ndcg@2", **both, cluster="user"),
        "ranked clusters": lambda frame, _: frame.rec.rank_models("ndcg@2", **both, cluster="user"),
        "drawn clusters": lambda frame, _: frame.rec.compare("ndcg@2", **both, cluster="user", test="bootstrap"),
        "tune_fusion": lambda frame, _: frame.rec.tune_fusion("ndcg@2", **both, cluster="user", methods="sum", folds=2),
        "sample_size": lambda frame, _: frame.rec.sample_size("ndcg@2", **both, per="user", difference=0.1),
        "states": lambda frame, _: recframe.merge_states(frame.rec.state("ndcg@2", **both, cluster="user")).compare(),
        "bounds": lambda frame, truth: frame.rec.bounds("ndcg@2", score="new", per="user", truth=truth),
    }
    for call in calls.values():
        result = []
        for frame, truth in zip((text, nested), judged, strict=True):
            answer = call(frame.lazy() if lazy else frame, truth).lazy().collect()
            keys = [column for column in answer.columns if column == "user"]
            result.append(answer.sort(*keys, maintain_order=True).drop(keys) if keys else answer)
        assert_frame_equal(*result, check_exact=False)
    with pytest.raises(recframe.ColumnTypeError, match="per='user' holds lists or structs"):
        nested.rec.state("ndcg@2", per="user", score="new")
    with pytest.raises(recframe.ColumnTypeError, match="per='day' holds lists or structs"):
        nested.with_columns(day="user").rec.state("ndcg@2", per="day", score="new")


@pytest.mark.parametrize("column", ["user", "item", "day"])
@pytest.mark.parametrize("of_truth", [False, True])
@pytest.mark.parametrize("lazy", [False, True])
def test_python_objects_in_keys_of_polars_are_refused(column, of_truth, lazy):
    pl = pytest.importorskip("polars")
    data = {"user": [1, 1, 2], "item": [1, 2, 1], "day": [1, 1, 2], "relevant": [1, 0, 1], "score": [2.0, 1.0, 2.0]}
    rows = pl.DataFrame(data)
    held = [[uuid.UUID(int=value) for value in data[column]], [(1,), "a", None], [[1], [2], [3]]]
    for values in held:
        ids = rows.with_columns(pl.Series(column, values, dtype=pl.Object))
        frame, truth = (rows, ids) if of_truth else (ids, ids)
        rec = recframe.rec(frame.lazy(), validate=True) if lazy else recframe.rec(frame)
        text = f"='{column}' holds Python objects, which polars cannot compare(?s:.*)text"
        with pytest.raises(recframe.ColumnTypeError, match=text):
            rec.evaluate("ndcg@2", truth=truth.lazy() if lazy else truth, per="day")


def test_python_objects_in_other_columns_of_polars_may_stay():
    pl = pytest.importorskip("polars")
    ids = [uuid.UUID(int=value) for value in (1, 1, 2)]
    frame = pl.DataFrame({"user": [1, 1, 2], "relevant": [0, 1, 1], "score": [2.0, 1.0, 1.0]})
    assert frame.with_columns(pl.Series("other", ids, dtype=pl.Object)).rec.mrr() == 0.75
    assert frame.with_columns(user=pl.Series([*map(str, ids)])).rec.mrr() == 0.75


def test_lists_as_items_of_arrow_on_pandas():
    pd, pa = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"user": [1, 1, 2], "relevant": [1, 0, 1], "score": [2.0, 1.0, 2.0]})
    frame["item"] = pd.array([[1], [2], [1]], dtype=pd.ArrowDtype(pa.list_(pa.int64())))
    assert recframe.rec(frame).mrr() == 1.0  # which reads no item
    with pytest.raises(recframe.ColumnTypeError, match="'user' or 'item' holds values that cannot be keys of a dict"):
        recframe.to_dict(frame)


@pytest.mark.parametrize("unit", ["ns", "us", "ms"])
def test_datetimes_of_other_units_match_up_to_the_last_year(unit):
    pl = pytest.importorskip("polars")
    first, second, never = map(dt.datetime.fromisoformat, ("2026-01-01", "2026-01-02", "9999-12-31"))
    rows = pl.DataFrame({"day": [first, first, second], "item": [1, 2, 1], "score": [0.1, 0.2, 0.3]})
    rows = rows.with_columns(pl.col("day").cast(pl.Datetime("ns")))
    for end, expected in ((second, (1 / 2 + 1) / 2), (never, 1 / 4)):
        if end == never and unit == "ns":
            continue
        truth = pl.DataFrame({"day": [first, end], "item": [1, 1]}).with_columns(pl.col("day").cast(pl.Datetime(unit)))
        assert rows.rec.mrr(truth=truth, by="day") == pytest.approx(expected)


@pytest.mark.parametrize("column", ["relevant", "score"])
def test_numbers_that_no_float_holds_are_errors_on_pandas(column):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"user": [1, 1], "relevant": [1, 0], "score": [2.0, 1.0]})
    with pytest.raises(recframe.ColumnTypeError, match="of integers that no float can hold"):
        recframe.rec(frame.assign(**{column: pd.Series([10**400, 1], dtype=object)})).ndcg()


NUMBERS_OF_PANDAS = {
    "sparse": lambda pd, values: pd.arrays.SparseArray(values),
    "sparse bools": lambda pd, values: pd.arrays.SparseArray([bool(value) for value in values]),
    "objects": lambda pd, values: pd.Series(values, dtype="object"),
    "bools as objects": lambda pd, values: pd.Series([bool(value) for value in values], dtype="object"),
    "decimals": lambda pd, values: pd.Series([Decimal(value) for value in values], dtype="object"),
    "other order of bytes": lambda pd, values: pd.Series(values).astype(">i4"),
    "long double": lambda pd, values: pd.Series(values).astype("longdouble"),
}


@pytest.mark.parametrize("kind", NUMBERS_OF_PANDAS)
def test_features_are_numbers_in_any_type_of_pandas(pandas_engine, kind):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"user": [1] * 3, "item": [1, 2, 3], "relevant": [1, 0, 0], "score": [3.0, 2.0, 1.0]})
    features = pd.DataFrame({"item": [1, 2, 3], "year": [1.0, 2.0, 3.0], "drama": [0, 1, 0]})
    other = features.assign(drama=NUMBERS_OF_PANDAS[kind](pd, [0, 1, 0]), note=["a", "b", "c"])
    with pandas_engine.running():
        expected = recframe.rec(frame).diversity(features=features)
        assert expected != recframe.rec(frame).diversity(features=features[["item", "year"]])
        assert recframe.rec(frame).diversity(features=other) == expected


@pytest.mark.parametrize("kind", ["other order of bytes", "long double"])
@pytest.mark.parametrize("column", ["user", "item", "relevant", "score", "price", "weight"])
def test_types_of_numpy_that_pandas_or_polars_lack(pandas_engine, kind, column):
    pd = pytest.importorskip("pandas")
    if kind == "long double" and column in ("user", "item"):
        pytest.skip("pandas 2.2 itself finds no rows by long doubles")
    data = {"user": [1, 1, 2, 2], "item": [1, 2, 1, 3], "relevant": [0, 1, 2, 1], "score": [3, 2, 1, 2]}
    frame = pd.DataFrame(data | {"price": [1, 2, 3, 4], "weight": [1, 1, 2, 2]})
    other = frame.assign(**{column: NUMBERS_OF_PANDAS[kind](pd, frame[column].tolist())})
    with pandas_engine.running():
        for ask in (
            lambda rec, truth: rec.evaluate(["ndcg", "mrr", "money_recall"], 1, value="price", weight="weight"),
            lambda rec, truth: rec.evaluate("map", truth=truth, per="user", ties="item"),
            lambda rec, truth: rec.label(truth)[["user", "item", "relevant"]],
            lambda rec, truth: rec.top(1)[["user", "item", "rank"]],
            lambda rec, truth: rec.to_lists(1)[["user"]],
            lambda rec, truth: recframe.candidates(truth, truth, seen=truth),
        ):
            result, expected = ask(recframe.rec(other), other), ask(recframe.rec(frame), frame)
            pd.testing.assert_frame_equal(result, expected, check_dtype=False)


@pytest.mark.filterwarnings("ignore::recframe.DataWarning")  # every row is relevant
@pytest.mark.parametrize("role", ["score", "relevant", "weight", "value"])
@pytest.mark.parametrize("missing", ["NA", "NaT"])
def test_what_is_missing_beside_numbers_that_are_objects(pandas_engine, role, missing):
    pd = pytest.importorskip("pandas")
    column = {"value": "price"}.get(role, role)
    frame = pd.DataFrame({"user": [1, 1, 2], "relevant": [1.0, 1.0, 1.0], "score": [0.5, 2.5, 1.5]})
    frame = frame.assign(price=[1.5, 2.5, 0.5], weight=[0.5, 0.5, 2.5])
    where = [False, False, True] if role == "weight" else [False, True, False]
    lacking = frame.assign(**{column: frame[column].mask(where)})
    objects = frame.assign(**{column: frame[column].astype("object").mask(where, getattr(pd, missing))})
    with pandas_engine.running():
        result, expected = (
            recframe.rec(each).evaluate(["ndcg", "mrr", "money_recall"], 2, value="price", weight="weight")
            for each in (objects, lacking)
        )
        pd.testing.assert_frame_equal(result, expected)


def test_each_type_of_objects_that_are_no_numbers_is_named(pandas_engine):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"user": [1, 1], "relevant": [1, 0], "score": pd.Series([1.0, "2"], dtype="object")})
    with (
        pandas_engine.running(),
        pytest.raises(recframe.ColumnTypeError, match="has the type object, of float and str, but a score must be"),
    ):
        recframe.rec(frame).ndcg()


def test_keys_of_16_bit_floats_of_arrow(pandas_engine):
    pd, pa = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"user": [0.5, 0.5, 1.5], "item": [1, 2, 1], "relevant": [0, 1, 1], "score": [2.0, 1.0, 1.0]})
    half = frame.assign(user=frame["user"].astype("float32").astype(pd.ArrowDtype(pa.float16())))
    with pandas_engine.running():
        for ask in (lambda rec: rec.mrr(per="user"), lambda rec: rec.to_lists(1), lambda rec: rec.contributions("mrr")):
            pd.testing.assert_frame_equal(ask(recframe.rec(half)), ask(recframe.rec(frame)), check_dtype=False)


@pytest.mark.parametrize("as_objects", [False, True])
def test_periods_and_intervals_of_two_kinds_are_refused(pandas_engine, as_objects):
    pd = pytest.importorskip("pandas")
    days = pd.Series(pd.period_range("2026-01-01", periods=3, freq="D"))
    bins = pd.Series(pd.interval_range(0, 3))
    hours, left = days.dt.asfreq("h"), pd.Series(pd.interval_range(0, 3, closed="left"))
    for first, second in ((days, hours), (bins, left)):
        key = second.astype("object") if as_objects else second
        frame = pd.DataFrame({"user": first, "item": [1, 2, 3], "score": [1.0, 2.0, 3.0]})
        with pandas_engine.running():
            assert recframe.rec(frame).mrr(truth=frame.assign(user=first.astype("object"))) == 1
            with pytest.raises(recframe.ColumnTypeError, match=r"(?s)by='user' has the type .*no row would match"):
                recframe.rec(frame).mrr(truth=frame.assign(user=key))


@pytest.mark.parametrize("kind", ["int64", "category", "Int64", "Sparse[int64, 0]"])
@pytest.mark.parametrize("last", [1, 3])
def test_labelled_rows_keep_categories_that_hold_all_values(pandas_engine, kind, last):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"user": [1, 2], "item": [1, 2], "score": [1.0, 2.0]}).astype({"user": "category"})
    truth = pd.DataFrame({"user": [1, last], "item": [1, 3]}).astype({"user": kind})
    with pandas_engine.running(), warnings.catch_warnings(action="error"):
        result = recframe.rec(frame).label(truth)
    assert result["user"].tolist() == [1, 2, last]
    assert (result["user"].dtype == "category") == (last == 1 and kind != "category")  # which has other categories
