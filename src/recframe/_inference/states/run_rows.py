"""States of models that were trained several times: values are means over runs, and rows say how much runs vary.

A run's deviation in a list is its value minus the mean over the runs of the model. The sums of deviations and of their
squares over lists add up, and with them `statistics.crossed` has what runs add to the error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recframe._inference.lists.values import value_column
from recframe._inference.statistics.crossed import without_rounding
from recframe._inference.statistics.student import square

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from recframe._inference.lists.paired_sums import Pair
    from recframe._inference.lists.sums import Groups
    from recframe._inference.lists.values import ListValues

    Floats = NDArray[np.float64]

RUN = "run"
"""The kind of the rows of runs. Their run is in the column of items."""


@dataclass(frozen=True)
class RunTables:
    """The values of lists by model and run.

    Attributes
    ----------
    values : ListValues
        The values, with a column for each run.
    models : list
        The names of the models.
    runs_of : dict
        The numbers of the columns of each model's runs, by the model's number.
    names : list of str
        The name of the run in each column.
    """

    values: ListValues
    models: Sequence[Any]
    runs_of: Mapping[int, Sequence[int]]
    names: Sequence[str]


@dataclass(frozen=True)
class RowOfRun:
    """The sums of a run over the lists in which its model, or both models of a pair, have a value in all runs."""

    metric: int
    model: int
    other: int | None
    """The other model of the pair."""
    run: str
    sums: Mapping[str, Any]


@dataclass(frozen=True)
class ListsOfRuns:
    """The values of the lists of a state by run, in arrays of one order."""

    _runs: RunTables
    _columns: Mapping[str, Floats]
    _metrics: Sequence[int]
    _pairs: Sequence[Pair]

    def averaged(self) -> dict[str, Floats]:
        """Return the means over runs of each model, and the differences of pairs, by column."""
        means = {
            value_column(model, metric): self._table(model, metric).mean(axis=1)
            for model in self._runs.runs_of
            for metric in self._metrics
        }
        differences = {
            pair.difference: without_rounding(
                means[value_column(pair.model, pair.metric)] - means[value_column(pair.baseline, pair.metric)]
            )
            for pair in self._pairs
        }
        return means | differences

    def _table(self, model: int, metric: int) -> Floats:
        """Return the values of a model as lists × runs."""
        return np.column_stack([self._columns[value_column(run, metric)] for run in self._runs.runs_of[model]])

    def negative_lists(self, groups: Groups, metric: int, model: int, baseline: int | None = None) -> dict[str, Floats]:
        """Return the number of lists in each group with a negative value in a run, as the sums that states hold.

        ``"negative"`` counts the runs of `model`, and ``"baseline_negative"`` the runs of `baseline` if there is one.
        Only lists with a value in all of these runs count.
        """
        models = {"negative": model, "baseline_negative": baseline}
        tables = {name: self._table(number, metric) for name, number in models.items() if number is not None}
        known = ~np.isnan(np.column_stack([*tables.values()])).any(axis=1)
        return {name: groups.counts(known & (table < 0).any(axis=1)) for name, table in tables.items()}

    def rows(self, groups: Groups) -> Iterator[RowOfRun]:
        """Yield a row for each run of each model, and for each run of both models of each pair."""
        wanted: list[tuple[int, int, int | None]] = [
            (metric, model, None) for metric in self._metrics for model in self._runs.runs_of
        ]
        wanted += [(pair.metric, pair.model, pair.baseline) for pair in self._pairs]
        wanted += [(pair.metric, pair.baseline, pair.model) for pair in self._pairs]
        for metric, model, other in wanted:
            table = self._table(model, metric)
            every = table if other is None else np.column_stack([table, self._table(other, metric)])
            known = np.asarray(~np.isnan(every).any(axis=1))
            deviations = np.where(known[:, None], table - table.mean(axis=1)[:, None], 0.0)
            lists = groups.counts(known)
            for run, column in zip(self._runs.runs_of[model], deviations.T, strict=True):
                sums = {"lists": lists, "weight": lists, "total": groups.sums(column)}
                squares = {"squares": groups.sums(square(column))}
                yield RowOfRun(metric, model, other, self._runs.names[run], sums | squares)
