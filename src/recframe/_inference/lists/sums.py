"""Sums over the lists of a segment, or of a cluster in a segment: the numbers in a row of a state."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from recframe._base.values import ROUNDING
from recframe._engines.exact_sums import exactly_summable_parts
from recframe._inference.lists.keys import numbered
from recframe._inference.statistics.student import scipy_stats

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass
class Groups:
    """Lists, grouped by segment, or by segment and cluster."""

    codes: Any
    """The number of each list's group."""
    first: list[int]
    """The row of the first list in each group."""

    @classmethod
    def of(cls, rows: Sequence[tuple[Any, ...]]) -> Groups:
        """Return the groups of lists with equal keys."""
        if rows and not rows[0]:
            return cls(np.zeros(len(rows), dtype=np.intp), [0])
        codes, numbers = numbered(rows)
        first = np.full(len(numbers), -1)
        first[codes[::-1]] = np.arange(len(codes))[::-1]
        return cls(codes, first.tolist())

    def sums(self, values: Any) -> Floats:
        """Return the sum of the values in each group."""
        return sums_by(self.codes, len(self.first), values)

    def counts(self, flags: Any) -> Floats:
        """Return how many lists of each group have a flag."""
        counts: NDArray[Any] = np.bincount(self.codes, weights=flags, minlength=len(self.first))
        return counts

    def ends(self, values: Floats, has_value: Any) -> tuple[Floats, Floats]:
        """Return the least and the greatest value of each group, NaN for a group without values."""
        return ends_by(self.codes[has_value], len(self.first), values[has_value], values[has_value])


def sums_by(codes: Any, count: int, values: Any) -> NDArray[Any]:
    """Return the sum of the values in each group. The order of the rows changes no bit."""
    parts = exactly_summable_parts(values, _largest)
    if len(parts) == 1 and parts[0].any():
        # If some values are infinite, or nearly so, there are no exact parts. The values are added in their own order.
        order = np.lexsort((values, codes))
        return np.bincount(codes[order], weights=values[order], minlength=count)
    sums: NDArray[Any] = reduce(add, (np.bincount(codes, weights=part, minlength=count) for part in parts))
    return sums


def _largest(values: Any) -> float | None:
    """Return the largest absolute value, or None without values."""
    return float(np.abs(values).max()) if len(values) else None


def ends_by(codes: Any, count: int, least: Floats, greatest: Floats) -> tuple[Floats, Floats]:
    """Return the minimum of `least` and the maximum of `greatest` in each group, NaN for an empty group."""
    low = np.full(count, math.inf)
    high = np.full(count, -math.inf)
    np.minimum.at(low, codes, least)
    np.maximum.at(high, codes, greatest)
    return np.where(np.isfinite(low), low, np.nan), np.where(np.isfinite(high), high, np.nan)


def ranks_by(codes: Any, values: Any, method: str) -> Any:
    """Return the rank of each value in its group, from 1 for the smallest.

    Tied values share a rank by SciPy's `method`: ``"min"`` or ``"average"``.
    """
    _, levels = np.unique(values, return_inverse=True)
    counts = np.bincount(codes)
    ranks = scipy_stats().rankdata(codes * len(levels) + levels, method)
    return ranks - (np.cumsum(counts) - counts)[codes]


def sums_of_values(groups: Groups, values: Floats, weights: Floats | None) -> dict[str, Any]:
    """Return the sums over lists for the values of one metric and model."""
    has_value, v, w = _with_zeros(values, weights)
    counts = {
        "undefined": ~has_value,
        "zeros": has_value & (v == 0),
        "fractions": (w > 0) & (v != 0) & (v != 1),
        "negative": (w > 0) & (v < 0),
    }
    moments = _moments(groups, has_value, v, None if weights is None else w)
    return moments | {name: groups.counts(flags) for name, flags in counts.items()}


def sums_of_pair(groups: Groups, differences: Floats, baselines: Floats, weights: Floats | None) -> dict[str, Any]:
    """Return the sums over lists for the differences between two models."""
    has_value, d, w = _with_zeros(differences, weights)
    b = np.where(has_value, baselines, 0.0)
    counts = {
        "wins": d > ROUNDING,
        "losses": d < -ROUNDING,
        "fractions": (w > 0) & (d != 0) & (np.abs(d) != 1),
        "negative": (w > 0) & (d + b < 0),
        "baseline_negative": (w > 0) & (b < 0),
    }
    sums = {**_moments(groups, has_value, d, None if weights is None else w), "baseline_total": groups.sums(w * b)}
    return sums | {name: groups.counts(flags) for name, flags in counts.items()}


class _ZeroFilled(NamedTuple):
    """The values and weights of lists, both 0 for a list without a value."""

    has_value: Any
    values: Floats
    weights: Floats


def _with_zeros(values: Floats, weights: Floats | None) -> _ZeroFilled:
    """Return values and weights with 0 in place of NaN. Without weights, each list with a value has weight 1."""
    has_value = ~np.isnan(values)
    filled_weights = has_value * 1.0 if weights is None else np.where(has_value, np.nan_to_num(weights), 0.0)
    return _ZeroFilled(has_value, np.where(has_value, values, 0.0), filled_weights)


def _moments(groups: Groups, has_value: Any, values: Floats, w: Floats | None) -> dict[str, Any]:
    """Return the sums for means and standard errors, and the least and greatest values; `w` holds the weights."""
    least, greatest = groups.ends(values, has_value)
    lists = groups.counts(has_value)
    # Squares of very large values are infinite.
    with np.errstate(over="ignore"):
        if w is None:
            total, squares = groups.sums(values), groups.sums(values**2)
            sums = {"weight": lists, "total": total, "squares": squares, "weight_squares": lists, "weight_cubes": lists}
            sums |= {"weighted_total": total, "weighted_squares": squares}
        else:
            terms = {
                "weight": w,
                "total": w * values,
                "squares": w * values**2,
                "weight_squares": w**2,
                "weight_cubes": w**3,
                "weighted_total": w**2 * values,
                "weighted_squares": (w * values) ** 2,
            }
            sums = {name: groups.sums(term) for name, term in terms.items()}
    return {"lists": lists, **sums, "least": least, "greatest": greatest}


def exchanged(sums: Mapping[str, Any]) -> dict[str, Any]:
    """Return the sums of pairs with model and baseline swapped."""
    return {
        "total": -sums["total"],
        "weighted_total": -sums["weighted_total"],
        "baseline_total": sums["baseline_total"] + sums["total"],
        "wins": sums["losses"],
        "losses": sums["wins"],
        "negative": sums["baseline_negative"],
        "baseline_negative": sums["negative"],
    }
