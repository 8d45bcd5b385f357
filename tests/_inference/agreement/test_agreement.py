"""`agreement`: how alike rankings are, against plain Python and SciPy list by list."""

from __future__ import annotations

import itertools
import random
import statistics
from collections import defaultdict

import pytest

import recframe

stats = pytest.importorskip("scipy.stats")

MODELS = ["a", "b", "c"]
COUNTS = ["lists", "model_only", "other_only", "in_both"]


def crowd(seed, lists=12):
    """Return lists with ties, missing scores and lists of unequal length."""
    draw = random.Random(seed)
    return [
        {"user": user, "country": "at" if user % 3 else "be", "item": item}
        | {model: draw.choice([None, 1.0, 2.0, 2.5, 4.0]) for model in MODELS}
        for user in range(lists)
        for item in range(draw.randint(1, 5))
    ]


def below_each_other(rows):
    """Return models in columns as models in rows; some of those without a score are left out."""
    return [
        {"user": row["user"], "country": row["country"], "item": row["item"], "model": model, "score": row[model]}
        for model in MODELS
        for number, row in enumerate(rows)
        if row[model] is not None or number % 2
    ]


def rbo(one, other, p):
    """Return equation 32 of Webber, Moffat and Zobel (2010), by its sums."""
    short, long = sorted((one, other), key=len)
    s, n = len(short), len(long)

    def common(depth):
        return len(set(short[:depth]) & set(long[:depth]))

    result = sum(common(d) / d * p**d for d in range(1, n + 1))
    result += sum(common(s) * (d - s) / (s * d) * p**d for d in range(s + 1, n + 1))
    return (1 - p) / p * result + ((common(n) - common(s)) / n + common(s) / s) * p**n


def orders(members, model, sign, k):
    """Return the top k in every order of the tied items."""
    ranked = sorted((row for row in members if row[model] is not None), key=lambda row: -sign * row[model])
    blocks = [[row["item"] for row in block] for _, block in itertools.groupby(ranked, key=lambda row: row[model])]
    every = itertools.product(*map(itertools.permutations, blocks))
    return [[item for block in order for item in block][:k] for order in every]


def expected(rows, pair, k, p, sign=1):
    """Return the numbers of lists and the means of what two models have in common, over all orders of tied items."""
    lists, result, alone = defaultdict(list), [], [0, 0]
    for row in rows:
        lists[row["user"]].append(row)
    for members in lists.values():
        tops = [*itertools.product(*(orders(members, model, sign, k) for model in pair))]
        if not all(tops[0]):
            alone = [count + (bool(top) and not all(tops[0])) for count, top in zip(alone, tops[0], strict=True)]
            continue
        short, long = sorted(map(len, tops[0]))
        shared = statistics.fmean(len({*one} & {*other}) for one, other in tops)
        both = [[row[model] for row in members if None not in (row[pair[0]], row[pair[1]])] for model in pair]
        varied = all(len(set(values)) > 1 for values in both)
        result.append([
            shared / long, shared / (short + long - shared), statistics.fmean(rbo(*top, p) for top in tops),
            stats.kendalltau(*both)[0] if varied else None, stats.spearmanr(*both)[0] if varied else None,
        ])  # fmt: skip
    means = [[value for value in column if value is not None] for column in zip(*result, strict=True)]
    counts = [len(result), *alone, len(result) / (len(result) + sum(alone)), len(means[-1])]
    return [*counts, *(statistics.fmean(values) for values in means)]


def in_order(rows, *columns):
    """Return rows sorted, as some engines give them in any order."""
    return sorted(rows, key=lambda row: tuple(row[name] for name in columns))


def assert_agrees(row, k, expected):
    names = [*COUNTS, "correlated", f"overlap@{k}", f"jaccard@{k}", f"rbo@{k}", "kendall", "spearman"]
    assert [*row][-len(names) :] == names
    assert [row[name] for name in names] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("k", [1, 3, 20])
@pytest.mark.parametrize("p", [0.5, 0.9])
def test_pairs_of_models(engine, k, p):
    rows = crowd(1)
    result = engine.ask(engine.frame(rows), "agreement", k, p=p, score=MODELS)
    result = in_order(result, "model", "other")
    assert [(row["model"], row["other"]) for row in result] == [*itertools.combinations(MODELS, 2)]
    for row in result:
        assert_agrees(row, k, expected(rows, (row["model"], row["other"]), k, p))


