"""The fusions that `tune_fusion` tries: methods, normalisations, weights and numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any, get_args

from recframe._arguments import FusionNorm
from recframe._data.common import words_of
from recframe._fusion.fuse import Options
from recframe._fusion.fusion_methods import BY_POSITION, METHODS, NUMBERS
from recframe.errors import OptionError, OptionTypeError, closest, quoted

if TYPE_CHECKING:
    from recframe._query import Query

HUNDREDTHS = tuple(number / 100 for number in range(1, 101))
GRID: Mapping[str, Sequence[float]] = {
    "k": tuple(range(10, 101, 10)), "gamma": HUNDREDTHS, "sigma": HUNDREDTHS, "p": HUNDREDTHS[:-1],
}  # fmt: skip
"""The numbers of methods that are tried, as ranx does; a persistence of 1 is none."""
TENTHS = 10
"""Weights are tenths that sum to 1."""
NOTHING = "nothing to try"
MOST_CANDIDATES = 10_000
"""More candidates would run for days."""


def weights_of(models: int) -> list[list[float]]:
    """Return all weights that are tenths and sum to 1."""
    weights = []
    for bars in combinations(range(TENTHS + models - 1), models - 1):
        ends = zip((-1, *bars), (*bars, TENTHS + models - 1), strict=True)
        weights.append([(end - start - 1) / TENTHS for start, end in ends])
    return weights


def candidates(query: Query, methods: Any, normalize: Any, grid: Any) -> list[dict[str, Any]]:
    """Return the arguments of `fuse` that are tried, checked, in the order of the call."""
    named = words_of("methods", methods, METHODS, NOTHING, "methods=['rbc', 'condorcet']")
    norms = words_of("normalize", normalize, (None, *get_args(FusionNorm)), NOTHING, "normalize=['rank', 'borda']")
    own = _grid(grid)
    tried = []
    for method in named:
        record = METHODS[method]
        tuned = record.number or ("weights" if record.tunes_weights else None)
        if tuned == "weights" and "weights" not in own:
            _check_count(comb(TENTHS + len(query.orders) - 1, TENTHS) * len(norms), len(query.orders))
            values: Sequence[Any] = weights_of(len(query.orders))
        else:
            values = own.get(tuned, GRID.get(tuned, ())) if tuned else ()
        options: list[dict[str, Any]] = [] if record.number or record.weights == "needed" else [{}]
        options += [{tuned: one} for one in values if tuned]
        tried += [
            {"method": method, **({} if method in BY_POSITION else {"normalize": norm}), **one}
            for norm in (norms[:1] if method in BY_POSITION else norms)
            for one in options
        ]
    # As in `fuse`, all accept the constant of the default method.
    unread = [name for name in own if name != "k" and not any(name in candidate for candidate in tried)]
    if unread:
        msg = f"grid= names {unread[0]!r}, but none of methods={named!r} is tried with it"
        raise OptionError(msg, "leave it out, or add a method that reads it, such as 'weighted' for weights")
    _check_count(len(tried), len(query.orders))
    for candidate in tried:
        Options.of(query, arguments_of(candidate))
    return tried


def arguments_of(candidate: Mapping[str, Any]) -> dict[str, Any]:
    """Return all options of `fuse`."""
    numbers = {name: default for name, (default, _, _) in NUMBERS.items()}
    return {"method": None, "normalize": None, "weights": None, **numbers, **candidate}


def _check_count(count: int, models: int) -> None:
    if not 0 < count <= MOST_CANDIDATES:
        msg = f"the methods, normalisations and numbers make {count:,} candidates of {models} models"
        raise OptionError(msg, "grid={'weights': [[0.5, 0.5], [0.2, 0.8]]} names the weights that are tried")


def _grid(grid: Any) -> dict[str, Sequence[Any]]:
    """Return the values that the user wants to be tried."""
    if grid is None:
        return {}
    if not isinstance(grid, Mapping):
        msg = f"grid={quoted(grid)} is no dict of values to try"
        raise OptionTypeError(msg, "grid={'k': [10, 60], 'weights': [[0.5, 0.5], [0.2, 0.8]]}")
    for name, values in grid.items():
        if name not in (*NUMBERS, "weights"):
            msg = f"grid={quoted(grid)} names {quoted(name)}, which is no number of a method"
            raise OptionError(msg, closest(name, (*NUMBERS, "weights")) or f"one of {', '.join((*NUMBERS, 'weights'))}")
        if not isinstance(values, Sequence) or isinstance(values, str | bytes) or not values:
            msg = f"grid={{{name!r}: {quoted(values)}}} is no list of values to try"
            raise OptionTypeError(msg, f"grid={{{name!r}: [...]}}")
    return dict(grid)
