"""What differs between the versions of polars, and names that polars would read as patterns."""

from __future__ import annotations

import re
from typing import Any

import polars as pl

VERSION = tuple(int(part) for part in pl.__version__.split(".")[:2])
NULLS_EQUAL: dict[str, Any] = {"nulls_equal" if VERSION >= (1, 24) else "join_nulls": True}
"""In joins a missing key equals a missing key; polars renamed the option."""


def collect(plan: pl.LazyFrame) -> pl.DataFrame:
    """Return the data frame of a plan."""
    # Since version 2 the streaming engine is polars' own default; it is the faster one for eager frames too.
    collected: pl.DataFrame = plan.collect(engine="streaming") if VERSION >= (2, 0) else plan.collect()
    return collected


def collect_columns(plan: pl.LazyFrame) -> pl.DataFrame:
    """Return the data frame behind a plan that only picks columns of one, without a copy."""
    collected: pl.DataFrame = plan.collect(engine="in-memory") if VERSION >= (1, 23) else collect(plan)
    return collected


def col(name: str) -> pl.Expr:
    """Return the column of exactly that name, also where polars would read it as a pattern."""
    pattern = name == "*" or (name.startswith("^") and name.endswith("$"))
    return pl.col(f"^{re.escape(name)}$" if pattern else name)
