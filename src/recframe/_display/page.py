"""The HTML of a report: one file that reads nothing else, light or dark as its reader prefers."""

from __future__ import annotations

from html import escape as escape_marks
from typing import TYPE_CHECKING, Any

from recframe._display.charts import altair
from recframe._display.packages import package
from recframe.errors import visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe._display.cells import Cell
    from recframe._display.layout import Layout

STYLE = """
:root { color-scheme: light dark; --text: #1d1d1f; --back: #ffffff; --line: #d0d0d4; --weak: #5d5d66; }
@media (prefers-color-scheme: dark) { :root { --text: #e8e8ea; --back: #222225; --line: #4a4a50; --weak: #a6a6ae; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: var(--back); max-width: 75rem;
  margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2.2rem; border-bottom: 1px solid var(--line); }
summary h2 { display: inline; border: 0; } details { margin-top: 1.2rem; } summary { cursor: pointer; }
.verdict { border-left: .4rem solid var(--weak); padding: .1rem .9rem; margin: .8rem 0; }
.verdict h3 { font-size: 1.1rem; margin: .2rem 0; } .verdict p { margin: .1rem 0; }
.better { border-color: #00916A; } .worse { border-color: #D55E00; } .not-worse, .equivalent { border-color: #1F83C6; }
.facts { display: flex; flex-wrap: wrap; gap: .4rem 1.6rem; } .facts dt { color: var(--weak); font-size: .8rem; }
.facts dd { margin: 0; }
.table { overflow-x: auto; } .table, figure { margin: 1rem 0; }
figure svg { max-width: 100%; height: auto; overflow: visible; }
figure text { font-family: Arial, "Liberation Sans", Helvetica, "DejaVu Sans Condensed", sans-serif; }
.figures { display: flex; flex-wrap: wrap; gap: 1rem 2rem; }
.figures figure { margin: 0; flex: 0 1 auto; min-width: 0; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .5rem; border-bottom: 1px solid var(--line); text-align: left; white-space: nowrap; }
td.long { white-space: normal; min-width: 16rem; } .number { text-align: right; }
.note, footer { color: var(--weak); font-size: .85rem; margin: .2rem 0; }
pre { font-size: .8rem; white-space: pre-wrap; overflow-wrap: anywhere;
  border-left: 3px solid var(--line); padding-left: .8rem; }
footer { margin-top: 3rem; }
@media (max-width: 45rem) {
  table, tbody { display: block; } thead { display: none; }
  tr { display: grid; grid-template-columns: repeat(auto-fill, minmax(5.5rem, 1fr)); gap: .3rem .6rem;
    padding: .6rem 0; border-bottom: 1px solid var(--line); }
  td, td.number { display: block; padding: 0; border: 0; text-align: left; white-space: normal; }
  td::before { content: attr(data-column); display: block; color: var(--weak); font-size: .75rem; }
  td.long { grid-column: 1 / -1; }
}
@media print {
  @page { size: A4; margin: 12mm; }
  body { margin: 0; max-width: none; font-size: 10pt; } .table { overflow: visible; }
  table { font-size: 6.5pt; } th, td { white-space: normal; padding: .1rem .2rem; min-width: 5.2em; }
  th, .number { overflow-wrap: normal; min-width: 0; } h2 { break-after: avoid; }
  figure, tr, .verdict { break-inside: avoid; } details::details-content { content-visibility: visible; height: auto; }
}
"""
"""On a narrow screen each row of a table is a block of named values, as its columns would not fit."""
MOST_TABLE_ROWS = 60
"""The most rows of a table that are shown at once."""
LONG_TEXT = 60
"""From how many letters on a text may break into lines."""
INK = "currentColor"
LEGEND_COLUMNS = 3
"""The most names side by side below a chart: one row of all would make the chart as wide, and so its texts small."""
LETTER_SIZE = 13
"""The size of letters of charts, which a narrow screen shrinks by a third."""
CHART_STYLE = {
    "background": "transparent",
    "view": {"stroke": "transparent"},
    "title": {"color": INK, "subtitleColor": INK, "fontSize": 15, "subtitleFontSize": LETTER_SIZE},
    "axis": {
        "labelColor": INK, "titleColor": INK, "domainColor": INK, "tickColor": INK,
        "gridColor": INK, "gridOpacity": 0.15, "labelFontSize": LETTER_SIZE, "titleFontSize": LETTER_SIZE,
    },
    # Below a chart, so that a narrow screen need not shrink both.
    "legend": {
        "labelColor": INK, "titleColor": INK, "orient": "bottom", "columns": LEGEND_COLUMNS,
        "labelFontSize": LETTER_SIZE, "titleFontSize": LETTER_SIZE,
    },
    "header": {"labelColor": INK, "titleColor": INK, "labelFontSize": LETTER_SIZE},
    "text": {"fontSize": LETTER_SIZE},
}  # fmt: skip
"""What makes a chart use the page's colour of text, in letters that a phone can show."""


