"""Every argument of every public call, given what does not belong there: an answer or a `RecError`, nothing else.

Calls and arguments are read from their signatures, so that a new one is tried as soon as it exists.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import decimal
import enum
import functools
import inspect
import itertools
import math
import os
import warnings
import zlib

import pytest

import recframe
from recframe import metrics
from recframe._base.roles import ALL_ROLES
from recframe._display.plot import Plot

np = pytest.importorskip("numpy")

COLUMNS = {
    "user": [1, 1, 2, 2],
    "item": ["a", "b", "a", "c"],
    "relevant": [1, 0, 0, 1],
    "score": [0.9, 0.8, 0.4, 0.1],
    "day": [1, 2, 3, 4],
}


class Hostile:
    """Neither hashed, compared, printed nor tested for truth."""

    __hash__ = None

    def __eq__(self, other):
        msg = "not to be compared"
        raise RuntimeError(msg)

    def __repr__(self):
        msg = "not to be printed"
        raise RuntimeError(msg)

    def __bool__(self):
        msg = "neither true nor false"
        raise RuntimeError(msg)


class Colour(enum.Enum):
    RED = 1


def zoo():
    """Return what users give by mistake, by what it is."""
    result = {
        "none": None, "true": True, "zero": 0, "minus one": -1, "two": 2, "half": 0.5, "nan": math.nan, "inf": math.inf,
        "beyond int64": 2**70, "beyond float": 10**400, "beyond text": 10**5000, "complex": 1j,
        "decimal": decimal.Decimal("0.5"), "no text": "", "text": "score", "pattern": "^.*$", "star": "*",
        "unknown": "no such column", "long": "x" * 100_000, "deep": "ndcg(gain=" + "(" * 10_000, "surrogate": "\ud800",
        "null": "\0", "bytes": b"score", "empty list": [], "list": ["score"], "numbers": [1, 2], "nested": [["a"], ["b"]],
        "list of none": [None], "tuple": ("score", "day"), "tuple of numbers": (2,), "empty tuple": (), "set": {"score"},
        "frozen": frozenset({"score"}), "dict": {"score": 1}, "dict of text": {1: "a"}, "empty dict": {},
        "range": range(3), "iterator": None, "function": lambda _: "score", "raises": lambda: 1 / 0, "class": dict,
        "enumeration": Colour.RED, "date": dt.date(2024, 1, 1), "span": dt.timedelta(days=1), "array": np.arange(3),
        "table": np.ones((2, 2)), "number of NumPy": np.int64(2), "not a time": np.datetime64("NaT", "s"), "object": object(),
        "hostile": Hostile(), "hostile list": [Hostile()], "metric": metrics.NDCG(2), "metric class": metrics.NDCG,
        "endless": slice(None), "missing": ..., "module": math,
    }  # fmt: skip
    for library in ("polars", "pandas"):
        try:
            module = __import__(library)
        except ImportError:
            continue
        frame = module.DataFrame(COLUMNS)
        result |= {
            f"{library} frame": frame,
            f"{library} empty frame": frame[:0],
            f"{library} frame of no columns": module.DataFrame(),
            f"{library} series": frame["score"],
            f"{library} comparison": frame["relevant"] > 0,
            f"{library} accessor": frame.rec,
        }
        if hasattr(module, "col"):
            result |= {f"{library} column": module.col("user"), f"{library} expression": module.col("relevant") >= 1}
        if hasattr(module, "LazyFrame"):
            result["polars lazy frame"] = module.LazyFrame(COLUMNS)
        if hasattr(module, "NA"):
            result["pandas missing"] = module.NA
    nw = pytest.importorskip("narwhals")
    result |= {"narwhals column": nw.col("user"), "narwhals expression": nw.col("relevant") >= 1}
    return result


ZOO = zoo()
REQUIRED = {
    "difference": 0.1,
    "metric": "ndcg",
    "metrics": ["ndcg", "map@2"],
    "x": "ndcg@2",
    "y": "coverage@2",
    "truth": "frame",
    "judge": "judge",
    "train": "frame",
    "recommended": [["a", "b"], ["c"]],
    "users": [1, 2],
    "items": ["a", "b"],
    "user_factors": np.ones((2, 2)),
    "item_factors": np.ones((2, 2)),
    "frame": "frame",
    "result": 0.5,
    "least": 0.25,
    "path": "no such file.run",
    "lists": {"q": {"d": 1.0}},
    "relevant": [1, 0],
    "score": [0.5, 0.25],
    "table": "recs",
    "dialect": "duckdb",
}
"""What belongs in an argument that has no default."""
BESIDE = {"estimate_with_judge": {"truth": "frame"}, "bounds": {"truth": "judge"}, "split": {"fraction": 0.5}, "from_factors": {"k": 1}, "contributions": {"k": 2}, "fuse": {"score": ["score", "day"]},
          "tune_fusion": {"score": ["score", "day"], "folds": 2},
          "agreement": {"score": ["score", "day"]}, "table": {"result": "values"}, "forest": {"result": "values"}, "report": {"path": "report.html"},
          "curve": {"metrics": "ndcg", "k": [1, 2]}, "differences": {"score": ["score", "day"]}, "segments": {"per": "day"},
          "trend": {"per": "day"}}  # fmt: skip
"""What else a call cannot do without."""


def methods():
    """Return the names of the namespace's methods."""
    return [name for name, _ in inspect.getmembers(recframe.EagerRec, callable) if not name.startswith("_")]


def functions():
    """Return the names of the package's functions."""
    return [name for name in recframe.__all__ if inspect.isfunction(getattr(recframe, name))]


