"""`fuse`: one score out of several models, against plain Python on the rows of each list."""

from __future__ import annotations

import inspect
import math
import random
import statistics
from collections import defaultdict
from fractions import Fraction
from itertools import combinations, permutations
from typing import get_args

import pytest

import recframe
from recframe._base.roles import FusionMethod
from recframe._inference.fusion.fusion_methods import METHODS, NUMBERS

MODELS = ["a", "b", "c"]
NORMALIZATIONS = [None, "min-max", "max", "sum", "zscore", "rank", "borda"]


def test_numbers_that_are_not_tuned_are_those_of_fuse():
    parameters = inspect.signature(recframe.EagerRec.fuse).parameters
    assert {name: rule.default for name, rule in NUMBERS.items()} == {
        name: parameters[name].default for name in NUMBERS
    }


@pytest.fixture(autouse=True)
def _of_rows(request):
    engine = request.node.callspec.params.get("engine") if hasattr(request.node, "callspec") else None
    if engine is not None and not engine.answers_with_rows:
        pytest.skip("it answers with no rows")


def rows_of(engine, frame, **given):
    with engine.running():
        return engine.rows(recframe.rec(frame).fuse(**given))


def crowd(seed, lists=25, models=MODELS):
    """Return lists with ties, missing scores, items that nobody retrieved, lists of one item, and a missing key."""
    draw, rows = random.Random(seed), []
    for user in [None, *range(lists)]:
        for item in range(draw.randint(1, 7)):
            row = {"n": len(rows), "user": user, "day": draw.randint(1, 2), "item": item}
            rows.append(row | {model: draw.choice([None, -1.5, 0.0, 0.25, 1.0, 2.0, 3.5]) for model in models})
    draw.shuffle(rows)
    return rows


def places(values, *, descending=True, gaps=False):
    """Return the mean position of each value among those that are there."""
    there = [value for value in values if value is not None]
    result = []
    for value in values:
        if value is None:
            result.append(None)
            continue
        before = value - 1 if gaps else sum(other > value if descending else other < value for other in there)
        result.append(before + (there.count(value) + 1) / 2)
    return result


def normalized(values, how, candidates):
    """Return the values of a list and a model after normalisation; None where there are none."""
    there = [value for value in values if value is not None]
    if how is None or (not there and how != "borda"):
        return values
    if how in ("rank", "borda"):
        result = [None if place is None else 1 - (place - 1) / len(there) for place in places(values)]
        if how == "borda":
            points = borda(values, candidates)
            result = [None if point is None else point / sum(candidates) for point in points]
        return result
    low, high = min(there), max(there)
    if how == "max":
        return [None if value is None else value / (abs(high) or 1) for value in values]
    base = {"min-max": low, "sum": low, "zscore": statistics.fmean(there)}[how]
    size = {
        "min-max": high - low,
        "sum": sum(value - low for value in there),
        "zscore": statistics.pstdev(there),
    }[how]
    return [None if value is None else (value - base) / size if high > low else 0.0 for value in values]


def borda(values, candidates, *, descending=True):
    """Return Borda's points of a list and a model, absent candidates included."""
    count, length = sum(candidates), sum(value is not None for value in values)
    return [
        (count - place + 1) if place is not None else ((count - length + 1) / 2 if candidate else None)
        for place, candidate in zip(places(values, descending=descending), candidates, strict=True)
    ]


def duels(columns, candidates, weights):
    """Return how many candidates each one wins against by the weights of models, and itself; a draw is half a win."""
    result = []
    for one, candidate in enumerate(candidates):
        points = 1.0
        for other in range(len(candidates)):
            votes = Fraction(0)
            for places, weight in zip(columns, weights, strict=True):
                mine, theirs = (math.inf if places[row] is None else places[row] for row in (one, other))
                votes += Fraction(str(weight)) * ((mine < theirs) - (mine > theirs))
            points += (1 + (votes > 0) - (votes < 0)) / 2 if candidates[other] and other != one else 0
        result.append(points if candidate else None)
    return result


