"""Every public call on the smallest frames: it answers, as all engines do, or raises a `RecError`.

test_empty_frames.py has the answers of metrics written down.
"""

from __future__ import annotations

import inspect
import math
from functools import cache

import pytest

import recframe
from engines import ENGINES
from recframe._display.plot import Plot
from recframe.metrics import METRICS

KINDS = {
    "user": "int64", "item": "str", "score": "float64", "other": "float64", "relevant": "int64", "price": "float64",
    "day": "int64",
}  # fmt: skip
ROWS = {
    "user": [1, 1, 2, 2],
    "item": ["a", "b", "a", "c"],
    "score": [2.0, 1.0, 2.0, 1.0],
    "other": [1.0, 2.0, 1.0, 1.0],
    "relevant": [1, 0, 0, 1],
    "price": [1.0, 2.0, 1.0, 3.0],
    "day": [1, 2, 3, 4],
}
TRUTH = {"user": [1, 1], "item": ["a", "b"], "relevant": [1, 0], "price": [1.0, 2.0]}


def first(data, rows):
    return {name: values[:rows] for name, values in data.items()}


FIRST_ENGINE = next(iter(ENGINES.values())).engine
FRAMES = {
    "no rows": first(ROWS, 0),
    "one row": first(ROWS, 1),
    "one list": first(ROWS, 2),
    "only the key": {"user": [1, 1, 2]},
    "only the key, no rows": {"user": []},
}
TRUTHS = {"no truth": None, "a truth without rows": first(TRUTH, 0), "a truth": TRUTH}
BOTH = {"score": ["score", "other"]}
CALLS = {
    "evaluate": [(["ndcg", "coverage"], [1, 2]), {"counts": True}, {**BOTH, "per": "user"}],
    "contributions": [("ndcg", 2), {}],
    "check": [(2,), {}],
    "compare": [
        ("ndcg", 2), BOTH, {**BOTH, "per": "user"}, {"model": "item"},
        *({**BOTH, "test": test, "resamples": 100} for test in ("bootstrap", "randomization", "wilcoxon")),
    ],
    "rank_models": [("ndcg", 2), BOTH, {**BOTH, "per": "user"}, {"model": "item"}],
    "sample_size": [("ndcg", 2), *({**BOTH, "difference": 0.1, **more} for more in ({}, {"per": "user"}))],
    "describe": [("ndcg", 2), {}, {"per": "user"}],
    "estimate_with_judge": [("ndcg", 2), {}, {"per": "user"}],
    "bounds": [("ndcg", 2), {}, BOTH, {"per": "user"}],
    "exposure": [(2,), {}, {**BOTH, "target": "relevant"}, {"model": "day", "group": "price"}],
    "changes": [("ndcg", 2), BOTH, {**BOTH, "items": False, "most": None}],
    "state": [("ndcg", 2), {}, {**BOTH, "per": "user"}],
    "agreement": [(2,), BOTH, {"model": "day"}],
    "fuse": [
        (), BOTH, {**BOTH, "method": "sum", "normalize": "zscore"},
        {**BOTH, "method": "median", "normalize": "min-max"},
    ],
    "tune_fusion": [("ndcg", 2), *({**BOTH, "folds": folds, "grid": {"k": [1, 60]}, "methods": "rrf"} for folds in (2, 5))],
    "top": [(1,), {}],
    "to_lists": [(1,), {}],
    "split": [(), {"last": 1, "time": "day"}, {"fraction": 0.5}],
    "add_random": [(), {}],
    "label": [(), {}],
    "add_popular": [(), {}],
    "add_propensity": [(), {"least": 0.5}],
    "position_bias": [(), {"rank": "day"}],
}  # fmt: skip
"""Positional arguments, and the keyword arguments of each try."""
TRUTH_BY_POSITION = ("label", "add_popular", "add_propensity")
WITHOUT_TRUTH = ("agreement", "fuse", "top", "to_lists", "split", "add_random", "position_bias")
WITH_ROWS = (
    *("fuse", "top", "to_lists", "split", "add_random", "label", "add_popular", "add_propensity", "position_bias"),
)
FUNCTIONS = {
    "candidates": lambda frame, _: recframe.candidates(frame, frame),
    "forest": lambda frame, side: recframe.forest(recframe.rec(frame).compare("ndcg", 2, **BOTH, **side)),
    "from_dict": lambda frame, _: recframe.from_dict({}, library=type(frame).__module__.split(".")[0]),
    "from_factors": lambda *_: recframe.from_factors([], [], k=1, users=[], items=[]),
    "from_lists": lambda *_: recframe.from_lists([], []),
    "merge_states": lambda frame, side: recframe.merge_states(recframe.rec(frame).state("ndcg", 2, **side)).evaluate(),
    "require": lambda frame, side: recframe.require(recframe.rec(frame).evaluate("ndcg", 2, **side), 0.1),
    "table": lambda frame, side: recframe.table(recframe.rec(frame).evaluate("ndcg", 2, **BOTH, per="user", **side)),
    "to_dict": lambda frame, _: recframe.to_dict(frame),
    "write_run": lambda frame, _: recframe.write_run(frame, "out.run"),
}
CHARTS = {
    "curve": ("ndcg", {"k": [1, 2]}),
    "distribution": ("ndcg", {"k": 2}),
    "differences": ("ndcg", {"k": 2, **BOTH}),
    "segments": ("ndcg", {"k": 2, "per": "user"}),
    "trend": ("ndcg", {"k": 2, "per": "user"}),
    "ranks": ("ndcg@2", BOTH),
    "power": ("ndcg@2", {"difference": 0.1, **BOTH}),
    "tradeoff": ("ndcg@2", {"y": "coverage@2", **BOTH}),
}


