"""Columns that the names of folders hold, as Hive and Spark write them: ``day=2024-01-31/part-0.parquet``."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

MISSING_VALUE = "__HIVE_DEFAULT_PARTITION__"
"""What the folder of missing values is called."""


def partitions(path: Path) -> dict[str, str]:
    """Return the values that the folders of a file name, by their columns."""
    named = (part.partition("=") for part in path.parent.parts)
    return {name: unquote(value) for name, sign, value in named if name and sign}


def with_partitions(lazy: pl.LazyFrame, path: Path, ids: Collection[str]) -> pl.LazyFrame:
    """Add the columns of ids that a file's folders name and the file itself lacks."""
    values = {name: value for name, value in partitions(path).items() if name in ids}
    if not values:
        return lazy
    there = lazy.collect_schema().names()
    return lazy.with_columns(pl.lit(_id(value)).alias(name) for name, value in values.items() if name not in there)


def _id(value: str) -> str | int | None:
    """Return a value as ids of files are read: a number if that prints back the same."""
    if value == MISSING_VALUE:
        return None
    digits = value.removeprefix("-")
    is_number = digits.isdecimal() and digits.isascii() and len(digits) < 19 and str(int(value)) == value  # noqa: PLR2004
    return int(value) if is_number else value
