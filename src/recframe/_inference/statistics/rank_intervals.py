"""The ranks of means, with intervals that contain all true ranks at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recframe._base.values import ROUNDING
from recframe._inference.statistics.student import LEAST_LOG_OF_FLIPS, scipy_stats

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

NO_SPREAD = 1e-12
"""Variances below this share of the largest variance are rounding errors, and are not drawn."""


@dataclass(frozen=True)
class Ranks:
    """The ranks of means, 1 for the best, with the lowest and the highest rank that each may truly have."""

    rank: Floats
    low: Floats
    high: Floats

    @classmethod
    def of(
        cls, differences: Floats, variances: Floats, degrees: float, confidence: float, resamples: int, seed: int
    ) -> Ranks:
        """Return the ranks of means and their simultaneous intervals.

        A mean is below another one if their difference, over its standard error, is above the critical value: the
        quantile of the largest of all such statistics, for normal means with the same covariance. Each difference has
        its own estimated error, so the quantile of t with the same tail probability replaces the normal quantile.
        Significant differences are left out and the others are tested again, until none is significant (step-down).

        Parameters
        ----------
        differences : array of float, means × means
            How much better the row's mean is than the column's mean; NaN if it is not known.
        variances : array of float, means × means
            The squares of the standard errors of the differences; 0 if all units have the same difference.
        degrees : float
            The degrees of freedom. Infinite degrees give the intervals of R's csranks.
        confidence : float
            The probability that all intervals contain their true rank.
        resamples, seed : int
            How many draws are made, and their seed.

        References
        ----------
        Mogstad, Romano, Shaikh, Wilhelm, *Inference for ranks with applications to mobility across neighbourhoods and
        academic achievement across countries*, Review of Economic Studies 91, 2024.
        """
        count = len(differences)
        comparable = np.isfinite(differences) & np.isfinite(variances) & ~np.isnan(degrees)
        better = np.where(comparable & (np.abs(differences) > ROUNDING), differences, 0.0)
        variances = np.where(comparable & (variances > ROUNDING**2 * np.square(better)), variances, 0.0)
        beats = _significantly_better(
            better, variances, degrees, confidence, *_draws(variances, degrees, resamples, seed)
        )
        rank = np.where(np.isnan(np.diag(differences)), np.nan, 1.0 + (differences.T > ROUNDING).sum(axis=1))
        return cls(rank, 1.0 + beats.sum(axis=0), count - beats.sum(axis=1))


def _draws(variances: Floats, degrees: float, resamples: int, seed: int) -> tuple[Floats, Floats]:
    """Return random means, an array of draws × means, and the standard errors of their differences.

    With few units, estimated covariances make models look more similar than they are. So the covariance moves towards
    independent means, by the share of the degrees of freedom that its estimate takes.
    """
    count = len(variances)
    centred = variances - variances.mean(axis=0)
    covariance = -(centred - centred.mean(axis=1)[:, None]) / 2
    share = (count - 1) / (degrees + count - 1) if degrees < np.inf else 0.0
    sphere = np.trace(covariance) / (count - 1) * (np.eye(count) - 1 / count)
    covariance = (1 - share) * covariance + share * sphere
    values, vectors = np.linalg.eigh(covariance)
    random = np.random.Generator(np.random.SFC64(seed))
    draws = random.standard_normal((resamples, count)) @ (vectors * np.sqrt(np.maximum(values, 0))).T
    diagonal = np.diag(covariance)
    return draws, np.sqrt(np.maximum(diagonal[:, None] + diagonal - 2 * covariance, 0.0))


def _significantly_better(
    better: Floats, variances: Floats, degrees: float, confidence: float, draws: Floats, errors: Floats
) -> NDArray[np.bool_]:
    """Return, as means × means, whether the row's mean is significantly better than the column's mean."""
    with np.errstate(invalid="ignore", divide="ignore"):
        statistics = np.where(better == 0, 0.0, better / np.sqrt(variances))
    # Equal differences have the p-value of flips: see `student.p_value`.
    stats = scipy_stats()
    flips = stats.t.isf(2.0 ** max(min(-degrees, 0.0), LEAST_LOG_OF_FLIPS) / 2, degrees)
    statistics = np.where(np.isinf(statistics), np.sign(better) * flips, statistics)
    drawn = variances > NO_SPREAD * variances.max(initial=0.0)
    remaining = statistics != 0
    remaining |= drawn
    beats = np.zeros(remaining.shape, dtype=bool)
    while remaining.any():
        # Bonferroni's correction for the remaining pairs, if none of them is drawn.
        level = (1 - confidence) / remaining.sum()
        if (drawn & remaining).any():
            level = stats.norm.sf(max(np.quantile(_largest(draws, errors, drawn & remaining), confidence), 0.0))
        critical = stats.t.isf(level, degrees)
        more = remaining & (statistics > critical)
        if not more.any():
            break
        beats |= more
        remaining &= ~more
    return beats


def _largest(draws: Floats, errors: Floats, chosen: NDArray[np.bool_]) -> Floats:
    """Return the largest statistic of the chosen differences in each draw."""
    largest = np.full(len(draws), -np.inf)
    for row in np.flatnonzero(chosen.any(axis=1)):
        others = np.flatnonzero(chosen[row])
        statistics = (draws[:, row, None] - draws[:, others]) / errors[row, others]
        np.maximum(largest, statistics.max(axis=1), out=largest)
    return largest