def joined(values, method, weights=(1, 1, 1)):
    """Return what the models' values of one item become."""
    weight = sum(each for each, value in zip(weights, values, strict=False) if value is not None)
    there = [value for value in values if value is not None]
    if not there:
        return None
    return {
        "gmnz": lambda found: len(found) ** 0.5 * sum(found), "mixed": lambda found: math.sqrt(len(found)) * sum(found),
        "wmnz": lambda found: weight * sum(found), "log_isr": lambda found: math.log(len(found)) * sum(found),
        "logn_isr": lambda found: math.log(len(found) + 0.01) * sum(found), "condorcet": lambda found: found[0],
        "min": min, "max": max, "median": statistics.median, "anz": statistics.fmean,
        "mnz": lambda found: len(found) * sum(found), "isr": lambda found: len(found) * sum(found),
    }.get(method, sum)(there)  # fmt: skip


def expected(rows, method, normalize=None, weights=(1, 1, 1), k=60, by=("user",), models=MODELS):
    """Return the fused score of each row by its number."""
    lists, result = defaultdict(list), {}
    for row in rows:
        lists[tuple(row[name] for name in by)].append(row)
    for members in lists.values():
        candidates = [any(row[model] is not None for model in models) for row in members]
        columns = []
        for model, weight in zip(models, weights, strict=True):
            scores = [row[model] for row in members]
            if method == "rrf":
                values = [None if place is None else 1 / (k + place) for place in places(scores)]
            elif method == "rbc":
                values = [None if place is None else 0.2 * 0.8 ** (place - 1) for place in places(scores)]
            elif method in ("isr", "log_isr", "logn_isr"):
                values = [None if place is None else 1 / place**2 for place in places(scores)]
            elif method == "borda":
                values = borda(scores, candidates)
            else:
                values = normalized(scores, normalize, candidates)
            weight = 1 if method == "wmnz" else weight  # noqa: PLW2901 - it multiplies the sum
            columns.append([None if value is None else value * weight for value in values])
        if method == "condorcet":
            columns = [duels([places([row[model] for row in members]) for model in models], candidates, weights)]
        for row, values in zip(members, zip(*columns, strict=True), strict=True):
            result[row["n"]] = joined(values, method, weights)
    return result


def assert_fused(found, reference):
    assert len(found) == len(reference)
    for row in found:
        assert row["fused"] == (None if reference[row["n"]] is None else pytest.approx(reference[row["n"]], abs=1e-12))


@pytest.mark.parametrize("method", ["rrf", "borda", "isr", "log_isr", "logn_isr", "rbc", "condorcet"])
def test_methods_by_positions(engine, method):
    rows = crowd(1)
    assert_fused(rows_of(engine, engine.frame(rows), score=MODELS, method=method), expected(rows, method))


@pytest.mark.parametrize("normalize", NORMALIZATIONS)
@pytest.mark.parametrize("method", [
    "sum", "mnz", "min", "max", "median", "anz", "weighted", "gmnz", "wmnz", "mixed",
])  # fmt: skip
def test_methods_by_scores(engine, method, normalize):
    rows = crowd(2)
    weights = (0.5, 2.0, -1.0) if method in ("weighted", "wmnz") else (1, 1, 1)
    given = {"weights": list(weights)} if method in ("weighted", "wmnz") else {}
    result = rows_of(engine, engine.frame(rows), score=MODELS, method=method, normalize=normalize, **given)
    assert_fused(result, expected(rows, method, normalize, weights))


def test_the_default_is_reciprocal_rank_fusion_with_60(engine):
    rows = crowd(3)
    assert_fused(rows_of(engine, engine.frame(rows), score=MODELS), expected(rows, "rrf", k=60))
    assert_fused(rows_of(engine, engine.frame(rows), score=MODELS, k=0.5), expected(rows, "rrf", k=0.5))


