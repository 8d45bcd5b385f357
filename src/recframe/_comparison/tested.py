"""What tests find of pairs of models from sums."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from recframe._comparison.margins import BEYOND, on_this_side
from recframe._lists import paired_sums as paired
from recframe._statistics import student
from recframe._statistics.ratios import ENDS as RELATIVE
from recframe._statistics.ratios import fieller

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from recframe._comparison.options import Options
    from recframe._lists.paired_sums import Pair
    from recframe._statistics.resampling import Units
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
    moments: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    """The sums of differences (`"p"`), and of those that are moved to either end."""
    units: list[Units] = field(default_factory=list)
    """What each reported value resamples, if the correction reads it."""


def tested(
    sums: dict[str, Any],
    pairs: Sequence[Pair],
    range_of: Callable[[int], tuple[float, float]],
    higher_is_better: Sequence[bool],
    options: Options,
) -> Tested:
    """Return the statistics of tests that read sums: the t-test, where another one is to replace it."""
    differences = paired.statistics(sums)
    bounds = np.broadcast_arrays(*paired.bounds(sums, pairs, range_of), differences.mean)[:2]
    low, high = options.law.interval(differences, bounds)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = {
            name: np.where(differences.weight > 0, sums[name] / differences.weight, np.nan)
            for name in ("model", "baseline")
        }
    numbers = {
        **{name: sums[name] for name in ("lists", "wins", "ties", "losses")},
        "mean": means["model"],
        "baseline_mean": means["baseline"],
        "difference": differences.mean,
        "relative": student.share_of(differences.mean, means["baseline"]),
        "low": low,
        "high": high,
        "p": options.law.p_value(differences, bounds),
        "effect": student.effect(differences),
        "direction": np.sign(differences.mean),
    }
    if options.relative:
        reach = options.law.end(differences, bounds, 1 - options.confidence)
        numbers |= dict(zip(RELATIVE, fieller(differences, sums, reach), strict=True))
    ends = [] if options.margin is None else options.margin.ends(sums, differences)
    moments = {"p": sums}
    for name, (end, moved) in zip(BEYOND, ends, strict=False):
        moments[name] = moved
        # The range of the differences moves as their mean does.
        by = end.mean - differences.mean
        moved_bounds = [bound + by for bound in bounds]
        p = options.law.p_value(end, moved_bounds)
        if options.test != "anytime-bounded":
            # Equal differences rule a margin out where their interval does, at all looks no sooner than their p-value.
            # The bounded law has its own.
            least = p if options.test == "anytime" else 0.0
            p = np.where(end.standard_error == 0, np.maximum(least, student.p_of_equal(end, moved_bounds)), p)
        numbers[name] = on_this_side(p, end.mean, name, options.margin, means["baseline"])
    upwards = np.where(higher_is_better, 1.0, -1.0)[:, None]
    return Tested(differences, numbers, upwards, bounds, [end for end, _ in ends], moments)
