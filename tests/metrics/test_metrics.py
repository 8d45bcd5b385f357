"""Every metric, option, cutoff and tie policy equals its oracle, on every engine.

`test_metric_equals_its_oracle` tests each metric of the library; the rest is for those of accuracy, on lists by
the hundred. What is particular to a family is in ``test_metrics_<family>.py``.
"""

from __future__ import annotations

from ast import literal_eval
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
from compare import assert_equal, assert_oracle, same, skip_row_order
from recframe import metrics
from recframe.metrics._options import options_of
from spellings import POLICIES, SOME, SPELLED, cutoffs_of, spellings_of
from strategies import BINARY, GRADED, crowd, examples, frames, ranked_crowd, shop

# --- each metric of the library -----------------------------------------------------------------------------


def test_every_metric_has_an_oracle():
    missing, strange = metrics.METRICS.keys() - oracle.ORACLES.keys(), oracle.ORACLES.keys() - metrics.METRICS.keys()
    assert not missing, (
        f"{', '.join(sorted(missing))}: write the definition of one list in plain Python, a function of (metric, case, ties), "
        "in the file of its family in tests/oracle/, and enter it in ORACLES of tests/oracle/__init__.py"
    )
    assert not strange, f"ORACLES has {', '.join(sorted(strange))}, which recframe.metrics.METRICS has not"


@pytest.mark.parametrize("name", metrics.METRICS)
def test_metric_equals_its_oracle(engine, name):
    if name in oracle.ORACLES:  # else the test above fails
        assert_oracle(engine, shop(name, 30, side=True), spellings_of(name, (1, 3, None)))


def metrics_under(scenario: str, ties: str) -> list[str]:
    """Return a share of the metrics, a larger one for the default policy; scenarios and policies cover all together."""
    shift = [*SCENARIOS].index(scenario) + POLICIES.index(ties)
    step = 2 if ties == "average" else 5
    return SPELLED[shift % step :: step]


# What the lists of a scenario are made of, and how they are requested about.
SCENARIOS: dict[str, tuple[Any, dict[str, Any]]] = {
    "binary": (lambda: crowd(1, 80, relevance=BINARY, missing=0.0), {"by": ["user", "day"]}),
    "graded": (lambda: crowd(2, 130, relevance=GRADED), {"by": ["user", "day"]}),
    "text keys": (lambda: crowd(3, 60, relevance=(0.0, 0.0, 0.25, 1.5), text=True), {"by": ["user", "day"]}),
    "least 2": (lambda: crowd(4, 80, relevance=GRADED), {"by": ["user", "day"], "min_relevance": 2}),
    "least -1": (lambda: crowd(5, 60, relevance=GRADED), {"by": ["user", "day"], "min_relevance": -1}),
    "ranks": (lambda: ranked_crowd(6, 80), {"by": "user", "rank": "rank"}),
    "undefined": (lambda: crowd(7, 60, relevance=(0, 0, 0, 1)), {"by": ["user", "day"], "undefined": 0.5}),
}


@cache
def rows_of(scenario: str) -> list[dict[str, Any]]:
    return SCENARIOS[scenario][0]()


@cache
def expected(scenario: str, ties: str) -> dict[Any, dict[str, float | None]]:
    """Return the oracle's values of each list, computed once for all engines."""
    requested = SCENARIOS[scenario][1]
    return oracle.evaluate(
        rows_of(scenario), metrics_under(scenario, ties), ties=ties, per=requested["by"], **requested
    )


# --- lists by the hundred ---------------------------------------------------------------------------------


@pytest.mark.parametrize("ties", POLICIES)
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_list(engine, scenario, ties):
    skip_row_order(engine, ties)
    requested = SCENARIOS[scenario][1]
    keys = list(oracle.names(requested["by"]))
    some = engine.some(metrics_under(scenario, ties), len(scenario))
    result = engine.ask(engine.frame(rows_of(scenario)), "evaluate", some, per=keys, ties=ties, **requested)
    assert list(result[0]) == [*keys, *some]
    reference = expected(scenario, ties).items()
    assert_equal(result, {key: {label: values[label] for label in some} for key, values in reference}, keys)


@pytest.mark.slow
def test_all_metrics_in_one_call(engine):
    rows, by, some = rows_of("graded"), ["user", "day"], engine.some(SPELLED)
    reference = oracle.evaluate(rows, some, by=by)
    assert_equal(engine.ask(engine.frame(rows), "evaluate", some, by=by), reference, [])


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_means_over_lists(engine, scenario):
    some, requested = metrics_under(scenario, "average")[::3], SCENARIOS[scenario][1]
    lists = expected(scenario, "average").values()
    reference = {label: oracle.mean(values[label] for values in lists) for label in some}
    result = engine.ask(engine.frame(rows_of(scenario)), "evaluate", some, **requested)
    assert_equal(result, {(): reference}, [])