URBANO = {
    1: {
        "x": [0.897, 0.372, 0.908, 0.898, 0.661, 0.062, 0.177, 0.384, 0.498, 0.992],
        "y": [0.82, 0.406, 0.817, 0.953, 0.673, 0.073, 0.364, 0.547, 0.589, 0.988],
        "tied x": [0.9, 0.4, 0.9, 0.9, 0.7, 0.1, 0.2, 0.4, 0.5, 1.0],
        "tied y": [0.8, 0.4, 0.8, 1.0, 0.7, 0.1, 0.4, 0.5, 0.6, 1.0],
    },
    2: {
        "x": [0.266, 0.573, 0.202, 0.945, 0.629, 0.206, 0.687, 0.77, 0.718, 0.38],
        "y": [0.263, 0.843, 0.728, 0.928, 0.08, 0.114, 0.467, 0.641, 0.973, 0.644],
        "tied x": [0.3, 0.6, 0.2, 0.9, 0.6, 0.2, 0.7, 0.8, 0.7, 0.4],
        "tied y": [0.3, 0.8, 0.7, 0.9, 0.1, 0.1, 0.5, 0.6, 1.0, 0.6],
    },
    3: {
        "x": [0.185, 0.573, 0.944, 0.129, 0.468, 0.553, 0.761, 0.405, 0.976, 0.445],
        "y": [0.845, 0.272, 0.275, 0.924, 0.605, 0.334, 0.162, 0.872, 0.018, 0.25],
        "tied x": [0.2, 0.6, 0.9, 0.1, 0.5, 0.6, 0.8, 0.4, 1.0, 0.4],
        "tied y": [0.8, 0.3, 0.3, 0.9, 0.6, 0.3, 0.2, 0.9, 0.0, 0.2],
    },
}
"""Scores of ircor's tests, the R package of Urbano and Marrero, and the coefficients that these tests expect."""
TAU_AP = {1: (0.8333, 0.7321), 2: (0.2880, 0.297), 3: (-0.668, -0.7047)}


def test_tau_ap_is_that_of_urbano_and_marrero(engine):
    for number, scores in URBANO.items():
        frame = engine.frame({"user": [1] * 10, "item": [*range(10)], **scores})
        for pair, value in zip((["x", "y"], ["tied y", "tied x"]), TAU_AP[number], strict=True):
            (result,) = engine.ask(frame, "agreement", score=pair, measures="tau_ap")
            assert result["tau_ap"] == pytest.approx(value, abs=5e-5)
            assert [*result] == ["model", "other", *COUNTS, "correlated", "tau_ap"]


def tau_ap(x, y):
    """Return the coefficient without ties, of the places of y: Yilmaz, Aslam and Robertson (2008)."""
    order = sorted(range(len(y)), key=lambda row: -y[row])
    above = [sum(x[other] > x[row] for other in order[:place]) / place for place, row in enumerate(order) if place]
    return 2 * statistics.fmean(above) - 1


def test_correlations_that_weigh_the_first_positions(engine):
    rows = crowd(8)
    for row, score in zip(rows, random.Random(8).sample(range(999), len(rows)), strict=True):
        row["a"], row["d"] = score / 8, float(row["item"])
    result = engine.ask(engine.frame(rows), "agreement", score=["a", "d"], measures=["tau_ap", "weighted_tau"])
    lists = defaultdict(list)
    for row in rows:
        lists[row["user"]].append((row["a"], row["d"]))
    sides = [(*zip(*rows, strict=True),) for rows in lists.values() if len(rows) > 1]
    assert result[0]["correlated"] == len(sides)
    both = statistics.fmean((tau_ap(x, y) + tau_ap(y, x)) / 2 for x, y in sides)
    assert result[0]["tau_ap"] == pytest.approx(both)
    assert result[0]["weighted_tau"] == pytest.approx(statistics.fmean(stats.weightedtau(x, y)[0] for x, y in sides))


@pytest.mark.parametrize("model", [None, "model"])
def test_weighted_tau_with_ties_is_that_of_scipy(engine, model):
    rows = crowd(9, 20)
    given = {"score": MODELS} if model is None else {"model": "model"}
    frame = engine.frame(rows if model is None else below_each_other(rows))
    result = engine.ask(frame, "agreement", measures=["weighted_tau", "kendall"], **given)
    for row in result:
        values, pair = [], (row["model"], row["other"])
        for user in range(20):
            members = [each for each in rows if each["user"] == user and None not in (each[pair[0]], each[pair[1]])]
            x, y = ([each[name] for each in members] for name in pair)
            if len(set(x)) > 1 and len(set(y)) > 1:
                values.append(stats.weightedtau(x, y)[0])
        assert row["correlated"] == len(values)
        assert row["weighted_tau"] == pytest.approx(statistics.fmean(values))


