"""The candidates of `tune_fusion`: combinations of methods, normalisations, weights and numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any, get_args

from recframe._base.roles import FusionNorm
from recframe._data.common import words_of
from recframe._inference.fusion.fuse import Options
from recframe._inference.fusion.fusion_methods import BY_POSITION, METHODS, NUMBERS
from recframe.errors import OptionError, OptionTypeError, closest, quoted

if TYPE_CHECKING:
    from recframe._plan.query import Query

HUNDREDTHS = tuple(number / 100 for number in range(1, 101))
GRID: Mapping[str, Sequence[float]] = {
    "k": tuple(range(10, 101, 10)), "gamma": HUNDREDTHS, "sigma": HUNDREDTHS, "p": HUNDREDTHS[:-1],
}  # fmt: skip
"""The numbers that are tried, as in ranx. A persistence of 1 is left out, because it is not valid."""
TENTHS = 10
"""Weights are multiples of 0.1 that sum to 1."""
NOTHING = "nothing to try"
MOST_CANDIDATES = 10_000
"""The limit on candidates. More would run for days."""


def weights_of(models: int) -> list[list[float]]:
    """Return all lists of weights that are multiples of 0.1 and sum to 1, one weight per model."""
    weights = []
    for bars in combinations(range(TENTHS + models - 1), models - 1):
        ends = zip((-1, *bars), (*bars, TENTHS + models - 1), strict=True)
        weights.append([(end - start - 1) / TENTHS for start, end in ends])
    return weights


def candidates(query: Query, methods: Any, normalize: Any, grid: Any) -> list[dict[str, Any]]:
    """Return the candidates as arguments of `fuse`, checked, in the order of the call."""
    method_names = words_of("methods", methods, METHODS, NOTHING, "methods=['rbc', 'condorcet']")
    norms = words_of("normalize", normalize, (None, *get_args(FusionNorm)), NOTHING, "normalize=['rank', 'borda']")
    user_grid = _grid(grid)
    tried = []
    for method in method_names:
        tried += _candidates_of_method(method, norms, user_grid, len(query.orders))
    # As in `fuse`, every method accepts k, the number of the default method.
    unread = [name for name in user_grid if name != "k" and not any(name in candidate for candidate in tried)]
    if unread:
        msg = f"grid= names {unread[0]!r}, but none of methods={method_names!r} is tried with it"
        raise OptionError(msg, "leave it out, or add a method that reads it, such as 'weighted' for weights")
    _check_count(len(tried), len(query.orders))
    for candidate in tried:
        Options.of(query, arguments_of(candidate))
    return tried


def _candidates_of_method(
    method: str, norms: Sequence[Any], user_grid: Mapping[str, Sequence[Any]], models: int
) -> list[dict[str, Any]]:
    """Return the candidates of one method: each normalisation with each value of the number or the weights."""
    record = METHODS[method]
    tuned = record.number or ("weights" if record.tunes_weights else None)
    options: list[dict[str, Any]] = [] if record.number or record.weights == "needed" else [{}]
    if tuned == "weights" and "weights" not in user_grid:
        _check_count(comb(TENTHS + models - 1, TENTHS) * len(norms), models)
        options += [{tuned: weights} for weights in weights_of(models)]
    elif tuned:
        options += [{tuned: value} for value in user_grid.get(tuned, GRID.get(tuned, ()))]
    if method in BY_POSITION:
        return [{"method": method, **option} for option in options]
    return [{"method": method, "normalize": norm, **option} for norm in norms for option in options]


def arguments_of(candidate: Mapping[str, Any]) -> dict[str, Any]:
    """Return all options of `fuse` for a candidate, with defaults for the options that it leaves out."""
    numbers = {name: rule.default for name, rule in NUMBERS.items()}
    return {"method": None, "normalize": None, "weights": None, **numbers, **candidate}


def _check_count(count: int, models: int) -> None:
    """Raise if there are no candidates or too many."""
    if not 0 < count <= MOST_CANDIDATES:
        msg = f"the methods, normalisations and numbers make {count:,} candidates of {models} models"
        raise OptionError(msg, "grid={'weights': [[0.5, 0.5], [0.2, 0.8]]} names the weights that are tried")


def _grid(grid: Any) -> dict[str, Sequence[Any]]:
    """Return the checked values of `grid=`, empty if it is left out."""
    if grid is None:
        return {}
    if not isinstance(grid, Mapping):
        msg = f"grid={quoted(grid)} is not a dict of values to try"
        raise OptionTypeError(msg, "grid={'k': [10, 60], 'weights': [[0.5, 0.5], [0.2, 0.8]]}")
    for name, values in grid.items():
        if name not in (*NUMBERS, "weights"):
            msg = f"grid={quoted(grid)} names {quoted(name)}, which no method has"
            raise OptionError(msg, closest(name, (*NUMBERS, "weights")) or f"one of {', '.join((*NUMBERS, 'weights'))}")
        if not isinstance(values, Sequence) or isinstance(values, str | bytes) or not values:
            msg = f"grid={{{name!r}: {quoted(values)}}} is not a list of values to try"
            raise OptionTypeError(msg, f"grid={{{name!r}: [...]}}")
    return dict(grid)