def arguments(call):
    """Return the arguments of a call, roles that it accepts as they come among them."""
    result = []
    for name, parameter in inspect.signature(call).parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            result += [role for role in ALL_ROLES if role not in result]
        elif name != "self" and parameter.kind is not parameter.VAR_POSITIONAL:
            result.append(name)
    return result


def needed(call, name, make):
    """Return the arguments without which a call does nothing."""
    given = {
        argument: REQUIRED[argument]
        for argument, parameter in inspect.signature(call).parameters.items()
        if parameter.default is parameter.empty
        and argument != "self"
        and parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
    }
    given |= BESIDE.get(name, {})
    for role in getattr(metrics.METRICS.get(name), "required_inputs", ()):
        given[role] = "frame"
    judge = {name: [*values, 3 if name == "user" else values[0]] for name, values in COLUMNS.items()}
    frames = {"frame": COLUMNS, "judge": judge, "values": {"model": ["old", "new"], "ndcg@2": [0.5, 0.25]}}
    return {
        argument: make(frames[value]) if isinstance(value, str) and value in frames else value
        for argument, value in given.items()
    }


def makers():
    for library, kind in (("polars", "DataFrame"), ("polars", "LazyFrame"), ("pandas", "DataFrame")):
        try:
            module = __import__(library)
        except ImportError:
            continue
        yield pytest.param(getattr(module, kind), id=f"{library} {kind}")


@pytest.fixture(params=makers())
def make(request):
    return request.param


LAZY, NAMED_BY_POLARS = (), ()
"""What older polars, which tells the types of a plan earlier, raises itself where a lazy frame lacks a column."""
with contextlib.suppress(ImportError):
    import polars as pl

    LAZY = (pl.LazyFrame,)
    if not hasattr(pl.LazyFrame, "pipe_with_schema"):
        NAMED_BY_POLARS = (pl.exceptions.ColumnNotFoundError, pl.exceptions.ComputeError)


def try_all(label, call, given, names, every=1):
    """Give each value to each argument, and return the calls that raise something else than a `RecError`.

    Of the pairs of argument and value one in `every` is tried, the same ones in each run of a call.
    """
    failed = []
    for argument, (what, value) in itertools.product(names, ZOO.items()):
        if zlib.crc32(f"{label} {argument} {what}".encode()) % every:
            continue
        value = iter(["score"]) if what == "iterator" else value  # noqa: PLW2901 - an iterator is good for once
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", recframe.RecWarning)
                answer = call(**{**given, argument: value})
                if isinstance(answer, LAZY):
                    answer.collect()
        except (recframe.RecError, *NAMED_BY_POLARS) as error:
            str(error)
        except BaseException as error:  # noqa: BLE001
            failed.append(f"{argument}={what}: {type(error).__name__}: {str(error)[:150]}")
    return failed


EVERY = int(os.environ.get("RECFRAME_EVERY", "24"))
"""Of pairs of argument and value, every how manieth is tried with ``--all``; RECFRAME_EVERY=1 tries each, for an hour."""


@pytest.fixture(params=[pytest.param(EVERY, id="more", marks=pytest.mark.slow), pytest.param(96, id="some")])
def every(request):
    return request.param


@pytest.mark.parametrize("name", methods())
def test_methods(make, name, every, tmp_path, monkeypatch):
    if name == "report":
        pytest.importorskip("vl_convert")
        every *= 24  # it draws charts, and shares its checks with `compare` and `describe`
    monkeypatch.chdir(tmp_path)  # some calls write files
    method = getattr(recframe.EagerRec, name)
    call = getattr(recframe.rec(make(COLUMNS)), name)
    names = arguments(method)
    own = [argument for argument in names if argument not in ALL_ROLES]
    # The methods of metrics share the checks of roles: one of them gets every value, the others some.
    every *= 6 if name in metrics.METRICS and name != "ndcg" else 1
    roles = [argument for argument in names if argument in ALL_ROLES]
    assert try_all(name, call, needed(method, name, make), own, max(every // 4, 1)) == []
    assert try_all(name, call, needed(method, name, make), roles, every) == []


@pytest.mark.parametrize("name", [name for name, _ in inspect.getmembers(Plot, callable) if not name.startswith("_")])
def test_charts(make, name, every):
    pytest.importorskip("altair")
    method = getattr(Plot, name)
    call = functools.partial(method, recframe.rec(make(COLUMNS)).plot)
    # Charts share the checks of roles with `describe`.
    own = [argument for argument in arguments(method) if argument not in ALL_ROLES or argument == "per"]
    assert try_all(name, call, needed(method, name, make), own, max(every // 4, 1)) == []


@pytest.mark.parametrize("name", functions())
def test_functions(make, name, every, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some calls write files
    call = getattr(recframe, name)
    every *= 8 if name == "sql" else 1  # what it accepts takes as long as a hundred errors
    assert try_all(name, call, needed(call, name, make), arguments(call), max(every // 4, 1)) == []


@pytest.mark.parametrize("name", metrics.METRICS)
def test_metric_records(name):
    kind = metrics.METRICS[name]
    assert try_all(name, kind, {}, arguments(kind)) == []


def test_bound_roles(make, every):
    accessor = recframe.rec(make(COLUMNS))
    assert try_all("rec", lambda **roles: accessor(**roles).ndcg(2), {}, ALL_ROLES, every) == []


@pytest.mark.parametrize("call", [recframe.Config, recframe.Config.set], ids=["block", "set"])
def test_config(every, call):
    with recframe.Config():  # which restores what an accepted value changes
        assert try_all("Config", call, {}, arguments(call), max(every // 4, 1)) == []


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_columns_of_frame_libraries_hold_values(library):
    from recframe._base.values import holds_values

    assert holds_values(pytest.importorskip(library).Series([1]))
    assert not holds_values(type("Series", (), {})())
