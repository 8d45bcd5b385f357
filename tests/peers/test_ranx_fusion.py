"""`fuse` against ranx's fusion and normalisation, on random runs without ties."""

from __future__ import annotations

import random
import warnings
from typing import TYPE_CHECKING, Any

import pytest

import recframe
from recframe._base.roles import CALL_ROLES
from recframe._inference.fusion.grid import candidates
from recframe._plan.request import Request

if TYPE_CHECKING:
    from collections.abc import Callable

with warnings.catch_warnings():
    # Importing ranx imports plotting and compiling libraries, whose own deprecations are no concern here.
    warnings.simplefilter("ignore")
    ranx = pytest.importorskip("ranx")

pytestmark = pytest.mark.filterwarnings("ignore:.*unsafe cast from uint64 to int64")

MODELS = ("a", "b", "c")
METHODS = {"sum": "sum", "mnz": "mnz", "min": "min", "max": "max", "median": "med", "anz": "anz"}
"""Our names of the methods by scores, and ranx's."""
NORMALIZATIONS = {
    None: None, "min-max": "min-max", "max": "max", "sum": "sum", "zscore": "zmuv", "rank": "rank", "borda": "borda",
}  # fmt: skip
POSITIONS = {"rrf": "rrf", "isr": "isr", "borda": "bordafuse"}


@pytest.fixture(params=["polars", "pandas"])
def make(request: pytest.FixtureRequest) -> Callable[..., Any]:
    return pytest.importorskip(request.param).DataFrame


def runs(seed: int) -> list[dict[str, dict[str, float]]]:
    """Return the runs of three models: each retrieves some items of a user, no score twice."""
    draw = random.Random(seed)
    result: list[dict[str, dict[str, float]]] = [{} for _ in MODELS]
    for user in range(15):
        items = [f"i{number}" for number in range(draw.randint(3, 20))]
        for run in result:
            chosen = draw.sample(items, draw.randint(2, len(items)))
            scores = draw.sample(range(1, 999), len(chosen))
            run[f"u{user}"] = {item: score / 16 for item, score in zip(chosen, scores, strict=True)}
    return result


def assert_same(make: Callable[..., Any], fused: Any, lists: list[dict[str, dict[str, float]]], **given: Any) -> None:
    """Compare the fused scores of every user and item that a model retrieved."""
    pairs = sorted({(user, item) for run in lists for user, items in run.items() for item in items})
    columns: dict[str, list[Any]] = {"user": [user for user, _ in pairs], "item": [item for _, item in pairs]}
    for name, run in zip(MODELS, lists, strict=True):
        columns[name] = [run[user].get(item) for user, item in pairs]
    ours = recframe.rec(make(columns)).fuse(score=MODELS, **given)["fused"].to_list()
    theirs = fused.to_dict()
    assert ours == pytest.approx([theirs[user][item] for user, item in pairs], rel=1e-9, abs=1e-9)
    assert len(pairs) == sum(map(len, theirs.values()))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("normalize", NORMALIZATIONS)
@pytest.mark.parametrize("method", METHODS)
def test_methods_by_scores(make: Callable[..., Any], method: str, normalize: str | None, seed: int) -> None:
    lists = runs(seed)
    fused = ranx.fuse([ranx.Run(run) for run in lists], norm=NORMALIZATIONS[normalize], method=METHODS[method])
    assert_same(make, fused, lists, method=method, normalize=normalize)


@pytest.mark.parametrize("normalize", NORMALIZATIONS)
def test_weighted_sums(make: Callable[..., Any], normalize: str | None) -> None:
    lists, weights = runs(7), (0.2, 0.5, 0.3)
    fused = ranx.fuse(
        [ranx.Run(run) for run in lists], norm=NORMALIZATIONS[normalize], method="wsum", params={"weights": weights}
    )
    assert_same(make, fused, lists, method="weighted", weights=weights, normalize=normalize)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("method", POSITIONS)
def test_methods_by_positions(make: Callable[..., Any], method: str, seed: int) -> None:
    lists = runs(seed)
    fused = ranx.fuse([ranx.Run(run) for run in lists], norm=None, method=POSITIONS[method])
    assert_same(make, fused, lists, method=method)


