"""The skewness of values, and how many lists a t-test needs because of it.

The mean of values with a long tail is not normal, so its interval misses the true value on one side too often. For the
skewness g, the first term of Edgeworth's expansion doubles a tail of 2.5 % if there are fewer than 11 g² lists.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

LISTS_OF_SKEWNESS = 11
"""A t-test needs this number of lists, times the square of the skewness."""
LEAST_SKEWED_LISTS = 50
"""The skewness of fewer lists can be large by chance, so it is no reason for a warning."""


def skewness(mean: Any, squares: Any, cubes: Any) -> NDArray[np.float64]:
    """Return the skewness, from the means of values, of their squares and of their cubes; NaN without spread."""
    # Squares and cubes of very large values are infinite.
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        variance = squares - mean**2
        third = cubes - 3 * mean * squares + 2 * mean**3
        return np.where(variance > 1e-12 * squares, third / variance**1.5, np.nan)


def is_skewed(lists: Any, skew: Any) -> NDArray[np.bool_]:
    """Return whether there are too few lists for a t-test of such skewed values.

    Below 50 lists the result is False, because their skewness is uncertain.
    """
    with np.errstate(invalid="ignore"):
        return np.asarray((lists >= LEAST_SKEWED_LISTS) & (lists < LISTS_OF_SKEWNESS * np.square(skew)))


def lists_wanted(skew: float) -> int:
    """Return how many lists a t-test needs with values of this skewness."""
    return math.ceil(LISTS_OF_SKEWNESS * skew**2)
