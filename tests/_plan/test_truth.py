"""Recommendations against a second frame, the truth: equal to the oracle on every engine."""

from __future__ import annotations

import random
import uuid
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
import recframe
from compare import assert_equal, same, skip_row_order
from recframe import metrics
from spellings import POLICIES, SOME, SPELLED
from strategies import GRADED, crowd, examples, frames, shop, truths

BY = ["user", "day"]
MANY = SPELLED[::4]


def without(rows: list[dict[str, Any]], *names: str) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name not in names} for row in rows]


def served_and_truth(seed: int, lists: int, *, relevance: tuple[Any, ...] = GRADED) -> tuple[list[Any], list[Any]]:
    """Return recommendations of many lists, and a truth of other lists of which most are the same.

    Items repeat in both, keys and items are missing in both, and each has lists that the other lacks.
    """
    draw = random.Random(seed)
    served = [row for row in crowd(seed, lists) if row["user"] is None or row["user"] % 7]
    truth = [row for row in crowd(seed + 1000, lists, relevance=relevance) if row["user"] is None or row["user"] % 5]
    again = [{**row, "relevant": draw.choice([0, 1, None])} for row in truth if draw.random() < 0.1]
    return without(served, "relevant"), without(draw.sample(truth + again, len(truth + again)), "score")


def models_and_truth() -> tuple[list[Any], list[Any]]:
    """Return recommendations of three models, stacked, each of two thirds of the users; and a truth."""
    models = {"b": 60, "a": 61, "c": 62}
    served = [
        {**row, "model": name}
        for name, seed in models.items()
        for row in served_and_truth(seed, 60)[0]
        if (row["user"] or 0) % 3 != seed % 3
    ]
    return served, served_and_truth(60, 60)[1]


# --- against the oracle -----------------------------------------------------------------------------------


@pytest.mark.parametrize("ties", POLICIES)
@pytest.mark.parametrize("lists", [True, False])
def test_every_list(engine, ties, lists):
    skip_row_order(engine, ties)
    served, truth = served_and_truth(50, 120)
    per = BY if lists else None
    some = engine.some(MANY, POLICIES.index(ties))
    expected = oracle.evaluate(served, some, by=BY, truth=truth, per=per, ties=ties)
    result = engine.ask(engine.frame(served), "evaluate", some, by=BY, truth=engine.frame(truth), per=per, ties=ties)
    assert_equal(result, expected, list(oracle.names(per)))


@pytest.mark.parametrize("label", [*SOME, "ndcg(ideal=ranked)@1", "precision(denominator=list)@1"])
def test_each_metric_alone(engine, label):
    served, truth = served_and_truth(51, 120)
    expected = oracle.evaluate(served, [label], by=BY, truth=truth, per=BY)
    result = engine.value(engine.frame(served), label, by=BY, truth=engine.frame(truth), per=BY)
    assert_equal(result, expected, BY)


@pytest.mark.parametrize("roles", [{"min_relevance": 2}, {"undefined": 0.0}, {"undefined": 0.0, "min_relevance": 1.5}])
def test_roles(engine, roles):
    some = engine.some(SOME)
    served, truth = served_and_truth(52, 90)
    for per in (None, "user", BY):
        expected = oracle.evaluate(served, some, by=BY, truth=truth, per=per, **roles)
        result = engine.ask(engine.frame(served), "evaluate", some, by=BY, truth=engine.frame(truth), per=per, **roles)
        assert_equal(result, expected, list(oracle.names(per)))


@pytest.mark.parametrize("least", [0, -1])
def test_only_the_truth_makes_a_row_relevant(engine, least):
    # Where 0 counts as relevant, an item that the truth lacks still does not: recall would pass 1.
    served = {"user": [1, 1, 1, 1], "item": [1, 2, 3, 3], "score": [4, 3, 2, 1]}
    truth = {"user": [1, 1], "item": [3, 9], "relevant": [0, 1]}
    result = engine.ask(engine.frame(served), "recall", truth=engine.frame(truth), min_relevance=least)
    assert result == 0.5


