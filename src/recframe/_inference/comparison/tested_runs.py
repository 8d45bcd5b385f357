"""Tests of differences over lists and training runs, from their sums."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recframe._inference.comparison.columns import RUN_COLUMNS
from recframe._inference.statistics import student

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from recframe._inference.comparison.options import Options
    from recframe._inference.statistics.crossed import CrossedSums

    Floats = NDArray[np.float64]


def tested_runs(sums: CrossedSums, baseline: Any, bounds: Sequence[Any], options: Options) -> dict[str, Any]:
    """Return the statistics of differences from sums over lists and runs. `baseline` holds the baseline's means."""
    mean_test = options.mean_test
    mean = sums.mean
    low, high = mean_test.interval(sums, bounds)
    p = mean_test.p_value(sums, bounds)
    # Equal differences show no spread, so the interval is at least as wide as for lists alone.
    hides_spread = _lists_are_equal(sums) & (sums.run_squares > 0)
    ends = mean_test.interval(sums.of_lists, bounds)
    p_of_lists = mean_test.p_value(sums.of_lists, bounds)
    return {
        "are_hits": np.zeros_like(p, dtype=bool),
        "effective": sums.units,
        "difference": mean,
        "relative": student.share_of(mean, baseline),
        "low": np.where(hides_spread, np.minimum(low, ends[0]), low),
        "high": np.where(hides_spread, np.maximum(high, ends[1]), high),
        "p": np.where(hides_spread, np.maximum(p, p_of_lists), p),
        "effect": student.effect(sums),
        "direction": np.sign(mean),
        RUN_COLUMNS[2]: sums.run_share,
    }


def p_of_moved(moved: CrossedSums, sums: CrossedSums, bounds: Sequence[Any]) -> Floats:
    """Return the p-values of differences that are moved to one end of a margin.

    If all lists have the same difference, they show no spread. Then the p-value is the one of equal differences or, if
    it is larger, the one that the spread of the runs gives.

    Parameters
    ----------
    moved, sums : CrossedSums
        The sums of the moved differences, and of the differences themselves.
    bounds : sequence
        The least and the greatest difference that are possible.
    """
    without_list_spread = student.without_spread(moved, np.ones(np.shape(moved.total), dtype=bool))
    shift = without_list_spread.mean - sums.mean
    p_of_lists = student.p_of_equal(without_list_spread, [bound + shift for bound in bounds])
    p_of_runs = student.p_value(without_list_spread)
    p_of_equal_lists = np.where(moved.run_squares > 0, np.maximum(p_of_runs, p_of_lists), p_of_lists)
    return np.where(_lists_are_equal(sums), p_of_equal_lists, student.p_value(moved))


def _lists_are_equal(sums: CrossedSums) -> Any:
    """Return whether the mean over runs differs by the same number in all lists."""
    return sums.of_lists.standard_error == 0