@pytest.mark.parametrize("scenario", ["graded", "undefined"])
def test_means_by_one_of_the_keys(engine, scenario):
    requested = SCENARIOS[scenario][1]
    some = SPELLED[::11]
    result = engine.ask(engine.frame(rows_of(scenario)), "evaluate", some, per="day", **requested)
    assert_equal(result, oracle.evaluate(rows_of(scenario), some, per="day", **requested), ["day"])


def test_a_column_of_per_describes_lists_without_a_truth(engine):
    # Of some lists it is known in some rows only, and of others nowhere.
    rows = [
        {**row, "part": row["user"] % 3 if row["user"] and row["user"] % 4 and row["item"] else None}
        for row in crowd(8, 60)
    ]
    some = SPELLED[::11]
    result = engine.ask(engine.frame(rows), "evaluate", some, by=["user", "day"], per="part")
    assert_equal(result, oracle.evaluate(rows, some, by=["user", "day"], per="part"), ["part"])
    assert {row["part"] for row in result} == {None, 0, 1, 2}


# --- each method by itself --------------------------------------------------------------------------------

# Each option at one of the cutoffs, and a share of the combinations of options.
ALONE = [label for name in oracle.ACCURACY for label in spellings_of(name)[:: 5 if cutoffs_of(name)[1:] else 1]]
ALONE = list(dict.fromkeys([*ALONE, *SPELLED[::13]]))


def typed(metric, option, value):
    """Return an option of a name as Python has it, by the record of the metric."""
    [record] = [each for each in options_of(metrics.METRICS[metric]) if each.name == option]
    if value.startswith("{"):
        return literal_eval(value)
    kind = next((kind for kind in (bool, int, float) if kind in record.kinds and value not in record.words), str)
    return kind(value)


@pytest.mark.parametrize(
    "label", list(dict.fromkeys([*ALONE, "precision@3", "map@2", "ndcg(gain=exp2)@2", "hit_rate@1"]))
)
def test_methods(engine, label):
    # Alone, a metric goes the shortest way: only the columns and the rows that it needs.
    rows, requested = rows_of("graded"), {"by": ["user", "day"]}
    metric = oracle.parse(label)
    options = {name: typed(metric.name, name, value) for name, value in metric.options.items()}
    reference = oracle.evaluate(rows, [label], **requested)[()][label]
    cut = () if metric.k is None else (metric.k,)
    result = engine.ask(engine.frame(rows), metric.name, *cut, **options, **requested)
    assert same(result, reference), f"{label}: {result} instead of {reference}"
    assert same(engine.value(engine.frame(rows), label, **requested), reference)


@pytest.mark.parametrize(
    "label", ["precision(denominator=list)@2", "map@2", "ndcg@2", "ndcg(ideal=ones)", "hit_rate@2", "r_precision"]
)
def test_methods_on_ranks_with_gaps(engine, label):
    # Alone, a metric sees few rows; N counts the ranked ones past the cutoff too.
    rows = rows_of("ranks")
    reference = oracle.evaluate(rows, [label], rank="rank", per="user")
    assert_equal(engine.value(engine.frame(rows), label, rank="rank", per="user"), reference, ["user"])


def test_functions_as_discounts(engine):
    def inverse_square(position):
        return position**-2.0

    rows, by = rows_of("graded"), ["user", "day"]
    requested = [
        metrics.NDCG(k=k, discount=inverse_square, ideal=ideal)
        for k in (2, None)
        for ideal in ("all", "ranked", "ones")
    ]
    requested += [metrics.DCG(k=3, discount=inverse_square, gain="exp2")]
    labels = [str(metric) for metric in requested]
    assert "ndcg(discount=inverse_square,ideal=ones)@2" in labels
    result = engine.ask(engine.frame(rows), "evaluate", requested, by=by, per=by)
    assert_equal(result, oracle.evaluate(rows, labels, by=by, per=by), by)


def test_names_without_a_cutoff_get_each_of_k(engine):
    rows, by = rows_of("graded"), ["user", "day"]
    result = engine.ask(engine.frame(rows), "evaluate", ["ndcg", "map@3", "hit_rate"], k=[1, 5], by=by)
    labels = ["ndcg@1", "ndcg@5", "map@3", "hit_rate@1", "hit_rate@5"]
    assert list(result[0]) == labels
    assert_equal(result, oracle.evaluate(rows, labels, by=by), [])


# --- odd shapes -------------------------------------------------------------------------------------------


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
    some = engine.some(SOME)
    if not engine.runs(rows, by, ties):
        return
    if ties == "first" and engine.lazy:
        ties = "average"
    requested = {
        "by": by,
        "ties": ties,
        "min_relevance": min_relevance,
        "undefined": undefined,
        "per": by if lists else None,
    }
    result = engine.ask(engine.frame(rows), "evaluate", some, **requested)
    assert_equal(result, oracle.evaluate(rows, some, **requested), list(oracle.names(requested["per"])))