@pytest.mark.parametrize("ties", ["average", "item"])
def test_truth_without_relevance(engine, ties):
    some = engine.some(SOME, 3)
    served, truth = served_and_truth(53, 90)
    truth = without(truth, "relevant")
    expected = oracle.evaluate(served, some, by=BY, truth=truth, per=BY, ties=ties)
    result = engine.ask(engine.frame(served), "evaluate", some, by=BY, truth=engine.frame(truth), per=BY, ties=ties)
    assert_equal(result, expected, BY)


def test_relevance_of_the_frame_is_not_read(engine):
    some = engine.some(SOME, 2)
    # A frame of recommendations may have a column of that name; the truth supplies the relevance.
    served, truth = served_and_truth(54, 60)
    noisy = [{**row, "relevant": "x"} for row in served]
    result = engine.ask(engine.frame(noisy), "evaluate", some, by=BY, truth=engine.frame(truth), per=BY)
    assert_equal(result, oracle.evaluate(served, some, by=BY, truth=truth, per=BY), BY)


def test_ranks(engine):
    some = engine.some(SOME, 1)
    served, truth = served_and_truth(55, 120)
    draw = random.Random(5)
    # Distinct ranks with gaps, some missing.
    placed = [
        {**without([row], "score")[0], "rank": None if draw.random() < 0.1 else 1 + 2 * i}
        for rows in oracle.grouped(served, BY).values()
        for i, row in enumerate(rows)
    ]
    expected = oracle.evaluate(placed, some, by=BY, truth=truth, per=BY, rank="rank")
    result = engine.ask(engine.frame(placed), "evaluate", some, by=BY, truth=engine.frame(truth), per=BY, rank="rank")
    assert_equal(result, expected, BY)


@examples(30)
@given(
    rows=frames(),
    data=st.data(),
    by=st.sampled_from(["user", BY, None]),
    lists=st.booleans(),
    ties=st.sampled_from(["average", "best", "worst", "item"]),
    relevance=st.booleans(),
)
def test_small_frames(engine, rows, data, by, lists, ties, relevance):
    some = engine.some(SOME)
    if not engine.runs(rows, by, ties):
        return
    truth = data.draw(truths(rows, relevance=relevance))
    served = without(rows, "relevant")
    per = by if lists else None
    expected = oracle.evaluate(served, some, by=by, truth=truth, per=per, ties=ties)
    frame, other = engine.frames(served, truth)
    result = engine.ask(frame, "evaluate", some, by=by, truth=other, per=per, ties=ties)
    assert_equal(result, expected, list(oracle.names(per)))


def test_truth_equals_a_full_join(engine):
    some = engine.some(SOME, 3)
    # The contract: a full join of recommendations and purchases evaluates correctly as it is.
    served, truth = served_and_truth(56, 100, relevance=(1, 2, 3))
    once = {(oracle.plain(r["user"]), oracle.plain(r["day"]), r["item"]): r for r in served if r["item"] is not None}
    goods = {(oracle.plain(r["user"]), oracle.plain(r["day"]), r["item"]): r for r in truth if r["item"] is not None}
    joined = [
        {
            "user": key[0], "day": key[1], "item": key[2],
            "score": once[key]["score"] if key in once else None,
            "relevant": goods[key]["relevant"] if key in goods else None,
        }
        for key in once.keys() | goods.keys()
    ]  # fmt: skip
    result = engine.ask(
        engine.frame(list(once.values())), "evaluate", some, by=BY, truth=engine.frame(list(goods.values())), per=BY
    )
    expected = engine.ask(engine.frame(joined), "evaluate", some, by=BY, per=BY)
    assert_equal(result, {tuple(row[k] for k in BY): {label: row[label] for label in some} for row in expected}, BY)


OF_RELEVANCE = [
    name
    for name, kind in metrics.METRICS.items()
    if not kind.required_inputs
    and not issubclass(kind, metrics.BeyondAccuracyMetric | metrics.ExposureMetric)
    # PFound cannot use these grades without a table; bpref, judged and the residual tell rows that the truth lacks from irrelevant ones.
    and name not in ("pfound", "bpref", "inf_ap", "judged", "rbp_residual")
]


