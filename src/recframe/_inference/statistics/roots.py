"""Root finding: the number at which a condition stops to hold, by halving the range that contains it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

HALVINGS = 60
"""After this many halvings, the ends of a range differ only in their last bits."""


def bisected(is_below: Callable[[Floats], NDArray[np.bool_]], low: Floats, high: Floats) -> Floats:
    """Return the least numbers for which a condition no longer holds, up to the last bits.

    Parameters
    ----------
    is_below : callable
        The condition: true at `low` and up to the number to find.
    low, high : array of float
        The ranges to search, with an entry for each number. The result is `high` if the condition holds everywhere.
    """
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        below = is_below(middle)
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.asarray(high)
