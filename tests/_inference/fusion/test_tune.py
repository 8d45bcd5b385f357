"""`tune_fusion`: each candidate against `fuse` and `evaluate`, the choice against leaving out each list in turn."""

from __future__ import annotations

import json
import math
import random
import statistics
from collections import Counter
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

import recframe
from recframe._base.roles import CALL_ROLES
from recframe._inference.fusion.grid import candidates
from recframe._inference.fusion.tune import Lists
from recframe._plan.request import Request

if TYPE_CHECKING:
    from collections.abc import Sequence

np = pytest.importorskip("numpy")
pytest.importorskip("scipy")

MODELS = ["a", "b"]
COLUMNS = [
    "method", "normalize", "options", "in_sample", "lists", "folds", "chosen", "out_of_fold", "low", "high",
]  # fmt: skip
SMALL = {"weights": [[0.0, 1.0], [0.3, 0.7], [0.5, 0.5], [1.0, 0.0]], "k": [1, 60]}


@pytest.fixture(autouse=True)
def _of_rows(request):
    engine = request.node.callspec.params.get("engine") if hasattr(request.node, "callspec") else None
    if engine is not None and not engine.answers_with_rows:
        pytest.skip("it answers with no rows")


def crowd(seed=1, lists=9, models=MODELS):
    """Return lists of users of two countries, in some of which nothing is relevant; each model misses some items."""
    draw = random.Random(seed)
    return [
        {"user": user, "country": "at" if user % 3 else "be", "item": item, "relevant": int(draw.random() < 0.4)}
        | {model: None if draw.random() < 0.2 else draw.random() for model in models}
        for user in range(lists)
        for item in range(draw.randint(2, 6))
    ]


def by_list(engine, rows, options, metric, **given):
    """Return the value of each list under one fusion."""
    with engine.running():
        fused = recframe.rec(engine.frame(rows)).fuse(score=MODELS, **options)
    result = engine.ask(fused, "evaluate", metric, score="fused", per="user", **given)
    return {row["user"]: row[metric] for row in result}


def choice(values: Sequence[Sequence[float]]) -> int:
    """Return the first of the candidates with the best mean."""
    means = [statistics.fmean(column) for column in values]
    return next(place for place, mean in enumerate(means) if mean >= max(means) - 1e-12)


@pytest.mark.parametrize("metric", ["ndcg@3", "mrr"])
def test_each_candidate_and_the_choice(engine, metric):
    rows = crowd()
    given = {"methods": ["rrf", "weighted", "max"], "normalize": [None, "zscore"], "grid": SMALL}
    order = [{"method": "rrf", "k": k} for k in SMALL["k"]]
    for norm in ({}, {"normalize": "zscore"}):
        order += [{"method": "weighted", **norm, "weights": weights} for weights in SMALL["weights"]]
    order += [{"method": "max"}, {"method": "max", "normalize": "zscore"}]
    lists = [by_list(engine, rows, options, metric) for options in order]
    known = [user for user, value in lists[0].items() if value is not None and not math.isnan(value)]
    assert 3 < len(known) < 9
    result = engine.ask(engine.frame(rows), "tune_fusion", metric, score=MODELS, folds=len(known), **given)
    assert [*result[0]] == COLUMNS
    values = [[one[user] for user in known] for one in lists]
    means = {json.dumps(options): statistics.fmean(column) for options, column in zip(order, values, strict=True)}
    assert len(result) == 10 < len(order)
    assert [row["in_sample"] for row in result] == pytest.approx(sorted(means.values(), reverse=True)[:10])
    for row in result:
        options = json.loads(row["options"])
        assert row["in_sample"] == pytest.approx(means[row["options"]])
        assert (row["lists"], row["method"], row["normalize"]) == (
            len(known),
            options["method"],
            options.get("normalize"),
        )
    # As many folds as lists: each list is left out once.
    left_out = [[[*column[:place], *column[place + 1 :]] for column in values] for place in range(len(known))]
    choices = [choice(others) for others in left_out]
    best, *others = result
    assert best["chosen"] is True
    assert not any(row["chosen"] for row in others)
    assert json.loads(best["options"]) == order[choice(values)]
    assert [row["in_sample"] for row in others] == sorted((row["in_sample"] for row in others), reverse=True)
    chosen = {json.dumps(order[each]): choices.count(each) for each in choices}
    assert {row["options"]: row["folds"] for row in result} == {
        row["options"]: chosen.get(row["options"], 0) for row in result
    }
    held_out = [values[each][place] for place, each in enumerate(choices)]
    assert best["out_of_fold"] == pytest.approx(statistics.fmean(held_out))
    assert best["low"] < best["out_of_fold"] < best["high"]
    assert [row["out_of_fold"] for row in others] == [None] * len(others)


