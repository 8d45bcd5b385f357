"""The colours of verdicts and of models, in charts, reports and terminals."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class VerdictColour:
    """The colours of a verdict. Its word always stands beside them, because some readers cannot see colours."""

    chart: str
    """The colour in charts, whose background may be light or dark: the contrast to both is at least 3."""
    light: str
    """The colour on a light page, for words too."""
    dark: str
    """The colour on a dark page."""
    terminal: str
    """The ANSI codes for terminals."""
    hollow: bool = False
    """Whether marks are rings, so that the verdict differs in grey too."""


VERDICTS = {
    "better": VerdictColour("#008C82", "#00756D", "#4DC3B8", "1;36"),
    "equivalent": VerdictColour("#7C7C7C", "#45454D", "#D8D8DE", "1"),
    "not worse": VerdictColour("#7C7C7C", "#45454D", "#D8D8DE", "1"),
    "worse": VerdictColour("#D55E00", "#B34A00", "#F28C4A", "1;31"),
    "open": VerdictColour("#949494", "#777780", "#93939B", "2", hollow=True),
}
"""Blue-green and vermilion by Okabe and Ito, which colour-blind readers can tell apart; grey for no change."""
MODELS = ("#1F83C6", "#A57C00", "#C266A0", "#7F7F7F", "#8D78D6", "#6E8B1F")
"""The colours of models in charts; no verdict has one of these colours."""
COLUMN = "verdict"
"""The column of verdicts in tables."""


def colours_of(verdict: str | None) -> VerdictColour:
    """Return the colours of a verdict; a missing verdict looks like ``"open"``."""
    return VERDICTS[verdict if verdict in VERDICTS else "open"]


def class_of(verdict: object) -> str:
    """Return the name of a verdict's class in CSS."""
    return str(verdict).replace(" ", "-") if verdict in VERDICTS else "open"


def style_sheet(*, dark: bool) -> str:
    """Return the variables of CSS that hold the colours."""
    return " ".join(
        f"--{class_of(verdict)}: {colour.dark if dark else colour.light};" for verdict, colour in VERDICTS.items()
    )


def with_variables(svg: str) -> str:
    """Return an SVG whose verdicts have the page's colours, as variables of CSS, so they are lighter on dark pages."""
    for verdict, colour in VERDICTS.items():
        svg = svg.replace(colour.chart, f"var(--{class_of(verdict)})")
    return svg


def painted(table: str) -> str:
    """Return a table for a terminal, with the words of its column of verdicts in their colours.

    The column ends where its name in the first line does.
    """
    header, *rows = table.splitlines()
    end = header.rfind(COLUMN) + len(COLUMN)
    return table if end < len(COLUMN) else "\n".join([header, *(_painted(row, end) for row in rows)])


def _painted(row: str, end: int) -> str:
    """Return a row with its verdict in its colour, if one ends at `end` or starts where its column's name starts."""
    for verdict, colour in VERDICTS.items():
        for start in (end - len(verdict), end - len(COLUMN)):
            before = row[:start]
            word = row[start : start + len(verdict)]
            after = row[start + len(verdict) :]
            if word == verdict and before[-1:].isspace() and (not after or after[0].isspace()):
                return f"{before}\x1b[{colour.terminal}m{word}\x1b[0m{after}"
    return row
