"""Resampling of values per list: the randomization test and the bootstrap.

Lists are flipped and drawn whole, or clusters of lists where a cluster is named. All columns share the draws, so the
comparisons of one call agree with each other. Draws come in batches, each with a seed of its own, so that results do
not depend on the number of threads.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from recframe._statistics.student import ratio, scipy_stats, sum_by_cluster

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Interval = Literal["percentile", "bca"]
"""Bootstrap intervals: quantiles of the means, or quantiles corrected for bias and skewness."""

BATCH = 2_500
"""Draws that share a seed, and that are held in memory at a time."""
TABLES = 2**6
"""Groups of eight units whose flips are tabulated at a time: the tables stay in the processor's cache."""
BLOCK = 2**15
"""Units that 15 bits can name: how often each of a block was drawn stays in the processor's cache."""
ROUNDING = 1e-12
"""Means that differ by less than this share are the same mean, summed in another order."""


@dataclass(frozen=True)
class Units:
    """What is resampled: lists, or clusters of lists.

    Attributes
    ----------
    totals : array of float, units × columns
        Σwd over the lists of a unit, 0 where the unit has no value.
    weights : array of float, units × columns
        Σw over the lists of a unit that have a value.
    """

    totals: Floats
    weights: Floats

    @property
    def means(self) -> Floats:
        """The weighted mean of each column, NaN without a unit."""
        return ratio(self.totals.sum(axis=0), self.weights.sum(axis=0))

    def by_cluster(self, clusters: Any) -> Units:
        """Return the clusters of these units, by the name of each unit's cluster."""
        return Units(sum_by_cluster(self.totals, clusters), sum_by_cluster(self.weights, clusters))


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
    counts = (units.weights > 0).sum(axis=0)
    exact = (counts > 0) & (counts <= np.log2(resamples))
    for column in np.flatnonzero(exact):
        values = units.totals[units.weights[:, column] > 0, column]
        found[column] = np.mean(_as_far(_all_flips(values), values.sum()))
    drawn = np.flatnonzero(~exact & (counts > 0))
    if len(drawn):
        totals = np.ascontiguousarray(units.totals[:, drawn])
        far = _in_batches(
            lambda random, count: _as_far(_flips(totals, random, count), totals.sum(axis=0)), resamples, seed
        )
        found[drawn] = (1 + far.sum(axis=0)) / (1 + resamples)
    return found


def bootstrap(
    units: Units, resamples: int, seed: int, confidence: float, interval: Interval
) -> tuple[Floats, Floats, Floats]:
    """Return the ends of the interval of each column's mean, and the two-sided p-value of a mean of 0.

    Units are drawn with replacement. The p-value shifts the means of the draws to 0:
    p = (1 + number of means at least as far from the mean as that is from 0) / (1 + resamples).

    References
    ----------
    Efron, Tibshirani, *An introduction to the bootstrap*, 1993; the shifted test: Urbano, Lima, Hanjalic, SIGIR 2019.
    """
    mean = units.means
    if not len(units.totals):
        missing = np.full(len(mean), np.nan)
        return missing, missing, missing
    draws = _in_batches(lambda random, count: _drawn_means(units, random, count), resamples, seed)
    p = (1 + _as_far(draws - mean, mean).sum(axis=0)) / (1 + resamples)
    tails = np.array([(1 - confidence) / 2, (1 + confidence) / 2])
    ends = np.full((2, len(mean)), np.nan)
    for column in range(len(mean)):
        values = draws[:, column]
        if (units.weights[:, column] > 0).sum() <= 1 or np.isnan(values).any():
            p[column] = np.nan
            continue
        levels = tails if interval == "percentile" else _bca_levels(units, column, values, tails)
        ends[:, column] = np.quantile(values, levels)
    return ends[0], ends[1], p


