"""Means over lists and training runs. Lists are a sample of future users, and runs a sample of future trainings.

Each model has values X of lists × runs. With the mean over runs d of each list (in a comparison, the difference between
the means of two models), n lists, and R runs of each model with the means m over lists:

    standard error² = s²(d) / n + Σ max(0, s²(m) − q / n) / R        the sum is over the models
    degrees of freedom = (standard error²)² / ((s²(d) / n)² / (n − 1) + Σ (s²(m) / R)² / (R − 1))

q is the mean square of the interaction of lists and runs: Σ (X − list's mean − run's mean + mean)² / ((n − 1)(R − 1)).
The runs' means differ by chance even if all runs are equally good, because there are only n lists. That part, q / n,
is in s²(d) already, so it is subtracted. The degrees of freedom are Satterthwaite's, with all of s²(m): otherwise they
are too many if a few runs happen to agree. They are at least as many as the smallest of R − 1 and n − 1.

References
----------
Satterthwaite, *An approximate distribution of estimates of variance components*, Biometrics Bulletin 2, 1946.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from recframe._base.values import ROUNDING
from recframe._inference.statistics.student import Sums, ratio, square

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LEAST_RUNS = 2
"""The fewest runs that show how much runs vary."""


def with_values(tables: Sequence[Floats]) -> list[Floats]:
    """Return each model's table of lists × runs with only the lists that have a value in all runs of all models.

    Lists are sorted by their values, because the order of a sum changes its last bits.
    """
    every = np.column_stack(tables)
    kept = np.flatnonzero(~np.isnan(every).any(axis=1))
    kept = kept[np.lexsort(every[kept].T)]
    return [table[kept] for table in tables]


def without_rounding(differences: Floats) -> Floats:
    """Return differences, 0 where they are only rounding."""
    return np.where(np.abs(differences) <= ROUNDING, 0.0, differences)


@dataclass(frozen=True)
class Runs:
    """How much the means of one model's runs vary."""

    count: int
    """The number of runs."""
    error_squares: float
    """The part of the squared error of the model's mean that comes from runs: max(0, s²(m) − q / n) / R."""
    raw_squares: float
    """The same with all of s²(m): s²(m) / R."""

    @classmethod
    def of(cls, values: Floats) -> Runs:
        """Return how much the columns of lists × runs vary. With one run, the variation is 0."""
        deviations = values - values.mean(axis=1)[:, None]
        mean = float(values.mean()) if values.size else np.nan
        return cls.of_sums(len(values), mean, deviations.sum(axis=0), square(deviations).sum(axis=0))

    @classmethod
    def of_sums(cls, lists: float, mean: float, totals: Floats, squares: Floats) -> Runs:
        """Return how much runs vary, from the sums over lists of each run's deviations from the mean of its list.

        Parameters
        ----------
        lists : float
            How many lists there are.
        mean : float
            The mean of all values.
        totals, squares : array of float
            The sums of the deviations of each run, and of their squares.
        """
        count = len(totals)
        if count < LEAST_RUNS or lists < 2:  # noqa: PLR2004 - one list has no interaction
            return cls(count, 0.0, 0.0)
        spread = float(square(totals / lists).sum()) / (count - 1)
        if spread <= (ROUNDING * max(1.0, abs(mean))) ** 2:
            return cls(count, 0.0, 0.0)
        interactions = float(squares.sum()) - float(square(totals).sum()) / lists
        interaction = max(interactions, 0.0) / ((lists - 1) * (count - 1))
        return cls(count, max(0.0, spread - interaction / lists) / count, spread / count)

    @property
    def standard_deviation(self) -> float:
        """The standard deviation of the runs' means, NaN if there is only one run."""
        return float(np.sqrt(self.raw_squares * self.count)) if self.count >= LEAST_RUNS else np.nan


@dataclass(frozen=True)
class CrossedSums(Sums):
    """Sums over lists of means over runs, an entry for each row of a result, and what the runs add to the error.

    Attributes
    ----------
    run_squares : array of float
        The part of the squared standard error that comes from runs.
    run_divisors : array of float
        The part of the divisor of the degrees of freedom that comes from runs: Σ (s²(m) / R)² / (R − 1) over the models
        that have several runs.
    least_degrees : array of float
        The smallest R − 1 of the models that have several runs, infinite if there is none.
    """

    run_squares: Floats
    run_divisors: Floats
    least_degrees: Floats

    @classmethod
    def with_runs(cls, lists: Sums, runs: Sequence[Runs], factors: Sequence[float]) -> CrossedSums:
        """Return sums over lists with the variation of runs. Each model's means are multiplied by its factor."""
        several = [(each, factor**2) for each, factor in zip(runs, factors, strict=True) if each.count >= LEAST_RUNS]
        added = {
            "run_squares": sum(each.error_squares * weight for each, weight in several),
            "run_divisors": sum((each.raw_squares * weight) ** 2 / (each.count - 1) for each, weight in several),
            "least_degrees": min((each.count - 1 for each, _ in several), default=np.inf),
        }
        of_lists = {field.name: getattr(lists, field.name) for field in fields(Sums)}
        return cls(**of_lists, **{name: np.array([value], dtype=np.float64) for name, value in added.items()})

    @classmethod
    def stacked(cls, parts: Iterable[CrossedSums]) -> CrossedSums:
        """Return several sums as one, with arrays of parts × entries."""
        parts = list(parts)
        return cls(**{field.name: np.array([getattr(part, field.name) for part in parts]) for field in fields(cls)})

    @property
    def of_lists(self) -> Sums:
        """The sums without the variation of runs."""
        return Sums(**{field.name: getattr(self, field.name) for field in fields(Sums)})

    @cached_property
    def standard_error(self) -> Floats:
        """The standard error of the mean: NaN below two lists, 0 if neither lists nor runs vary."""
        return np.sqrt(square(self.of_lists.standard_error) + self.run_squares)

    @cached_property
    def degrees(self) -> Floats:
        """The degrees of freedom, NaN below two lists."""
        of_lists = self.of_lists
        squares = square(of_lists.standard_error)
        divisors = square(squares) / of_lists.degrees + self.run_divisors
        degrees = ratio(square(squares + self.run_squares), divisors)
        # If nothing varies, use the degrees of freedom of lists alone.
        degrees = np.where(divisors > 0, degrees, of_lists.degrees)
        return np.maximum(degrees, np.minimum(of_lists.degrees, self.least_degrees))

    @property
    def run_share(self) -> Floats:
        """The share of the squared error that comes from runs, NaN if there is no error."""
        return ratio(self.run_squares, square(self.standard_error))
