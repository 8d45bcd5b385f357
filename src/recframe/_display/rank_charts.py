"""The chart of the ranks of models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recframe._display import chart_texts as texts
from recframe._display import charts, colours

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import altair as alt

    from recframe.metrics import Metric

MOST_TICKS = 12
"""The most ranks with a number on the axis."""
RANK_PADDING = 0.5
"""How far the axis goes on before the first rank and after the last one."""
RANK_HEIGHT = 24
"""The height of a model's row, in pixels."""


@texts.safe_in_html
def ranks(
    rows: Sequence[dict[str, Any]], label: str, metric: Metric | None, confidence: float | None
) -> alt.LayerChart:
    """Return a dot with its interval for each model."""
    alt = charts.altair()
    # The best model stands at the top, whatever the order of the result.
    rows = sorted(rows, key=lambda row: (row["rank"] or 0, row["rank_low"] or 0, row["rank_high"] or 0))
    rows = [row | {"model": texts.name_of(row["model"])} for row in rows]
    y = charts.names_axis("model:N", None, [row["model"] for row in rows])
    tooltip = charts.tooltip("model:N", "mean:Q", "rank:Q", "rank_low:Q", "rank_high:Q", "lists:Q")
    base = alt.Chart().encode(y=y, tooltip=tooltip)
    # The axis has two ranks at least, so that it is no single point.
    domain = (1 - RANK_PADDING, max(len(rows), 2) + RANK_PADDING)
    gap = charts.RADIUS * (domain[1] - domain[0]) / charts.WIDTH
    rows = [row | _ends(row, gap) for row in rows]
    step = -(-len(rows) // MOST_TICKS)
    ticks = alt.Axis(values=list(range(1, len(rows) + 1, step)), format="d")
    scale = alt.Scale(domain=domain, nice=False, zero=False)
    x = alt.X("rank:Q", title="rank", scale=scale, axis=ticks)
    colour = colours.MODELS[0]
    filled = alt.condition("datum.tied_with_best", alt.value(colour), alt.value("transparent"))
    over = f"over {texts.lists_text(int(rows[0]['lists']))}; lines: {texts.intervals_text(confidence)} of ranks"
    layers = [
        *(
            base.mark_rule(size=3, color=colour).encode(x=alt.X(f"{start}:Q", scale=scale), x2=alt.X2(f"{end}:Q"))
            for start, end in (("rank_low", "left"), ("right", "rank_high"))
        ),
        base.mark_point(size=charts.DOT, strokeWidth=charts.RING, opacity=1, stroke=colour).encode(x=x, fill=filled),
    ]
    lines = [over, "; ".join(filter(None, ["filled dots: may be the best", texts.direction(metric)]))]
    return charts.titled(layers, rows, f"Ranks by {label}", lines, alt.Step(RANK_HEIGHT))


def _ends(row: Mapping[str, Any], gap: float) -> dict[str, float]:
    """Return where the line of an interval stops left of the dot, and where it goes on right of the dot.

    The line goes through a filled dot, but not through the empty ring of a model that is not tied with the best.
    """
    away = 0.0 if row["tied_with_best"] else gap
    low, rank, high = row["rank_low"], row["rank"], row["rank_high"]
    return {"left": max(low, rank - away), "right": min(high, rank + away)}
