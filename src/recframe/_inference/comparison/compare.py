"""Is B better than A? Paired comparisons of models over the same lists."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import narwhals as nw

from recframe._base.progress import progress_bar
from recframe._checks.definitions import makes_dependent
from recframe._engines.registry import adapter_of
from recframe._inference.comparison.all_lists import Jackknife, check_options_of_all_lists, metrics_of_all_lists
from recframe._inference.comparison.columns import ANSWER, CHANGED, COLUMNS, FIRST, LAST, MEANS, RELATIVE, RUN_COLUMNS
from recframe._inference.comparison.decided import correct
from recframe._inference.comparison.doubts import warn_of_doubts
from recframe._inference.comparison.option_checks import check_bounded, check_looks, check_relative, check_stratified
from recframe._inference.comparison.options import SIMULTANEOUS, TESTS_OF_SUMS
from recframe._inference.comparison.resampled import check_wilcoxon, parts_of, resample, units_of
from recframe._inference.comparison.simultaneous import check_simultaneous
from recframe._inference.comparison.tested import Tested, tested
from recframe._inference.lists import paired_sums as paired
from recframe._inference.lists.claims import P_OF_DEMANDS
from recframe._inference.lists.clusters import check_clusters
from recframe._inference.lists.paired_sums import Pair, model_pairs, paired_sums, with_differences
from recframe._inference.lists.result_notes import remember
from recframe._inference.lists.results import INTERNAL, result_frame, stacked
from recframe._inference.lists.strata import sums_of_segments
from recframe._inference.lists.values import ListValues, range_with_number, sorted_by_key
from recframe._plan.chance import check_chance, plan_of_chance
from recframe.errors import DataWarning, warn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe._inference.comparison.options import Options
    from recframe._inference.lists.baseline import Stored
    from recframe._plan.opened import Opened
    from recframe._plan.plan import Plan
    from recframe.metrics import Metric

CHANCE = "chance"
"""The word for the baseline of each model's own rows in random order, unless a model has this name."""
PAIRS_AT_ONCE = 500
"""The most pairs of models compared at once, because each pair needs a column of differences."""


def columns_of(options: Options, *, stored: bool = False) -> tuple[str, ...]:
    """Return the columns of the result that the call requests."""
    relative = RELATIVE if options.relative else ()
    if not options.details:
        return (*FIRST, *(["relative", *relative] if options.relative else ()), *LAST)
    index = COLUMNS.index("relative") + 1
    more = ([CHANGED] if stored else []) + ([] if options.runs is None else [*RUN_COLUMNS])
    return (*COLUMNS[:index], *relative, *COLUMNS[index : -len(LAST)], *more, *LAST)


def computed_columns(options: Options, plan: Plan, *, stored: bool = False) -> tuple[str, ...]:
    """Return the columns that the call requests, then the columns that only warnings and gates read."""
    columns = columns_of(options, stored=stored)
    means = MEANS if plan.context.truth is not None and not options.details else ()
    return (*columns, *means, *P_OF_DEMANDS.values())


def answer_of(result: Any, options: Options) -> Any:
    """Return the requested columns of an eager result that has all columns, and remember what gates read."""
    hidden = {*P_OF_DEMANDS.values()}
    if not options.details:
        hidden |= {*COLUMNS, CHANGED, *RUN_COLUMNS} - {*ANSWER, *(["relative"] if options.relative else [])}
    frame = adapter_of(result).as_narwhals(result)
    # Columns are chosen by number, because labels of pandas need not be text, and segments may have such names.
    result = frame[:, [number for number, name in enumerate(frame.columns) if name not in hidden]].to_native()
    return remember(result, options.confidence, partial(options.claims, frame))


def compare(plan: Plan, options: Options, stored: Stored | None = None) -> Any:
    """Return one row per segment, metric and pair of models, and the columns for gates, as the user's kind of frame."""
    chance = _is_chance(options.baseline) and not plan.context.keys.long and CHANCE not in plan.context.query.orders
    refused = {
        f"`test={options.test!r}`": options.test != "t",
        f"`correction={options.correction!r}`": options.correction in SIMULTANEOUS,
        "a baseline in a file": stored is not None,
        f"`baseline={CHANCE!r}`": _is_chance(options.baseline),
    }
    check_options_of_all_lists(plan, refused)
    check_wilcoxon(options, plan.context.query.weight)
    check_looks(options, plan.context.query.weight)
    check_relative(options)
    check_stratified(options)
    if chance:
        check_chance(plan.context.query, plan.metrics, f"`baseline={CHANCE!r}`")
    columns = computed_columns(options, plan, stored=stored is not None)
    return result_frame(plan, lambda: _rows(plan, options, stored, columns), columns, named_by_text=stored is not None)


