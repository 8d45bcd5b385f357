"""Comparison, fusion and agreement of models, against evaluating or ranking the same rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import recframe  # noqa: F401 - registers .rec
from benchmarks.data import Shape, arrays, polars_frame
from benchmarks.own import yardstick
from benchmarks.timing import in_turn, slower

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.timing import Row

METRICS = ["ndcg@10", "map@10", "recall@10", "mrr"]
THREE, TWO = ["score", "score2", "score3"], ["score", "score2"]


def comparison_rows(shape: Shape, repeats: int) -> Iterator[Row]:
    """Measure what looks at several models at once."""
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
