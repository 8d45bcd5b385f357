"""Read the files of a folder, and the columns in folder names: ``day=2024-01-31/0.parquet``."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote

import polars as pl

from recframe.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

MISSING_VALUE = "__HIVE_DEFAULT_PARTITION__"
"""The folder name of a missing value."""


def files_of(folder: Path, endings: Collection[str] | None) -> list[Path]:
    """Return the files of a folder and of the folders in it, sorted. With `endings`, only files with one of them.

    Names that start with an underscore or a dot are left out, because programs write notes of their own there.
    """
    for table, notes in (("Delta", "_delta_log"), ("Iceberg", "metadata/*.metadata.json")):
        if [*folder.glob(notes)]:
            msg = f"{str(folder)!r} is a table of {table}, whose files hold deleted rows too"
            raise InputError(msg, "write the rows of its newest version to a file, and give that")
    visible = [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not any(part[0] in "_." for part in path.relative_to(folder).parts)
    ]
    files = [path for path in visible if endings is None or _ending(path) in endings]
    kinds = sorted({_ending(path) for path in files})
    if not files:
        msg = f"the folder {str(folder)!r} holds no file of rows"
        raise InputError(msg, f"the endings are {', '.join(endings)}" if endings else "check its name")
    if endings is not None and len(kinds) > 1:
        msg = f"the folder {str(folder)!r} holds files of several kinds: {', '.join(map(repr, kinds))}"
        raise InputError(msg, f"give a pattern, such as {str(folder / '**' / f'*{kinds[0]}')!r}")
    return files


def _ending(path: Path) -> str:
    """Return the ending of a file in lower case, without the ending of gzip."""
    return path.with_name(path.name.removesuffix(".gz")).suffix.lower()


def partitions(path: Path) -> dict[str, str]:
    """Return the values in the folder names of a file, by column."""
    named = (part.partition("=") for part in path.parent.parts)
    return {name: unquote(value) for name, sign, value in named if name and sign}


def with_partitions(lazy: pl.LazyFrame, path: Path, ids: Collection[str]) -> pl.LazyFrame:
    """Add the id columns from the folder names that the file itself lacks."""
    values = {name: value for name, value in partitions(path).items() if name in ids}
    if not values:
        return lazy
    names = lazy.collect_schema().names()
    return lazy.with_columns(constant(value).alias(name) for name, value in values.items() if name not in names)


def constant(value: str) -> pl.Expr:
    """Return a value as ids of files are read: a number if that prints back the same."""
    if value == MISSING_VALUE:
        return pl.lit(None)
    digits = value.removeprefix("-")
    is_number = digits.isdecimal() and digits.isascii() and len(digits) < 19 and str(int(value)) == value  # noqa: PLR2004
    return pl.lit(int(value), pl.Int64) if is_number else pl.lit(value)
