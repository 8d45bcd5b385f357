"""propensity=: each relevant item counts as 1 / propensity items, so that what nobody observed is estimated."""

from __future__ import annotations

import math
import random
from itertools import product

import pytest

import oracle
import recframe
from compare import assert_equal, same
from engines import ENGINES
from oracle.propensity import value
from recframe._plan.checks import metrics_with_propensity

SUMS = ["precision@2", "dcg@3", "ndcg(ideal=ones)@3", "rbp@3", "num_rel", "num_rel_ret@2"]
"""What is linear in the relevant items, so that the estimate is unbiased."""
SHARES = ["recall@2", "recall", "f1@2", "ndcg(ideal=first)@3", "money_recall@2"]
"""What is divided by an estimate."""
LABELS = [*SUMS, *SHARES]


def lists(seed: int, count: int):
    """Return lists with ties, and with rows that nobody recommended; only relevant rows have a propensity."""
    draw = random.Random(seed)
    rows = []
    for user in range(count):
        for item in range(6):
            relevant = draw.choice([0, 0, 1, 2])
            p = draw.choice([0.1, 0.25, 0.5, 1.0]) if relevant else None
            score = None if draw.random() < 0.2 else draw.randrange(4) / 4
            rows.append({"user": user, "item": item, "relevant": relevant, "score": score, "p": p, "price": item + 1.0})
    return rows


@pytest.mark.parametrize("truth", [False, True])
def test_every_list_equals_its_oracle(engine, truth):
    rows = lists(1, 9)
    expected = {
        key: {label: value(oracle.parse(label), own) for label in LABELS}
        for key, own in oracle.grouped(rows, ["user"]).items()
    }
    if truth:
        frame, judged = engine.frames(
            [{name: row[name] for name in ("user", "item", "score", "price")} for row in rows],
            [{name: row[name] for name in ("user", "item", "relevant", "p", "price")} for row in rows],
        )
        given = {"truth": judged}
    else:
        frame, given = engine.frame(rows), {}
    assert_equal(engine.ask(frame, "evaluate", LABELS, propensity="p", per="user", **given), expected, ["user"])


ALL_ITEMS = [("a", 1, 0.5, 3.0), ("b", 0, None, 2.0), ("c", 1, 0.2, 2.0), ("d", 2, 0.7, 1.0), ("e", 1, 0.4, None)]
"""A list: items with their true relevance, the probability to observe it, and a score; b and c tie, e is not ranked."""
OTHER = [("a", 1, 0.25, 1.0), ("b", 2, 0.5, 2.0), ("c", 0, None, 3.0)]


def observed(items):
    """Yield what may be observed of a list, and how likely that is."""
    chances = [(True,) if p is None else (True, False) for _, _, p, _ in items]
    for pattern in product(*chances):
        pairs = [(seen, p) for seen, (_, _, p, _) in zip(pattern, items, strict=True) if p is not None]
        chance = math.prod(p if seen else 1 - p for seen, p in pairs)
        result = [
            {"item": item, "relevant": relevant if seen else 0, "p": p, "score": score}
            for seen, (item, relevant, p, score) in zip(pattern, items, strict=True)
        ]
        yield chance, result


def test_the_mean_over_all_that_may_be_observed_is_the_value_of_the_whole_list(polars_engine):
    patterns = list(enumerate(observed(ALL_ITEMS)))
    assert same(sum(chance for _, (chance, _) in patterns), 1.0)
    rows = [{"user": user, "chance": chance, **row} for user, (chance, result) in patterns for row in result]
    truth = [{"user": 0, "item": item, "relevant": relevant, "score": score} for item, relevant, _, score in ALL_ITEMS]
    frame, unobserved_too = polars_engine.frames(rows, truth)
    # A list in which nothing was observed estimates 0.
    (result,) = polars_engine.ask(frame, "evaluate", SUMS, propensity="p", weight="chance", undefined=0)
    (expected,) = polars_engine.ask(unobserved_too, "evaluate", SUMS)
    assert all(same(result[label], expected[label]) for label in SUMS), (result, expected)
    (naive,) = polars_engine.ask(frame, "evaluate", SUMS, weight="chance", undefined=0)
    assert all(naive[label] < expected[label] - 0.1 for label in SUMS)


