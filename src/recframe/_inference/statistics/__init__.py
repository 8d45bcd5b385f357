"""Statistics of values per list: intervals, tests and corrections. Needs NumPy and SciPy, nothing of the plan."""

from __future__ import annotations

from functools import partial
from typing import Any

from recframe._base.values import ROUNDING
from recframe.errors import check_packages

RELATIVE_ROUNDING = 1e-9
"""The share by which a sum of many terms may differ from what they add up to."""
check_installed = partial(check_packages, "tests and intervals", "stats", "numpy", "scipy")
"""Raises where NumPy or SciPy is missing."""


def outside(values: Any, least: Any, greatest: Any) -> Any:
    """Return which values are below a least or above a greatest one, rounding aside; NaN is nowhere outside."""
    below = values < least - (ROUNDING + RELATIVE_ROUNDING * abs(least))
    return below | (values > greatest + (ROUNDING + RELATIVE_ROUNDING * abs(greatest)))
