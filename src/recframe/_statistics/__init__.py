"""Statistics of values per list: intervals, tests and corrections. Needs NumPy and SciPy, nothing of the plan."""

from __future__ import annotations

from functools import partial

from recframe.errors import check_packages

ROUNDING = 1e-12
"""Values of a list that differ by less are equal: the same sum in another order."""
check_installed = partial(check_packages, "tests and intervals", "stats", "numpy", "scipy")
"""Raises where NumPy or SciPy is missing."""
