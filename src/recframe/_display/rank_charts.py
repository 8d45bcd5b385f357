"""The chart of the ranks of models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recframe._display import chart_texts as texts
from recframe._display import charts
from recframe._display.data import MEANS, Charts, check_means

if TYPE_CHECKING:
    from collections.abc import Sequence

    import altair as alt

    from recframe.metrics import Metric


class RankCharts(Charts):
    """What `Plot` draws of ranks."""

    __slots__ = ()

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
        call = self._call(roles, MEANS)
        plan = call.one("ranks", metric, k, call.options(confidence, cluster))
        from recframe._ranks.rank_models import Options, ranked

        rows = ranked(plan, Options.of(None, confidence=confidence, cluster=cluster, resamples=10_000, seed=0))
        (metric,) = plan.metrics
        check_means((row["rank"] for row in rows), metric.label)
        rows = [row | {"model": texts.name_of(row["model"])} for row in rows]
        return _chart(rows, metric, confidence)


@texts.safe_in_html
def _chart(rows: Sequence[dict[str, Any]], metric: Metric, confidence: float) -> alt.LayerChart:
    """Return a dot with its interval for each model."""
    alt = charts.altair()
    tooltip = ["model:N", "mean:Q", "rank:Q", "rank_low:Q", "rank_high:Q", "lists:Q"]
    y = charts.names_axis("model:N", "model", [row["model"] for row in rows])
    base = alt.Chart().encode(y=y, tooltip=tooltip)
    ticks = alt.Axis(format="d", tickMinStep=1, tickCount=min(len(rows), 10))
    x = alt.X(
        "rank:Q",
        title="rank",
        scale=alt.Scale(domain=[1, len(rows)], padding=10, nice=False, zero=False),
        axis=ticks,
    )
    color = alt.Color(
        "tied_with_best:N",
        title="tied with the best",
        scale=alt.Scale(domain=[True, False], range=[charts.COLOURS[0], charts.COLOURS[-1]]),
        legend=alt.Legend(labelExpr="datum.value ? 'yes' : 'no'", symbolOpacity=1),
    )
    over = f"over {texts.lists_text(int(rows[0]['lists']))}; lines: {texts.percent(confidence)} intervals of ranks"
    layers = [
        base.mark_rule(size=3, opacity=0.6).encode(x=alt.X("rank_low:Q"), x2="rank_high:Q", color=color),
        base.mark_point(filled=True, size=60, opacity=1).encode(x=x, color=color),
    ]
    height = alt.Step(charts.ROW_HEIGHT + 4)
    return charts.titled(layers, rows, f"Ranks by {metric.label}", [over, texts.direction(metric)], height)
