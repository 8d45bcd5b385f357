"""Read CSV files as polars frames, with ids exactly as the file holds them."""

from __future__ import annotations

import csv
import math
from contextlib import suppress
from functools import partial
from io import StringIO
from typing import TYPE_CHECKING, Any

import polars as pl
from polars import selectors as cs

from recframe._data.files.paths import read_bytes
from recframe.errors import InputError, quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence
    from pathlib import Path

SEPARATORS = {
    ";": "give --separator ';' (numbers with a comma need a dot first)",
    "\t": "give --format tsv",
    ",": "give --format csv",
    "|": "give --separator '|'",
}
"""Wrong separators that files may have, and the remedy for each."""
TEXT_TYPES = (pl.String, pl.Categorical, pl.Enum)
TYPES_THAT_BECOME_TEXT = cs.integer() | cs.boolean() | cs.date() | cs.datetime() | cs.time()
"""Id types that become text if another file has text ids; floats stay, as their text would be another id."""
BOOLEANS = {"true": True, "false": False}
"""The words that a column of booleans may hold, in upper or lower case."""
NUMBER_WORDS = [*BOOLEANS, "nan"]
"""The words that a column of numbers may hold."""


def read_csv(
    source: Path | bytes, ids: Collection[str], pick: Callable[[pl.LazyFrame], pl.LazyFrame], **options: Any
) -> pl.DataFrame:
    """Return the columns of a CSV file that `pick` selects.

    Parameters
    ----------
    source : Path or bytes
        The file, or what it holds.
    ids : collection of str
        The columns of ids. Where two of them would be one number, such as 007 and 7, they stay text.
    pick : callable
        Returns the columns to read, of the scanned file.
    **options
        What polars reads the file with.
    """
    scanned = pl.scan_csv(source, glob=False, **options)
    kinds = {name: kind for name, kind in scanned.collect_schema().items() if name in ids and kind != pl.String}
    if kinds:
        scanned = pl.scan_csv(source, glob=False, schema_overrides=dict.fromkeys(kinds, pl.String), **options)
    frame = pick(scanned).collect()
    columns = [name for name in scanned.collect_schema() if name in frame.columns]
    if columns and frame.select(pl.all_horizontal(pl.col(columns).is_null()).any()).item():
        frame = pick(scanned.filter(pl.any_horizontal(pl.all().is_not_null()))).collect()
    _refuse_repeated_names(source, frame.columns, options.get("separator", ","))
    frame = frame.with_columns(_typed_ids(frame[name], kind) for name, kind in kinds.items() if name in frame.columns)
    return frame.select(values if values.name in ids else _as_numbers(values) for values in frame)


def read_numbers(
    source: Path | bytes,
    name: str,
    ids: Collection[str],
    numbers: Collection[str],
    pick: Callable[[pl.LazyFrame], pl.LazyFrame],
    separator: str,
) -> pl.DataFrame:
    """Return the picked columns of a CSV file; raise for a wrong separator, or for text in a column of numbers."""
    _check_separator(source, name, separator)
    try:
        frame = read_csv(source, ids, pick, separator=separator, infer_schema_length=10_000)
    except pl.exceptions.ComputeError:
        _refuse_text(source, name, numbers, separator)
        # Whole numbers may be followed by others later than polars looks.
        frame = read_csv(source, ids, pick, separator=separator, infer_schema_length=None)
    if any(frame.schema[column] == pl.String and frame[column].count() for column in {*numbers} & {*frame.columns}):
        _refuse_text(source, name, numbers, separator)
    _refuse_short_lines(source, name, separator)
    return frame


def _check_separator(source: Path | bytes, name: str, separator: str) -> None:
    """Raise if the header of a file is one name that contains another separator."""
    header = _header(source, separator)
    other = next((sign for sign in SEPARATORS if len(header) == 1 and sign in (header[0] or "")), None)
    if other is not None:
        msg = f"{name!r} has one column, {header[0]!r}: its values are not between {separator!r}, but between {other!r}"
        raise InputError(msg, SEPARATORS[other] if separator in ",\t" else f"give --separator {other!r}")


def first_ragged_line(source: Path | bytes, separator: str) -> str:
    """Return a message about the first line with more or fewer values than columns, or an empty string."""
    with suppress(csv.Error, InputError):  # a quote that is open, or a file that is cut off
        data = source if isinstance(source, bytes) else read_bytes(source)
        csv.field_size_limit(max(len(data), csv.field_size_limit()))
        rows = csv.reader(StringIO(data.decode("utf-8-sig", "replace"), newline=""), delimiter=separator)
        count = len(next(rows, ()))
        for row in rows:
            if row and len(row) != count:
                return f"line {rows.line_num:,} has {len(row)} values, but the header names {count} columns"
    return ""


