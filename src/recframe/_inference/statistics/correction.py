"""Corrections of p-values for the number of tests in a family."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Correction = Literal["holm", "bonferroni", "bh", "none", "maxt", "romano-wolf", "dunnett"]
"""How p-values are adjusted for the number of tests.

Holm's step-down procedure and Bonferroni's bound the chance of any false finding; Benjamini and Hochberg's step-up
procedure bounds the expected share of false findings; "none" leaves p-values as they are. "maxt",
"romano-wolf" and "dunnett" read the values of lists: see `simultaneous`.
"""


def adjusted(p: NDArray[np.float64], correction: Correction) -> NDArray[np.float64]:
    """Return adjusted p-values, at most 1. NaN stays NaN and does not count as a test.

    Parameters
    ----------
    p : array of float
        The p-values of one family, between 0 and 1 or NaN.
    correction : {"holm", "bonferroni", "bh", "none"}
        The procedure. The other corrections need more than p-values.

    References
    ----------
    Holm, *A simple sequentially rejective multiple test procedure*, Scandinavian Journal of Statistics 6, 1979;
    Benjamini, Hochberg, *Controlling the false discovery rate*, Journal of the Royal Statistical Society B 57, 1995.
    """
    corrected = np.array(p, dtype=np.float64)
    tested = np.flatnonzero(~np.isnan(corrected))
    if correction == "none" or not len(tested):
        return corrected
    count = len(tested)
    order = tested[np.argsort(corrected[tested], kind="stable")]
    ranked = corrected[order]
    if correction == "bonferroni":
        scaled = ranked * count
    elif correction == "holm":
        scaled = np.maximum.accumulate(ranked * np.arange(count, 0, -1))
    else:
        steps = ranked * count / np.arange(1, count + 1)
        scaled = np.minimum.accumulate(steps[::-1])[::-1]
    corrected[order] = np.minimum(scaled, 1.0)
    return corrected
