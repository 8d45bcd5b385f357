"""Do verdict, p-value, interval, margin and gate of `compare` ever contradict each other? Random calls on edge data.

The suite makes a few of the calls. ``python tests/_inference/comparison/test_random_calls.py 5000`` makes 5,000 and
prints what they find.
"""

import math
import sys
import traceback
import warnings

import numpy as np
import pytest

pytest.importorskip("scipy")
pytest.importorskip("polars")
pytest.importorskip("pandas")
import pandas as pd
import polars as pl

import recframe
from recframe import InputError, OptionError, ThresholdError

CALLS, PARTS = 150, 5
METRICS = ["ndcg@3", "mrr", "hit_rate@1", "precision@2", "recall@2", "map", "dcg@2", "first_rank@3", "gauc"]
SIMULTANEOUS = ("maxt", "romano-wolf", "dunnett")
MEETS = {"better": {"better"}, "not worse": {"better", "equivalent", "not worse"}}
TYPES = dict.fromkeys(["a", "b", "c", "score", "weight"], pl.Float64)
NEAR = 1e-9
"""Numbers that are so close to a limit may be on either side of it, by rounding."""


def drawn_rows(random):
    """Return rows of few lists with ties, constant values, zeros and missing scores, of models in columns."""
    lists = int(random.choice([1, 2, 3, 4, 6, 10, 25, 60], p=[0.05, 0.08, 0.1, 0.1, 0.17, 0.2, 0.2, 0.1]))
    kind = random.choice(["noise", "ties", "few changes", "equal gains", "same"])
    graded = random.random() < 0.3
    rows = []
    for number in range(lists):
        length = 4 if kind == "equal gains" else int(random.integers(1, 6))
        weight = float(random.choice([0, 1, 1, 2, 7]))
        relevant = random.random(length) < random.choice([0.1, 0.4, 0.9])
        for item in range(length):
            base = float(random.integers(0, 3) if kind == "ties" else random.random())
            hit = item == 0 if kind == "equal gains" else bool(relevant[item])
            row = {"user": number, "item": item, "relevant": int(hit) * (int(random.integers(1, 4)) if graded else 1)}
            for model, shift in (("a", 0.0), ("b", 0.4), ("c", -0.2)):
                score = base + shift * hit + 0.5 * random.random() * (kind == "noise")
                if kind == "few changes" and model != "a" and random.random() < 0.03:
                    score = -score
                if kind == "equal gains":
                    score = float(hit) if model == "b" else -float(hit)
                row[model] = None if random.random() < 0.02 else score
            rows.append({**row, "weight": weight, "group": number % 3, "half": number % 2})
    return rows


def drawn_options(random):
    """Return the metrics and the options of a call."""
    metrics = [str(name) for name in random.choice(METRICS, int(random.integers(1, 4)), replace=False)]
    options = {
        "test": random.choice(["t", "t", "t", "randomization", "bootstrap", "wilcoxon", "anytime", "anytime-bounded"]),
        "correction": random.choice(["holm", "holm", "none", "none", "bonferroni", "bh", *SIMULTANEOUS]),
        "confidence": random.choice([0.8, 0.9, 0.95, 0.95, 0.99]),
        "margin": [None, 0.001, 0.05, 0.3, 0.9, "5%", "60%", {metrics[0]: 0.1}][random.integers(8)],
        "baseline": [None, "a", "b", "chance"][random.choice(4, p=[0.4, 0.4, 0.1, 0.1])],
        "undefined": ["skip", 0.0][random.integers(2)],
        "relative": bool(random.random() < 0.2),
        "planned": int(random.choice([10, 10_000])),
    }
    for name, column, share in (("weight", "weight", 0.15), ("cluster", "group", 0.15), ("per", "half", 0.2)):
        if random.random() < share:
            options[name] = column
    if random.random() < 0.15:
        options = {**options, "strata": "half", "test": "t", "weight": None, "cluster": None, "per": None}
    options = {name: value.item() if hasattr(value, "item") else value for name, value in options.items()}
    return without_refused(metrics, options)


