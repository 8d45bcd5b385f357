"""Warnings about intervals that are too short: few lists differ, or a few large values decide.

The mean of few values other than 0 is not normal, so its interval misses the true value on one side too often.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recframe._inference.comparison.margins import MARGIN_ENDS
from recframe._inference.lists.claims import P_OF_DEMANDS
from recframe._inference.statistics.skewness import is_skewed, lists_wanted
from recframe.errors import DataWarning, warn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from recframe._inference.comparison.options import Options
    from recframe._inference.comparison.tested import Tested

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

LEAST_DIFFERING = 20
"""The fewest lists that should differ for a verdict."""
LEAST_FOR_MARGIN = 100
"""The fewest lists that should differ for a verdict by a margin."""
LEAST_EFFECTIVE = 50
"""The fewest equal clusters that the clusters of a test should amount to."""
UNEVEN_SHARE = 0.8
"""Clusters are uneven if their effective number is below this share of their number."""
FEW_SHARE = 0.5
"""Lists that differ are few if they are below this share of all lists. Otherwise, a t-test allows for few lists."""


def few_differ(lists: Any, differing: Any, decided: Any, decided_by_margin: Any) -> Bools:
    """Return which verdicts rest on few lists that differ: below 20, or below 100 if a margin decides."""
    few = (differing > 0) & (differing < FEW_SHARE * lists)
    by_either = decided & (differing < LEAST_DIFFERING)
    return np.asarray(few & (by_either | (decided_by_margin & (differing < LEAST_FOR_MARGIN))))


def are_uneven(units: Any, effective: Any) -> Bools:
    """Return which clusters or weighted lists are so uneven that they have the information of few equal ones.

    `units` is their number and `effective` their effective number. Below 20 units the result is False, because other
    warnings say that there are few.
    """
    with np.errstate(invalid="ignore"):
        few = ~(effective >= LEAST_EFFECTIVE) & (effective < UNEVEN_SHARE * units)
    return np.asarray(few & (units >= LEAST_DIFFERING))


def uneven_warning(units: int, effective: float, *, clustered: bool) -> str:
    """Return the warning about clusters or weighted lists that amount to few equal ones."""
    what, each = ("clusters", "cluster") if clustered else ("weighted lists", "list")
    weight = "To count every cluster the same, pass a `weight=` of 1 / the number of its lists"
    remedy = weight if clustered else "Cap the largest weights"
    return (
        f"few {what} decide: {units:,} {what} are so uneven that they stand for {effective:.0f} equal ones. If a model"
        f" gains more in a large {each}, intervals are too short.\n{remedy}, or give more {what}"
    )


def warn_of_doubts(compared: Sequence[tuple[Tested, Sequence[Mapping[str, Any]]]], options: Options) -> None:
    """Warn of verdicts that rest on few lists, and of intervals that a few large differences make too short.

    A call gets one warning at most.

    Parameters
    ----------
    compared : sequence of Tested and names
        The results of the tests, and the metric, the model and the baseline of each pair.
    options : Options
        The options of the call.
    """
    doubts: list[tuple[Any, ...]] = [
        (tests.numbers, names, _few(tests, options), _uneven(tests), _skewed(tests), _are_bounded(tests))
        for tests, names in compared
    ]
    # One warning is enough: few lists that differ are skewed too.
    for number, text_of in ((2, _few_text), (3, _uneven_text), (4, _skewed_text)):
        rows = [(each, pair, entry) for each in doubts for pair, entry in np.argwhere(each[number]).tolist()]
        if rows:
            doubt, pair, segment = rows[0]
            numbers = doubt[0]
            names = doubt[1]
            bounded = doubt[-1]
            of = f"{names[pair]['metric']} of {names[pair]['model']!r} and {names[pair]['baseline']!r}"
            more = f" (and in {len(rows) - 1} more rows of the result)" if len(rows) > 1 else ""
            row = {name: array[pair, segment] for name, array in numbers.items() if np.shape(array)[:1]}
            row |= {"bounded": bounded[pair, segment], "clustered": options.cluster is not None}
            warn(text_of(of, more, row), DataWarning)
            return


def _are_bounded(tests: Tested) -> Bools:
    """Return which rows have bounded differences."""
    greatest = tests.bounds[1] if tests.bounds else np.inf
    return np.asarray(np.isfinite(np.broadcast_to(greatest, tests.sums.mean.shape)))


def _few(tests: Tested, options: Options) -> Bools:
    """Return which rows have a verdict that rests on few lists."""
    numbers = tests.numbers
    level = 1 - options.confidence
    # The intervals of equal differences and of hits allow for few lists.
    needs_many_lists = (tests.sums.standard_error > 0) & ~numbers["are_hits"]
    decided = (numbers["verdict"] != "open") & needs_many_lists
    by_margin = np.zeros_like(decided)
    if MARGIN_ENDS[0] in numbers:
        with np.errstate(invalid="ignore"):
            by_margin = (numbers[P_OF_DEMANDS["not worse"]] < level) & needs_many_lists
    return few_differ(numbers["lists"], numbers["wins"] + numbers["losses"], decided, by_margin)


def _skewed(tests: Tested) -> Bools:
    """Return which rows have too few lists for the skewness of their differences."""
    numbers = tests.numbers
    few = numbers["wins"] + numbers["losses"] < LEAST_DIFFERING
    return np.asarray(is_skewed(numbers["lists"], numbers["skewness"]) & ~numbers["are_hits"] & ~few)


def _uneven(tests: Tested) -> Bools:
    """Return which rows have clusters or weighted lists that amount to few equal ones."""
    return are_uneven(tests.numbers["units"], tests.numbers["effective"])


def _uneven_text(_: str, __: str, row: Mapping[str, Any]) -> str:
    """Return the warning about uneven clusters or lists in a row of the result."""
    return uneven_warning(int(row["units"]), float(row["effective"]), clustered=bool(row["clustered"]))


def _few_text(of: str, more: str, row: Mapping[str, Any]) -> str:
    """Return the warning about few lists that differ."""
    differing = int(row["wins"] + row["losses"])
    lists = int(row["lists"])
    least = LEAST_DIFFERING if differing < LEAST_DIFFERING else LEAST_FOR_MARGIN
    return (
        f"few lists differ: {of} have different values in {differing} of {lists:,} lists{more}. Below about {least},"
        " intervals are too short and verdicts are wrong more often than they should be.\nGive more lists, or compare"
        " a metric of hits such as hit_rate@10, whose test needs fewer"
    )


def _skewed_text(of: str, more: str, row: Mapping[str, Any]) -> str:
    """Return the warning about differences with a long tail."""
    what = f"the differences between {of}{more}"
    return tail_warning(what, int(row["lists"]), float(row["skewness"]), bounded=bool(row["bounded"]))


def tail_warning(what: str, lists: int, skew: float, *, bounded: bool) -> str:
    """Return the warning about values with a long tail. If they are not bounded, it suggests to cap them."""
    wanted = lists_wanted(skew)
    remedy = "Give more lists" if bounded else "Cap the largest values, such as prices above 100, or give more lists"
    return (
        f"a few large values decide: {what} have a skewness of {skew:.1f}, so {lists:,} lists are too few for the"
        f" interval, and about {wanted:,} are needed.\n{remedy}"
    )
