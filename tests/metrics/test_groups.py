"""Groups of items: where they are read, against every order of tied items, and the values of the authors' code."""

from __future__ import annotations

import math
import random
from collections import Counter
from operator import itemgetter

import pytest

import recframe
from compare import assert_equal
from oracle import mean, parse
from oracle.expected_exposure import distance
from oracle.expected_exposure import expected as attention_to
from recframe.metrics import AWRF

SELLERS = {1: "a", 2: "b", 3: "a", 4: "c", 5: None, 6: "c", 7: "d"}
LABELS = [
    "awrf",
    "awrf(distance=js)@2",
    "awrf(browsing=log2,target=catalog)",
    "awrf(target=relevant,distance=js)",
    "awrf(target={'a':1,'e':3})@3",
    "awrf(browsing={1:0.5,3:2},target={'b':0.25,'c':0.75},distance=js)",
    "awrf(browsing=cascade,stop=0.3,target=relevant)@3",
]


def rows_of(seed: int, lists: int = 12) -> list[dict]:
    draw = random.Random(seed)
    return [
        {
            "user": user,
            "item": item,
            "seller": SELLERS[item],
            "relevant": draw.choice([0, 0, 1, 2]),
            "score": None if draw.random() < 0.2 else draw.randint(0, 2),
        }
        for user in range(lists)
        for item in draw.sample(range(1, 7), draw.randint(1, 5))
    ]


def expected(rows: list[dict], truth: list[dict], groups: dict, catalog: list) -> dict:
    """Return the values of each list, and their means, of frames with and without a truth."""
    keys = sorted({row["user"] for row in [*rows, *truth]})
    values = {}
    for key in keys:
        selected = [{**row, "relevant": 0} if truth else row for row in rows if row["user"] == key]
        relevant = {row["item"]: row["relevant"] for row in truth if row["user"] == key}
        selected = [{**row, "relevant": relevant.pop(row["item"], row["relevant"])} for row in selected]
        selected += [{"item": item, "relevant": grade, "score": None} for item, grade in relevant.items()]
        values[key,] = {label: distance(parse(label), selected, groups, catalog) for label in LABELS}
    return values


def assert_groups(engine, frame, values: dict, **given) -> None:
    some = engine.some(LABELS, len(given))
    result = engine.ask(frame, "evaluate", some, group="seller", per="user", **given)
    assert_equal(result, {key: {label: each[label] for label in some} for key, each in values.items()}, ["user"])


def test_groups_of_the_frame(engine):
    rows = rows_of(1)
    catalog = [row["item"] for row in rows]
    assert_groups(engine, engine.frame(rows), expected(rows, [], SELLERS, catalog))
    some = [1, 2, 4, 5]
    assert_groups(engine, engine.frame(rows), expected(rows, [], SELLERS, some), catalog=some)


def test_groups_with_a_truth(engine):
    truth = [*rows_of(3), {"user": 0, "item": 7, "seller": "d", "relevant": 1, "score": None}]
    rows = rows_of(2)
    frame, there = engine.frames([{**row, "relevant": None} for row in rows], truth)
    catalog = [row["item"] for row in rows]
    assert_groups(engine, frame, expected(rows, truth, SELLERS, catalog), truth=there)
    # The frame lists most items of a truth without groups.
    frame, there = engine.frames(rows, [{**row, "seller": None} for row in truth])
    assert_groups(engine, frame, expected(rows, truth, {**SELLERS, 7: None}, catalog), truth=there)


def test_groups_of_features_come_first(engine):
    rows, truth = rows_of(4), rows_of(5)
    features = [{"item": item, "seller": seller, "price": 1.0} for item, seller in SELLERS.items()]
    frame, there, described = engine.frames([{**row, "seller": "z"} for row in rows], truth, features)
    values = expected(rows, truth, SELLERS, list(SELLERS))
    assert_groups(engine, frame, values, truth=there, features=described)