def section(heading: str, html: str, *, folded: bool = False) -> str:
    """Return a heading and its HTML; folded sections open by a click."""
    head = f"<h2>{escape(heading)}</h2>"
    if not folded:
        return f"<section>\n{head}\n{html}\n</section>"
    return f"<section><details>\n<summary>{head}</summary>\n{html}\n</details></section>"


def page(title: str, sections: Sequence[str], footer: str) -> str:
    """Return a page of sections."""
    body = "\n".join(sections)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{escape(title)}</h1>\n"
        f"{body}\n<footer>{escape(footer)}</footer>\n</body>\n</html>\n"
    )


def table_html(layout: Layout) -> str:
    """Return a table with its notes; the rest of a long one is folded."""
    heads = "".join(
        f"<th{_class(number=numeric)}>{escape(name)}</th>"
        for name, numeric in zip(layout.header, layout.numeric, strict=True)
    )
    rows = [f"<tr>{''.join(map(_cell, row, layout.header, layout.numeric))}</tr>" for row in layout.rows]
    notes = "".join(f'<p class="note">{escape(note)}</p>\n' for note in layout.notes)
    shown, rest = rows[:MOST_TABLE_ROWS], rows[MOST_TABLE_ROWS:]
    more = folded(f"{len(rest):,} more rows", _rows_html(heads, rest)) if rest else ""
    return _rows_html(heads, shown) + more + notes


def text_html(text: str) -> str:
    """Return a text in its own lines."""
    return f"<pre>{escape(text)}</pre>"


def paragraph(text: str) -> str:
    """Return a paragraph."""
    return f"<p>{escape(text)}</p>"


def note(text: str) -> str:
    """Return a remark."""
    return f'<p class="note">{escape(text)}</p>'


def item_html(kind: str, heading: str, html: str) -> str:
    """Return a verdict, whose kind gives its edge a colour."""
    return f'<div class="verdict {escape(kind)}"><h3>{escape(heading)}</h3>\n{html}</div>'


def folded(heading: str, html: str) -> str:
    """Return what opens by a click."""
    return f"<details><summary>{escape(heading)}</summary>\n{html}\n</details>"


def facts_html(facts: Mapping[str, str]) -> str:
    """Return names with their values."""
    rows = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in facts.items())
    return f'<dl class="facts">{rows}</dl>'


def figures_html(figures: Sequence[str]) -> str:
    """Return charts, side by side where there is room."""
    return f'<div class="figures">{"".join(figures)}</div>' if figures else ""


def chart_html(chart: Any, name: object) -> str:
    """Return a chart as SVG that uses the page's colour of text; the name tells its parts from other charts'.

    Raises
    ------
    MissingExtraError
        vl-convert is not installed.
    """
    vl_convert = package("vl_convert", "charts as images")
    spec = chart.to_dict(validate=False)
    spec["config"] = {**spec.get("config", {}), **CHART_STYLE}
    version = "_".join(altair().SCHEMA_VERSION.split(".")[:2])
    svg = vl_convert.vegalite_to_svg(spec, vl_version=version)
    for start in (' id="', "url(#"):
        svg = svg.replace(start, f"{start}chart-{name}-")
    return f"<figure>{svg[svg.index('<svg') :]}</figure>"


def escape(text: str) -> str:
    """Return a text as HTML that every browser, and every encoding, accepts."""
    return escape_marks(visible(text, keep="\n\t"))


def _rows_html(heads: str, rows: Sequence[str]) -> str:
    body = "\n".join(rows)
    table = f"<table>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>"
    return f'<div class="table">{table}</div>\n'


def _class(*, number: bool, long: bool = False) -> str:
    return ' class="number"' if number else ' class="long"' if long else ""


def _cell(cell: Cell, column: str, number: bool) -> str:  # noqa: FBT001 - for `map`
    text, name = escape(cell.text), escape(column)
    kind = _class(number=number, long=len(text) > LONG_TEXT)
    raised = f"<sup>{cell.raised}</sup>" if cell.raised else ""
    return f'<td{kind} data-column="{name}">{f"<strong>{text}</strong>" if cell.bold else text}{raised}</td>'