def without_refused(metrics, options):
    """Return metrics and options without most of what does not go together, so that few calls are refused."""
    if options["test"] == "wilcoxon":
        options |= {"margin": None, "weight": None, "cluster": None}
    if options["test"] == "anytime-bounded":
        options |= {"weight": None, "cluster": None}
        options["margin"] = None if isinstance(options["margin"], str) else options["margin"]
    if options["test"] in ("wilcoxon", "anytime", "anytime-bounded") or options.get("strata"):
        options["correction"] = "holm" if options["correction"] in SIMULTANEOUS else options["correction"]
    if options["correction"] == "dunnett":
        options |= {"test": "t", "baseline": "a"}
    if options["test"] not in ("t", "anytime") or options["correction"] in SIMULTANEOUS:
        options["relative"] = False
    if options["test"] in ("wilcoxon", "anytime-bounded") or options.get("strata"):
        metrics = [name for name in metrics if name not in ("gauc", "dcg@2")] or ["mrr"]
    if isinstance(options["margin"], dict):
        options["margin"] = {metrics[0]: 0.1}
    if options["margin"] is not None and "first_rank@3" in metrics and isinstance(options["margin"], float):
        options["margin"] *= 0.5
    return metrics, {
        name: value for name, value in options.items() if value is not None or name in ("margin", "baseline")
    }


def in_runs(random, rows):
    """Return rows of models in rows, with a column of runs whose scores differ a little."""
    counts = {model: int(random.integers(1, 4)) for model in "abc"}
    noise = float(random.choice([0, 0.3]))
    return [
        {**{name: row[name] for name in ("user", "item", "relevant")}, "model": model, "seed": seed,
         "score": None if row[model] is None else row[model] + noise * random.random()}
        for model, count in counts.items() for seed in range(count) for row in rows
    ]  # fmt: skip