@pytest.mark.parametrize("method", ["rrf", "borda", "isr", "sum", "mnz", "mixed", "rbc", "condorcet"])
def test_weights_in_order_and_by_name(engine, method):
    rows, weights = crowd(4), (0.25, 3, 1)
    reference = expected(rows, method, weights=weights)
    for given in (list(weights), weights, dict(zip(MODELS[::-1], weights[::-1], strict=True))):
        assert_fused(rows_of(engine, engine.frame(rows), score=MODELS, method=method, weights=given), reference)


def test_the_type_names_each_method():
    assert get_args(FusionMethod) == tuple(METHODS)


def test_numbers_of_methods(engine):
    frame = engine.frame([{"n": n, "user": 1, "a": 3.0 - n, "b": None if n else 1.0} for n in range(3)])
    for given, fused in [
        ({"method": "gmnz", "gamma": 2}, [16.0, 2.0, 1.0]),
        ({"method": "logn_isr", "sigma": 1}, [2 * math.log(3), math.log(2) / 4, math.log(2) / 9]),
        ({"method": "rbc", "p": 0.5}, [1.0, 0.25, 0.125]),
    ]:
        result = rows_of(engine, frame, score=["a", "b"], **given)
        assert [row["fused"] for row in sorted(result, key=lambda row: row["n"])] == pytest.approx(fused)


def test_a_circle_of_majorities_is_a_draw_and_equal_weights_are(engine):
    """Condorcet's paradox: each model's order is that of another one, moved by one."""
    frame = engine.frame([
        {"n": 0, "user": 1, "a": 3, "b": 1, "c": 2}, {"n": 1, "user": 1, "a": 2, "b": 3, "c": 1},
        {"n": 2, "user": 1, "a": 1, "b": 2, "c": 3},
    ])  # fmt: skip
    result = rows_of(engine, frame, score=MODELS, method="condorcet")
    assert [row["fused"] for row in result] == [2.0] * 3
    # 0.1 + 0.2 is 0.3 but for rounding.
    result = rows_of(engine, frame, score=MODELS, method="condorcet", weights=[0.1, 0.2, 0.3])
    assert {row["n"]: row["fused"] for row in result} == {0: 2.0, 1: 1.5, 2: 2.5}


@pytest.mark.parametrize("by", [["user", "day"], None])
def test_condorcet_of_other_keys(engine, by):
    rows = crowd(5)[:60]
    result = rows_of(engine, engine.frame(rows), by=by, score=MODELS, method="condorcet")
    assert_fused(result, expected(rows, "condorcet", by=by or ()))


@pytest.mark.parametrize("by", [["user", "day"], None])
def test_other_keys(engine, by):
    rows = crowd(5)
    result = rows_of(engine, engine.frame(rows), by=by, score=MODELS, method="sum", normalize="zscore")
    assert_fused(result, expected(rows, "sum", "zscore", by=by or ()))


@pytest.mark.parametrize("normalize", ["sum", "zscore"])
def test_the_order_of_rows_changes_no_bit(engine, normalize):
    draw = random.Random(9)
    rows = [{"n": n, "user": n % 3, "a": draw.random(), "b": draw.gauss(0, 1)} for n in range(300)]
    result = []
    for some in (rows, rows[::-1], sorted(rows, key=lambda row: row["a"])):
        answer = rows_of(engine, engine.frame(some), score=["a", "b"], method="sum", normalize=normalize)
        result.append({row["n"]: row["fused"] for row in answer})
    assert result[0] == result[1] == result[2]


@pytest.mark.parametrize("count", [2, 4, 5, 8])
def test_the_median_of_any_number_of_models(engine, count):
    models = [f"model {number}" for number in range(count)]
    rows = crowd(6, 10, models)
    reference = expected(rows, "median", weights=(1,) * count, models=models)
    assert_fused(rows_of(engine, engine.frame(rows), score=models, method="median"), reference)


