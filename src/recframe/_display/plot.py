"""The namespace of charts: ``df.rec.plot``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from recframe._base.defaults import current
from recframe._base.signatures import checked_call, show_roles
from recframe._base.values import check_names, whole_number
from recframe._call.evaluate import expand, refuse_options
from recframe._display import charts, result_charts, verdict_charts
from recframe._display.data import BY_SEGMENT, MEANS, check_single, values_of
from recframe._display.described import described
from recframe._display.frames import eager_result, rows_of
from recframe._display.overview import html_of_charts, text_of_charts
from recframe._display.result_charts import MOST_SEGMENTS
from recframe._plan.request import Request
from recframe.errors import InputError, OptionError, OptionTypeError, no_attribute, quoted
from recframe.metrics import CutMetric

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import altair as alt
    import narwhals as nw

    from recframe._display.data import Values
    from recframe._display.described import Described
    from recframe.metrics import Metric


class Plot:
    """The charts of a frame, as ``df.rec.plot``.

    Each method returns a chart of Altair, which you can show, change and save, as in ``chart.save("chart.png")``.
    Charts read the same roles as `describe`, and their intervals are the intervals that `describe` returns. A chart
    holds means, shares or some hundred values, however many lists there are, so it stays small. They need the extra
    ``plot``.
    """

    __slots__ = ("_bound", "_frame", "_kind")

    def __init__(self, kind: Any, frame: Any, bound: Mapping[str, Any]) -> None:
        self._kind, self._frame, self._bound = kind, frame, bound

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

    def _records(self, metrics: Any, k: Any, roles: Mapping[str, Any]) -> dict[str, Metric]:
        """Return the metrics of a call by the names that its result gives them."""
        charts.altair()
        like = {**current(), **self._bound, **roles}.get("like")
        return {spec.name: spec.metric for spec in expand(metrics, k, like)}

    def _roles(self, roles: Mapping[str, Any], allowed: tuple[str, ...]) -> dict[str, Any]:
        """Return the bound roles that a chart reads, after a check of the roles of its call."""
        check_names(roles, allowed)
        return {name: value for name, value in self._bound.items() if name in allowed}

    def _result(
        self, call: str, allowed: tuple[str, ...], metrics: Any, k: Any, roles: Mapping[str, Any], **options: Any
    ) -> nw.DataFrame[Any]:
        """Return the result of a call of the accessor."""
        rec = self._kind(self._frame, self._roles(roles, allowed))
        return eager_result(getattr(rec, call)(metrics, k, **options, **roles))

    def _values(self, chart: str, metric: Any, k: Any, roles: Mapping[str, Any]) -> Values:
        """Return the values of lists under one metric."""
        self._single(chart, metric, k, roles)
        return values_of(Request(self._frame, self._roles(roles, MEANS), roles), metric, k)

    def _single(self, chart: str, metric: Any, k: Any, roles: Mapping[str, Any]) -> tuple[str, Metric]:
        """Return the only metric of a call and its name."""
        records = self._records(metric, k, roles)
        check_single([*records], chart, f"plot.{chart}({next(iter(records), 'ndcg@10')!r})")
        return next(iter(records.items()))

    def _described(
        self, chart: str, allowed: tuple[str, ...], metrics: Any, k: Any, roles: Mapping[str, Any], **options: Any
    ) -> Described:
        """Return the means that a chart draws."""
        records = self._records(metrics, k, roles)
        return described(self._result("describe", allowed, metrics, k, roles, **options), records, chart)

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
        for metric in self._records(metrics, None, roles).values():
            if not isinstance(metric, CutMetric) or metric.k is not None:
                what = "has a cutoff of its own" if isinstance(metric, CutMetric) else "accepts no cutoff"
                msg = f"curve shows metrics over the cutoff, but {metric.label} {what}"
                raise OptionError(msg, "plot.curve(['ndcg', 'recall'], k=range(1, 21))")
        if any(metric.cutoff is None for metric in self._records(metrics, k, roles).values()):
            msg = f"curve shows metrics over the cutoff, but k={quoted(k)} holds none"
            raise OptionError(msg, "plot.curve(['ndcg', 'recall'], k=range(1, 21))")
        description = self._described("curve", MEANS, metrics, k, roles, confidence=confidence, cluster=cluster)
        return result_charts.curve_chart(description, confidence)

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
        values = self._values("distribution", metric, k, roles)
        chart: alt.LayerChart | alt.VConcatChart = charts.distribution(values)
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
        return verdict_charts.differences(self._values("differences", metric, k, roles))

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
        hint = "plot.tradeoff({!r}, {!r})"
        description = self._described("tradeoff", MEANS, [x, y], k, roles, confidence=confidence, cluster=cluster)
        return result_charts.tradeoff_chart(description, confidence, hint)

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
        description = self._described("segments", BY_SEGMENT, metric, k, roles, confidence=confidence, cluster=cluster)
        return result_charts.segment_chart(description, confidence, result_charts.HINTS_OF_FRAMES, most)

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
        description = self._described("trend", BY_SEGMENT, metric, k, roles, confidence=confidence, cluster=cluster)
        return result_charts.trend_chart(description, confidence, result_charts.HINTS_OF_FRAMES)

    def ranks(
        self,
        metric: str | Metric,
        k: int | None = None,
        *,
        confidence: float = 0.95,
        cluster: str | None = None,
        **roles: Any,
    ) -> alt.LayerChart:
        """Return the rank of each model with the ranks that it may have, the best model first.

        Parameters
        ----------
        metric : str or Metric
            One metric that has a value per list.
        k : int, optional
            The cutoff, if the metric names none.
        confidence : float
            The probability that all models have a true rank within their interval, between 0 and 1.
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
        >>> chart = df.rec.plot.ranks("mrr", score=["old", "new"])
        >>> chart.to_dict()["title"]["text"]
        'Ranks by mrr'
        """
        name, record = self._single("ranks", metric, k, roles)
        frame = self._result("rank_models", MEANS, metric, k, roles, confidence=confidence, cluster=cluster)
        return result_charts.rank_chart(
            frame, rows_of(frame), {name: record}, confidence, result_charts.HINTS_OF_FRAMES
        )

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
        from recframe._inference.ranks.calls import power_curve

        _, record = self._single("power", metric, k, roles)
        options = {
            "difference": difference, "power": power, "tests": tests, "confidence": confidence, "baseline": baseline,
            "cluster": cluster,
        }  # fmt: skip
        rows = power_curve(Request(self._frame, self._roles(roles, MEANS), roles), metric, k, options)
        if not rows:
            msg = f"no pair of models has differences of {record.label} that vary, so there is no power to draw"
            raise InputError(msg, "compare() shows the differences")
        return charts.power(rows, record, str(difference), power)


PLOTS = dict.fromkeys(
    ("curve", "distribution", "differences", "power", "ranks", "segments", "trend", "tradeoff"), MEANS
) | dict.fromkeys(("segments", "trend"), BY_SEGMENT)
"""The charts and the roles that each accepts."""
for _name, _roles in PLOTS.items():
    setattr(Plot, _name, checked_call(getattr(Plot, _name), _roles, refuse_options))
    show_roles(getattr(Plot, _name), _roles)
