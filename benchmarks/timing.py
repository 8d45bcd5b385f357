"""Calls timed in turn, and their ratio."""

from __future__ import annotations

import gc
import os
from dataclasses import dataclass
from statistics import median
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Call = Callable[[], object]


@dataclass(frozen=True)
class Row:
    """One line of the table: two medians and the ratio of the pairs."""

    what: str
    shape: str
    ours: float
    other: float
    ratios: tuple[float, ...]
    """One ratio per repeat, in the direction that the limit speaks of."""
    limit: float | None
    side: Literal["at most", "at least"] = "at most"
    unit: Literal["s", "MB"] = "s"

    @property
    def ratio(self) -> float:
        """The number that is compared with the limit."""
        return median(self.ratios)

    @property
    def verdict(self) -> str:
        """Whether the ratio keeps the limit."""
        if self.limit is None:
            return ""
        within_limit = self.ratio <= self.limit if self.side == "at most" else self.ratio >= self.limit
        return "ok" if within_limit else "over" if self.side == "at most" else "under"


@dataclass(frozen=True)
class Missing:
    """One line of the table for what could not be measured."""

    what: str
    shape: str
    why: str


CLOCK = "RECFRAME_BENCHMARK_CLOCK"
"""The variable of the environment that says ``cpu`` where a busy machine makes the time of the clock worthless."""


def now() -> float:
    """Return the seconds on the clock, or of all cores by this process where those are requested."""
    return process_time() if os.environ.get(CLOCK) == "cpu" else perf_counter()


def in_turn(
    calls: Mapping[str, Call], repeats: int, check: Callable[[list[Any]], object] | None = None
) -> dict[str, list[float]]:
    """Time the calls as A B C A B C …, so that a machine that becomes slower slows all of them.

    What they return at first is given to ``check``.
    """
    results = [call() for call in calls.values()]  # imports, caches and compilers
    if check is not None:
        check(results)
    del results
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(repeats):
        for name, call in calls.items():
            gc.collect()  # nobody pays for the garbage of the one before
            start = now()
            call()
            times[name].append(now() - start)
    return times


def slower(what: str, shape: object, ours: list[float], other: list[float], limit: float | None) -> Row:
    """Return how many times the other's time we take: at most the limit."""
    ratios = tuple(a / b for a, b in zip(ours, other, strict=True))
    return Row(what, str(shape), median(ours), median(other), ratios, limit)


def faster(what: str, shape: object, ours: list[float], other: list[float], limit: float | None) -> Row:
    """Return how many times our time the other takes: at least the limit."""
    ratios = tuple(b / a for a, b in zip(ours, other, strict=True))
    return Row(what, str(shape), median(ours), median(other), ratios, limit, side="at least")
