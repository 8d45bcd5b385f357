"""Draws the pictures of the documentation's gallery from the code that the page shows above each of them.

``python tools/gallery_pictures.py`` draws all, or with words after it those that have one of them in their names. The
first picture of the page is also the one of the README. It needs the extra ``plot``.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from recframe._display.table_image import svg

DOCS = Path(__file__).parent.parent / "docs"
PAGE = DOCS / "gallery.md"
BLOCK = re.compile(r"```python\n(?P<code>.*?)```(?:\n\n!\[[^]]*\]\((?P<file>[^)]+)\))?", re.DOTALL)
"""The code of a picture, and its file; the first block of the page has no picture, and all others use its names."""
PLACES = re.compile(r' (?:d|transform|x|y|x1|x2|y1|y2|width|height)="[^"]*"')
NEEDLESS = re.compile(r"-?\d+\.\d{3,}")
"""The attributes with coordinates, and numbers with more digits after the point than a screen shows."""


def statements(block: str) -> str:
    """Return the code of a doctest without prompts."""
    return "\n".join(line[4:] for line in block.splitlines() if line.startswith((">>> ", "... ")))


def drawing(scope: dict[str, Any], path: Path) -> str:
    """Return the table or the chart that a block of code has made, as SVG."""
    if "table" in scope:
        text = svg(scope["table"]._layout, None)  # noqa: SLF001 - a table saves no SVG
        return re.sub(r'(?<=^<svg xmlns="http://www.w3.org/2000/svg" width=")\d+', _wider, text)
    scope["chart"].configure(background="white", padding=12).save(path)
    return path.read_text(encoding="utf-8")


def _wider(width: re.Match[str]) -> str:
    """Return a width with space for browsers that have none of the fonts, and draw wider letters."""
    return f"{int(width[0]) * 1.15:.0f}"


def shortened(text: str) -> str:
    """Return a drawing whose coordinates have two digits after the point."""
    return PLACES.sub(lambda match: NEEDLESS.sub(lambda each: f"{float(each[0]):.2f}", match[0]), text)


def main() -> None:
    """Draw the pictures."""
    words = sys.argv[1:]
    shared: dict[str, Any] = {}
    for block in BLOCK.finditer(PAGE.read_text(encoding="utf-8")):
        code, file = statements(block["code"]), block["file"]
        if file is None:
            exec(code, shared)  # noqa: S102 - the lines that the page shows
        elif not words or any(word in file for word in words):
            scope = {**shared}
            exec(code, scope)  # noqa: S102 - as above
            path = DOCS / file
            path.parent.mkdir(exist_ok=True)
            path.write_text(shortened(drawing(scope, path)).rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
