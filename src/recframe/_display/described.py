"""Means with their intervals, read from a result of `describe`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from recframe._display.chart_texts import name_of
from recframe._display.data import NO_MODEL
from recframe._display.frames import rows_of
from recframe._display.model_verdicts import record_of
from recframe.errors import InputError, visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import narwhals as nw

    from recframe.metrics import Metric

IS_DESCRIBED = {"metric", "lists", "mean", "low", "high"}
"""The columns of every result of `describe`."""


@dataclass(frozen=True)
class Mean:
    """The mean of a metric over the lists of a model and segment."""

    segment: tuple[Any, ...]
    model: str
    metric: str
    """The name of the metric, with its cutoff."""
    record: Metric | None
    """The metric, or None if it is a metric of the user's that the call did not name."""
    lists: int
    mean: float | None
    low: float | None
    high: float | None

    @property
    def name(self) -> str:
        """The name of the metric, without its cutoff."""
        return self.metric if self.cutoff is None else self.metric.rpartition("@")[0]

    @property
    def cutoff(self) -> int | None:
        """The cutoff, or None if the metric has none."""
        name, _, cutoff = self.metric.rpartition("@")
        return int(cutoff) if name and cutoff.isdecimal() else None


class Described(NamedTuple):
    """The means in a result of `describe`, and its columns of segments."""

    means: list[Mean]
    per: list[Any]
    """The columns of `per`."""

    @property
    def metrics(self) -> list[str]:
        """The names of the metrics, with their cutoffs."""
        return list(dict.fromkeys(mean.metric for mean in self.means))

    @property
    def segments(self) -> str:
        """The names of the columns of `per`, as a title shows them."""
        return visible(", ".join(map(str, self.per)))


def described(result: nw.DataFrame[Any], records: Mapping[str, Metric], chart: str) -> Described:
    """Return the means of a result of `describe`.

    Raises
    ------
    InputError
        The frame comes from another call.
    """
    if not {*result.columns} >= IS_DESCRIBED:
        shown = ", ".join(map(repr, result.columns))
        msg = f"{chart} draws a result of describe, but the frame has the columns {shown}"
        raise InputError(msg, f"recframe.plot.{chart}(rec.describe(...))")
    per = result.columns[: result.columns.index("metric")]
    means = []
    for row in rows_of(result):
        metric = str(row["metric"])
        numbers = {name: row[name] for name in ("mean", "low", "high")}
        model = name_of(row["model"]) if "model" in row else NO_MODEL
        segment = tuple(row[name] for name in per if name != "model")
        means.append(Mean(segment, model, metric, record_of(metric, records), int(row["lists"] or 0), **numbers))
    return Described(means, [name for name in per if name != "model"])


def means_of_largest_segments(averages: Sequence[Mean], most: int) -> tuple[list[Mean], int]:
    """Return the means of the segments with the most lists, in their order, and how many segments there are."""
    counts: dict[tuple[Any, ...], int] = {}
    for mean in averages:
        counts[mean.segment] = max(counts.get(mean.segment, 0), mean.lists)
    kept = set(sorted(counts, key=lambda segment: -counts[segment])[:most])
    return [mean for mean in averages if mean.segment in kept], len(counts)
