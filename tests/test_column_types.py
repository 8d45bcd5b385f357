"""What must not matter does not: order and types of rows and labels, what else is asked, and the engine."""

from __future__ import annotations

import datetime as dt
import math
import random
import uuid
from functools import cache
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import oracle
import recframe
from compare import assert_equal, same
from spellings import SOME, SPELLED
from strategies import BINARY, GRADED, crowd, examples, frames, ranked_crowd

BY = ["user", "day"]
UNBOUNDED = ("dcg",)


def lists_of(engine, data, kinds=None, labels=SOME, **roles) -> dict[Any, dict[str, Any]]:
    """Return what the engine says of each list, by key."""
    roles = {"by": BY, **roles}
    keys = list(oracle.names(roles["by"]))
    rows = engine.ask(engine.frame(data, kinds), "evaluate", labels, per=keys, **roles)
    return {tuple(row[key] for key in keys): {label: row[label] for label in labels} for row in rows}


# --- rows -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ties", ["average", "best", "worst", "item", "item_desc"])
def test_row_order(engine, ties):
    rows = crowd(20, 150)
    shuffled = random.Random(1).sample(rows, len(rows))
    found = engine.ask(engine.frame(shuffled), "evaluate", SOME, by=BY, per=BY, ties=ties)
    assert_equal(found, lists_of(engine, rows, ties=ties), BY)


def test_row_order_is_all_that_decides_under_first(engine):
    if engine.lazy:
        pytest.skip("a lazy frame has no row order")
    frame = {"user": [1, 1, 1], "relevant": [0, 1, 0], "score": [1, 1, 1]}
    found = [
        engine.ask(engine.frame({**frame, "relevant": hits}), "mrr", ties="first")
        for hits in ([1, 0, 0], [0, 1, 0], [0, 0, 1])
    ]
    assert found == [1, 1 / 2, 1 / 3]


def test_the_frame_is_not_changed(engine):
    rows = crowd(21, 30)
    frame, before = engine.frame(rows), engine.frame(rows)
    for ties in ("average", "item", "best"):
        engine.ask(frame, "evaluate", SOME, by=BY, ties=ties)
        engine.ask(frame, "ndcg", 3, by=BY, per="day", ties=ties)
    engine.ask(frame, "ndcg", 3, by=BY, truth=frame)
    if engine.library == "pandas":
        import pandas as pd

        pd.testing.assert_frame_equal(frame, before)
    else:
        assert engine.rows(frame) == engine.rows(before)


def test_other_columns_do_not_matter(engine):
    rows = crowd(22, 40)
    # Names that a plan might use itself.
    names = [
        "key0",
        "key1",
        "score0",
        "model",
        "start",
        "size",
        "hit",
        "row",
        "relevance",
        "position",
        "sum0",
        "literal",
        "index",
    ]
    more = [{**row, **dict.fromkeys(names, "x")} for row in rows]
    assert_equal(engine.ask(engine.frame(more), "evaluate", SOME, by=BY, per=BY), lists_of(engine, rows), BY)


@pytest.mark.parametrize(
    "columns",
    [
        {"user": "key0", "day": "key1", "item": "score", "relevant": "hit", "score": "relevance"},
        {"user": "score0", "day": "sum0", "item": "row", "relevant": "start", "score": "item"},
        {"user": "relevance", "day": "attribute0", "item": "model", "relevant": "size", "score": "key0"},
        {"user": "^u.*$", "day": "^.*$", "item": "^i", "relevant": "r|s", "score": "?"},
        {"user": "*", "day": "a b", "item": " ", "relevant": "é", "score": '"'},
    ],
)
def test_names_of_columns_do_not_matter(engine, columns):
    rows = crowd(23, 40)
    named = [{columns[name]: value for name, value in row.items()} for row in rows]
    by = [columns["user"], columns["day"]]
    roles = {name: columns[name] for name in ("item", "relevant", "score")}
    found = engine.ask(engine.frame(named), "evaluate", SOME, by=by, per=by, ties="item", **roles)
    assert_equal(found, lists_of(engine, rows, ties="item"), by)


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
    wanted = {(relabel(user), day): values for (user, day), values in expected.items()}
    found = engine.ask(engine.frame(new, {"user": kind, "item": kind}), "evaluate", SOME, by=BY, per=BY, ties=ties)
    assert_equal(found, wanted, BY)