def test_groups_that_only_the_truth_names(polars_engine):
    rows, truth = rows_of(6), rows_of(7)
    frame, there = polars_engine.frames([{**row, "seller": None} for row in rows], truth)
    values = expected(rows, truth, SELLERS, [row["item"] for row in truth])
    assert_groups(polars_engine, frame.drop("seller"), values, truth=there)


def test_models_in_rows_and_columns(engine):
    old, new = rows_of(8), rows_of(8)
    for row, score in zip(new, [2, 0, 1] * len(new), strict=False):
        row["score"] = score
    rows = [{**row, "new": other["score"]} for row, other in zip(old, new, strict=True)]
    catalog = [row["item"] for row in rows]
    values = {"score": expected(old, [], SELLERS, catalog), "new": expected(new, [], SELLERS, catalog)}
    some = engine.some(LABELS)
    right = {
        (model,): {label: mean(each[label] for each in of.values()) for label in some} for model, of in values.items()
    }
    result = engine.ask(engine.frame(rows), "evaluate", some, group="seller", score=["score", "new"])
    assert_equal(result, right, ["model"])
    stacked = [{**row, "model": name} for name, part in (("score", old), ("new", new)) for row in part]
    result = engine.ask(engine.frame(stacked), "evaluate", some, group="seller", model="model")
    assert_equal(result, right, ["model"])


ONE_LIST = [
    {"user": 1, "item": place, "group": group, "relevant": 0, "score": -place}
    for place, group in enumerate(["x", "y", "x", None, "y", "x"], 1)
]
# Both use 1 / log2(max(r, 2)).
LOG = {place: 1 / math.log2(max(place, 2)) for place in range(1, 7)}
# sapiezynski.py of github.com/BoiseState/rank-fairness-metrics (Raj and Ekstrand), with the target of group y.
SAPIEZYNSKI = [
    (AWRF(target="catalog"), 0.09491525423728814),
    (AWRF(target="equal"), 0.19491525423728812),
    (AWRF(target={"x": 4, "y": 1}, browsing=LOG), 0.21487415357219142),
]
# 1 - distance**2 of wptrec/metrics/awrf.py of github.com/fair-trec/trec2022-fair-public, whose discounts are float32.
TREC = 0.9581893555626796


@pytest.mark.parametrize(("metric", "value"), SAPIEZYNSKI)
def test_the_values_of_the_code_of_raj_and_ekstrand(engine, metric, value):
    (result,) = engine.ask(engine.frame(ONE_LIST), "evaluate", [metric], group="group")
    assert list(result.values()) == [pytest.approx(value, abs=1e-14)]


def test_the_value_of_the_fair_ranking_track(engine):
    metric = AWRF(target={"x": 0.3, "y": 0.7}, browsing=LOG, distance="js")
    (result,) = engine.ask(engine.frame(ONE_LIST), "evaluate", [metric], group="group")
    assert [1 - math.log(2) * value for value in result.values()] == [pytest.approx(TREC, abs=1e-7)]


def test_a_catalog_without_a_group_is_no_target(engine):
    labels = ["awrf", "awrf(target=catalog,distance=js)", "awrf(target={'x':1})"]
    (result,) = engine.ask(engine.frame(ONE_LIST), "evaluate", labels, group="group", catalog=[4])
    assert_equal([result], {(): {labels[0]: None, labels[1]: None, labels[2]: 18 / 59}}, [])


def test_a_target_may_give_a_group_nothing():
    assert AWRF(target={"x": 0, "y": 2}).target == (("x", 0.0), ("y", 2.0))
    for wrong in ({"x": -0.1, "y": 1}, {"x": 0, "y": 0}, {"x": math.inf, "y": 1}):
        with pytest.raises(recframe.OptionError, match="holds no shares"):
            AWRF(target=wrong)


