"""Statistics of values per list: intervals, tests and corrections. Needs NumPy and SciPy, nothing of the plan."""

from __future__ import annotations

from importlib.util import find_spec

from recframe.errors import MissingExtraError

ROUNDING = 1e-12
"""Values of a list that differ by less are equal: the same sum in another order."""


def check_installed() -> None:
    """Raise where NumPy or SciPy is missing.

    Raises
    ------
    MissingExtraError
        One of them is not installed.
    """
    if find_spec("numpy") is None or find_spec("scipy") is None:
        what = "tests and intervals"
        raise MissingExtraError.of(what, "stats")
