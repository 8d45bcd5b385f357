"""Results as text and as files."""

from __future__ import annotations

import json
import math
import re
from contextlib import suppress
from datetime import date
from io import BytesIO
from typing import TYPE_CHECKING, Any

from recframe._data.files.paths import as_path, write_atomically
from recframe._display.cells import MISSING_SIGN
from recframe._display.markdown import escaped, table_of_cells
from recframe.errors import InputError, OptionError, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    import polars as pl

INDENT = "  "
DIGITS = 4
"""The default number of decimals in a cell."""
MOST_DECIMALS = 15
"""The largest number of decimals in a cell."""


def aligned(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table as text, with the first column aligned to the left and the others to the right."""
    cells = [header, *rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]

    def line(row: Sequence[str]) -> str:
        first, *others = zip(row, widths, strict=True)
        parts = [first[0].ljust(first[1]), *(text.rjust(width) for text, width in others)]
        return f"{INDENT}{'   '.join(parts)}".rstrip()

    rule = INDENT + "-" * (sum(widths) + 3 * (len(widths) - 1))
    return "\n".join([line(header), rule, *map(line, rows), ""])


def check_digits(digits: int | None) -> None:
    """Raise if the number of digits is out of range."""
    if digits is not None and not 0 <= digits <= MOST_DECIMALS:
        msg = f"--digits {digits} is not from 0 to {MOST_DECIMALS}"
        raise OptionError(msg, "--json, --csv and files hold all digits")


def table(frame: pl.DataFrame, digits: int = DIGITS) -> str:
    """Return a result for a terminal."""
    return aligned(*_cells(frame, digits))


def by_metric(frame: pl.DataFrame, digits: int = DIGITS) -> str:
    """Return a table with metrics as rows and models as columns, which fits a narrow terminal."""
    header, rows = _cells(frame, digits)
    cells = (
        [header, *rows] if frame.columns[0] == "model" else [["metric", *header], *(["value", *row] for row in rows)]
    )
    first, *others = zip(*cells, strict=True)
    return aligned(["metric", *first[1:]], others)


def markdown(frame: pl.DataFrame, digits: int = DIGITS) -> str:
    """Return a result as a table of Markdown."""
    header, rows = _cells(frame, digits, missing=MISSING_SIGN)
    numeric = [kind.is_numeric() for kind in frame.dtypes]
    return table_of_cells([*map(escaped, header)], [[*map(escaped, row)] for row in rows], numeric) + "\n"


def _csv(frame: pl.DataFrame) -> str:
    """Return a result as CSV; raise for values that CSV cannot hold, such as keys that are lists."""
    from polars.exceptions import PolarsError

    try:
        return frame.write_csv()
    except PolarsError as error:
        msg = f"the result cannot be written as CSV: {str(error).splitlines()[0]}"
        raise InputError(msg, "--json, or --out result.json") from None


PRINTERS: dict[str, Callable[[pl.DataFrame, int], str]] = {
    "json": lambda frame, _: f"{json.dumps(_plain_rows(frame), indent=2, ensure_ascii=False, default=str)}\n",
    "csv": lambda frame, _: _csv(frame),
    "markdown": markdown,
}
"""The function for each format that writes a result as text, with all digits or a given number."""


def _parquet(frame: pl.DataFrame) -> bytes:
    """Return a result as a Parquet file."""
    buffer = BytesIO()
    frame.write_parquet(buffer)
    return buffer.getvalue()


WRITERS: dict[str, Callable[[pl.DataFrame, int], str | bytes]] = {
    ".json": PRINTERS["json"],
    ".csv": PRINTERS["csv"],
    ".md": markdown,
    ".parquet": lambda frame, _: _parquet(frame),
}
"""The function for each file ending that writes a result."""


def check_out(out: str) -> Path:
    """Return the file to write; raise before any work if its ending is not a known format."""
    path = as_path(out, "--out")
    if path.suffix.lower() not in WRITERS:
        what = f"ends in {path.suffix!r}" if path.suffix else "has no ending"
        msg = f"--out {out}: the name {what}, which is no format"
        raise OptionError(msg, f"end it in one of {', '.join(WRITERS)}")
    check_folder(path)
    return path


def check_folder(path: Path) -> None:
    """Raise if the folder of a file neither exists nor can be made."""
    parent = next(folder for folder in path.absolute().parents if folder.exists())
    if not parent.is_dir():
        msg = f"{str(path)!r} cannot be written: {str(parent)!r} is no folder"
        raise InputError(msg, "name another folder")


def write(frame: pl.DataFrame, path: Path, digits: int) -> None:
    """Write a result in the format that the file's name says, and make its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = WRITERS[path.suffix.lower()](frame, digits)
    write_atomically(path, data.encode() if isinstance(data, str) else data)


def with_column_of_name(frame: pl.DataFrame, path: Path) -> pl.DataFrame:
    """Return a result with the column of its file's name in front, such as ``day`` of ``day=2026-11-23.parquet``.

    The column is written into the file, because programs read columns from the names of folders, but not of files. A
    day is a date and any other value is text, so that all files of a folder have the same type.
    """
    import polars as pl

    name, sign, value = path.stem.partition("=")
    if not (name and sign and value):
        return frame
    if name in frame.columns:
        msg = f"--out {path}: the result has a column {name!r} already"
        raise OptionError(msg, f"use another name, such as run={value}{path.suffix}")
    content: str | date = value
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", value, re.ASCII):
        with suppress(ValueError):  # a date such as 2026-02-30
            content = date.fromisoformat(value)
    return frame.select(pl.lit(content).alias(name), pl.all())


def _plain_rows(frame: pl.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a result with null for missing values, and text for infinity, which JSON lacks."""
    return [{name: _plain(value) for name, value in row.items()} for row in frame.to_dicts()]


def _plain(value: Any) -> Any:
    """Return a value as JSON can hold it: None for NaN, and text for infinity."""
    if not isinstance(value, float) or math.isfinite(value):
        return value
    return None if math.isnan(value) else str(value)


def _cells(frame: pl.DataFrame, digits: int, missing: str = "-") -> tuple[list[str], list[list[str]]]:
    """Return the header and the cells of a result as text."""
    rows = [[_cell(value, digits, missing) for value in row] for row in frame.rows()]
    return list(map(visible, frame.columns)), rows


def _cell(value: Any, digits: int, missing: str) -> str:
    """Return a value as text: a float with some digits, and a missing value as `missing`.

    Floats that these digits would show as 0, and very large floats, are in scientific notation.
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return missing
    if isinstance(value, float):
        # A small p-value must not look like 0.
        return f"{value:.2e}" if 0 < abs(value) < 0.5 * 10**-digits or abs(value) >= 1e15 else f"{value:.{digits}f}"  # noqa: PLR2004
    return visible(str(value))
