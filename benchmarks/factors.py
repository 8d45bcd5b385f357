"""Evaluation straight from factors, against recometrics, and its memory."""

from __future__ import annotations

from importlib.util import find_spec
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

import recframe
from benchmarks.data import Shape, polars_frame
from benchmarks.memory import highest, resident
from benchmarks.process import ask
from benchmarks.timing import Missing, Row, in_turn, slower

if TYPE_CHECKING:
    from collections.abc import Iterator

K = 10
FACTORS = 64
THREADS = 2
"""Of both sides; NumPy's BLAS takes the cores that there are."""
TRAIN, TEST = 20, 10
"""Items of each user."""
TOP = {"P@K": "precision@10", "AP@K": "map(norm=relevant)@10", "NDCG@K": "ndcg@10"}
"""What recometrics computes unless more is requested, and our names."""
ALL = TOP | {
    "TP@K": "recall(capped=True)@10",
    "R@K": "recall@10",
    "TAP@K": "map@10",
    "Hit@K": "hit_rate@10",
    "RR@K": "mrr@10",
    "ROC_AUC": "roc_auc",
    "PR_AUC": "pr_auc",
}
GIGABYTES = 4
"""What 100,000 users × 100,000 items may take."""


def model(shape: Shape) -> dict[str, Any]:
    """Return random factors of users and items, and each user's items of both sets, no item twice."""
    rng = np.random.default_rng(0)
    factors = [rng.standard_normal((rows, FACTORS), dtype=np.float32) for rows in (shape.lists, shape.length)]
    # Steps along the catalogue: as many different items as needed, without sorting it for every user.
    steps = rng.integers(1, shape.length // (TRAIN + TEST), (shape.lists, TRAIN + TEST))
    items = np.cumsum(steps, axis=1) % shape.length
    rng.permuted(items, axis=1, out=items)
    return {"users": factors[0], "items": factors[1], "train": items[:, :TRAIN], "test": items[:, TRAIN:]}


def pairs(items: Any) -> Any:
    users = np.repeat(np.arange(len(items)), items.shape[1])
    return polars_frame({"user": users, "item": items.ravel()})


def compact(made: dict[str, Any], sets: dict[str, Any], positions: Any) -> Any:
    ids = {"users": np.arange(len(made["users"])), "items": np.arange(len(made["items"]))}
    return recframe.from_factors(
        made["users"], made["items"], **ids, **sets, k=K, positions=positions, threads=THREADS, progress=False
    )


def factor_rows(shape: Shape, repeats: int) -> Iterator[Row | Missing]:
    """Measure recometrics on the same factors, from the sets in the form that each side takes."""
    what = {
        "top": "precision, map, ndcg@10 from factors / recometrics",
        "all": "all its metrics from factors / recometrics",
    }
    if find_spec("recometrics") is None:
        yield from (Missing(each, str(shape), "not installed") for each in what.values())
        return
    import recometrics
    from scipy.sparse import csr_array

    made = model(shape)
    sets = {name: pairs(made[name]) for name in ("train", "test")}
    size = (shape.lists, shape.length)
    sparse = {}
    for name in ("train", "test"):
        items = np.sort(made[name], axis=1)
        ends = np.arange(0, items.size + 1, items.shape[1])
        sparse[name] = csr_array((np.ones(items.size), items.ravel(), ends), shape=size)

    def ours_top() -> Any:
        return compact(made, sets, "top").rec.evaluate(list(TOP.values()), per="user")

    def ours_all() -> Any:
        frame = compact(made, sets, "all")
        return frame.rec.evaluate(list(ALL.values()), per="user")

    def theirs(**options: Any) -> Any:
        arguments = (sparse["train"], sparse["test"], made["users"], made["items"])
        return recometrics.calc_reco_metrics(*arguments, k=K, rename_k=False, nthreads=THREADS, **options)

    values, expected = ours_all(), theirs(all_metrics=True, break_ties_with_noise=False)
    for name, label in ALL.items():
        if not np.allclose(values[label].to_numpy(), expected[name].to_numpy(), atol=1e-5):
            msg = f"recframe and recometrics differ in {label}"
            raise RuntimeError(msg)
    times = in_turn(
        {
            "ours top": ours_top,
            "top": lambda: theirs(break_ties_with_noise=False),
            "ours all": ours_all,
            "all": lambda: theirs(all_metrics=True, break_ties_with_noise=False),
        },
        repeats,
    )
    for name, each in what.items():
        yield slower(each, shape, times[f"ours {name}"], times[name], 1.0)


def factor_memory_row(shape: Shape) -> Row:
    """Measure the peak of a large model in a fresh process, factors and sets included."""
    measured = ask("factor_memory", lists=shape.lists, length=shape.length)
    limit = GIGABYTES * 1e9
    what = f"all positions from factors in {measured['seconds']:.0f} s, peak / {GIGABYTES} GB"
    return Row(what, str(shape), measured["peak"] / 1e6, limit / 1e6, (measured["peak"] / limit,), 1.0, unit="MB")


def factor_memory(lists: int, length: int) -> dict[str, float]:
    """Rank a large model in this process, which must be a fresh one."""
    made = model(Shape(lists, length))
    sets = {name: pairs(made.pop(name)) for name in ("train", "test")}
    before, start = resident(), perf_counter()
    frame = compact(made, sets, "all")
    seconds = perf_counter() - start
    frame.rec.evaluate(list(ALL.values()))
    return {"peak": highest(), "before": before, "seconds": seconds}
