"""How far two people or models agree on grades: Cohen's kappa with quadratic weights, and its interval over lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recframe._inference.statistics.student import Sums, interval, scipy_stats

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LEAST_CHANCE_DIFFERENCE = 1e-12
"""The least mean squared difference of random pairs, as a share of the squared grades.

Below it, kappa would be a quotient of two rounding errors.
"""
NEARLY_EQUAL = 1 - 1e-9
"""From this kappa on, Fisher's transformation is not used, because it becomes infinite."""


@dataclass(frozen=True)
class Kappa:
    """Cohen's weighted kappa with the ends of its interval, NaN where there is none."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, first: Floats, second: Floats, lists: NDArray[np.intp], confidence: float) -> Kappa:
        r"""Return how far two graders agree on items, with an interval for other lists.

        `first` and `second` hold the two grades of each item. `lists` holds the item's list, numbered from 0.

        .. math:: \kappa = 1 - \frac{\text{mean of } (a - b)^2}{\text{its mean over all pairs of } a \text{ and } b}

        The interval is Student's interval of Fisher's transformation artanh κ, with the standard error of the jackknife
        over lists. If all disagreement is in one list, the jackknife uses κ itself.

        References
        ----------
        Cohen, *Weighted kappa*, Psychological Bulletin 70, 1968.
        """
        count = int(lists.max(initial=-1)) + 1
        columns = (np.ones(len(first)), first, second, first**2, second**2, (first - second) ** 2)
        by_list = np.array([np.bincount(lists, column, count) for column in columns])
        total = by_list.sum(axis=1)
        value = float(_kappa(total))
        without = _kappa(total[:, None] - by_list)
        if not (np.isfinite(value) and np.isfinite(without).all()):
            return cls(value, np.nan, np.nan)
        if max(value, without.max()) < NEARLY_EQUAL and min(value, without.min()) > -NEARLY_EQUAL:
            center = np.arctanh(value)
            others = np.arctanh(without)
            error = np.sqrt((count - 1) / count * np.square(others - others.mean()).sum())
            half = scipy_stats().t.isf((1 - confidence) / 2, count - 1) * error if count > 1 else np.nan
            if half > 0:
                return cls(value, float(np.tanh(center - half)), float(np.tanh(center + half)))
        pseudo_values = value + (count - 1) * (without.mean() - without)
        low, high = interval(Sums.of(pseudo_values, np.ones(count)), confidence, (-1.0, 1.0))
        return cls(value, low.item(), high.item())


def _kappa(sums: Floats) -> Floats:
    """Return the kappa of graded items from their number and the sums of a, b, a², b² and (a − b)².

    The result is NaN if all grades are equal, because random pairs agree too.
    """
    n, first, second, first_squares, second_squares, differences = sums
    with np.errstate(invalid="ignore", divide="ignore"):
        by_chance = (first_squares + second_squares) / n - 2 * (first / n) * (second / n)
        spread = (first_squares + second_squares) / n
        kappa = 1 - differences / n / by_chance
    return np.where(by_chance > LEAST_CHANCE_DIFFERENCE * spread, kappa, np.nan)
