"""Merged states of models that were trained several times: lists and runs are both samples."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from recframe._inference.comparison.columns import RUN_COLUMNS, RUN_STD
from recframe._inference.comparison.margins import HAS_MARGIN, MARGIN_ENDS, p_on_inner_side
from recframe._inference.comparison.tested import Tested
from recframe._inference.comparison.tested_runs import p_of_moved, tested_runs
from recframe._inference.lists import paired_sums as paired
from recframe._inference.lists.runs import not_with_runs, warn_of_few_runs
from recframe._inference.statistics import student
from recframe._inference.statistics.crossed import LEAST_RUNS, CrossedSums, Runs
from recframe._inference.statistics.student import Sums
from recframe.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe._inference.comparison.margins import Margin
    from recframe._inference.comparison.options import Options
    from recframe._inference.lists.paired_sums import Pair
    from recframe._inference.states.merging import Rows

ROUNDING_OF_RUNS = 1e-9
"""The most that the deviations of all runs of a model may add up to, as a share of the size of values."""


@dataclass(frozen=True)
class MergedRuns:
    """The runs of merged states.

    Attributes
    ----------
    counts : dict
        How many runs each model has.
    """

    _rows: Rows
    column: str
    counts: Mapping[Any, int]

    @classmethod
    def of(cls, rows: Rows) -> MergedRuns | None:
        """Return the runs of states, None if the states hold none."""
        if rows.runs is None:
            return None
        runs_of_model: dict[Any, set[Any]] = {model: set() for model in rows.models}
        for segment, metric, model in product(rows.segments, rows.metrics, rows.models):
            runs = rows.sums_of_runs(segment, metric, model)
            sums = rows.sums(segment, "metric", metric, model)
            _check_runs(model, runs, sums["lists"], sums["total"] / max(sums["lists"], 1.0))
            runs_of_model[model].update(runs)
        return cls(rows, rows.runs, {model: len(runs) for model, runs in runs_of_model.items()})

    @property
    def several(self) -> bool:
        """Whether a model has several runs."""
        return max(self.counts.values()) >= LEAST_RUNS

    def refuse(self, refused: Mapping[str, bool]) -> None:
        """Raise for arguments that do not go with runs. `refused` maps each argument to whether the call has it."""
        for what in (text for text, is_given in refused.items() if is_given):
            raise not_with_runs(self.column, what)

    def warn(self) -> None:
        """Warn if models have few runs."""
        warn_of_few_runs(self.counts, self.column)

    def of_model(self, metric: str, model: Any, sums: Mapping[str, Any], means: Any, other: Any = None) -> list[Runs]:
        """Return how much the runs of a model vary in each segment.

        The lists come from `sums`: all lists of the model, or the lists that it shares with `other`.
        """
        every = []
        for number, segment in enumerate(self._rows.segments):
            runs = self._rows.sums_of_runs(segment, metric, model, other)
            lists = float(sums["lists"][number])
            _check_runs(model, runs, lists, means[number])
            totals, squares = (np.array([sums[name] for sums in runs.values()]) for name in ("total", "squares"))
            # Sort first: the order of a sum changes its last bits.
            every.append(Runs.of_sums(lists, means[number], np.sort(totals), np.sort(squares)))
        return every

    def crossed(self, sums: Sums, runs: Sequence[Sequence[Runs]]) -> CrossedSums:
        """Return the sums of segments with the variation of runs, whose models are on the first axis."""
        parts = [
            CrossedSums.with_runs(_entry(sums, number), of_models, [1.0] * len(of_models))
            for number, of_models in enumerate(zip(*runs, strict=True))
        ]
        return CrossedSums(
            **{
                field.name: np.concatenate([getattr(part, field.name) for part in parts])
                for field in fields(CrossedSums)
            }
        )

    def tested(
        self, arrays: Mapping[str, Any], pairs: Sequence[Pair], upwards: Sequence[bool], options: Options
    ) -> Tested:
        """Return the statistics of pairs of models, in arrays of pairs × segments."""
        rows = self._rows
        differences = paired.statistics(arrays)
        with np.errstate(invalid="ignore", divide="ignore"):
            means = {
                name: np.where(differences.weight > 0, arrays[name] / differences.weight, np.nan)
                for name in ("model", "baseline")
            }
        crossed = []
        for number, pair in enumerate(pairs):
            means_of_pair = {name: means_of_models[number] for name, means_of_models in means.items()}
            runs = self._runs_of_pair(pair, {"lists": arrays["lists"][number]}, means_of_pair)
            crossed.append(self.crossed(_entry(differences, number), runs))
        sums = CrossedSums.stacked(crossed)
        bounds = np.broadcast_arrays(*paired.bounds(arrays, pairs, rows.range_of), differences.mean)[:2]
        shape = np.shape(differences.mean)
        counts = [[self.counts[rows.models[number]] for number in (pair.model, pair.baseline)] for pair in pairs]
        numbers = {
            "skewness": np.full(shape, np.nan),
            "units": arrays["lists"],
            **{name: arrays[name] for name in ("lists", "wins", "ties", "losses")},
            "mean": means["model"],
            "baseline_mean": means["baseline"],
            **{name: np.broadcast_to(np.array(counts)[:, [at]], shape) for at, name in enumerate(RUN_COLUMNS[:2])},
            **tested_runs(sums, means["baseline"], bounds, options),
        }
        margin = options.margin_of_pairs
        if margin is not None:
            numbers[HAS_MARGIN] = np.broadcast_to(np.asarray(margin.size) > 0, shape)
            numbers |= _margin_p_values(sums, bounds, margin, means["baseline"])
        return Tested(sums, numbers, np.where(upwards, 1.0, -1.0)[:, None], bounds)

    def _runs_of_pair(self, pair: Pair, sums: Mapping[str, Any], means: Mapping[str, Any]) -> list[list[Runs]]:
        """Return how much the runs of both models of a pair vary in each segment, over the lists that they share."""
        metric = self._rows.metrics[pair.metric]
        model, baseline = self._rows.models[pair.model], self._rows.models[pair.baseline]
        return [
            self.of_model(metric, model, sums, means["model"], baseline),
            self.of_model(metric, baseline, sums, means["baseline"], model),
        ]

    def single(self, shape: tuple[int, ...]) -> dict[str, Any]:
        """Return the columns about runs for models with one run each."""
        return {**dict.fromkeys(RUN_COLUMNS[:2], np.ones(shape)), RUN_COLUMNS[2]: np.full(shape, np.nan)}

    def described(
        self, metric: str, model: Any, sums: Mapping[str, Any], bounds: tuple[float, float], confidence: float
    ) -> dict[str, Any]:
        """Return what the runs of a model add to the description of its values: runs, and the interval over them."""
        totals = student.without_spread(paired.statistics(sums, rounding=0), sums["least"] == sums["greatest"])
        runs = self.of_model(metric, model, sums, totals.mean)
        spread = {
            RUN_COLUMNS[0]: np.full(len(runs), float(self.counts[model])),
            RUN_STD: np.array([each.standard_deviation for each in runs]),
        }
        if self.counts[model] < LEAST_RUNS:
            return spread
        least = student.least_value(bounds[0], sums["negative"], bounds[1])
        low, high = student.interval(self.crossed(totals, [runs]), confidence, (least, bounds[1]))
        return {**spread, "low": low, "high": high}


def _margin_p_values(sums: CrossedSums, bounds: Sequence[Any], margin: Margin, baseline: Any) -> dict[str, Any]:
    """Return the p-values of the claims that differences are inside either end of the margin, by their columns."""
    p_values = {}
    for name, by in zip(MARGIN_ENDS, margin.shifts, strict=True):
        moved = replace(sums, total=sums.total + by * sums.weight)
        p = p_of_moved(moved, sums, bounds)
        p_values[name] = p_on_inner_side(p, moved.mean, name, margin, baseline)
    return p_values


def _check_runs(model: Any, runs: Mapping[Any, Mapping[str, float]], lists: float, mean: float) -> None:
    """Raise unless the states hold the rows of all runs of a model, over all of its lists."""
    remedy = "give all rows of each state, and make each state from the rows of all runs"
    of_model = "the model" if model is None else repr(model)
    for run, sums in runs.items():
        if sums["lists"] != lists:
            msg = f"the run {run!r} of {of_model} is in {sums['lists']:g} of {lists:g} lists of the states"
            raise InputError(msg, remedy)
    # Deviations from the mean over runs add up to 0.
    off = abs(sum(sums["total"] for sums in runs.values()))
    size = lists * max(1.0, abs(mean)) + sum((lists * sums["squares"]) ** 0.5 for sums in runs.values())
    if lists and (not runs or off > ROUNDING_OF_RUNS * size):
        msg = f"the states lack rows of runs of {of_model}"
        raise InputError(msg, remedy)


def _entry(sums: Sums, number: int) -> Sums:
    """Return one entry of each array of sums, as an array."""
    return Sums(**{field.name: np.atleast_1d(getattr(sums, field.name)[number]) for field in fields(Sums)})
