"""A table as a sheet of Excel, with numbers that hold all digits."""

from __future__ import annotations

from io import BytesIO
from math import isfinite
from typing import TYPE_CHECKING, Any

from recframe._display.cells import Cell, with_letters
from recframe._display.markdown import width
from recframe.errors import visible

if TYPE_CHECKING:
    from recframe._display.layout import Layout


def xlsx(layout: Layout, title: str | None, digits: int, writer: Any) -> bytes:
    """Return a workbook with the table."""
    data = BytesIO()
    book = writer.Workbook(data, {"in_memory": True})
    sheet = book.add_worksheet()
    decimals = f"#,##0.{'0' * digits}" if digits else "#,##0"
    if title is not None:
        sheet.write_string(0, 0, visible(title), book.add_format({"bold": True, "font_size": 14}))
    top = 0 if title is None else 2
    for number, (name, cells, numeric) in enumerate(zip(layout.header, layout.columns, layout.numeric, strict=True)):
        side = {"align": "right" if numeric else "left"}
        sheet.write_string(top, number, visible(name), book.add_format({"bold": True, "bottom": 1, **side}))
        for row, cell in enumerate(cells, top + 1):
            style = {"bold": cell.bold, **side}
            if cell.value is None or cell.raised or not isfinite(cell.value):
                sheet.write_string(row, number, visible(with_letters(cell, cell.text)), book.add_format(style))
            else:
                style["num_format"] = "#,##0" if isinstance(cell.value, int) else decimals
                sheet.write_number(row, number, cell.value, book.add_format(style))
        sheet.set_column(number, number, 2 + max(width(with_letters(cell, cell.text)) for cell in (Cell(name), *cells)))
    sheet.freeze_panes(top + 1, 0)
    for row, note in enumerate(layout.notes, top + 2 + len(layout.rows)):
        sheet.write_string(row, 0, visible(note))
    book.close()
    return data.getvalue()
