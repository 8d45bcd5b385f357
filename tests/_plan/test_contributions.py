"""What rows add sums to the value of their list, for every metric that can be split, on every engine."""

from __future__ import annotations

import math
from collections import defaultdict
from itertools import permutations, product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import recframe
from compare import skip_row_order
from oracle import ACCURACY, is_missing
from recframe.metrics import METRICS
from recframe.metrics._beyond_accuracy import BeyondAccuracyMetric, ExposureMetric
from spellings import POLICIES, SPELLED, spellings_of
from strategies import crowd, examples, frames, ranked_crowd, truths

CHANCES = {1: 0.1, 2: 0.4, 3: 1}
ADDED_UP = [
    label
    for name, kind in METRICS.items()
    if kind.is_additive and not kind.required_inputs and not issubclass(kind, BeyondAccuracyMetric | ExposureMetric)
    for label in spellings_of(name, (2, 5, None))
    if name not in ACCURACY
]
"""The other metrics whose rows add up to their values, with their options."""
MORE: list[Any] = [
    *(label for label in ADDED_UP if not recframe.metrics.parse(label).requires_average_ties),
    "err(max_relevance=4)",
    "err(max_relevance=4)@2",
    *(recframe.metrics.PFound(k, probability=CHANCES, p_break=p_break) for k, p_break in ((None, 0.15), (3, 0.3))),
]
EVERY = [*SPELLED, *MORE]


def some(shift: int, step: int) -> list[Any]:
    """Return a share of the metrics; all shares together are all of them."""
    return EVERY[shift % step :: step]


def priced(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**row, "price": None if i % 11 == 0 else 0.5 * (i % 7)} for i, row in enumerate(rows)]


def key_of(row: dict[str, Any], keys: list[str]) -> tuple[Any, ...]:
    return tuple(row[name] for name in keys)


def assert_sums(engine, frame, metric: Any, keys: list[str], **given: Any) -> None:
    """Compare the sums of what rows add with the metric's own values."""
    label = str(metric)
    values = engine.ask(frame, "evaluate", metric, per=keys, **given)
    names = [*(["model"] if "model" in values[0] else []), *keys]
    expected = {key_of(row, names): row[label] for row in values}
    added, list_values = defaultdict(list), {}
    for row in engine.ask(frame, "contributions", metric, **given):
        key = key_of(row, names)
        added[key].append(row["contribution"])
        list_values.setdefault(key, row[label])
        assert row[label] == list_values[key]
    for key, value in expected.items():
        if key not in added:
            assert value in (None, 0), f"{label} {key}: no row, but {value}"
            continue
        assert list_values[key] == (None if value is None else pytest.approx(value, abs=1e-12)), f"{label} {key}"
        result = None if value is None else math.fsum(added[key])
        assert result == (None if value is None else pytest.approx(value, rel=1e-12, abs=1e-12)), f"{label} {key}"
    assert added.keys() <= expected.keys()


SCENARIOS: dict[str, tuple[list[dict[str, Any]], dict[str, Any]]] = {
    "graded": (priced(crowd(41, 90)), {"by": ["user", "day"]}),
    "binary": (priced(crowd(42, 60, relevance=(0, 0, 1), missing=0.0)), {"by": ["user", "day"]}),
    "least 2": (priced(crowd(43, 60)), {"by": ["user", "day"], "min_relevance": 2}),
    "ranks": (priced(ranked_crowd(44, 60, relevance=(-1, 0, 0, 1, 2))), {"by": "user", "rank": "rank"}),
}


@pytest.mark.parametrize("ties", POLICIES)
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_sums_are_the_metric(engine, scenario, ties):
    skip_row_order(engine, ties)
    rows, requested = SCENARIOS[scenario]
    frame = engine.frame(rows)
    keys = [requested["by"]] if isinstance(requested["by"], str) else requested["by"]
    # Under all policies and scenarios together, eager polars runs a third of the metrics, the other engines a ninth.
    shift = POLICIES.index(ties) * len(SCENARIOS) + [*SCENARIOS].index(scenario)
    step = len(POLICIES) * len(SCENARIOS) * (3 if engine.name == "polars" else 9)
    for label in some(shift, step):
        assert_sums(engine, frame, label, keys, ties=ties, **requested)


