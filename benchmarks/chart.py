"""Time over rows, from 10⁴ to 10⁸, as a drawing: NDCG@10 of lists of 100 rows, each point in a fresh process."""

from __future__ import annotations

import gc
import math
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from benchmarks.data import Shape
from benchmarks.files import write
from benchmarks.process import ask
from benchmarks.shapes import BYTES_PER_ROW, available_memory
from benchmarks.timing import now

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from benchmarks.isolated import Interpreter

LENGTH = 100
K = 10
PATIENCE = 40.0
"""The seconds that a point may be expected to take."""
BYTES_PER_PEER_ROW = 700
"""What a row takes as text and in dictionaries, with room to spare."""
CALLS = {
    "lazy": "recframe, lazy polars from Parquet",
    "polars": "recframe, polars",
    "pandas": "recframe, pandas",
}
PEERS = {"sklearn": "scikit-learn", "ranx": "ranx", "pytrec_eval": "pytrec_eval"}
"""Ours start from a frame and the peers too: their conversion is counted."""


@dataclass(frozen=True)
class Line:
    """What one way takes: seconds or bytes, by the number of rows."""

    name: str
    values: Mapping[int, float]


def lines(most: int, repeats: int, interpreters: Mapping[str, Interpreter]) -> Iterator[Line]:
    """Measure every way as far as memory and patience go."""
    sizes = [10**power for power in range(4, 1 + round(math.log10(most)))]
    seconds: dict[str, dict[int, float]] = {name: {} for name in (*CALLS, *PEERS)}
    for rows in sizes:
        shape = Shape(rows // LENGTH, LENGTH)
        with tempfile.TemporaryDirectory() as folder:
            write(shape, Path(folder))
            for name, by_rows in seconds.items():
                if not _goes_on(name, by_rows, rows):
                    continue
                turns = repeats if rows < 10**7 else 1
                if name in CALLS:
                    by_rows[rows] = median(ask("point", kind=name, folder=folder, repeats=turns))
                elif (python := interpreters[name].python) is not None:
                    arguments: dict[str, Any] = {
                        "lists": shape.lists,
                        "length": LENGTH,
                        "repeats": turns,
                        "large": True,
                    }
                    try:
                        by_rows[rows] = median(ask("library", python=python, library=name, **arguments)["ndcg"])
                    except subprocess.CalledProcessError as error:  # it ran out of memory
                        sys.stderr.write(f"{name}: {error}\n")
        sys.stderr.write(f"{rows} rows\n")
    for name, title in (CALLS | PEERS).items():
        if seconds[name]:
            yield Line(title, seconds[name])


def _goes_on(name: str, seconds: Mapping[int, float], rows: int) -> bool:
    """Return whether a way got this far, has the memory and is fast enough for ten times as many rows."""
    bytes_per_row = {"lazy": 0, **dict.fromkeys(PEERS, BYTES_PER_PEER_ROW)}.get(name, BYTES_PER_ROW)
    if rows * bytes_per_row > available_memory():
        return False
    return rows == 10**4 or 10 * seconds.get(rows // 10, math.inf) <= PATIENCE


def point(kind: str, folder: str, repeats: int) -> list[float]:
    """Time one call in this process, which must be a fresh one, after one on a frame of its kind with few rows."""
    import polars as pl

    import recframe  # noqa: F401 - registers .rec

    scanned = pl.scan_parquet(Path(folder, "*.parquet"))

    def call(frame: Any) -> object:
        return frame.rec.ndcg(K).collect(engine="streaming") if kind == "lazy" else frame.rec.ndcg(K)

    def made(lazy: pl.LazyFrame) -> Any:
        if kind == "lazy":
            return lazy
        frame = lazy.collect(engine="streaming")
        if kind == "polars":
            return frame
        import pandas as pd

        return pd.DataFrame({name: frame[name].to_numpy() for name in frame.columns})

    call(made(scanned.head(1000)))
    frame = made(scanned)
    times = []
    for _ in range(repeats):
        gc.collect()
        start = now()
        call(frame)
        times.append(now() - start)
    return times


# --- the drawing ------------------------------------------------------------------------------------------

WIDTH, HEIGHT = 760, 440
LEFT, RIGHT, TOP, BOTTOM = 70, 230, 40, 50
COLOURS = ("#0b6e4f", "#1f77b4", "#7b4fa3", "#d1495b", "#c77700", "#555555")


def draw(panels: Mapping[str, Sequence[Line]], under: str) -> str:
    """Return an SVG of panels below each other, by title, whose axes are in powers of ten."""
    rows = [size for lines in panels.values() for line in lines for size in line.values]
    left, right = math.floor(math.log10(min(rows))), math.ceil(math.log10(max(rows)))
    height = HEIGHT * len(panels)
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
            'font-family="sans-serif" font-size="12">'
        ),
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
    ]
    for number, (title, lines) in enumerate(panels.items()):
        parts += _panel(lines, title, HEIGHT * number, left, right)
    parts.append(f'<text x="{LEFT}" y="{height - 8}" font-size="10" fill="#555">{under}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _panel(lines: Sequence[Line], title: str, start: int, left: int, right: int) -> Iterator[str]:
    """Return what draws one panel whose upper edge is at `start`, between the powers of ten of the rows."""
    values = [value for line in lines for value in line.values.values()]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    top, bottom = start + TOP, start + HEIGHT - BOTTOM

    def x(rows: float) -> float:
        return LEFT + (math.log10(rows) - left) / (right - left) * (WIDTH - LEFT - RIGHT)

    def y(value: float) -> float:
        return bottom - (math.log10(value) - low) / (high - low) * (bottom - top)

    yield f'<text x="{LEFT}" y="{start + 20}" font-size="14">{title}</text>'
    for power in range(left, right + 1):
        at = x(10**power)
        yield f'<path d="M{at:.1f} {top}V{bottom}" stroke="#ddd"/>'
        yield _power(at, bottom + 18, power, "middle")
    for power in range(low, high + 1):
        at = y(10.0**power)
        yield f'<path d="M{LEFT} {at:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>'
        yield _power(LEFT - 8, at + 4, power, "end")
    ends = _apart([(y(list(line.values.values())[-1]), index) for index, line in enumerate(lines)])
    for index, line in enumerate(lines):
        colour = COLOURS[index % len(COLOURS)]
        path = " L".join(f"{x(rows):.1f} {y(value):.1f}" for rows, value in line.values.items())
        yield f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"/>'
        yield from (f'<circle cx="{x(r):.1f}" cy="{y(v):.1f}" r="3" fill="{colour}"/>' for r, v in line.values.items())
        at = x(max(line.values)) + 8
        yield f'<text x="{at:.1f}" y="{ends[index]:.1f}" fill="{colour}">{line.name}</text>'


def _power(x: float, y: float, power: int, anchor: str) -> str:
    # A raised number by hand: not every viewer knows baseline-shift.
    raised = f'<tspan dy="-5" font-size="9">{power}</tspan>'
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">10{raised}</text>'


def _apart(ends: Sequence[tuple[float, int]]) -> dict[int, float]:
    """Return where the names go, none on top of another."""
    placed: dict[int, float] = {}
    lowest = -math.inf
    for at, index in sorted(ends):
        lowest = max(at + 4, lowest + 14)
        placed[index] = lowest
    return placed