def test_pooled_shares_of_all_that_may_be_observed_are_those_of_the_whole_list(polars_engine):
    patterns = list(enumerate(observed(ALL_ITEMS)))
    rows = [
        {"user": user, "chance": chance, "price": 3.0, **row} for user, (chance, result) in patterns for row in result
    ]
    truth = [
        {"user": 0, "item": item, "relevant": relevant, "score": score, "price": 3.0}
        for item, relevant, _, score in ALL_ITEMS
    ]
    frame, unobserved_too = polars_engine.frames(rows, truth)
    labels = [*SHARES, "fbeta(beta=3)@2", *SUMS]
    (expected,) = polars_engine.ask(unobserved_too, "evaluate", labels)
    given = {"propensity": "p", "weight": "chance", "undefined": 0}
    (result,) = polars_engine.ask(frame, "evaluate", labels, estimator="pooled", **given)
    assert all(same(result[label], expected[label]) for label in labels), (result, expected)
    (shares,) = polars_engine.ask(frame, "evaluate", labels, **{**given, "undefined": "skip"})
    assert not any(shares[label] == pytest.approx(expected[label], rel=0.01) for label in SHARES if "@" in label)


@pytest.mark.parametrize("truth", [False, True])
def test_pooled_shares_divide_sums_over_all_lists(engine, truth):
    rows = [row | {"half": row["user"] % 2} for row in lists(8, 9)]
    columns = ("user", "item", "score", "price"), ("user", "item", "relevant", "p", "price", "half")
    parts = engine.frames(*([{name: row[name] for name in names} for row in rows] for names in columns))
    frame, given = (parts[0], {"truth": parts[1]}) if truth else (engine.frame(rows), {})
    given |= {"propensity": "p", "estimator": "pooled"}

    def expected(some):
        hits = relevant = 0.0
        for own in oracle.grouped(some, ["user"]).values():
            estimate = sum(1 / row["p"] for row in own if row["relevant"])
            hits += (value(oracle.parse("recall@2"), own) or 0.0) * estimate
            relevant += estimate
        return hits / relevant

    assert same(engine.ask(frame, "recall", 2, **given), expected(rows))
    result = engine.ask(frame, "evaluate", ["recall@2"], per="half", **given)
    assert {
        row["half"]: same(row["recall@2"], expected([r for r in rows if r["half"] == row["half"]])) for row in result
    } == {0: True, 1: True}


def test_describe_and_compare_weigh_lists_by_what_pooled_shares_divide(polars_engine):
    pytest.importorskip("scipy")
    frame = polars_engine.frame([row | {"other": -float(row["item"])} for row in lists(5, 6)])
    given = {"propensity": "p", "estimator": "pooled", "score": ["score", "other"]}
    means = {one["model"]: one["recall@2"] for one in polars_engine.ask(frame, "evaluate", "recall@2", **given)}
    for row in polars_engine.ask(frame, "describe", "recall@2", **given):
        assert same(row["mean"], means[row["model"]])
    (row,) = polars_engine.ask(frame, "compare", "recall@2", **given)
    assert same(row["difference"], means["other"] - means["score"])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "estimator='pooled' is about propensities, but there is no propensity="),
        ({"sampled": (1, 9)}, "estimator='pooled' is about propensities, but there is no propensity="),
        ({"propensity": "p", "mean": "median"}, "estimator='pooled' divides sums over all lists"),
    ],
)
def test_pooled_needs_propensities_and_an_arithmetic_mean(given, message):
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"user": [1], "relevant": [1], "score": [1.0], "p": [0.5]})
    with pytest.raises(recframe.OptionError, match=message):
        frame.rec.recall(1, estimator="pooled", **given)


def test_the_standard_error_of_describe_is_that_of_the_estimate(polars_engine):
    pytest.importorskip("scipy")
    # Two users are drawn from two kinds, and then what is observed of each: every such world, and how likely it is.
    kinds = [(chance / 2, result) for items in (ALL_ITEMS[:3], OTHER) for chance, result in observed(items)]
    rows, chances = [], []
    for world, pair in enumerate(product(kinds, repeat=2)):
        chances.append(math.prod(chance for chance, _ in pair))
        rows += [{"world": world, "user": user, **row} for user, (_, result) in enumerate(pair) for row in result]
    result = polars_engine.ask(
        polars_engine.frame(rows),
        "describe",
        ["dcg@3", "num_rel"],
        propensity="p",
        undefined=0,
        per="world",
        by=["world", "user"],
    )
    for label in ("dcg@3", "num_rel"):
        of_label = [row for row in result if row["metric"] == label]
        squared = sum(chance * row["std"] ** 2 / 2 for chance, row in zip(chances, of_label, strict=True))
        mean = sum(chance * row["mean"] for chance, row in zip(chances, of_label, strict=True))
        variance = sum(chance * (row["mean"] - mean) ** 2 for chance, row in zip(chances, of_label, strict=True))
        assert squared == pytest.approx(variance, rel=1e-9), label