@pytest.mark.parametrize("method", ["rrf", "isr", "borda", "sum", "rbc", "condorcet"])
def test_ranks_in_the_place_of_scores(engine, method):
    ranks = {"n": [0, 1, 2, 3], "user": [1] * 4, "old": [1, 2, 2, 7], "new": [None, 3, 1, None]}
    given = {"normalize": "rank"} if method == "sum" else {}
    result = rows_of(engine, engine.frame(ranks), rank=["old", "new"], method=method, **given)
    given_places = [places(ranks[model], gaps=True) for model in ("old", "new")]
    orders = [places(ranks[model], descending=False) for model in ("old", "new")]
    values = {
        "rrf": [[None if p is None else 1 / (60 + p) for p in each] for each in given_places],
        "isr": [[None if p is None else 1 / p**2 for p in each] for each in given_places],
        "rbc": [[None if p is None else 0.2 * 0.8 ** (p - 1) for p in each] for each in given_places],
        "condorcet": [duels(given_places, [True] * 4, (1, 1))],
        "borda": [borda(ranks[model], [True] * 4, descending=False) for model in ("old", "new")],
        "sum": [[None if p is None else 1 - (p - 1) / n for p in each] for each, n in zip(orders, (4, 2), strict=True)],
    }[method]
    assert given_places[0] == [1, 2.5, 2.5, 7]
    assert_fused(result, {n: joined(each, method) for n, each in enumerate(zip(*values, strict=True))})


@pytest.mark.parametrize("method", [method for method in METHODS if method != "condorcet"])
def test_items_tie_whichever_model_gave_which_place(engine, method):
    """In another order, floats such as 1/61.5, 1/63.5 and 1/69.5 add up to another number."""
    places = combinations([1, 3, 5, 7, 9, 11], 3)
    rows = [
        {"user": user, "item": item, **dict(zip(MODELS, order, strict=True))}
        for user, three in enumerate(places)
        for item, order in enumerate(permutations(three))
    ]
    given = {"rank": MODELS} if METHODS[method].points else {"score": MODELS, "normalize": "rank"}
    if METHODS[method].weights == "needed":
        given["weights"] = [0.1, 0.1, 0.1]
    result = defaultdict(set)
    for row in rows_of(engine, engine.frame(rows), method=method, **given):
        result[row["user"]].add(row["fused"])
    assert {len(values) for values in result.values()} == {1}


def test_what_nobody_retrieved_has_no_score_and_every_row_stays(engine):
    rows = crowd(7)
    result = rows_of(engine, engine.frame(rows), score=MODELS, name="both")
    assert {row["n"]: row["both"] is None for row in result} == {
        row["n"]: all(row[model] is None for model in MODELS) for row in rows
    }
    kept = {row["n"]: {name: value for name, value in row.items() if name != "both"} for row in result}
    assert kept == {row["n"]: row for row in rows}
    if not engine.lazy:
        assert [row["n"] for row in result] == [row["n"] for row in rows]


def test_a_fused_model_is_one_more_model(engine):
    rows = [row | {"relevant": row["item"] % 2} for row in crowd(8)]
    with engine.running():
        frame = recframe.rec(engine.frame(rows)).fuse(score=MODELS, name="a")
    assert {row["n"]: row["a"] for row in engine.rows(frame)} == pytest.approx(expected(rows, "rrf"))
    assert [row["model"] for row in engine.ask(frame, "evaluate", "ndcg@3", score=["a", "b"])] == ["a", "b"]


def test_lists_with_no_spread(engine):
    frame = engine.frame({"n": [0, 1, 2], "user": [1, 1, 2], "a": [0.1, 0.1, -2.0], "b": [0.3, 0.3, 0.0]})
    for normalize in ("min-max", "sum", "zscore"):
        result = rows_of(engine, frame, score=["a", "b"], method="sum", normalize=normalize)
        assert [row["fused"] for row in sorted(result, key=lambda row: row["n"])] == [0.0, 0.0, 0.0], normalize
    result = rows_of(engine, frame, score=["a", "b"], method="sum", normalize="max")
    assert [row["fused"] for row in sorted(result, key=lambda row: row["n"])] == pytest.approx([2.0, 2.0, -1.0])