try:
    from polars import LazyFrame

    NAMES_ROLES_LATER = hasattr(LazyFrame, "pipe_with_schema")
except ImportError:
    NAMES_ROLES_LATER = True
"""Whether a lazy polars frame raises a `RecError` for a missing column when it is collected."""


def made(engine, data):
    return engine.frame(data, {name: KINDS[name] for name in data})


def plain(rows):
    """Return rows in an order that no engine chooses, with numbers that compare."""
    rounded = [
        {name: round(value, 9) if isinstance(value, float) else value for name, value in row.items()} for row in rows
    ]
    return sorted(rounded, key=str)


def answer(engine, method, data, truth, args, given):
    """Return what a call answers, or that it raises a `RecError`."""
    frame = made(engine, data)
    if truth is not None:
        truth = made(engine, truth)
        args, given = ((truth, *args), given) if method in TRUTH_BY_POSITION else (args, {**given, "truth": truth})
    if method == "estimate_with_judge":
        others = {name: [9 if name == "user" else value for value in values] for name, values in TRUTH.items()}
        given = {**given, "judge": made(engine, {name: [*values, *others[name]] for name, values in TRUTH.items()})}
    try:
        if method not in WITH_ROWS:
            result = engine.ask(frame, method, *args, **given)
            return ("nan" if math.isnan(result) else result) if isinstance(result, float) else plain(result)
        with engine.running():
            result = getattr(recframe.rec(frame), method)(*args, **given)
            parts = result if isinstance(result, tuple) else (result,)
            return [plain(engine.rows(part)) for part in parts]
    except recframe.RecError:
        return "RecError"


@cache
def first_answer(method, frame, truth, number):
    """Return what the first engine answers to one of the tries of a call."""
    args, *each = CALLS[method]
    return answer(FIRST_ENGINE, method, FRAMES[frame], TRUTHS[truth], args, each[number])


