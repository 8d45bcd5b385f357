"""Detect the format of a file by its ending, or otherwise by its first bytes."""

from __future__ import annotations

import zlib
from contextlib import suppress
from pathlib import Path

from recframe._data.files.fields import BOM, looks_like_retrieval, without_comments
from recframe._data.files.paths import GZIP, PARQUET, STDIN, check_file, read_bytes
from recframe.errors import InputError

FORMATS = {
    "parquet": PARQUET,
    "csv": (".csv",),
    "tsv": (".tsv", ".tab"),
    "trec": (".run", ".trec", ".res", ".qrels"),
}
"""The formats and their file endings. Files with other endings are recognised by their first bytes."""
FORMAT_SAMPLE_BYTES = 4096
"""The number of bytes to read at the start of a file."""
NOT_READ = {
    "NDJSON": (".ndjson", ".jsonl"),
    "Arrow": (".arrow", ".ipc", ".feather"),
}
"""Formats that polars converts in one line, and the endings of their files."""
ENDINGS = tuple(ending for endings in (*FORMATS.values(), *NOT_READ.values()) for ending in endings)


def format_of(path: Path) -> str:
    """Return the format of a file by its ending, or otherwise by its first bytes."""
    check_file(path)
    ending = Path(path.name.removesuffix(".gz")).suffix.lower()
    name = next((name for name, endings in {**FORMATS, **NOT_READ}.items() if ending in endings), None)
    if name in NOT_READ:
        raise _not_read(path, name)
    if name == "tsv" and path.is_file() and looks_like_retrieval(_first_line(_head(path))):
        return "trec"
    if name is not None:
        return name
    if path == STDIN:
        return _format_of_bytes(read_bytes(path)[:FORMAT_SAMPLE_BYTES], path)
    if not path.is_file():
        msg = f"{str(path)!r} is a pipe, which can be read only once, so that its format cannot be looked up"
        raise InputError(msg, "write it to a file first, and give that")
    return _format_of_bytes(_head(path), path)


def _not_read(path: Path, name: str) -> InputError:
    """Return the error for a format that the command line does not read, with the line that converts the file."""
    reader = {"NDJSON": "read_ndjson", "Arrow": "read_ipc"}[name]
    source = "sys.stdin.buffer" if path == STDIN else repr(str(path))
    target = "recs.parquet" if path == STDIN else str(path.with_suffix(".parquet"))
    line = f"import sys, polars; polars.{reader}({source}).write_parquet({target!r})"
    return InputError(f"{str(path)!r} is {name}, which the command line does not read", f'python -c "{line}"')


def _head(path: Path) -> bytes:
    """Return the first bytes of a file, decompressed."""
    with path.open("rb") as file:
        head = file.read(FORMAT_SAMPLE_BYTES)
    if head.startswith(GZIP):
        with suppress(zlib.error):  # what is cut off is said where the whole file is read
            return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(head, FORMAT_SAMPLE_BYTES)
    return head


def _first_line(head: bytes) -> str:
    """Return the first line of a text, without comments."""
    rows = without_comments(head.removeprefix(BOM)).decode(errors="replace")
    return next(iter(rows.strip().splitlines()), "")


def _format_of_bytes(head: bytes, path: Path) -> str:
    """Return the format of a file by its first bytes."""
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(b"ARROW1"):
        raise _not_read(path, "Arrow")
    line = _first_line(head)
    if line.startswith("{"):
        raise _not_read(path, "NDJSON")
    kind = _format_of_line(line)
    if kind is None:
        msg = f"the format of {str(path)!r} is not known by its ending or its first line"
        raise InputError(msg, f"give --format {'|'.join(FORMATS)}, or one of the endings that belong to them")
    return kind


def _format_of_line(line: str) -> str | None:
    """Return the format that the first line of a text looks like."""
    if looks_like_retrieval(line):
        return "trec"
    if "\t" in line:
        return "tsv"
    return "csv" if "," in line and line[0] != "[" else None
