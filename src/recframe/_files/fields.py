"""Lines of fields between white space, as frames."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recframe._files.paths import read_bytes
from recframe.errors import InputError, quoted

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from recframe._engines.constructors import Constructors

BOM = b"\xef\xbb\xbf"
_OTHER_SPACE = (b"\t", b"\r", b"\f", b"\v")
_ONE_SPACE = bytes.maketrans(b"\t\r\f\v", b"    ")


@dataclass(frozen=True)
class Format:
    """A kind of file: the fields of its lines, and which of them are read."""

    name: str
    fields: tuple[str, ...]
    number: str
    """The field that holds a number."""

    def __str__(self) -> str:
        return f"{len(self.fields)} fields: {' '.join(self.fields)}"


RUN = Format("run", ("query", "Q0", "document", "rank", "score", "tag"), "score")
QRELS = Format("qrels", ("query", "iteration", "document", "relevance"), "relevance")


def read_fields(path: Path, kind: Format, make: Constructors, columns: Mapping[str, str]) -> Any:
    """Return some fields of a file as a frame.

    Parameters
    ----------
    path : Path
        The file; compressed by gzip or not.
    kind : Format
        What its lines hold.
    make : Constructors
        What makes the frame.
    columns : mapping of str to str
        The names of the frame's columns, by those of the fields.
    """
    data = read_bytes(path).removeprefix(BOM)
    frame = None
    if not any(sign in data for sign in _OTHER_SPACE):
        # Most files have single spaces already, and are read without a copy.
        frame = _fields(data if data.endswith(b"\n") else data + b"\n", kind, make, columns)
    if frame is not None:
        return frame
    lines = one_space(data)
    if not lines:
        msg = f"{str(path)!r} holds no lines"
        raise InputError(msg, f"a {kind.name} file has {kind}")
    frame = _fields(lines, kind, make, columns)
    if frame is None:
        raise _first_wrong_line(path, data, kind)
    return frame


def _fields(lines: bytes, kind: Format, make: Constructors, columns: Mapping[str, str]) -> Any:
    """Return fields between single spaces as a frame; None where there are too few, too many or empty ones."""
    if lines.count(b" ") != lines.count(b"\n") * (len(kind.fields) - 1):
        return None
    return make.fields(lines, kind.fields, kind.number, columns)


def one_space(data: bytes) -> bytes:
    """Return lines whose fields have one space between them; empty lines are left out."""
    # Replacing bytes is several times as fast as a regular expression.
    data = data.translate(_ONE_SPACE) + b"\n"
    while b"  " in data:
        data = data.replace(b"  ", b" ")
    data = data.replace(b" \n", b"\n").replace(b"\n ", b"\n")
    while b"\n\n" in data:
        data = data.replace(b"\n\n", b"\n")
    return data.lstrip(b" \n")


def _first_wrong_line(path: Path, data: bytes, kind: Format) -> InputError:
    """Return the error that names the first line that cannot be read."""
    place = kind.fields.index(kind.number)
    for number, line in enumerate(data.split(b"\n"), 1):
        where = f"line {number} of {str(path)!r}"
        try:
            # Bytes are split where the reader splits: at the white space of ASCII, not at that of Unicode.
            fields = [field.decode() for field in line.split()]
        except UnicodeDecodeError:
            return InputError(f"{where} is not UTF-8", f"save it as UTF-8; {kind.name} files are text, no Parquet")
        if fields and len(fields) != len(kind.fields):
            count = f"{len(fields)} field{'' if len(fields) == 1 else 's'}: {quoted(line.decode().strip())}"
            return InputError(f"{where} has {count}", f"a line of a {kind.name} file has {kind}{_meant(fields)}")
        if fields and not _is_number(fields[place]):
            msg = f"{where} has the {kind.number} {quoted(fields[place])}, which is not a number"
            return InputError(msg, f"a line of a {kind.name} file has {kind}")
    return InputError(f"{str(path)!r} cannot be read as a {kind.name} file", f"its lines have {kind}")


def _meant(fields: list[str]) -> str:
    """Return what a line with another number of fields probably is."""
    if len(fields) == 1 and any(sign in fields[0] for sign in ",;"):
        return "; this looks like CSV, which polars.read_csv or pandas.read_csv read"
    other = next((kind for kind in (RUN, QRELS) if len(kind.fields) == len(fields)), None)
    return "" if other is None else f"; this looks like a {other.name} file, for recframe.read_{other.name}"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text and text.isascii()