def _is_chance(baseline: Any) -> bool:
    """Return whether a baseline is the word for a random order. Arrays, which compare element by element, are not."""
    return isinstance(baseline, str) and baseline == CHANCE


def _rows(plan: Plan, options: Options, stored: Stored | None, columns: Sequence[str]) -> nw.DataFrame[Any]:
    """Return the rows of the result."""
    values = ListValues(plan)
    context = plan.context
    changed_columns = {}
    if stored is not None:
        values, changed_columns[CHANGED] = stored.paired(values, plan, options.changed, shown=options.details)
        model_numbers = [(model, len(values.models) - 1) for model in range(len(values.models) - 1)]
    elif _is_chance(options.baseline) and CHANCE not in values.models:
        model_numbers = [(model, len(values.models) + model) for model in range(len(values.models))]
        values = values.with_model(ListValues(plan_of_chance(plan, f"`baseline={CHANCE!r}`")), CHANCE)
    else:
        model_numbers = model_pairs(values.models, options.baseline)
    check_simultaneous(options, len(values.models))
    _check_ranges(values, plan, options)
    pairs = [Pair(metric, *models) for metric in range(len(plan.list_metrics)) for models in model_numbers]
    if context.engine.eager:
        _warn_of_clusters(values, context)
    compared = _compared_in_batches(values.without_unknown(), pairs, plan, options)
    all_list_metrics = metrics_of_all_lists(plan)
    all_list_pairs = [Pair(metric, *models) for metric in range(len(all_list_metrics)) for models in model_numbers]
    if all_list_pairs:
        jackknife = Jackknife(plan, values.models)
        tests = jackknife.tested(all_list_pairs, options)
        compared.append(_Compared(all_list_pairs, jackknife.reported, tests, all_list_metrics))
    correct([results.tested for results in compared], options)
    names = [
        [pair.names(plan, values.models, results.metrics[pair.metric]) for pair in results.pairs]
        for results in compared
    ]
    if context.engine.eager:
        warn_of_doubts([(results.tested, of_pairs) for results, of_pairs in zip(compared, names, strict=True)], options)
    pieces = []
    for results, of_pairs in zip(compared, names, strict=True):
        named = []
        for number, pair in enumerate(results.pairs):
            metric = results.metrics[pair.metric]
            row = row_of(results.tested.numbers, number, higher_is_better=metric.higher_is_better)
            named.append({**row, **of_pairs[number], **changed_columns})
        pieces.append(stacked(results.reported, named, columns))
    stack = nw.concat(pieces, how="vertical")
    return _in_order_of_metrics(stack, plan) if all_list_pairs else stack


def _in_order_of_metrics(rows: nw.DataFrame[Any], plan: Plan) -> nw.DataFrame[Any]:
    """Return rows in the order of the call's metrics. Metrics that differ only in their relevance level are equal."""
    order = [plan.context.query.averaging(metric.label).name for metric in plan.metrics]
    metric_numbers = [order.index(name) for name in rows[INTERNAL.format("metric")]]
    return rows[sorted(range(len(metric_numbers)), key=metric_numbers.__getitem__)]


def _check_ranges(values: ListValues, plan: Plan, options: Options) -> None:
    """Raise for a test or a margin that the range of a metric does not allow."""
    ranges = [(metric, values.range_of(number)) for number, metric in enumerate(plan.list_metrics)]
    check_bounded(
        options, ((metric.label, ends, index in values.weighted) for index, (metric, ends) in enumerate(ranges))
    )
    if options.margin is not None:
        query = plan.context.query
        ranges += [(metric, range_with_number(metric, query)) for metric in metrics_of_all_lists(plan)]
        options.margin.check({query.averaging(metric.label).name: ends for metric, ends in ranges})


