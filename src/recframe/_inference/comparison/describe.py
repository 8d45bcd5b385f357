"""How the values of lists spread, model by model."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from recframe._base.values import column_or_none, flag
from recframe._inference.comparison.all_lists import Jackknife, metrics_of_all_lists
from recframe._inference.comparison.doubts import are_uneven, tail_warning, uneven_warning
from recframe._inference.comparison.options import Intervals
from recframe._inference.lists.paired_sums import statistics
from recframe._inference.lists.result_notes import remember
from recframe._inference.lists.results import TEXTS, result_frame, stacked
from recframe._inference.lists.sums import Groups
from recframe._inference.lists.values import ListValues, segments, strata_of_lists, value_column
from recframe._inference.statistics import student
from recframe._inference.statistics.skewness import LEAST_SKEWED_LISTS, is_skewed, skewness
from recframe._inference.statistics.student import Sums
from recframe._inference.statistics.wilson import wilson
from recframe.errors import DataWarning, warn

if TYPE_CHECKING:
    from collections.abc import Sequence

    import narwhals as nw

    from recframe._base.values import Labels
    from recframe._inference.lists.strata import StrataOfLists
    from recframe._plan.plan import Plan
    from recframe.metrics import Metric

QUANTILES = {"min": 0.0, "p10": 0.1, "p25": 0.25, "p50": 0.5, "p75": 0.75, "p90": 0.9, "max": 1.0}
"""The quantiles of the values, by their columns; between two values they are interpolated."""
ANSWER = ("metric", "model", "lists", "mean", "low", "high", "std")
"""The columns of a result without details, after the columns of `per`. Polars prints 8, so one of `per` fits."""


@dataclass(frozen=True)
class Options(Intervals):
    """How values are described, checked."""

    details: bool = False
    runs: str | None = None

    @classmethod
    def of(cls, labels: Labels, **named: Any) -> Self:
        """Return checked options, or raise for what can be checked without a frame."""
        named["details"] = flag("details", named.get("details", False))
        named["runs"] = column_or_none("runs", named.get("runs"), labels)
        return super().of(labels, **named)


def describe(plan: Plan, options: Options) -> Any:
    """Return one row per value of `per`, metric and model, as a frame of the user's kind."""
    columns = columns_of_values(options, several=plan.context.query.several)
    return remember(result_frame(plan, lambda: _rows(plan, options, columns), columns), options.confidence)


def columns_of_values(options: Options, *, several: bool) -> tuple[str, ...]:
    """Return the columns of a result, with the model if there are several."""
    every = (*ANSWER, "effective", *QUANTILES, "zeros", "undefined") if options.details else ANSWER
    return tuple(name for name in every if name != "model" or several)


def _rows(plan: Plan, options: Options, columns: tuple[str, ...]) -> nw.DataFrame[Any]:
    """Return the rows of the result."""
    values = ListValues(plan).without_unknown()
    context = plan.context
    heads = [name for name in columns if name in TEXTS]
    reported, parts = segments(values, context)
    strata = strata_of_lists(values, context)
    rows: list[tuple[int, Metric, dict[str, Any]]] = []
    for metric, model in product(range(len(plan.list_metrics)), range(len(values.models))):
        bounds = values.range_of(metric)
        name = context.query.averaging(plan.list_metrics[metric].label).name
        lists = [
            described_values(*values.in_segment(part, model, metric), part.get("cluster"), bounds, options.confidence)
            if strata is None
            else _stratified(
                part[value_column(model, metric)], part["stratum"], strata, name, bounds, options.confidence
            )
            for part in parts
        ]
        names = (*columns[len(heads) :], "skewness", "effective", "units")
        statistics = {name: np.array([sums[name] for sums in lists], dtype=np.float64) for name in names}
        rows.append((model, plan.list_metrics[metric], statistics))
    if context.engine.eager:
        _warn_of_uneven(rows, clustered=options.cluster is not None)
        _warn_of_tails(rows, values.models, [values.range_of(number)[1] for number in range(len(plan.list_metrics))])
    if metrics_of_all_lists(plan):
        jackknife = Jackknife(plan, values.models)
        reported = jackknife.reported
        missing = dict.fromkeys(columns[len(heads) :], np.full(len(jackknife.lists), np.nan))
        rows += [
            (model, metric, missing | jackknife.described(metric, model, options.confidence))
            for model in range(len(values.models))
            for metric in metrics_of_all_lists(plan)
        ]
        # Two metrics that differ only in their level of relevance are equal, so the order is by label.
        labels = [metric.label for metric in plan.metrics]
        rows.sort(key=lambda row: (labels.index(row[1].label), row[0]))
    names_of = {metric.label: context.query.averaging(metric.label).name for metric in plan.metrics}
    named = [
        {"model": values.models[model], "metric": names_of[metric.label], **numbers} for model, metric, numbers in rows
    ]
    return stacked(reported, named, columns)


