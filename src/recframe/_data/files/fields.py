"""Text files with lines of fields that white space separates, read as frames."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recframe._data.files.paths import read_bytes
from recframe.errors import InputError, quoted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from recframe._engines.constructors import Constructors

BOM = b"\xef\xbb\xbf"
_OTHER_SPACE = (b"\t", b"\r", b"\f", b"\v")
_ONE_SPACE = bytes.maketrans(b"\t\r\f\v", b"    ")
_COMMENT = re.compile(rb"^[ \t\f\v]*#(?=\s|\Z)[^\n]*\n?", re.MULTILINE)
"""A line that starts with ``#`` and white space. Without the white space, it may be a query such as ``#7``."""
BEIR_HEADER = ["query-id", "corpus-id", "score"]
"""The first line of BEIR's TSV files."""
_QUERY_HEADERS = {"query", "queryid", "qid", "topic", "topicid", "user", "userid"}
"""First words that show that a line is a header, in lower case and without punctuation."""


@dataclass(frozen=True)
class Layout:
    """The fields of a file's lines, and the name of the field that holds a number."""

    fields: tuple[str, ...]
    number: str | None
    has_header: bool = False

    def __str__(self) -> str:
        first_line = f", after the line {' '.join(BEIR_HEADER)}" if self.has_header else ""
        return f"{len(self.fields)} fields: {' '.join(self.fields)}{first_line}"


@dataclass(frozen=True)
class Format:
    """A kind of file with the layouts that its lines may have, TREC's layout first."""

    name: str
    layouts: tuple[Layout, ...]

    def __str__(self) -> str:
        return f"a line of a {self.name} file has {'; or '.join(map(str, self.layouts))}"

    def layout_of(self, line: Sequence[str]) -> Layout:
        """Return the layout that fits a file's first line, or TREC's layout if none fits."""
        has_header = is_beir_header(line)
        for layout in self.layouts:
            if layout.has_header == has_header and len(layout.fields) == len(line):
                return layout
        return self.layouts[0]


RANKS = Layout(("query", "document", "rank"), "rank")
POSITIVES = Layout(("query", "document"), None)
RUN = Format(
    "run",
    (
        Layout(("query", "Q0", "document", "rank", "score", "tag"), "score"),
        RANKS,
        Layout(("query", "document", "score"), "score", has_header=True),
    ),
)
QRELS = Format(
    "qrels",
    (
        Layout(("query", "iteration", "document", "relevance"), "relevance"),
        POSITIVES,
        Layout(("query", "document", "relevance"), "relevance", has_header=True),
    ),
)


def is_beir_header(line: Sequence[str]) -> bool:
    """Return whether fields are the header of BEIR's TSV files."""
    return [field.lower().replace("_", "-") for field in line] == BEIR_HEADER


def looks_like_retrieval(line: str) -> bool:
    """Return whether a text may be the first line of a run or of qrels, and not the header of another table."""
    fields = line.split()
    if is_beir_header(fields):
        return True
    layouts = (layout for kind in (RUN, QRELS) for layout in kind.layouts if not layout.has_header)
    layout = next((layout for layout in layouts if len(layout.fields) == len(fields)), None)
    if layout is None:
        return False
    # Any two words could be two ids. So both must be numbers, like the ids of MS MARCO.
    numbers = fields if layout.number is None else [fields[layout.fields.index(layout.number)]]
    return all(map(_is_number, numbers))


def without_comments(data: bytes) -> bytes:
    """Return the lines of a file without comments."""
    return _COMMENT.sub(b"", data) if b"#" in data else data


