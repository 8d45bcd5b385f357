"""Is B better than A? Paired comparisons of models over the same lists."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from recframe._checks.definitions import makes_dependent
from recframe._comparison import paired_sums as paired
from recframe._comparison.list_values import ListValues, check_by_list, segments
from recframe._comparison.paired_sums import Pair, differences, paired_sums
from recframe._comparison.results import result_frame, stacked
from recframe._statistics import resampling, student
from recframe._statistics.correction import Correction, adjusted
from recframe._values import choice, column_name, whole_number
from recframe.errors import DataWarning, OptionError, closest, quoted, stack_level

if TYPE_CHECKING:
    from collections.abc import Sequence

    import narwhals as nw

    from recframe._plan.context import CallContext
    from recframe._plan.plan import Plan
    from recframe._values import Labels

Test = Literal["t", "randomization", "bootstrap", "wilcoxon"]
"""The test of a mean difference of 0."""
COLUMNS = (
    "metric", "model", "baseline", "difference", "relative", "mean", "baseline_mean", "lists", "wins", "ties", "losses",
    "effect", "detectable", "low", "high", "p", "p_adjusted",
)  # fmt: skip
"""The columns of a result, after those of `per`: of a wide frame polars and pandas print the first and the last."""
MOST_RESAMPLES = 1_000_000
"""More would run for hours, and no decision needs a p-value in smaller steps."""


@dataclass(frozen=True)
class Options:
    """How models are compared, checked."""

    baseline: Any
    test: Test
    confidence: float
    correction: Correction
    cluster: str | None
    resamples: int
    seed: int
    interval: resampling.Interval

    @classmethod
    def of(cls, labels: Labels, **given: Any) -> Options:
        """Check what can be checked without a frame."""
        for name, kind in (("test", Test), ("correction", Correction), ("interval", resampling.Interval)):
            choice(name, given[name], get_args(kind))
        if given["interval"] == "bca" and given["test"] != "bootstrap":
            msg = f"interval='bca' is the bootstrap's, but test={given['test']!r} is another test"
            raise OptionError(msg, "test='bootstrap', or leave interval= out")
        given["confidence"] = student.check_confidence(given["confidence"])
        given["resamples"] = whole_number(
            "resamples", given["resamples"], "resamples=10_000", least=100, most=MOST_RESAMPLES
        )
        given["seed"] = whole_number("seed", given["seed"], "seed=0", least=0, most=None)
        if given["cluster"] is not None:
            given["cluster"] = column_name("cluster", given["cluster"], labels)
        return cls(**given)


def check_ranks(options: Options, weight: str | None) -> None:
    """Raise for what a test of ranks does not allow.

    Raises
    ------
    OptionError
        Wilcoxon's test is to weigh or to cluster lists.
    """
    if options.test == "wilcoxon" and (options.cluster or weight):
        msg = "test='wilcoxon' accepts neither cluster= nor weight=, as it ranks single lists"
        raise OptionError(msg, "test='t' or test='randomization'")


def compare(plan: Plan, options: Options) -> Any:
    """Return one row per value of `per`, metric and pair of models, as a frame of the kind given."""
    check_by_list(plan.metrics, "compare")
    check_ranks(options, plan.context.query.weight)
    return result_frame(plan, lambda: _rows(plan, options), COLUMNS)


def _rows(plan: Plan, options: Options) -> nw.DataFrame[Any]:
    """Return the rows of the result."""
    values, context = ListValues(plan), plan.context
    pairs = [
        Pair(metric, model, baseline)
        for metric in range(len(plan.metrics))
        for model, baseline in _model_pairs(values.models, options.baseline)
    ]
    if context.engine.eager:
        _warn_of_clusters(values, context)
    sums = paired_sums(values, pairs, context.per, context.cluster)
    reported = sums.select(*context.per)
    rows = [_row(sums, number, pair, values, options) for number, pair in enumerate(pairs)]
    for row, pair in zip(rows, pairs, strict=True):
        metric = plan.metrics[pair.metric]
        row["metric"] = context.query.averaging(metric.label).name
        if not metric.higher_is_better:
            row["wins"], row["losses"] = row["losses"], row["wins"]
    if options.test != "t":
        _resample(rows, pairs, values, reported, context, options)
    corrected = adjusted(np.concatenate([row["p"] for row in rows]), options.correction)
    for row, part in zip(rows, np.split(corrected, len(rows)), strict=True):
        row["p_adjusted"] = part
    return stacked(reported, rows, COLUMNS)


def _warn_of_clusters(values: ListValues, context: CallContext) -> None:
    """Warn where a key of several columns makes it likely that lists are not independent."""
    if context.cluster is not None or len(context.query.by) <= 1:
        return
    keys = values.engine.collected(values.frame.select(*context.keys))
    counts = {column: keys[name].n_unique() for name, column in context.key_names.items()}
    repeated = {column: count for column, count in counts.items() if makes_dependent(count, len(keys))}
    if repeated:
        # Whoever writes a key names the unit first: by=["user", "day"].
        column, *others = repeated
        also = "".join(f", or cluster={other!r} if those of one {other} are more alike" for other in others)
        msg = (
            f"{len(keys)} lists have {repeated[column]} values of {column!r}: lists of one value may be alike, and then"
            f" intervals are too short and p-values too small.\nName it to draw its lists together: cluster={column!r}"
            f"{also}"
        )
        warnings.warn(msg, DataWarning, stacklevel=stack_level())


def _model_pairs(models: Sequence[Any], baseline: Any) -> list[tuple[int, int]]:
    """Return which models are compared with which baseline, by their numbers."""
    if len(models) <= 1:
        msg = f"compare needs two models, but there is only {models[0]!r}" if models else "compare needs two models"
        raise OptionError(msg, "score=['old', 'new'], or model='model' for models in long format")
    if baseline is None:
        return [(second, first) for first, second in combinations(range(len(models)), 2)]
    known = [number for number, model in enumerate(models) if type(model) is type(baseline) and model == baseline]
    if not known:
        msg = f"baseline={quoted(baseline)} is not one of the models {', '.join(map(repr, models))}"
        raise OptionError(msg, closest(baseline, map(str, models)))
    return [(model, known[0]) for model in range(len(models)) if model != known[0]]


def _row(sums: nw.DataFrame[Any], number: int, pair: Pair, values: ListValues, options: Options) -> dict[str, Any]:
    """Return the statistics of one pair, by Student's t."""
    own, found = paired.statistics(sums, number)
    bounds = np.broadcast_arrays(*paired.bounds(found, pair, values), own.mean)[:2]
    low, high = student.interval(own, options.confidence, bounds)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = {name: np.where(own.weight > 0, found[name] / own.weight, np.nan) for name in ("model", "baseline")}
        relative = np.where(means["baseline"] != 0, own.mean / means["baseline"], np.nan)
    return {
        "own": own,
        "bounds": bounds,
        "model": values.models[pair.model],
        "baseline": values.models[pair.baseline],
        "lists": found["lists"],
        "mean": means["model"],
        "baseline_mean": means["baseline"],
        "difference": own.mean,
        "relative": relative,
        "low": low,
        "high": high,
        "p": student.p_value(own),
        "effect": student.effect(own),
        "wins": found["wins"],
        "ties": found["ties"],
        "losses": found["losses"],
        "detectable": student.detectable(own, options.confidence),
    }


