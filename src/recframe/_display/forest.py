"""The forest plot: what `compare` found, a line for each pair of models."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any

from recframe._base.signatures import checked_call
from recframe._display import chart_texts as texts
from recframe._display import charts, verdict_charts
from recframe._display.frames import eager_result, grouped, rows_of
from recframe._display.layout import IS_PAIRED
from recframe._display.model_verdicts import record_of, records_by_name
from recframe.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import altair as alt

    from recframe.metrics import Metric

MOST_PAIRS = 60
"""The most lines of a panel."""


@checked_call
def forest(result: Any, *, metrics: str | Metric | Sequence[str | Metric] = ()) -> alt.LayerChart | alt.VConcatChart:
    """Return the result of `compare` as a chart: differences with their intervals and verdicts.

    Each pair of models, in each segment if there are any, is a line: a dot for the mean difference of the model and
    its baseline, its interval, and the verdict above it, with the relative difference where the result has it. The
    colour is the verdict: blue-green for better, vermilion for worse, grey for what is neither, with a ring instead
    of a dot for open. Each metric is a panel with a dashed line at 0, which is at one place in all panels. The chart
    decides nothing: verdicts, not intervals, follow the adjusted p-values.

    Parameters
    ----------
    result : frame
        What `compare` returned; lazy frames are collected. Of more than 60 pairs of a metric, those with the largest
        differences are drawn.
    metrics : str, Metric or sequence of them
        Metrics of your own that the result holds: they say whether higher is better.

    Returns
    -------
    altair.LayerChart or altair.VConcatChart
        The chart, to show, to change and to save (``chart.save("chart.svg")``).

    Raises
    ------
    InputError
        The frame is no result of `compare`, or no pair has a difference.
    MissingExtraError
        Altair is not installed: the extra ``plot``.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> df = pl.DataFrame({
    ...     "user": [1, 1, 2, 2, 3, 3], "relevant": [0, 1, 1, 0, 0, 1],
    ...     "old": [3, 1, 1, 2, 2, 1], "new": [1, 2, 2, 1, 2, 1],
    ... })
    >>> chart = recframe.forest(df.rec.compare("mrr", score=["old", "new"]))
    >>> chart.to_dict()["title"]["text"]
    'Difference of mrr'
    """
    charts.altair()
    records = records_by_name(metrics)
    rows = rows_of(eager_result(result))
    if not rows or not rows[0].keys() >= IS_PAIRED:
        msg = f"a forest plot shows a result of compare, but these are {len(rows)} rows of other columns"
        raise InputError(msg, "recframe.forest(rec.compare('ndcg', k=10))")
    chart: alt.LayerChart | alt.VConcatChart = chart_of(rows, records)
    return chart


def chart_of(rows: Sequence[Mapping[str, Any]], records: Mapping[str, Metric], zero: float | None = None) -> Any:
    """Return the chart of rows of `compare`, with zero at a share of its width if it is given.

    Raises
    ------
    InputError
        No row has a difference.
    """
    drawn = [row for row in rows if row["difference"] is not None]
    if not drawn:
        msg = "no pair of models has a difference to show"
        raise InputError(msg, "look at the frame with check()")
    by_metric = grouped(drawn, itemgetter("metric"))
    shown = [row for metric_rows in by_metric.values() for row in _largest(metric_rows)]
    pair_count = max(map(len, by_metric.values()))
    notes = []
    if pair_count > MOST_PAIRS:
        notes.append(f"{MOST_PAIRS} of {pair_count:,} pairs, those with the largest differences")
    baselines = {texts.name_of(row["baseline"]) for row in shown}
    sides = ("model", "baseline") if len(baselines) > 1 else ("model",)
    pairs = texts.pair_texts([tuple(texts.name_of(row[side]) for side in sides) for row in shown])
    segments = [tuple(row.values())[: list(row).index("metric")] for row in shown]
    lines = [*map(" · ".join, zip(texts.segment_texts(segments), pairs, strict=True))] if segments[0] else pairs
    chart_rows = [_row(row, line) for row, line in zip(shown, lines, strict=True)]
    against = [f"against {texts.short(baselines.pop())}"] if len(baselines) == 1 else []
    subtitle = [text for text in (", ".join([*against, *_lists(shown)]), *notes) if text]
    return verdict_charts.forest(chart_rows, {name: record_of(name, records) for name in by_metric}, subtitle, zero)


def _largest(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the `MOST_PAIRS` rows with the largest differences, in their order, and rows that equal the last one."""
    least = sorted((abs(row["difference"]) for row in rows), reverse=True)[:MOST_PAIRS][-1]
    return [row for row in rows if abs(row["difference"]) >= least]


def _lists(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a text with the number of lists behind the differences, or no text if the result lacks the number."""
    counts = [row["lists"] for row in rows if row.get("lists") is not None]
    return [texts.range_text(counts)] if counts else []


def _row(row: Mapping[str, Any], pair: str) -> dict[str, Any]:
    """Return a row as chart data; its name is made of its segment and pair."""
    chosen = ("metric", "difference", "low", "high", "verdict", "lists")
    text = f"{row['verdict'] or 'not tested'} {texts.relative_text(row.get('relative'))}".rstrip().replace("-", "−")
    return {name: row[name] for name in chosen if name in row} | {"pair": pair, "text": text}
