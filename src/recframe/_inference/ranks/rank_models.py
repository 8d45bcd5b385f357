"""Which rank does each of many models have? Simultaneous intervals of ranks, from the values of the same lists."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from recframe._base.values import column_or_none, flag
from recframe._inference.comparison.options import Draws
from recframe._inference.lists.paired_sums import model_pairs
from recframe._inference.lists.result_notes import remember
from recframe._inference.lists.results import result_frame, stacked
from recframe._inference.lists.values import ListValues, check_values_per_list, segments
from recframe._inference.statistics.rank_intervals import Ranks
from recframe._inference.statistics.shrinkage import shrunk
from recframe._inference.statistics.student import Sums, ratio, square, sum_by_cluster

if TYPE_CHECKING:
    from collections.abc import Sequence

    import narwhals as nw
    from numpy.typing import NDArray

    from recframe._base.values import Labels
    from recframe._inference.statistics.crossed import Runs
    from recframe._plan.plan import Plan

    Floats = NDArray[np.float64]

COLUMNS = ("metric", "model", "rank", "mean", "lists", "rank_low", "rank_high", "tied_with_best")
"""The columns of a result, after the columns of `per`."""
SHRUNK = "shrunk"
"""The column that details add."""


@dataclass(frozen=True)
class Options(Draws):
    """The checked options of `rank_models`."""

    details: bool = False
    runs: str | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of a result, after the columns of `per`."""
        return (*COLUMNS, SHRUNK) if self.details else COLUMNS

    @classmethod
    def of(cls, labels: Labels, **named: Any) -> Self:
        """Return checked options, or raise for what can be checked without a frame."""
        named["details"] = flag("details", named.get("details", False))
        named["runs"] = column_or_none("runs", named.get("runs"), labels)
        return super().of(labels, **named)


@dataclass(frozen=True)
class Means:
    """The means of models over the same lists, and the variances of their differences."""

    lists: float
    means: Floats
    variances: Floats
    """The squared standard error of the difference between any two models: models × models."""
    degrees: float

    @classmethod
    def of(cls, values: Floats, weights: Floats, clusters: Any = None) -> Means:
        """Return the means of a table of lists × models, over the lists in which every model has a value."""
        every = ~np.isnan(values).any(axis=1)
        values = values[every]
        weights = np.nan_to_num(weights[every])
        # Sort first: the order of a sum changes its last bits.
        order = np.lexsort((*weights.T, *values.T))
        values, weights = values[order], weights[order]
        clusters = None if clusters is None else clusters[every][order].tolist()
        with np.errstate(invalid="ignore", divide="ignore"):
            shares = weights / weights.sum(axis=0)
            means = np.where(shares.any(axis=0), (shares * values).sum(axis=0), np.nan)
            parts = shares * (values - means)
        sums = Sums.of(np.zeros(len(values)), np.nan_to_num(shares).mean(axis=1), clusters)
        parts = parts if clusters is None else sum_by_cluster(parts, clusters)
        squares = [square(parts - parts[:, model, None]).sum(axis=0) for model in range(values.shape[1])]
        return cls(len(values), means, np.array(squares) / sums.divisor, sums.degrees.item())

    def with_runs(self, runs_of_models: Sequence[Runs]) -> Means:
        """Return the means with variances that include the variation of runs.

        The variance of runs is added to the variance of lists. Each pair of models has the degrees of freedom of
        Satterthwaite's formula, and the result has the smallest of them.
        """
        added = np.array([runs.error_squares for runs in runs_of_models])
        # One run has no degrees of freedom, and no variance.
        raw = np.array([square(np.asarray(runs.raw_squares)) / max(runs.count - 1, 1) for runs in runs_of_models])
        pairs = ~np.eye(len(runs_of_models), dtype=bool)
        variances = np.where(pairs, self.variances + added[:, None] + added, 0.0)
        divisors = square(self.variances) / self.degrees + raw[:, None] + raw
        degrees = np.where(divisors > 0, ratio(square(variances), divisors), self.degrees)[pairs]
        smallest = float(degrees.min(initial=self.degrees))
        # A sum of variances has at least as many degrees of freedom as the summand with the fewest. The formula may
        # go below, because `raw` is larger than the variances that are added.
        fewest = min([self.degrees, *(runs.count - 1.0 for runs in runs_of_models if runs.error_squares > 0)])
        return replace(self, variances=variances, degrees=max(smallest, fewest))

    def ranks(self, options: Options, *, higher_is_better: bool) -> dict[str, Floats]:
        """Return the columns of a result, an element for each model."""
        better = (1 if higher_is_better else -1) * (self.means[:, None] - self.means)
        ranks = Ranks.of(better, self.variances, self.degrees, options.confidence, options.resamples, options.seed)
        return {
            "mean": self.means,
            "lists": np.full(len(self.means), self.lists),
            "rank": ranks.rank,
            "rank_low": ranks.low,
            "rank_high": ranks.high,
            "tied_with_best": ranks.low == 1,
            SHRUNK: shrunk(self.means, self.variances),
        }


def rank_models(plan: Plan, options: Options) -> Any:
    """Return one row per value of `per`, metric and model, as a frame of the user's kind."""
    check_values_per_list(plan.metrics, "rank_models")
    columns = options.columns
    return remember(result_frame(plan, lambda: stacked(*_rows(plan, options), columns), columns), options.confidence)


def _rows(plan: Plan, options: Options) -> tuple[nw.DataFrame[Any], list[dict[str, Any]]]:
    """Return the segments, and the rows of the result. The arrays in a row have an element for each segment."""
    values = ListValues(plan).without_unknown()
    context = plan.context
    models = range(len(values.models))
    model_pairs(values.models, None, "rank_models")
    metrics = range(len(plan.metrics))
    reported, parts = segments(values, context)
    rows = []
    for metric in metrics:
        ranks = []
        for part in parts:
            of_models = zip(*(values.in_segment(part, model, metric) for model in models), strict=True)
            table, weights = map(np.column_stack, of_models)
            means = Means.of(table, weights, part.get("cluster"))
            ranks.append(means.ranks(options, higher_is_better=plan.metrics[metric].higher_is_better))
        label = context.query.averaging(plan.metrics[metric].label).name
        rows += named_rows(label, values.models, ranks)
    return reported, rows


def named_rows(metric: str, models: Sequence[Any], ranks: Sequence[dict[str, Floats]]) -> list[dict[str, Any]]:
    """Return a row for each model, with arrays of the columns over the segments."""
    return [
        {
            "metric": metric,
            "model": model,
            **{
                name: np.array([ranks_of_segment[name][number] for ranks_of_segment in ranks])
                for name in (*COLUMNS[2:], SHRUNK)
            },
        }
        for number, model in enumerate(models)
    ]
