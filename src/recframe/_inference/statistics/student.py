"""Student's t from sums over lists: the interval of a mean, its p-value and its effect size.

The units of the sample are lists or, if a cluster groups lists (the sessions of one user), clusters. With the
weight w and the value d of a list, W = Σw, the mean m = Σwd / W and the residual sum of a unit r = Σ w (d − m) over its
lists:

    standard error² = Σ r² / W² / g,    degrees of freedom = u (1 − 1 / u)² / g,    g = 1 − 2 Σv³ / (W Σv²) + 1 / u

v is the weight of a unit, and u = W² / Σv² the effective number of units: their number if all weigh the same. Units
with a larger weight pull the mean towards themselves, so their residuals are too small. The divisor g corrects this,
exactly if the means of all units have the same variance. The degrees of freedom are Satterthwaite's for Σ r², as in
Bell and McCaffrey. Units of equal weight have g = 1 − 1 / u and u − 1 degrees of freedom. Without weights and
clusters this is the paired t-test. With fewer than two effective units the spread is unknown, so the standard error is
NaN, and so is everything computed from it.

References
----------
Carter, Schnepel, Steigerwald, *Asymptotic behavior of a t-test robust to cluster heterogeneity*, Review of Economics
and Statistics 99, 2017; Bell, McCaffrey, *Bias reduction in standard errors for linear regression with multi-stage
samples*, Survey Methodology 28, 2002.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from recframe._base.values import ROUNDING, number
from recframe.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LEAST_UNITS = 2 - 1e-9
"""Two effective units, less a tolerance for rounding."""
ROUNDING_OF_SQUARES = 1e-24
"""Residual sums of squares below this share of the sum of squared values are rounding errors."""
LEAST_LOG_OF_FLIPS = float(np.finfo(np.float64).minexp)
"""The power of two that is the least p-value of equal differences, however many there are: it is never 0."""
UNBOUNDED = (-np.inf, np.inf)
"""The range of values that may be any number."""


@cache
def scipy_stats() -> Any:
    """Return SciPy's distributions and tests, imported by the first call that needs them."""
    from scipy import stats

    return stats


@dataclass(frozen=True)
class Sums:
    """Sums over lists, with an entry of each array per row of a result.

    Attributes
    ----------
    lists : array of float
        The number of lists n.
    weight, weight_squares : array of float
        Σw and Σw² over the lists.
    total : array of float
        Σwd.
    squares : array of float
        Σ w (d − m)², with m = Σwd / Σw.
    residual_squares : array of float
        Σ r² over the units; 0 where all units have the same mean.
    unit_weight_squares, unit_weight_cubes : array of float
        Σv² and Σv³ over the units, whose weights are v.
    """

    lists: Floats
    weight: Floats
    weight_squares: Floats
    total: Floats
    squares: Floats
    residual_squares: Floats
    unit_weight_squares: Floats
    unit_weight_cubes: Floats

    @classmethod
    def of(cls, values: Floats, weights: Floats, clusters: Any = None) -> Sums:
        """Return the sums of values, as one entry.

        Parameters
        ----------
        values, weights : array of float
            The values of lists and their weights, without missing ones.
        clusters : array, optional
            The cluster of each list.
        """
        # Sort first: the order of a sum changes its last bits.
        has_equal_weights = len(weights) == 0 or weights.min() == weights.max()
        order = np.argsort(values) if has_equal_weights else np.lexsort((weights, values))
        values, weights = values[order], weights[order]
        weight = weights.sum()
        total = (weights * values).sum()
        deviations = values - (total / weight if weight > 0 else 0.0)
        of_units = np.column_stack([weights * deviations, weights, weights * values])
        if clusters is not None:
            of_units = sum_by_cluster(of_units, [clusters[row] for row in order])
            of_units = of_units[np.lexsort(of_units.T)]
        residuals, unit_weights, unit_totals = of_units.T
        entries = {
            "lists": len(values),
            "weight": weight,
            "weight_squares": square(weights).sum(),
            "total": total,
            "squares": _without_rounding((weights * square(deviations)).sum(), (weights * square(values)).sum()),
            "residual_squares": _without_rounding(square(residuals).sum(), square(unit_totals).sum()),
            "unit_weight_squares": square(unit_weights).sum(),
            "unit_weight_cubes": (unit_weights**3).sum(),
        }
        return cls(**{name: np.array([value], dtype=np.float64) for name, value in entries.items()})

    @cached_property
    def effective_lists(self) -> Floats:
        """The number of equally weighted lists with as much information: (Σw)² / Σw²."""
        return ratio(square(self.weight), self.weight_squares)

    @cached_property
    def units(self) -> Floats:
        """The number of equally weighted units with as much information: (Σv)² / Σv², NaN if below two."""
        units = ratio(square(self.weight), self.unit_weight_squares)
        return np.where(units >= LEAST_UNITS, units, np.nan)

    @cached_property
    def mean(self) -> Floats:
        """The weighted mean, NaN without a list."""
        return ratio(self.total, self.weight)

    @property
    def standard_deviation(self) -> Floats:
        """The standard deviation of the values of lists, NaN below two effective lists."""
        lists = self.effective_lists
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.sqrt(
                ratio(self.squares, self.weight) * np.where(lists >= LEAST_UNITS, lists / (lists - 1), np.nan)
            )

    @cached_property
    def divisor(self) -> Floats:
        """The expected share of the spread that the residuals keep, NaN below two units."""
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            leverage = self.unit_weight_cubes / self.weight / self.unit_weight_squares
            return np.where(leverage > 0, 1 - 2 * leverage + 1 / self.units, np.nan)

    @cached_property
    def standard_error(self) -> Floats:
        """The standard error of the mean: NaN below two units, 0 where all units have the same mean."""
        with np.errstate(invalid="ignore"):
            return np.sqrt(ratio(ratio(self.residual_squares, square(self.weight)), self.divisor))

    @cached_property
    def degrees(self) -> Floats:
        """The degrees of freedom, NaN below two units."""
        return ratio(self.units * square(1 - 1 / self.units), self.divisor)


