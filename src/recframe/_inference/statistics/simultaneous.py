"""Tests of many means at once: the distribution of the largest statistic of all, by flips or as multivariate t."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recframe._base.values import ROUNDING
from recframe._inference.statistics.resampling import BATCH, flips
from recframe._inference.statistics.student import ratio, scipy_stats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


class LargestFlipped:
    """The distribution of the largest statistic of all columns if the signs of units are flipped at random.

    The statistic of a column is |ΣT| / √ΣT², with the totals T of units. If all units weigh the same, it orders
    samples as |t| does. A flip changes the signs of all columns of a unit. Parts of the lists are flipped
    independently of each other.

    Parameters
    ----------
    parts : sequence of array of float, units × columns
        The totals of the units of each part of the lists, 0 where a unit has no value.
    resamples, seed : int
        How many flips are drawn, and their seed.
    observed : sequence of array of float, optional
        The statistics of the columns of each part. With them, `stepped_down` has their p-values.

    References
    ----------
    Westfall, Young, *Resampling-based multiple testing*, 1993; Romano, Wolf, *Exact and approximate stepdown
    methods for multiple hypothesis testing*, JASA 100, 2005.
    """

    def __init__(
        self, parts: Sequence[Floats], resamples: int, seed: int, observed: Sequence[Floats] | None = None
    ) -> None:
        norms = [np.sqrt(np.square(part).sum(axis=0)) for part in parts]
        seeds = np.random.SeedSequence(seed).spawn(len(parts))
        randoms = [np.random.Generator(np.random.SFC64(child)) for child in seeds]
        every = None if observed is None else np.concatenate(observed)
        order = np.array([], dtype=np.intp) if every is None else np.argsort(every, kind="stable")
        counts = np.zeros(len(order))
        largest = []
        for start in range(0, resamples, BATCH):
            count = min(BATCH, resamples - start)
            drawn = [
                np.nan_to_num(ratio(np.abs(flips(part, random, count)), norm))
                for part, random, norm in zip(parts, randoms, norms, strict=True)
            ]
            largest.append(np.max([statistics.max(axis=1, initial=0.0) for statistics in drawn], axis=0))
            if every is not None:
                below = np.maximum.accumulate(np.concatenate(drawn, axis=1)[:, order], axis=1)
                counts += (below >= every[order] * (1 - ROUNDING)).sum(axis=0)
        self._largest = np.sort(np.concatenate(largest))
        # The data themselves count as one of the flips.
        stepped = np.maximum.accumulate(((1 + counts) / (1 + resamples))[::-1])[::-1]
        self.stepped_down = np.empty(len(order))
        """The stepped-down p-values of the observed statistics, each adjusted for statistics that are not larger.

        Empty without `observed`.
        """
        self.stepped_down[order] = stepped

    def p_values(self, statistics: Floats) -> Floats:
        """Return the adjusted p-values: the share of flips whose largest statistic is at least as large.

        The data themselves count as one of the flips. No statistic may be NaN.
        """
        count = len(self._largest)
        return (1 + count - np.searchsorted(self._largest, statistics * (1 - ROUNDING))) / (1 + count)

    def critical(self, level: float) -> float:
        """Return the largest statistic whose p-value is not below a level, infinite if there are too few flips."""
        count = len(self._largest)
        least = int(np.searchsorted(np.arange(1, count + 2) / (1 + count), level))
        return float(self._largest[-least]) if least else np.inf


class MultivariateT:
    """The distribution of the largest statistic under a multivariate t with the correlation of the columns.

    A vector of normal statistics is a direction times a length. Only directions are drawn. For each of them, an F
    distribution gives the exact probability over lengths and over the variance that t divides by. So even small
    p-values need few draws.

    Parameters
    ----------
    parts : sequence of array of float, units × columns
        The residuals of the units of each part of the lists, 0 where a unit has no value.
    degrees : float
        The degrees of freedom.
    resamples, seed : int
        How many directions are drawn, and their seed.

    References
    ----------
    Dunnett, *A multiple comparison procedure for comparing several treatments with a control*, JASA 50, 1955; Hothorn,
    Bretz, Westfall, *Simultaneous inference in general parametric models*, Biometrical Journal 50, 2008.
    """

    def __init__(self, parts: Sequence[Floats], degrees: float, resamples: int, seed: int) -> None:
        roots = []
        self._columns = 0
        for part in parts:
            self._columns += part.shape[1]
            norms = np.sqrt(np.square(part).sum(axis=0))
            roots.append(np.linalg.qr(part[:, norms > 0] / norms[norms > 0], mode="r"))
        self._degrees = degrees
        self._size = sum(map(len, roots))
        if not self._size:
            return  # No column varies, so there is nothing to draw.
        random = np.random.Generator(np.random.SFC64(seed))
        shares = []
        for start in range(0, resamples, BATCH):
            count = min(BATCH, resamples - start)
            largest = np.zeros(count)
            squares = np.zeros(count)
            for root in roots:
                drawn = random.standard_normal((count, len(root)))
                largest = np.maximum(largest, np.abs(drawn @ root).max(axis=1, initial=0.0))
                squares += np.square(drawn).sum(axis=1)
            shares.append(np.square(largest) / squares * self._size)
        self._shares = np.concatenate(shares)

    def p_values(self, p: Floats) -> Floats:
        """Return p-values adjusted for all tests at once, from the two-sided p-value of each single test."""
        if not self._size:
            return p
        stats = scipy_stats()
        squares = np.square(stats.t.isf(p / 2, self._degrees))
        distribution = stats.f(self._size, self._degrees)
        return np.array(
            [square if np.isnan(square) else distribution.sf(square / self._shares).mean() for square in squares]
        )

    def level(self, level: float) -> float:
        """Return the significance level for single tests at which all tests together have this level."""
        from scipy.optimize import brentq

        def excess(log: float) -> float:
            """Return by how much single tests at a level, given by its logarithm, exceed the level of all tests."""
            return float(self.p_values(np.exp(np.array([log])))[0]) - level

        if excess(np.log(level)) <= 0:
            return level
        root: Any = brentq(excess, np.log(level / (10 * self._columns)), np.log(level), xtol=1e-13)
        return float(np.exp(root))
