"""Is B better than A? Paired comparisons of models over the same lists."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import narwhals as nw
import numpy as np

from recframe._checks.definitions import makes_dependent
from recframe._comparison import paired_sums as paired
from recframe._comparison.list_values import ListValues, check_by_list, segments
from recframe._comparison.paired_sums import Pair, model_pairs, paired_sums, with_differences
from recframe._comparison.results import result_frame, stacked
from recframe._engines.registry import a_type, is_frame
from recframe._plan.chance import check_chance, plan_of_chance
from recframe._progress import progress_bar
from recframe._statistics import ROUNDING, resampling, student
from recframe._statistics.correction import Correction, adjusted
from recframe._values import choice, column_name, whole_number
from recframe.errors import DataWarning, OptionError, OptionTypeError, stack_level

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from recframe._comparison.baseline import Stored
    from recframe._plan.context import CallContext
    from recframe._plan.plan import Plan
    from recframe._statistics.student import Sums
    from recframe._values import Labels

Test = Literal["t", "randomization", "bootstrap", "wilcoxon"]
"""The test of a mean difference of 0."""
Changed = Literal["leave_out", "refuse"]
"""What becomes of lists that are not those of a stored baseline."""
COLUMNS = (
    "metric", "model", "baseline", "difference", "relative", "mean", "baseline_mean", "lists", "wins", "ties", "losses",
    "effect", "detectable", "low", "high", "p", "p_adjusted",
)  # fmt: skip
"""The columns of a result, after those of `per`: of a wide frame polars and pandas print the first and the last."""
CHANCE = "chance"
"""The baseline that is each model's own rows in a random order, if no model has the name."""
PAIRS = 500
"""How many pairs are compared together: each holds a column of differences."""
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
    changed: Changed | None = None

    @classmethod
    def of(cls, labels: Labels, **given: Any) -> Options:
        """Check what can be checked without a frame."""
        for name, kind in (("test", Test), ("correction", Correction), ("interval", resampling.Interval)):
            choice(name, given[name], get_args(kind))
        _check_name(given["baseline"])
        if given.get("changed") is not None:
            choice("changed", given["changed"], get_args(Changed))
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


def _check_name(baseline: Any) -> None:
    """Raise for a baseline that is no name but data: comparing these would compare their rows."""
    of_data = hasattr(baseline, "__array__") and hasattr(baseline, "__len__") and not isinstance(baseline, str)
    if is_frame(baseline) or of_data:
        msg = f"baseline= is {a_type(baseline)}, but it is the name of a model or of a file"
        hint = "baseline='prod.parquet', which evaluate with save='prod.parquet' writes; a state: "
        raise OptionTypeError(msg, hint + "recframe.merge(df.rec.state(...)).compare(baseline=state)")


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


def compare(plan: Plan, options: Options, stored: Stored | None = None) -> Any:
    """Return one row per value of `per`, metric and pair of models, as a frame of the kind given."""
    check_by_list(plan.metrics, "compare")
    check_ranks(options, plan.context.query.weight)
    if options.baseline == CHANCE and not plan.context.long and CHANCE not in plan.context.query.orders:
        check_chance(plan.context.query, plan.metrics, f"baseline={CHANCE!r}")
    columns = COLUMNS if stored is None else (*COLUMNS, "changed")
    return result_frame(plan, lambda: _rows(plan, options, stored), columns, named_by_text=stored is not None)


def _rows(plan: Plan, options: Options, stored: Stored | None) -> nw.DataFrame[Any]:
    """Return the rows of the result."""
    values, context = ListValues(plan), plan.context
    since = {}
    if stored is not None:
        values, since["changed"] = stored.paired(values, plan, options.changed)
        numbers = [(model, len(values.models) - 1) for model in range(len(values.models) - 1)]
    elif options.baseline == CHANCE and CHANCE not in values.models:
        numbers = [(model, len(values.models) + model) for model in range(len(values.models))]
        values = values.beside(ListValues(plan_of_chance(plan, f"baseline={CHANCE!r}")), CHANCE)
    else:
        numbers = model_pairs(values.models, options.baseline)
    pairs = [Pair(metric, *models) for metric in range(len(plan.metrics)) for models in numbers]
    if context.engine.eager:
        _warn_of_clusters(values, context)
    # Other engines compute all pairs in one plan, as each plan would read the rows again.
    step = PAIRS if context.engine.eager else len(pairs)
    compared = []
    with progress_bar(len(pairs), "pairs of models", show=None) as show:
        for start in range(0, len(pairs), step):
            compared.append(_compared(values, pairs[start : start + step], context, options))
            show(start + len(compared[-1].pairs))
    correct([(one.sums, one.numbers) for one in compared], options)
    pieces = []
    for one in compared:
        named = [{**_named_row(plan, values, one, number), **since} for number in range(len(one.pairs))]
        pieces.append(stacked(one.reported, named, (*COLUMNS, *since)))
    return nw.concat(pieces, how="vertical")


def correct(compared: Sequence[tuple[Sums, dict[str, Any]]], options: Options) -> None:
    """Add to the statistics of all pairs what depends on how many tests there are."""
    p = np.concatenate([numbers["p"].ravel() for _, numbers in compared])
    corrected = iter(adjusted(p, options.correction))
    tests = 1 if options.correction == "none" else max(int(np.isfinite(p).sum()), 1)
    for own, numbers in compared:
        shape = numbers["p"].shape
        numbers["p_adjusted"] = np.fromiter(corrected, np.float64, numbers["p"].size).reshape(shape)
        numbers["detectable"] = student.detectable(own, 1 - (1 - options.confidence) / tests)


