"""Metrics as expressions of polars: next to one written by hand, to a frame's own call, and to other libraries."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from polars import col

import recframe  # noqa: F401 - registers .rec
from benchmarks.data import arrays, polars_frame
from benchmarks.timing import Missing, in_turn, slower

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.data import Shape
    from benchmarks.timing import Row

K = 5
OTHERS: dict[str, Callable[..., pl.Expr]] = {
    "polarbearings": lambda library: library.ndcg_score("relevant", "score", k=K),
    "polars_ds": lambda library: library.query_ndcg_score("relevant", "score", k=K, ignore_ties=True),
}
"""NDCG by other libraries, which break ties by row order; what polars_ds has for ties fails on polars 2."""


def ndcg(k: int = K) -> pl.Expr:
    """Return NDCG without ties, as one writes it by hand."""
    return _dcg(col("relevant").sort_by("score", descending=True), k) / _dcg(col("relevant").sort(descending=True), k)


def _dcg(gains: pl.Expr, k: int) -> pl.Expr:
    position = pl.int_range(1, pl.min_horizontal(pl.len(), k) + 1)
    return (gains.head(k) / (position + 1).log(2)).sum()


def expression_rows(shape: Shape, repeats: int) -> Iterator[Row | Missing]:
    """Measure ndcg@5 of each group without ties, and several metrics at once."""
    frame = polars_frame(arrays(shape))
    several = ["ndcg", "map", "mrr", "precision"]
    expressions = {
        "ours": col("score").rec.ndcg("relevant", k=K),  # type: ignore[attr-defined]  # registered by the package
        "several": col("score").rec.evaluate(several, "relevant", k=[5, 10]),  # type: ignore[attr-defined]
        "by hand": ndcg(),
    }
    missing = {}
    for name, make in OTHERS.items():
        try:
            expressions[name] = make(import_module(name))
        except ImportError:
            missing[name] = Missing(f"ndcg@5, expression / {name}", str(shape), f"{name} is not installed")
    calls = {name: _of_groups(frame, made) for name, made in expressions.items()}
    calls["frame"] = lambda: frame.rec.ndcg(K, per="user")
    calls["frame, several"] = lambda: frame.rec.evaluate(several, k=[5, 10], per="user")
    times = in_turn(calls, repeats, check=_same)
    yield slower("ndcg@5, expression / by hand, no ties", shape, times["ours"], times["by hand"], 2.0)
    for name in OTHERS:
        if name in missing:
            yield missing[name]
        else:
            yield slower(f"ndcg@5, expression / {name}", shape, times["ours"], times[name], None)
    yield slower("ndcg@5, expression / df.rec, per list", shape, times["ours"], times["frame"], None)
    what = "4 metrics × 2 cutoffs, one expression / df.rec.evaluate, per list"
    yield slower(what, shape, times["several"], times["frame, several"], None)


def _same(results: list[pl.DataFrame]) -> None:
    """Stop where the values of lists differ: of all calls that compute ndcg alone, and of both that compute several."""
    frames = [frame.unnest("metrics") if "metrics" in frame.columns else frame for frame in results]
    for width in {frame.width for frame in frames}:
        first, *others = (frame.sort("user").drop("user").to_numpy() for frame in frames if frame.width == width)
        for other in others:
            np.testing.assert_allclose(other, first, rtol=1e-9)


def _of_groups(frame: pl.DataFrame, expression: pl.Expr) -> Callable[[], object]:
    return lambda: frame.group_by("user").agg(expression)
