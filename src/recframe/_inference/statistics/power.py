"""The power of t-tests by the noncentral t distribution, the number of lists needed, and the detectable difference."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from recframe._inference.statistics.roots import bisected
from recframe._inference.statistics.student import LEAST_UNITS, Sums, scipy_stats, square

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

DEFAULT_POWER = 0.8
"""The power for which `detectable` names the smallest difference."""
CAREFUL_CONFIDENCE = 0.8
"""The confidence that the true spread of units is not above the careful estimate."""
STEPS = 12
"""The most steps of the search for the detectable difference."""
MOST_UNITS = 1e12
"""The largest number of units to report: no data set has more."""
NORMAL_DEGREES = 1e6
"""The degrees of freedom from which t is treated as normal."""
INEXACT_SHIFT = 36.0
"""The shift in standard errors from which SciPy's noncentral t is not exact. The power is then integrated here."""


def power_of(shift: Any, degrees: Any, level: float) -> Floats:
    """Return the power of two-sided t-tests at a significance level.

    The true means are `shift` standard errors above 0. The result is NaN if a shift or the degrees of freedom are.
    """
    return power_beyond(shift, degrees, scipy_stats().t.isf(level / 2, degrees))


@cache
def _normal_quadrature() -> tuple[Floats, Floats]:
    """Return the nodes and the weights of Gauss-Hermite quadrature, which integrates over a normal distribution."""
    values, weights = np.polynomial.hermite_e.hermegauss(7)
    return values, weights / weights.sum()


def power_beyond(shift: Any, degrees: Any, end: Floats) -> Floats:
    """Return the probability that the statistic t is above `end` or below -`end`.

    The true means are `shift` standard errors above 0.
    """
    stats = scipy_stats()
    with np.errstate(invalid="ignore"):
        # NaN skips the slow computation for shifts and degrees that do not use its result.
        few = np.where(degrees < NORMAL_DEGREES, degrees, np.nan)
        near = np.where(shift < INEXACT_SHIFT, shift, np.nan)
        # SciPy's lower tail is NaN where it is nearly 0.
        exact = stats.nct.sf(end, few, near) + np.nan_to_num(stats.nct.cdf(-end, few, near))
        normal = stats.norm.sf(end - shift) + stats.norm.cdf(-end - shift)
        means, shares = _normal_quadrature()
        # Far from 0 only the upper tail counts: the mean, over normal numerators of t, of the probability that the
        # standard error is small enough.
        far = np.tensordot(shares, stats.chi2.cdf(degrees * square(np.add.outer(means, shift) / end), degrees), 1)
        power = np.where(degrees < NORMAL_DEGREES, np.where(shift < INEXACT_SHIFT, exact, far), normal)
        return np.where(np.isnan(degrees) | np.isnan(shift), np.nan, power)


def detectable(sums: Sums, confidence: float, power: float = DEFAULT_POWER, reach: Floats | None = None) -> Floats:
    """Return the smallest true mean that a two-sided test at level 1 - `confidence` rejects with this power.

    The test is the t-test. With `reach` it is a test that rejects means of more standard errors than `reach`. The
    power is computed from the noncentral t distribution. The result is NaN if all values are the same, if there are
    fewer than two units, and where `reach` is not finite.
    """
    t = scipy_stats().t
    degrees = sums.degrees
    error = sums.standard_error
    beyond = np.asarray(t.isf((1 - confidence) / 2, degrees) if reach is None else reach)
    varies = (error > 0) & np.isfinite(degrees) & np.isfinite(beyond)
    degrees = degrees[varies]
    end = beyond[varies]
    # The secant method: a line through the last two shifts and their powers gives the next shift.
    last_shift = end + t.ppf(power, degrees)
    shift = last_shift * 1.001
    last_power = power_beyond(last_shift, degrees, end)
    for _ in range(STEPS):
        if np.all(np.abs(shift - last_shift) <= 1e-13 * shift):
            break
        shift_power = power_beyond(shift, degrees, end)
        with np.errstate(invalid="ignore", divide="ignore"):
            step = (power - shift_power) * (shift - last_shift) / (shift_power - last_power)
        next_shift = shift + np.where(np.isfinite(step), np.clip(step, -shift / 2, shift), 0.0)
        last_shift, last_power, shift = shift, shift_power, next_shift
    differences = np.full(np.shape(error), np.nan)
    differences[varies] = shift * error[varies]
    return differences


