"""Measurements that need a process of their own: this module answers `benchmarks.process.ask` on its standard output.

``python -m benchmarks.child NAME JSON`` calls the function of that name with those arguments.
"""

from __future__ import annotations

import json
import sys
from typing import Any


def pandas_alone(lists: int, length: int, repeats: int) -> dict[str, list[float]]:
    """Time pandas where polars is not installed, and the groupby rank that pandas users write by hand."""
    sys.modules["polars"] = None  # type: ignore[assignment] - so that importing it fails

    import recframe  # noqa: F401 - registers .rec
    from benchmarks.data import Shape, arrays, pandas_frame
    from benchmarks.timing import in_turn

    frame = pandas_frame(arrays(Shape(lists, length)))

    def rank() -> object:
        return frame.groupby("user")["score"].rank()

    return in_turn({"ours": lambda: frame.rec.ndcg(5), "rank": rank}, repeats)


def rectools(lists: int, length: int, repeats: int) -> dict[str, Any]:
    """Time RecTools and recframe on the same pandas frame; RecTools needs a pandas older than 3."""
    from benchmarks.peers import rectools_times

    return rectools_times(lists, length, repeats)


def memory(kind: str, call: str, folder: str) -> dict[str, float]:
    """Return the peak beyond the input, and the size of the three columns read, in bytes."""
    from benchmarks.memory import peak

    return peak(kind, call, folder)


def factor_memory(lists: int, length: int) -> dict[str, float]:
    """Return the peak of ranking a large factor model, in bytes, and the seconds."""
    from benchmarks import factors

    return factors.factor_memory(lists, length)


def resampling(test: str, lists: int, length: int) -> dict[str, float]:
    """Return the seconds and the peak of a comparison by a test that draws."""
    from benchmarks import comparisons

    return comparisons.resampling(test, lists, length)


def scan(call: str, folder: str) -> dict[str, float]:
    """Return the seconds and the peak memory of one call on the files in a folder."""
    from benchmarks.files import scan as measure

    return measure(call, folder)


def library(library: str, lists: int, length: int, repeats: int, *, large: bool = False) -> dict[str, Any]:
    """Return the seconds of a library that this process has, of recframe on the same frame, and of the conversion."""
    from benchmarks.libraries import measured

    return measured(library, lists, length, repeats, large=large)


def point(kind: str, folder: str, repeats: int) -> list[float]:
    """Return the seconds of NDCG on the files in a folder, opened as a frame of some kind."""
    from benchmarks.chart import point as measure

    return measure(kind, folder, repeats)


MEASURES = (pandas_alone, rectools, memory, factor_memory, resampling, scan, library, point)

if __name__ == "__main__":
    measures = {each.__name__: each for each in MEASURES}
    print(json.dumps(measures[sys.argv[1]](**json.loads(sys.argv[2]))))
