"""The namespace of charts: ``df.rec.plot``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from recframe._base.signatures import checked_call, show_roles
from recframe._call.evaluate import refuse_options
from recframe._display import charts, verdict_charts
from recframe._display.data import (
    BY_SEGMENT,
    MEANS,
    check_means,
    means,
    values_of,
)
from recframe._display.frames import grouped
from recframe._display.overview import html_of_charts, text_of_charts
from recframe._display.rank_charts import RankCharts
from recframe._display.segment_charts import SegmentCharts
from recframe.errors import InputError, OptionError, OptionTypeError, no_attribute, quoted
from recframe.metrics import CutMetric

if TYPE_CHECKING:
    from collections.abc import Sequence

    import altair as alt

    from recframe._display.data import Mean
    from recframe._inference.comparison.describe import Options
    from recframe.metrics import Metric


class Plot(SegmentCharts, RankCharts):
    """The charts of a frame, as ``df.rec.plot``.

    Each method returns a chart of Altair, which you can show, change and save, as in ``chart.save("chart.png")``.
    Charts read the same roles as `describe`, and their intervals are the intervals that `describe` returns. A chart
    holds means, shares or some hundred values, however many lists there are, so it stays small. They need the extra
    ``plot``.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return text_of_charts()

    def _repr_html_(self) -> str:
        return html_of_charts()

    def __dir__(self) -> list[str]:
        return [*PLOTS]

    def __call__(self, *args: Any, **keywords: Any) -> NoReturn:  # noqa: ARG002
        """Raise, and name the charts."""
        msg = f"plot holds the charts {', '.join(PLOTS)}, and is not a chart itself"
        raise OptionTypeError(msg, "plot.curve('ndcg')")

    def __getattr__(self, name: str) -> NoReturn:
        """Raise, and name the chart that was meant."""
        raise no_attribute(name, f"plot has no chart {{!r}}; it has {', '.join(PLOTS)}", PLOTS)

    def curve(
        self,
        metrics: str | Metric | Sequence[str | Metric],
        k: Sequence[int] = range(1, 21),
        *,
        confidence: float = 0.95,
        cluster: str | None = None,
        **roles: Any,
    ) -> alt.LayerChart | alt.ConcatChart:
        """Return metrics over the cutoff, a line with its interval for each model.

        Parameters
        ----------
        metrics : str, Metric or sequence of them
            Metrics that accept a cutoff, without one; each has a panel.
        k : sequence of int
            The cutoffs.
        confidence : float
            The confidence of the intervals, between 0.5 and 1.
        cluster : str, optional
            A column whose values group lists that are not independent, such as the user of sessions.

        Returns
        -------
        altair.LayerChart or altair.ConcatChart
            The chart.

        Examples
        --------
        >>> import polars as pl
        >>> import recframe
        >>> df = pl.DataFrame({"user": [1, 1, 2, 2], "relevant": [0, 1, 1, 0], "score": [0.9, 0.1, 0.8, 0.3]})
        >>> chart = df.rec.plot.curve("recall", k=[1, 2])
        >>> chart.to_dict()["title"]["text"]
        'recall by cutoff'
        """
        call = self._call(roles, MEANS)
        options = call.options(confidence, cluster)
        without = call.plan(metrics).metrics
        for metric in without:
            if not isinstance(metric, CutMetric) or metric.k is not None:
                what = "has a cutoff of its own" if isinstance(metric, CutMetric) else "accepts no cutoff"
                msg = f"curve shows metrics over the cutoff, but {metric.label} {what}"
                raise OptionError(msg, "plot.curve(['ndcg', 'recall'], k=range(1, 21))")
        plan = call.plan(metrics, k, options)
        if any(metric.cutoff is None for metric in plan.metrics):
            msg = f"curve shows metrics over the cutoff, but k={quoted(k)} holds none"
            raise OptionError(msg, "plot.curve(['ndcg', 'recall'], k=range(1, 21))")
        averages = means(plan, options)
        check_means((mean.mean for mean in averages), " or ".join(metric.label for metric in without))
        return charts.curves(averages, options.confidence)

    def distribution(
        self, metric: str | Metric, k: int | None = None, **roles: Any
    ) -> alt.LayerChart | alt.VConcatChart:
        """Return how the values of lists spread: the share of lists in each of 20 bins, a panel for each model.

        Parameters
        ----------
        metric : str or Metric
            One metric that has a value per list.
        k : int, optional
            The cutoff, if the metric names none.

        Returns
        -------
        altair.LayerChart or altair.VConcatChart
            The chart.

        Examples
        --------
        >>> import polars as pl
        >>> import recframe
        >>> df = pl.DataFrame({"user": [1, 1, 2, 2], "relevant": [0, 1, 1, 0], "score": [0.9, 0.1, 0.8, 0.3]})
        >>> chart = df.rec.plot.distribution("mrr")
        >>> chart.to_dict()["title"]["text"]
        'Distribution of mrr'
        """
        plan = self._call(roles, MEANS).single_metric_plan("distribution", metric, k)
        chart: alt.LayerChart | alt.VConcatChart = charts.distribution(values_of(plan))
        return chart

    def differences(self, metric: str | Metric, k: int | None = None, **roles: Any) -> alt.LayerChart:
        """Return the lists sorted by the difference of two models: how many gain, how many lose, and how much.

        Parameters
        ----------
        metric : str or Metric
            One metric that has a value per list.
        k : int, optional
            The cutoff, if the metric names none.

        Returns
        -------
        altair.LayerChart
            The chart of the second model less the first.

        Examples
        --------
        >>> import polars as pl
        >>> import recframe
        >>> df = pl.DataFrame({
        ...     "user": [1, 1, 2, 2], "relevant": [0, 1, 1, 0], "old": [2, 1, 2, 1], "new": [1, 2, 2, 1],
        ... })
        >>> chart = df.rec.plot.differences("mrr", score=["old", "new"])
        >>> chart.to_dict()["title"]["subtitle"][0]
        'new is better in 50%, equal in 50%, worse in 0% of 2 lists'
        """
        plan = self._call(roles, MEANS).single_metric_plan("differences", metric, k)
        return verdict_charts.differences(values_of(plan))

    def tradeoff(
        self,
        x: str | Metric,
        y: str | Metric,
        k: int | None = None,
        *,
        confidence: float = 0.95,
        cluster: str | None = None,
        **roles: Any,
    ) -> alt.LayerChart:
        """Return two metrics against each other, a dot for each model.

        Parameters
        ----------
        x, y : str or Metric
            A metric each, of all lists together (such as ``"coverage"``) as well.
        k : int, optional
            The cutoff of those that name none.
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
        ...     "user": [1, 1, 2, 2], "relevant": [0, 1, 1, 0], "old": [2, 1, 2, 1], "new": [1, 2, 2, 1],
        ... })
        >>> chart = df.rec.plot.tradeoff("mrr", "recall", k=1, score=["old", "new"])
        >>> chart.to_dict()["title"]["text"]
        'recall@1 against mrr@1'
        """
        call = self._call(roles, MEANS)
        options = call.options(confidence, cluster)
        plan = call.plan([x, y], k, options)
        if len(plan.metrics) != 2:  # noqa: PLR2004
            msg = f"tradeoff shows two metrics, but these are {', '.join(map(str, plan.metrics))}"
            raise OptionError(msg, "plot.tradeoff('ndcg', 'coverage', k=10)")
        return tradeoff_of(means(plan, options), plan.metrics, options)

    def power(
        self,
        metric: str | Metric,
        k: int | None = None,
        *,
        difference: float | str,
        power: float = 0.8,
        tests: int | None = None,
        confidence: float = 0.95,
        baseline: str | None = None,
        cluster: str | None = None,
        **roles: Any,
    ) -> alt.LayerChart:
        """Return how surely a difference between models is found, over the number of lists.

        Parameters
        ----------
        metric : str or Metric
            One metric that has a value per list.
        k : int, optional
            The cutoff, if the metric names none.
        difference : float or str
            The true difference to find: a number, or a percentage such as ``"2%"`` of the baseline's mean.
        power : float
            The probability to find it that is wanted, below 1: a line.
        tests : int, optional
            How many tests the decision will have, which Bonferroni's correction counts; None: the pairs of models.
        confidence : float
            The confidence of the comparison, between 0.5 and 1.
        baseline : str, optional
            The model that the others are compared with; without it: all pairs.
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
        ...     "user": [1, 1, 2, 2, 3, 3], "relevant": [0, 1, 1, 0, 0, 1],
        ...     "old": [3, 1, 1, 2, 2, 1], "new": [1, 2, 2, 1, 2, 1],
        ... })
        >>> chart = df.rec.plot.power("mrr", difference=0.1, score=["old", "new"])
        >>> chart.to_dict()["title"]["text"]
        'Power to find a difference of 0.1 in mrr'
        """
        call = self._call(roles, MEANS)
        plan = call.single_metric_plan("power", metric, k, call.options(confidence, cluster))
        from recframe._inference.ranks.sample_size import Options, power_curve

        options = Options.of(
            None, difference=difference, power=power, tests=tests, confidence=confidence, baseline=baseline,
            cluster=cluster,
        )  # fmt: skip
        rows = power_curve(plan, options)
        if not rows:
            msg = (
                f"no pair of models has differences of {plan.metrics[0].label} that vary, so there is no power to draw"
            )
            raise InputError(msg, "compare() shows the differences")
        return charts.power(rows, plan.metrics[0], str(difference), power)


PLOTS = dict.fromkeys(
    ("curve", "distribution", "differences", "power", "ranks", "segments", "trend", "tradeoff"), MEANS
) | dict.fromkeys(("segments", "trend"), BY_SEGMENT)
"""The charts and the roles that each accepts."""
for _name, _roles in PLOTS.items():
    setattr(Plot, _name, checked_call(getattr(Plot, _name), _roles, refuse_options))
    show_roles(getattr(Plot, _name), _roles)


def tradeoff_of(averages: Sequence[Mean], metrics: Sequence[Metric], options: Options) -> alt.LayerChart:
    """Return the chart of two metrics, from their means."""
    rows = []
    for model, pair in grouped(averages, lambda mean: mean.model).items():
        row: dict[str, Any] = {"model": model}
        for name, mean in zip("xy", pair, strict=True):
            row |= {name: mean.mean, f"{name}_low": mean.low, f"{name}_high": mean.high}
        rows.append(row)
    for name, metric in zip("xy", metrics, strict=True):
        check_means((row[name] for row in rows), metric.label)
    return charts.tradeoff(rows, metrics[0], metrics[1], options.confidence)