@pytest.mark.parametrize("of_money", [False, True])
@pytest.mark.parametrize("ties", ["average", "worst", "item"])
def test_truth_equals_the_whole_frame_for_every_metric_of_relevance(engine, ties, of_money):
    rng = random.Random(11)
    rows = [row | {"price": row["price"] or 0.0} for row in shop(12, 80, grades=(0, 0, 1, 2)).rows]
    # What was not recommended and is not relevant is in neither frame.
    ranked = [row for row in rows if row["score"] is not None and rng.random() < 0.8]
    truth = [row for row in rows if row["relevant"] > 0]
    pairs = {(row["user"], row["item"]) for row in ranked}
    whole = ranked + [row | {"score": None} for row in truth if (row["user"], row["item"]) not in pairs]
    # Metrics of money order tied rows by value, so they need a call of their own.
    names = [name for name in OF_RELEVANCE if name.startswith("money") == of_money]
    names += [] if of_money else [metrics.PFound(probability={1: 0.2, 2: 0.7})]
    columns = ("user", "item", "score", "price")
    by_truth = engine.ask(
        engine.frame([{name: row[name] for name in columns} for row in ranked]), "evaluate", names, k=[2, None], per="user",
        ties=ties, truth=engine.frame([{name: row[name] for name in ("user", "item", "relevant", "price")} for row in truth]),
    )  # fmt: skip
    by_frame = engine.ask(engine.frame(whole), "evaluate", names, k=[2, None], per="user", ties=ties)
    by_user = {row["user"]: row for row in by_truth}
    assert len(by_user) == len(by_truth) == len(by_frame)
    for row in by_frame:
        for label, value in row.items():
            other = by_user[row["user"]][label]
            assert (value is None) == (other is None), (row["user"], label, value, other)
            assert value is None or value == pytest.approx(other, abs=1e-12), (row["user"], label)


# --- by hand ----------------------------------------------------------------------------------------------


def test_repeated_truth_counts_once_with_its_largest_relevance(engine):
    served = {"user": [None, None], "item": [1, 2], "score": [2.0, 1.0]}
    truth = {"user": [None, None, None, None], "item": [2, 2, 3, 3], "relevant": [1, 3, None, 1]}
    kinds = {"user": "int64"}
    frame, other = engine.frame(served, kinds), engine.frame(truth, kinds)
    assert engine.ask(frame, "recall", truth=other) == 0.5
    assert same(engine.ask(frame, "dcg", discount="reciprocal", truth=other), 1.5)


def test_repeated_recommendation_counts_once(engine):
    served = {"user": [1, 1, 1], "item": [5, 5, 6], "score": [1.0, 3.0, 2.0]}
    truth = {"user": [1], "item": [5]}
    frame, other = engine.frame(served), engine.frame(truth)
    assert engine.ask(frame, "recall", truth=other) == 1.0
    assert engine.ask(frame, "precision", 3, truth=other) == 1 / 3
    assert engine.ask(frame, "mrr", truth=other) == 1.0


def test_repeated_recommendation_counts_where_it_comes_first_under_first(engine):
    some = engine.some(SOME, 2)
    skip_row_order(engine, "first")
    draw = random.Random(6)
    rows = [{"user": u, "item": draw.randrange(4), "score": draw.choice([0, 1])} for u in range(200) for _ in range(8)]
    truth = [{"user": u, "item": 0} for u in range(200)]
    expected = oracle.evaluate(rows, some, truth=truth, per="user", ties="first")
    result = engine.ask(engine.frame(rows), "evaluate", some, truth=engine.frame(truth), per="user", ties="first")
    assert_equal(result, expected, ["user"])


def test_a_list_that_was_never_served_scores_0(engine):
    served = {"user": [1], "item": [1], "score": [1.0]}
    truth = {"user": [1, 2], "item": [1, 1]}
    frame, other = engine.frame(served), engine.frame(truth)
    labels = ["precision@2", "recall", "f1", "r_precision", "hit_rate", "mrr", "map", "dcg", "ndcg", "ndcg@3", "rbp"]
    result = {row["user"]: row for row in engine.ask(frame, "evaluate", labels, truth=other, per="user")}
    assert all(result[2][label] == 0 for label in labels)
    assert engine.ask(frame, "recall", truth=other) == 0.5


