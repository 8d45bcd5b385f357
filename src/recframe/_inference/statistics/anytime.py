"""Tests that allow repeated looks: confidence sequences of a mean, from sums over lists.

A confidence sequence contains the mean at all numbers of lists at once, with the confidence of the call. So if you stop
when the interval excludes 0, you are wrong with a probability of at most α. Each method below has an e-value E, a
number whose mean is at most 1 at any look if the true mean is 0. So the probability that E ≥ 1/α at any look is at most
α (Ville). The p-value is 1 / E, at most 1, and the interval contains the means whose E is below 1/α.

Both methods average over sizes of the effect, so that intervals are shortest at a planned number of lists N. With
α = 1 − confidence,

    ρ² = (−2 log α + log(1 − 2 log α)) / N

and N and the confidence must be the same at every look.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from recframe._inference.statistics import student
from recframe._inference.statistics.roots import bisected
from recframe._inference.statistics.student import ratio, scipy_stats, square

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from recframe._inference.statistics.student import Sums

    Floats = NDArray[np.float64]

FACTORS = 400
"""The number of bets over which `Bounded` averages."""
USUAL_VARIANCE = 0.04
"""The variance of differences, in units of half their range, for which the intervals of `Bounded` are shortest."""


@dataclass(frozen=True)
class Student:
    """The t-test at a single look that was planned in advance."""

    level: float

    def interval(self, sums: Sums, bounds: Sequence[Any]) -> tuple[Floats, Floats]:
        """Return the ends of the interval of a mean."""
        return student.interval(sums, 1 - self.level, bounds)

    def p_value(self, sums: Sums, bounds: Sequence[Any]) -> Floats:  # noqa: ARG002 - Bounded reads it
        """Return the p-value of a mean of 0."""
        return student.p_value(sums)

    def end(self, sums: Sums, bounds: Sequence[Any], level: float) -> Floats:  # noqa: ARG002 - Bounded reads it
        """Return the number of standard errors beyond which the test rejects at a level."""
        return self.limit(sums.degrees, sums.effective_lists, level)

    def p_of(self, statistic: Floats, degrees: Floats, lists: Floats) -> Floats:  # noqa: ARG002 - Asymptotic reads it
        """Return the p-value of a statistic."""
        return np.asarray(2 * scipy_stats().t.sf(statistic, degrees))

    def limit(self, degrees: Floats, lists: Floats, level: float) -> Floats:  # noqa: ARG002 - Asymptotic reads it
        """Return the statistic beyond which the p-value is below a level."""
        return np.asarray(scipy_stats().t.isf(level / 2, degrees))


@dataclass(frozen=True)
class Asymptotic(Student):
    """The confidence sequence from t-tests: exact for normal differences, and for others as the number of lists grows.

    With the effective number of lists n, g = nρ², the statistic t and its degrees of freedom f:

        E = (1 + g)^(−1/2) ((1 + t² / f) / (1 + t² / (f (1 + g))))^((f + 1) / 2)

    With many lists this is the Gaussian mixture of Waudby-Smith and others, (1 + g)^(−1/2) exp(t² g / (2 (1 + g))), so
    the interval is the mean ± √((1 + 1/g) log((1 + g) / α²)) standard errors. Weights and clusters are in the standard
    error and the degrees of freedom.

    References
    ----------
    Waudby-Smith, Arbour, Sinha, Kennedy, Ramdas, *Time-uniform central limit theory and asymptotic confidence
    sequences*, Annals of Statistics 52, 2024; Wang, Ramdas, *Anytime-valid t-tests and confidence sequences for
    Gaussian means with unknown variance*, Sequential Analysis 44, 2025.
    """

    planned: int

    def growth(self, lists: Any) -> Any:
        """Return g = nρ²."""
        spent = -2 * np.log(self.level)
        return lists * (spent + np.log1p(spent)) / self.planned

    def p_of(self, statistic: Floats, degrees: Floats, lists: Floats) -> Floats:
        """Return the p-value of a statistic, NaN without degrees of freedom."""
        growth = self.growth(lists)
        with np.errstate(all="ignore"):
            share = square(statistic) / degrees
            gain = np.log1p(share) - np.log1p(share / (1 + growth))
            return np.asarray(np.exp(np.minimum(0.5 * np.log1p(growth) - (degrees + 1) / 2 * gain, 0.0)))

    def limit(self, degrees: Floats, lists: Floats, level: float) -> Floats:
        """Return the statistic beyond which the p-value is below a level, infinite if there is none."""
        growth = self.growth(lists)
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            needed = 2 / (degrees + 1) * (0.5 * np.log1p(growth) - np.log(level))
            share = np.expm1(needed) / (1 - np.exp(needed - np.log1p(growth)))
            return np.asarray(np.where(needed < np.log1p(growth), np.sqrt(degrees * share), degrees + np.inf))

    def interval(self, sums: Sums, bounds: Sequence[Any]) -> tuple[Floats, Floats]:
        """Return the ends of the interval of a mean. It contains 0 if there are too few equal values to reject 0."""
        includes_zero = (sums.standard_error == 0) & (self.p_value(sums, bounds) >= self.level)
        low, high = student.interval(sums, 1 - self.level, bounds, self.end(sums, bounds, self.level), includes_zero)
        return np.where(includes_zero, np.minimum(low, 0.0), low), np.where(includes_zero, np.maximum(high, 0.0), high)

    def p_value(self, sums: Sums, bounds: Sequence[Any]) -> Floats:  # noqa: ARG002 - Bounded reads it
        """Return the p-value of a mean of 0.

        For equal values the p-value is the limit of 1 / E as t grows, but at least the p-value of sign flips. Otherwise
        the first few equal values would reject sooner than any other values can.
        """
        error = sums.standard_error
        degrees = sums.degrees
        p = self.p_of(ratio(np.abs(sums.mean), error), degrees, sums.effective_lists)
        with np.errstate(all="ignore"):
            limit = np.exp(-degrees / 2 * np.log1p(self.growth(sums.effective_lists)))
        equal = student.p_value(sums)
        return np.where(error > 0, p, np.where(sums.mean == 0, equal, np.maximum(limit, equal)))


@dataclass(frozen=True)
class Bounded:
    """The confidence sequence of bounded values: exact for any number of lists and any distribution.

    Values lie within c ± h. With x = (d − c) / h, which lies within ±1, v = Σx² and the sum s of x less its mean,
    exp(λs − ψ(λ)v) with ψ(λ) = −log(1 − λ) − λ has a mean of at most 1 for each bet 0 ≤ λ < 1 (Fan and others; Howard
    and others), and so has

        E = mean over λ of cosh(λs) exp(−ψ(λ) v)

    The bets are quantiles of a half-normal distribution, cut at 1, with the variance 1 / r. With r = 0.04 / ρ², it is
    tightest if the standard deviation of the values is a fifth of h.

    The results are NaN without finite bounds, if lists or clusters do not weigh the same, and below two lists.

    References
    ----------
    Howard, Ramdas, McAuliffe, Sekhon, *Time-uniform, nonparametric, nonasymptotic confidence sequences*, Annals of
    Statistics 49, 2021, theorem 4; Fan, Grama, Liu, *Exponential inequalities for martingales with applications*,
    Electronic Journal of Probability 20, 2015.
    """

    level: float
    planned: int

    @cached_property
    def _bets(self) -> Floats:
        """The bets λ over which E is averaged."""
        normal = scipy_stats().norm
        spread = 1 / np.sqrt(USUAL_VARIANCE / Asymptotic(self.level, self.planned).growth(1.0))
        quantiles = (np.arange(FACTORS) + 0.5) / FACTORS
        return np.asarray(spread * normal.ppf(0.5 + quantiles * (normal.cdf(1 / spread) - 0.5)))

    def _log_e(self, total: Floats, squares: Floats) -> Floats:
        """Return log E from the sum s and the sum of squares v."""
        bets = self._bets
        gained = bets * np.abs(total)[..., None]
        lost = (np.log1p(-bets) + bets) * squares[..., None]
        terms = gained + np.log1p(np.exp(-2 * gained)) - np.log(2) + lost
        most = terms.max(axis=-1)
        return np.asarray(most + np.log(np.exp(terms - most[..., None]).mean(axis=-1)))

    @staticmethod
    def _scaled(sums: Sums, bounds: Sequence[Any]) -> tuple[Floats, Floats]:
        """Return the half-width, and Σx²: NaN without a range, with unequal weights, or with fewer than two lists."""
        centre = (bounds[0] + bounds[1]) / 2
        half = (bounds[1] - bounds[0]) / 2
        with np.errstate(invalid="ignore", divide="ignore"):
            squares = (sums.squares + sums.weight * square(sums.mean - centre)) / square(half)
        has_equal_weights = (sums.weight == sums.lists) & (sums.unit_weight_squares == sums.lists)
        return half, np.where(np.isfinite(half) & has_equal_weights & ~np.isnan(sums.units), squares, np.nan)

    def _reach(self, squares: Floats, level: float) -> Floats:
        """Return the sum, in half-widths, at which E is 1 / level."""
        bets = self._bets
        wanted = -np.log(level)
        low = np.zeros(np.shape(squares))
        high = (wanted + np.log(2 * FACTORS) - (np.log1p(-bets[-1]) + bets[-1]) * squares) / bets[-1]
        return bisected(lambda total: np.asarray(~(self._log_e(total, squares) >= wanted)), low, high)

    def interval(self, sums: Sums, bounds: Sequence[Any]) -> tuple[Floats, Floats]:
        """Return the ends of the interval of a mean."""
        half, squares = self._scaled(sums, bounds)
        reach = ratio(self._reach(squares, self.level) * half, sums.weight)
        return student.clip_interval(sums.mean - reach, sums.mean + reach, sums.mean, bounds)

    def p_value(self, sums: Sums, bounds: Sequence[Any]) -> Floats:
        """Return the p-value of a mean of 0."""
        half, squares = self._scaled(sums, bounds)
        with np.errstate(all="ignore"):
            return np.asarray(np.exp(-np.maximum(self._log_e(sums.total / half, squares), 0.0)))

    def end(self, sums: Sums, bounds: Sequence[Any], level: float) -> Floats:
        """Return the number of standard errors beyond which the test rejects at a level."""
        half, squares = self._scaled(sums, bounds)
        return ratio(self._reach(squares, level) * half, sums.weight * sums.standard_error)
