"""Comparison, fusion and agreement of models, against evaluating or ranking the same rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import recframe  # noqa: F401 - registers .rec
from benchmarks.data import Shape, arrays, polars_frame
from benchmarks.memory import highest, resident
from benchmarks.process import ask
from benchmarks.shapes import yardstick
from benchmarks.timing import Row, in_turn, now, slower

if TYPE_CHECKING:
    from collections.abc import Iterator

METRICS = ["ndcg@10", "map@10", "recall@10", "mrr"]
THREE, TWO = ["score", "score2", "score3"], ["score", "score2"]
RESAMPLES = 10_000
SECONDS, GIGABYTES = 60.0, 1.0
"""What that many resamples of a million lists of three models may take."""


def comparison_rows(shape: Shape, repeats: int) -> Iterator[Row]:
    """Measure comparisons of several models."""
    frame = polars_frame(arrays(shape, extra=THREE[1:]))
    times = in_turn(
        {
            "yardstick": lambda: yardstick(frame),
            "evaluate": lambda: frame.rec.evaluate(METRICS, score=THREE),
            "compare": lambda: frame.rec.compare(METRICS, score=THREE),
            "fuse": lambda: frame.rec.fuse(score=TWO),
            "ndcg": lambda: frame.rec.evaluate(["ndcg"], score=TWO),
            "agreement": lambda: frame.rec.agreement(score=TWO, measures="rbo"),
        },
        repeats,
    )
    for what, ours, other, limit in (
        ("compare by t, 3 models × 4 metrics / evaluate", "compare", "evaluate", 1.15),
        ("fuse of two scores / bare window rank", "fuse", "yardstick", 2.5),
        ("rbo@10 of two models / ndcg of both", "agreement", "ndcg", 3.0),
    ):
        yield slower(what, shape, times[ours], times[other], limit)


def resampling_rows(shape: Shape) -> Iterator[Row]:
    """Measure the two tests that draw, each in a process of its own, the evaluation included."""
    for test in ("randomization", "bootstrap"):
        measured = ask("resampling", test=test, lists=shape.lists, length=shape.length)
        what = f"compare by {test} of 3 models, {RESAMPLES:,} resamples"
        share = measured["seconds"] / SECONDS
        yield Row(f"{what} / {SECONDS:.0f} s", str(shape), measured["seconds"], SECONDS, (share,), 1.0)
        size = GIGABYTES * 1e9
        yield Row(
            f"{what}, peak / 1 GB",
            str(shape),
            measured["peak"] / 1e6,
            size / 1e6,
            (measured["peak"] / size,),
            1.0,
            unit="MB",
        )


def resampling(test: str, lists: int, length: int) -> dict[str, float]:
    """Return the seconds of one comparison in this fresh process, and its peak beyond the input."""
    frames = [
        polars_frame(arrays(each, extra=THREE[1:])).drop("item") for each in (Shape(10, 10), Shape(lists, length))
    ]
    frames[0].rec.compare("ndcg@10", score=THREE, test=test, resamples=100)  # imports and thread pools
    before, start = resident(), now()
    frames[1].rec.compare("ndcg@10", score=THREE, test=test, resamples=RESAMPLES)
    return {"seconds": now() - start, "peak": highest() - before}
