"""Every metric, option, cutoff and tie policy equals the brute-force oracle, on every engine.

Most lists come in seeded frames of hundreds, reported list by list; Hypothesis adds small frames of odd shapes.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
from recframe import metrics
from strategies import BINARY, GRADED, crowd, examples, frames, ranked_crowd

CUTOFFS = (1, 2, 3, 5, 30, None)  # 30: longer than every list
POLICIES = ("average", "best", "worst", "item", "item_desc", "first")


def spelled(name: str, k: int | None = None, **options: str) -> str:
    inside = ",".join(f"{option}={value}" for option, value in options.items() if value is not None)
    return name + (f"({inside})" if inside else "") + ("" if k is None else f"@{k}")


def every_metric() -> list[str]:
    """Return each metric with each combination of its options at each cutoff, by its canonical name."""
    # An option that has its default is not part of the name, so None stands for it.
    gains, discounts = (None, "exp2", "binary"), (None, "jarvelin", "reciprocal")
    spellings: list[tuple[str, dict[str, Any]]] = [
        ("precision", {}), ("precision", {"denominator": "list"}),
        ("recall", {}), ("recall", {"capped": "True"}), ("recall", {"over": "ranked"}),
        ("recall", {"capped": "True", "over": "ranked"}),
        ("f1", {}), ("hit_rate", {}), ("mrr", {}),
        ("map", {}), ("map", {"norm": "relevant"}), ("map", {"norm": "hits"}),
        ("rbp", {}), ("rbp", {"p": "0.5"}), ("rbp", {"gain": "linear"}),
    ]  # fmt: skip
    spellings += [("dcg", {"gain": gain, "discount": discount}) for gain, discount in product(gains, discounts)]
    spellings += [
        ("ndcg", {"gain": gain, "discount": discount, "ideal": ideal})
        for gain, discount, ideal in product(gains, discounts, (None, "ranked", "ones"))
    ]
    return [
        "r_precision",
        "r_precision(over=ranked)",
        *(spelled(name, k, **options) for (name, options), k in product(spellings, CUTOFFS)),
    ]


METRICS = every_metric()


def metrics_under(scenario: str, ties: str) -> list[str]:
    """Return a share of the metrics, a larger one for the default policy; scenarios and policies cover all together."""
    shift = [*SCENARIOS].index(scenario) + POLICIES.index(ties)
    step = 2 if ties == "average" else 5
    return METRICS[shift % step :: step]


# What the lists of a scenario are made of, and how they are asked about.
SCENARIOS: dict[str, tuple[Any, dict[str, Any]]] = {
    "binary": (lambda: crowd(1, 400, relevance=BINARY, missing=0.0), {"by": ["user", "day"]}),
    "graded": (lambda: crowd(2, 700, relevance=GRADED), {"by": ["user", "day"]}),
    "text keys": (lambda: crowd(3, 300, relevance=(0.0, 0.0, 0.25, 1.5), text=True), {"by": ["user", "day"]}),
    "least 2": (lambda: crowd(4, 400, relevance=GRADED), {"by": ["user", "day"], "min_relevance": 2}),
    "least -1": (lambda: crowd(5, 300, relevance=GRADED), {"by": ["user", "day"], "min_relevance": -1}),
    "ranks": (lambda: ranked_crowd(6, 400), {"by": "user", "rank": "rank"}),
    "undefined": (lambda: crowd(7, 300, relevance=(0, 0, 0, 1)), {"by": ["user", "day"], "undefined": 0.5}),
}


@cache
def rows_of(scenario: str) -> list[dict[str, Any]]:
    return SCENARIOS[scenario][0]()


@cache
def expected(scenario: str, ties: str) -> dict[Any, dict[str, float | None]]:
    """Return the oracle's values of each list, computed once for all engines."""
    asked = SCENARIOS[scenario][1]
    return oracle.evaluate(rows_of(scenario), metrics_under(scenario, ties), ties=ties, per=asked["by"], **asked)


def assert_equal(found: list[dict[str, Any]], wanted: dict[Any, dict[str, Any]], keys: list[str]) -> None:
    """Compare a result with the oracle's, whichever order its rows have."""
    by_key = {tuple(row[key] for key in keys): row for row in found}
    assert len(by_key) == len(found), "a key has several rows"
    assert by_key.keys() == wanted.keys()
    wrong = [
        f"{dict(zip(keys, key, strict=True))} {label}: {by_key[key][label]} instead of {value}"
        for key, values in wanted.items()
        for label, value in values.items()
        if not same(by_key[key][label], value)
    ]
    assert not wrong, f"{len(wrong)} wrong values\n" + "\n".join(wrong[:20])


def same(found: float | None, wanted: float | None) -> bool:
    if found is None or wanted is None:
        return found is wanted
    return math.isclose(found, wanted, rel_tol=1e-12, abs_tol=1e-12)


def skip_row_order(engine, ties) -> None:
    if ties == "first" and engine.lazy:
        pytest.skip("a lazy frame has no row order")


