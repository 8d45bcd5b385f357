"""Where a condition that holds up to some number ends, by halving the range in which it does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

HALVINGS = 60
"""After so many halvings, the ends of a range differ by its last bits only."""


def bisected(is_below: Callable[[Floats], NDArray[np.bool_]], low: Floats, high: Floats) -> Floats:
    """Return the least numbers for which a condition no longer holds, up to the last bits.

    Parameters
    ----------
    is_below : callable
        The condition: true at `low` and up to the number to find.
    low, high : array of float
        The ranges to search, one entry for each number.
    """
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        below = is_below(middle)
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.asarray(high)