def _stratified(
    every: Any, numbers: Any, strata: StrataOfLists, metric: str, bounds: tuple[float, float], confidence: float
) -> dict[str, float]:
    """Return the statistics of one metric in one segment, where `numbers` holds the stratum of each list."""
    has_value = ~np.isnan(every)
    values = every[has_value]
    groups = Groups(numbers[has_value], [*range(len(strata.names))])
    powers = {"lists": values**0, "difference": values, "squares": values**2, "cubes": values**3}
    pooled = strata.pooled({name: groups.sums(power)[None, :] for name, power in powers.items()}, [metric])
    sums = statistics(pooled, 0)
    powers_of_mean = (student.ratio(pooled[name], pooled["weight"]) for name in ("difference", "squares", "cubes"))
    skew = skewness(*powers_of_mean).item() if _may_be_skewed(values) else np.nan
    described = _spread(every, values, sums, interval_of_values(values, sums, confidence, bounds))
    # The standard error of strata allows for uneven weights, so no units are lost.
    effective = pooled["effective"].item()
    return described | {"skewness": skew, "effective": effective, "units": effective}


def described_values(
    every: Any, weights: Any, clusters: Any, bounds: tuple[float, float], confidence: float
) -> dict[str, float]:
    """Return the statistics of one metric in one segment."""
    has_value = ~np.isnan(every)
    values = every[has_value]
    sums = Sums.of(values, weights[has_value], None if clusters is None else clusters[has_value])
    interval = interval_of_values(values[weights[has_value] > 0], sums, confidence, bounds)
    units = len(values) if clusters is None else len(np.unique(clusters[has_value]))
    return {**_spread(every, values, sums, interval), "skewness": _skewness(values), "units": units}


def _spread(every: Any, values: Any, sums: Sums, interval: tuple[Any, Any]) -> dict[str, float]:
    """Return the statistics of a segment's lists. Lists without a value are only counted."""
    low, high = interval
    # One call for all quantiles, because each call sorts the values again.
    spread = np.quantile(values, [*QUANTILES.values()]) if len(values) else np.full(len(QUANTILES), np.nan)
    return {
        "lists": len(values),
        "undefined": len(every) - len(values),
        "mean": sums.mean.item(),
        "low": low.item(),
        "high": high.item(),
        "std": sums.standard_deviation.item(),
        **dict(zip(QUANTILES, spread, strict=True)),
        "zeros": np.mean(values == 0) if len(values) else np.nan,
        "effective": sums.units.item(),
    }


def _may_be_skewed(values: Any) -> bool:
    """Return whether the skewness of values matters.

    The skewness of few values is chance, and the interval of shares allows for it.
    """
    return len(values) >= LEAST_SKEWED_LISTS and not ((values == 0) | (values == 1)).all()


def _skewness(values: Any) -> float:
    """Return the skewness of values, NaN if it does not matter."""
    if not _may_be_skewed(values):
        return np.nan
    # Squares and cubes of very large values are infinite.
    with np.errstate(over="ignore", invalid="ignore"):
        return float(skewness(values.mean(), (values**2).mean(), (values**3).mean()))


def _warn_of_uneven(rows: Sequence[tuple[int, Metric, dict[str, Any]]], *, clustered: bool) -> None:
    """Warn about the first interval whose clusters or weighted lists amount to few equal ones."""
    for _, _, numbers in rows:
        rows_with_few = np.flatnonzero(are_uneven(numbers["units"], numbers["effective"]))
        if len(rows_with_few):
            units, effective = (numbers[name][rows_with_few[0]] for name in ("units", "effective"))
            msg = uneven_warning(int(units), effective, clustered=clustered)
            warn(msg, DataWarning)
            return


def _warn_of_tails(
    rows: Sequence[tuple[int, Metric, dict[str, Any]]], models: Sequence[Any], greatest: Sequence[float]
) -> None:
    """Warn about the first interval for which there are too few lists, because the values have a long tail."""
    for number, (model, metric, numbers) in enumerate(rows):
        skewed_rows = np.flatnonzero(is_skewed(numbers["lists"], numbers["skewness"]))
        if len(skewed_rows):
            lists, skew = (numbers[name][skewed_rows[0]] for name in ("lists", "skewness"))
            of = "" if models[model] is None else f" of {models[model]!r}"
            bounded = np.isfinite(greatest[number // len(models)])
            msg = tail_warning(f"the values of {metric.label}{of}", int(lists), skew, bounded=bool(bounded))
            warn(msg, DataWarning)
            return


def interval_of_values(values: Any, sums: Sums, confidence: float, bounds: tuple[float, float]) -> tuple[Any, Any]:
    """Return the ends of the interval of a mean from its values with a weight above 0, and their sums."""
    negative = (values < 0).any(keepdims=True)
    fractions = ((values != 0) & (values != 1)).any(keepdims=True)
    return intervals_of_means(sums, confidence, bounds, negative=negative, fractions=fractions)


def intervals_of_means(
    sums: Sums, confidence: float, bounds: tuple[float, float], *, negative: Any, fractions: Any
) -> tuple[Any, Any]:
    """Return the intervals of means: Wilson's for values that are all 0 or 1, otherwise Student's.

    `negative` marks the means with a negative value, and `fractions` the means with a value that is neither 0 nor 1.
    """
    least, greatest = bounds
    lowest = student.least_value(least, negative, greatest)
    # Values of 0 and 1 are shares, whose spread follows from their mean.
    shares = (lowest == 0) & (greatest == 1) & (np.asarray(fractions) == 0)
    if shares.all():
        return wilson(sums, confidence)
    ends = student.interval(sums, confidence, (lowest, greatest))
    if not shares.any():
        return ends
    of_shares = wilson(sums, confidence)
    return np.where(shares, of_shares[0], ends[0]), np.where(shares, of_shares[1], ends[1])