def _bca_levels(units: Units, column: int, draws: Floats, tails: Floats) -> Floats:
    """Return the quantiles that correct for bias and skewness, the latter from the means without one unit each."""
    normal = scipy_stats().norm
    totals, weights = units.totals[:, column], units.weights[:, column]
    totals, weights = totals[weights > 0], weights[weights > 0]
    left_out = ratio(totals.sum() - totals, weights.sum() - weights)
    deviations = left_out.mean() - left_out
    squares = (deviations**2).sum()
    skewness = 0.0 if squares == 0 else (deviations**3).sum() / (6 * squares**1.5)
    below = np.mean(draws < totals.sum() / weights.sum()) + np.mean(draws == totals.sum() / weights.sum()) / 2
    if not 0 < below < 1:
        return tails
    bias, quantiles = normal.ppf(below), normal.ppf(tails)
    return np.asarray(normal.cdf(bias + (bias + quantiles) / (1 - skewness * (bias + quantiles))))


def _all_flips(values: Floats) -> Floats:
    """Return the sums of values under each choice of signs."""
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums + value, sums - value])
    return sums


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
        choices = _random_bits(random, len(groups) * count, np.uint8).reshape(len(groups), count)
        for table, choice in zip(tables, choices, strict=True):
            sums += table.take(choice.astype(np.intp), axis=1)
    return sums.T


def _drawn_means(units: Units, random: np.random.Generator, count: int) -> Floats:
    """Return the means of each column over units drawn with replacement.

    How many units come from each block is drawn first, then the units within the block.
    """
    size, columns = units.totals.shape
    blocks = [slice(start, min(start + BLOCK, size)) for start in range(0, size, BLOCK)]
    lengths = np.array([block.stop - block.start for block in blocks])
    shares = random.multinomial(size, lengths / size, size=count)
    # Most often all units weigh the same; then the weights need no sums of their own.
    alike = bool((units.weights == units.weights.flat[0]).all()) if size else True
    summed = units.totals if alike else np.concatenate([units.totals, units.weights], axis=1)
    sums = np.zeros((count, summed.shape[1]))
    for number, (block, length) in enumerate(zip(blocks, lengths, strict=True)):
        part = np.ascontiguousarray(summed[block].T)
        for draw in range(count):
            chosen = _random_units(random, shares[draw, number], length)
            # How often each unit was drawn tells the sums of all columns. A product of matrices would use threads.
            times = np.bincount(chosen, minlength=length).astype(np.float64)
            sums[draw] += np.einsum("ij,j->i", part, times)
    total = units.weights.flat[0] * size if alike and size else 0.0
    return ratio(sums[:, :columns], np.full((count, columns), total) if alike else sums[:, columns:])


def _random_units(random: np.random.Generator, count: int, length: int) -> Any:
    """Return the numbers of units drawn from a block with replacement."""
    if length < BLOCK:
        return random.integers(0, length, count)
    return (_random_bits(random, count, np.uint16) & np.uint16(BLOCK - 1)).astype(np.intp)


def _random_bits(random: np.random.Generator, count: int, dtype: Any) -> Any:
    """Return numbers of random bits: four or eight of them for each one drawn."""
    words = -(-count * np.dtype(dtype).itemsize // 8)
    return random.integers(0, 2**64 - 1, words, dtype=np.uint64, endpoint=True).view(dtype)[:count]


def _in_batches(draw: Callable[[np.random.Generator, int], Any], resamples: int, seed: int) -> Any:
    """Return the draws of all batches, in order."""
    sizes = [min(BATCH, resamples - start) for start in range(0, resamples, BATCH)]
    seeds = np.random.SeedSequence(seed).spawn(len(sizes))
    randoms = [np.random.Generator(np.random.SFC64(child)) for child in seeds]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return np.concatenate(list(pool.map(draw, randoms, sizes)))


def _as_far(sums: Floats, observed: Floats) -> NDArray[np.bool_]:
    """Return which sums are at least as far from 0 as what was observed."""
    return np.abs(sums) >= np.abs(observed) * (1 - ROUNDING)