def test_lists_without_a_group_have_no_value(engine):
    rows = [{**row, "user": 2, "group": None} for row in ONE_LIST] + ONE_LIST
    result = engine.ask(engine.frame(rows), "evaluate", ["awrf", "awrf(target=relevant)"], group="group", per="user")
    result = sorted(result, key=itemgetter("user"))
    assert [row["awrf"] for row in result] == [pytest.approx(0.19491525423728812), None]
    # No item is relevant.
    assert [row["awrf(target=relevant)"] for row in result] == [None, None]


def test_a_tie_shares_attention(engine):
    rows = [{"user": 1, "item": item, "group": group, "score": 1} for item, group in enumerate("xy")]
    assert engine.ask(engine.frame(rows), "awrf", group="group") == 0.0
    assert engine.ask(engine.frame(rows), "awrf", group="group", ties="item") == pytest.approx(1 / 6)


def exposed(rows: list[dict], metric, target: dict) -> dict:
    """Return the exposure of each group over all lists of rows, by the formulas."""
    members = Counter(SELLERS[item] for item in {row["item"] for row in rows} if SELLERS[item])
    names = {*members, *target}
    attention, gain, relevance = Counter(), Counter(), Counter()
    for key in {row["user"] for row in rows}:
        selected = [row for row in rows if row["user"] == key]
        for row, seen in zip(selected, attention_to(metric, selected), strict=True):
            attention[row["seller"]] += seen
            gain[row["seller"]] += seen * row["relevant"]
            relevance[row["seller"]] += row["relevant"]
    share = {name: {group: of[group] / sum(of[each] for each in names) for group in names} for name, of in
             (("items", members), ("exposure", attention), ("gain", gain), ("relevance", relevance), ("target", Counter(target)))}  # fmt: skip
    ratios = {"parity": ("exposure", "items"), "treatment": ("exposure", "relevance"), "impact": ("gain", "relevance")}
    return {
        (group,): {"items": members[group], "relevance": relevance[group], "exposure": attention[group],
                   "share": share["exposure"][group], "target": share["target"][group]}
        | {name: share[one][group] / share[other][group] if share[other][group] else None
           for name, (one, other) in ratios.items()}
        for group in names
    }  # fmt: skip


def test_groups_are_not_called_like_a_column_of_their_exposure(engine):
    rows = [{**row, "share": row["seller"]} for row in rows_of(10)]
    with pytest.raises(recframe.OptionError, match="the result would have several columns of the name 'share'"):
        engine.ask(engine.frame(rows), "exposure", 2, group="share")


@pytest.mark.parametrize("k", [2, None])
def test_exposure_of_groups(engine, k):
    rows = rows_of(10)
    metric = parse("awrf(browsing=log2)" + ("" if k is None else f"@{k}"))
    equal = exposed(rows, metric, {"a": 1, "b": 1, "c": 1})
    frame = engine.frame(rows)
    result = engine.ask(frame, "exposure", k, browsing="log2", group="seller")
    columns = "seller items relevance exposure share target parity treatment impact"
    assert list(result[0]) == columns.split()
    assert_equal(result, equal, ["seller"])
    table = exposed(rows, metric, {"a": 1, "e": 3})
    assert_equal(
        engine.ask(frame, "exposure", k, browsing="log2", group="seller", target={"a": 1, "e": 3}), table, ["seller"]
    )
    # The other model is the same, and so is a truth with the relevance; a list that nobody was shown has one.
    both = [{**row, "other": row["score"]} for row in rows]
    right = {(name, *key): values for name in ("score", "other") for key, values in equal.items()}
    given = {"browsing": "log2", "group": "seller"}
    frame, there = engine.frames([{**row, "relevant": 0} for row in both], rows)
    models = engine.ask(frame, "exposure", k, score=["score", "other"], truth=there, **given)
    assert_equal(models, right, ["model", "seller"])
    stacked = [{**row, "model": name} for name in ("score", "other") for row in rows]
    assert_equal(engine.ask(engine.frame(stacked), "exposure", k, model="model", **given), right, ["model", "seller"])


