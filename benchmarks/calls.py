"""What lies beside one ranking: many metrics, small frames, random orders, tuning, changes, reports, other families."""

from __future__ import annotations

import tempfile
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.data import Shape, arrays, polars_frame
from benchmarks.memory import tied_memory_row
from benchmarks.shapes import CUTOFFS, EIGHT, EVERY, without_warnings, yardstick
from benchmarks.timing import Missing, Row, in_turn, slower

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import polars as pl

SMALL = Shape(1_000, 20)
AT_ONCE = 15
"""How many small calls are timed together."""
RANDOM_ORDERS, TIED, MODELS, REPORTED, ITEMS = (
    Shape(2_000, 500), Shape(5_000, 100), Shape(5_000, 100), Shape(15_000, 100), Shape(100_000, 50),
)  # fmt: skip
SECONDS_OF_CHANCE, SECONDS_OF_REPORT = 2.0, 1.2
TWO, THREE = ["score", "score2"], ["score", "score2", "score3"]
REPORT = ["ndcg@10", "map@10", "recall@10"]
FEATURES = 8
OPTIONS = [
    "ndcg(gain=exp2)", "ndcg(gain=binary)", "ndcg(discount=reciprocal)", "ndcg(ideal=ranked)", "dcg(gain=exp2)",
    "err(max_relevance=5)", "rbp(p=0.5)", "rbp(p=0.95)",
]  # fmt: skip


def call_rows(scaled: Callable[[Shape], Shape], repeats: int) -> Iterator[Row | Missing]:
    """Measure each group of calls on a frame of its own."""
    yield from small_rows(repeats)
    yield from tied_rows(scaled, repeats)
    yield from model_rows(scaled(MODELS), repeats)
    yield from report_rows(scaled(REPORTED), repeats)
    yield from lazy_rows(scaled(MODELS), repeats)
    yield from item_rows(scaled(ITEMS), repeats)


def small_rows(repeats: int) -> Iterator[Row]:
    """Measure calls that are nearly all fixed costs, several at once."""
    frame = polars_frame(arrays(SMALL))
    calls: Mapping[str, Callable[[], object]] = {
        "yardstick": lambda: yardstick(frame),
        "ndcg": lambda: frame.rec.ndcg(5),
        "ndcg without warnings": lambda: without_warnings(lambda: frame.rec.ndcg(5)),
        "eight": lambda: frame.rec.evaluate(EIGHT, k=CUTOFFS),
        "eight without warnings": lambda: without_warnings(lambda: frame.rec.evaluate(EIGHT, k=CUTOFFS)),
        "with err": lambda: frame.rec.evaluate([*EIGHT, "err"], k=CUTOFFS),
    }

    def many(call: Callable[[], object]) -> Callable[[], object]:
        return lambda: [call() for _ in range(AT_ONCE)]

    times = in_turn({name: many(call) for name, call in calls.items()}, repeats)
    for what, ours, other, limit in (
        ("ndcg@5 / bare window rank", "ndcg", "yardstick", 1.5),
        ("8 metrics × 4 cutoffs / bare window rank", "eight", "yardstick", 3.0),
        ("9 metrics with err × 4 cutoffs / bare window rank", "with err", "yardstick", 4.0),
        ("ndcg@5 / the same without a look for data warnings", "ndcg", "ndcg without warnings", 1.05),
        ("8 metrics × 4 cutoffs / the same without a look for data warnings", "eight", "eight without warnings", 1.05),
    ):
        once = [[seconds / AT_ONCE for seconds in times[name]] for name in (ours, other)]
        yield slower(what, SMALL, *once, limit)


def tied_rows(scaled: Callable[[Shape], Shape], repeats: int) -> Iterator[Row]:
    """Measure where users stop in tied blocks: in lists whose rows all tie, and beside a metric without a cutoff."""
    shape = scaled(RANDOM_ORDERS)
    frame = polars_frame(arrays(shape))
    times = in_turn({"chance": lambda: frame.rec.evaluate(["err"], chance=True)}, repeats)
    yield _of_seconds("err with chance=True", shape, times["chance"], SECONDS_OF_CHANCE)
    shape = scaled(TIED)
    tied = polars_frame(arrays(shape, digits=2))
    times = in_turn(
        {
            "together": lambda: tied.rec.evaluate(["err@10", "map"]),
            "apart": lambda: (tied.rec.evaluate(["err@10"]), tied.rec.evaluate(["map"])),
        },
        repeats,
    )
    yield slower("err@10 with map, scores of two digits / apart", shape, times["together"], times["apart"], 1.1)
    yield tied_memory_row(shape, repeats)


