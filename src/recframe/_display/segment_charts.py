"""The charts by `per`: of segments, and over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recframe._base.values import whole_number
from recframe._display import charts
from recframe._display.data import BY_SEGMENT, Charts, check_means, means, most_lists
from recframe.errors import InputError, OptionError, visible

if TYPE_CHECKING:
    import altair as alt

    from recframe._display.data import Call, Mean
    from recframe._inference.comparison.describe import Options
    from recframe.metrics import Metric

MOST_SEGMENTS = 30
MOST_MOMENTS = 1000


class SegmentCharts(Charts):
    """The charts of `Plot` by segment."""

    __slots__ = ()

    def segments(
        self,
        metric: str | Metric,
        k: int | None = None,
        *,
        most: int = MOST_SEGMENTS,
        confidence: float = 0.95,
        cluster: str | None = None,
        **roles: Any,
    ) -> alt.LayerChart:
        """Return a dot with its interval for each segment and model.

        Parameters
        ----------
        metric : str or Metric
            One metric that has a value per list.
        k : int, optional
            The cutoff, if the metric names none.
        most : int
            How many segments to show at most: those with the most lists.
        confidence : float
            The confidence of the intervals, between 0.5 and 1.
        cluster : str, optional
            A column whose values group lists that are not independent, such as the user of sessions.

        Returns
        -------
        altair.LayerChart
            The chart.

        Examples
        --------
        >>> import polars as pl
        >>> import recframe
        >>> df = pl.DataFrame({
        ...     "user": [1, 1, 2, 2], "country": ["at", "at", "be", "be"],
        ...     "relevant": [0, 1, 1, 0], "score": [2, 1, 2, 1],
        ... })
        >>> chart = df.rec.plot.segments("mrr", per="country")
        >>> chart.to_dict()["title"]["text"]
        'mrr by country'
        """
        most = whole_number("most", most, f"most={MOST_SEGMENTS}")
        call = self._call(roles, BY_SEGMENT)
        options = call.options(confidence, cluster)
        return segments_of(*by_segment("segments", call, metric, k, options), options, most)

    def trend(
        self,
        metric: str | Metric,
        k: int | None = None,
        *,
        confidence: float = 0.95,
        cluster: str | None = None,
        **roles: Any,
    ) -> alt.LayerChart:
        """Return a metric over time, a line with its interval for each model.

        Parameters
        ----------
        metric : str or Metric
            One metric that has a value per list.
        k : int, optional
            The cutoff, if the metric names none.
        confidence : float
            The confidence of the intervals, between 0.5 and 1.
        cluster : str, optional
            A column whose values group lists that are not independent, such as the user of sessions.

        Returns
        -------
        altair.LayerChart
            The chart over the one column of `per`: dates, times, numbers, or texts in their order.

        Examples
        --------
        >>> import polars as pl
        >>> import recframe
        >>> df = pl.DataFrame({
        ...     "user": [1, 1, 2, 2], "week": [1, 1, 2, 2], "relevant": [0, 1, 1, 0], "score": [2, 1, 2, 1],
        ... })
        >>> chart = df.rec.plot.trend("mrr", per="week")
        >>> chart.to_dict()["title"]["text"]
        'mrr by week'
        """
        call = self._call(roles, BY_SEGMENT)
        options = call.options(confidence, cluster)
        return trend_of(*by_segment("trend", call, metric, k, options), options)


def segments_of(averages: list[Mean], name: str, options: Options, most: int = MOST_SEGMENTS) -> alt.LayerChart:
    """Return the chart of the segments with the most lists."""
    kept, of = most_lists(averages, most)
    return charts.segments(kept, options.confidence, name, of)


def trend_of(averages: list[Mean], name: str, options: Options) -> alt.LayerChart:
    """Return the chart over time."""
    if len(averages[0].segment) > 1:
        msg = f"trend shows one column over time, but per= names {name}"
        raise OptionError(msg, "per='date'; filter the frame for one segment")
    if len({mean.segment for mean in averages}) > MOST_MOMENTS:
        msg = f"per={name!r} has more than {MOST_MOMENTS:,} values, too many for a chart"
        raise InputError(msg, "round times to days or weeks first: pl.col('time').dt.truncate('1d')")
    return charts.trend(averages, options.confidence, name)


def by_segment(name: str, call: Call, metric: Any, k: Any, options: Options) -> tuple[list[Mean], str]:
    """Return the means of one metric by segment, and the name of the columns of `per`."""
    plan = call.single_metric_plan(name, metric, k, options)
    per = plan.context.query.per
    if not per:
        msg = f"{name} shows segments, but per= is not given"
        raise OptionError(msg, f"plot.{name}('ndcg@10', per='{'date' if name == 'trend' else 'country'}')")
    averages = means(plan, options)
    check_means((mean.mean for mean in averages), plan.metrics[0].label)
    return averages, visible(", ".join(map(str, per)))