@pytest.mark.slow
@pytest.mark.parametrize("ties", ["average", "worst"])
def test_sums_of_all_metrics(polars_engine, ties):
    frame = polars_engine.frame(priced(crowd(45, 60)))
    for metric in some(POLICIES.index(ties), 10):
        assert_sums(polars_engine, frame, metric, ["user", "day"], by=["user", "day"], ties=ties)


LABELS = (
    "ndcg@3",
    "ndcg(ideal=ranked)",
    "ndcg(ideal=ones)",
    "map(norm=hits)@2",
    "mrr",
    "r_precision",
    "roc_auc",
    "err@3",
    "f1@2",
)


@pytest.mark.parametrize("label", LABELS)
def test_a_truth(engine, label):
    rows = [{n: v for n, v in row.items() if n != "relevant"} for row in crowd(46, 60)]
    truth = [{n: row[n] for n in ("user", "day", "item", "relevant")} for row in (*crowd(47, 80), *crowd(46, 30))]
    frame, there = engine.frames(rows, truth)
    assert_sums(engine, frame, label, ["user", "day"], by=["user", "day"], truth=there)


@pytest.mark.parametrize("with_truth", [False, True])
def test_models(engine, with_truth):
    rows = [{**row, "who": name} for name, seed, lists in (("b", 48, 30), ("a", 49, 40)) for row in crowd(seed, lists)]
    truth = [{n: row[n] for n in ("user", "day", "item", "relevant")} for row in crowd(50, 40)]
    frame, there = engine.frames(
        [{n: v for n, v in row.items() if n != "relevant" or not with_truth} for row in rows], truth
    )
    more = {"truth": there} if with_truth else {}
    for label in engine.some(["ndcg@3", "mrr@2", "roc_auc"], 1):
        assert_sums(engine, frame, label, ["user", "day"], by=["user", "day"], model="who", **more)


def test_several_scores(engine):
    rows = [{**row, "other": float(i % 5)} for i, row in enumerate(crowd(51, 40))]
    frame = engine.frame(rows)
    for label in engine.some(["ndcg@3", "mrr@2", "roc_auc"], 2):
        assert_sums(engine, frame, label, ["user", "day"], by=["user", "day"], score=["score", "other"])


@examples(20)
@given(data=st.data())
def test_odd_frames(engine, data):
    rows = data.draw(frames())
    label = data.draw(
        st.sampled_from(["ndcg", "ndcg@2", "map@2", "mrr@2", "hit_rate@1", "roc_auc", "roc_auc@2", "err"])
    )
    by = data.draw(st.sampled_from([["user"], ["user", "day"]]))
    truth = data.draw(st.none() | truths(rows))
    if truth is None:
        assert_sums(engine, engine.frame(rows), label, by, by=by)
        return
    frame, there = engine.frames([{n: v for n, v in row.items() if n != "relevant"} for row in rows], truth)
    assert_sums(engine, frame, label, by, by=by, truth=there)


def test_a_tied_block_across_the_cutoff(engine):
    rows = [{"user": 1, "item": i, "relevant": int(i in (0, 2)), "score": float(i < 3)} for i in range(5)]
    rows += [{"user": 2, "item": i, "relevant": int(i == 3), "score": float(i < 1)} for i in range(5)]
    for label in ("roc_auc@2", "roc_auc@3", "ndcg@2", "map@2"):
        assert_sums(engine, engine.frame(rows), label, ["user"], by=["user"])


# --- which row adds what ----------------------------------------------------------------------------------


