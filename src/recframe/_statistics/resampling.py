"""Resampling of values per list: the randomization test and the bootstrap.

Lists are flipped and drawn whole, or clusters of lists where a cluster is named: for each column those that have a
value. Columns with values in the same lists share the draws, so the comparisons of one call agree with each other.
Draws come in batches, each with a seed of its own, so that results do not depend on the number of threads.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from recframe._progress import progress_bar
from recframe._statistics.draws import drawn_sums, random_bits
from recframe._statistics.student import ratio, scipy_stats, sum_by_cluster

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Interval = Literal["percentile", "bca"]
"""Bootstrap intervals: quantiles of the means, or quantiles corrected for bias and skewness."""

BATCH = 2_500
"""Draws that share a seed, and that are held in memory at a time."""
TABLES = 2**6
"""Groups of eight units whose flips are tabulated at a time: the tables stay in the processor's cache."""
ROUNDING = 1e-12
"""Sums that differ by less than this share of what they add are the same sum, in another order."""


@dataclass(frozen=True)
class Units:
    """What is resampled: lists, or clusters of lists.

    Attributes
    ----------
    totals : array of float, lists × columns
        wd of each list, 0 where it has no value.
    weights : array of float, lists × columns
        w of each list, 0 where it has no value.
    clusters : array, optional
        The name of each list's cluster; None: each list is a unit of its own.
    """

    totals: Floats
    weights: Floats
    clusters: Any = None

    def alike(self) -> Iterator[tuple[list[int], Units]]:
        """Yield the columns that have values in the same lists, and the units of these lists alone.

        So the draws of a column depend on its own lists only, never on the other columns of a call.
        """
        groups: dict[bytes, list[int]] = {}
        there = self.weights > 0
        for column, packed in enumerate(np.packbits(there, axis=0).T):
            groups.setdefault(packed.tobytes(), []).append(column)
        for columns in groups.values():
            lists = there[:, columns[0]]
            totals, weights = self.totals[lists][:, columns], self.weights[lists][:, columns]
            if self.clusters is not None:
                totals, weights = (sum_by_cluster(found, self.clusters[lists]) for found in (totals, weights))
            if len(totals):
                yield columns, Units(totals, weights)

    @property
    def means(self) -> Floats:
        """The weighted mean of each column."""
        return ratio(_column_sums(self.totals), _column_sums(self.weights))

    @property
    def rounding(self) -> Floats:
        """The difference below which two sums of a column, of any signs, are the same sum in another order."""
        return ROUNDING * _column_sums(np.abs(self.totals))


def randomization(units: Units, resamples: int, seed: int) -> Floats:
    """Return the two-sided p-value of each column under random flips of the units' signs.

    With n units that have a value, all 2^n flips are enumerated where these are at most `resamples`; else `resamples`
    random flips are drawn, and p = (1 + number of means at least as far from 0) / (1 + resamples).

    References
    ----------
    Smucker, Allan, Carterette, *A comparison of statistical significance tests for information retrieval evaluation*,
    CIKM 2007; Phipson, Smyth, *Permutation p-values should never be zero*, 2010.
    """
    found = np.full(units.totals.shape[1], np.nan)
    for columns, part in units.alike():
        totals, observed = part.totals, _column_sums(part.totals)
        if len(totals) <= np.log2(resamples):
            found[columns] = _as_far(_all_flips(totals), observed, part.rounding).mean(axis=0)
            continue
        far = _in_batches(partial(_far_flips, totals, observed, part.rounding), resamples, seed)
        found[columns] = (1 + far.sum(axis=0)) / (1 + resamples)
    return found


def bootstrap(
    units: Units, resamples: int, seed: int, confidence: float, interval: Interval
) -> tuple[Floats, Floats, Floats]:
    """Return the ends of the interval of each column's mean, and the two-sided p-value of a mean of 0.

    Units that have a value are drawn with replacement. The p-value shifts the means of the draws to 0:
    p = (1 + number of means at least as far from the mean as that is from 0) / (1 + resamples). All three are missing
    below two units.

    References
    ----------
    Efron, Tibshirani, *An introduction to the bootstrap*, 1993; the shifted test: Urbano, Lima, Hanjalic, SIGIR 2019.
    """
    low, high, p = np.full((3, units.totals.shape[1]), np.nan)
    tails = np.array([(1 - confidence) / 2, (1 + confidence) / 2])
    for columns, part in units.alike():
        if len(part.totals) == 1:
            continue
        draws, mean = _drawn_means(part, resamples, seed), part.means
        rounding = part.rounding / _column_sums(part.weights)
        p[columns] = (1 + _as_far(draws - mean, mean, rounding).sum(axis=0)) / (1 + resamples)
        for place, column in enumerate(columns):
            values, levels = draws[:, place], tails
            if interval == "bca":
                levels = _bca_levels(part.totals[:, place], part.weights[:, place], values, rounding[place], tails)
            low[column], high[column] = np.quantile(values, levels)
    return low, high, p