def model_rows(shape: Shape, repeats: int) -> Iterator[Row]:
    """Measure calls on two models."""
    frame = polars_frame(arrays(shape, extra=TWO[1:]))
    times = in_turn(
        {
            "ndcg": lambda: frame.rec.ndcg(10),
            "tune": lambda: frame.rec.tune_fusion("ndcg@10", score=TWO),
            "changes": lambda: frame.rec.changes("ndcg@10", score=TWO),
            "check": lambda: frame.rec.check(10),
        },
        repeats,
    )
    for what, ours, limit in (
        ("tune_fusion of 21 candidates / ndcg@10", "tune", 8.0),
        ("changes of two models / ndcg@10", "changes", 2.5),
        ("check / ndcg@10", "check", None),
    ):
        yield slower(what, shape, times[ours], times["ndcg"], limit)


def report_rows(shape: Shape, repeats: int) -> Iterator[Row | Missing]:
    """Measure a report beside the evaluation of its metrics."""
    what = "report of 3 models, beyond evaluate"
    if not (find_spec("altair") and find_spec("vl_convert")):
        yield Missing(what, str(shape), "needs the extra plot")
        return
    rec = polars_frame(arrays(shape, extra=THREE[1:])).rec(score=THREE)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "report.html")
        calls = {"report": lambda: rec.report(path, REPORT), "evaluate": lambda: rec.evaluate(REPORT)}
        times = in_turn(calls, repeats)
    beyond = [report - evaluate for report, evaluate in zip(times["report"], times["evaluate"], strict=True)]
    yield _of_seconds(what, shape, beyond, SECONDS_OF_REPORT)


def lazy_rows(shape: Shape, repeats: int) -> Iterator[Row]:
    """Measure many metrics and options on a lazy frame."""
    frame = polars_frame(arrays(shape, extra=["price"]))
    metrics = [*EVERY, *OPTIONS]
    times = in_turn(
        {
            "lazy": lambda: frame.lazy().rec.evaluate(metrics, k=CUTOFFS).collect(),
            "eager": lambda: frame.rec.evaluate(metrics, k=CUTOFFS),
        },
        repeats,
    )
    what = f"{len(metrics)} metrics and options × 4 cutoffs, lazy / eager"
    yield slower(what, shape, times["lazy"], times["eager"], 1.2)


def item_rows(shape: Shape, repeats: int) -> Iterator[Row]:
    """Measure metrics that read which items are recommended."""
    import polars as pl

    frame = polars_frame(arrays(shape))
    past = frame.select("user", "item").sample(fraction=0.2, seed=1)
    rng = np.random.default_rng(1)
    numbers = {f"f{i}": rng.random(shape.length) for i in range(FEATURES)}
    features = pl.DataFrame({"item": range(shape.length), **numbers})
    asked: Mapping[str, tuple[float | None, dict[str, pl.DataFrame]]] = {
        "coverage": (0.9, {}),
        "novelty": (1.6, {"train": past}),
        "personalization": (1.4, {}),
        "diversity": (None, {"features": features}),
        "serendipity": (None, {"train": past, "features": features}),
        "calibration": (None, {"train": past, "features": features}),
    }
    calls: dict[str, Callable[[], object]] = {"ndcg": lambda: frame.rec.ndcg(10)}
    for name, (_, side) in asked.items():
        calls[name] = lambda name=name, side=side: frame.rec.evaluate([f"{name}@10"], **side)
    times = in_turn(calls, repeats)
    for name, (limit, _) in asked.items():
        yield slower(f"{name}@10 / ndcg@10", shape, times[name], times["ndcg"], limit)


def _of_seconds(what: str, shape: Shape, seconds: list[float], most: float) -> Row:
    """Return a row against a number of seconds."""
    return Row(f"{what} / {most:g} s", str(shape), median(seconds), most, tuple(each / most for each in seconds), 1.0)