def test_clusters_stay_together(engine):
    rows = crowd(3)
    options = [{"method": "weighted", "normalize": "min-max", "weights": weights} for weights in SMALL["weights"]]
    lists = [by_list(engine, rows, one, "mrr") for one in options]
    known = [user for user, value in lists[0].items() if value is not None and not math.isnan(value)]
    country = {row["user"]: row["country"] for row in rows}
    given = {"methods": "weighted", "grid": SMALL, "folds": 2, "cluster": "country", "score": MODELS}
    best = engine.ask(engine.frame(rows), "tune_fusion", "mrr", **given)[0]
    held_out = []
    for one in ("at", "be"):
        values = [[each[user] for user in known if country[user] != one] for each in lists]
        held_out += [lists[choice(values)][user] for user in known if country[user] == one]
    assert best["out_of_fold"] == pytest.approx(statistics.fmean(held_out))


def test_neither_row_order_nor_engine_matters_and_the_seed_does(engine):
    rows = crowd(4, 40)
    given = {"grid": SMALL, "score": MODELS}
    result = engine.ask(engine.frame(rows), "tune_fusion", "ndcg@3", **given)
    again = engine.ask(engine.frame(random.Random(5).sample(rows, len(rows))), "tune_fusion", "ndcg@3", **given)
    assert result == again
    assert result[0]["out_of_fold"] == pytest.approx(0.6089393527718958, abs=1e-12)
    seeds = {
        engine.ask(engine.frame(rows), "tune_fusion", "ndcg@3", **given, seed=s)[0]["out_of_fold"] for s in range(4)
    }
    assert len(seeds) > 1


def test_a_truth_and_models_in_rows():
    pl = pytest.importorskip("polars")
    rows = pl.DataFrame(crowd(6, 20))
    wide, truth = rows.select("user", "item", *MODELS), rows.filter(relevant=1).select("user", "item")
    given = {"truth": truth, "grid": SMALL}
    result = wide.rec.tune_fusion("ndcg@3", score=MODELS, **given)
    long = pl.concat(wide.select("user", "item", model=pl.lit(name), score=name) for name in MODELS).drop_nulls()
    assert long.rec.tune_fusion("ndcg@3", model="model", **given).equals(result)
    lazy = wide.lazy().rec.tune_fusion("ndcg@3", score=MODELS, **(given | {"truth": truth.lazy()}))
    assert lazy.collect_schema() == result.schema
    assert lazy.collect().equals(result)
    with pytest.raises(recframe.OptionError, match="needs truth="):
        long.rec.tune_fusion("ndcg@3", model="model")


def test_ranks_and_weights_of_lists():
    pl = pytest.importorskip("polars")
    rows = pl.DataFrame(crowd(7, 12)).with_columns(pl.col(*MODELS).rank("ordinal", descending=True).over("user"))
    given = {"rank": MODELS, "methods": ["rrf", "borda", "weighted"], "normalize": "rank", "grid": SMALL, "folds": 3}
    plain = rows.rec.tune_fusion("mrr", **given)
    weighted = rows.with_columns(w=pl.col("user") + 1.0).rec.tune_fusion("mrr", weight="w", **given)
    options = json.loads(weighted["options"][0])
    fused = rows.with_columns(w=pl.col("user") + 1.0).rec.fuse(rank=MODELS, **options)
    assert weighted["in_sample"][0] == pytest.approx(fused.rec.mrr(score="fused", weight="w"))
    assert weighted["in_sample"][0] != plain["in_sample"][0]
    # Borda's points are tried without weights too.
    borda = rows.rec.tune_fusion("mrr", **given | {"methods": "borda"})
    assert borda.height == 1 + len(SMALL["weights"])


def test_the_first_of_candidates_with_the_same_mean_is_best():
    # The second mean is larger in its last bit only.
    values = np.array([[0.3, 0.1], [0.0, 0.2]])
    lists = Lists(values, np.ones(2), None, (0.0, 1.0), upwards=True)
    assert values.mean(axis=0)[1] > values.mean(axis=0)[0]
    assert lists.best(np.array([True, True])) == 0


def test_a_metric_of_which_less_is_better():
    pl = pytest.importorskip("polars")
    rows = pl.DataFrame(crowd(8, 15))
    result = rows.rec.tune_fusion("arp@1", score=MODELS, grid=SMALL, folds=3, train=rows.select("user", "item"))
    assert result["in_sample"][0] == result["in_sample"].min() < result["in_sample"].max()


@pytest.mark.slow
def test_the_grid_without_one_is_that_of_ranx():
    pl = pytest.importorskip("polars")
    rows, models = pl.DataFrame(crowd(9, 8, ["a", "b", "c"])), ["a", "b", "c"]
    query = Request(rows, {}, {"score": models}).query(CALL_ROLES["tune_fusion"])
    methods = ["rrf", "weighted", "mixed", "gmnz", "logn_isr", "rbc", "sum"]
    tried = candidates(query, methods, "min-max", None)
    counts = Counter(candidate["method"] for candidate in tried)
    assert counts == {"rrf": 10, "weighted": 66, "mixed": 67, "gmnz": 100, "logn_isr": 100, "rbc": 99, "sum": 1}
    result = rows.rec.tune_fusion("mrr", score=models, methods=["rrf", "weighted"], folds=2)
    assert result.height == 10
    assert all(json.loads(options) in tried for options in result["options"])