def bounds_of_overlap(one, other, p, depth=3000):
    """Return the least and the largest overlap of rankings that start so: followed by nothing, or by all that fits."""
    short, long = sorted((one, other), key=len)
    least = largest = 0.0
    for d in range(1, depth + 1):
        shared = len(set(short[:d]) & set(long[:d]))
        more = max(d - len(short), 0) + max(d - len(long), 0)
        weight = (1 - p) * p ** (d - 1) / d
        least, largest = least + weight * shared, largest + weight * min(shared + more, d)
    return [least, largest, largest - least]


@pytest.mark.parametrize("k", [1, 3, 20])
def test_bounds_of_rank_biased_overlap(engine, k):
    rows = crowd(10)
    for row, score in zip(rows, random.Random(9).sample(range(999), len(rows)), strict=True):
        row["a"], row["b"] = score / 8, None if score % 4 == 0 else float(-row["item"])
    measures = ["rbo_min", "rbo_max", "rbo_residual", "rbo"]
    (result,) = engine.ask(engine.frame(rows), "agreement", k, score=["a", "b"], measures=measures)
    lists = defaultdict(list)
    for row in rows:
        lists[row["user"]].append(row)
    tops = [[orders(members, model, 1, k)[0] for model in ("a", "b")] for members in lists.values()]
    bounds = [bounds_of_overlap(*top, 0.9) for top in tops if all(top)]
    assert len({len(one) - len(other) for one, other in tops}) > (1 if k > 1 else 0)
    names = [f"{name}@{k}" for name in measures]
    means = [statistics.fmean(column) for column in zip(*bounds, strict=True)]
    assert [result[name] for name in names[:3]] == pytest.approx(means, abs=1e-12)
    assert result[names[0]] <= result[names[3]] <= result[names[1]]


def test_the_least_overlap_of_tied_items_is_its_expected_value(engine):
    rows = crowd(11)
    measures = ["rbo_min", "rbo_residual"]
    (result,) = engine.ask(engine.frame(rows), "agreement", 20, score=["a", "b"], measures=measures)
    lists = defaultdict(list)
    for row in rows:
        lists[row["user"]].append(row)
    values = []
    for members in lists.values():
        tops = [*itertools.product(*(orders(members, model, 1, 20) for model in ("a", "b")))]
        if all(tops[0]):
            bounds = [bounds_of_overlap(*top, 0.9, 600) for top in tops[:50] if len(tops) <= 50]
            values.append([statistics.fmean(column) for column in zip(*bounds, strict=True)] if bounds else None)
    assert None not in values
    means = [statistics.fmean(column) for column in zip(*values, strict=True)]
    assert [result[f"{name}@20"] for name in measures] == pytest.approx([means[0], means[2]], abs=1e-12)


def test_the_residual_of_a_tie_across_the_cutoff_is_in_proportion(engine):
    """Of three items, two are tied for the last place, so that 2 ± ½ items are shared where 1, 2 or 3 may be."""
    rows = [{"item": i, "a": a, "b": b} for i, (a, b) in enumerate([(5, 5), (4, 4), (3, 0), (3, 3), (3, 1)])]
    rows = [{"user": 1, **row} for row in rows]
    (result,) = engine.ask(engine.frame(rows), "agreement", 3, score=["a", "b"], measures=["rbo_residual", "overlap"])
    assert result["overlap@3"] == pytest.approx((2 + 1 / 3) / 3)
    two, three = (bounds_of_overlap([0, 1, last], [0, 1, 3], 0.9)[2] for last in (2, 3))
    assert result["rbo_residual@3"] == pytest.approx(two * 2 / 3 + three / 3, abs=1e-12)


@pytest.mark.parametrize("measure", ["spearman", "kendall", "tau_ap"])
def test_one_correlation_alone(engine, measure):
    frame = engine.frame({"user": [1] * 3, "item": [1, 2, 3], "a": [3, 2, 1], "b": [3, 2, 1]})
    (result,) = engine.ask(frame, "agreement", score=["a", "b"], measures=measure)
    assert [result[name] for name in ("lists", "correlated", measure)] == [1, 1, pytest.approx(1)]