def read_fields(path: Path, kind: Format, make: Constructors, columns: Mapping[str, str]) -> tuple[Any, Layout]:
    """Return some fields of a file as a frame, and the layout of its lines.

    Parameters
    ----------
    path : Path
        The file, compressed by gzip or not.
    kind : Format
        The format of the file.
    make : Constructors
        The library that makes the frame.
    columns : mapping of str to str
        The names of the frame's columns, by the fields of TREC's layout. The number of another layout, such as a rank,
        gets the name of TREC's number. Fields that the layout lacks have no column.
    """
    data = read_bytes(path).removeprefix(BOM)
    rows = without_comments(data)
    first_line = rows.lstrip().partition(b"\n")[0].decode(errors="replace").split()
    if not first_line:
        msg = f"{str(path)!r} holds no lines"
        raise InputError(msg, str(kind))
    layout = kind.layout_of(first_line)
    if layout is POSITIVES and re.sub("[-_ ]", "", first_line[0].lower()) in _QUERY_HEADERS:
        msg = f"{str(path)!r} starts with {quoted(' '.join(first_line))}, which looks like a header"
        raise InputError(msg, f"delete this line; the only header that is read is {' '.join(BEIR_HEADER)}")
    if layout.has_header:
        rows = rows.lstrip().partition(b"\n")[2]
    number = kind.layouts[0].number
    names = {layout.number if field == number else field: name for field, name in columns.items()}
    chosen = {field: name for field, name in names.items() if field in layout.fields}
    frame = _fields(rows, layout, make, chosen)
    if frame is None:
        raise _first_wrong_line(path, data, kind, layout)
    return frame, layout


def _fields(rows: bytes, layout: Layout, make: Constructors, columns: Mapping[str, str]) -> Any:
    """Return fields as a frame, or None if a line cannot be read."""
    frame = None
    if not any(sign in rows for sign in _OTHER_SPACE):
        # Most files have single spaces already. They are read without a copy.
        frame = _single_spaced(rows if rows.endswith(b"\n") else rows + b"\n", layout, make, columns)
    return _single_spaced(collapse_spaces(rows), layout, make, columns) if frame is None else frame


def _single_spaced(lines: bytes, layout: Layout, make: Constructors, columns: Mapping[str, str]) -> Any:
    """Return fields between single spaces as a frame, or None if a line has too few, too many or empty fields."""
    if lines.count(b" ") != lines.count(b"\n") * (len(layout.fields) - 1):
        return None
    return make.fields(lines, layout.fields, layout.number, columns)


def collapse_spaces(data: bytes) -> bytes:
    """Return lines with a single space between fields, without empty lines."""
    # Replacing bytes is several times faster than a regular expression.
    data = data.translate(_ONE_SPACE) + b"\n"
    while b"  " in data:
        data = data.replace(b"  ", b" ")
    data = data.replace(b" \n", b"\n").replace(b"\n ", b"\n")
    while b"\n\n" in data:
        data = data.replace(b"\n\n", b"\n")
    return data.lstrip(b" \n")


def _first_wrong_line(path: Path, data: bytes, kind: Format, layout: Layout) -> InputError:
    """Return an error that names the first line that cannot be read."""
    hint = f"a line of this {kind.name} file has {layout}"
    for number, line in enumerate(data.split(b"\n"), 1):
        where = f"line {number} of {str(path)!r}"
        try:
            # Bytes are split like in the reader: at ASCII white space, not at the white space of Unicode.
            fields = [field.decode() for field in line.split()]
        except UnicodeDecodeError:
            return InputError(f"{where} is not UTF-8", f"save it as UTF-8; {kind.name} files are text, not Parquet")
        if not fields or fields[0] == "#" or (layout.has_header and is_beir_header(fields)):
            continue
        if len(fields) != len(layout.fields):
            count = f"{len(fields)} field{'' if len(fields) == 1 else 's'}: {quoted(line.decode().strip())}"
            fits_none = layout is kind.layouts[0] and kind.layout_of(fields) is layout
            remedy = (str(kind) if fits_none else hint) + _probable_kind(fields, kind)
            return InputError(f"{where} has {count}", remedy)
        value = fields[layout.fields.index(layout.number)] if layout.number is not None else "0"
        if not _is_number(value):
            return InputError(f"{where} has the {layout.number} {quoted(value)}, which is not a number", hint)
    return InputError(f"{str(path)!r} cannot be read as a {kind.name} file", hint)


def _probable_kind(fields: list[str], kind: Format) -> str:
    """Return an addition to the hint: what kind of file a line with this number of fields probably belongs to."""
    if len(fields) == 1 and any(sign in fields[0] for sign in ",;"):
        return "; this looks like CSV, which polars.read_csv or pandas.read_csv read"
    [other] = {RUN, QRELS} - {kind}
    fits = any(len(layout.fields) == len(fields) for layout in other.layouts)
    return f"; this looks like a {other.name} file, for recframe.read_{other.name}" if fits else ""


def _is_number(text: str) -> bool:
    """Return whether a text is a number in ASCII, without the underscores that Python allows."""
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text and text.isascii()