def test_a_list_without_truth_is_undefined(engine):
    served = {"user": [1, 2], "item": [1, 1], "score": [1.0, 1.0]}
    truth = {"user": [1], "item": [1]}
    frame, other = engine.frame(served), engine.frame(truth)
    rows = engine.ask(frame, "recall", truth=other, per="user")
    assert {row["user"]: row["recall"] for row in rows} == {1: 1.0, 2: None}
    assert engine.ask(frame, "recall", truth=other) == 1.0
    assert engine.ask(frame, "recall", truth=other, undefined=0.0) == 0.5


# --- types of keys ----------------------------------------------------------------------------------------

PAIRS = [
    ("int32", "int64", int), ("int64", "int8", int), ("uint8", "int64", int), ("uint64", "int64", int), ("int64", "uint32", int),
    ("float32", "float64", float), ("str", "categorical", str), ("categorical", "str", str), ("enum", "str", str),
    ("categorical", "categorical", str), ("enum", "categorical", str),
]  # fmt: skip


def test_large_keys_with_and_without_a_sign_keep_a_type_of_integers(pandas_engine):
    import pandas as pd

    frame = pd.DataFrame({"user": pd.array([0, 1], dtype="int64"), "item": [1, 1], "score": [1.0, 1.0]})
    truth = pd.DataFrame({"user": pd.array([0, 2**63], dtype="uint64"), "item": [1, 1]})
    with pandas_engine.running():
        lists = frame.rec.evaluate("recall@1", truth=truth, per="user")["user"]
    assert lists.tolist() == [0, 1, 2**63]
    assert lists.dtype.kind == "u"


@contextmanager
def lazy_types_may_fail(engine):
    """Skip where lazy frames of unlike types fail at collect: their schemas are not requested, but no value may be wrong."""
    if engine.checks:
        yield
        return
    import polars as pl

    try:
        yield
    except pl.exceptions.PolarsError as error:
        pytest.skip(f"a lazy frame fails with the engine's own message: {type(error).__name__}")


@pytest.mark.parametrize("ties", ["average", "item"])
@pytest.mark.parametrize(("here", "there", "as_type"), PAIRS)
def test_types_of_keys_may_differ(engine, here, there, as_type, ties):
    some = engine.some(SOME, 1)
    served, truth = served_and_truth(57, 90)

    def typed(rows):
        whole = [row for row in rows if row["user"] is not None and row["item"] is not None]
        return [{**row, "user": as_type(row["user"]), "item": as_type(row["item"])} for row in whole]

    served, truth = typed(served), typed(truth)
    expected = oracle.evaluate(served, some, by=BY, truth=truth, per=BY, ties=ties)
    frame = engine.frame(served, {"user": here, "item": here})
    other = engine.frame(truth, {"user": there, "item": there})
    with lazy_types_may_fail(engine):
        assert_equal(engine.ask(frame, "evaluate", some, by=BY, truth=other, per=BY, ties=ties), expected, BY)


@pytest.mark.parametrize("kind", ["int32", "str", "categorical", "enum", "uuid"])
def test_types_of_keys(engine, kind):
    some = engine.some(SOME)
    as_type = {"int32": int, "uuid": lambda i: uuid.UUID(int=i)}.get(kind, str)
    kind = "object" if kind == "uuid" else kind
    if kind not in engine.kinds:
        pytest.skip(f"{engine} has no {kind}")
    served, truth = served_and_truth(58, 90)

    def typed(rows):
        whole = [row for row in rows if row["user"] is not None and row["item"] is not None]
        return [{**row, "user": as_type(row["user"]), "item": as_type(row["item"])} for row in whole]

    served, truth = typed(served), typed(truth)
    kinds = {"user": kind, "item": kind}
    expected = oracle.evaluate(served, some, by=BY, truth=truth, per=BY)
    frame, other = engine.frame(served, kinds), engine.frame(truth, kinds)
    with lazy_types_may_fail(engine):  # enums of different categories are different types
        assert_equal(engine.ask(frame, "evaluate", some, by=BY, truth=other, per=BY), expected, BY)


