"""Strata of merged states: the sums of each stratum are combined into the rows of a result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recframe._base.strata import Strata
from recframe._inference.lists.runs import not_with_runs
from recframe._inference.lists.strata import StrataOfLists
from recframe._inference.statistics.stratified import COUNTED
from recframe._inference.statistics.student import ratio
from recframe._plan.strata import refuse_lists_without_stratum
from recframe.errors import InputError, MissingColumnError, OptionError, closest, quoted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe._inference.states.merging import Rows

POOLED = ("difference", "squares", "baseline", *COUNTED)
"""The sums of each stratum that give the mean over strata and its standard error."""
ADDED = ("zeros", "undefined", "negative")
"""Further counts, which are added up."""


class StratifiedRows:
    """The rows of states, by the columns to report and by strata.

    Attributes
    ----------
    rows : Rows
        The rows by the columns to report, which do not hold the column of strata.
    """

    def __init__(self, rows: Rows, strata: Strata) -> None:
        column = strata.column
        if column not in rows.segment_names:
            msg = f"`strata={quoted(column)}` is no column of the states"
            hint = f"make the states per segment: state(..., per={column!r}); or add the column to the states"
            raise MissingColumnError(msg, closest(column, map(str, rows.segment_names)) or hint)
        self._strata = strata
        # The rows by segment and stratum: strata are averaged within each segment.
        self._cells = rows.by([*(name for name in rows.per if name != column), column])
        self.rows = rows.by(self._cells.per[:-1])
        self._check()
        segments = {segment: number for number, segment in enumerate(self.rows.segments)}
        every = [segment[-1] for segment in self._cells.segments]
        self._names = sorted({*every} - {None})
        if not self._names:
            msg = f"`strata={quoted(column)}` has no values, as the states hold no lists of a stratum"
            raise InputError(msg, "give states of frames with rows")
        strata_numbers = {name: number for number, name in enumerate(self._names)}
        # A segment that is not reported has no list with a value.
        self._segments = np.array([segments.get(segment[:-1], -1) for segment in self._cells.segments], dtype=np.intp)
        self._strata_numbers = np.array([strata_numbers.get(name, -1) for name in every], dtype=np.intp)
        self._weights = np.array(strata.weights_of(self._names))

    def _check(self) -> None:
        """Raise for states that do not go with strata."""
        about = next(iter(self._cells.definitions.values()))
        strata = f"`strata={quoted(self._strata.column)}`"
        if self._cells.runs is not None:
            raise not_with_runs(self._cells.runs, strata)
        if about["cluster"] is not None:
            msg = f"{strata} averages the means of strata, and does not go with `cluster={about['cluster']!r}`"
            raise OptionError(msg, "make the states without `cluster=`")
        if about["by"] == [str(self._strata.column)]:
            msg = f"{strata} is also the column of `by=`, so that nothing is averaged"
            raise OptionError(msg, "leave it out")
        weighted = self._cells.weighted()
        if weighted is not None:
            msg = f"{strata} averages the means of strata, but the states weight the lists of {weighted}"
            raise OptionError(msg, "make the states without `weight=`, of metrics that count every list the same")

    def _by_stratum(self, parts: Sequence[Mapping[str, Any]], name: str, empty: float = 0.0) -> Any:
        """Return one of the sums as an array of parts × segments × strata, `empty` for a segment without a stratum."""
        counted = (self._segments >= 0) & (self._strata_numbers >= 0)
        array = np.full((len(parts), len(self.rows.segments), len(self._names)), empty)
        values = np.array([part[name] for part in parts]).reshape(len(parts), len(counted))
        array[:, self._segments[counted], self._strata_numbers[counted]] = values[:, counted]
        return array

    def pooled(self, parts: Sequence[Mapping[str, Any]], metrics: Sequence[str]) -> dict[str, Any]:
        """Return the sums of each segment over its strata: metrics on the first axis, segments on the last."""
        if any(part["lists"][self._strata_numbers < 0].any() for part in parts):
            refuse_lists_without_stratum(self._strata, truth=self._cells.definitions[metrics[0]]["truth"])
        by_stratum = {name: self._by_stratum(parts, name) for name in POOLED if name in parts[0]}
        sums = StrataOfLists(self._strata, (), {}, self._names, self._weights).pooled(by_stratum, metrics)
        sums |= {name: self._by_stratum(parts, name).sum(axis=-1) for name in ADDED if name in parts[0]}
        least, greatest = (self._by_stratum(parts, name, np.nan) for name in ("least", "greatest"))
        return sums | {"least": np.fmin.reduce(least, axis=-1), "greatest": np.fmax.reduce(greatest, axis=-1)}

    def means(self) -> dict[str, list[float | None]]:
        """Return the means of each metric, by segment and model."""
        sums = self.sums_of_models()
        means = ratio(sums["difference"], sums["weight"])
        models = len(self.rows.models)
        by_metric = means.reshape(len(self.rows.metrics), models, -1)
        return {
            metric: [None if np.isnan(mean) else mean for mean in of_models.T.ravel().tolist()]
            for metric, of_models in zip(self.rows.metrics, by_metric, strict=True)
        }

    def sums_of_models(self) -> dict[str, Any]:
        """Return the sums of each metric and model, in this order."""
        named = [(metric, model) for metric in self.rows.metrics for model in self.rows.models]
        parts = [self._cells.arrays("metric", metric, model) for metric, model in named]
        return self.pooled(parts, [metric for metric, _ in named])

    def sums_of_pairs(self, pairs: Sequence[tuple[str, int, int]]) -> dict[str, Any]:
        """Return the sums of each metric and pair of models, which are given by number."""
        return self.pooled([self._cells.pair(*pair) for pair in pairs], [metric for metric, _, _ in pairs])


def check_means(rows: Rows, strata: Any, *, counts: bool) -> None:
    """Raise for means that strata do not have."""
    refused = {"`counts=True`": counts, "".join(rows.exposures[:1]): bool(rows.exposures)}
    for what in (name for name, is_given in refused.items() if is_given):
        msg = f"`strata={quoted(strata)}` averages the means of strata, and does not go with {what}"
        raise OptionError(msg, "describe, which counts the lists of each metric and leaves metrics of all lists out")


def in_strata(rows: Rows, strata: Strata | None) -> StratifiedRows | None:
    """Return the rows by strata, None if a call names none."""
    return None if strata is None else StratifiedRows(rows, strata)


def strata_of(rows: Rows, strata: Any, weights: Any) -> Strata | None:
    """Return the strata that a call on merged states names, checked."""
    return Strata.of(strata, weights, rows.segment_names)