def by_hand(label: str, relevant: list[int], k: int) -> list[float]:
    """Return what the rows of an untied list add, first place first."""
    n, total = len(relevant), sum(map(bool, relevant))
    before = [sum(map(bool, relevant[:i])) for i in range(n)]
    discounts = [1 / math.log2(i + 2) if i < k else 0.0 for i in range(n)]
    ideal = sum(g * d for g, d in zip(sorted(relevant, reverse=True), discounts, strict=True))
    hits = [bool(g) and i < k for i, g in enumerate(relevant)]
    return {
        "ndcg": [g * d / ideal for g, d in zip(relevant, discounts, strict=True)],
        "map": [hit * (before[i] + 1) / (i + 1) / min(total, k) for i, hit in enumerate(hits)],
        "mrr": [hit * (before[i] == 0) / (i + 1) for i, hit in enumerate(hits)],
        "hit_rate": [float(hit * (before[i] == 0)) for i, hit in enumerate(hits)],
        "precision": [hit / k for hit in hits],
        "recall": [hit / total for hit in hits],
        "f1": [2 * hit / (k + total) for hit in hits],
        "rbp": [hit * 0.2 * 0.8**i for i, hit in enumerate(hits)],
        "roc_auc": [
            hit * (1 - (i - before[i]) / (k - sum(hits))) / sum(hits) if 0 < sum(hits) < k else 0.0
            for i, hit in enumerate(hits)
        ],
    }[label]  # fmt: skip


SPLIT = ("ndcg", "map", "mrr", "hit_rate", "precision", "recall", "f1", "rbp", "roc_auc")


@pytest.mark.parametrize("label", SPLIT)
def test_without_ties_each_row_adds_what_its_formula_says(engine, label):
    lists = [[3, 0, 1, 0, 2], [0, 0, 1, 1, 0], [1, 1, 0, 0, 0], [0, 2, 0, 1, 0]]
    rows = [
        {"user": u, "item": i, "relevant": grade, "score": -float(i)}
        for u, grades in enumerate(lists)
        for i, grade in enumerate(grades)
    ]
    result = engine.ask(engine.frame(rows[::-1]), "contributions", label, k=4)
    assert list(result[0]) == ["user", "item", "relevant", "position", "tied", "contribution", f"{label}@4"]
    added = {(row["user"], row["item"]): row["contribution"] for row in result}
    for user, grades in enumerate(lists):
        for item, expected in enumerate(by_hand(label, grades, 4)[:4]):
            assert added[user, item] == pytest.approx(expected, abs=1e-12)
    assert len(result) == 4 * len(lists)
    assert all(row["position"] == row["item"] + 1 and row["tied"] == 1 for row in result)
    if engine.sorts:
        assert [(row["user"], row["position"]) for row in result] == sorted((r["user"], r["position"]) for r in result)


@pytest.mark.parametrize("label", [label for label in SPLIT if label != "roc_auc"])
def test_tied_rows_add_their_mean_over_all_orders(polars_engine, label):
    grades, scores = [1, 0, 2, 0, 1, 3], [5, 4, 4, 4, 3, 3]
    orders = [
        (0, *middle, *last) for middle in permutations((1, 2, 3)) for last in permutations((4, 5))
    ]  # fmt: skip
    expected = defaultdict(float)
    for order in orders:
        for item, value in zip(order, by_hand(label, [grades[i] for i in order], 3), strict=True):
            expected[item] += value / len(orders)
    frame = polars_engine.frame({"user": [1] * 6, "item": list(range(6)), "relevant": grades, "score": scores})
    result = polars_engine.ask(frame, "contributions", label, 3)
    assert {row["item"]: row["contribution"] for row in result} == pytest.approx(
        {item: expected[item] for item in range(4)}, abs=1e-12
    )
    assert [(row["position"], row["tied"]) for row in result] == [(1, 1), (2, 3), (2, 3), (2, 3)]


