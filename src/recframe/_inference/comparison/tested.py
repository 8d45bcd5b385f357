"""Tests of pairs of models that only need sums over lists."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from recframe._inference.comparison.columns import RELATIVE
from recframe._inference.comparison.margins import HAS_MARGIN, MARGIN_ENDS, p_on_inner_side
from recframe._inference.comparison.options import SIMULTANEOUS
from recframe._inference.lists import paired_sums as paired
from recframe._inference.statistics import student
from recframe._inference.statistics.paired_hits import PairedHits
from recframe._inference.statistics.ratios import fieller
from recframe._inference.statistics.skewness import skewness

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from recframe._inference.comparison.margins import Margin
    from recframe._inference.comparison.options import Options
    from recframe._inference.lists.paired_sums import Pair
    from recframe._inference.statistics.resampling import Units
    from recframe._inference.statistics.student import Sums


@dataclass(frozen=True)
class Tested:
    """The results of tests: arrays with a row for each pair of models, and an entry for each segment."""

    sums: Sums
    """The sums that t-tests read."""
    numbers: dict[str, Any]
    """The statistics by their columns."""
    upwards: Any
    """1 if higher values of the metric are better, otherwise -1."""
    bounds: Sequence[Any] = ()
    """The range of the differences of lists."""
    ends: Sequence[Sums] = ()
    """The sums of differences that are moved to either end of the margin."""
    moments: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    """The sums of the differences (`"p"`), and of the differences moved to either end of the margin."""
    units: list[Units] = field(default_factory=list)
    """The units that are resampled in each segment, if the correction reads them."""


def tested(
    sums: dict[str, Any],
    pairs: Sequence[Pair],
    range_of: Callable[[int], tuple[float, float]],
    higher_is_better: Sequence[bool],
    options: Options,
) -> Tested:
    """Return the statistics of tests that read sums. Other tests start from the t-test and replace its results.

    Parameters
    ----------
    sums : dict of str to array
        The sums over lists by name, as `paired_sums.sums_of` returns them. Each has a row for each pair of
        models, and an entry for each segment.
    pairs : sequence of Pair
        The metric, the model and the baseline of each row.
    range_of : callable
        Returns the least and the greatest value of a metric, from the number of the metric.
    higher_is_better : sequence of bool
        The direction of the metric of each pair.
    options : Options
        The options of the comparison, with a margin for each pair.
    """
    differences = paired.statistics(sums)
    hits = _hits(sums, differences, options)
    bounds = np.broadcast_arrays(*paired.bounds(sums, pairs, range_of), differences.mean)[:2]
    low, high = options.mean_test.interval(differences, bounds)
    p = options.mean_test.p_value(differences, bounds)
    if hits is not None:
        low, high = hits.interval(low, high, options.confidence)
        p = np.where(hits.are_hits, hits.shares.p_value(np.zeros_like(p)), p)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = {
            name: np.where(differences.weight > 0, sums[name] / differences.weight, np.nan)
            for name in ("model", "baseline")
        }
    numbers = {
        "are_hits": np.zeros_like(p, dtype=bool) if hits is None else hits.are_hits,
        "skewness": _skewness(sums) if "cubes" in sums else np.full_like(p, np.nan),
        "effective": sums.get("effective", differences.units),
        # The standard error of strata allows for uneven weights.
        "units": sums.get("clusters", sums.get("effective", sums["lists"])),
        **{name: sums[name] for name in ("lists", "wins", "ties", "losses")},
        "mean": means["model"],
        "baseline_mean": means["baseline"],
        "difference": differences.mean,
        "relative": student.share_of(differences.mean, means["baseline"]),
        "low": low,
        "high": high,
        "p": p,
        "effect": student.effect(differences),
        "direction": np.sign(differences.mean),
    }
    if options.relative:
        reach = options.mean_test.end(differences, bounds, 1 - options.confidence)
        relative_ends = fieller(differences, sums, reach)
        if hits is not None:
            relative_ends = hits.relative_interval(relative_ends, means["baseline"], options.confidence)
        numbers |= dict(zip(RELATIVE, relative_ends, strict=True))
    ends = [] if options.margin_of_pairs is None else options.margin_of_pairs.ends(sums, differences)
    if options.margin_of_pairs is not None:
        numbers[HAS_MARGIN] = np.broadcast_to(np.asarray(options.margin_of_pairs.size) > 0, p.shape)
    moments = {"p": sums}
    for name, (end, moved) in zip(MARGIN_ENDS, ends, strict=False):
        moments[name] = moved
        # The range of the differences moves as their mean does.
        by = end.mean - differences.mean
        moved_bounds = [bound + by for bound in bounds]
        p = options.mean_test.p_value(end, moved_bounds)
        if options.test != "anytime-bounded":
            # If all differences are equal, the test at the margin agrees with their interval. Anytime tests are
            # never surer than their own p-value, and the bounded test handles equal differences itself.
            least = p if options.test == "anytime" else 0.0
            p = np.where(end.standard_error == 0, np.maximum(least, student.p_of_equal(end, moved_bounds)), p)
        if hits is not None and options.margin_of_pairs is not None:
            p = hits.p_at_end(p, options.margin_of_pairs, name, means["baseline"])
        numbers[name] = p_on_inner_side(p, end.mean, name, options.margin_of_pairs, means["baseline"])
    upwards = np.where(higher_is_better, 1.0, -1.0)[:, None]
    return Tested(differences, numbers, upwards, bounds, [end for end, _ in ends], moments)


@dataclass(frozen=True)
class _Hits:
    """Which rows compare hits, and the shares of lists that the score test reads."""

    shares: PairedHits
    are_hits: Any
    """Whether all differences of lists are −1, 0 or 1, and not all the same."""
    have_rates: Any
    """Whether the baseline's values are 0 and 1 too, so that its mean is a rate: what a ratio needs."""

    def interval(self, low: Any, high: Any, confidence: float) -> tuple[Any, Any]:
        """Return the ends of intervals, by the score test if the row compares hits."""
        score_low, score_high = self.shares.interval(confidence)
        return np.where(self.are_hits, score_low, low), np.where(self.are_hits, score_high, high)

    def relative_interval(self, ends: Sequence[Any], baseline: Any, confidence: float) -> tuple[Any, Any]:
        """Return the ends of intervals of relative differences, by the score test if the row compares rates."""
        low, high = ends
        score_low, score_high = self.shares.interval_of_ratio(baseline, confidence)
        return np.where(self.have_rates, score_low - 1, low), np.where(self.have_rates, score_high - 1, high)

    def p_at_end(self, p: Any, margin: Margin, name: str, baseline: Any) -> Any:
        """Return p-values of a difference at one end of the margin, by the score test if the row compares hits."""
        size = (-margin.size if name == MARGIN_ENDS[0] else margin.size) + np.zeros_like(p)
        relative = np.broadcast_to(margin.relative, p.shape)
        if not margin.any_relative:
            return np.where(self.are_hits, self.shares.p_value(size), p)
        # A rate is never below 0, so a loss of the whole baseline and more is ruled out.
        at_ratio = self.shares.p_value_of_ratio(np.maximum(1 + size, 0.0), baseline)
        # A relative margin may lie outside −1 and 1, where no difference of rates does.
        at_difference = self.shares.p_value(np.where(relative, 0.0, size))
        p = np.where(self.are_hits & ~relative, at_difference, p)
        return np.where(self.have_rates & relative, at_ratio, p)


def _skewness(sums: Mapping[str, Any]) -> Any:
    """Return the skewness of the differences of lists."""
    return skewness(*(student.ratio(sums[name], sums["weight"]) for name in ("difference", "squares", "cubes")))


def _hits(sums: Mapping[str, Any], differences: Sums, options: Options) -> _Hits | None:
    """Return which rows compare hits and what their score test reads, or None if no row needs the score test."""
    if options.test != "t" or options.correction in SIMULTANEOUS or "fractions" not in sums:
        return None
    are_hits = (sums["fractions"] == 0) & (differences.standard_error > 0)
    if not are_hits.any():
        return None
    squares = sums.get("baseline_squares")
    have_rates = np.zeros_like(are_hits) if squares is None else are_hits & (squares == sums["baseline"])
    return _Hits(PairedHits.of(differences), are_hits, have_rates)
