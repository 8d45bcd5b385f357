"""The lines of NDJSON files that hold something else than rows of numbers and ids."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl

from recframe._cli.csv import not_a_number
from recframe._files.paths import read_bytes
from recframe.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path


def no_object(path: Path) -> str:
    """Say which line is the first that is no object of JSON, if there is one."""
    return next((f"line {line:,} is no object of JSON" for line, row in _rows(path) if not isinstance(row, dict)), "")


def refuse_text_of_objects(path: Path, frame: pl.DataFrame, numbers: Collection[str]) -> None:
    """Raise for the first text in a column of numbers."""
    for column in (name for name in frame.columns if name in numbers and frame.schema[name] == pl.String):
        wrong = ((line, row[column]) for line, row in _rows(path) if isinstance(row.get(column), str))
        line, text = next(wrong, (None, None))
        if line is not None:
            raise not_a_number(str(path), column, text, line)


def refuse_rounded_ids(path: Path, frame: pl.DataFrame, ids: Collection[str]) -> None:
    """Raise where a fraction in a column of ids makes floats of whole numbers that floats round."""
    for column in (name for name in frame.columns if name in ids and frame.schema[name].is_float()):
        if (frame[column].abs() >= 2**53).any():
            msg = f"{str(path)!r}: {column} holds fractions beside ids above 2**53, which floats would round"
            raise InputError(msg, f'write {column} as text, {{"{column}": "9007199254740993"}}')


def _rows(path: Path) -> Iterator[tuple[int, Any]]:
    for line, text in enumerate(read_bytes(path).decode("utf-8-sig", "replace").split("\n"), 1):
        if text.strip():
            try:
                # JSON has no NaN, though Python reads and writes it; `int` refuses it.
                yield line, json.loads(text, parse_constant=int)
            except ValueError:
                yield line, None