@pytest.mark.filterwarnings("ignore::recframe.RecWarning")
@pytest.mark.parametrize("method", CALLS)
def test_engines_give_the_same_answer_or_refuse(engine, method):
    if method in ("compare", "rank_models", "sample_size", "describe", "estimate_with_judge", "bounds", "state"):
        pytest.importorskip("scipy")
    if method in WITH_ROWS and not engine.answers_with_rows:
        pytest.skip("answers of rows are for other engines")
    args, *each = CALLS[method]
    cases = [(frame, truth) for frame in FRAMES for truth in TRUTHS]
    if method in WITHOUT_TRUTH:
        cases = [(frame, truth) for frame, truth in cases if TRUTHS[truth] is None]
    elif method in TRUTH_BY_POSITION:
        cases = [(frame, truth) for frame, truth in cases if TRUTHS[truth] is not None]
    if engine.postpones and not NAMES_ROLES_LATER:
        cases = [(frame, truth) for frame, truth in cases if "score" in FRAMES[frame]]
    for frame, truth in cases:
        for number, given in enumerate(each):
            result = answer(engine, method, FRAMES[frame], TRUTHS[truth], args, given)
            if engine is not FIRST_ENGINE:
                assert result == first_answer(method, frame, truth, number), (frame, truth, given)
            elif "score" not in FRAMES[frame] and method not in ("split", "add_random", "label", *TRUTH_BY_POSITION):
                assert result == "RecError", (frame, truth, given)


def test_every_public_call_is_tried():
    methods = {name for name, _ in inspect.getmembers(recframe.EagerRec) if not name.startswith("_")}
    # The metrics' own methods: test_every_method_answers_as_evaluate_does.
    assert methods - {*METRICS} == {*CALLS} | {"plot", "report"}
    assert {name for name, _ in inspect.getmembers(Plot, callable) if not name.startswith("_")} == {*CHARTS}
    functions = {name for name in recframe.__all__ if inspect.isfunction(getattr(recframe, name))}
    # These read no frame, but files, arrays or names of tables; test_files.py and test_training.py have empty ones.
    others = {"rec", "explain", "read_run", "read_qrels", "from_arrays", "feval", "scorer", "sql"}
    assert functions - {*FUNCTIONS} == others


def refused_by(call, frames=("no rows", "one row", "only the key"), truths=("no truth",)):
    """Make a call with each pair of frames, and return the names of those that it refuses."""
    polars = pytest.importorskip("polars")
    refused = set()
    for name in frames:
        for truth in map(TRUTHS.get, truths):
            side = {} if truth is None else {"truth": polars.DataFrame(truth, schema_overrides=schema(polars))}
            try:
                call(polars.DataFrame(FRAMES[name], schema_overrides=schema(polars)), side)
            except recframe.RecError:
                refused.add(name)
    return refused


def schema(polars):
    types = {"int64": polars.Int64, "float64": polars.Float64, "str": polars.String}
    return {name: types[kind] for name, kind in KINDS.items()}


@pytest.mark.filterwarnings("ignore::recframe.RecWarning")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_answer_or_refuse(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some calls write files
    refused = refused_by(FUNCTIONS[name], FRAMES, TRUTHS)
    assert refused >= ({"only the key"} if name != "from_dict" else set())


@pytest.mark.filterwarnings("ignore::recframe.RecWarning")
@pytest.mark.parametrize("name", CHARTS)
def test_charts_answer_or_refuse(name):
    pytest.importorskip("altair")
    pytest.importorskip("scipy")
    metric, given = CHARTS[name]
    refused = refused_by(lambda frame, side: getattr(recframe.rec(frame).plot, name)(metric, **given, **side))
    assert refused >= {"only the key"}


@pytest.mark.slow  # drawing its charts takes seconds
@pytest.mark.filterwarnings("ignore::recframe.RecWarning")
def test_reports_answer_or_refuse(tmp_path):
    pytest.importorskip("vl_convert")
    pytest.importorskip("scipy")
    path = tmp_path / "report.html"

    def report(frame, side):
        recframe.rec(frame).report(path, "ndcg", 2, **side)

    assert refused_by(report, ["no rows", "only the key"]) == {"only the key"}
    assert "ndcg@2" in path.read_text(encoding="utf-8")