WEIGHTS = (0.2, 0.45, 0.35)
WITH_NUMBERS = [
    ("gmnz", {"gamma": 0.3}, "gmnz", {"gamma": 0.3}), ("wmnz", {"weights": WEIGHTS}, "wmnz", {"weights": WEIGHTS}),
    ("mixed", {"weights": WEIGHTS}, "mixed", {"weights": WEIGHTS}), ("log_isr", {}, "log_isr", {}),
    ("logn_isr", {"sigma": 0.2}, "logn_isr", {"sigma": 0.2}), ("rbc", {"phi": 0.7}, "rbc", {"p": 0.7}),
    ("w_bordafuse", {"weights": WEIGHTS}, "borda", {"weights": WEIGHTS}),
]  # fmt: skip


@pytest.mark.parametrize("case", WITH_NUMBERS, ids=lambda case: str(case[0]))
def test_methods_with_numbers(make: Callable[..., Any], case: tuple[str, Any, str, Any]) -> None:
    theirs, params, method, given = case
    for seed in range(4):
        lists = runs(seed)
        fused = ranx.fuse([ranx.Run(run) for run in lists], norm=None, method=theirs, params=params)
        assert_same(make, fused, lists, method=method, **given)


def majority(run_places: list[dict[str, int]], one: str, other: str, weights: tuple[float, ...]) -> bool:
    """Return whether ranx puts an item first, when it is asked for these two in this order."""
    votes = [run.get(one, 10**6) < run.get(other, 10**6) for run in run_places]
    return 2 * sum(weight for weight, vote in zip(weights, votes, strict=True) if vote) >= sum(weights)


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_majorities_where_ranx_knows_the_order(make: Callable[..., Any], weights: tuple[float, ...] | None) -> None:
    """Where neither the order of two items in a set matters to ranx, nor a circle of majorities is there."""
    compared = 0
    for seed in range(6):
        lists = runs(seed)
        given: Any = {} if weights is None else {"weights": weights}
        method = "condorcet" if weights is None else "w_condorcet"
        theirs = ranx.fuse([ranx.Run(run) for run in lists], norm=None, method=method, params=given).to_dict()
        pairs = [(user, item) for user in lists[0] for item in sorted({item for run in lists for item in run[user]})]
        columns: dict[str, list[Any]] = {"user": [user for user, _ in pairs], "item": [item for _, item in pairs]}
        for name, run in zip(MODELS, lists, strict=True):
            columns[name] = [run[user].get(item) for user, item in pairs]
        fused = recframe.rec(make(columns)).fuse(score=MODELS, method="condorcet", weights=weights)["fused"].to_list()
        ours: dict[str, dict[str, float]] = {}
        for (user, item), score in zip(pairs, fused, strict=True):
            ours.setdefault(user, {})[item] = score
        for user, scores in ours.items():
            ordered = [sorted(run[user], key=run[user].get, reverse=True) for run in lists]  # type: ignore[arg-type]
            places = [{item: place for place, item in enumerate(one)} for one in ordered]
            items = list(scores)
            each = [weights or (1.0,) * len(MODELS)] * len(items)
            before = {(a, b): majority(places, a, b, w) for a, w in zip(items, each, strict=True) for b in items}
            wins = sorted(sum(before[a, b] for b in items if a != b) for a in items)
            known = all(before[a, b] != before[b, a] for a in items for b in items if a != b)
            if known and wins == list(range(len(items))):
                assert scores == theirs[user]
                compared += 1
    assert compared > 5


def test_the_constant_of_reciprocal_ranks(make: Callable[..., Any]) -> None:
    lists = runs(9)
    fused = ranx.fuse([ranx.Run(run) for run in lists], norm=None, method="rrf", params={"k": 5})
    assert_same(make, fused, lists, method="rrf", k=5)


TUNED = {
    "wsum": ("weighted", "weights"), "mixed": ("mixed", "weights"), "wmnz": ("wmnz", "weights"),
    "gmnz": ("gmnz", "gamma"), "logn_isr": ("logn_isr", "sigma"), "rbc": ("rbc", "p"), "rrf": ("rrf", "k"),
}  # fmt: skip
"""ranx's methods with something to optimise, and ours."""


