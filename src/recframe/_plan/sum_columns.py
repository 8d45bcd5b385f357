"""Expressions of columns, each built once: an engine may keep what it makes of one that comes again."""

from __future__ import annotations

from functools import lru_cache

import narwhals as nw

KEPT = 4096
"""Of how many columns expressions are kept: some kilobytes each, and calls differ in few of them."""


@lru_cache(KEPT)
def constant(column: str, value: float) -> nw.Expr:
    """Return a column that is the same in every row."""
    return nw.lit(value).cast(nw.Float64()).alias(column)


@lru_cache(KEPT)
def literal(column: str, value: int | str) -> nw.Expr:
    """Return a column that holds a number or a text in every row."""
    return nw.lit(value).alias(column)


@lru_cache(KEPT)
def up_to(column: str, most: int) -> nw.Expr:
    """Return which rows have at most a number in a column."""
    return nw.col(column) <= most


@lru_cache(KEPT)
def own(column: str) -> nw.Expr:
    """Return a column as it is, as a float."""
    return nw.col(column).cast(nw.Float64()).alias(column)
