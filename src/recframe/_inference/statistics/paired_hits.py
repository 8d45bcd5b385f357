"""The score test of paired hits: differences of lists that are all −1, 0 or 1.

With n lists, the model alone hits b and the baseline alone hits c. So the difference of the two hit rates is
(b − c) / n. Tango's score statistic for a true difference of δ is

    z = (b − c − nδ) / √(n (2q + δ(1 − δ)))

where q is the maximum likelihood estimate of the share of lists that only the baseline hits, if the difference is δ:

    q = (√(B² − 4AC) − B) / (2A),  A = 2n,  B = (2n − b + c) δ − b − c,  C = −cδ(1 − δ)

For a true ratio φ of the two rates, Tang's statistic is, with h hits of the baseline and u lists that either hits,

    z = (h + b − c − φh) / √(n (1 + φ) q + u (φ − 1))
    q = (√(B² − 4AC) − B) / (2A),  A = n (1 + φ),  B = φ² h − (h + b + c),  C = c (1 − φ) u / n

The interval contains the differences (or ratios) with |z| below the normal quantile. Student's t needs about a hundred
lists that differ before its interval is wide enough. The score test does not, because it uses the spread at the tested
difference instead of the observed spread.

References
----------
Tango, *Equivalence test and confidence interval for the difference in proportions for the paired-sample design*,
Statistics in Medicine 17, 1998; Tang, Tang, Chan, *On tests of equivalence via non-unity relative risk for matched-pair
design*, Statistics in Medicine 22, 2003.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recframe._inference.statistics.roots import bisected
from recframe._inference.statistics.student import LEAST_UNITS, ratio, scipy_stats, square

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recframe._inference.statistics.student import Sums

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PairedHits:
    """The shares of lists that only the model or only the baseline hits, with an entry of each array per row.

    Attributes
    ----------
    lists : array of float
        The effective number of lists n: NaN below two.
    gained, lost : array of float
        The shares of lists that only the model hits, and that only the baseline hits: b / n and c / n.
    """

    lists: Floats
    gained: Floats
    lost: Floats

    @classmethod
    def of(cls, sums: Sums) -> PairedHits:
        """Return the shares and n from the sums of differences that are all −1, 0 or 1.

        Without clusters, n is the effective number of lists. With clusters, n is the number of independent lists with
        the same standard error, times the squared ratio of the normal quantile to the quantile of t, because the
        standard error from few clusters is uncertain. Then n is at least the effective number of clusters and at most
        the effective number of lists. `wilson` computes n in the same way.
        """
        mean = sums.mean
        differing = square(mean) + ratio(sums.squares, sums.weight)
        gained = np.clip((differing + mean) / 2, 0.0, 1.0)
        lost = np.clip((differing - mean) / 2, 0.0, 1.0)
        every = sums.effective_lists
        units = sums.units
        with np.errstate(invalid="ignore", divide="ignore"):
            certainty = square(scipy_stats().norm.ppf(0.975) / scipy_stats().t.ppf(0.975, sums.degrees))
            lists_with_this_error = (differing - square(mean)) / square(sums.standard_error) * certainty
            are_lists = sums.unit_weight_squares == sums.weight_squares
            lists = np.where(are_lists, every, np.clip(lists_with_this_error, units, np.fmax(units, every)))
        return cls(np.where(every >= LEAST_UNITS, lists, np.nan), gained, lost)

    def statistic(self, difference: Floats) -> Floats:
        """Return z of a true difference between −1 and 1: 0 for the observed difference."""
        n = self.lists
        b = self.lists * self.gained
        c = self.lists * self.lost
        linear = (2 * n - b + c) * difference - b - c
        constant = -c * difference * (1 - difference)
        only_baseline = _larger_root(2 * n, linear, constant)
        variance = n * (2 * only_baseline + difference * (1 - difference))
        return _standardized(b - c - n * difference, variance)

    def statistic_of_ratio(self, quotient: Floats, baseline: Floats) -> Floats:
        """Return z of a true ratio of the model's hit rate to the baseline's; `baseline` is its observed hit rate."""
        n, b, c, h = (self.lists * share for share in (1.0, self.gained, self.lost, baseline))
        either = h + b
        only_baseline = _larger_root(
            n * (1 + quotient), square(quotient) * h - (h + b + c), c * (1 - quotient) * either / n
        )
        variance = n * (1 + quotient) * only_baseline + either * (quotient - 1)
        return _standardized(h + b - c - quotient * h, variance)

    def p_value(self, difference: Floats) -> Floats:
        """Return the two-sided p-value of the test that the true difference is `difference`."""
        return np.asarray(2 * scipy_stats().norm.sf(np.abs(self.statistic(difference))))

    def p_value_of_ratio(self, quotient: Floats, baseline: Floats) -> Floats:
        """Return the two-sided p-value of the test that the true ratio of the hit rates is `quotient`."""
        return np.asarray(2 * scipy_stats().norm.sf(np.abs(self.statistic_of_ratio(quotient, baseline))))

    def interval(self, confidence: float) -> tuple[Floats, Floats]:
        """Return the ends of the interval of the difference."""
        quantile = scipy_stats().norm.ppf(0.5 + confidence / 2)
        mean = self.gained - self.lost
        low = bisected(lambda end: self.statistic(end) > quantile, np.full_like(mean, -1.0), mean)
        high = bisected(lambda end: self.statistic(end) >= -quantile, mean, np.ones_like(mean))
        return np.where(np.isnan(self.lists), np.nan, low), np.where(np.isnan(self.lists), np.nan, high)

    def interval_of_ratio(self, baseline: Floats, confidence: float) -> tuple[Floats, Floats]:
        """Return the ends of the interval of the ratio: NaN if `baseline`, the baseline's observed hit rate, is 0."""
        quantile = scipy_stats().norm.ppf(0.5 + confidence / 2)
        observed = ratio(baseline + self.gained - self.lost, baseline)

        def is_below_low(tested: Floats) -> NDArray[np.bool_]:
            """Return whether ratios are below the low end."""
            return np.asarray(self.statistic_of_ratio(tested, baseline) > quantile)

        def is_below_high(share: Floats) -> NDArray[np.bool_]:
            """Return whether ratios are below the high end, which is share / (1 - share) above the observed ratio."""
            return np.asarray(self.statistic_of_ratio(observed + share / (1 - share), baseline) >= -quantile)

        low = bisected(is_below_low, np.zeros_like(observed), observed)
        # A ratio has no upper bound, so the search is over a share below 1 instead.
        share = bisected(is_below_high, np.zeros_like(observed), np.full_like(observed, 1 - 1e-15))
        is_missing = np.isnan(self.lists + observed)
        return np.where(is_missing, np.nan, low), np.where(is_missing, np.nan, observed + share / (1 - share))


def _larger_root(squared: Floats, linear: Floats, constant: Floats) -> Floats:
    """Return the larger root of quadratics that have a root of at least 0; 0 if a coefficient is NaN."""
    with np.errstate(invalid="ignore", divide="ignore"):
        root = np.sqrt(np.maximum(square(linear) - 4 * squared * constant, 0.0))
        # Subtracting two nearly equal numbers would leave only rounding errors.
        stable = np.where(linear <= 0, (root - linear) / (2 * squared), -2 * constant / (linear + root))
        return np.asarray(np.maximum(np.nan_to_num(stable), 0.0))


def _standardized(excess: Floats, variance: Floats) -> Floats:
    """Return the observed minus the tested value in standard errors; infinite if the test allows no spread."""
    with np.errstate(invalid="ignore", divide="ignore"):
        z = excess / np.sqrt(np.maximum(variance, 0.0))
    return np.where(np.isnan(excess), np.nan, np.where(excess == 0, 0.0, z))