@pytest.mark.parametrize(
    ("kind", "a"),
    [
        ("int8", [127, -128, 0, 5]),
        ("int64", [2**63 - 1, -(2**63), 0, 5]),
        ("float32", [3e38, -3e38, 1e-3, 0.1]),
        ("float64", [1e300, -1e300, 0.0, 1e299]),
        ("float64", [1e-200, -1e-200, 0.0, 1e-199]),
    ],
)
def test_scores_of_any_size_and_type(engine, kind, a):
    rows = [{"n": i, "user": 1, "a": value, "b": float(i)} for i, value in enumerate(a)]
    low, high = min(a), max(a)
    # Python's own numbers are exact; the square of what is left fits.
    part = [float(Fraction(value) - Fraction(low)) / float(Fraction(high) - Fraction(low)) for value in a]
    spread = statistics.pstdev(part)
    reference = {
        "min-max": part,
        "max": [value / high for value in a],
        "sum": [value / sum(part) for value in part],
        "zscore": [(value - statistics.fmean(part)) / spread for value in part],
    }
    frame = engine.frame(rows, {"n": "int64", "user": "int64", "a": kind, "b": "float64"})
    for normalize, own in reference.items():
        result = rows_of(engine, frame, score=["a", "b"], method="weighted", weights=[1, 0], normalize=normalize)
        fused = [row["fused"] for row in sorted(result, key=lambda row: row["n"])]
        assert fused == pytest.approx(own, rel=1e-6 if kind == "float32" else 1e-12, abs=1e-12), normalize


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"normalize": "min-max"}, "(?s)score='a' holds -inf, but normalize='min-max' .*missing, or normalize='rank'"),
        ({"method": "max", "normalize": "zscore"}, "score='a' holds -inf, but normalize='zscore'"),
        ({"weights": [0, 1]}, "(?s)score='a' holds -inf, but its weight is 0.*leave the model out"),
        ({}, "(?s)score='a' holds -inf and score='b' holds inf, but method='sum'.*method='rrf'"),
        # Nothing times infinity.
        ({"method": "wmnz", "weights": [1, -1], "score": ["a", "c"]}, "'a' holds -inf and .*'c' holds 1, but .*'wmnz'"),
        ({"method": "gmnz", "gamma": -2e3, "score": ["a", "c"]}, "'a' holds -inf and score='c' holds 1, but .*'gmnz'"),
    ],
)
def test_infinite_scores_that_cannot_be_added(engine, given, match):
    frame = engine.frame({"user": [1, 1, 1], "a": [-math.inf, 1.0, 2.0], "b": [math.inf, 2.0, 1.0], "c": [1.0] * 3})
    given = {"method": "sum", "score": ["a", "b"], **given}
    if engine.lazy:
        rows_of(engine, frame, **given)
        return
    with pytest.raises(recframe.InputError, match=match):
        rows_of(engine, frame, **given)


def test_infinite_scores_that_do_not_meet(engine):
    frame = engine.frame({"n": [0, 1], "user": [1, 1], "a": [-math.inf, 1.0], "b": [2.0, math.inf]})
    result = rows_of(engine, frame, score=["a", "b"], method="sum")
    assert [row["fused"] for row in sorted(result, key=lambda row: row["n"])] == [-math.inf, math.inf]


def test_a_median_between_infinite_scores(engine):
    inf = math.inf
    rows = {"n": [0, 1, 2], "user": [1] * 3, "a": [-inf, -inf, -inf], "b": [1.0, -inf, 2.0], "c": [inf, inf, None]}
    given = {"score": ["a", "b", "c"], "method": "median"}
    result = rows_of(engine, engine.frame(rows), **given)
    assert [row["fused"] for row in sorted(result, key=lambda row: row["n"])] == [1.0, -inf, -inf]
    frame = engine.frame({**rows, "b": [1.0, None, 2.0]})
    if engine.lazy:
        assert len(rows_of(engine, frame, **given)) == len(rows["n"])
        return
    with pytest.raises(recframe.InputError, match=r"score='a' holds -inf and score='c' holds inf, but method='median'"):
        rows_of(engine, frame, **given)


