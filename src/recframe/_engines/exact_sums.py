"""How to cut floats so that no sum of them is rounded, whatever the order."""

from __future__ import annotations

import math
from typing import Any


def parts_of(values: Any, largest: float | None) -> list[Any]:
    """Return columns of floats that add up to one, each with exact sums.

    A sum of floats is rounded, and which way depends on the order. So each number is cut in two: its high bits, and
    its low ones, but for what is less than 2 to the power of -80 of the largest or so. No sum of either is rounded.

    Parameters
    ----------
    values : polars.Series or numpy.ndarray
        The column; what is missing stays missing.
    largest : float, optional
        Its largest absolute value; without one, or where it is 0 or infinite, the column itself is all there is.
    """
    step = _step(len(values), largest or 0.0)
    if not 0 < step < math.inf:
        return [values]
    high = (values + step) - step
    step = _step(len(values), step * 2.0**-53)
    return [high, ((values - high) + step) - step]


def _step(rows: int, largest: float) -> float:
    """Return a power of two that is more than twice as large as any sum: what is below its last bit gets lost in it.

    So what is added to it and taken away again is a whole multiple of this bit, and so are all sums.
    """
    bound = 2.0 * rows * largest
    if not 0 < bound < 2.0**1022:
        return 0.0 if bound == 0 else math.inf
    return 2.0 ** math.frexp(bound)[1]
