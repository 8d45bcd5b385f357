"""Expressions of columns, each built once, so that an engine can cache its own version of the expression."""

from __future__ import annotations

from functools import lru_cache

import narwhals as nw

EXPRESSION_CACHE_SIZE = 4096
"""How many expressions each cache holds. An expression takes a few kilobytes, and most calls use the same ones."""


@lru_cache(EXPRESSION_CACHE_SIZE)
def constant(column: str, value: float) -> nw.Expr:
    """Return a column with the same float in every row."""
    return nw.lit(value).cast(nw.Float64()).alias(column)


@lru_cache(EXPRESSION_CACHE_SIZE)
def literal(column: str, value: int | str) -> nw.Expr:
    """Return a column with the same integer or text in every row."""
    return nw.lit(value).alias(column)


@lru_cache(EXPRESSION_CACHE_SIZE)
def up_to(column: str, most: int) -> nw.Expr:
    """Return whether a row's number in a column is at most the limit."""
    return nw.col(column) <= most


@lru_cache(EXPRESSION_CACHE_SIZE)
def as_float(column: str) -> nw.Expr:
    """Return a column as a float, under its own name."""
    return nw.col(column).cast(nw.Float64()).alias(column)