@dataclass(frozen=True)
class _Compared:
    """Pairs that were compared together."""

    pairs: Sequence[Pair]
    reported: nw.DataFrame[Any]
    """The values of `per`, in order."""
    sums: Sums
    numbers: dict[str, Any]
    """The statistics by their columns: an array with a row for each pair, and an entry for each reported value."""


def _compared(values: ListValues, pairs: Sequence[Pair], context: CallContext, options: Options) -> _Compared:
    """Compare pairs."""
    values = with_differences(values, pairs)
    sums = paired_sums(values, pairs, context.per, context.cluster)
    own, numbers, bounds = tested(paired.sums_of(sums, pairs), pairs, values.range_of, options)
    compared = _Compared(pairs, sums.select(*context.per), own, numbers)
    if options.test != "t":
        _resample(compared, bounds, values, context, options)
    return compared


def _named_row(plan: Plan, values: ListValues, compared: _Compared, number: int) -> dict[str, Any]:
    """Return the statistics of one pair with its names; wins are in the direction of the metric."""
    pair = compared.pairs[number]
    metric = plan.metrics[pair.metric]
    names = {"model": values.models[pair.model], "baseline": values.models[pair.baseline]}
    names["metric"] = plan.context.query.averaging(metric.label).name
    return {**row_of(compared.numbers, number, higher_is_better=metric.higher_is_better), **names}


def row_of(numbers: Mapping[str, Any], place: int, *, higher_is_better: bool) -> dict[str, Any]:
    """Return the statistics of one pair of many; wins are in the direction of the metric."""
    row = {name: array[place] for name, array in numbers.items()}
    if not higher_is_better:
        row["wins"], row["losses"] = row["losses"], row["wins"]
    return row


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


def tested(
    sums: dict[str, Any], pairs: Sequence[Pair], range_of: Callable[[int], tuple[float, float]], options: Options
) -> tuple[Sums, dict[str, Any], Sequence[Any]]:
    """Return what t-tests read, their statistics, a row of each array for a pair, and the range of differences."""
    own, totals = paired.statistics(sums)
    bounds = np.broadcast_arrays(*paired.bounds(totals, pairs, range_of), own.mean)[:2]
    low, high = student.interval(own, options.confidence, bounds)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = {name: np.where(own.weight > 0, totals[name] / own.weight, np.nan) for name in ("model", "baseline")}
        relative = np.where(means["baseline"] != 0, own.mean / means["baseline"], np.nan)
    numbers = {
        **{name: totals[name] for name in ("lists", "wins", "ties", "losses")},
        "mean": means["model"],
        "baseline_mean": means["baseline"],
        "difference": own.mean,
        "relative": relative,
        "low": low,
        "high": high,
        "p": student.p_value(own),
        "effect": student.effect(own),
    }
    return own, numbers, bounds


def _resample(
    compared: _Compared, bounds: Sequence[Any], values: ListValues, context: CallContext, options: Options
) -> None:
    """Replace p-values and intervals by those of the test, one segment after the other."""
    pairs, own, numbers = compared.pairs, compared.sums, compared.numbers
    weighted = [pair for pair in pairs if pair.metric in values.weighted]
    names = [*(pair.difference for pair in pairs), *(pair.weight for pair in weighted)]
    # A seed must draw the same lists in every call.
    _, parts = segments(values, context, names, compared.reported, by_key=True)
    for entry, part in enumerate(parts):
        differences = np.column_stack([part[pair.difference] for pair in pairs])
        ones = np.ones(len(differences))
        weights = np.column_stack([part.get(pair.weight, ones) for pair in pairs])
        weights = np.where(np.isnan(differences), 0.0, np.nan_to_num(weights))
        units = resampling.Units(np.where(weights > 0, differences, 0.0) * weights, weights, part.get("cluster"))
        low, high, p = _test(units, options)
        # Where differences have no spread, all tests agree.
        spreads = own.standard_error[:, entry] > 0
        if options.test == "wilcoxon":
            numbers["low"][:, entry] = numbers["high"][:, entry] = np.nan
        else:
            ends = student.cut(low, high, own.mean[:, entry], [end[:, entry] for end in bounds])
            for name, end in zip(("low", "high"), ends, strict=True):
                numbers[name][spreads, entry] = end[spreads]
        numbers["p"][spreads, entry] = p[spreads]


def _test(units: resampling.Units, options: Options) -> tuple[Any, Any, Any]:
    """Return the ends of the interval and the p-value of each pair in one segment."""
    if options.test == "bootstrap":
        return resampling.bootstrap(units, options.resamples, options.seed, options.confidence, options.interval)
    if options.test == "randomization":
        return resampling.randomization(units, options.resamples, options.seed, options.confidence)
    p = np.array([_wilcoxon(totals[there]) for totals, there in zip(units.totals.T, units.weights.T > 0, strict=True)])
    return np.full_like(p, np.nan), np.full_like(p, np.nan), p


def _wilcoxon(differences: Any) -> float:
    """Return the p-value of Wilcoxon's signed-rank test, which leaves differences of 0 out."""
    cleaned = np.where(np.abs(differences) > ROUNDING, differences, 0.0)
    if not cleaned.any():
        return float("nan")
    return float(student.scipy_stats().wilcoxon(cleaned).pvalue)
