"""What a comparison decides, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recframe._display import chart_texts as texts
from recframe._display.cells import number_text

if TYPE_CHECKING:
    from collections.abc import Mapping

DIGITS = 4
SENTENCES = {
    "better": "{model} is better than {baseline}",
    "worse": "{model} is worse than {baseline}",
    "not worse": "{model} is not worse than {baseline} by more than the margin",
    "equivalent": "{model} and {baseline} differ by less than the margin",
    "open": "{model} against {baseline}: not decided",
}


def sentence(row: Mapping[str, Any]) -> str:
    """Return the decision of a row of `compare`, without its numbers."""
    names = {side: texts.name_of(row[side]) for side in ("model", "baseline")}
    return SENTENCES.get(row["verdict"], "{model} against {baseline}: not tested").format(**names)


def numbers(row: Mapping[str, Any], confidence: float) -> str:
    """Return the numbers that a decision stands on."""
    if row["difference"] is None:
        return f"{row['metric']}: no list has a value under both"
    p = "" if row["p_adjusted"] is None else f"; adjusted p {_p(row['p_adjusted'])}"
    low, high = (None if row[name] is None else number_text(row[name], DIGITS) for name in ("low", "high"))
    interval = "" if low is None or high is None else f" ({texts.percent(confidence)} interval {low} to {high})"
    difference = f"{row['difference']:+.{DIGITS}f}"
    return f"{row['metric']} {difference}{interval}{p}; {texts.lists_text(row['lists'])}"


def _p(value: float) -> str:
    return "below 0.001" if value < 0.001 else f"{value:.3f}"  # noqa: PLR2004
