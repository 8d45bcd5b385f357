"""Student's t from sums over lists: the interval of a mean, its p-value, and the difference that could be detected.

Lists are the units that are drawn. Where a cluster groups lists (the sessions of one user), clusters are. With the
weight w and the value d of a list, W = Σw, the mean m = Σwd / W and the residual sum of a unit r = Σ w (d − m) over its
lists:

    standard error² = Σ r² / W² · u / (u − 1)        with u − 1 degrees of freedom

u is the number of clusters, or without clusters the effective number of lists, (Σw)² / Σw². Without weights and
clusters this is the paired t-test; with clusters it is the cluster-robust variance (CR1) of a regression on a constant.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recframe._values import number
from recframe.errors import OptionError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

POWER = 0.8
"""The power of a test to find the difference that `detectable` names."""


def scipy_stats() -> Any:
    """Return SciPy's distributions and tests, imported by the first call that needs them."""
    from scipy import stats

    return stats


@dataclass(frozen=True)
class Sums:
    """Sums over lists, an entry for each row of a result.

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
        Σ r² over the units.
    clusters : array of float or None
        The number of clusters; None: each list is a unit of its own.
    """

    lists: Floats
    weight: Floats
    weight_squares: Floats
    total: Floats
    squares: Floats
    residual_squares: Floats
    clusters: Floats | None = None

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
        weight, total = weights.sum(), (weights * values).sum()
        deviations = values - (total / weight if weight > 0 else 0.0)
        residuals, count = weights * deviations, None
        squares = (residuals * deviations).sum()
        if clusters is not None:
            residuals = sum_by_cluster(residuals, clusters)
            count = np.array([(sum_by_cluster(weights, clusters) > 0).sum()], dtype=np.float64)
        return cls(
            lists=np.array([len(values)], dtype=np.float64),
            weight=np.array([weight]),
            weight_squares=np.array([square(weights).sum()]),
            total=np.array([total]),
            squares=np.array([squares]),
            residual_squares=np.array([square(residuals).sum()]),
            clusters=count,
        )

    @property
    def effective_lists(self) -> Floats:
        """The number of equally weighted lists that would tell as much: (Σw)² / Σw²."""
        return ratio(square(self.weight), self.weight_squares)

    @property
    def units(self) -> Floats:
        """What is drawn: clusters, or the effective number of lists."""
        return self.effective_lists if self.clusters is None else self.clusters

    @property
    def mean(self) -> Floats:
        """The weighted mean, NaN without a list."""
        return ratio(self.total, self.weight)

    @property
    def standard_deviation(self) -> Floats:
        """The deviation of values over lists, NaN below two effective lists."""
        lists = self.effective_lists
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.sqrt(ratio(self.squares, self.weight) * np.where(lists > 1, lists / (lists - 1), np.nan))

    @property
    def standard_error(self) -> Floats:
        """The standard error of the mean, NaN below two units."""
        units = self.units
        with np.errstate(invalid="ignore", divide="ignore"):
            correction = np.where(units > 1, units / (units - 1), np.nan)
            return np.sqrt(ratio(self.residual_squares, square(self.weight)) * correction)

    @property
    def degrees(self) -> Floats:
        """The degrees of freedom, NaN below two units."""
        return np.where(self.units > 1, self.units - 1, np.nan)


def sum_by_cluster(values: Floats, clusters: Any) -> Floats:
    """Return the sums of values, or of rows of values, by the clusters that they belong to."""
    numbers: dict[Any, int] = {}
    places = np.array([numbers.setdefault(name, len(numbers)) for name in clusters], dtype=np.intp)
    sums = np.zeros((len(numbers), *values.shape[1:]))
    np.add.at(sums, places, values)
    return sums


def check_confidence(confidence: Any) -> float:
    """Return a confidence, a number between 0 and 1.

    Raises
    ------
    OptionError
        It is none.
    """
    found = number("confidence", confidence, "confidence=0.95")
    if not 0 < found < 1:
        msg = f"confidence={confidence!r} is not a number between 0 and 1"
        raise OptionError(msg, "confidence=0.95")
    return found


def interval(sums: Sums, confidence: float) -> tuple[Floats, Floats]:
    """Return the ends of the interval of the mean, NaN below two units."""
    half = scipy_stats().t.ppf(0.5 + confidence / 2, sums.degrees) * sums.standard_error
    return sums.mean - half, sums.mean + half


def p_value(sums: Sums) -> Floats:
    """Return the two-sided p-value of a mean of 0.

    Values that are all 0 have the p-value 1, and values that are all the same and not 0 the p-value 0.
    """
    mean, error = sums.mean, sums.standard_error
    with np.errstate(invalid="ignore", divide="ignore"):
        statistic = np.where((mean == 0) & (error == 0), 0.0, np.abs(mean) / error)
    return np.asarray(2 * scipy_stats().t.sf(statistic, sums.degrees))


def effect(sums: Sums) -> Floats:
    """Return the mean over the standard deviation (Cohen's d of pairs): 0 for a mean of 0, NaN without spread."""
    mean, deviation = sums.mean, sums.standard_deviation
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where((mean == 0) & (deviation == 0), 0.0, np.where(deviation > 0, mean / deviation, np.nan))


def detectable(sums: Sums, confidence: float) -> Floats:
    """Return the smallest true mean that a test at this level finds with power 0.8, from the t approximation."""
    t = scipy_stats().t
    quantiles = t.ppf(0.5 + confidence / 2, sums.degrees) + t.ppf(POWER, sums.degrees)
    return np.asarray(quantiles * sums.standard_error)


def square(values: Floats) -> Floats:
    """Return squares, infinite where they are too large for a number: what is made of them is missing."""
    with np.errstate(over="ignore"):
        return np.square(values)


def ratio(above: Floats, below: Floats) -> Floats:
    """Return a quotient, NaN where the divisor is not above 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(below > 0, above / below, np.nan)