def test_keys_that_cannot_match_are_refused(engine):
    served = {"user": [1, 2], "item": [1, 1], "score": [1.0, 1.0]}
    truth = {"user": ["1", "2"], "item": [1, 1]}
    if not engine.checks:
        pytest.skip("a lazy frame fails at collect, with the engine's own message")
    with pytest.raises(recframe.ColumnTypeError, match="user"):
        engine.ask(engine.frame(served), "recall", truth=engine.frame(truth))


# --- models -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("per", [None, BY])
def test_wide_models(engine, per):
    some = engine.some(SOME, 3)
    served, truth = served_and_truth(59, 120)
    served = [{**row, "other": None if row["item"] is None else -float(row["item"])} for row in served]
    expected = {
        (name, *key): values
        for name in ("score", "other")
        for key, values in oracle.evaluate(served, some, by=BY, truth=truth, per=per, score=name).items()
    }
    result = engine.ask(
        engine.frame(served), "evaluate", some, by=BY, truth=engine.frame(truth), per=per, score=["score", "other"]
    )
    assert_equal(result, expected, ["model", *oracle.names(per)])


@pytest.mark.parametrize("undefined", ["skip", 0.0])
@pytest.mark.parametrize("ties", ["average", "item"])
@pytest.mark.parametrize("per", [None, "day", BY])
def test_long_models(engine, per, ties, undefined):
    some = engine.some(SOME, 2)
    # Models serve different lists; each is judged on every list of the truth.
    served, truth = models_and_truth()
    requested = {"by": BY, "per": per, "ties": ties, "undefined": undefined, "model": "model"}
    expected = oracle.evaluate(served, some, truth=truth, **requested)
    result = engine.ask(engine.frame(served), "evaluate", some, truth=engine.frame(truth), **requested)
    assert_equal(result, expected, ["model", *oracle.names(per)])
    if engine.sorts:
        # By segment, and in each as the models come in the rows.
        order = list(dict.fromkeys(row["model"] for row in served))
        segments = [tuple(row[name] for name in oracle.names(per)) for row in result]
        place = {segment: number for number, segment in enumerate(dict.fromkeys(segments))}
        assert result == sorted(
            result, key=lambda row: (place[tuple(row[name] for name in oracle.names(per))], order.index(row["model"]))
        )


def test_a_model_that_serves_one_list_is_judged_on_all(engine):
    served = {"user": [1, 2, 1], "item": [1, 1, 1], "score": [1.0, 1.0, 1.0], "model": ["a", "a", "b"]}
    truth = {"user": [1, 2], "item": [1, 1]}
    result = engine.ask(engine.frame(served), "evaluate", ["recall"], truth=engine.frame(truth), model="model")
    assert {row["model"]: row["recall"] for row in result} == {"a": 1.0, "b": 0.5}


# --- attributes of lists ----------------------------------------------------------------------------------


