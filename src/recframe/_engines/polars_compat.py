"""What differs between the versions of polars, and names that polars would read as patterns."""

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
"""Whether polars calls a function with the schema when it resolves a plan, and not before."""
EXPLODE: dict[str, Any] = {"empty_as_null": False} if "empty_as_null" in signature(pl.Expr.explode).parameters else {}
"""The argument for empty lists, none of which is exploded: https://github.com/pola-rs/polars/issues/17664."""
FEW_ROWS = 2**16
"""Rows of a frame that one core is done with before others could help."""
FEWER_STEPS = pl.QueryOptFlags.none(projection_pushdown=True, comm_subplan_elim=True, comm_subexpr_elim=True)
"""The optimizations of plans of few rows: only to compute nothing that is not read, and nothing twice."""


def collect(plan: pl.LazyFrame, *, few: bool = False) -> pl.DataFrame:
    """Return the data frame of a plan, which may be known to read few rows."""
    if few:
        return collect_columns(plan)
    # Since version 2 the streaming engine is polars' own default; it is the faster one for eager frames too.
    return plan.collect(engine="streaming") if VERSION >= (2, 0) else plan.collect()


def collect_columns(plan: pl.LazyFrame) -> pl.DataFrame:
    """Return the data frame of a plan that reads few rows, or that only picks columns of a frame, without a copy."""
    return plan.collect(engine="in-memory", optimizations=FEWER_STEPS)


@lru_cache(4096)
def col(name: str) -> pl.Expr:
    """Return the column of exactly that name, also where polars would read it as a pattern."""
    is_pattern = name == "*" or (name.startswith("^") and name.endswith("$"))
    return if_there(name) if is_pattern else pl.col(name)


def if_there(name: str) -> pl.Expr:
    """Return the column of exactly that name, or no column where there is none."""
    # By code points, as polars' patterns do not know each escape of Python's.
    return pl.col("^" + "".join(f"\\x{{{ord(letter):x}}}" for letter in name) + "$")


def series(frame: pl.DataFrame, name: str) -> pl.Series:
    """Return the column of exactly that name of a data frame, whose own `get_column` reads patterns."""
    return frame.to_series(frame.columns.index(name))


@cache
def numpy_if_installed() -> Any:
    """Return NumPy, or None where it is not installed; whether somebody has imported it decides nothing."""
    return import_module("numpy") if find_spec("numpy") else None


@cache
def numpy_if_it_sorts_fast() -> Any:
    """Return NumPy, or None where polars sorts integers faster: https://github.com/numpy/x86-simd-sort/issues/6.

    NumPy 1 has no fast sort for most processors. With AVX-512, NumPy takes 3.5 times as long as polars on AMD's Zen 4.
    """
    numpy = numpy_if_installed()
    if numpy is None or numpy.__version__ < "2":
        return None
    zen_3_or_4 = re.search(r"family\s*:? 25\b", processor()) and "authenticamd" in processor()
    vector_instructions = numpy.show_config(mode="dicts")["SIMD Extensions"].get("found", ())
    return None if zen_3_or_4 and any(name.startswith(("AVX512", "X86_V4")) for name in vector_instructions) else numpy


def processor() -> str:
    """Return what the system tells of the processor: on Linux and Windows, who made it and its family."""
    try:
        with Path("/proc/cpuinfo").open() as lines:
            return lines.read(400).lower()
    except OSError:
        return platform.processor().lower()
