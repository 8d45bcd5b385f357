"""Against the yardstick, and one way of calling against another."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

from benchmarks.data import Shape, arrays, as_text, pandas_frame, polars_frame
from benchmarks.timing import Missing, Row, in_turn, slower
from recframe import metrics  # registers .rec
from recframe._checks import data_warnings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import polars as pl

EIGHT = ["precision", "recall", "f1", "hit_rate", "mrr", "map", "ndcg", "rbp"]
CUTOFFS = [1, 5, 10, 20]
EVERY = [
    *("precision", "recall", "f1", "r_precision", "hit_rate", "mrr", "map", "dcg", "ndcg", "rbp", "err"),
    metrics.PFound(probability={1: 0.1, 2: 0.2, 3: 0.3, 4: 0.4}),
    *("roc_auc", "gauc", "pr_auc", "money_precision", "money_recall"),
]
"""The metrics of relevance but for the two rank correlations."""
LIMITS_OF_EVERY = {500: 2.2, 50: 3.5, 10: 3.5}
"""By the length of the lists, what all of them may take of a bare window rank."""
INFORMATION = Path("/proc/meminfo")
BYTES_PER_ROW = 250
"""What a row takes at the peak of a run, input included, with room to spare."""


def yardstick(frame: pl.DataFrame) -> object:
    """Rank a column within lists and keep the top: the least that any ranking metric has to do."""
    import polars as pl

    rank = pl.col("score").rank("min", descending=True).over("user")
    return frame.lazy().with_columns(a=rank).filter(pl.col("a") <= 5).select(pl.len()).collect(engine="streaming")


def without_warnings(call: Callable[[], object]) -> object:
    """Make a call that does not look for what it would warn of."""
    silent = {"inspect_data": lambda *_: None, "warn_of_data": lambda *_, **__: None}
    with patch.multiple(data_warnings, **silent):
        return call()


def shape_rows(shape: Shape, repeats: int) -> Iterator[Row]:
    """Measure everything that has one limit for all shapes."""
    columns = arrays(shape, extra=["score2", "price"])
    frame, pandas = polars_frame(columns), pandas_frame(columns)
    tied, text = polars_frame(arrays(shape, digits=2)), as_text(frame)
    two = ["score", "score2"]
    times = in_turn(
        {
            "yardstick": lambda: yardstick(frame),
            "ndcg": lambda: frame.rec.ndcg(5),
            "tied yardstick": lambda: yardstick(tied),
            "tied": lambda: tied.rec.ndcg(5),
            "eight": lambda: frame.rec.evaluate(EIGHT, k=CUTOFFS),
            "every": lambda: frame.rec.evaluate(EVERY, k=CUTOFFS),
            "one model": lambda: frame.rec.evaluate(["ndcg@5"], score=["score"]),
            "two models": lambda: frame.rec.evaluate(["ndcg@5"], score=two),
            "eight, two models": lambda: frame.rec.evaluate(EIGHT, k=CUTOFFS, score=two),
            "pandas": lambda: pandas.rec.ndcg(5),
            "text yardstick": lambda: yardstick(text),
            "text": lambda: text.rec.ndcg(5),
        },
        repeats,
    )
    # By themselves: a call that follows the yardstick finds less of its memory at hand than one that follows a call.
    times |= in_turn(
        {
            "with warnings": lambda: frame.rec.ndcg(5),
            "without warnings": lambda: without_warnings(lambda: frame.rec.ndcg(5)),
        },
        repeats,
    )
    for what, ours, other, limit in (
        ("ndcg@5 / bare window rank", "ndcg", "yardstick", 0.7),
        ("ndcg@5 / the same without a look for data warnings", "with warnings", "without warnings", 1.02),
        ("ndcg@5, scores of two digits / bare window rank", "tied", "tied yardstick", 0.9),
        ("8 metrics × 4 cutoffs / bare window rank", "eight", "yardstick", 1.3),
        ("17 metrics × 4 cutoffs / bare window rank", "every", "yardstick", LIMITS_OF_EVERY.get(shape.length)),
        ("ndcg@5 of two models / of one", "two models", "one model", 1.6),
        ("8 metrics × 4 cutoffs of two models / of one", "eight, two models", "eight", 1.6),
        ("ndcg@5, pandas through polars / polars", "pandas", "ndcg", 1.7),
        ("ndcg@5, text keys / bare window rank over text", "text", "text yardstick", 1.0),
        ("ndcg@5, text keys / integer keys", "text", "ndcg", 1.8),
    ):
        yield slower(what, shape, times[ours], times[other], limit)


def growth_rows(small: Shape, repeats: int) -> Iterator[Row | Missing]:
    """Measure ten times as many lists, twice."""
    for lists in (small.lists, 10 * small.lists):
        shape, ten = Shape(lists, small.length), Shape(10 * lists, small.length)
        what = "ndcg@5, ten times the rows / the rows"
        if available_memory() < ten.rows * BYTES_PER_ROW:
            yield Missing(what, f"{ten} / {shape}", "too little memory")
            continue
        frames = [polars_frame(arrays(each)).drop("item") for each in (shape, ten)]
        times = in_turn({str(index): lambda it=it: it.rec.ndcg(5) for index, it in enumerate(frames)}, repeats)
        yield slower(what, f"{ten} / {shape}", times["1"], times["0"], 11.0)


def available_memory() -> int:
    """Return the bytes of the machine that can be had, or 0 where it does not say."""
    if INFORMATION.exists():
        # Files that are held in memory give way, which sysconf does not count.
        line = next(line for line in INFORMATION.read_text().splitlines() if line.startswith("MemAvailable:"))
        return int(line.split()[1]) * 1024
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return 0
