"""The mean of the means of strata: its standard error, as sums over lists from which every test can be made.

With the weight W of a stratum (all weights add up to 1), and the number n, the mean m and the sample variance s² of its
lists,

    mean = Σ W m,    standard error² = Σ a,  a = W² s² / n,    degrees of freedom = (Σ a)² / Σ a² / (n − 1)

The degrees of freedom are Satterthwaite's. A stratum with one list has no variance, so that the error is missing.

The intervals, p-values and margins of `student` read sums over lists of equal weight. So `pooled` returns the sums of
as many lists as would have the same mean, error and degrees of freedom: u = degrees of freedom + 1 lists of the
variance u · error². Covariances with the baseline's values are treated in the same way. The sums that describe how
lists spread, such as Σd², count each stratum by its weight. If nothing varies, u is 1 / Σ (W² / n).

References
----------
Cochran, *Sampling techniques*, 1977, chapter 5; Satterthwaite, *An approximate distribution of estimates of variance
components*, Biometrics Bulletin 2, 1946.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recframe._inference.statistics.student import ratio, square

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

COUNTED = ("lists", "wins", "ties", "losses", "fractions", "negative model", "negative baseline")
"""The sums that count lists: they are added over all strata."""
ROUNDING_OF_VARIANCES = 1e-13
"""Variances below this share of the mean square are rounding errors."""


class _Strata:
    """The sums over the lists of strata, which are along the last axis, and the weights of the strata."""

    def __init__(self, sums: Mapping[str, Floats], weights: Floats) -> None:
        self._sums = sums
        self._weights = weights
        self.lists = sums["lists"]
        with np.errstate(divide="ignore"):
            # A list's share of its stratum's mean.
            self._list_share = np.where(self.lists > 0, 1 / self.lists, 0.0)

    @property
    def effective(self) -> Floats:
        """The number of equally weighted lists with as much information: 1 / Σ (W² / n)."""
        return ratio(np.ones(self.lists.shape[:-1]), (square(self._weights) * self._list_share).sum(axis=-1))

    def means(self, name: str) -> Floats:
        """Return the mean in each stratum."""
        return np.asarray(self._sums[name] * self._list_share)

    def mean(self, name: str) -> Floats:
        """Return the mean of the means of strata."""
        return np.asarray((self._weights * self.means(name)).sum(axis=-1))

    def covariance_terms(self, products: str, left: str, right: str) -> Floats:
        """Return each stratum's term of the covariance of two means: W² c / n; 0 if the stratum has one list.

        c is the sample covariance of `left` and `right`, and `products` names the sum of their products. With the same
        name twice, this is the squared standard error of a mean.
        """
        squares = self.means(products)
        product = self.means(left) * self.means(right)
        with np.errstate(invalid="ignore", over="ignore"):
            covariance = squares - product
            covariance = np.where(np.abs(covariance) > ROUNDING_OF_VARIANCES * np.abs(squares), covariance, 0.0)
        return square(self._weights) * covariance / np.maximum(self.lists - 1, 1.0)

    def skewness(self, squared_error: Floats) -> Floats:
        """Return the skewness of list values that would make a mean without strata as skewed as this mean is."""
        mean, squares, cubes = (self.means(name) for name in ("difference", "squares", "cubes"))
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            third = self._weights**3 * (cubes - 3 * mean * squares + 2 * mean**3) * square(self._list_share)
            return np.asarray(third.sum(axis=-1) / squared_error**1.5 * np.sqrt(self.lists.sum(axis=-1)))


def pooled(sums: Mapping[str, Floats], weights: Floats) -> dict[str, Floats]:
    """Return the sums of equally weighted lists with the same mean, standard error and degrees of freedom.

    `student` reads these sums, so every test and interval without strata also works with strata. If a row lacks a list
    in some stratum, its sums are 0, so it has no mean.

    Parameters
    ----------
    sums : dict of array
        The sums over the lists of each stratum, with strata along the last axis: ``"lists"``, ``"difference"`` (Σd)
        and ``"squares"`` (Σd²). These are optional: ``"cubes"`` (Σd³), ``"baseline"`` (Σb), ``"products"`` (Σdb),
        ``"baseline_squares"`` (Σb²), and counts, which are added over the strata.
    weights : array of float
        The weights of the strata, which sum to 1.

    Returns
    -------
    dict of array
        The sums, without the last axis, and ``"effective"``, the effective number of lists.
    """
    strata = _Strata(sums, weights)
    squared_errors = strata.covariance_terms("squares", "difference", "difference")
    squared_error = squared_errors.sum(axis=-1)
    mean = strata.mean("difference")
    squares = strata.mean("squares")
    effective = strata.effective
    has_all = (strata.lists > 0).all(axis=-1)
    has_spread = (strata.lists > 1).all(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        sum_of_squares = (square(squared_errors) / np.maximum(strata.lists - 1, 1.0)).sum(axis=-1)
        degrees = square(squared_error) / sum_of_squares
        # This many lists of equal weight and of this spread have the same standard error. Intervals of shares read it.
        lists_with_this_error = np.fmax(effective, (squares - square(mean)) / squared_error)
        lists_with_this_error = np.where(squared_error > 0, lists_with_this_error, effective)
    units = np.where(has_spread & (squared_error > 0), degrees + 1, effective)
    pooled_sums = {
        "weight": units,
        "weight_squares": square(units) / lists_with_this_error,
        # With a single unit, the spread is unknown.
        "unit_weight_squares": np.where(has_spread, units, square(units)),
        "unit_weight_cubes": units,
        "difference": units * mean,
        "unit_products": units * mean,
        "squares": units * squares,
        "unit_squares": units * ((units - 1) * squared_error + square(mean)),
    }
    if "cubes" in sums:
        spread = np.maximum(squares - square(mean), 0.0)
        third = strata.skewness(squared_error) * spread**1.5
        pooled_sums["cubes"] = units * (third + 3 * mean * squares - 2 * mean**3)
    if "baseline" in sums:
        baseline = strata.mean("baseline")
        pooled_sums |= dict.fromkeys(("baseline", "unit_baseline_products"), units * baseline)
        pooled_sums["model"] = units * (baseline + mean)
    if "products" in sums:
        baseline = strata.mean("baseline")
        covariance = strata.covariance_terms("products", "difference", "baseline").sum(axis=-1)
        baseline_variance = strata.covariance_terms("baseline_squares", "baseline", "baseline").sum(axis=-1)
        pooled_sums |= {
            "products": units * strata.mean("products"),
            "baseline_squares": units * strata.mean("baseline_squares"),
            "unit_cross": units * ((units - 1) * covariance + mean * baseline),
            "unit_baseline_squares": units * ((units - 1) * baseline_variance + square(baseline)),
        }
    pooled_sums = {name: np.where(has_all, array, 0.0) for name, array in pooled_sums.items()}
    pooled_sums["effective"] = np.where(has_all, effective, np.nan)
    return pooled_sums | {name: sums[name].sum(axis=-1) for name in COUNTED if name in sums}