@pytest.mark.parametrize("k", [2, 20])
def test_top_k_of_unequal_length_without_ties(k):
    pl = pytest.importorskip("polars")
    draw = random.Random(k)
    rows = [
        {"user": user, "item": item, "a": item + 0.5, "b": draw.choice([None, draw.random()])}
        for user in range(60)
        for item in range(draw.randint(1, 6))
    ]
    frame = pl.DataFrame(rows, schema_overrides={"b": pl.Float64})
    (result,) = frame.rec.agreement(k, score=["a", "b"]).rows(named=True)
    assert_agrees(result, k, expected(rows, ("a", "b"), k, 0.9))


def test_models_in_long_format(engine):
    rows = crowd(6)
    result = engine.ask(engine.frame(below_each_other(rows)), "agreement", 3, model="model")
    result = in_order(result, "model", "other")
    assert [(row["model"], row["other"]) for row in result] == [*itertools.combinations(MODELS, 2)]
    for row in result:
        assert_agrees(row, 3, expected(rows, (row["model"], row["other"]), 3, 0.9))


def test_some_measures(engine):
    rows = crowd(7)
    (result,) = engine.ask(engine.frame(rows), "agreement", 2, score=["a", "b"], measures=["rbo", "overlap"])
    assert [*result] == ["model", "other", *COUNTS, "rbo@2", "overlap@2"]
    *counts, _, overlap, _, rbo, _, _ = expected(rows, ("a", "b"), 2, 0.9)
    assert [result[name] for name in [*result][2:]] == pytest.approx([*counts, rbo, overlap])


def test_segments(engine):
    rows = crowd(2)
    result = in_order(engine.ask(engine.frame(rows), "agreement", 3, score=["a", "b"], per="country"), "country")
    assert [row["country"] for row in result] == ["at", "be"]
    for row in result:
        part = [one for one in rows if one["country"] == row["country"]]
        assert_agrees(row, 3, expected(part, ("a", "b"), 3, 0.9))


def test_ranks(engine):
    rows = crowd(3)
    (result,) = engine.ask(engine.frame(rows), "agreement", 3, rank=["a", "b"])
    assert_agrees(result, 3, expected(rows, ("a", "b"), 3, 0.9, sign=-1))


def test_a_model_agrees_with_its_copy(engine):
    """Where no items tie: the orders of tied items are independent of each other."""
    rows = [row | {"a": place / 7, "b": place / 7} for place, row in enumerate(crowd(4))]
    (result,) = engine.ask(engine.frame(rows), "agreement", 5, score=["a", "b"])
    assert [result[name] for name in result][7:] == pytest.approx([1.0] * 5)


@pytest.mark.parametrize("lazy", [False, True])
def test_scores_that_floats_do_not_tell_apart(lazy):
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"user": [1] * 3, "item": [1, 2, 3], "a": [2**62 + 2, 2**62 + 1, 2**62], "b": [3.0, 2.0, 1.0]})
    stacked = pl.concat(
        frame.select("user", "item", model=pl.lit(name), score=score.rank("min") + 2**62)
        for name, score in (("a", pl.col("a")), ("b", pl.col("b")))
    )
    columns, rows = (frame.lazy(), stacked.lazy()) if lazy else (frame, stacked)
    measures = ["kendall", "spearman"]
    wide = columns.rec.agreement(measures=measures, score=["a", "b"]).lazy().collect()
    long = rows.rec.agreement(measures=measures, model="model").lazy().collect()
    assert wide.row(0)[-2:] == long.row(0)[-2:] == (pytest.approx(1), pytest.approx(1))


def test_lists_that_one_model_leaves_empty_do_not_count(engine):
    frame = engine.frame({"user": [1, 2], "item": [1, 1], "a": [1.0, 1.0], "b": [None, 2.0]})
    (result,) = engine.ask(frame, "agreement", 5, by="user", score=["a", "b"])
    assert [*result.values()] == ["a", "b", 1, 1, 0, 0.5, 0, 1.0, 1.0, pytest.approx(1.0), None, None]


def test_a_pair_without_a_common_list_has_a_row(engine):
    frame = engine.frame({"user": [1, 2], "item": [1, 1], "a": [1.0, None], "b": [None, 2.0]})
    (result,) = engine.ask(frame, "agreement", 5, score=["a", "b"])
    assert [*result.values()] == ["a", "b", 0, 1, 1, 0.0, 0, None, None, None, None, None]


def test_no_list_at_all(engine):
    rows = {"user": [1], "item": [1], "a": [None], "b": [None]}
    frame = engine.frame(rows, {"user": "int64", "item": "int64", "a": "float64", "b": "float64"})
    (result,) = engine.ask(frame, "agreement", 5, score=["a", "b"], measures="rbo")
    assert [*result.values()] == ["a", "b", 0, 0, 0, None, None]


