"""The chart of the ranks of models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recframe._display import chart_texts as texts
from recframe._display import charts, colours
from recframe._display.data import MEANS, Charts, check_means

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import altair as alt

    from recframe.metrics import Metric

MOST_TICKS = 12
"""The most ranks with a number on the axis."""
RANK_ROOM = 0.5
RANK_HEIGHT = 24


class RankCharts(Charts):
    """The charts of `Plot` about ranks."""

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
        plan = call.single_metric_plan("ranks", metric, k, call.options(confidence, cluster))
        from recframe._inference.ranks.rank_models import Options, ranked

        rows = ranked(plan, Options.of(None, confidence=confidence, cluster=cluster, resamples=10_000, seed=0))
        (metric,) = plan.metrics
        check_means((row["rank"] for row in rows), metric.label)
        rows = [row | {"model": texts.name_of(row["model"])} for row in rows]
        return _chart(rows, metric, confidence)


@texts.safe_in_html
def _chart(rows: Sequence[dict[str, Any]], metric: Metric, confidence: float) -> alt.LayerChart:
    """Return a dot with its interval for each model."""
    alt = charts.altair()
    y = charts.names_axis("model:N", None, [row["model"] for row in rows])
    tooltip = charts.tooltip("model:N", "mean:Q", "rank:Q", "rank_low:Q", "rank_high:Q", "lists:Q")
    base = alt.Chart().encode(y=y, tooltip=tooltip)
    # One rank at least on both sides of the only one, and some room around the first and the last dot.
    domain = (1 - RANK_ROOM, max(len(rows), 2) + RANK_ROOM)
    gap = charts.RADIUS * (domain[1] - domain[0]) / charts.WIDTH
    rows = [row | _ends(row, gap) for row in rows]
    step = -(-len(rows) // MOST_TICKS)
    ticks = alt.Axis(values=list(range(1, len(rows) + 1, step)), format="d")
    scale = alt.Scale(domain=domain, nice=False, zero=False)
    x = alt.X("rank:Q", title="rank", scale=scale, axis=ticks)
    colour = colours.MODELS[0]
    filled = alt.condition("datum.tied_with_best", alt.value(colour), alt.value("transparent"))
    over = f"over {texts.lists_text(int(rows[0]['lists']))}; lines: {texts.percent(confidence)} intervals of ranks"
    layers = [
        *(
            base.mark_rule(size=3, color=colour).encode(x=alt.X(f"{start}:Q", scale=scale), x2=alt.X2(f"{end}:Q"))
            for start, end in (("rank_low", "left"), ("right", "rank_high"))
        ),
        base.mark_point(size=charts.DOT, strokeWidth=charts.RING, opacity=1, stroke=colour).encode(x=x, fill=filled),
    ]
    lines = [over, f"filled dots: may be the best; {texts.direction(metric)}"]
    return charts.titled(layers, rows, f"Ranks by {metric.label}", lines, alt.Step(RANK_HEIGHT))


def _ends(row: Mapping[str, Any], gap: float) -> dict[str, float]:
    """Return the ends of the parts of an interval, which leave out the ring of a model that is not the best."""
    away = 0.0 if row["tied_with_best"] else gap
    low, rank, high = row["rank_low"], row["rank"], row["rank_high"]
    return {"left": max(low, rank - away), "right": min(high, rank + away)}
