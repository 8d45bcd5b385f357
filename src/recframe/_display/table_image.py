"""A table as an image: an SVG of texts and lines, drawn without a browser."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from recframe._display.cells import Cell
from recframe._display.labels import text_width
from recframe.errors import visible

if TYPE_CHECKING:
    from recframe._display.layout import Layout

TEXT_SIZE, TITLE_SIZE, NOTE_SIZE, RAISED_SIZE = 14, 17, 11, 9
"""The size of letters, of the title, of notes and of raised letters, in pixels."""
ROW_SIZE, GAP, EDGE = 24, 22, 16
"""The height of a row, the space between columns and around the table."""
PIXELS = 2


def png(layout: Layout, title: str | None, converter: Any) -> bytes:
    """Return the table as an image, at twice its size."""
    image: bytes = converter.svg_to_png(svg(layout, title), scale=PIXELS)
    return image


def svg(layout: Layout, title: str | None) -> str:
    """Return the table as an SVG on white."""
    columns = [[Cell(name, bold=True), *cells] for name, cells in zip(layout.header, layout.columns, strict=True)]
    # Raised letters are right of the numbers, so that the digits of a column are aligned.
    raised_widths = [max(text_width(cell.raised, RAISED_SIZE) for cell in column) for column in columns]
    widths = [
        raised_width + max(text_width(cell.text, TEXT_SIZE, bold=cell.bold) for cell in column)
        for raised_width, column in zip(raised_widths, columns, strict=True)
    ]
    right = EDGE + sum(widths) + GAP * (len(widths) - 1)
    notes = [EDGE + text_width(note, NOTE_SIZE) for note in layout.notes]
    total = EDGE + max(right, EDGE + text_width(title or "", TITLE_SIZE, bold=True), *notes, 0)
    top = EDGE if title is None else EDGE + ROW_SIZE + 6
    parts = [] if title is None else [_text(EDGE, EDGE + TEXT_SIZE, title, TITLE_SIZE, bold=True)]
    left: float = EDGE
    for column, raised_width, wide, numeric in zip(columns, raised_widths, widths, layout.numeric, strict=True):
        for row, cell in enumerate(column):
            x = left + wide - raised_width if numeric else left
            y = top + ROW_SIZE * row + 16
            parts.append(_text(x, y, cell.text, TEXT_SIZE, bold=cell.bold, end=numeric))
            parts += [_text(x + 1, y - 6, cell.raised, RAISED_SIZE)] if cell.raised else []
        left += wide + GAP
    bottom = top + ROW_SIZE * (len(layout.rows) + 1)
    parts += [_line(y, right, thick) for y, thick in ((top, 1.5), (top + ROW_SIZE, 1), (bottom, 1.5))]
    for number, note in enumerate(layout.notes, 1):
        parts.append(_text(EDGE, bottom + 16 * number, note, NOTE_SIZE, colour="#555"))
    size = f'width="{total:.0f}" height="{bottom + 16 * len(layout.notes) + EDGE:.0f}"'
    white = '<rect width="100%" height="100%" fill="#fff"/>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{white}{"".join(parts)}</svg>'


def _text(
    x: float, y: float, text: str, size: float, *, bold: bool = False, end: bool = False, colour: str = "#111"
) -> str:
    marks = ' font-weight="bold"' * bold + ' text-anchor="end"' * end
    font = "Liberation Sans, Arial, Helvetica, sans-serif"
    attributes = f'x="{x:.1f}" y="{y:.1f}" font-size="{size}" font-family="{font}" fill="{colour}" xml:space="preserve"'
    return f"<text {attributes}{marks}>{escape(visible(text))}</text>"


def _line(y: float, right: float, thick: float) -> str:
    return f'<path d="M{EDGE} {y + 0.5}H{right:.1f}" stroke="#111" stroke-width="{thick}"/>'