# --- thousands of lists -----------------------------------------------------------------------------------


@pytest.mark.parametrize("ties", POLICIES)
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_list(engine, scenario, ties):
    skip_row_order(engine, ties)
    asked = SCENARIOS[scenario][1]
    keys = list(oracle.names(asked["by"]))
    some = engine.some(metrics_under(scenario, ties), len(scenario))
    found = engine.ask(engine.frame(rows_of(scenario)), "evaluate", some, per=keys, ties=ties, **asked)
    assert list(found[0]) == [*keys, *some]
    wanted = expected(scenario, ties).items()
    assert_equal(found, {key: {label: values[label] for label in some} for key, values in wanted}, keys)


def test_all_metrics_in_one_call(engine):
    rows, by, some = rows_of("graded"), ["user", "day"], engine.some(METRICS)
    wanted = oracle.evaluate(rows, some, by=by)
    assert_equal(engine.ask(engine.frame(rows), "evaluate", some, by=by), wanted, [])


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_means_over_lists(engine, scenario):
    some, asked = metrics_under(scenario, "average")[::3], SCENARIOS[scenario][1]
    lists = expected(scenario, "average").values()
    wanted = {label: oracle.mean(values[label] for values in lists) for label in some}
    found = engine.ask(engine.frame(rows_of(scenario)), "evaluate", some, **asked)
    assert_equal(found, {(): wanted}, [])


@pytest.mark.parametrize("scenario", ["graded", "undefined"])
def test_means_by_one_of_the_keys(engine, scenario):
    asked = SCENARIOS[scenario][1]
    some = METRICS[::11]
    found = engine.ask(engine.frame(rows_of(scenario)), "evaluate", some, per="day", **asked)
    assert_equal(found, oracle.evaluate(rows_of(scenario), some, per="day", **asked), ["day"])


def test_a_column_of_per_divides_lists_without_a_truth(engine):
    rows = [{**row, "part": row["item"]} for row in crowd(8, 60)]
    some = METRICS[::11]
    found = engine.ask(engine.frame(rows), "evaluate", some, by=["user", "day"], per="part")
    assert_equal(found, oracle.evaluate(rows, some, by=["user", "day"], per="part"), ["part"])


# --- each method by itself --------------------------------------------------------------------------------

OPTIONS = {
    "denominator": str, "capped": bool, "norm": str, "p": float, "gain": str, "discount": str, "ideal": str, "over": str,
}  # fmt: skip


@pytest.mark.parametrize(
    "label", [*METRICS[:: len(CUTOFFS)], "precision@3", "map@2", "ndcg(gain=exp2)@2", "hit_rate@1"]
)
def test_methods(engine, label):
    # Alone, a metric goes the shortest way: only the columns and the rows that it needs.
    rows, asked = rows_of("graded"), {"by": ["user", "day"]}
    metric = oracle.parse(label)
    options = {name: OPTIONS[name](value) for name, value in metric.options.items()}
    wanted = oracle.evaluate(rows, [label], **asked)[()][label]
    cut = () if metric.k is None else (metric.k,)
    found = engine.ask(engine.frame(rows), metric.name, *cut, **options, **asked)
    assert same(found, wanted), f"{label}: {found} instead of {wanted}"
    assert same(engine.ask(engine.frame(rows), "measure", label, **asked), wanted)


@pytest.mark.parametrize(
    "label", ["precision(denominator=list)@2", "map@2", "ndcg@2", "ndcg(ideal=ones)", "hit_rate@2", "r_precision"]
)
def test_methods_on_ranks_with_gaps(engine, label):
    # Alone, a metric sees few rows; N counts the ranked ones past the cutoff too.
    rows = rows_of("ranks")
    wanted = oracle.evaluate(rows, [label], rank="rank", per="user")
    assert_equal(engine.ask(engine.frame(rows), "measure", label, rank="rank", per="user"), wanted, ["user"])


def test_functions_as_discounts(engine):
    def inverse_square(position):
        return position**-2.0

    rows, by = rows_of("graded"), ["user", "day"]
    asked = [
        metrics.NDCG(k=k, discount=inverse_square, ideal=ideal)
        for k in (2, None)
        for ideal in ("all", "ranked", "ones")
    ]
    asked += [metrics.DCG(k=3, discount=inverse_square, gain="exp2")]
    labels = [str(metric) for metric in asked]
    assert "ndcg(discount=inverse_square,ideal=ones)@2" in labels
    found = engine.ask(engine.frame(rows), "evaluate", asked, by=by, per=by)
    assert_equal(found, oracle.evaluate(rows, labels, by=by, per=by), by)


def test_names_without_a_cutoff_get_each_of_k(engine):
    rows, by = rows_of("graded"), ["user", "day"]
    found = engine.ask(engine.frame(rows), "evaluate", ["ndcg", "map@3", "hit_rate"], k=[1, 5], by=by)
    labels = ["ndcg@1", "ndcg@5", "map@3", "hit_rate@1", "hit_rate@5"]
    assert list(found[0]) == labels
    assert_equal(found, oracle.evaluate(rows, labels, by=by), [])


