"""Weights of positions: how much a row counts at its position."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Literal, TypeVar

import narwhals as nw

from recframe.errors import OptionError, quoted
from recframe.metrics._options import table_of
from recframe.metrics._sums import sum_of

DiscountName = Literal["log2", "jarvelin", "reciprocal"]
"""The discounts with a name: 1/log2(r+1), 1/max(1, log2 r), 1/r."""
Discount = DiscountName | Mapping[float, float] | Sequence[float] | Callable[[nw.Expr], nw.Expr]
"""The weight of a position: a name, weights by position, or a function of the position's expression (from 1)."""
MOST_WEIGHTS = 1000
"""How many positions a table of weights may have: each is a step of the metric's expression."""
Position = TypeVar("Position", nw.Expr, float)
"""The positions of rows, or a position as a number."""


def constant_weight(position: nw.Expr) -> nw.Expr:  # noqa: ARG001
    """Return the weight 1 for every position."""
    return nw.lit(1.0)


@cache
def persistence(p: float) -> Callable[[nw.Expr], nw.Expr]:
    """Return the function from a position r to its weight p^(r-1); the same function for the same p."""
    return lambda position: ((position - 1) * math.log(p)).exp()


def reciprocal(position: Position) -> Position:
    """Return 1 / position."""
    return 1.0 / position


def log2(position: Position) -> Position:
    """Return 1 / log2(position + 1)."""
    return math.log(2) / _log(position + 1.0)


def jarvelin(position: Position) -> Position:
    """Return 1 / max(1, log2(position))."""
    return math.log(2) / _log(_at_least_2(position))


def _log(position: Position) -> Position:
    if isinstance(position, nw.Expr):
        return position.log()
    return math.log(position)


def _at_least_2(position: Position) -> Position:
    if isinstance(position, nw.Expr):
        return nw.when(position > 2).then(position).otherwise(2.0)  # noqa: PLR2004
    return max(position, 2.0)


DISCOUNTS = {"log2": log2, "jarvelin": jarvelin, "reciprocal": reciprocal}
"""The discounts by their names; each is 1 at the first position."""


def checked_discount(weights: Any) -> tuple[tuple[float, float], ...]:
    """Return weights by position as a metric stores them; raise for values that are not weights.

    Parameters
    ----------
    weights : sequence, mapping or frame
        The weights of the positions from 1 on; a mapping from positions; or what `position_bias` returns, whose
        positions are the first column, and whose weights are the column ``propensity``.
    """
    frame: Any = nw.from_native(weights, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame) and "propensity" in frame.columns:
        weights = dict(
            zip(frame[frame.columns[0]].to_list(), frame["propensity"].fill_null(0.0).to_list(), strict=True)
        )
    elif isinstance(weights, list | tuple) and not any(isinstance(weight, tuple) for weight in weights):
        weights = dict(enumerate(weights, 1))
    table = table_of("discount", weights, "[1, 0.6, 0.4]", "positions")
    for position, weight in table:
        if position < 1 or position % 1 or not math.isfinite(weight) or weight < 0:
            msg = f"discount={quoted(weights)} gives position {position:g} the weight {weight:g}"
            raise OptionError(msg, "positions are whole numbers from 1, and weights are finite and 0 or more")
    if not any(weight for _, weight in table) or len(table) > MOST_WEIGHTS:
        what = f"{len(table)} weights" if len(table) > MOST_WEIGHTS else "no weight above 0"
        msg = f"discount={quoted(weights)} has {what}"
        raise OptionError(
            msg, f"give 1 to {MOST_WEIGHTS} weights, such as [1, 0.6, 0.4]; later positions have weight 0"
        )
    _check_falling(dict(table), weights)
    return table


def _check_falling(table: dict[float, float], weights: Any) -> None:
    """Raise for a weight above the weight of the position before: the ideal order, by relevance, would not be best."""
    for position, weight in table.items():
        before = table.get(position - 1, 0.0)
        if position > 1 and weight > before:
            msg = (
                f"discount={quoted(weights)} rises from {before:g} at position {position - 1:g} to {weight:g} at"
                f" position {position:g}, so the order by relevance would not be the best one"
            )
            raise OptionError(msg, "give each position at most the weight of the position before, by a running minimum")


@cache
def weights_of(table: tuple[tuple[float, float], ...]) -> Callable[[nw.Expr], nw.Expr]:
    """Return the function from a position to its weight in a table, 0 for positions that the table lacks.

    It is the same function for the same table, so that metrics can share its sums.
    """

    def weight(position: nw.Expr) -> nw.Expr:
        return sum_of(nw.when(position == weighted).then(nw.lit(of)).otherwise(0.0) for weighted, of in table if of)

    return weight
