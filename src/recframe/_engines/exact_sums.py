"""Splits floats into parts whose sums are not rounded, so that sums do not depend on the order."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def exactly_summable_parts(values: Any, largest_of: Callable[[Any], float | None]) -> list[Any]:
    """Return columns of floats that add up to a column, where each column has exact sums.

    A sum of floats is rounded, and which way depends on the order. So each number is split into
    its high and its low bits. No sum of either is rounded. The rest is below about 2 to the power of -80 of the
    largest number. But a group may hold only numbers that small, so the rest is split again.

    Parameters
    ----------
    values : polars.Series or numpy.ndarray
        The column; what is missing stays missing.
    largest_of : callable
        Returns the largest absolute value of a column, None without values. If it is 0 or infinite, the column is not
        split.
    """
    parts: list[Any] = []
    rest = values
    largest = largest_of(values)
    while largest and 0 < (step := _step(len(values), largest)) < math.inf:
        for cut in (step, _step(len(values), step * 2.0**-53)):
            parts.append((rest + cut) - cut)
            rest = rest - parts[-1]
        largest = largest_of(rest)
    return [*parts, rest] if largest or not parts else parts


def _step(rows: int, largest: float) -> float:
    """Return a power of two that is more than twice as large as any sum, 0 without a sum, or inf if there is none.

    A number that is added to it loses all bits below the power's last bit. So after the power is subtracted again, the
    number is a multiple of this bit, and so are all sums of such numbers.
    """
    bound = 2.0 * rows * largest
    if not 0 < bound < 2.0**1022:
        return 0.0 if bound == 0 else math.inf
    return 2.0 ** math.frexp(bound)[1]
