"""The checked options of `from_factors`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Self

from recframe._base.progress import check_progress
from recframe._base.values import choice, whole_number
from recframe.errors import OptionTypeError
from recframe.metrics._record import check_k

POSITIONS = ("all", "top")


@dataclass(frozen=True)
class Settings:
    """The checked options of `from_factors`."""

    k: int
    """How many rows of each list to keep."""
    everywhere: bool
    """Whether to find the position of every test item, not only of test items among the first k."""
    memory: int
    """About how many bytes of scores to hold in memory."""
    threads: int
    """How many chunks to work on at a time."""
    progress: bool | None

    @classmethod
    def of(cls, *, k: Any, positions: Any, memory: Any, threads: Any, progress: bool | None) -> Self:
        """Return the options, or raise if one is invalid for any data."""
        cutoff = check_k(k)
        if cutoff is None:
            msg = "k=None, but only the top k of a list is kept"
            raise OptionTypeError(msg, "k=10")
        choice("positions", positions, POSITIONS)
        memory = whole_number("memory", memory, "a whole number of bytes", most=None)
        threads = _cores() if threads is None else whole_number("threads", threads, "a whole number from 1, or None")
        return cls(cutoff, positions == "all", memory, threads, check_progress(progress))


def _cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