@pytest.mark.parametrize("label", MISSING_TOO)
def test_missing_labels(engine, label):
    kind, relabel = LABELS[label]
    if kind not in engine.kinds:
        pytest.skip(f"{engine} has no {kind}")
    rows = [{**row, "day": 0 if row["day"] is None else 1} for row in crowd(25, 120)]
    new = [{**row, "user": None if row["user"] is None else relabel(row["user"])} for row in rows]
    # NumPy's integers become floats beside a missing one.
    wanted = {
        (None if user is None else relabel(int(user)), day): values
        for (user, day), values in lists_of(engine, rows).items()
    }
    found = engine.ask(engine.frame(new, {"user": kind}), "evaluate", SOME, by=BY, per=BY)
    assert (None, 0) in wanted
    assert_equal(found, wanted, BY)


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
    found = engine.ask(engine.frame(data), "mrr", per="user")
    assert sorted(found, key=lambda row: row["user"] is None) == [
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
    found = lists_of(engine, as_kind, kinds)
    wanted = oracle.evaluate(rows, SOME, by=BY, per=BY)
    assert_equal([dict(zip(BY, key, strict=True)) | values for key, values in found.items()], wanted, BY)


@pytest.mark.parametrize("kind", ["bool", "int8", "int64", "uint8", "float32", "float64"])
def test_types_of_relevance_with_missing(engine, kind):
    rows = crowd(27, 100, relevance=BINARY, missing=0.2)
    as_kind = (
        rows
        if kind == "bool"
        else [{**row, "relevant": None if row["relevant"] is None else int(row["relevant"])} for row in rows]
    )
    found = lists_of(engine, as_kind, {"relevant": kind})
    assert_equal(
        [dict(zip(BY, key, strict=True)) | values for key, values in found.items()],
        oracle.evaluate(rows, SOME, by=BY, per=BY),
        BY,
    )


def test_grades_of_small_types_do_not_overflow(engine):
    # 2^rel - 1 and sums of relevance leave the range of 8 bits.
    data = {"user": [1] * 4, "relevant": [100, 100, 90, 0], "score": [1, 2, 3, 4]}
    wanted = engine.ask(
        engine.frame(data, {"relevant": "float64"}), "evaluate", ["dcg", "dcg(gain=exp2)", "ndcg(gain=exp2)@2"]
    )
    for kind in ("int8", "uint8", "int16"):
        found = engine.ask(
            engine.frame(data, {"relevant": kind}), "evaluate", ["dcg", "dcg(gain=exp2)", "ndcg(gain=exp2)@2"]
        )
        for label, value in wanted[0].items():
            assert same(found[0][label], value)


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
    found = engine.ask(engine.frame(rows, {"score": kind}), "evaluate", SOME, per="user")
    assert_equal(found, oracle.evaluate(rows, SOME, per="user"), ["user"])


@pytest.mark.parametrize("missing", [False, True])
def test_large_integer_scores_stay_apart(engine, missing):
    # As floats, these would tie.
    if missing and engine.library == "pandas" and engine.name in ("pandas", "pandas alone"):
        pytest.skip("NumPy's integers hold no missing value")
    scores = [2**60, 2**60 + 1, 2**60 + 2, None if missing else 0]
    data = {"user": [1] * 4, "relevant": [0, 0, 1, 0], "score": scores}
    assert engine.ask(engine.frame(data), "mrr") == 1.0
    assert engine.ask(engine.frame({**data, "relevant": [1, 0, 0, 0]}), "mrr") == 1 / 3


def test_equal_float32_scores_tie(engine):
    data = {"user": [1, 1], "relevant": [1, 0], "score": [0.1, 0.1 + 1e-12]}
    assert engine.ask(engine.frame(data, {"score": "float32"}), "mrr") == 0.75
    assert engine.ask(engine.frame(data), "mrr") == 0.5


def test_both_zeros_tie(engine):
    data = {"user": [1, 1], "relevant": [1, 0], "score": [0.0, -0.0]}
    assert engine.ask(engine.frame(data), "mrr") == 0.75


@pytest.mark.parametrize("kind", ["int8", "int64", "uint32", "float64"])
def test_types_of_ranks(engine, kind):
    rows = ranked_crowd(28, 100)
    found = engine.ask(engine.frame(rows, {"rank": kind}), "evaluate", SOME, rank="rank", per="user")
    assert_equal(found, oracle.evaluate(rows, SOME, rank="rank", per="user"), ["user"])


@examples(30)
@given(rows=frames(), ties=st.sampled_from(["average", "best", "worst", "item"]))
def test_monotone_transforms_of_scores(engine, rows, ties):
    if not engine.takes(rows, ties):
        return
    known = sorted({row["score"] for row in rows if not oracle.is_missing(row["score"])})
    higher = {value: 10 * i * i - 7 for i, value in enumerate(known)}
    moved = [{**row, "score": None if oracle.is_missing(row["score"]) else higher[row["score"]]} for row in rows]
    wanted = engine.ask(engine.frame(rows), "evaluate", SOME, ties=ties)
    found = engine.ask(engine.frame(moved, {"score": "float64"}), "evaluate", SOME, ties=ties)
    for label, value in wanted[0].items():
        assert same(found[0][label], value), label


# --- what metrics promise ---------------------------------------------------------------------------------


@pytest.mark.parametrize("ties", ["average", "best", "worst", "item"])
@pytest.mark.parametrize("relevance", [BINARY, (0.0, 0.5, 1.0)])
def test_bounds(engine, relevance, ties):
    rows = crowd(29, 150, relevance=relevance)
    bounded = [label for label in SPELLED[::4] if oracle.parse(label).name not in UNBOUNDED]
    for values in lists_of(engine, rows, labels=bounded, ties=ties).values():
        for label, value in values.items():
            assert value is None or -1e-12 <= value <= 1 + 1e-12, label


def test_policies_are_in_order(engine):
    rows = crowd(30, 150)
    worst, average, best = (lists_of(engine, rows, ties=ties) for ties in ("worst", "average", "best"))
    for key, label in ((key, label) for key in average for label in SOME if "norm=hits" not in label):
        if average[key][label] is not None:
            assert worst[key][label] - 1e-12 <= average[key][label] <= best[key][label] + 1e-12, (key, label)


def test_the_best_order_scores_one(engine):
    rows = [{**row, "score": oracle.number(row["relevant"])} for row in crowd(31, 100, relevance=(0, 1, 2, 3))]
    labels = [
        "ndcg",
        "ndcg@3",
        "ndcg(gain=exp2,discount=jarvelin)@3",
        "map",
        "map@2",
        "mrr",
        "r_precision",
        "recall(capped=True)@2",
    ]
    for values in lists_of(engine, rows, labels=labels).values():
        assert all(value is None or math.isclose(value, 1, rel_tol=1e-12) for value in values.values())


@examples(30)
@given(rows=frames(keys=1), data=st.data())
def test_promoting_a_relevant_item_never_lowers(engine, rows, data):
    if not engine.takes(rows):
        return
    rows = [{**row, "relevant": oracle.number(row["relevant"]) > 0} for row in rows]
    hits = [i for i, row in enumerate(rows) if row["relevant"] and not oracle.is_missing(row["score"])]
    assume(hits)
    scores = [row["score"] for row in rows if not oracle.is_missing(row["score"])]
    chosen = data.draw(st.sampled_from(hits))
    higher = data.draw(st.sampled_from([score for score in scores if score >= rows[chosen]["score"]]))
    promoted = [{**row, "score": higher} if i == chosen else row for i, row in enumerate(rows)]
    # map(norm="hits") is no such metric: a further hit at the end lowers the mean precision of the hits.
    labels = [label for label in SOME if "norm=hits" not in label]
    before, after = (lists_of(engine, each, labels=labels, by="user") for each in (rows, promoted))
    for key, values in before.items():
        for label, value in values.items():
            assert value is None or after[key][label] >= value - 1e-12, label


# --- what else is asked -----------------------------------------------------------------------------------


@pytest.mark.parametrize("ties", ["average", "worst"])
def test_together_equals_alone(engine, ties):
    # Metrics share sums by name, and the largest cutoff of a call decides which rows stay.
    rows = crowd(32, 80)
    frame = engine.frame(rows)
    some = engine.some(SPELLED[:: 6 if ties == "average" else 17])
    (together,) = engine.ask(frame, "evaluate", some, by=BY, ties=ties)
    for label in some:
        alone = engine.ask(frame, "measure", label, by=BY, ties=ties)
        assert same(alone, together[label]), f"{label}: {alone} alone, {together[label]} together"


def test_options_that_share_a_name_stay_apart(engine):
    def steep(position):
        return position**-2.0

    def flat(position):
        return position**-0.5

    flat.__name__ = "steep"
    rows = crowd(33, 30)
    frame = engine.frame(rows)
    asked = [recframe.metrics.DCG(k=3, discount=steep), recframe.metrics.NDCG(k=3, discount=flat)]
    (together,) = engine.ask(frame, "evaluate", asked, by=BY)
    for metric in asked:
        assert same(engine.ask(frame, "measure", metric, by=BY), together[str(metric)])


def test_the_mean_of_the_lists_is_the_float(engine):
    frame = engine.frame(crowd(34, 100))
    for label in SOME:
        lists = [row[label] for row in engine.ask(frame, "measure", label, by=BY, per=BY)]
        wanted = oracle.mean(lists)
        assert same(engine.ask(frame, "measure", label, by=BY), wanted)


def test_models_do_not_touch_each_other(engine):
    rows = [{**row, "other": row["item"]} for row in crowd(35, 80)]
    frame = engine.frame(rows)
    together = engine.ask(frame, "evaluate", SOME, by=BY, score=["other", "score"])
    assert [row["model"] for row in together] == ["other", "score"]
    for row in together:
        (alone,) = engine.ask(frame, "evaluate", SOME, by=BY, score=row["model"])
        assert all(same(alone[label], row[label]) for label in SOME)


# --- results ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("per", ["user", ["user", "day"], ["day", "user"], "day"])
def test_results_are_sorted(engine, per):
    if not engine.sorts:
        pytest.skip(f"{engine} promises no order")
    columns = list(oracle.names(per))
    for text in (False, True):
        rows = engine.ask(engine.frame(crowd(36, 90, text=text)), "ndcg", 3, by=BY, per=per)
        assert list(rows[0]) == [*columns, "ndcg@3"]
        found = [tuple(row[name] for name in columns) for row in rows]
        last = [tuple((value is None, value if value is not None else 0) for value in key) for key in found]
        assert last == sorted(last), "sorted by key, missing ones last"


def test_undefined_lists_show_in_a_frame(engine):
    data = {"user": [1, 2, 2], "relevant": [0, 1, 0], "score": [1.0, 1.0, 2.0]}
    rows = engine.ask(engine.frame(data), "mrr", per="user")
    assert {row["user"]: row["mrr"] for row in rows} == {1: None, 2: 0.5}
    assert engine.ask(engine.frame(data), "mrr") == 0.5
    assert engine.ask(engine.frame(data), "mrr", undefined=0.0) == 0.25


def test_no_defined_list(engine):
    data = {"user": [1, 2, 2], "relevant": [0, 0, 0], "score": [1.0, 1.0, 2.0]}
    assert math.isnan(engine.ask(engine.frame(data), "mrr"))
    assert engine.ask(engine.frame(data), "evaluate", ["mrr", "ndcg@2"]) == [{"mrr": None, "ndcg@2": None}]


def test_nothing_ranked(engine):
    data = {"user": [1, 2, 2], "relevant": [1, 0, 1], "score": [None, math.nan, None]}
    labels = [label for label in SOME if "ideal=ranked" not in label and label != "ndcg(ideal=ones)"]
    (found,) = engine.ask(engine.frame(data, {"score": "float64"}), "evaluate", labels)
    assert found == dict.fromkeys(labels, 0.0)


# --- pandas only ------------------------------------------------------------------------------------------


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


def test_pandas_index_does_not_matter(pandas_engine):
    rows = crowd(40, 60)
    wanted = oracle.evaluate(rows, SOME, by=BY, per=BY, ties="first")
    frame = pandas_engine.frame(rows)
    for index in ([7] * len(rows), list(range(len(rows)))[::-1], [f"r{i % 5}" for i in range(len(rows))]):
        other = frame.copy()
        other.index = index
        assert_equal(pandas_rows(pandas_engine, other, ties="first"), wanted, BY)
    sliced = frame.iloc[::-1].iloc[::-1]
    assert_equal(pandas_rows(pandas_engine, sliced, ties="first"), wanted, BY)


def test_pandas_categorical_numbers(pandas_engine):
    rows = crowd(41, 60)
    frame = pandas_engine.frame(rows)
    frame["user"], frame["item"] = frame["user"].astype("category"), frame["item"].astype("category")
    for ties in ("average", "item"):
        wanted = oracle.evaluate(rows, SOME, by=BY, per=BY, ties=ties)
        assert_equal(pandas_rows(pandas_engine, frame, ties=ties), wanted, BY)


def test_pandas_unused_categories_are_no_lists(pandas_engine):
    import pandas as pd

    frame = pandas_engine.frame({"user": [1, 2], "relevant": [1, 0], "score": [1, 2]})
    frame["user"] = pd.Categorical(frame["user"], categories=[3, 2, 1])
    found = pandas_engine.ask(frame, "mrr", per="user")
    assert sorted((row["user"], row["mrr"]) for row in found if row["user"] == 1) == [(1, 1.0)]
    assert {row["user"] for row in found} == {1, 2}


def test_pandas_keys_come_back_as_they_were(pandas_engine):
    rows = [row for row in crowd(42, 60) if row["user"] is not None]
    for kind in ("int32", "int64", "float32", "categorical", "datetime", "str"):
        relabel = {"categorical": str, "str": str, "datetime": lambda i: dt.datetime(2024, 1, 1) + dt.timedelta(days=i)}  # noqa: DTZ001
        named = [{**row, "user": relabel.get(kind, int)(row["user"])} for row in rows]
        frame = pandas_engine.frame(named, {"user": kind})
        with pandas_engine.running():
            result = recframe.rec(frame).ndcg(per="user")
        assert result["user"].dtype == frame["user"].dtype, kind


def test_polars_keys_come_back_as_they_were(polars_engine):
    rows = [row for row in crowd(43, 60) if row["user"] is not None]
    for kind in ("int8", "uint64", "float32", "categorical", "enum", "str", "date"):
        relabel = {"categorical": str, "enum": str, "str": str, "date": lambda i: SOME_DAY + dt.timedelta(days=i)}
        frame = polars_engine.frame(
            [{**row, "user": relabel.get(kind, int)(row["user"])} for row in rows], {"user": kind}
        )
        assert recframe.rec(frame).ndcg(per="user").schema["user"] == frame.schema["user"], kind