def _resample(
    rows: Sequence[dict[str, Any]],
    pairs: Sequence[Pair],
    values: ListValues,
    reported: nw.DataFrame[Any],
    context: CallContext,
    options: Options,
) -> None:
    """Replace p-values, and for the bootstrap the intervals, by those of the test, one segment after the other."""
    named = [
        column.alias(f"{name} {number}")
        for number, pair in enumerate(pairs)
        for name, column in zip(("difference", "weight"), differences(pair, values), strict=True)
    ]
    # A seed must draw the same lists in every call.
    _, parts = segments(values, context, [], named, reported, by_key=True)
    for entry, part in enumerate(parts):
        weights = np.column_stack([part[f"weight {number}"] for number in range(len(pairs))])
        found = np.column_stack([part[f"difference {number}"] for number in range(len(pairs))])
        units = resampling.Units(np.where(weights > 0, found, 0.0) * weights, weights, part.get("cluster"))
        _test(rows, entry, units, options)


def _test(rows: Sequence[dict[str, Any]], entry: int, units: resampling.Units, options: Options) -> None:
    """Write the results of a test for one segment, where differences have a spread: else all tests agree."""
    low, high, p = np.full((3, len(rows)), np.nan)
    if options.test == "bootstrap":
        low, high, p = resampling.bootstrap(
            units, options.resamples, options.seed, options.confidence, options.interval
        )
    elif options.test == "randomization":
        low, high, p = resampling.randomization(units, options.resamples, options.seed, options.confidence)
    for column, row in enumerate(rows):
        own = row["own"]
        spreads = own.standard_error[entry] > 0
        if options.test == "wilcoxon":
            row["low"][entry] = row["high"][entry] = np.nan
            if spreads:
                row["p"][entry] = _wilcoxon(units.totals[units.weights[:, column] > 0, column])
        elif spreads:
            ends = student.cut(low[column], high[column], own.mean[entry], [end[entry] for end in row["bounds"]])
            row["low"][entry], row["high"][entry], row["p"][entry] = *ends, p[column]


def _wilcoxon(differences: Any) -> float:
    """Return the p-value of Wilcoxon's signed-rank test, which leaves differences of 0 out."""
    cleaned = np.where(np.abs(differences) > paired.ROUNDING, differences, 0.0)
    return float(student.scipy_stats().wilcoxon(cleaned).pvalue)
