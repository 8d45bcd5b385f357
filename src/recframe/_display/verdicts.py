"""The verdicts of a comparison, in sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recframe._display import chart_texts as texts
from recframe._display.cells import number_text
from recframe._display.colours import class_of
from recframe._display.frames import grouped

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

DIGITS = 4
MOST_SEGMENT_NAMES = 5
"""The most segments that a sentence names."""
SENTENCES = {
    "better": "{model} is better than {baseline}",
    "worse": "{model} is worse than {baseline}",
    "not worse": "{model} is not worse than {baseline} by more than the margin",
    "equivalent": "{model} and {baseline} differ by less than the margin",
    "open": "{model} against {baseline}: not decided",
}


@dataclass(frozen=True)
class Line:
    """The verdict by one more metric."""

    kind: str
    word: str
    numbers: str


@dataclass(frozen=True)
class Item:
    """The verdict on a pair of models: by the first metric, then by the other metrics."""

    kind: str
    """The class of the verdict, which gives it a colour."""
    heading: str
    metric: str
    means: tuple[str, ...]
    """The means of the model and of its baseline, if they are known."""
    numbers: str
    missed: str
    """The differences that an open verdict would have missed, or an empty string."""
    segments: str
    """The verdicts in segments, or an empty string."""
    others: Sequence[Line]


def item(rows: Sequence[Mapping[str, Any]], confidence: float, in_segments: InSegments | None = None) -> Item:
    """Return the verdict on one pair of models from its rows, one row for each metric."""
    first, *others = rows
    means = [first.get(name) for name in ("mean", "baseline_mean")]
    return Item(
        kind=class_of(first["verdict"]),
        heading=sentence(first) + (in_segments.contrary(first["verdict"]) if in_segments else ""),
        metric=str(first["metric"]),
        means=() if None in means else tuple(number_text(mean, DIGITS) for mean in means),
        numbers=numbers(first, confidence),
        missed=missed(first),
        segments=in_segments.sentence() if in_segments else "",
        others=[
            Line(class_of(row["verdict"]), row["verdict"] or "not tested", numbers(row, confidence)) for row in others
        ],
    )


def sentence(row: Mapping[str, Any]) -> str:
    """Return the decision of a row of `compare`, without its numbers."""
    names = {side: texts.name_of(row[side]) for side in ("model", "baseline")}
    return SENTENCES.get(row["verdict"], "{model} against {baseline}: not tested").format(**names)


def numbers(row: Mapping[str, Any], confidence: float) -> str:
    """Return the numbers behind a verdict."""
    if row["difference"] is None:
        return f"{row['metric']}: no list has a value under both"
    p = "" if row["p_adjusted"] is None else f"; adjusted p {_p(row['p_adjusted'])}"
    low, high = (None if row[name] is None else number_text(row[name], DIGITS) for name in ("low", "high"))
    interval = "" if low is None or high is None else f", {texts.percent(confidence)} interval {low} to {high}"
    relative = texts.relative_text(row.get("relative"))
    difference = f"{row['difference']:+.{DIGITS}f}" + (f" ({relative})" if relative else "")
    p += "" if row.get("p_margin") is None else f"; p of the margin {_p(row['p_margin'])}"
    return f"{row['metric']} {difference}{interval}{p}; {texts.lists_text(row['lists'])}"


def missed(row: Mapping[str, Any]) -> str:
    """Return which differences an open verdict would mostly have missed, or an empty string."""
    detectable = row.get("detectable")
    if row["verdict"] != "open" or detectable is None:
        return ""
    return f"Open: a difference below {number_text(detectable, 2 if detectable >= 0.1 else 3)} would mostly be missed."  # noqa: PLR2004


@dataclass(frozen=True)
class InSegments:
    """The verdict on a pair of models in each segment, by one metric."""

    per: str
    """The names of the columns of segments."""
    names: Sequence[str]
    rows: Sequence[Mapping[str, Any]]
    higher_is_better: bool

    def contrary(self, verdict: str | None) -> str:
        """Return the segments that contradict the verdict over all lists, as an addition to the headline.

        A segment without a verdict counts too if its interval is on the other side of 0.
        """
        sides = {"better": ("worse",), "worse": ("better",)}.get(str(verdict), ("better", "worse"))
        parts = []
        for side in sides:
            decided = [name for name, row in zip(self.names, self.rows, strict=True) if row["verdict"] == side]
            parts += [f"{side} in {_listed(decided)}"] if decided else []
            leaning = [
                name
                for name, row in zip(self.names, self.rows, strict=True)
                if row["verdict"] == "open" and self._leans(row) == side
            ]
            parts += [f"perhaps {side} in {_listed(leaning)}"] if leaning else []
        return f", but {' and '.join(parts)}" if parts else ""

    def sentence(self) -> str:
        """Return the verdicts in segments."""
        of_verdict = grouped(zip(self.names, self.rows, strict=True), lambda pair: pair[1]["verdict"] or "not tested")
        if len(of_verdict) == 1:
            return f"By {self.per}: {next(iter(of_verdict))} in {_all_of(len(self.names))}."
        parts = [f"{word} in {_listed([name for name, _ in pairs])}" for word, pairs in of_verdict.items()]
        return f"By {self.per}: {'; '.join(parts)}."

    def _leans(self, row: Mapping[str, Any]) -> str:
        """Return the side of 0 that an interval is on, or an empty string."""
        low, high = row["low"], row["high"]
        if low is None or high is None or low <= 0 <= high:
            return ""
        return "better" if (low > 0) == self.higher_is_better else "worse"


def _all_of(segments: int) -> str:
    """Return the words for all segments, such as "both segments"."""
    return {1: "the only segment", 2: "both segments"}.get(segments, f"all {segments} segments")


def _listed(names: Sequence[str]) -> str:
    """Return some names in words."""
    shown = names[:MOST_SEGMENT_NAMES]
    more = len(names) - MOST_SEGMENT_NAMES
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


def _p(value: float) -> str:
    return "below 0.001" if value < 0.001 else f"{value:.3f}"  # noqa: PLR2004
