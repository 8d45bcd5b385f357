"""Tests that read the values of lists: p-values and intervals by flips, draws and ranks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from recframe._base.values import ROUNDING
from recframe._inference.comparison.margins import MARGIN_ENDS, p_on_inner_side
from recframe._inference.lists.values import segments, value_column
from recframe._inference.statistics import resampling, student
from recframe.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import narwhals as nw

    from recframe._inference.comparison.options import Options
    from recframe._inference.comparison.tested import Tested
    from recframe._inference.lists.paired_sums import Pair
    from recframe._inference.lists.values import ListValues
    from recframe._plan.opened import Opened


def check_wilcoxon(options: Options, weight: str | None) -> None:
    """Raise for options that Wilcoxon's test does not allow.

    Raises
    ------
    OptionError
        Wilcoxon's test gets weights, clusters or a margin.
    """
    if options.test == "wilcoxon" and options.margin is not None:
        msg = "`test='wilcoxon'` accepts no `margin=`, as it compares ranks of differences, not means"
        raise OptionError(msg, "`test='t'` or `test='randomization'`")
    if options.test == "wilcoxon" and (options.cluster or weight):
        msg = "`test='wilcoxon'` accepts neither `cluster=` nor `weight=`, as it ranks single lists"
        raise OptionError(msg, "`test='t'` or `test='randomization'`")


def resample(tested: Tested, pairs: Sequence[Pair], parts: Sequence[dict[str, Any]], options: Options) -> None:
    """Replace p-values and intervals by the results of the resampling test, one segment after the other."""
    differences = tested.sums
    numbers = tested.numbers
    margin = options.margin_of_pairs
    for entry, part in enumerate(parts):
        units = units_of(part, pairs)
        low, high, p, direction = _test(units, options)
        # If differences have no spread, all tests give the result of the t-test.
        spreads = differences.standard_error[:, entry] > 0
        if options.test == "wilcoxon":
            numbers["low"][:, entry] = np.nan
            numbers["high"][:, entry] = np.nan
            agree = spreads & (direction == numbers["direction"][:, entry])
            numbers["direction"][spreads & ~agree, entry] = 0.0
        else:
            ends = student.clip_interval(
                low, high, differences.mean[:, entry], [end[:, entry] for end in tested.bounds]
            )
            for name, end in zip(("low", "high"), ends, strict=True):
                numbers[name][spreads, entry] = end[spreads]
        numbers["p"][spreads, entry] = p[spreads]
        if margin is None:
            continue
        # One entry for each pair, as the other arrays of a segment.
        of_segment = replace(margin, size=np.ravel(margin.size), relative=np.ravel(margin.relative))
        for name, by, moved in zip(MARGIN_ENDS, margin.shifts, tested.ends, strict=True):
            _, _, p, direction = _test(units_of(part, pairs, by, relative=margin.relative), options)
            spreads = moved.standard_error[:, entry] > 0
            p = p_on_inner_side(p, direction, name, of_segment, numbers["baseline_mean"][:, entry])
            numbers[name][spreads, entry] = p[spreads]


def parts_of(
    pairs: Sequence[Pair], reported: nw.DataFrame[Any], values: ListValues, context: Opened, options: Options
) -> list[dict[str, Any]]:
    """Return the differences of lists, their weights and, for a relative margin, the baseline's values, by segment."""
    names = [pair.difference for pair in pairs]
    names += [pair.weight for pair in pairs if pair.metric in values.weighted]
    if options.margin is not None and options.margin.any_relative:
        names += dict.fromkeys(value_column(pair.baseline, pair.metric) for pair in pairs)
    # A seed must draw the same lists in every call.
    return segments(values, context, names, reported, by_key=True)[1]


def units_of(part: dict[str, Any], pairs: Sequence[Pair], by: Any = 0.0, *, relative: Any = False) -> Any:
    """Return the units of a segment to resample: differences plus `by`, or plus `by` times the baseline's value."""
    differences = np.column_stack([part[pair.difference] for pair in pairs])
    ones = np.ones(len(differences))
    weights = np.column_stack([part.get(pair.weight, ones) for pair in pairs])
    weights = np.where(np.isnan(differences), 0.0, np.nan_to_num(weights))
    shares = np.broadcast_to(np.ravel(relative), len(pairs)) if np.any(by) else [False] * len(pairs)
    columns = zip(pairs, shares, strict=True)
    baselines = [part[value_column(pair.baseline, pair.metric)] if share else ones for pair, share in columns]
    moved = differences + np.ravel(by) * np.column_stack(baselines)
    return resampling.Units(np.where(weights > 0, moved, 0.0) * weights, weights, part.get("cluster"))


class _Results(NamedTuple):
    """The results of a test in one segment, by pair of models."""

    low: Any
    high: Any
    p: Any
    direction: Any


def _test(units: resampling.Units, options: Options) -> _Results:
    """Return the results of the test that a call names."""
    if options.test == "wilcoxon":
        lists = zip(units.totals.T, units.weights.T > 0, strict=True)
        p, direction = np.array([_wilcoxon(totals[counted]) for totals, counted in lists]).T
        return _Results(np.full_like(p, np.nan), np.full_like(p, np.nan), p, direction)
    direction = np.sign(units.totals.sum(axis=0))
    if options.test == "bootstrap":
        resampled = resampling.bootstrap(units, options.resamples, options.seed, options.confidence, options.interval)
    else:
        resampled = resampling.randomization(units, options.resamples, options.seed, options.confidence)
    return _Results(*resampled, direction)


def _wilcoxon(differences: Any) -> tuple[float, float]:
    """Return the p-value of Wilcoxon's signed-rank test, which leaves differences of 0 out, and the sign of its sum.

    Sizes that differ by rounding tie: 2/3 - 1/3 and 1/3 - 0 do.
    """
    sizes = np.abs(differences)
    stats = student.scipy_stats()
    ordered = np.sort(sizes)
    levels = ordered[np.diff(ordered, prepend=0.0) > ROUNDING * sizes.max(initial=1.0)]
    signed = np.sign(differences) * np.searchsorted(levels, sizes, side="right")
    if not signed.any():
        return float("nan"), 0.0
    changed = signed[signed != 0]
    return float(stats.wilcoxon(signed).pvalue), float(np.sign(np.sign(changed) @ stats.rankdata(abs(changed))))
