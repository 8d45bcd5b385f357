"""The interval of a quotient of two means over the same lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recframe._inference.statistics.student import ratio, square

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from recframe._inference.statistics.student import Sums

    Floats = NDArray[np.float64]


def fieller(sums: Sums, totals: Mapping[str, Any], reach: Floats) -> tuple[Floats, Floats]:
    """Return the ends of Fieller's interval of the mean difference as a share of the baseline's mean.

    With the difference d and the baseline's value b of a list, the interval contains the shares r for which the mean of
    d − r b is less than c standard errors from 0. c is `reach`. With the means m and μ of d and b, and the variances
    and covariance of these means V(d), V(b) and V(d, b), these are the r with
    (m − rμ)² ≤ c² (V(d) − 2r V(d, b) + r² V(b)). If μ is less than c standard errors from 0, the interval has no
    bounds, and its ends are NaN.

    References
    ----------
    Fieller, *Some problems in interval estimation*, Journal of the Royal Statistical Society B 16, 1954.
    """
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        mean = sums.mean
        baseline = ratio(totals["baseline"], sums.weight)
        weights = totals["unit_weight_squares"]
        # Turns squares of residuals into the variance of a mean, times the squared quantile.
        scale = square(reach) * ratio(square(sums.standard_error), sums.residual_squares)
        of_both = (
            totals["unit_cross"]
            - mean * totals["unit_baseline_products"]
            - baseline * totals["unit_products"]
            + mean * baseline * weights
        )
        of_baseline = (
            totals["unit_baseline_squares"]
            - 2 * baseline * totals["unit_baseline_products"]
            + square(baseline) * weights
        )
        second = square(baseline) - scale * of_baseline
        first = (mean * baseline - scale * of_both) / second
        last = (square(mean) - scale * sums.residual_squares) / second
        root = np.sqrt(np.maximum(square(first) - last, 0.0))
        return np.where(second > 0, first - root, np.nan), np.where(second > 0, first + root, np.nan)
