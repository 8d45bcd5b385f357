"""Markdown tables, with all special characters escaped."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from unicodedata import combining, east_asian_width

from recframe.errors import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

MARKS = re.compile(r"[\\|*_`<~$]|\](?=\()|&(?=[#\w]+;)")
"""Characters that Markdown would interpret: marks, the middle of a link, the start of an HTML entity."""


def escaped(text: str) -> str:
    """Return a text escaped for a Markdown cell."""
    return one_line(MARKS.sub(r"\\\g<0>", text))


def one_line(text: str) -> str:
    """Return a text on one line, with its control characters visible."""
    return visible(" ".join(text.split()))


def table_of_cells(header: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[bool]) -> str:
    """Return escaped cells as a table with aligned columns, without a line end. Numbers are aligned right."""
    lines = [header, *rows]
    widths = [max(3, *map(width, column)) for column in zip(*lines, strict=True)]
    rule = [f"{'-' * (most - right)}{':' * right}" for most, right in zip(widths, numeric, strict=True)]
    padded = [[*map(_padded, line, widths, numeric)] for line in lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in (padded[0], rule, *padded[1:]))


def width(text: str) -> int:
    """Return the width of a text in a terminal."""
    letters = [letter for letter in text if not combining(letter)]
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in letters)


def _padded(text: str, most: int, numeric: bool) -> str:  # noqa: FBT001 - for `map`
    padding = " " * (most - width(text))
    return padding + text if numeric else text + padding
