"""How much memory a call takes beyond its input."""

from __future__ import annotations

import resource
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.data import Shape, arrays, pandas_frame, polars_frame
from benchmarks.process import ask
from benchmarks.shapes import CUTOFFS, EIGHT
from benchmarks.timing import Row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

STATUS = Path("/proc/self/status")
READ = ("user", "relevant", "score")
WHAT = {
    ("polars", "ndcg"): ("ndcg@5 on polars, peak / columns read", 1.4),
    ("pandas", "ndcg"): ("ndcg@5 on pandas, peak / columns read", 4.0),
    ("polars", "evaluate"): ("8 metrics × 4 cutoffs on polars, peak / columns read", 4.0),
}
"""The measurements with their limits. For ndcg@5 on polars it is 170 MB for 5 million rows."""
CALLS: Mapping[str, Callable[[Any], object]] = {
    "ndcg": lambda frame: frame.rec.ndcg(5),
    "evaluate": lambda frame: frame.rec.evaluate(EIGHT, k=CUTOFFS),
    "together": lambda frame: frame.rec.evaluate(["err@10", "map"]),
    "apart": lambda frame: (frame.rec.evaluate(["err@10"]), frame.rec.evaluate(["map"])),
}


def memory_rows(shape: Shape, repeats: int) -> Iterator[Row]:
    """Measure each call in fresh processes, which read their input from files."""
    with tempfile.TemporaryDirectory() as folder:
        _save(shape, folder)
        for (kind, call), (what, limit) in WHAT.items():
            measured = [ask("memory", kind=kind, call=call, folder=folder) for _ in range(repeats)]
            peaks, sizes = [each["peak"] for each in measured], [each["input"] for each in measured]
            yield _row(what, shape, peaks, sizes, limit)


def tied_memory_row(shape: Shape, repeats: int) -> Row:
    """Measure a metric whose users stop in tied blocks with another metric, and the two apart."""
    with tempfile.TemporaryDirectory() as folder:
        _save(shape, folder, digits=2)
        together, apart = (
            [ask("memory", kind="polars", call=call, folder=folder)["peak"] for _ in range(repeats)]
            for call in ("together", "apart")
        )
    return _row("err@10 with map, scores of two digits, peak / apart", shape, together, apart, 1.1)


def _save(shape: Shape, folder: str, *, digits: int | None = None) -> None:
    """Write the columns that calls read."""
    columns = arrays(shape, digits=digits)
    for name in READ:
        np.save(Path(folder, name), columns[name])


def _row(what: str, shape: Shape, ours: list[float], other: list[float], limit: float) -> Row:
    """Return a row of bytes."""
    ratios = tuple(peak / size for peak, size in zip(ours, other, strict=True))
    return Row(what, str(shape), median(ours) / 1e6, median(other) / 1e6, ratios, limit, unit="MB")


def peak(kind: str, call: str, folder: str) -> dict[str, float]:
    """Measure one call in this process, which must be a fresh one: its highest memory never goes down."""
    import recframe  # noqa: F401 - registers .rec

    run = CALLS[call]
    make = polars_frame if kind == "polars" else pandas_frame
    run(make(arrays(Shape(10, 10))))  # imports and thread pools
    # Column by column, so that building the frame leaves no higher peak than the call.
    frame = make({READ[0]: np.load(Path(folder, f"{READ[0]}.npy"))})
    for name in READ[1:]:
        column = np.load(Path(folder, f"{name}.npy"))
        if kind == "polars":
            import polars as pl

            frame = frame.with_columns(pl.Series(name, column))
        else:
            frame[name] = column
        del column
    size = 8 * len(READ) * len(frame)
    before = resident()
    run(frame)
    return {"peak": highest() - before, "input": size}


def highest() -> int:
    """Return the most bytes that this process has held."""
    if STATUS.exists():
        # What getrusage says on Linux starts with what the parent held when it started this process.
        return _status("VmHWM")
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def resident() -> int:
    """Return the bytes that this process holds now; elsewhere than on Linux the most it has held."""
    return _status("VmRSS") if STATUS.exists() else highest()


def _status(name: str) -> int:
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith(f"{name}:"))
    return int(line.split()[1]) * 1024