def _refuse_short_lines(source: Path | bytes, name: str, separator: str) -> None:
    """Raise for the first line with fewer values than columns; polars would read the rest as missing."""
    scan = partial(pl.scan_csv, source, glob=False, infer_schema_length=0)
    last = scan(separator=separator).select(pl.last().is_null().any())
    lines = scan(separator="\x01", quote_char=None, has_header=False, truncate_ragged_lines=True)
    few = pl.first().str.count_matches(separator, literal=True) < len(_header(source, separator)) - 1
    unsure = lines.select((few | pl.first().str.contains('"', literal=True)).any())
    # Python's reader finds the line, but it is slow.
    if last.collect().item() and unsure.collect().item() and (ragged_line := first_ragged_line(source, separator)):
        msg = f"{name!r}: {ragged_line}"
        raise InputError(msg, "check that the file is whole; a missing value has separators too")


def _refuse_text(source: Path | bytes, name: str, columns: Collection[str], separator: str) -> None:
    """Raise for the first text in a column of numbers, and name its line."""
    rows_as_text = pl.scan_csv(source, glob=False, separator=separator, infer_schema_length=0)
    for column in (column for column in rows_as_text.collect_schema().names() if column in columns):
        texts = rows_as_text.select(column).collect().to_series().str.strip_chars()
        is_number = texts.cast(pl.Float64, strict=False).is_not_null() | texts.str.to_lowercase().is_in(NUMBER_WORDS)
        rows = (texts.is_not_null() & ~is_number).arg_true()
        if len(rows):
            above = rows_as_text.head(rows[0]).select(pl.all().str.count_matches("\n", literal=True).sum()).collect()
            breaks = sum(above.row(0)) + "".join(above.columns).count("\n")
            raise not_a_number(name, column, texts[rows[0]], rows[0] + 2 + breaks)


def not_a_number(name: str, column: str, text: str | None, line: int) -> InputError:
    """Return the error for text in a column of numbers, at a line of a file from 1."""
    msg = f"{name!r}: {column} is {quoted(text)} in line {line:,}, which is no number"
    return InputError(msg, f"correct the file, or name another column than {column}")


def _header(source: Path | bytes, separator: str) -> tuple[str | None, ...]:
    """Return the values in the first line of a file."""
    options: dict[str, Any] = {"has_header": False, "infer_schema_length": 0, "n_rows": 1}
    return pl.scan_csv(source, glob=False, separator=separator, truncate_ragged_lines=True, **options).collect().row(0)


def _refuse_repeated_names(source: Path | bytes, columns: Collection[str], separator: str) -> None:
    """Raise if a column that is read occurs several times in the file."""
    header = _header(source, separator)
    twice = next((name for name in header if name in columns and header.count(name) > 1), None)
    if twice is not None:
        where = "the file" if isinstance(source, bytes) else repr(str(source))
        msg = f"{where} has {header.count(twice)} columns of the name {twice!r}"
        raise InputError(msg, "the first line names the columns: give each a name of its own")


def _as_numbers(values: pl.Series) -> pl.Series:
    """Return numbers if a column is text only because of `nan` or spaces, otherwise the column as it is."""
    if values.dtype != pl.String or not values.count():
        return values
    is_nan = values.str.strip_chars().str.to_lowercase() == "nan"
    numbers = values.set(is_nan, None).str.strip_chars().cast(pl.Float64, strict=False)
    if numbers.null_count() > values.null_count() + is_nan.sum():
        return values
    return numbers.set(is_nan, math.nan)


def _typed_ids(ids: pl.Series, kind: pl.DataType) -> pl.Series:
    """Return ids as another type if no text is lost: numbers print as before, and booleans stay distinct."""
    if kind == pl.Boolean:
        values = ids.str.to_lowercase().replace_strict(BOOLEANS, default=None)
        is_lossless = values.n_unique() == ids.n_unique()
    else:
        values = ids.cast(kind, strict=False)
        is_lossless = (values.cast(pl.String) == ids).all() and not values.is_nan().any()
    return values if is_lossless and values.null_count() == ids.null_count() else ids


def align_id_types(frames: Sequence[pl.DataFrame], ids: Iterable[str]) -> list[pl.DataFrame]:
    """Return frames in which an id column is text in all of them if it is text in one of them."""
    texts = {name for name in ids if any(frame.schema.get(name) in TEXT_TYPES for frame in frames)}
    columns = cs.by_name(*texts, require_all=False) & TYPES_THAT_BECOME_TEXT
    return [frame.with_columns(columns.cast(pl.String)) for frame in frames]