def _without_rounding(spread: float, squares: float) -> float:
    """Return the residual sum of squares `spread`: 0 if it is only rounding, NaN if `squares` is infinite.

    `squares` is the sum of the squared values.
    """
    if squares == np.inf:
        return np.nan
    return spread if spread > ROUNDING_OF_SQUARES * squares else 0.0


def sum_by_cluster(values: Floats, clusters: Any) -> Floats:
    """Return the sums of values, or of rows of values, by the clusters that they belong to."""
    numbers: dict[Any, int] = {}
    codes = np.array([numbers.setdefault(name, len(numbers)) for name in clusters], dtype=np.intp)
    sums = np.zeros((len(numbers), *values.shape[1:]))
    np.add.at(sums, codes, values)
    return sums


def check_confidence(confidence: Any) -> float:
    """Return a confidence, a number between 0.5 and 1.

    Raises
    ------
    OptionError
        It is not a number between 0.5 and 1.
    """
    level = number("confidence", confidence, "`confidence=0.95`")
    if not 0 < level < 1:
        msg = f"`confidence={confidence!r}` is not a number between 0 and 1"
        raise OptionError(msg, "`confidence=0.95`")
    if level < 1 - level:
        msg = f"`confidence={confidence!r}` is less than 0.5, as the significance level α of a test is"
        raise OptionError(msg, f"`confidence={1 - level:g}`, which is 1 - α")
    return level


def without_spread(sums: Sums, equal: NDArray[np.bool_]) -> Sums:
    """Return sums with a spread of exactly 0 in the rows that `equal` marks, whose values are all equal."""
    parts = {name: np.where(equal, 0.0, getattr(sums, name)) for name in ("squares", "residual_squares")}
    return replace(sums, **parts)


