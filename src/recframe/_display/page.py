"""The HTML of a report: one file that reads nothing else, light or dark as its reader prefers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recframe._display import colours
from recframe._display.charts import altair
from recframe._display.packages import package
from recframe.errors import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._display.layout import Layout

FOLDER = Path(__file__).parent
"""The folder of the template and its style sheet."""
MOST_TABLE_ROWS = 60
"""The most rows of a table that are shown at once."""
MOST_VERDICTS = 12
"""The most pairs of models whose verdicts are shown at once."""
LONG_TEXT = 60
"""The least number of letters from which a text may wrap."""
INK = "currentColor"
LEGEND_COLUMNS = 3
"""The most names in one row below a chart. A row of all names would be wide, so the page would shrink the texts."""
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


@dataclass(frozen=True)
class Section:
    """A part of a page: its heading, and what stands below."""

    id: str
    """The name of the section in addresses."""
    heading: str
    items: Sequence[Any] = ()
    """Verdicts."""
    notes: Sequence[str] = ()
    charts: Sequence[Any] = ()
    layout: Layout | None = None
    """The table of the section."""
    texts: Sequence[str] = ()
    """Texts that keep their lines."""
    empty: str = ""
    """The text to show instead of a table."""
    folded: bool = False
    """Whether a click opens the section."""


@dataclass(frozen=True)
class Page:
    """The content of a page. Texts are plain, because the template escapes them."""

    title: str
    facts: Sequence[str]
    """What the page is about, in one line."""
    sections: Sequence[Section]
    footer: str
    alarms: Sequence[Any] = ()
    """Findings that stand above the verdicts."""
    alarm_kind: str = ""
    alarm_count: str = ""


def html_of(page: Page) -> str:
    """Return a page as HTML that every browser, and every encoding, accepts."""
    text: str = _template().render(
        vars(page), style=_style(), most_rows=MOST_TABLE_ROWS, most_items=MOST_VERDICTS, long=LONG_TEXT
    )
    return text.lstrip()


def chart_svg(chart: Any, name: object) -> Any:
    """Return a chart as SVG in the page's colours. Its ids contain `name`, so that they differ from other charts' ids.

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
    return _markup(colours.with_variables(svg[svg.index("<svg") :]))


@cache
def _template() -> Any:
    """Return the template, which escapes every value that is not marked as HTML."""
    jinja = package("jinja2", "reports")
    environment = jinja.Environment(
        loader=jinja.FileSystemLoader(FOLDER), autoescape=True, trim_blocks=True, lstrip_blocks=True,
        finalize=_shown, undefined=jinja.StrictUndefined,
    )  # fmt: skip
    environment.globals["class_of"] = colours.class_of
    return environment.get_template("report.html")


def _shown(value: Any) -> Any:
    """Return a value as the page shows it: without control characters."""
    return value if hasattr(value, "__html__") else visible(str(value), keep="\n\t")


def _style() -> Any:
    """Return the style sheet with the colours of verdicts."""
    rules = (FOLDER / "report.css").read_text(encoding="utf-8")
    light, dark = (colours.style_sheet(dark=dark) for dark in (False, True))
    variables = f":root {{ {light} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"
    return _markup(f"\n{variables}{rules}")


def _markup(html: str) -> Any:
    """Return our own HTML, which is not escaped."""
    return package("markupsafe", "reports").Markup(html)
