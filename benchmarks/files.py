"""Files that need not fit in memory: time and peak memory of lazy frames, against the bare window rank of the files."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.data import Shape
from benchmarks.memory import highest
from benchmarks.process import ask
from benchmarks.shapes import CUTOFFS
from benchmarks.timing import Row, now, slower

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

TEN = ["precision", "recall", "f1", "r_precision", "hit_rate", "mrr", "map", "dcg", "ndcg", "rbp", "roc_auc"]
"""The ten metrics of the foundation, and ROC AUC."""
ROWS_A_FILE = 5_000_000
FOUR = ["ndcg@10", "map@10", "recall@10", "mrr@10"]
GROUPS = 10
"""How many groups of files are evaluated one by one."""
CALLS = {
    "yardstick with relevance": ("bare window rank that keeps the relevance / bare window rank of the files", None),
    "ndcg": ("ndcg@5 / bare window rank of the files", 1.2),
    "eleven": ("11 metrics × 4 cutoffs / bare window rank of the files", 4.5),
    "ndcg in 8 parts": ("ndcg@5, partitions=8 / bare window rank of the files", None),
    "eleven in 8 parts": ("11 metrics × 4 cutoffs, partitions=8 / bare window rank of the files", None),
    "four": ("4 metrics at 10 / bare window rank of the files", None),
    "four by groups": ("4 metrics at 10, each group of files / bare window rank of the files", None),
}
READ = "read"
"""The call that reads the columns and nothing else."""
IN_PARTS = "4 metrics at 10, partitions=16"
OTHERS = [
    ("four in 16 parts", f"{IN_PARTS} / reading the columns", READ, 14.0),
    ("four in 16 parts", f"{IN_PARTS} / at once", "four", 2.0),
    ("four by states", "4 metrics at 10, a state of each group of files / evaluate of each", "four by groups", 1.3),
]
"""The calls that are measured against another one than the bare window rank, with what they are measured against."""
MOST_MEMORY = {"four in 16 parts": (IN_PARTS, 2e9)}
"""The bytes that a call may take at most, up to a billion rows."""


def file_rows(shape: Shape, repeats: int) -> Iterator[Row]:
    """Measure each call in fresh processes that scan the same Parquet files; time, then memory in GB."""
    with tempfile.TemporaryDirectory() as folder:
        write(shape, Path(folder))
        names = dict.fromkeys(("yardstick", READ, *CALLS, *(name for name, *_ in OTHERS)))
        measurements: dict[str, list[dict[str, float]]] = {name: [] for name in names}
        for _ in range(repeats):
            for name, measured in measurements.items():
                measured.append(ask("scan", call=name, folder=folder))
        rank = [each["seconds"] for each in measurements["yardstick"]]
        for name, (what, limit) in CALLS.items():
            yield slower(what, shape, [each["seconds"] for each in measurements[name]], rank, limit)
        for name, what, other, limit in OTHERS:
            ours, others = ([each["seconds"] for each in measurements[call]] for call in (name, other))
            yield slower(what, shape, ours, others, limit)
        for name, (what, most) in MOST_MEMORY.items():
            peaks = [each["peak"] for each in measurements[name]]
            ratios = tuple(peak / most for peak in peaks)
            memory = f"{what}, peak memory / {most / 1e9:g} GB"
            yield Row(memory, str(shape), median(peaks) / 1e6, most / 1e6, ratios, 1.0, unit="MB")
        calls = {name: what for name, (what, _) in CALLS.items()} | {name: what for name, what, *_ in OTHERS}
        for name, what in calls.items():
            peaks = [each["peak"] for each in measurements[name]]
            size = sum(path.stat().st_size for path in Path(folder).iterdir())
            memory = f"{what.split(' / ')[0]}, peak memory / size of the files"
            ratios = tuple(peak / size for peak in peaks)
            yield Row(memory, str(shape), median(peaks) / 1e6, size / 1e6, ratios, None, unit="MB")


def write(shape: Shape, folder: Path) -> None:
    """Write lists in random order as Parquet files, without holding more than one file's rows."""
    import polars as pl

    lists = max(1, ROWS_A_FILE // shape.length)
    for number, start in enumerate(range(0, shape.lists, lists)):
        rng = np.random.default_rng(number)
        n = min(lists, shape.lists - start)
        order = rng.permutation(n * shape.length)
        # A list's rows are in one file, its rows permuted with those of the others.
        relevant = (rng.random(len(order)) < 0.1) * rng.integers(1, 5, len(order))
        pl.DataFrame(
            {
                "user": (start + order // shape.length).astype(np.int32),
                "relevant": relevant.astype(np.int8),
                "score": rng.random(len(order), dtype=np.float32),
            }
        ).write_parquet(folder / f"{number:05d}.parquet")


def yardstick(frame: pl.LazyFrame, *, keep_relevance: bool = False) -> pl.LazyFrame:
    """Rank a column within lists and keep the top: how many rows, or their relevance, which each metric needs."""
    import polars as pl

    rank = pl.col("score").rank("min", descending=True).over("user")
    top = frame.with_columns(a=rank).filter(pl.col("a") <= 5)
    return top.select(pl.col("relevant").sum() if keep_relevance else pl.len())


def scan(call: str, folder: str) -> dict[str, float]:
    """Measure one call in this process, which must be a fresh one."""
    import polars as pl

    import recframe

    frame = pl.scan_parquet(Path(folder, "*.parquet"))
    call, _, many = call.removesuffix(" parts").partition(" in ")
    parts: dict[str, Any] = {"partitions": int(many)} if many else {}
    start = now()
    if call in ("four by groups", "four by states"):
        # A list's rows are in one file.
        paths = sorted(Path(folder).glob("*.parquet"))
        groups = [pl.scan_parquet(paths[number::GROUPS]) for number in range(min(GROUPS, len(paths)))]
        if call == "four by states":
            recframe.merge_states([group.rec.state(FOUR).collect() for group in groups]).evaluate()
        else:
            for group in groups:
                group.rec.evaluate(FOUR).collect()
        return {"seconds": now() - start, "peak": highest()}
    if call == READ:
        plan = frame.select(pl.all().max())
    elif call.startswith("yardstick"):
        plan = yardstick(frame, keep_relevance=call != "yardstick")
    elif call == "ndcg":
        plan = frame.rec.ndcg(5, **parts)
    elif call == "four":
        plan = frame.rec.evaluate(FOUR, **parts)
    else:
        plan = frame.rec.evaluate(TEN, k=CUTOFFS, **parts)
    plan.collect(engine="streaming")
    return {"seconds": now() - start, "peak": highest()}


def main() -> None:
    """Write files of a size once, and measure calls on them: ``python -m benchmarks.files FOLDER LISTS LENGTH CALL …``.

    A call is ``read``, ``yardstick``, ``"yardstick with relevance"``, ``ndcg``, ``eleven``, ``four``,
    ``"ndcg in 8 parts"``, ``"four by groups"`` or ``"four by states"``.
    """
    folder, lists, length, *calls = sys.argv[1:]
    path = Path(folder)
    if not path.exists():
        path.mkdir(parents=True)
        write(Shape(int(lists), int(length)), path)
    for call in calls:
        print(call, ask("scan", call=call, folder=folder))


if __name__ == "__main__":
    main()
