"""A mean from few true values and many predicted ones: prediction-powered inference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recframe._base.values import ROUNDING
from recframe._inference.statistics.student import scipy_stats

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

ESTIMATED_NUMBERS = 2
"""The numbers that are estimated from the same values: the mean, and the weight of the predictions."""


@dataclass(frozen=True)
class Values:
    """The values of lists, NaN for a list without a value, and the weights of lists.

    A mean over the lists that have a value is the ratio of two sums, of `totals` and of `counts`.
    """

    values: Floats
    weights: Floats

    @property
    def counts(self) -> Floats:
        """The weight of each list in the mean, 0 for a list without a value."""
        return np.where(np.isnan(self.values), 0.0, self.weights)

    @property
    def totals(self) -> Floats:
        """The weighted value that each list adds to the sum."""
        return self.counts * np.nan_to_num(self.values)

    @property
    def mean(self) -> float:
        """The weighted mean, NaN if no list has a value."""
        counts = self.counts.sum()
        return float(self.totals.sum() / counts) if counts > 0 else np.nan

    def residuals(self, mean: float) -> Floats:
        """Return the difference between each list's value and a mean, times the list's weight."""
        return self.totals - mean * self.counts


@dataclass(frozen=True)
class Estimate:
    """A mean with its interval, and the weight of the predictions in it."""

    mean: float
    low: float
    high: float
    weight: float


def prediction_powered(true: Values, predicted: Values, others: Values, confidence: float) -> Estimate | None:
    r"""Return the PPI++ estimate of the mean of true values, or None if predictions do not help.

    They do not help if they are not correlated with the true values, or with fewer than three true values or two other
    lists.

    .. math:: \hat\theta = \frac1n \sum_i (Y_i - \lambda F_i) + \frac\lambda N \sum_j F_j,
        \qquad \lambda = \frac{\mathrm{Cov}(Y, F)}{(1 + n / N) \mathrm{Var}(F)} \text{ clipped to } [0, 1]

    The n lists i have a true value Y, N other lists j have not, and all of them have a predicted value F. If lists have
    unequal weights, or some have no value, the mean is a ratio of two sums. It solves the same equation for residuals.

    Parameters
    ----------
    true, predicted : Values
        The true and the predicted values of the same lists.
    others : Values
        The predicted values of all other lists.
    confidence : float
        The confidence of the interval, which is Student's.

    References
    ----------
    Angelopoulos, Duchi, Zrnic, *PPI++: efficient prediction-powered inference*, arXiv 2311.01453.
    """
    # Lists of weight 0 are not part of the sample.
    weighs = (true.weights > 0) | (predicted.weights > 0)
    true, predicted = (Values(each.values[weighs], each.weights[weighs]) for each in (true, predicted))
    others = Values(*(each[others.weights > 0] for each in (others.values, others.weights)))
    count = len(true.values)
    more = len(others.values)
    mean = true.mean
    if (true.counts > 0).sum() <= ESTIMATED_NUMBERS or more < ESTIMATED_NUMBERS:
        return None
    human, judge, further = (each.residuals(mean) for each in (true, predicted, others))
    spread = np.concatenate([judge, further]).var(ddof=1)
    together = ((human - human.mean()) * (judge - judge.mean())).mean()
    weight = float(np.clip(together / ((1 + count / more) * spread), 0, 1)) if spread > 0 else 0.0
    if weight <= ROUNDING:
        return None
    divisor = true.counts.mean() + weight * (others.counts.mean() - predicted.counts.mean())
    total = true.totals.mean() + weight * (others.totals.mean() - predicted.totals.mean())
    if divisor <= 0:
        return None
    mean = float(total / divisor)
    human, judge, further = (each.residuals(mean) for each in (true, predicted, others))
    units = np.square(true.counts.sum()) / np.square(true.counts).sum()
    variances = np.array([
        (human - weight * judge).var() / count * units / max(units - ESTIMATED_NUMBERS, 1e-9),
        weight**2 * further.var(ddof=1) / more,
    ]) / divisor**2  # fmt: skip
    degrees = np.array([max(units - ESTIMATED_NUMBERS, 1e-9), more - 1])
    variance = variances.sum()
    with np.errstate(invalid="ignore", divide="ignore"):
        freedom = variance**2 / (variances**2 / degrees).sum()
    half = float(scipy_stats().t.isf((1 - confidence) / 2, freedom) * np.sqrt(variance))
    return Estimate(mean, mean - half, mean + half, weight)
