"""What t-tests find of pairs, and what all tests of a call decide together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recframe._comparison import paired_sums as paired
from recframe._comparison.margins import BEYOND, on_this_side
from recframe._statistics import student
from recframe._statistics.verdicts import Evidence

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recframe._comparison.options import Options
    from recframe._comparison.paired_sums import Pair
    from recframe._statistics.student import Sums


@dataclass(frozen=True)
class Tested:
    """What tests found of pairs: a row of each array for a pair, and an entry for each reported value."""

    sums: Sums
    """What t-tests read."""
    numbers: dict[str, Any]
    """The statistics by their columns."""
    upwards: Any
    """1 where higher values of the metric are better, else -1."""
    bounds: Sequence[Any] = ()
    """The range of the differences of lists."""
    ends: Sequence[Sums] = ()
    """The sums of differences that are moved to either end of the margin."""


def correct(compared: Sequence[Tested], options: Options) -> None:
    """Add to the statistics of all pairs what depends on how many tests there are."""
    tests = decide([one.numbers for one in compared], [one.upwards for one in compared], options)
    for one in compared:
        one.numbers["detectable"] = student.detectable(one.sums, 1 - (1 - options.confidence) / tests)


def decide(tables: Sequence[dict[str, Any]], upwards: Sequence[Any], options: Options) -> int:
    """Add adjusted p-values and verdicts to statistics, and return how many tests they are adjusted for.

    Parameters
    ----------
    tables : sequence of dict
        Statistics by their columns, arrays of one shape: p-values, directions and those of the ends of a margin.
    upwards : sequence of array
        1 where higher values of the metric are better, else -1.
    options : Options
        The correction and the confidence.
    """
    names = ["p", "direction", *(name for name in BEYOND if name in tables[0])]
    p, direction, *ends = (np.concatenate([table[name].ravel() for table in tables]) for name in names)
    signs = [np.broadcast_to(sign, table["p"].shape).ravel() for sign, table in zip(upwards, tables, strict=True)]
    evidence = Evidence.of(p, direction, np.concatenate(signs), tuple(ends)).adjusted(options.correction)
    borders = np.cumsum([table["p"].size for table in tables])[:-1]
    parts = (np.split(each, borders) for each in (evidence.p, evidence.verdicts(options.confidence)))
    for table, adjusted, verdict in zip(tables, *parts, strict=True):
        table["p_adjusted"] = adjusted.reshape(table["p"].shape)
        table["verdict"] = verdict.reshape(table["p"].shape)
    return 1 if options.correction == "none" else max(int(np.isfinite(p).sum()), 1)


def tested(
    sums: dict[str, Any],
    pairs: Sequence[Pair],
    range_of: Callable[[int], tuple[float, float]],
    higher_is_better: Sequence[bool],
    options: Options,
) -> Tested:
    """Return the statistics of t-tests."""
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
        "direction": np.sign(own.mean),
    }
    ends = [] if options.margin is None else options.margin.ends(sums)
    for name, (end, p) in zip(BEYOND, ends, strict=False):
        numbers[name] = on_this_side(p, end.mean, name, options.margin, means["baseline"])
    upwards = np.where(higher_is_better, 1.0, -1.0)[:, None]
    return Tested(own, numbers, upwards, bounds, [end for end, _ in ends])
