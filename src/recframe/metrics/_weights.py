"""Weights of positions: what a row counts for by where it is ranked."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Literal, TypeVar

import narwhals as nw

DiscountName = Literal["log2", "jarvelin", "reciprocal"]
"""The discounts with a name: 1/log2(r+1), 1/max(1, log2 r), 1/r."""
Discount = DiscountName | Callable[[nw.Expr], nw.Expr]
"""The weight of a position: a name, or a function of the position's expression (a float, from 1)."""
Position = TypeVar("Position", nw.Expr, float)
"""The positions of rows, or a position as a number."""


def one(position: nw.Expr) -> nw.Expr:  # noqa: ARG001
    """Return the weight that counts every position alike."""
    return nw.lit(1.0)


@cache
def persistence(p: float) -> Callable[[nw.Expr], nw.Expr]:
    """Return the weight p^(r-1); the same function for the same p."""
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