@pytest.mark.parametrize("ties", ["best", "worst", "item", "item_desc", "first"])
def test_a_policy_orders_ties_as_their_scores_would(ties):
    engine = pytest.importorskip("polars") and ENGINES["polars"].engine
    rows = lists(6, 8)

    def key(i, row, *, by_value):
        if ties in keys:
            return keys[ties](i, row)
        # What is equal by the policy stays tied. Only the money metrics order it by value too.
        sign = 1 if ties == "best" else -1
        return sign * row["relevant"], sign * row["price"] * by_value

    keys = {
        "item": lambda _i, row: -row["item"],
        "item_desc": lambda _i, row: row["item"],
        "first": lambda i, _row: -i,
    }
    money = [label for label in LABELS if label.startswith("money")]
    for labels in (money, [label for label in LABELS if label not in money]):
        places = [(row["score"] or 0.0, key(i, row, by_value=labels is money)) for i, row in enumerate(rows)]
        ranks = {place: float(rank) for rank, place in enumerate(sorted({*places}))}
        strict = [
            row | {"score": None if row["score"] is None else ranks[place]}
            for row, place in zip(rows, places, strict=True)
        ]
        given = {"propensity": "p", "per": "user"}
        result = engine.ask(engine.frame(rows), "evaluate", labels, ties=ties, **given)
        expected = engine.ask(engine.frame(strict), "evaluate", labels, **given)
        assert_equal(result, {(row["user"],): {label: row[label] for label in labels} for row in expected}, ["user"])


def test_parts_of_a_lazy_frame_have_the_same_mean():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(lists(7, 20), infer_schema_length=None)
    expected = frame.rec.evaluate(LABELS, propensity="p").row(0)
    result = frame.lazy().rec.evaluate(LABELS, propensity="p", partitions=3)
    assert isinstance(result, pl.LazyFrame)
    assert all(map(same, result.collect().row(0), expected))


def test_certain_observation_changes_nothing(engine):
    rows = [row | {"p": 1.0} for row in lists(2, 6)]
    frame = engine.frame(rows)
    labels = engine.some([*LABELS, "num_ret@2", "fbeta@2"])
    (one,), (other,) = (engine.ask(frame, "evaluate", labels, **given) for given in ({"propensity": "p"}, {}))
    assert all(same(one[label], other[label]) for label in labels)


def test_a_common_factor_leaves_shares_as_they_are(polars_engine):
    rows = lists(3, 8)
    halved = [row | {"p": row["p"] and row["p"] / 2} for row in rows]
    labels = [label for label in SHARES if not label.startswith("f1")]
    (one,), (other,) = (
        polars_engine.ask(polars_engine.frame(data), "evaluate", labels, propensity="p") for data in (rows, halved)
    )
    assert all(same(one[label], other[label]) for label in labels)


def test_what_rows_add_sums_to_the_value(engine):
    frame = engine.frame(lists(4, 3))
    for label in engine.some(["recall@2", "dcg@3", "num_rel", "money_recall@2"]):
        result = engine.ask(frame, "contributions", label, propensity="p")
        for _, rows in oracle.grouped(result, ["user"]).items():
            if rows[0][label] is not None:
                assert same(sum(row["contribution"] for row in rows), rows[0][label]), label


def test_models_share_the_observations(engine):
    rows = lists(5, 6)
    wide = [row | {"other": -row["item"] / 2} for row in rows]
    long = [row | {"model": "a"} for row in rows] + [
        row | {"model": "b", "score": other["other"]} for row, other in zip(rows, wide, strict=True)
    ]
    columns = ("user", "item", "score", "other")
    ranked, stacked, truth = engine.frames([{name: row[name] for name in columns} for row in wide], long, rows)
    result = [
        engine.ask(ranked, "evaluate", ["recall@2", "dcg@2"], propensity="p", truth=truth, score=["score", "other"]),
        engine.ask(stacked, "evaluate", ["recall@2", "dcg@2"], propensity="p", truth=truth, model="model"),
    ]
    for one, other in zip(*(sorted(rows, key=lambda row: row["recall@2"]) for rows in result), strict=True):
        assert same(one["recall@2"], other["recall@2"])
        assert same(one["dcg@2"], other["dcg@2"])