@dataclass(frozen=True)
class FutureUnits:
    """The units of a future test: lists, or clusters of lists, estimated from the lists of the call.

    Attributes
    ----------
    spread : array of float
        The standard deviation of a unit: the standard error of n of them is spread / √n.
    lists : array of float
        How many lists hold as much information as one unit, with the weights and clusters of the call.
    imbalance : array of float
        u times the leverage Σv³ / (W Σv²) of `student`: 1 if all units weigh the same, and larger if few units have
        most of the weight. The degrees of freedom depend on it.
    """

    spread: Floats
    lists: Floats
    imbalance: Floats

    @classmethod
    def of(cls, sums: Sums) -> FutureUnits:
        """Return the units, estimated from sums over lists."""
        units = sums.units
        with np.errstate(invalid="ignore", divide="ignore"):
            imbalance = units * sums.unit_weight_cubes / sums.weight / sums.unit_weight_squares
            spread = np.where(sums.standard_error > 0, sums.standard_error * np.sqrt(units), np.nan)
            return cls(spread, sums.lists / units, np.maximum(imbalance, 1.0))

    def careful(self, degrees: Floats, differing: Floats) -> Self:
        """Return the units with a careful spread, the upper end of its one-sided interval.

        The spread was estimated with `degrees` degrees of freedom. A share `differing` of lists has a difference other
        than 0, which is taken as normal. The variance of such values is as uncertain as the variance of 2 / (κ − 1)
        times as many normal values, with the kurtosis κ = 3 / differing.
        """
        with np.errstate(invalid="ignore", divide="ignore"):
            degrees = degrees * 2 * differing / (3 - differing)
            larger = np.sqrt(degrees / scipy_stats().chi2.isf(CAREFUL_CONFIDENCE, degrees))
        return replace(self, spread=self.spread * larger)

    def power(self, difference: Any, units: Any, level: float) -> Floats:
        """Return the power of a two-sided test with a number of units if the true difference is `difference`."""
        with np.errstate(invalid="ignore", divide="ignore"):
            degrees = units * square(1 - 1 / units) / (1 - 2 * self.imbalance / units + 1 / units)
        return power_of(np.abs(difference) * np.sqrt(units) / self.spread, degrees, level)

    def needed_to_be_equivalent(self, margin: Any, power: float, level: float) -> Floats:
        """Return the number of units that a test of equivalence needs for a power, if the true difference is 0.

        It consists of two one-sided tests, each at half of `level`. They rarely fail together, so each may fail with
        half of the probability 1 - power. The result is as in `needed`.
        """
        return self.needed(margin, (1 + power) / 2, level)

    def needed(self, difference: Any, power: float, level: float) -> Floats:
        """Return the number of units that a two-sided test needs to find a difference with a power, not rounded.

        The result is NaN without a spread, and above `MOST_UNITS`.
        """
        least = np.log(np.maximum(LEAST_UNITS, 2 * self.imbalance))
        most = np.full(np.shape(least), np.log(MOST_UNITS))
        reachable = ~np.isnan(self.spread) & (self.power(difference, np.exp(most), level) >= power)

        def are_too_few(logarithm: Floats) -> NDArray[np.bool_]:
            """Return whether numbers of units, by their logarithms, do not reach the power."""
            return np.asarray(~(self.power(difference, np.exp(logarithm), level) >= power))

        return np.where(reachable, np.exp(bisected(are_too_few, least, most)), np.nan)
