"""Comparison and description of models that were trained several times: lists and runs are both samples.

The values of lists are averaged over the runs of each model, and the variation of runs is added to the error: see
`statistics.crossed`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from recframe._base.values import ROUNDING
from recframe._engines.postponed import is_dry
from recframe._inference.comparison.columns import LAST, MEANS, RUN_COLUMNS, RUN_STD
from recframe._inference.comparison.compare import answer_of, compare, computed_columns, row_of
from recframe._inference.comparison.decided import correct
from recframe._inference.comparison.describe import columns_of_values, describe, described_values
from recframe._inference.comparison.doubts import warn_of_doubts
from recframe._inference.comparison.margins import HAS_MARGIN, MARGIN_ENDS, Margin, p_on_inner_side
from recframe._inference.comparison.options import SIMULTANEOUS
from recframe._inference.comparison.tested import Tested
from recframe._inference.comparison.tested_runs import p_of_moved, tested_runs
from recframe._inference.lists.calls import names_file, warned
from recframe._inference.lists.paired_sums import model_pairs
from recframe._inference.lists.result_notes import remember
from recframe._inference.lists.results import result_frame, stacked
from recframe._inference.lists.runs import RunValues, warn_of_single_runs
from recframe._inference.statistics import student
from recframe._inference.statistics.crossed import LEAST_RUNS, CrossedSums, Runs, with_values, without_rounding
from recframe._inference.statistics.skewness import skewness
from recframe._inference.statistics.student import Sums

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from recframe._inference.comparison.describe import Options as Description
    from recframe._inference.comparison.options import Options
    from recframe._inference.lists.runs import RunsCall

    Floats = NDArray[np.float64]


def compare_runs(call: RunsCall, options: Options) -> Any:
    """Return which models differ, as a frame of the user's kind."""
    refused = {
        f"`test={options.test!r}`": options.test != "t",
        f"`correction={options.correction!r}`": options.correction in SIMULTANEOUS,
        "`relative=True`": options.relative,
        f"`changed={options.changed!r}`": options.changed is not None,
        f"`baseline={str(options.baseline)!r}`, a file": names_file(options.baseline, ()),
    }
    call.check(refused, options.cluster, options.strata)
    if is_dry() or not call.rows_of_runs.several:
        plan = call.plan()
        single = nw.lit(1, nw.Int64())
        result = nw.from_native(compare(plan, replace(options, runs=None)))
        index = result.columns.index(LAST[0])
        columns = (*result.columns[:index], *RUN_COLUMNS, *result.columns[index:])
        result = result.with_columns(runs=single, baseline_runs=single, run_share=nw.lit(None, nw.Float64()))
        result = result.select(*columns).to_native()
        if not is_dry():
            warn_of_single_runs(call.runs)
    else:
        run_values = RunValues.of(call)
        plan = run_values.plan
        columns = computed_columns(options, run_values.plan)
        result = result_frame(plan, lambda: _compared_rows(run_values, options, columns), columns)
        run_values.warn(call.runs)
    return answer_of(warned(plan, result, MEANS), options)


def _compared_rows(run_values: RunValues, options: Options, columns: Sequence[str]) -> nw.DataFrame[Any]:
    """Return the rows of a comparison."""
    plan = run_values.plan
    names = [plan.context.query.averaging(metric.label).name for metric in plan.list_metrics]
    if options.margin is not None:
        ranges = [run_values.values.range_of(number) for number in range(len(names))]
        options.margin.check(dict(zip(names, ranges, strict=True)))
    pairs = [
        (metric, *pair) for metric in range(len(names)) for pair in model_pairs(run_values.models, options.baseline)
    ]
    compared = [_Pair(run_values, *pair, options) for pair in pairs]
    upwards = np.array([[1.0 if plan.list_metrics[metric].higher_is_better else -1.0] for metric, _, _ in pairs])
    every = [pair.numbers for pair in compared]
    numbers = {name: np.array([[each[name]] for each in every]) for name in every[0]}
    bounds = [np.array([[pair.bounds[side]] for pair in compared]) for side in (0, 1)]
    tests = Tested(CrossedSums.stacked([pair.sums for pair in compared]), numbers, upwards, bounds)
    correct([tests], options)
    of_pairs = [
        {"metric": names[metric], "model": run_values.models[model], "baseline": run_values.models[baseline]}
        for metric, model, baseline in pairs
    ]
    warn_of_doubts([(tests, of_pairs)], options)
    rows = [
        {**row_of(numbers, number, higher_is_better=bool(upwards[number, 0] > 0)), **named}
        for number, named in enumerate(of_pairs)
    ]
    return stacked(run_values.reported(), rows, columns)