@dataclass(frozen=True)
class _Compared:
    """The statistics of pairs of models that were compared at once."""

    pairs: Sequence[Pair]
    reported: nw.DataFrame[Any]
    """The values of `per`, in order."""
    tested: Tested
    metrics: Sequence[Metric]
    """The metrics, by the numbers that pairs hold."""


def _compared_in_batches(values: ListValues, pairs: Sequence[Pair], plan: Plan, options: Options) -> list[_Compared]:
    """Return the statistics of pairs of models, computed for some pairs at a time."""
    # Other engines compute all pairs in one plan, because each plan would read the rows again.
    step = PAIRS_AT_ONCE if plan.context.engine.eager else max(len(pairs), 1)
    compared = []
    with progress_bar(len(pairs), "pairs of models", show=None) as show:
        for start in range(0, len(pairs), step):
            compared.append(_compared(values, pairs[start : start + step], plan, options))
            show(start + len(compared[-1].pairs))
    return compared


def _compared(values: ListValues, pairs: Sequence[Pair], plan: Plan, options: Options) -> _Compared:
    """Return the statistics of some pairs of models."""
    values = with_differences(values, pairs)
    context = plan.context
    options = options.of_pairs([context.query.averaging(plan.list_metrics[pair.metric].label).name for pair in pairs])
    products = options.relative or (options.margin is not None and options.margin.any_relative)
    cells = [*context.keys.per, *context.keys.strata]
    sums = paired_sums(values, pairs, cells, context.keys.cluster, products=products, cubes=True)
    if context.keys.per and options.correction in SIMULTANEOUS:
        # Sort first, so that all batches of pairs have their segments in the same order.
        sums = sorted_by_key(sums, context, context.keys.per)
    upwards = [plan.list_metrics[pair.metric].higher_is_better for pair in pairs]
    totals = paired.sums_of(sums, pairs)
    reported = sums.select(*context.keys.per)
    if context.query.strata is not None:
        names = [context.query.averaging(plan.list_metrics[pair.metric].label).name for pair in pairs]
        totals, reported = sums_of_segments(context, sums, totals, names)
    check_clusters(context.query.cluster, context.query.per, totals["lists"], totals.get("clusters", []))
    tests = tested(totals, pairs, values.range_of, upwards, options)
    if options.test not in TESTS_OF_SUMS or options.correction in SIMULTANEOUS:
        parts = parts_of(pairs, reported, values, context, options)
        if options.test not in TESTS_OF_SUMS:
            resample(tests, pairs, parts, options)
        if options.correction in SIMULTANEOUS:
            tests.units.extend(units_of(part, pairs) for part in parts)
    return _Compared(pairs, reported, tests, plan.list_metrics)


def row_of(numbers: Mapping[str, Any], index: int, *, higher_is_better: bool) -> dict[str, Any]:
    """Return the statistics of one pair of many; wins are in the direction of the metric."""
    row = {name: array[index] for name, array in numbers.items()}
    if not higher_is_better:
        row["wins"], row["losses"] = row["losses"], row["wins"]
    return row


def _warn_of_clusters(values: ListValues, context: Opened) -> None:
    """Warn if a key of several columns makes it likely that lists are not independent."""
    if context.keys.cluster is not None or len(context.query.by) <= 1:
        return
    keys = values.engine.collected(values.frame.select(*dict.fromkeys((*context.keys.key, *context.keys.per))))
    # Each segment has an interval, so only dependent lists within a segment matter.
    counts = {
        column: len(keys.select(*context.keys.per, name).unique())
        for name, column in context.keys.key_names.items()
        if name not in (*context.keys.per, *context.keys.strata)
    }
    repeated = {column: count for column, count in counts.items() if makes_dependent(count, len(keys))}
    if repeated:
        # Users write the unit first: by=["user", "day"].
        column, *others = repeated
        also = "".join(f", or `cluster={other!r}` if lists of one {other} are more alike" for other in others)
        msg = (
            f"{len(keys)} lists have {repeated[column]} values of {column!r}: lists of one value may be alike, and then"
            " intervals are too short and p-values too small.\nName it to draw its lists together: "
            f"`cluster={column!r}`{also}"
        )
        warn(msg, DataWarning)