def answer(frame, metrics, options):
    """Return the rows of a call and its result; NaN is missing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = recframe.rec(frame).compare(metrics, resamples=200, details=True, **options)
        result = result.collect() if isinstance(result, pl.LazyFrame) else result
    rows = result.rows(named=True) if isinstance(result, pl.DataFrame) else result.to_dict("records")
    return result, [{name: None if is_nan(value) else value for name, value in row.items()} for row in rows]


def is_nan(value):
    return isinstance(value, float) and math.isnan(value)


def contradictions(row, options):
    """Yield what contradicts itself in one row of a result."""
    level, p, adjusted = 1 - options["confidence"], row["p"], row["p_adjusted"]
    upwards = not row["metric"].startswith("first_rank")
    low, high, difference, verdict = row["low"], row["high"], row["difference"], row["verdict"]
    favourable = difference is not None and (difference > 0 if upwards else difference < 0)
    if p is None:
        if adjusted is not None or verdict != "open":
            yield "a verdict without a p-value"
        return
    if not 0 <= p <= 1 + NEAR or not p - NEAR <= adjusted <= 1 + NEAR:
        yield "p-values out of order"
    if abs(difference - (row["mean"] - row["baseline_mean"])) > NEAR * max(1, abs(row["mean"])):
        yield "the difference is not the difference of the means"
    if row["wins"] + row["ties"] + row["losses"] != row["lists"]:
        yield "lists are lost"
    if low is not None and not low - NEAR <= difference <= high + NEAR:
        yield "the interval does not hold the difference"
    decides = adjusted if options["correction"] in SIMULTANEOUS else p
    is_certain = low is not None and abs(decides - level) > NEAR and min(abs(low), abs(high)) > NEAR
    if is_certain and (low > 0 or high < 0) != (decides < level):
        yield "interval and p-value"
    if abs(adjusted - level) > NEAR and options["test"] != "wilcoxon":
        if (verdict == "better") != (adjusted < level and favourable):
            yield "verdict and p-value"
        if verdict == "worse" and not (adjusted < level and not favourable):
            yield "worse without a p-value"
        if verdict == "open" and adjusted < level and difference != 0:
            yield "open with a p-value"
    at_margin = row["p_margin"]
    if at_margin is None and verdict in ("equivalent", "not worse"):
        yield "a verdict by a margin that is not there"
    if at_margin is not None and abs(at_margin - level) > NEAR:
        if verdict in ("equivalent", "not worse") and at_margin > level:
            yield "verdict and p_margin"
        if verdict == "open" and at_margin < level:
            yield "open although the margin is ruled out"
        margin = options["margin"]
        margin = margin[row["metric"]] if isinstance(margin, dict) else margin
        if options["correction"] == "none" and isinstance(margin, float) and low is not None:
            loss = low if upwards else -high
            has_spread = row["effect"] is not None and row["detectable"] is not None
            if abs(loss + margin) > NEAR and (loss > -margin) != (at_margin < level) and has_spread:
                yield "interval and margin"
    if "relative_low" in row and row["relative_low"] is not None:
        if not row["relative_low"] - NEAR <= row["relative"] <= row["relative_high"] + NEAR:
            yield "the relative interval does not hold the relative difference"
        excludes = row["relative_low"] > NEAR or row["relative_high"] < -NEAR
        if abs(p - level) > NEAR and row["baseline_mean"] > 0 and excludes and p > level:
            yield "relative interval and p-value"


def passes(result, demand):
    """Return whether a gate lets a result pass."""
    try:
        recframe.require(result, verdict=demand)
    except ThresholdError:
        return False
    return True


def gate_contradictions(result, rows, options):
    """Yield where a gate contradicts the rows that it judges."""
    level = 1 - options["confidence"]
    for demand, verdicts in MEETS.items():
        let_pass = passes(result, demand)
        meets = all(row["verdict"] in verdicts for row in rows)
        if meets and not let_pass:
            yield f"the gate {demand!r} stops although all verdicts meet it"
        # With a correction for rows, a loss may be found while that it is below the margin is left to the gate.
        is_left_open = demand == "not worse" and options["correction"] != "none"
        if let_pass and any(row["verdict"] == "worse" and not (is_left_open and row["p_margin"]) for row in rows):
            yield f"the gate {demand!r} lets a model pass that is worse"
        if let_pass and any(row["p"] is None for row in rows):
            yield f"the gate {demand!r} lets a row without a p-value pass"
        if let_pass != meets and options["correction"] == "none" and options["test"] != "wilcoxon":
            # Without a correction, each row is decided by itself.
            claims = [row["p"] for row in rows if row["p"] is not None] + [row["p_margin"] or 1.0 for row in rows]
            if all(abs(p - level) > NEAR for p in claims):
                yield f"the gate {demand!r} and the verdicts"


def same(found, expected):
    """Return whether two rows are the same but for rounding."""
    return found.keys() == expected.keys() and all(
        value == expected[name]
        or (isinstance(value, float) and isinstance(expected[name], float | int)
            and math.isclose(value, expected[name], rel_tol=1e-7, abs_tol=1e-9))
        for name, value in found.items()
    )  # fmt: skip


def has_states(options):
    """Return whether states answer a call with these options."""
    margin = options["margin"]
    return (
        options.get("test", "t") in ("t", "anytime", "anytime-bounded")
        and options["correction"] not in SIMULTANEOUS
        and not isinstance(margin, str)
        and not options.get("relative")
        and options["baseline"] != "chance"
    )


def answer_of_states(rows, metrics, options):
    """Return the rows of a call on merged states of parts of the lists."""
    asked = ("test", "correction", "confidence", "margin", "baseline", "planned", "strata")
    roles = {name: value for name, value in options.items() if name not in (*asked, "relative")}
    roles |= {"per": options["strata"]} if "strata" in options else {}
    parts = [[row for row in rows if row["user"] % 3 == part] for part in range(3)]
    frames = [pl.DataFrame(part, schema_overrides=TYPES, infer_schema_length=None) for part in parts if part]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        merged = recframe.merge_states([frame.rec.state(metrics, **roles) for frame in frames])
        given = {name: options[name] for name in asked if name in options}
        result = merged.compare(details=True, **given)
    return [{name: None if is_nan(value) else value for name, value in row.items()} for row in result.to_dicts()]


def states_contradict(rows, metrics, options, found):
    """Yield where merged states give other numbers than the call on all rows."""
    states = answer_of_states(rows, metrics, options)
    if len(states) != len(found):
        yield f"{len(states)} rows of states instead of {len(found)}"
        return
    for row, other in zip(found, states, strict=True):
        if not same({name: row[name] for name in other}, other):
            yield f"other numbers of states: {other} instead of {row}"


def weaker_with_a_larger_margin(frame, metrics, options, rows):
    """Yield rows whose verdict gets weaker if the margin is twice as large, without a correction."""
    order = {"open": 0, "worse": 0, "not worse": 1, "equivalent": 1, "better": 1}
    _, larger = answer(frame, metrics, {**options, "margin": 2 * options["margin"]})
    for row, other in zip(rows, larger, strict=True):
        if order[other["verdict"]] < order[row["verdict"]]:
            yield f"a larger margin turns {row['verdict']} into {other['verdict']}"


def examine(number):
    """Make a call and return its text with everything that is wrong with it; None if the call is refused."""
    random = np.random.default_rng(number)
    rows, (metrics, options) = drawn_rows(random), drawn_options(random)
    if random.random() < 0.2:
        rows, given = in_runs(random, rows), {"model": "model", "runs": "seed", "test": "t", "relative": False}
        options = {
            name: options[name] for name in ("confidence", "correction", "margin", "undefined", "baseline")
        } | given
        options["correction"] = "holm" if options["correction"] in SIMULTANEOUS else options["correction"]
        options["baseline"] = None if options["baseline"] == "chance" else options["baseline"]
        metrics = [name for name in metrics if name != "gauc"] or ["mrr"]
    else:
        options["score"] = ["a", "b", "c"][: int(random.integers(2, 4))]
    frame = pl.DataFrame(rows, infer_schema_length=None)
    text = f"call {number}: {metrics}, {options}"
    try:
        result, actual = answer(frame, metrics, options)
    except (OptionError, InputError):
        return None
    wrong = [f"{what}: {row}" for row in actual for what in contradictions(row, options)]
    wrong += gate_contradictions(result, actual, options)
    other = frame.lazy() if number % 2 else pd.DataFrame(rows)
    _, again = answer(other, metrics, options)
    if len(again) != len(actual) or not all(map(same, again, actual)):
        wrong.append(f"other numbers on {type(other)}: {actual} and {again}")
    if has_states(options) and number % 2:
        wrong += states_contradict(rows, metrics, options, actual)
    margin = options["margin"]
    if isinstance(margin, float) and margin < 0.4 and options["correction"] == "none" and number % 3 == 0:
        wrong += weaker_with_a_larger_margin(frame, metrics, options, actual)
    return text, wrong


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_nothing_contradicts_itself(part):
    examined = [examine(number) for number in range(part, CALLS, PARTS)]
    assert len([one for one in examined if one is not None]) > CALLS / PARTS / 3
    wrong = [(text, what) for one in examined if one is not None for text, result in [one] for what in result]
    assert not wrong


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"verdict": "open"}, "verdict and p-value"), ({"verdict": "worse"}, "verdict and p-value"),
        ({"low": -0.01}, "interval and p-value"), ({"p": 0.06, "p_adjusted": 0.06}, "interval and p-value"),
        ({"p_margin": 0.06}, "interval and margin"), ({"p_adjusted": 0.001}, "p-values out of order"),
        ({"p": None}, "a verdict without a p-value"), ({"losses": 0}, "lists are lost"),
        ({"mean": 0.6}, "the difference is not the difference of the means"), ({}, None),
    ],
)  # fmt: skip
def test_contradictions_are_noticed(change, what):
    options = {"confidence": 0.95, "correction": "none", "margin": 0.01, "test": "t"}
    row = {
        "metric": "mrr", "difference": 0.2, "mean": 0.7, "baseline_mean": 0.5, "low": 0.1, "high": 0.3, "p": 0.002,
        "p_adjusted": 0.002, "p_margin": 0.001, "verdict": "better", "wins": 5, "ties": 2, "losses": 1, "lists": 8,
        "effect": 1.0, "detectable": 0.1,
    }  # fmt: skip
    result = [*contradictions({**row, **change}, options)]
    assert what in result if what else not result


def main(calls, first=0):
    """Make calls and print what is wrong with them."""
    examined = refused = contradicted = 0
    for number in range(first, first + calls):
        try:
            one = examine(number)
        except Exception:  # noqa: BLE001 - a crash is a finding too
            one = f"call {number}", [traceback.format_exc()]
        refused += one is None
        examined += one is not None
        if one is not None and one[1]:
            contradicted += 1
            sys.stdout.write("\n".join([one[0], *(f"    {what}" for what in one[1])]) + "\n")
            sys.stdout.flush()
    sys.stdout.write(f"{examined} calls, {refused} refused, {contradicted} contradict themselves\n")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