@pytest.mark.parametrize("long", [False, True])
def test_a_segment_that_one_model_leaves_out_has_a_row(engine, long):
    rows = [{"user": user, "item": 1, "shop": shop} for user, shop in ((1, "x"), (2, "y"), (3, None))]
    today = [1.0, None, None]
    wide = [row | {"a": 1.0, "b": score} for row, score in zip(rows, today, strict=True)]
    stacked = [row | {"model": "a", "score": 1.0} for row in rows] + [rows[0] | {"model": "b", "score": 1.0}]
    given = {"model": "model"} if long else {"score": ["a", "b"]}
    result = engine.ask(engine.frame(stacked if long else wide), "agreement", 5, per="shop", measures="rbo", **given)
    result = sorted(result, key=lambda row: row["shop"] or "z")
    counts = [[row[name] for name in ("shop", *COUNTS, "rbo@5")] for row in result]
    assert counts == [["x", 1, 0, 0, 1.0, pytest.approx(1)], ["y", 0, 1, 0, 0.0, None], [None, 0, 1, 0, 0.0, None]]


def test_a_drift_gate_stops_where_lists_vanish():
    pl = pytest.importorskip("polars")
    today = [1.0] + [None] * 999
    served = pl.DataFrame({"user": range(1000), "item": [1] * 1000, "yesterday": [1.0] * 1000, "today": today})
    drift = served.rec.agreement(10, score=["yesterday", "today"], measures="rbo")
    assert drift["rbo@10"].item() == pytest.approx(1)
    with pytest.raises(recframe.ThresholdError, match=r"in_both of .* is 0.001, below 0.99"):
        recframe.require(drift, {"rbo@10": 0.7, "in_both": 0.99})


def test_long_tied_blocks_have_exact_values():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"item": range(1000), "a": [1.0] * 1000, "b": [*map(float, range(1000))]})
    (result,) = frame.rec(by=None).agreement(1000, score=["a", "b"], p=0.99, measures="rbo").rows(named=True)
    # Of d items that b ranks first, a has each among its first d with the probability d / 1000.
    by_depth = sum(d / 1000 * 0.99**d for d in range(1, 1001)) * 0.01 / 0.99
    assert result["rbo@1000"] == pytest.approx(by_depth + 0.99**1000, abs=1e-13)


@pytest.mark.parametrize("lazy", [False, True])
def test_items_that_repeat(lazy):
    pl = pytest.importorskip("polars")
    rows = {"user": [1] * 4, "item": ["x", "y", "x", None], "a": [4, 3, 2, 1], "b": [2, 4, 1, 3]}
    frame = pl.DataFrame(rows)
    with pytest.raises(recframe.InputError, match="repeats items within lists"):
        (frame.lazy() if lazy else frame).rec.agreement(3, score=["a", "b"]).lazy().collect()


def test_names_of_models_are_those_of_the_frame():
    pl = pytest.importorskip("polars")
    rows = {"user": [1, 1] * 3, "item": [1, 2] * 3, "score": [1.0, 2.0] * 3, "model": [10, 10, None, None, 2, 2]}
    frame = pl.DataFrame(rows)
    result = frame.rec.agreement(2, model="model", measures="overlap")
    assert result.rows() == [(*pair, 1, 0, 0, 1.0, 1.0) for pair in ((10, None), (10, 2), (None, 2))]
    assert frame.lazy().rec.agreement(2, model="model", measures="overlap").collect().equals(result)


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"score": "a"}, "score='a' is one"), ({"k": 0}, "k=0 is less than 1"), ({"p": 1}, "p=1 is not between 0 and 1"),
        ({"by": "country"}, "repeats items within lists"), ({"model": "country"}, "model"), ({"measures": "bleu"}, "measures='bleu'"), ({"measures": []}, "names no measure"),
    ],
)  # fmt: skip
def test_bad_calls(given, match):
    pl = pytest.importorskip("polars")
    with pytest.raises(recframe.RecError, match=match):
        pl.DataFrame(crowd(5)).rec.agreement(**{"score": ["a", "b"], **given})


def test_correlations_of_the_top_in_long_format(engine):
    rows = {"user": [1] * 6, "item": [1, 2, 3] * 2, "model": ["a"] * 3 + ["b"] * 3, "score": [3.0, 2, 1, 1, 2, 3]}
    (result,) = engine.ask(engine.frame(rows), "agreement", model="model", measures=["tau_ap", "weighted_tau"])
    assert [result["tau_ap"], result["weighted_tau"]] == pytest.approx([-1, -1])