# --- several models ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("ties", ["average", "worst", "item"])
def test_models_side_by_side(engine, ties):
    rows = [{**row, "other": -row["relevant"] if row["relevant"] else row["score"]} for row in crowd(9, 150)]
    some, by = engine.some(METRICS[::9]), ["user", "day"]
    wanted = {
        (name, *key): values
        for name in ("score", "other")
        for key, values in oracle.evaluate(rows, some, by=by, per=by, ties=ties, score=name).items()
    }
    found = engine.ask(engine.frame(rows), "evaluate", some, by=by, per=by, ties=ties, score=["score", "other"])
    assert list(found[0]) == ["model", *by, *some]
    assert_equal(found, wanted, ["model", *by])


@pytest.mark.parametrize("undefined", ["skip", 0.25])
@pytest.mark.parametrize("per", [None, "day", ["user", "day"]])
def test_models_below_each_other(engine, per, undefined):
    # Not every model serves every list, and a list counts for all models if one of them shows a relevant row.
    rows = [
        {**row, "model": name}
        for seed, name in enumerate(["b", "a", "c"])
        for row in crowd(10 + seed, 60, relevance=(0, 0, 1, 2))
        if (row["user"] or 0) % 3 != seed
    ]
    some, asked = (
        engine.some(METRICS[::9]),
        {"by": ["user", "day"], "per": per, "undefined": undefined, "model": "model"},
    )
    found = engine.ask(engine.frame(rows), "evaluate", some, **asked)
    assert_equal(found, oracle.evaluate(rows, some, **asked), ["model", *oracle.names(per)])


# --- odd shapes -------------------------------------------------------------------------------------------

SOME = [
    "r_precision", "precision@2", "precision(denominator=list)@3", "recall(capped=True)@2", "f1", "f1@2", "hit_rate@1",
    "hit_rate", "mrr", "mrr@2", "map", "map@2", "map(norm=hits)@2", "dcg(gain=exp2)@2", "ndcg", "ndcg@2",
    "ndcg(ideal=ranked)@3", "ndcg(ideal=ones)", "ndcg(gain=exp2,discount=jarvelin)@3", "rbp(p=0.5)@4",
]  # fmt: skip


@examples(40)
@given(
    rows=frames(),
    by=st.sampled_from(["user", ["user", "day"], None]),
    lists=st.booleans(),
    ties=st.sampled_from(POLICIES),
    min_relevance=st.sampled_from([None, None, 1, 0.5]),
    undefined=st.sampled_from(["skip", "skip", 0.0]),
)
def test_small_frames(engine, rows, by, lists, ties, min_relevance, undefined):
    if not engine.takes(rows, by, ties):
        return
    if ties == "first" and engine.lazy:
        ties = "average"
    asked = {
        "by": by,
        "ties": ties,
        "min_relevance": min_relevance,
        "undefined": undefined,
        "per": by if lists else None,
    }
    found = engine.ask(engine.frame(rows), "evaluate", SOME, **asked)
    assert_equal(found, oracle.evaluate(rows, SOME, **asked), list(oracle.names(asked["per"])))


# --- large tied blocks ------------------------------------------------------------------------------------

LARGE = [(2000, 37, 0), (2000, 1, 5), (500, 499, 3), (1000, 1000, 0), (3000, 2, 1)]


@pytest.mark.parametrize(("size", "hits", "before"), LARGE)
@pytest.mark.parametrize("k", [1, 10, 1200, None])
def test_large_blocks(engine, size, hits, before, k):
    # Too many orders to try: McSherry and Najork's closed forms, in exact fractions.
    rows = [{"user": 0, "item": i, "relevant": 0, "score": 2} for i in range(before)]
    rows += [{"user": 0, "item": before + i, "relevant": int(i < hits), "score": 1} for i in range(size)]
    last = before + size if k is None else min(k, before + size)
    inside = max(0, last - before)
    first = [Fraction(math.comb(size - j, hits - 1), math.comb(size, hits)) for j in range(1, inside + 1)]
    wanted = {
        "hit_rate": 1 - Fraction(math.comb(size - hits, inside), math.comb(size, inside)),
        "mrr": sum(chance / (before + j) for j, chance in enumerate(first, 1)),
        "recall": Fraction(inside, size),
        "map": sum(
            Fraction(hits, size) * (1 + Fraction((j - 1) * (hits - 1), max(1, size - 1))) / (before + j)
            for j in range(1, inside + 1)
        ) / (hits if k is None else min(hits, k)),
        "dcg": Fraction(hits, size) * Fraction(math.fsum(1 / math.log2(before + j + 1) for j in range(1, inside + 1))),
    }  # fmt: skip
    labels = [spelled(name, k) for name in wanted]
    ((*found,),) = (row.values() for row in engine.ask(engine.frame(rows), "evaluate", labels))
    for label, value, exact in zip(labels, found, wanted.values(), strict=True):
        assert same(value, float(exact)), f"{label}: {value} instead of {float(exact)}"
