"""Differences between the versions of polars, and columns whose names polars would read as patterns."""

from __future__ import annotations

import platform
import re
from functools import cache, lru_cache
from importlib import import_module
from importlib.util import find_spec
from inspect import signature
from pathlib import Path
from typing import Any

import polars as pl

VERSION = tuple(int(part) for part in pl.__version__.split(".")[:2])
KNOWS_SCHEMA_LATER = hasattr(pl.LazyFrame, "pipe_with_schema")
"""Whether polars can delay a function of the schema until it resolves a plan."""
EXPLODE: dict[str, Any] = {"empty_as_null": False} if "empty_as_null" in signature(pl.Expr.explode).parameters else {}
"""The argument that drops empty lists in `explode`: https://github.com/pola-rs/polars/issues/17664."""
FEW_ROWS = 2**16
"""Up to this number of rows, a frame counts as small: a single core is fastest."""
FEWER_STEPS = pl.QueryOptFlags.none(projection_pushdown=True, comm_subplan_elim=True, comm_subexpr_elim=True)
"""The optimizations for small frames: unread columns are not computed, and nothing is computed twice."""


def collect(plan: pl.LazyFrame, *, few: bool = False) -> pl.DataFrame:
    """Return the data frame of a plan; `few` says that the plan reads a small frame."""
    if few:
        return collect_columns(plan)
    # The streaming engine is faster for eager frames too. It is polars' default since version 2.
    return plan.collect(engine="streaming") if VERSION >= (2, 0) else plan.collect()


def collect_columns(plan: pl.LazyFrame) -> pl.DataFrame:
    """Return the data frame of a plan that reads a small frame, or that only selects columns, without copying them."""
    return plan.collect(engine="in-memory", optimizations=FEWER_STEPS)


@lru_cache(4096)
def col(name: str) -> pl.Expr:
    """Return the column with exactly this name, even if polars would read the name as a pattern."""
    is_pattern = name == "*" or (name.startswith("^") and name.endswith("$"))
    return column_if_exists(name) if is_pattern else pl.col(name)


def column_if_exists(name: str) -> pl.Expr:
    """Return the column with exactly this name, or no column if it does not exist."""
    # Letters are written as code points, because polars' patterns do not support all of Python's escapes.
    return pl.col("^" + "".join(f"\\x{{{ord(letter):x}}}" for letter in name) + "$")


def series(frame: pl.DataFrame, name: str) -> pl.Series:
    """Return the column of a data frame with exactly this name; `get_column` would read patterns."""
    return frame.to_series(frame.columns.index(name))


@cache
def numpy_if_installed() -> Any:
    """Return NumPy, or None if it is not installed. It does not matter whether it was imported before."""
    return import_module("numpy") if find_spec("numpy") else None


@cache
def numpy_if_it_sorts_fast() -> Any:
    """Return NumPy, or None if polars sorts integers faster: https://github.com/numpy/x86-simd-sort/issues/6.

    NumPy 1 has no fast sort for most processors. With AVX-512, NumPy takes 3.5 times as long as polars on AMD's Zen 4.
    """
    numpy = numpy_if_installed()
    if numpy is None or numpy.__version__ < "2":
        return None
    zen_3_or_4 = re.search(r"family\s*:? 25\b", processor()) and "authenticamd" in processor()
    vector_instructions = numpy.show_config(mode="dicts")["SIMD Extensions"].get("found", ())
    return None if zen_3_or_4 and any(name.startswith(("AVX512", "X86_V4")) for name in vector_instructions) else numpy


def processor() -> str:
    """Return the system's description of the processor. On Linux and Windows, it has the vendor and the family."""
    try:
        with Path("/proc/cpuinfo").open() as lines:
            return lines.read(400).lower()
    except OSError:
        return platform.processor().lower()