def with_country(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    # Some lists have no country, and some rows do not name that of their list.
    countries = ["at", "be", "cz", None]
    return [
        {
            **row,
            "country": None
            if row["item"] == 0
            else countries[hash((row["user"] or 0, oracle.plain(row["day"]) or 0)) % 4],
        }
        for row in rows
    ]


@pytest.mark.parametrize("undefined", ["skip", 0.5])
@pytest.mark.parametrize("per", ["country", ["day", "country"], ["country", "user", "day"]])
@pytest.mark.parametrize("where", ["truth", "frame", "both"])
def test_attributes(engine, where, per, undefined):
    some = engine.some(SOME, 1)
    served, truth = served_and_truth(63, 120)
    served = with_country(served) if where in ("frame", "both") else served
    if where == "both":  # the truth has the word
        served = [{**row, "country": "elsewhere"} for row in served]
    truth = with_country(truth) if where in ("truth", "both") else truth
    requested = {"by": BY, "per": per, "undefined": undefined}
    expected = oracle.evaluate(served, some, truth=truth, **requested)
    result = engine.ask(engine.frame(served), "evaluate", some, truth=engine.frame(truth), **requested)
    assert_equal(result, expected, list(oracle.names(per)))


def test_attributes_of_lists_that_only_the_frame_has(engine):
    served = {"user": [1, 2], "item": [1, 1], "score": [1.0, 1.0], "country": ["at", "be"]}
    truth = {"user": [1, 3], "item": [1, 1]}
    result = engine.ask(engine.frame(served), "recall", truth=engine.frame(truth), per="country")
    assert {row["country"]: row["recall"] for row in result} == {"at": 1.0, "be": None, None: 0.0}


def test_attributes_with_long_models(engine):
    some = engine.some(SOME)
    served, truth = served_and_truth(64, 80)
    served = [{**row, "model": "ab"[(row["item"] or 0) % 2]} for row in served]
    truth = with_country(truth)
    requested = {"by": BY, "per": "country", "model": "model"}
    expected = oracle.evaluate(served, some, truth=truth, **requested)
    result = engine.ask(engine.frame(served), "evaluate", some, truth=engine.frame(truth), **requested)
    assert_equal(result, expected, ["model", "country"])


def test_an_attribute_with_two_values_in_a_list_is_refused(engine):
    if engine.lazy:
        pytest.skip("needs the data")
    served = {"user": [1, 1], "item": [1, 2], "score": [1.0, 1.0], "country": ["at", "be"]}
    with pytest.raises(recframe.InputError, match="country"):
        engine.ask(engine.frame(served), "recall", truth=engine.frame({"user": [1], "item": [1]}), per="country")


def test_lists_that_nobody_describes_have_a_row_only_where_they_have_a_value(engine):
    served = {"user": [1, 1, 2, 8, 9], "item": [1, 2, 1, 1, 1], "score": [0.9, 0.1, 0.5, 0.5, 0.5]}
    liked = {"user": [1, 2], "item": [1, 2], "country": ["de", None]}
    truth = engine.frame({"user": [1, 2], "item": [1, 2], "country": ["de", "fr"]})

    def ask(metrics, truth, served=served, **given):
        result = engine.ask(engine.frame(served), "evaluate", metrics, truth=truth, per="country", **given)
        return {row["country"]: tuple(row.values())[1:] for row in result}

    # Users 8 and 9 are not in the truth: no country and no value, so they would be a row of nothing.
    assert ask(["mrr", "recall"], truth) == {"de": (1.0, 1.0), "fr": (0.0, 0.0)}
    assert ask(["mrr"], truth, undefined=0.0) == {"de": (1.0,), "fr": (0.0,), None: (0.0,)}
    assert ask(["mrr", "coverage"], truth, k=1, catalog=2) == {"de": (1.0, 0.5), "fr": (0.0, 0.5), None: (None, 0.5)}
    # User 2, whom the truth does not place, has a value.
    assert ask(["mrr"], engine.frame(liked)) == {"de": (1.0,), None: (0.0,)}
    # A country without any value is reported, and so is a list by its key.
    here = served | {"country": ["de", "de", "fr", "it", None]}
    assert ask(["mrr"], engine.frame({"user": [1], "item": [1]}), here) == {"de": (1.0,), "fr": (None,), "it": (None,)}
    by_list = engine.ask(engine.frame(served), "evaluate", ["mrr"], truth=truth, per=["user", "country"])
    assert {row["user"] for row in by_list} == {1, 2, 8, 9}


def test_only_a_missing_relevance_counts_as_0_and_not_what_the_truth_lacks(engine):
    rows = [{"user": 1, "item": item, "score": 4.0 - item} for item in (1, 2, 3)]
    judged = {3: None, 9: 2.0}
    truth = [{"user": 1, "item": item, "relevant": value} for item, value in judged.items()]
    frame, known = engine.frames(rows, truth)
    for metric, value in (("precision", 1 / 3), ("recall", 1 / 2)):
        assert engine.ask(frame, metric, 3, truth=known, min_relevance=0) == pytest.approx(value)
        assert engine.ask(frame, metric, 3, truth=known, min_relevance=-1) == pytest.approx(value)
        assert engine.ask(frame, metric, 3, truth=known) == 0
    # After a full join the rows of the truth's other items have no relevance.
    joined = [row | {"relevant": judged.get(row["item"])} for row in rows]
    joined.append({"user": 1, "item": 9, "score": None, "relevant": 2.0})
    assert engine.ask(engine.frame(joined), "precision", 3, min_relevance=0) == 1