def test_compare_is_about_the_estimates(polars_engine):
    pytest.importorskip("scipy")
    frame = polars_engine.frame([row | {"other": -float(row["item"])} for row in lists(5, 6)])
    given = {"propensity": "p", "score": ["score", "other"]}
    (row,) = polars_engine.ask(frame, "compare", "recall@2", **given)
    means = {one["model"]: one["recall@2"] for one in polars_engine.ask(frame, "evaluate", "recall@2", **given)}
    assert same(row["mean"], means[row["model"]])
    assert same(row["baseline_mean"], means[row["baseline"]])


@pytest.mark.parametrize(
    ("p", "message"),
    [(None, "missing in a relevant row"), (0.0, "holds 0 in"), (1.5, "holds 1.5 in"), (-0.5, "holds -0.5 in")],
)
def test_a_propensity_is_a_probability(engine, p, message):
    frame = engine.frame(
        {"user": [1, 1, 2], "relevant": [1, 1, 1], "score": [2.0, 1.0, 1.0], "p": [0.5, p, 0.5]}, {"p": "float64"}
    )
    if engine.lazy:
        result = engine.ask(frame, "recall", 1, propensity="p")
        assert result is None or math.isnan(result)
        return
    with pytest.raises(recframe.InputError, match=message):
        engine.ask(frame, "recall", propensity="p")


@pytest.mark.parametrize("label", ["map@2", "ndcg@2", "mrr", "recall(capped=True)@2", "roc_auc", "err", "hit_rate@2"])
def test_metrics_that_are_no_sums_over_relevant_items_are_refused(label):
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"user": [1], "relevant": [1], "score": [1.0], "p": [0.5]})
    with pytest.raises(recframe.OptionError, match="is no sum over them"):
        frame.rec.evaluate(label, propensity="p")


def test_the_hint_names_every_metric_that_allows_it():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"user": [1], "item": [1], "relevant": [1], "score": [1.0], "p": [0.5], "price": [1.0]})
    named = metrics_with_propensity().replace("'", "").split(", ")
    assert frame.rec.evaluate(named, k=1, propensity="p", train=frame).shape == (1, len(named))


def test_a_metric_of_ones_own_may_allow_it(polars_engine):
    class TopHeavy(recframe.Metric):
        name = "top_heavy"
        allows_propensity = True

        def terms(self, row):
            return {"hits": row.hit * row.weight(lambda position: position**-2.0, 10)}

        def value(self, sums):
            return sums["hits"] / sums.relevant

    frame = polars_engine.frame({"user": [1, 1], "relevant": [1, 1], "score": [2.0, 1.0], "p": [0.5, 0.25]})
    assert same(polars_engine.value(frame, TopHeavy(), propensity="p"), (2 * 1 + 4 / 4) / 6)


@pytest.mark.parametrize("truth", [False, True])
def test_propensities_of_rows_that_a_metric_does_not_count_are_not_read(engine, truth):
    rows = [
        {"user": 1, "item": item, "relevant": relevant, "score": -item, "p": p}
        for item, relevant, p in ((1, 2, 0.5), (2, 1, None), (3, -1, None), (4, 2, 0.25))
    ]
    frame, judged = engine.frames(
        rows, [{name: value for name, value in row.items() if name != "score"} for row in rows]
    )
    given = {"propensity": "p", "min_relevance": 2, **({"truth": judged} if truth else {})}
    expected = {"recall@2": 2 / 6, "precision@2": 1.0, "num_rel": 6.0}
    (result,) = engine.ask(frame, "evaluate", [*expected], **given)
    assert result == pytest.approx(expected)
    # To dcg, any relevance but 0 counts.
    if engine.lazy:
        (result,) = engine.ask(frame, "evaluate", [*expected, "dcg@2"], **given)
        assert result.pop("dcg@2") is None
        assert result == pytest.approx(expected)
    else:
        with pytest.raises(recframe.InputError, match="propensity='p' is missing"):
            engine.ask(frame, "evaluate", [*expected, "dcg@2"], **given)
