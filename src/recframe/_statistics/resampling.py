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

from recframe._progress import progress_bar
from recframe._statistics.student import ratio, scipy_stats, sum_by_cluster

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]
    Pairs = NDArray[np.complex128]

Interval = Literal["percentile", "bca"]
"""Bootstrap intervals: quantiles of the means, or quantiles corrected for bias and skewness."""

BATCH = 2_500
"""Draws that share a seed, and that are held in memory at a time."""
TABLES = 2**6
"""Groups of eight units whose flips are tabulated at a time: the tables stay in the processor's cache."""
SECTION = 2**15
"""Units whose draws are split among their blocks at a time, so that little is held in memory."""
BLOCK = 2**7
"""Units of which 16 bits can name two: the tables of all pairs stay in the processor's cache."""
TOGETHER = 500
"""Resamples that draw from a block at a time: what they draw stays in the cache too."""
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
    draws = _drawn_means(units, resamples, seed)
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


def _drawn_means(units: Units, resamples: int, seed: int) -> Floats:
    """Return the means of each column over units drawn with replacement."""
    size, columns = units.totals.shape
    # Most often all units weigh the same; then the weights need no sums of their own.
    alike = bool((units.weights == units.weights.flat[0]).all())
    summed = units.totals if alike else np.concatenate([units.totals, units.weights], axis=1)
    twos = np.zeros((size, -(-summed.shape[1] // 2), 2))
    twos.reshape(size, -1)[:, : summed.shape[1]] = summed
    values = twos.view(np.complex128)[:, :, 0]
    sums = _in_batches(lambda random, count: _drawn_sums(values, random, count), resamples, seed)
    weights = units.weights.flat[0] * size if alike else sums[:, columns : 2 * columns]
    return ratio(sums[:, :columns], np.broadcast_to(weights, (resamples, columns)))


def _drawn_sums(values: Pairs, random: np.random.Generator, count: int) -> Floats:
    """Return the sums of each column over units drawn with replacement, two columns as one complex number.

    How many units come from each section is drawn first, then how many from each block of a section, then the units.
    """
    draws = _PairDraws(random, values.shape[1], count)
    for section, drawn_of_section in _split(random, values, np.full(count, len(values)), SECTION):
        for block, drawn in _split(random, section, drawn_of_section, BLOCK):
            draws.add(block, drawn)
    return np.ascontiguousarray(draws.sums.T).view(np.float64)


def _split(
    random: np.random.Generator, values: Pairs, drawn: Integers, length: int
) -> Iterator[tuple[Pairs, Integers]]:
    """Yield parts of the units, and how many of the units that each resample draws are from that part."""
    starts = np.arange(0, len(values), length)
    lengths = np.minimum(length, len(values) - starts)
    shares = random.multinomial(drawn, lengths / len(values))
    for start, share in zip(starts, shares.T, strict=True):
        yield values[start : start + length], np.ascontiguousarray(share)


class _PairDraws:
    """The sums of each column over the units that each resample draws, which come from one block after the other.

    One random number draws two units: their sum is looked up in a table of all pairs. The last unit of an odd number is
    drawn alone. The arrays of a block are used again for the next: new ones would cost as much as their contents.
    """

    def __init__(self, random: np.random.Generator, columns: int, count: int) -> None:
        self.sums = np.zeros((columns, count), np.complex128)
        self._random = random
        self._tables = np.empty(columns * BLOCK * (BLOCK + 1), np.complex128)
        self._chosen, self._found = np.empty(0, np.intp), np.empty(0, np.complex128)

    def add(self, block: Pairs, drawn: Integers) -> None:
        """Draw units from a block: as many as each resample draws from it."""
        length, columns = block.shape
        tables = self._tables[: columns * length * (length + 1)].reshape(columns, length + 1, length)
        np.add(block.T[:, :, None], block.T[:, None, :], out=tables[:, :length])
        tables[:, length] = block.T
        for start in range(0, len(drawn), TOGETHER):
            self._add_pairs(tables, drawn[start : start + TOGETHER], start)

    def _add_pairs(self, tables: Pairs, drawn: Integers, start: int) -> None:
        """Draw units for resamples, from the first of them on."""
        length, pairs = tables.shape[2], (drawn + 1) // 2
        ends = pairs.cumsum()
        total = int(ends[-1])
        if total > len(self._chosen):
            self._chosen, self._found = np.empty(total, np.intp), np.empty(total, np.complex128)
        chosen, found = self._chosen[:total], self._found[:total]
        np.copyto(chosen, _random_numbers(self._random, total, length**2))
        # Each unit alone follows all pairs.
        alone = ends[drawn % 2 == 1] - 1
        chosen[alone] = length**2 + chosen[alone] % length
        some = np.flatnonzero(pairs)
        firsts = (ends - pairs)[some]
        for column, table in zip(self.sums, tables.reshape(len(tables), -1), strict=True):
            # All numbers lie within the table; NumPy copies nothing where it need not raise.
            table.take(chosen, out=found, mode="wrap")
            column[start + some] += np.add.reduceat(found, firsts)


def _random_numbers(random: np.random.Generator, count: int, end: int) -> Any:
    """Return random numbers from 0 up to an end: of 16 bits where these tell the numbers apart."""
    if 2**16 % end:
        return random.integers(0, end, count)
    return _random_bits(random, count, np.uint16) & np.uint16(end - 1)


def _random_bits(random: np.random.Generator, count: int, dtype: Any) -> Any:
    """Return numbers of random bits: four or eight of them for each one drawn."""
    words = -(-count * np.dtype(dtype).itemsize // 8)
    return random.bit_generator.random_raw(words).view(dtype)[:count]


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


def _as_far(sums: Floats, observed: Floats) -> NDArray[np.bool_]:
    """Return which sums are at least as far from 0 as what was observed."""
    return np.abs(sums) >= np.abs(observed) * (1 - ROUNDING)
