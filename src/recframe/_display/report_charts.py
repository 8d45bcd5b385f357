"""The charts of a report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recframe._display import chart_dates, charts, verdict_charts
from recframe._display.chart_texts import name_of
from recframe._display.result_charts import (
    HINTS_OF_FRAMES,
    MOST_SEGMENTS,
    curve_chart,
    segment_chart,
    tradeoff_chart,
    trend_chart,
)
from recframe.metrics import CutMetric
from recframe.metrics._beyond_accuracy import ExposureMetric

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from recframe._display.data import Values
    from recframe._display.described import Described
    from recframe._display.report_query import ReportQuery
    from recframe.metrics import Metric

CURVE, CURVE_CUTOFFS = 20, 10
"""The last cutoff of a curve unless the call has a later one, and how many cutoffs to add to the call's own."""
MOST_CHARTS = 5
"""The most models beside the baseline with charts of their lists."""
MOST_DOTS = 120
"""The most dots in the chart of segments, with one line each."""


def charts_of(report: ReportQuery) -> Iterator[Any]:
    """Yield the chart over cutoffs, and the charts for the first metric that has a value per list."""
    confidence = report.options.confidence
    yield from _cutoff_charts(report)
    by_list = report.metrics_with_means(report.list_metrics)
    if not by_list:
        return
    first = by_list[0]
    yield from _list_charts(report, first)
    if report.per is not None:
        description = report.means_of([first], per=report.per)
        most = max(3, MOST_DOTS // max(len(report.models), 1))
        yield segment_chart(description, confidence, HINTS_OF_FRAMES, min(most, MOST_SEGMENTS))
        if _is_time(description):
            yield trend_chart(description, confidence, HINTS_OF_FRAMES)
    others = [metric for metric in report.metrics_with_means(report.metrics) if metric != first]
    if others and len(report.models) > 1:
        together = [metric for metric in others if metric not in report.list_metrics]
        yield tradeoff_chart(report.means_of([first, (together or others)[0]]), confidence, "")


def _cutoff_charts(report: ReportQuery) -> Iterator[Any]:
    """Yield the chart over cutoffs, if a metric cuts each list."""
    cut = [spec for spec in report.specs if cuts_each_list(spec.metric)]
    if cut:
        named = {spec.metric.cutoff or 1 for spec in cut}
        last = max(CURVE, *named)
        cutoffs = sorted(named | {round(1 + step * (last - 1) / (CURVE_CUTOFFS - 1)) for step in range(CURVE_CUTOFFS)})
        without = {spec.at(None).name: spec.at(None).as_named for spec in cut}
        description = report.means_of(list(without.values()), cutoffs)
        if any(mean.mean is not None for mean in description.means):
            yield curve_chart(description, report.options.confidence, columns=1)


def cuts_each_list(metric: Metric) -> bool:
    """Return whether a metric cuts each list at k. Metrics of all lists together, such as coverage, are not meant."""
    return isinstance(metric, CutMetric) and not isinstance(metric, ExposureMetric)


def _list_charts(report: ReportQuery, metric: str | Metric) -> Iterator[Any]:
    """Yield the charts of the values of lists: their distribution, and their differences from the baseline."""
    by_model = report.list_values(metric)
    baseline = 0 if report.baseline is None else by_model.models.index(name_of(report.baseline))
    others = _best(by_model, [number for number in range(len(by_model.models)) if number != baseline])
    shown = by_model.of(sorted([baseline, *others]))
    yield charts.distribution(shown)
    for number in others:
        pair = by_model.of([baseline, number])
        if pair.shared:
            yield verdict_charts.differences(pair)


def _best(by_model: Values, numbers: Sequence[int]) -> list[int]:
    """Return the numbers of the models with the best means, as many as get charts."""
    sign = 1 if by_model.metric.higher_is_better else -1
    signed = {number: sign * mean for number, mean in enumerate(by_model.means.values()) if mean is not None}
    best = sorted(signed.keys() & set(numbers), key=lambda number: -signed[number])
    return sorted(best[:MOST_CHARTS])


def _is_time(description: Described) -> bool:
    """Return whether segments are values of one column of dates or times."""
    kind, _ = chart_dates.axis_positions([mean.segment[0] for mean in description.means])
    return len(description.per) == 1 and kind == "T"