def _bca_levels(totals: Floats, weights: Floats, draws: Floats, rounding: float, tails: Floats) -> Floats:
    """Return the quantiles that correct for bias and skewness, the latter from the means without one unit each."""
    normal = scipy_stats().norm
    left_out = ratio(totals.sum() - totals, weights.sum() - weights)
    deviations = left_out.mean() - left_out
    squares = (deviations**2).sum()
    skewness = 0.0 if squares == 0 else (deviations**3).sum() / (6 * squares**1.5)
    above = draws - totals.sum() / weights.sum()
    below = np.mean(above < -rounding) + np.mean(np.abs(above) <= rounding) / 2
    if not 0 < below < 1:
        return tails
    bias, quantiles = normal.ppf(below), normal.ppf(tails)
    return np.asarray(normal.cdf(bias + (bias + quantiles) / (1 - skewness * (bias + quantiles))))


def _all_flips(totals: Floats) -> Floats:
    """Return the sums of each column under each choice of signs."""
    sums = np.zeros((1, totals.shape[1]))
    for unit in totals:
        sums = np.concatenate([sums + unit, sums - unit])
    return sums


def _far_flips(
    totals: Floats, observed: Floats, rounding: Floats, random: np.random.Generator, count: int
) -> NDArray[np.bool_]:
    """Return which sums of each column under random signs are at least as far from 0 as what was observed."""
    return _as_far(_flips(totals, random, count), observed, rounding)


def _flips(totals: Floats, random: np.random.Generator, count: int) -> Floats:
    """Return the sums of each column under random signs.

    One random byte chooses the signs of eight units: their sum is looked up in a table of all 256 choices.
    """
    size, columns = totals.shape
    padded = np.zeros((-(-size // 8), 8, columns))
    padded.reshape(-1, columns)[:size] = totals
    sums = np.zeros((columns, count))
    for start in range(0, len(padded), TABLES):
        groups = padded[start : start + TABLES]
        tables = np.zeros((len(groups), columns, 256))
        for unit in range(8):
            value, known = groups[:, unit, :, None], 2**unit
            np.subtract(tables[:, :, :known], value, out=tables[:, :, known : 2 * known])
            tables[:, :, :known] += value
        choices = random_bits(random, len(groups) * count, np.uint8).reshape(len(groups), count)
        for table, choice in zip(tables, choices, strict=True):
            sums += table.take(choice.astype(np.intp), axis=1)
    return sums.T


def _drawn_means(units: Units, resamples: int, seed: int) -> Floats:
    """Return the means of each column over units drawn with replacement."""
    size, columns = units.totals.shape
    # Most often all units weigh the same; then the weights need no sums of their own.
    unequal = np.flatnonzero((units.weights != units.weights[0]).any(axis=0))
    summed = np.concatenate([units.totals, units.weights[:, unequal]], axis=1)
    twos = np.zeros((size, -(-summed.shape[1] // 2), 2))
    twos.reshape(size, -1)[:, : summed.shape[1]] = summed
    values = twos.view(np.complex128)[:, :, 0]
    sums = _in_batches(lambda random, count: drawn_sums(values, random, count), resamples, seed)
    weights = np.tile(units.weights[0] * size, (resamples, 1))
    weights[:, unequal] = sums[:, columns : columns + len(unequal)]
    return ratio(sums[:, :columns], weights)


def _in_batches(draw: Callable[[np.random.Generator, int], Any], resamples: int, seed: int) -> Any:
    """Return the draws of all batches, in order."""
    sizes = [min(BATCH, resamples - start) for start in range(0, resamples, BATCH)]
    seeds = np.random.SeedSequence(seed).spawn(len(sizes))
    randoms = [np.random.Generator(np.random.SFC64(child)) for child in seeds]
    found = []
    with (
        ThreadPoolExecutor(os.cpu_count()) as pool,
        progress_bar(resamples, "resamples", show=None) as step,
    ):
        for number, drawn in enumerate(pool.map(draw, randoms, sizes), 1):
            found.append(drawn)
            step(min(number * BATCH, resamples))
    return np.concatenate(found)


def _as_far(sums: Floats, observed: Floats, rounding: Floats) -> NDArray[np.bool_]:
    """Return which sums are at least as far from 0 as what was observed."""
    return np.abs(sums) >= np.abs(observed) - rounding


def _column_sums(columns: Floats) -> Floats:
    """Return the sum of each column, added in an order that does not depend on the number of columns."""
    return np.asarray(np.ascontiguousarray(columns.T).sum(axis=1))