def interval(
    sums: Sums,
    confidence: float,
    bounds: Sequence[Any] = UNBOUNDED,
    reach: Floats | None = None,
    includes_zero: Any = None,
) -> tuple[Floats, Floats]:
    """Return the ends of the interval of the mean of values within bounds, NaN below two units.

    The ends are `reach` standard errors from the mean, or by default the quantile of Student's t.

    If all values are equal, they do not show how much other values spread. But if more than a share q of all units had
    other values, so many equal values would be drawn with a probability below (1 - confidence) / 2. So the interval
    reaches to the mean that results if a share q of the units lies at the lower or at the upper bound. If the values
    equal a bound, this is Clopper and Pearson's interval. This interval is NaN without bounds, and if it would contain
    0 although the test rejects 0. `includes_zero` marks the rows whose test does not reject 0; by default `p_value`
    decides.
    """
    mean = sums.mean
    error = sums.standard_error
    with np.errstate(invalid="ignore"):
        half = (scipy_stats().t.ppf(0.5 + confidence / 2, sums.degrees) if reach is None else reach) * error
    share = 1 - (0.5 - confidence / 2) ** (1 / sums.units)
    # Rounding may carry a mean past its bound.
    least, greatest = np.minimum(bounds[0], mean), np.maximum(bounds[1], mean)
    low = mean - share * (mean - least)
    high = mean + share * (greatest - mean)
    includes_zero = p_value(sums) >= 1 - confidence if includes_zero is None else includes_zero
    is_interval = np.isfinite(low) & np.isfinite(high) & (includes_zero | (low > 0) | (high < 0))
    low, high = (np.where(is_interval, end, np.nan) for end in (low, high))
    return clip_interval(np.where(error == 0, low, mean - half), np.where(error == 0, high, mean + half), mean, bounds)


def least_value(least: Any, negative: Any, greatest: Any = 1.0) -> Any:
    """Return the least possible value of a metric: 0 instead of minus infinity if no list has a negative value.

    A metric with a greatest value and without a least value is negative only if some relevance is negative. `negative`
    is the number of lists with a negative value, or whether there are any.
    """
    return np.where(np.isfinite(least) | ~np.isfinite(greatest) | (np.asarray(negative) > 0), least, 0.0)


def clip_interval(low: Floats, high: Floats, mean: Floats, bounds: Sequence[Any]) -> tuple[Floats, Floats]:
    """Return the ends of an interval, clipped to bounds but not past the mean; infinite ends become NaN."""
    low, high = np.maximum(low, np.minimum(bounds[0], mean)), np.minimum(high, np.maximum(bounds[1], mean))
    return np.where(np.isfinite(low), low, np.nan), np.where(np.isfinite(high), high, np.nan)


def p_value(sums: Sums) -> Floats:
    """Return the two-sided p-value of a mean of 0.

    If all values are 0, the p-value is 1. If all n values are equal and not 0, it is the p-value of the sign-flip test,
    2 / 2^n, because only two of the 2^n flips give a mean as far from 0.
    """
    mean = sums.mean
    error = sums.standard_error
    statistic = np.abs(np.divide(mean, error, where=error > 0, out=np.zeros_like(mean)))
    p = np.where(np.isnan(error), np.nan, 2 * scipy_stats().t.sf(statistic, sums.degrees))
    flips = np.exp2(np.maximum(1 - sums.units, LEAST_LOG_OF_FLIPS))
    return np.where((error == 0) & (mean != 0), flips, p)


def p_of_equal(sums: Sums, bounds: Sequence[Any]) -> Floats:
    """Return the p-value of a mean of 0 if all values are equal: the one at which their `interval` just reaches 0.

    The p-value is 1 if there is no bound on the other side of 0.
    """
    distance_to_bound = np.where(sums.mean > 0, sums.mean - bounds[0], bounds[1] - sums.mean)
    share = np.clip(np.nan_to_num(ratio(np.abs(sums.mean), distance_to_bound)), 0.0, 1.0)
    return np.minimum(2 * (1 - share) ** sums.units, 1.0)


def effect(sums: Sums) -> Floats:
    """Return Cohen's d of pairs, the mean divided by the standard deviation.

    Without spread, the result is 0 for a mean of 0, and otherwise NaN.
    """
    mean = sums.mean
    deviation = sums.standard_deviation
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where((mean == 0) & (deviation == 0), 0.0, np.where(deviation > 0, mean / deviation, np.nan))


def square(values: Floats) -> Floats:
    """Return squares, infinite if they are too large for a float: then everything computed from them is missing."""
    with np.errstate(over="ignore"):
        return np.square(values)


def share_of(difference: Floats, baseline: Floats) -> Floats:
    """Return a difference as a share of the baseline's mean, NaN if that mean is 0 or only a rounding error."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(np.abs(baseline) > ROUNDING, difference / baseline, np.nan)


def ratio(above: Floats, below: Floats) -> Floats:
    """Return a quotient, NaN where the divisor is not above 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(below > 0, above / below, np.nan)