def test_infinite_scores_in_their_order(engine):
    frame = engine.frame({"n": [0, 1, 2], "user": [1] * 3, "a": [-math.inf, 1.0, math.inf], "b": [4.0, 2.0, 1.0]})
    for given, fused in [
        ({"method": "sum"}, [-math.inf, 3.0, math.inf]),
        ({"method": "max"}, [4.0, 2.0, math.inf]),
        ({"method": "sum", "normalize": "rank"}, [1 / 3 + 1, 4 / 3, 4 / 3]),
    ]:
        result = rows_of(engine, frame, score=["a", "b"], **given)
        assert [row["fused"] for row in sorted(result, key=lambda row: row["n"])] == pytest.approx(fused)


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"score": "a"}, "score='a' is one"),
        ({"score": ["a"]}, "score='a' is one"),
        ({"method": "rff"}, "method='rff'"),
        ({"method": "sum", "normalize": "minmax"}, "normalize='minmax'"),
        ({"normalize": "max"}, "method='rrf' reads positions only"),
        ({"rank": ["a", "b"], "score": None, "method": "sum"}, r"rank=\['a', 'b'\] are positions"),
        ({"k": -1}, "k=-1 is not a number from 0 on"),
        ({"k": math.inf}, "k=inf is not a number from 0 on"),
        ({"method": "weighted"}, "needs weights="),
        ({"method": "wmnz"}, "method='wmnz' needs weights="),
        ({"method": "rbc", "p": 1}, "p=1 is not between 0 and 1"),
        ({"method": "gmnz", "gamma": math.inf}, "gamma=inf is not finite"),
        ({"method": "logn_isr", "sigma": -1}, "sigma=-1 is not a number from 0 on"),
        ({"method": "mnz", "gamma": 0.1}, "(?s)method='mnz' does not read gamma=0.1.*method='gmnz'"),
        ({"method": "median", "weights": [1, 1]}, "accepts no weights"),
        ({"weights": [1, 2, 3]}, "3 numbers for 2 models"),
        ({"weights": {"a": 1, "x": 2}}, "does not have exactly one weight"),
        ({"weights": 0.5}, "neither a list"),
        ({"weights": ["a", 1]}, "weights='a' is not a number"),
        ({"weights": [1, math.inf]}, "not all finite"),
        ({"name": 3}, "name=3"),
        ({"model": "day"}, "model"),
        ({"item": "doc"}, "item='doc': the frame has no such column"),
    ],
)
def test_bad_fusions(engine, given, match):
    if (
        "item" in given
        and engine.postpones
        and not hasattr(pytest.importorskip("polars").LazyFrame, "pipe_with_schema")
    ):
        pytest.skip("older polars calls nothing when it resolves a plan")
    frame = engine.frame(crowd(9, 3))
    with pytest.raises(recframe.RecError, match=match):
        rows_of(engine, frame, **{"score": ["a", "b"], **given})


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_long_frames_are_fused_as_lazy_ones(library):
    pl, module = pytest.importorskip("polars"), pytest.importorskip(library)
    columns = {name: [row[name] for row in crowd(8, lists=2_500)] for name in ("n", "user", *MODELS)}
    lazy = pl.LazyFrame(columns).rec(by="user").fuse(score=MODELS).collect()
    reference = dict(lazy.select("n", "fused").rows())
    result = module.DataFrame(columns).rec(by="user").fuse(score=MODELS)
    assert len(result) == len(reference) > 8_000
    for n, value in zip(result["n"], result["fused"], strict=True):
        assert reference[n] == (None if value is None or math.isnan(value) else pytest.approx(value, abs=1e-12))


