"""Results of many runs in one file: the rows of a run replace those that it wrote before."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import polars as pl

from recframe._cli.partitions import constant, holds
from recframe._cli.tables import as_parquet
from recframe._engines.parquet import from_parquet
from recframe._files.paths import PARQUET, as_path, check_directory, read_bytes, write_whole
from recframe.errors import InputError, OptionError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path


def check_append(file: str | None, constants: Mapping[str, str]) -> Path | None:
    """Return the file to add rows to, or raise before any work."""
    if file is None:
        return None
    if not constants:
        msg = f"--append {file} without --with, whose values tell one run from another"
        raise OptionError(msg, f"--append {file} --with day=2026-11-23")
    path = as_path(file, "--append")
    if path.suffix.lower() not in PARQUET:
        msg = f"--append {file} is no Parquet file by its name"
        raise OptionError(msg, "--append results.parquet")
    check_directory(path)
    return path


def with_constants(result: pl.DataFrame, constants: Mapping[str, str], per: Sequence[str]) -> pl.DataFrame:
    """Return a result with columns of one value ahead of its own."""
    twice = next((name for name in constants if name in result.columns and name not in per), None)
    if twice is not None:
        msg = f"--with {twice}={constants[twice]}: the result has a column {twice!r} of its own"
        raise OptionError(msg, "give it another name")
    for name in (name for name in constants if name in result.columns):
        if not result.select(holds(name, constants[name]).all()).item():
            msg = f"--with {name}={constants[name]}: the files have a column {name!r} with other values"
            raise OptionError(msg, "leave --with out, or give the column another name")
    new_columns = {name: constant(value) for name, value in constants.items() if name not in result.columns}
    return result.select(**new_columns, **{name: pl.col(name) for name in result.columns})


def append(rows: pl.DataFrame, path: Path, constants: Mapping[str, str]) -> None:
    """Add rows to a file, where the rows were that have the same values of constants, else at its end.

    Nobody else writes meanwhile, and the file is replaced whole.
    """
    with _locked(path) as target:
        write_whole(target, as_parquet(_added(rows, target, constants) if target.exists() else rows))


def _added(rows: pl.DataFrame, path: Path, constants: Mapping[str, str]) -> pl.DataFrame:
    """Return the rows of a file with new ones."""
    hint = "--append a file that it wrote before, or a new one"
    old: pl.DataFrame = from_parquet(read_bytes(path), str(path), hint).to_native()
    odd = sorted({*old.columns} ^ {*rows.columns})
    if odd:
        side = "lacks" if odd[0] not in old.columns else "has"
        msg = f"{str(path)!r} {side} the column {odd[0]!r}, unlike this result"
        raise InputError(msg, "one file holds the results of one command: --append another one")
    rows = rows.select(old.columns)
    names = [name for name in rows.columns if pl.Null not in (rows.schema[name], old.schema[name])]
    other = next((name for name in names if rows.schema[name] != old.schema[name]), None)
    if other is not None:
        types = f"{old.schema[other]} in {str(path)!r}, but {rows.schema[other]} in this result"
        msg = f"the column {other!r} is {types}"
        raise InputError(msg, "give --with values of one kind, or --append another file")
    same = old.select(pl.all_horizontal(holds(name, value) for name, value in constants.items())).to_series()
    row = same.arg_max() if same.any() else len(old)
    others = old.filter(~same)
    return pl.concat([others[:row], rows, others[row:]], how="vertical_relaxed")


@contextmanager
def _locked(path: Path) -> Iterator[Path]:
    """Hold the lock of a file, once nobody else does, and yield where its links lead; it ends with its process."""
    try:
        target = path.resolve()
        file = os.open(target.with_name(f"{target.name}.lock"), os.O_RDWR | os.O_CREAT, 0o666)
        _wait_for(file)
    except (OSError, RuntimeError) as error:  # of links in a circle, up to Python 3.12
        msg = f"{str(path)!r} cannot be written: {error}"
        raise InputError(msg, "name a file in a directory that you may write to") from error
    try:
        yield target
    finally:
        os.close(file)


def _wait_for(file: int) -> None:
    if sys.platform == "win32":
        import msvcrt

        while True:
            with suppress(OSError):  # after ten seconds
                return msvcrt.locking(file, msvcrt.LK_LOCK, 1)
    import fcntl

    return fcntl.flock(file, fcntl.LOCK_EX)