class _Pair:
    """Two models under one metric, over the lists that have a value in all runs of both."""

    def __init__(self, run_values: RunValues, metric: int, model: int, baseline: int, options: Options) -> None:
        self._options = options
        tables = with_values([run_values.table(number, metric) for number in (model, baseline)])
        self._values, self._baseline = (table.mean(axis=1) for table in tables)
        self._runs = [Runs.of(table) for table in tables]
        self._differences = without_rounding(self._values - self._baseline)
        self.sums = self._sums(self._differences, 1.0)
        least, greatest = run_values.values.range_of(metric)
        negative = any(bool((table < 0).any()) for table in tables)
        width = greatest - float(student.least_value(least, negative, greatest))
        self.bounds = (-width, width)
        name = run_values.plan.context.query.averaging(run_values.plan.list_metrics[metric].label).name
        self._margin = None if options.margin is None else options.margin.of_metric(name) or Margin(0.0)

    def _sums(self, differences: Floats, factor: float) -> CrossedSums:
        """Return the sums of differences between the model and `factor` times the baseline."""
        return CrossedSums.with_runs(Sums.of(differences, np.ones(len(differences))), self._runs, (1.0, factor))

    @cached_property
    def numbers(self) -> dict[str, Any]:
        """The statistics by their columns."""
        sums = self.sums
        differences = self._differences
        lists = len(self._differences)
        wins = int((differences > ROUNDING).sum())
        losses = int((differences < -ROUNDING).sum())
        baseline = self._baseline.mean() if lists else np.nan
        moments = ((differences**power).mean() if lists else np.nan for power in (1, 2, 3))
        numbers = {
            "skewness": skewness(*map(np.asarray, moments)), "units": lists,
            "lists": lists, "wins": wins, "ties": lists - wins - losses, "losses": losses,
            "mean": self._values.mean() if lists else np.nan, "baseline_mean": baseline,
            **dict(zip(RUN_COLUMNS, (each.count for each in self._runs), strict=False)),
            **tested_runs(sums, np.asarray(baseline), self.bounds, self._options),
        }  # fmt: skip
        if (margin := self._margin) is not None:
            numbers[HAS_MARGIN] = margin.size > 0
            ends = zip(MARGIN_ENDS, margin.shifts, strict=True)
            numbers |= {end: self._p_at_end(end, shift, margin) for end, shift in ends}
        return {name: np.ravel(value).item() for name, value in numbers.items()}

    def _p_at_end(self, end: str, shift: float, margin: Margin) -> Any:
        """Return the p-value of the test that the difference is on the inner side of one end of the margin.

        The differences are moved so that this end of the margin is 0, and tested against 0.
        """
        baseline = self._baseline
        moved = self._differences + shift * (baseline if margin.relative else 1.0)
        # A margin in percent adds a multiple of the baseline, so the factor of the baseline changes by it.
        sums = self._sums(moved, 1.0 - shift if margin.relative else 1.0)
        p = p_of_moved(sums, self.sums, self.bounds)
        baseline_mean = np.asarray(baseline.mean() if len(baseline) else np.nan)
        return p_on_inner_side(p, sums.mean, end, margin, baseline_mean)


def describe_runs(call: RunsCall, options: Description) -> Any:
    """Return how the values of lists and runs spread, as a frame of the user's kind."""
    call.check({}, options.cluster, options.strata)
    columns = _shown_columns(options, several=call.model is not None)
    if is_dry() or not call.rows_of_runs.several:
        plan = call.plan()
        result = nw.from_native(describe(plan, options))
        result = result.with_columns(runs=nw.lit(1, nw.Int64()), run_std=nw.lit(None, nw.Float64()))
        result = result.select(*columns).to_native()
        if not is_dry():
            warn_of_single_runs(call.runs)
    else:
        run_values = RunValues.of(call)
        plan = run_values.plan
        result = result_frame(plan, lambda: _described_rows(run_values, options, columns), columns)
        run_values.warn(call.runs)
    return remember(warned(plan, result, ("mean",)), options.confidence)


def _shown_columns(options: Description, *, several: bool) -> tuple[str, ...]:
    """Return the columns of a description. Polars prints eight columns, so `std` is among the details."""
    columns = columns_of_values(options, several=several)
    last = columns.index("std")
    return (*columns[:last], RUN_COLUMNS[0], RUN_STD, *(columns[last:] if options.details else ()))


def _described_rows(run_values: RunValues, options: Description, columns: Sequence[str]) -> nw.DataFrame[Any]:
    """Return the rows of a description."""
    rows = []
    for number, metric in enumerate(run_values.plan.list_metrics):
        name = run_values.plan.context.query.averaging(metric.label).name
        bounds = run_values.values.range_of(number)
        for model, model_name in enumerate(run_values.models):
            numbers = _described(run_values.table(model, number), bounds, options.confidence)
            arrays = {column: np.array([value], dtype=np.float64) for column, value in numbers.items()}
            rows.append({"metric": name, "model": model_name, **arrays})
    return stacked(run_values.reported(), rows, columns)


def _described(table: Floats, bounds: tuple[float, float], confidence: float) -> dict[str, float]:
    """Return the statistics of one model's lists × runs: the values of lists are means over runs."""
    values = table.mean(axis=1)
    numbers = described_values(values, np.ones(len(values)), None, bounds, confidence)
    (known,) = with_values([table])
    runs = Runs.of(known)
    if runs.count >= LEAST_RUNS:
        sums = CrossedSums.with_runs(Sums.of(known.mean(axis=1), np.ones(len(known))), [runs], (1.0,))
        least = student.least_value(bounds[0], bool((known < 0).any()), bounds[1])
        low, high = student.interval(sums, confidence, (least, bounds[1]))
        numbers |= {"low": low.item(), "high": high.item()}
    return {**numbers, RUN_COLUMNS[0]: runs.count, RUN_STD: runs.standard_deviation}