@pytest.mark.parametrize("size", [5e-324, 1e-310])
def test_tiny_scores_are_normalised_as_others(engine, size):
    result = {}
    for unit in (size, 1.0):
        rows = [{"user": 1, "item": i, "a": i * unit, "b": float(i)} for i in (1, 2, 4)]
        for normalize in ("min-max", "max", "sum", "zscore"):
            fused = rows_of(engine, engine.frame(rows), method="sum", normalize=normalize, score=["a", "b"])
            result[unit, normalize] = [row["fused"] for row in sorted(fused, key=lambda row: row["item"])]
    for (unit, normalize), values in result.items():
        assert values == pytest.approx(result[1.0, normalize], abs=1e-12), (unit, normalize)


@pytest.mark.parametrize("kind", ["score", "rank"])
@pytest.mark.parametrize("by", ["user", ["user", "day"], None])
def test_models_in_rows_are_fused_as_those_in_columns(engine, by, kind):
    if engine.lazy or engine.postpones:
        pytest.skip("a lazy frame does not know its models")
    draw, keys = random.Random(9), [] if by is None else [by] if isinstance(by, str) else by
    pairs = sorted({(draw.randint(1, 3), draw.randint(1, 2), draw.choice("abcdef")) for _ in range(40)})
    pairs = sorted({key[2]: key for key in pairs}.values()) if by is None else pairs
    pairs = sorted({(key[0], key[2]): key for key in pairs}.values()) if by == "user" else pairs
    wide = [
        dict(zip(("user", "day", "item"), pair, strict=True))
        | {model: draw.choice([None, 1, 2, 3] if kind == "rank" else [None, 0.5, 1.5, 2.5]) for model in MODELS}
        for pair in pairs
    ]
    wide = [row for row in wide if any(row[model] is not None for model in MODELS)]
    long = [
        {"user": row["user"], "day": row["day"], "item": row["item"], "model": model, kind: row[model]}
        for model in reversed(MODELS)
        for row in wide
        if row[model] is not None
    ]
    given = {"by": by, "method": "isr", "weights": {"a": 1.0, "b": 2.0, "c": 0.5}}
    ranks = {"rank": "rank"} if kind == "rank" else {}
    result = rows_of(engine, engine.frame(long), **given, model="model", **ranks)
    assert list(result[0]) == [*keys, "item", *reversed(MODELS), "fused"]
    expected = rows_of(engine, engine.frame(wide), **given, **{kind: MODELS})
    expected = {tuple(row[name] for name in (*keys, "item")): row for row in expected}
    assert [tuple(row[name] for name in (*keys, "item")) for row in result] == sorted(expected)
    for row in result:
        other = expected[tuple(row[name] for name in (*keys, "item"))]
        assert [row[name] for name in (*MODELS, "fused")] == [
            other[name] if name != "fused" else pytest.approx(other[name]) for name in (*MODELS, "fused")
        ]


def test_models_in_rows_that_cannot_be_fused():
    pl = pytest.importorskip("polars")
    rows = {"user": [1, 1], "item": [7, 7], "model": ["a", "b"], "score": [0.5, 0.1]}
    frame = pl.DataFrame(rows)
    for call, text in (
        (lambda: frame.lazy().rec.fuse(model="model"), "model='model' needs the data"),
        (lambda: pl.concat([frame, frame]).rec.fuse(model="model"), "has several rows for an item of a list"),
        (lambda: frame.rec.fuse(model="model", name="a"), "name='a' is the name of a model"),
        (lambda: frame.head(1).rec.fuse(model="model"), "score='a' is one"),
        (lambda: frame.with_columns(model=pl.Series(["a", "user"])).rec.fuse(model="model"), "are both called 'user'"),
        (lambda: frame.rec.fuse(model="system"), "no such column"),
        (frame.rec.fuse, "model='model' if this column names"),
    ):
        with pytest.raises(recframe.RecError, match=text):
            call()