@pytest.mark.parametrize("k", [1, 2, 3, None])
def test_rows_that_tie_add_where_a_user_stops_at_them(engine, k):
    chances, scores = [0.5, 0.25, 0.0, 0.75, 1.0, 0.5, 0.0], [5, 4, 4, 4, 3, 3, 3]
    expected, orders = defaultdict(float), [*product(permutations((1, 2, 3)), permutations((4, 5, 6)))]
    for middle, last in orders:
        examined = 1.0
        for position, item in enumerate((0, *middle, *last), 1):
            if k is None or position <= k:
                expected[item] += examined * chances[item] / position / len(orders)
            examined *= 1 - chances[item]
    rows = [
        {"user": 1, "item": i, "relevant": p, "score": s} for i, (p, s) in enumerate(zip(chances, scores, strict=True))
    ]
    result = engine.ask(engine.frame(rows), "contributions", "err(probability=relevance)", k=k)
    assert {row["item"]: row["contribution"] for row in result} == pytest.approx(
        {row["item"]: expected[row["item"]] for row in result}, abs=1e-12
    )


def test_auc_counts_pairs_and_unranked_items_share_the_last_place(engine):
    data = {"user": [1] * 5, "item": list("abcde"), "relevant": [1, 0, 0, 1, 0], "score": [0.5, 0.5, 0.1, None, None]}
    result = {row["item"]: row for row in engine.ask(engine.frame(data), "contributions", "roc_auc")}
    # Of six pairs a has one tied and two won, and d one tied.
    assert {item: row["contribution"] for item, row in result.items()} == pytest.approx(
        {"a": 2.5 / 6, "b": 0.0, "c": 0.0, "d": 0.5 / 6}, abs=1e-12
    )
    assert result["d"]["position"] is None


def test_a_list_without_a_value_has_no_parts(engine):
    result = engine.ask(
        engine.frame({"user": [1, 1], "relevant": [0, 0], "score": [1.0, 2.0]}), "contributions", "mrr", item=None
    )
    assert [(row["contribution"], row["mrr"]) for row in result] == [(None, None)] * 2


# --- the call ---------------------------------------------------------------------------------------------


def test_the_item_is_a_column_where_there_is_one(engine):
    frame = engine.frame(
        {"who": ["x", "x", None], "thing": ["p", "q", "p"], "relevant": [1, 0, 1], "score": [1.0, 2.0, 3.0]}
    )
    rows_of_items = engine.ask(frame, "contributions", "mrr", by="who", item="thing")
    assert sorted((row["who"] or "", row["thing"], row["contribution"]) for row in rows_of_items) == [
        ("", "p", 1.0), ("x", "p", 0.5), ("x", "q", 0.0)
    ]  # fmt: skip
    hidden = engine.ask(frame, "contributions", "mrr", by=None, item=None)
    assert list(hidden[0]) == ["relevant", "position", "tied", "contribution", "mrr"]
    if not engine.lazy:
        assert list(engine.ask(frame, "contributions", "mrr", by="who")[0])[:2] == ["who", "relevant"]


def test_every_metric_of_relevance_can_be_split_but_those_of_pairs_maxima_subtopics_and_exposure():
    of_relevance = [kind for kind in METRICS.values() if not issubclass(kind, BeyondAccuracyMetric | ExposureMetric)]
    assert [kind.name for kind in of_relevance if not kind.is_additive] == [
        "full_recall",
        "first_rank",
        "last_rank",
        "iprec",
        "rbp_residual",
        "eel",
        "awrf",
        "alpha_ndcg",
        "err_ia",
        "subtopic_recall",
        "kendall",
        "opa",
    ]
    assert not any(kind.is_additive for kind in METRICS.values() if kind not in of_relevance)


def test_serendipity_reads_a_past(engine):
    rows = [{**row, "item": row["item"] or 0} for row in crowd(53, 40)]
    frame, past = engine.frames(rows, [{n: row[n] for n in ("user", "day", "item")} for row in rows[::2]])
    assert_sums(engine, frame, "serendipity@3", ["user", "day"], by=["user", "day"], train=past)


