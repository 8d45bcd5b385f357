"""Resampling of values per list: the randomization test and the bootstrap.

The units that are flipped or drawn are lists, or clusters of lists if the call names a cluster. A column has the units
that have a value in it. Columns with values in the same lists share the draws, so the comparisons of one call agree.
Draws come in batches, each with a seed of its own, so that results do not depend on the number of threads.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from recframe._base.progress import progress_bar
from recframe._base.values import ROUNDING
from recframe._inference.statistics.draws import drawn_sums, random_bits
from recframe._inference.statistics.student import ratio, scipy_stats, sum_by_cluster

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Interval = Literal["percentile", "bca"]
"""Bootstrap intervals: quantiles of the means, or quantiles corrected for bias and skewness."""

BATCH = 2_500
"""How many draws share a seed and are in memory at a time."""
TABLES = 2**6
"""Groups of eight units whose flips are tabulated at a time: the tables stay in the processor's cache."""


@dataclass(frozen=True)
class Units:
    """The units that are resampled: lists, or clusters of lists.

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

    def with_same_lists(self) -> Iterator[tuple[list[int], Units]]:
        """Yield groups of columns that have values in the same lists, and the units of these lists, by their columns.

        With clusters, a unit is the sum of the lists of a cluster. The draws of a column depend only on its lists,
        never on the other columns of a call.
        """
        groups: dict[bytes, list[int]] = {}
        counted = self.weights > 0
        for column, packed in enumerate(np.packbits(counted, axis=0).T):
            groups.setdefault(packed.tobytes(), []).append(column)
        for columns in groups.values():
            lists = counted[:, columns[0]]
            totals, weights = self.totals[lists][:, columns], self.weights[lists][:, columns]
            if self.clusters is not None:
                totals, weights = (sum_by_cluster(sums, self.clusters[lists]) for sums in (totals, weights))
            if len(totals):
                yield columns, Units(totals, weights)

    @property
    def totals_and_weights(self) -> Floats:
        """The totals of each column, followed by its weights."""
        return np.concatenate([self.totals, self.weights], axis=1)

    @property
    def rounding(self) -> Floats:
        """The largest difference by which rounding can separate two equal sums of a column, under any signs."""
        return ROUNDING * _column_sums(np.abs(self.totals))


class Resampled(NamedTuple):
    """The results of a resampling test, by column."""

    low: Floats
    high: Floats
    p: Floats


def randomization(units: Units, resamples: int, seed: int, confidence: float) -> Resampled:
    """Return the ends of the interval of each column's mean, and the two-sided p-value under random flips of signs.

    With n units that have a value, all 2^n flips are enumerated if there are at most `resamples` of them. Otherwise
    `resamples` random flips are drawn, and p = (1 + number of means at least as far from 0) / (1 + resamples).

    The interval contains the means that the same flips do not reject. To test a mean, the signs of the differences
    between the values and this mean are flipped. A flip is at least as extreme as the data if the
    tested mean lies between the mean of the flipped units and the mean of the other units. The ends are infinite if
    there are too few flips to reject any mean.

    References
    ----------
    Smucker, Allan, Carterette, *A comparison of statistical significance tests for information retrieval evaluation*,
    CIKM 2007; Phipson, Smyth, *Permutation p-values should never be zero*, 2010.
    """
    low, high, p = np.full((3, units.totals.shape[1]), np.nan)
    for columns, part in units.with_same_lists():
        if len(part.totals) <= np.log2(resamples):
            least, most, has_zero = _between_flipped(part, _all_flips(part.totals_and_weights))
        else:
            drawn = _in_batches(partial(_drawn_flips, part), resamples, seed)
            # The data themselves count as one of the flips.
            no_flip = np.broadcast_to(np.array([-np.inf, np.inf, 1.0])[:, None], (1, *drawn.shape[1:]))
            least, most, has_zero = np.concatenate([drawn, no_flip]).swapaxes(0, 1)
        p[columns] = has_zero.mean(axis=0)
        # A mean is rejected if it lies between the two means of so few flips that their share is below 1 - confidence.
        most_flips_of_rejected = int(np.searchsorted(np.arange(len(least) + 1) / len(least), 1 - confidence)) - 1
        low[columns] = np.partition(least, most_flips_of_rejected, axis=0)[most_flips_of_rejected]
        high[columns] = -np.partition(-most, most_flips_of_rejected, axis=0)[most_flips_of_rejected]
    return Resampled(low, high, p)


def bootstrap(units: Units, resamples: int, seed: int, confidence: float, interval: Interval) -> Resampled:
    """Return the ends of the interval of each column's mean, and the two-sided p-value of a mean of 0.

    Units that have a value are drawn with replacement. The p-value is the largest at which the interval of the
    confidence 1 - p contains 0, and at least 1 / (1 + resamples). All three are missing below two units.

    References
    ----------
    Efron, Tibshirani, *An introduction to the bootstrap*, 1993.
    """
    low, high, p = np.full((3, units.totals.shape[1]), np.nan)
    tails = np.array([(1 - confidence) / 2, (1 + confidence) / 2])
    for columns, part in units.with_same_lists():
        if len(part.totals) == 1:
            continue
        draws = _drawn_means(part, resamples, seed)
        rounding = part.rounding / _column_sums(part.weights)
        draws = np.sort(np.where(np.abs(draws) <= rounding, 0.0, draws), axis=0)
        for position, column in enumerate(columns):
            values = draws[:, position]
            bias = 0.0
            acceleration = 0.0
            if interval == "bca":
                totals, weights = part.totals[:, position], part.weights[:, position]
                bias, acceleration = _bca(totals, weights, values, rounding[position])
            low[column], high[column] = np.quantile(values, _levels(tails, bias, acceleration))
            below, above = _tails(_levels_of_zero(values), bias, acceleration)
            p[column] = min(max(2 * below, 1 / (1 + resamples)), max(2 - 2 * above, 1 / (1 + resamples)), 1.0)
    return Resampled(low, high, p)


def _bca(totals: Floats, weights: Floats, draws: Floats, rounding: float) -> tuple[float, float]:
    """Return the bias of the draws as a normal quantile, and the acceleration from means without one unit each.

    Both are 0 if all draws are on one side of the mean, because the bias would be infinite.
    """
    left_out = ratio(totals.sum() - totals, weights.sum() - weights)
    deviations = (left_out.mean() - left_out) / (np.ptp(left_out) or 1.0)
    squares = (deviations**2).sum()
    acceleration = 0.0 if squares == 0 else (deviations**3).sum() / (6 * squares**1.5)
    above = draws - totals.sum() / weights.sum()
    below = np.mean(above < -rounding) + np.mean(np.abs(above) <= rounding) / 2
    return (float(scipy_stats().norm.ppf(below)), float(acceleration)) if 0 < below < 1 else (0.0, 0.0)


def _levels(tails: Floats, bias: float, acceleration: float) -> Floats:
    """Return the levels whose quantiles of the draws are the ends with these tail probabilities.

    They are corrected for bias and skewness.
    """
    normal = scipy_stats().norm
    quantiles = bias + normal.ppf(tails)
    return np.asarray(normal.cdf(bias + quantiles / (1 - acceleration * quantiles)))


def _tails(levels: Floats, bias: float, acceleration: float) -> Floats:
    """Return the tail probabilities that `_levels` turns into these levels."""
    normal = scipy_stats().norm
    with np.errstate(divide="ignore", invalid="ignore"):
        quantiles = normal.ppf(levels) - bias
        corrected = np.where(
            1 + acceleration * quantiles > 0, 1 / (1 / quantiles + acceleration), np.copysign(np.inf, quantiles)
        )
    return np.asarray(normal.cdf(corrected - bias))


def _levels_of_zero(draws: Floats) -> Floats:
    """Return the largest and the smallest level whose quantile of sorted draws is 0.

    Both are 0 if all draws are above 0, and 1 if all are below.
    """
    levels = []
    for side in ("right", "left"):
        position = int(np.searchsorted(draws, 0.0, side))
        below = draws[max(position - 1, 0)]
        above = draws[min(position, len(draws) - 1)]
        inside = 0 < position < len(draws)
        levels.append((position - 1 + below / (below - above)) / (len(draws) - 1) if inside else float(position > 0))
    return np.array(levels)


def _all_flips(totals: Floats) -> Floats:
    """Return the sums of each column under each choice of signs."""
    sums = np.zeros((1, totals.shape[1]))
    for unit in totals:
        sums = np.concatenate([sums + unit, sums - unit])
    return sums


def _drawn_flips(part: Units, random: np.random.Generator, count: int) -> Floats:
    """Return the results of `_between_flipped` for random flips, its three arrays stacked."""
    arrays = _between_flipped(part, flips(part.totals_and_weights, random, count))
    return np.stack(arrays, axis=1, dtype=np.float64, casting="safe")


class _Flipped(NamedTuple):
    """The means of the flipped units and of the other units, under each flip: the smaller and the larger one."""

    least: Floats
    most: Floats
    has_zero: NDArray[np.bool_]
    """Whether 0 is between the two means, so that the flipped mean is at least as far from 0 as the mean."""


def _between_flipped(part: Units, sums: Floats) -> _Flipped:
    """Return the means of the flipped units and of the other units, under each flip.

    `sums` holds the sums of totals and weights under flips. If all or no units are flipped, any number is between them.
    """
    count = part.totals.shape[1]
    totals = sums[:, :count]
    weights = sums[:, count:]
    total, weight = _column_sums(part.totals), _column_sums(part.weights)
    has_zero = np.abs(totals) >= np.abs(total) - part.rounding
    has_all_weight = np.abs(weights) >= weight * (1 - ROUNDING)
    with np.errstate(divide="ignore", invalid="ignore"):
        sides = (total - totals) / (weight - weights), (total + totals) / (weight + weights)
        least, most = np.minimum(*sides), np.maximum(*sides)
    # If a flipped mean is as far from 0 as the mean, 0 is an end of the range. Rounding may have moved that end past 0.
    least = np.where(has_zero, np.minimum(least, 0.0), least)
    most = np.where(has_zero, np.maximum(most, 0.0), most)
    least = np.where(has_all_weight, -np.inf, least)
    most = np.where(has_all_weight, np.inf, most)
    return _Flipped(least, most, has_zero | has_all_weight)


def flips(totals: Floats, random: np.random.Generator, count: int) -> Floats:
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
            value = groups[:, unit, :, None]
            filled = 2**unit
            np.subtract(tables[:, :, :filled], value, out=tables[:, :, filled : 2 * filled])
            tables[:, :, :filled] += value
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
    draws = []
    with (
        ThreadPoolExecutor(os.cpu_count()) as pool,
        progress_bar(resamples, "resamples", show=None) as step,
    ):
        for number, drawn in enumerate(pool.map(draw, randoms, sizes), 1):
            draws.append(drawn)
            step(min(number * BATCH, resamples))
    return np.concatenate(draws)


def _column_sums(columns: Floats) -> Floats:
    """Return the sum of each column, added in an order that does not depend on the number of columns."""
    return np.asarray(np.ascontiguousarray(columns.T).sum(axis=1))