def test_the_job_seekers_of_singh_and_joachims(engine):
    relevance = [0.82, 0.81, 0.80, 0.79, 0.78, 0.77]
    rows = [
        {"item": place, "sex": "fm"[place < 3], "relevant": each, "score": each} for place, each in enumerate(relevance)
    ]
    women, men = engine.ask(engine.frame(rows), "exposure", by=None, group="sex", browsing="log2")
    if women["sex"] != "f":
        women, men = men, women
    attention = [1 / math.log2(place + 1) for place in range(1, 7)]
    clicks = [seen * each for seen, each in zip(attention, relevance, strict=True)]
    assert men["parity"] / women["parity"] == pytest.approx(sum(attention[:3]) / sum(attention[3:]))
    assert men["treatment"] / women["treatment"] == pytest.approx(
        sum(attention[:3]) / sum(relevance[:3]) / (sum(attention[3:]) / sum(relevance[3:]))
    )
    assert men["impact"] / women["impact"] == pytest.approx(
        sum(clicks[:3]) / sum(relevance[:3]) / (sum(clicks[3:]) / sum(relevance[3:]))
    )
    assert (men["exposure"] / 3, women["exposure"] / 3) == pytest.approx((0.71, 0.39), abs=0.005)


def test_exposure_without_groups_and_relevance(engine):
    rows = [{"user": 1, "item": item, "score": score} for item, score in (("a", 2), ("b", 1), ("c", None))]
    result = engine.ask(engine.frame(rows), "exposure")
    seen = {row["item"]: (row["exposure"], row["share"], row["treatment"]) for row in result}
    assert seen == {
        "a": (1.0, pytest.approx(2 / 3), None),
        "b": (0.5, pytest.approx(1 / 3), None),
        "c": (0.0, 0.0, None),
    }


@pytest.mark.parametrize(
    ("metric", "given", "text"),
    [
        (lambda: AWRF(target={}), {}, "holds no shares"),
        (lambda: AWRF(target={"a": -1}), {}, "holds no shares"),
        (lambda: AWRF(target={"a": 1, 2: 1}), {}, "does not map groups of one type to numbers"),
        (lambda: AWRF(target={1.5: 1}), {}, "names groups of the types float"),
        (lambda: AWRF(target=3), {}, "does not map groups of one type"),
        (lambda: AWRF(target="items"), {}, "not one of 'equal'"),
        (lambda: AWRF(browsing={0: 1}), {}, "gives position 0 the attention 1"),
        (lambda: AWRF(browsing={1: -1}), {}, "gives position 1 the attention -1"),
        (lambda: AWRF(browsing=[1, 2]), {}, "does not map positions to numbers"),
        (lambda: AWRF(target={1: 1}), {}, "(?s)group='group' has the type .* in the frame, but .* in target"),
        (lambda: "awrf", {"group": "colour"}, "group='colour': the frame has no such column"),
        (
            lambda: "awrf",
            {"per_item": "group"},
            "per_item='group' is about relevant items, but awrf reads no relevance",
        ),
        (lambda: "mrr", {}, "group='group' is about groups of items, which mrr does not read"),
        (lambda: "awrf", {"chance": True}, "chance"),
    ],
)
def test_refusals(polars_engine, metric, given, text):
    with pytest.raises(recframe.RecError, match=text):
        polars_engine.frame(ONE_LIST).rec.evaluate([metric()], **{"group": "group", **given})


def test_calls_of_lists_accept_groups(polars_engine):
    frame = polars_engine.frame(rows_of(9))
    table = frame.rec.describe("awrf", group="seller")
    assert table["mean"][0] == pytest.approx(frame.rec.awrf(group="seller"))
    with pytest.raises(recframe.OptionError, match="a state of some lists does not hold"):
        frame.rec.state("awrf")
    assert frame.rec(group="seller").mrr() == frame.rec.mrr()
