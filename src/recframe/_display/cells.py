"""The cells of tables: numbers, intervals and marks as texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

STARS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))
"""The marks of adjusted p-values below a significance level."""
MISSING_SIGN = "–"
SAME_HALVES = 1e-6
"""The relative difference below which the two halves of an interval count as equal."""
LARGE = 1e15
"""Larger numbers are written with an exponent, because a float does not hold all of their digits."""
RAISED = dict(zip(map(ord, "abcdefghijklmnoprstuvwxyz*"), map(ord, "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ∗"), strict=True))
"""Letters and the star with their raised forms, for `str.translate`; there is no raised q."""


@dataclass(frozen=True)
class Cell:
    """A text of a table, and its number if it is nothing else."""

    text: str
    bold: bool = False
    raised: str = ""
    """The letters of the models that a value is better than, or stars."""
    value: float | None = None


def with_letters(cell: Cell, text: str) -> str:
    """Return the text of a cell with its raised letters."""
    return text + cell.raised.translate(RAISED)


def is_missing(value: Any) -> bool:
    """Return whether the value is missing."""
    return value is None or value != value  # noqa: PLR0124 - NaN


def number_text(value: Any, digits: int) -> str:
    """Return the text of a number in tables."""
    if is_missing(value):
        return MISSING_SIGN
    # The sign of a zero, `z`, is left out: a value that is rounded to 0 is neither above nor below.
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:z.{digits}f}" if abs(value) < LARGE else f"{value:.{digits}e}"


def number_cell(value: Any, digits: int, *, bold: bool = False) -> Cell:
    """Return the cell of a number."""
    text = number_text(value, digits)
    return Cell(text, bold, value=None if text == MISSING_SIGN else value)


def label_text(value: Any) -> str:
    """Return the text of a value that identifies a row."""
    return MISSING_SIGN if is_missing(value) else str(value)


def interval_text(low: Any, high: Any, digits: int) -> str:
    """Return the text of an interval, with both ends."""
    texts = number_text(low, digits), number_text(high, digits)
    return MISSING_SIGN if MISSING_SIGN in texts else "[{}, {}]".format(*texts)


def plus_minus_text(value: Any, low: Any, high: Any, digits: int) -> str:
    """Return a number with its interval: by one half if both are equal, otherwise by both."""
    text = number_text(value, digits)
    if MISSING_SIGN in (text, interval_text(low, high, digits)):
        return text
    above, below = high - value, value - low
    texts = number_text(above, digits), number_text(below, digits)
    if texts[0] == texts[1] or abs(above - below) <= SAME_HALVES * (above + below):
        return f"{text} ± {texts[0]}"
    return "{} +{}/-{}".format(text, *texts)


def stars_of(p: Any) -> str:
    """Return the marks of an adjusted p-value."""
    return "" if p is None else next((stars for level, stars in STARS if p < level), "")


def p_text(value: Any) -> str:
    """Return an adjusted p-value with its marks."""
    text = number_text(value, 3)
    if text == MISSING_SIGN:
        return text
    text = "<0.001" if value < STARS[0][0] else text
    return f"{text} {stars_of(value)}".strip()
