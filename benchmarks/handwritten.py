"""The fastest hand-written polars we know for the same numbers: lazy, run by the streaming engine.

It knows what recframe has to find out: integer relevance of at least 0, no missing value, a relevant row in every list,
and whether there are ties.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import accumulate
from typing import TYPE_CHECKING

import polars as pl
from polars import col

import recframe  # noqa: F401 - registers .rec
from benchmarks.data import arrays, polars_frame
from benchmarks.shapes import CUTOFFS, EIGHT
from benchmarks.timing import in_turn, slower

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.data import Shape
    from benchmarks.timing import Call, Row

Plan = Callable[[pl.LazyFrame], pl.LazyFrame]

UPTO = CUTOFFS[-1]
LONG = 200
"""Rows of a list from which it pays to find its k-th score first."""
P = 0.8
WEIGHTS: dict[str, Callable[[int], float]] = {
    "hits": lambda _: 1.0,
    "dcg": lambda r: 1 / math.log2(r + 1),
    "rbp": lambda r: (1 - P) * P ** (r - 1),
    "harmonic": lambda r: 1 / r,
}
"""What a hit at a position counts."""
START = col("score").rank("min", descending=True).over("user")
PLACE = col("score").rank("ordinal", descending=True).over("user")
"""Where no scores tie: in short lists found in half the time."""
IDEAL = col("relevant").rank("ordinal", descending=True).over("user")


def ndcg(frame: pl.LazyFrame, k: int = 5) -> pl.LazyFrame:
    """NDCG without ties: rank the scores, rank the relevant rows, add both."""
    ranked = _gains(frame.select("user", "relevant", at=PLACE).filter(col("relevant") > 0), k, "dcg", "ideal")
    return _ndcg(ranked, _best(frame, k))


def ndcg_of_long_lists(frame: pl.LazyFrame, k: int = 5) -> pl.LazyFrame:
    """NDCG without ties: rank only what reaches the k-th score of its list."""
    ranked = _reaching(frame, k).select("user", "relevant", at=PLACE).filter(col("relevant") > 0)
    return _ndcg(_gains(ranked, k, "dcg", "ideal"), _best(frame, k))


def tied_ndcg(frame: pl.LazyFrame, k: int = 5) -> pl.LazyFrame:
    """NDCG with ties averaged: each tied block has its mean gain at each of its positions."""
    return _tied_ndcg(frame, frame, k)


def tied_ndcg_of_long_lists(frame: pl.LazyFrame, k: int = 5) -> pl.LazyFrame:
    """NDCG with ties averaged: whole blocks reach the k-th score of their list."""
    return _tied_ndcg(frame, _reaching(frame, k), k)


def _reaching(frame: pl.LazyFrame, k: int) -> pl.LazyFrame:
    reached = frame.join(frame.group_by("user").agg(last=col("score").top_k(k).min()), on="user")
    return reached.filter(col("score") >= col("last"))


def _tied_ndcg(frame: pl.LazyFrame, ranked_rows: pl.LazyFrame, k: int) -> pl.LazyFrame:
    kept = ranked_rows.select("user", "relevant", at=START).filter(col("at") <= k)
    blocks = kept.group_by("user", "at").agg(size=pl.len(), gain=col("relevant").sum()).filter(col("gain") > 0)
    blocks = blocks.with_columns(end=pl.min_horizontal(col("at") + col("size") - 1, k))
    weight = pl.lit(0.0)
    for r in range(1, k + 1):
        inside = (col("at") <= r) & (col("end") >= r)
        weight = weight + pl.when(inside).then(WEIGHTS["dcg"](r)).otherwise(0.0)
    ranked = blocks.select("user", dcg=col("gain") / col("size") * weight, ideal=pl.lit(0.0))
    return _ndcg(ranked, _best(frame, k))


def _best(frame: pl.LazyFrame, k: int) -> pl.LazyFrame:
    relevant = frame.filter(col("relevant") > 0).select("user", "relevant", at=IDEAL)
    return _gains(relevant, k, "ideal", "dcg").select("user", "dcg", "ideal")


def _gains(rows: pl.LazyFrame, k: int, name: str, other: str) -> pl.LazyFrame:
    gain = col("relevant") / (col("at").cast(pl.Float64) + 1).log(2)
    return rows.filter(col("at") <= k).select("user", gain.alias(name), pl.lit(0.0).alias(other))


def _ndcg(ranked: pl.LazyFrame, best: pl.LazyFrame) -> pl.LazyFrame:
    sums = pl.concat([ranked, best]).group_by("user").agg(col("dcg", "ideal").sum())
    return sums.select((col("dcg") / col("ideal")).mean())


def eight(frame: pl.LazyFrame) -> pl.LazyFrame:
    """Eight metrics at four cutoffs without ties: everything is read from the relevant rows."""
    hits = frame.select("user", "relevant", at=PLACE).filter(col("relevant") > 0)
    hits = hits.with_columns(ideal=IDEAL, nth=col("at").rank("ordinal").over("user"))
    at = col("at").cast(pl.Float64)
    discount, best = 1 / (at + 1).log(2), 1 / (col("ideal").cast(pl.Float64) + 1).log(2)
    weight = {
        "hits": pl.lit(1.0),
        "ap": col("nth") / at,
        "dcg": col("relevant") * discount,
        "rbp": (1 - P) * P ** (at - 1),
    }
    columns = {f"{name}{k}": _up_to(col("at"), k, it) for name, it in weight.items() for k in CUTOFFS}
    columns |= {f"ideal{k}": _up_to(col("ideal"), k, col("relevant") * best) for k in CUTOFFS}
    sums = hits.select("user", "at", **columns).group_by("user")
    lists = sums.agg(pl.len().alias("relevant"), col("at").min(), col(*columns).sum())
    first = {f"mrr{k}": _up_to(col("at"), k, 1 / col("at")) for k in CUTOFFS}
    first |= {f"hit_rate{k}": _up_to(col("at"), k, pl.lit(1.0)) for k in CUTOFFS}
    return _report(lists.with_columns(**first))


def tied_eight(frame: pl.LazyFrame) -> pl.LazyFrame:
    """Eight metrics at four cutoffs with ties averaged: a small table knows the sum of weights of each block."""
    kept = frame.select("user", "relevant", at=START).filter((col("at") <= UPTO) | (col("relevant") > 0))
    kept = kept.with_columns(size=pl.len().over("user", "at")).filter(col("relevant") > 0)
    kept = kept.with_columns(
        ideal=IDEAL,
        nth=col("at").rank("ordinal").over("user"),
        many=pl.len().over("user", "at"),
        first=col("at").min().over("user"),
        end=pl.min_horizontal(col("at") + col("size") - 1, UPTO),
    ).with_columns(nth=col("nth").min().over("user", "at"))
    best = 1 / (col("ideal").cast(pl.Float64) + 1).log(2)
    ideal = {f"ideal{k}": _up_to(col("ideal"), k, col("relevant") * best) for k in CUTOFFS}
    hits = kept.join(_block_sums().lazy(), on=["at", "end"], how="left").with_columns(
        step=pl.when(col("size") > 1).then((col("many") - 1.0) / (col("size") - 1.0)).otherwise(0.0), **ideal
    )
    start = col("nth") - col("step") * col("at")
    columns = {}
    alone = (col("at") == col("first")) & (col("many") == 1)
    for k in CUTOFFS:
        columns |= {f"{name}{k}": col(f"{name}{k}") / col("size") for name in ("hits", "rbp")}
        columns[f"dcg{k}"] = col("relevant") * col(f"dcg{k}") / col("size")
        columns[f"ap{k}"] = (start * col(f"harmonic{k}") + col("step") * col(f"hits{k}")) / col("size")
        columns[f"mrr{k}"] = pl.when(alone).then(col(f"harmonic{k}") / col("size")).otherwise(0.0)
        columns[f"hit_rate{k}"] = pl.when(alone).then(col(f"hits{k}") / col("size")).otherwise(0.0)
    terms = hits.select("user", *ideal, pl.lit(1.0).alias("relevant"), **columns)
    names = [*ideal, "relevant", *columns]
    both = pl.concat([terms.with_columns(col(*names).fill_null(0.0)), _first_of_many(kept, names)])
    return _report(both.group_by("user").agg(col(*names).sum()))


def _first_of_many(kept: pl.LazyFrame, names: list[str]) -> pl.LazyFrame:
    """Return the probability of each position of the first hit, where the first block with hits has several."""
    several = (col("at") == col("first")) & (col("many") > 1) & (col("at") <= UPTO)
    t, m, j = (col(name).cast(pl.Float64) for name in ("size", "many", "j"))
    last = pl.min_horizontal(col("end") - col("at") + 1, col("size") - col("many") + 1)
    places = kept.filter(several).select("user", "at", "size", "many", j=pl.int_ranges(1, last + 1)).unique("user")
    missed = pl.when(j > 1).then((t - m - j + 2) / (t - j + 2)).otherwise(1.0)
    places = places.explode("j").with_columns(missed.cum_prod().over("user", order_by="j").alias("missed"))
    places = places.with_columns(chance=col("missed") * m / (t - j + 1), place=col("at") + col("j") - 1)
    columns = {f"mrr{k}": _up_to(col("place"), k, col("chance") / col("place")) for k in CUTOFFS}
    columns |= {f"hit_rate{k}": _up_to(col("place"), k, col("chance")) for k in CUTOFFS}
    return places.select("user", *(columns.get(name, pl.lit(0.0)).alias(name) for name in names))


def _block_sums() -> pl.DataFrame:
    """Return what each weight comes to in a block from one position to another, cut at each cutoff."""
    sums = {
        name: [0.0, *accumulate(weight(r) for r in range(1, UPTO + 1))]  # of the positions up to each
        for name, weight in WEIGHTS.items()
    }
    rows = [
        {"at": at, "end": end}
        | {f"{name}{k}": of[min(end, k)] - of[at - 1] if at <= k else 0.0 for name, of in sums.items() for k in CUTOFFS}
        for at in range(1, UPTO + 1)
        for end in range(at, UPTO + 1)
    ]
    return pl.DataFrame(rows).with_columns(col("at", "end").cast(pl.get_index_type()))


def _up_to(position: pl.Expr, k: int, weight: pl.Expr) -> pl.Expr:
    return pl.when(position <= k).then(weight).otherwise(0.0)


def _report(lists: pl.LazyFrame) -> pl.LazyFrame:
    many = col("relevant")
    values = {}
    for k in CUTOFFS:
        hits = col(f"hits{k}")
        of = {
            "precision": hits / k,
            "recall": hits / many,
            "f1": 2 * hits / (k + many),
            "hit_rate": col(f"hit_rate{k}"),
            "mrr": col(f"mrr{k}"),
            "map": col(f"ap{k}") / pl.min_horizontal(many, k),
            "ndcg": col(f"dcg{k}") / col(f"ideal{k}"),
            "rbp": col(f"rbp{k}"),
        }
        values |= {f"{name}@{k}": value.mean() for name, value in of.items()}
    return lists.select(**{f"{name}@{k}": values[f"{name}@{k}"] for name in EIGHT for k in CUTOFFS})


def handwritten_rows(shape: Shape, repeats: int) -> Iterator[Row]:
    """Measure a frame and its lazy frame against the plans above, having checked that the values are the same."""
    long = shape.length >= LONG
    ready = {"ndcg": tied_ndcg_of_long_lists if long else tied_ndcg, "eight": tied_eight}
    blind = {"ndcg": ndcg_of_long_lists if long else ndcg, "eight": eight}
    for digits, scores, plans in (
        (None, "no ties", {"by hand": blind, "by hand, ready for ties": ready}),
        (2, "scores of two digits", {"by hand": ready}),
    ):
        frame = polars_frame(arrays(shape, digits=digits))
        for name, what, metrics, cutoffs in (
            ("ndcg", "ndcg@5", ["ndcg"], [5]),
            ("eight", "8 metrics × 4 cutoffs", EIGHT, CUTOFFS),
        ):
            calls = _calls(frame, metrics, cutoffs, {hand: plan[name] for hand, plan in plans.items()})
            times = in_turn(calls, repeats, check=_same)
            for hand in plans:
                for ours, label in (("eager", ""), ("lazy", ", lazy")):
                    yield slower(f"{what}, {scores}{label} / {hand}", shape, times[ours], times[hand], 1.3)


def _calls(frame: pl.DataFrame, metrics: list[str], cutoffs: list[int], plans: dict[str, Plan]) -> dict[str, Call]:
    def by_hand(plan: Plan) -> Call:
        return lambda: plan(frame.lazy()).collect(engine="streaming")

    return {
        "eager": lambda: frame.rec.evaluate(metrics, k=cutoffs),
        "lazy": lambda: frame.lazy().rec.evaluate(metrics, k=cutoffs).collect(engine="streaming"),
        **{hand: by_hand(plan) for hand, plan in plans.items()},
    }


def _same(results: list[pl.DataFrame]) -> None:
    """Stop where not all values are the same to 1e-12."""
    first, *others = (result.row(0) for result in results)
    for other in others:
        if not all(math.isclose(a, b, rel_tol=0, abs_tol=1e-12) for a, b in zip(first, other, strict=True)):
            msg = f"recframe says {first}, but the plan by hand {other}"
            raise RuntimeError(msg)