def test_the_grid_may_hold_numbers_of_numpy_and_weights_by_model():
    pl = pytest.importorskip("polars")
    rows, given = pl.DataFrame(crowd(9, 8, ["a", "b"])), {"score": ["a", "b"], "folds": 2}
    for method, grid, plain in (
        ("rrf", {"k": list(np.arange(10, 30, 10))}, {"k": [10, 20]}),
        ("rbc", {"p": [Decimal("0.5")]}, {"p": [0.5]}),
        ("weighted", {"weights": [{"b": np.float32(0.25), "a": 1}]}, {"weights": [[1, 0.25]]}),
    ):
        result, expected = (rows.rec.tune_fusion("mrr", methods=method, grid=each, **given) for each in (grid, plain))
        assert result.drop("options").equals(expected.drop("options"))
        fused = rows.rec.fuse(score=["a", "b"], **json.loads(result["options"][0]))
        assert fused.rec.mrr(score="fused") == pytest.approx(result["in_sample"][0])


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"score": "a"}, "tune_fusion joins several models, but score='a' is one"),
        ({"metric": "ndgc"}, "ndgc"),
        ({"metric": ["ndcg", "mrr"]}, "is not one metric"),
        ({"metric": "coverage"}, "tune_fusion needs a value per list"),
        ({"folds": 10}, "folds=10 is more than the 8 lists with a value"),
        ({"folds": 3, "cluster": "country"}, "folds=3 is more than the 2 values of cluster='country'"),
        ({"folds": 1}, "folds=1 is less than 2"),
        ({"methods": "rff"}, "methods='rff'"),
        ({"methods": []}, "methods=.* names nothing to try"),
        ({"normalize": "minmax"}, "normalize='minmax'"),
        ({"grid": [1]}, "is not a dict of values"),
        ({"grid": {"sigm": [1]}}, "(?s)which no method has.*sigma"),
        ({"grid": {"k": 60}}, "not a list of values"),
        ({"grid": {"k": b"60"}}, "not a list of values"),
        ({"grid": {"weights": [0.5, 0.5]}}, "weights=0.5 is neither a list of numbers nor a dict of numbers by model"),
        ({"grid": {"k": [-1]}}, "k=-1 is not a number from 0 on"),
        ({"grid": {"weights": [[1, 2, 3]]}}, "3 numbers for 2 models"),
        (
            {"grid": SMALL, "methods": ["rrf", "sum"]},
            "(?s)names 'weights', but none of methods=.*'weighted' for weights",
        ),
        ({"grid": {"gamma": [0.5]}}, "names 'gamma', but none of methods"),
        ({"confidence": 2}, "confidence"),
        ({"seed": -1}, "seed"),
        ({"per": "country"}, "per"),
        ({"rank": ["a", "b"], "score": None}, "are positions"),
    ],
)
def test_bad_calls(given, match):
    pl = pytest.importorskip("polars")
    frame: Any = pl.DataFrame(crowd(10, 10))
    with pytest.raises(recframe.RecError, match=match):
        frame.rec.tune_fusion(**{"metric": "mrr", "score": MODELS, **given})


def test_too_many_models_for_a_grid():
    pl = pytest.importorskip("polars")
    models = [f"m{number}" for number in range(9)]
    frame = pl.DataFrame(crowd(11, 4, models))
    with pytest.raises(recframe.OptionError, match="43,758 candidates of 9 models"):
        frame.rec.tune_fusion("mrr", score=models)


def test_noise_gains_nothing_out_of_fold():
    """Candidates that are equally good: what the best of them gains in the sample is chance."""
    tune = pytest.importorskip("recframe._inference.fusion.tune")
    random_numbers, gains = np.random.default_rng(1), []
    for _ in range(300):
        common = random_numbers.normal(size=(50, 1))
        values = common + random_numbers.normal(size=(50, 20))
        lists = tune.Lists(values, np.ones(50), None, (-math.inf, math.inf), upwards=True)
        held_out, _ = lists.out_of_fold(np.arange(50) % 5)
        best = lists.best(np.ones(50, dtype=bool))
        gains.append((values[:, best].mean() - common.mean(), held_out.mean() - common.mean()))
    in_sample, out_of_fold = np.mean(gains, axis=0)
    error = np.std(gains, axis=0) / len(gains) ** 0.5
    assert in_sample > 20 * error[0]
    assert abs(out_of_fold) < 3 * error[1]