def test_metrics_without_contributions_are_errors(engine):
    rec = recframe.rec(engine.frame({"user": [1, 1], "item": [1, 2], "relevant": [0, 1], "score": [1.0, 2.0]}))
    with pytest.raises(ValueError, match="kendall of a list is not a sum over its rows"):
        rec.contributions("kendall")
    with pytest.raises(ValueError, match="coverage of a list is not a sum over its rows"):
        rec.contributions("coverage", k=1)
    with pytest.raises(TypeError, match="not one metric"):
        rec.contributions(["ndcg", "map"], k=3)
    with pytest.raises(TypeError, match="k=\\[1, 2\\]"):
        rec.contributions("ndcg", k=[1, 2])
    with pytest.raises(TypeError, match="there is no argument 'per'"):
        rec.contributions("ndcg", per="user")
    with pytest.raises(ValueError, match="several columns of the name 'contribution'"):
        rec.contributions("ndcg", by="contribution")
    # Bound roles that it does not read do no harm.
    assert rec(per="user", undefined=0.0).contributions("mrr") is not None


class Squared(recframe.Metric):
    """A metric whose value is no sum over rows, which it does not say."""

    name = "squared"

    def terms(self, row):
        return {"hits": row.hit}

    def value(self, sums):
        return sums["hits"] ** 2


class TopHeavy(Squared):
    """A metric whose value is a sum over rows."""

    name = "top_heavy"

    def terms(self, row):
        return {"hits": row.hit * row.weight(lambda position: position**-2.0, 10)}

    def value(self, sums):
        return 2 * sums["hits"] / sums.relevant


def test_metrics_of_ones_own(engine):
    frame = engine.frame({"user": [1, 1, 1], "relevant": [1, 1, 0], "score": [1.0, 2.0, 3.0]})
    result = engine.ask(frame, "contributions", TopHeavy(), item=None)
    assert sorted(row["contribution"] for row in result) == pytest.approx([0, 1 / 9, 1 / 4], abs=1e-12)
    if not engine.lazy:
        with pytest.raises(ValueError, match="(?s)squared do not add up to the value.*share"):
            engine.ask(frame, "contributions", Squared())


def test_a_metric_of_ones_own_that_is_no_sum_has_no_contributions_on_a_lazy_frame(engine):
    if not engine.lazy:
        pytest.skip("it is refused there")
    frame = engine.frame({"user": [1, 1, 2, 3], "relevant": [1, 1, 1, 0], "score": [1.0, 2.0, 3.0, 1.0]})
    result = engine.ask(frame, "contributions", Squared(), item=None)
    # 2² is not 1 + 1, 1² is 1; a list without a relevant item has no value.
    assert {row["user"]: (row["contribution"], row["squared"]) for row in result} == {
        1: (None, 4),
        2: (1, 1),
        3: (None, None),
    }
    if engine.library == "polars":
        raw = frame.rec.contributions(Squared(), item=None).collect()
        assert sorted(raw["contribution"].is_nan().drop_nulls()) == [False, True, True]


class TwoUsers(recframe.Metric):
    """Two users who stop with other probabilities: no row's part of a tied block is known."""

    name = "two_users"

    def terms(self, row):
        return {
            stop.__name__: row.cascade(stop, lambda position: 1 / position, None) for stop in (stops_soon, stops_late)
        }

    def value(self, sums):
        return sums["stops_soon"] + sums["stops_late"]


def stops_soon(relevance, greatest):
    return relevance * 0.75


def stops_late(relevance, greatest):
    return relevance * 0.25


def test_two_probabilities_to_stop_have_a_value_and_no_contributions(engine):
    frame = engine.frame({"user": [1, 1, 1], "relevant": [1, 0, 1], "score": [3.0, 2.0, 1.0]})
    result = engine.ask(frame, "evaluate", TwoUsers())[0]["two_users"]
    assert result == pytest.approx(0.75 + 0.25 * 0.75 / 3 + 0.25 + 0.75 * 0.25 / 3)
    with pytest.raises(recframe.OptionError, match="several probabilities to stop at a row has no contributions"):
        engine.ask(frame, "contributions", TwoUsers(), item=None)


def test_the_frame_is_not_changed(engine):
    rows = crowd(52, 10)
    frame = engine.frame(rows)
    engine.ask(frame, "contributions", "ndcg", 2, by=["user", "day"])
    again = engine.rows(frame)
    assert [{n: None if is_missing(v) else v for n, v in row.items()} for row in rows] == again
