"""Time and peak memory of Parquet files over rows, from 10⁶ up: four metrics at once, in parts, and by states."""

from __future__ import annotations

import math
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.chart import LENGTH, Line
from benchmarks.data import Shape
from benchmarks.files import write
from benchmarks.process import ask
from benchmarks.shapes import available_memory

if TYPE_CHECKING:
    from collections.abc import Sequence

CALLS = {
    "four": "one call",
    "four in 16 parts": "partitions=16",
    "four by states": "states of 10 groups",
}
"""The calls of `benchmarks.files.scan`, and how the drawing names them."""


def size_panels(most: int, *, cpu: bool) -> dict[str, Sequence[Line]]:
    """Measure each call in a fresh process for each power of ten up to `most` rows, as far as memory goes."""
    seconds: dict[str, dict[int, float]] = {call: {} for call in CALLS}
    gigabytes: dict[str, dict[int, float]] = {call: {} for call in CALLS}
    for rows in (10**power for power in range(6, 1 + math.floor(math.log10(most)))):
        with tempfile.TemporaryDirectory() as folder:
            write(Shape(rows // LENGTH, LENGTH), Path(folder))
            for call, name in CALLS.items():
                # Ten times the rows take at most ten times the memory.
                if 1e9 * 10 * gigabytes[call].get(rows // 10, 0) > available_memory():
                    continue
                measured = ask("scan", call=call, folder=folder)
                seconds[call][rows] = measured["seconds"]
                gigabytes[call][rows] = measured["peak"] / 1e9
                sys.stderr.write(f"{rows:.0e} rows, {name}: {measured}\n")
    unit = "CPU seconds" if cpu else "seconds"
    return {
        f"Four metrics at 10 of lists of {LENGTH} rows in Parquet: {unit} over rows": [
            Line(name, seconds[call]) for call, name in CALLS.items()
        ],
        "The same calls: GB of memory at most, over rows": [
            Line(name, gigabytes[call]) for call, name in CALLS.items()
        ],
    }