def distinct_runs(seed: int) -> tuple[list[dict[str, dict[str, float]]], dict[str, dict[str, int]]]:
    """Return runs of all items, of which no two have the same places by some order of the models, and judgments."""
    draw, result, judged = random.Random(seed), [{} for _ in MODELS], {}  # type: ignore[var-annotated]
    for user in range(25):
        items = [f"i{number}" for number in range(8)]
        places: list[dict[str, int]] = []
        while len({tuple(sorted(place[item] for place in places)) for item in items}) < len(items):
            places = [{item: place for place, item in enumerate(draw.sample(items, len(items)))} for _ in MODELS]
        for run, place in zip(result, places, strict=True):
            run[f"u{user}"] = {item: -place[item] + draw.random() / 2 for item in items}
        judged[f"u{user}"] = dict.fromkeys(draw.sample(items, 3), 1)
    return result, judged


@pytest.mark.slow
@pytest.mark.parametrize("method", TUNED)
def test_values_of_a_grid(make: Callable[..., Any], method: str) -> None:
    lists, judged = distinct_runs(3)
    ours, name = TUNED[method]
    runs_, qrels = [ranx.Run(run) for run in lists], ranx.Qrels(judged)
    settings = {"norm": "min-max", "method": method, "metric": "ndcg@5", "show_progress": False}
    _, report = ranx.optimize_fusion(qrels, runs_, **settings, return_optimization_report=True)
    configs = [config.replace("np.float64(", "").replace("),", ",").replace("))", ")") for config in report.configs]
    theirs = dict(zip(configs, report.results, strict=True))
    pairs = [(user, item) for user in judged for item in lists[0][user]]
    columns: dict[str, list[Any]] = {"user": [user for user, _ in pairs], "item": [item for _, item in pairs]}
    for model, run in zip(MODELS, lists, strict=True):
        columns[model] = [run[user][item] for user, item in pairs]
    columns["relevant"] = [judged[user].get(item, 0) for user, item in pairs]
    frame, values = make(columns), {}
    query = Request(frame, {}, {"score": list(MODELS)}).query(CALL_ROLES["tune_fusion"])
    for candidate in candidates(query, ours, "min-max", None):
        options = {key: value for key, value in candidate.items() if value is not None}
        fused = recframe.rec(frame).fuse(score=MODELS, **options)
        own = options.get(name)
        values[str(tuple(own) if name == "weights" and own else own)] = recframe.rec(fused).ndcg(5, score="fused")
    # ranx leaves out weights that sum to 1 but for rounding, and a persistence of 1 ties all items.
    common = [config for config in theirs if not (method == "rbc" and config == "1.0")]
    assert len(common) >= 10
    assert [values[config] for config in common] == pytest.approx([theirs[config] for config in common], abs=1e-9)
    assert max(values.values()) >= max(theirs.values()) - 1e-9
    best = recframe.rec(frame).tune_fusion("ndcg@5", score=MODELS, methods=ours)["in_sample"].to_list()
    assert best == pytest.approx(sorted(values.values(), reverse=True)[:10], abs=1e-9)


def test_where_ranx_differs_as_the_page_says(make: Callable[..., Any]) -> None:
    first, second = {"u": {"i1": -0.5, "i2": -1.0}}, {"u": {"i1": -0.5, "i10": 2.0}}
    fused = ranx.fuse([ranx.Run(first), ranx.Run(first)], norm="max", method="max").to_dict()["u"]
    assert fused["i1"] == pytest.approx(-5e8)
    assert "i10" not in ranx.fuse([ranx.Run(first), ranx.Run(second)], norm=None, method="sum").to_dict()["u"]
    columns = {"user": ["u"] * 3, "item": ["i1", "i2", "i10"], "a": [-0.5, -1.0, None], "b": [-0.5, None, 2.0]}
    frame = recframe.rec(make(columns))
    assert frame.fuse(score=["a", "b"], method="sum")["fused"].to_list() == [-1.0, -1.0, 2.0]
    assert frame.fuse(score=["a", "b"], method="min", normalize="max")["fused"].to_list() == [-1.0, -2.0, 1.0]
