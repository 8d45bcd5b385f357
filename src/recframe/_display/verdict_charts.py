"""The charts of comparisons, in the colours of the verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recframe._display import chart_texts as texts
from recframe._display import charts
from recframe._display.colours import VERDICTS, colours_of
from recframe._display.data import sorted_differences
from recframe._display.labels import LABEL_SIZE, text_width

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import altair as alt

    from recframe._display.data import Values
    from recframe.metrics import Metric

FOREST_WIDTH = 350
"""The width of a forest plot, which a phone shows in full: names stand above their lines, not beside them."""
FOREST_ROW = 38
TEXT_ABOVE = 13
"""The distance of texts above their lines."""
DASHES = [FOREST_ROW - 13, 13]
"""The dashes of vertical lines, one for each row from below, so that they leave out the texts."""
AXIS_MARGIN = 0.04
"""The margin on both sides of an axis, as a share of it, so that a dashed line at its end is visible."""


@texts.safe_in_html
def forest(
    rows: Sequence[dict[str, Any]],
    metrics: Mapping[str, Metric | None],
    subtitle: Sequence[str],
    zero: float | None = None,
) -> Any:
    """Return differences with their intervals and verdicts, a line for each pair of models, a panel for each metric.

    Zero is at one place in all panels: at this share of their width, if it is given.
    """
    by_metric = {name: [row for row in rows if row["metric"] == name] for name in metrics}
    zero = zero_of(by_metric.values()) if zero is None else zero
    widest = max(
        text_width(row["pair"], LABEL_SIZE) + text_width(row["text"], LABEL_SIZE, bold=True) + 24 for row in rows
    )
    width = max(FOREST_WIDTH, round(widest))
    panels = [
        _panel(drawn, metrics[name], subtitle if number == 0 else (), width, domain_of(drawn, zero))
        for number, (name, drawn) in enumerate(by_metric.items())
    ]
    return panels[0] if len(panels) == 1 else charts.altair().vconcat(*panels)


def zero_of(panels: Any) -> float:
    """Return the share of the width at which zero stands in all panels, so that each of them is well filled."""
    left = right = 0.0
    for rows in panels:
        least, most = _ends(rows)
        size = max(-least, most) or 1.0
        left, right = max(left, -least / size), max(right, most / size)
    return left / (left + right) if left + right else 0.5


def domain_of(rows: Sequence[Mapping[str, Any]], zero: float) -> tuple[float, float]:
    """Return the ends of an axis that holds all differences with their intervals, and zero at a share of its width."""
    least, most = _ends(rows)
    zero = min(max(zero, AXIS_MARGIN), 1 - AXIS_MARGIN)
    span = max(-least / zero, most / (1 - zero)) * (1 + 2 * AXIS_MARGIN) or 1.0
    return -span * zero, span * (1 - zero)


def _ends(rows: Sequence[Mapping[str, Any]]) -> tuple[float, float]:
    """Return the least and the greatest number of a panel, or 0."""
    numbers = [row[name] for row in rows for name in ("difference", "low", "high") if row[name] is not None]
    return min([0.0, *numbers]), max([0.0, *numbers])


def _panel(
    rows: Sequence[dict[str, Any]],
    metric: Metric | None,
    subtitle: Sequence[str],
    width: int,
    domain: tuple[float, float],
) -> Any:
    """Return the lines of one metric."""
    alt = charts.altair()
    name = rows[0]["metric"]
    gap = charts.RADIUS * (domain[1] - domain[0]) / width
    drawn = [row | _line_style(row, gap) for row in rows]
    axis = alt.Axis(
        grid=False, domain=False, ticks=False, labelAlign="left", labelPadding=0, labelOffset=-TEXT_ABOVE,
        labelLimit=2 * texts.LABEL_WIDTH, labelFontSize=LABEL_SIZE,
    )  # fmt: skip
    # A comparison has numbers of lists with details only.
    counted = ["lists:Q"] if "lists" in rows[0] else []
    colours = alt.Scale(domain=list(VERDICTS), range=[colour.chart for colour in VERDICTS.values()])
    colour = alt.Color("shown_verdict:N", scale=colours, legend=None)
    base = alt.Chart(charts.data_of(drawn)).encode(
        y=alt.Y("pair:N", title=None, sort=list(dict.fromkeys(row["pair"] for row in drawn)), axis=axis),
        color=colour,
        tooltip=charts.tooltip("pair:N", "difference:Q", "low:Q", "high:Q", "verdict:N", *counted),
    )
    scale = alt.Scale(domain=domain, nice=False)
    ticks = alt.Axis(tickCount=5, gridDash=DASHES)
    x = alt.X("difference:Q", title=f"difference of {name}", axis=ticks, scale=scale)
    filled = alt.condition(
        "datum.hollow", alt.value("transparent"), alt.Fill("shown_verdict:N", scale=colours, legend=None)
    )
    zero = alt.Chart(charts.data_of([{"zero": 0}])).mark_rule(
        color=charts.GREY, strokeDash=DASHES, strokeDashOffset=DASHES[0], strokeWidth=1.5
    )
    layers = [
        zero.encode(x=alt.X("zero:Q", scale=scale)),
        *(
            base.mark_rule(size=3).encode(x=alt.X(f"{start}:Q", scale=scale), x2=alt.X2(f"{end}:Q"))
            for start, end in (("low", "left"), ("right", "high"))
        ),
        base.mark_point(size=charts.DOT, strokeWidth=charts.RING, opacity=1).encode(
            x=x, stroke=alt.Stroke("shown_verdict:N", scale=colours, legend=None), fill=filled
        ),
        base.mark_text(align="right", baseline="middle", dy=-TEXT_ABOVE, fontWeight="bold", fontSize=LABEL_SIZE).encode(
            text=alt.Text("text:N"), x=alt.value(width)
        ),
    ]
    better = [texts.direction(metric)] if metric is not None else []
    title = charts.title_of(f"Difference of {name}", [*subtitle, *better])
    # Without a frame, which the first name would touch.
    view = alt.ViewBackground(stroke=None)
    return alt.layer(*layers).properties(width=width, height=alt.Step(FOREST_ROW), title=title, view=view)


def _line_style(row: Mapping[str, Any], gap: float) -> dict[str, Any]:
    """Return the style of a line; the interval of a ring leaves out the middle of the ring."""
    colours = colours_of(row["verdict"])
    at, low, high = row["difference"], row["low"], row["high"]
    away = gap if colours.hollow else 0.0
    ends = {
        "left": low if low is None else max(low, at - away),
        "right": high if high is None else min(high, at + away),
    }
    known = row["verdict"] if row["verdict"] in VERDICTS else "open"
    return {**ends, "shown_verdict": known, "hollow": colours.hollow}


@texts.safe_in_html
def differences(pair: Values) -> alt.LayerChart:
    """Return the sorted differences of two models, list by list: gains and losses have the colours of verdicts."""
    alt = charts.altair()
    differences_by_list = sorted_differences(pair)
    metric, (baseline, model) = pair.metric, pair.models
    colours = [VERDICTS["better"].chart, VERDICTS["worse"].chart][:: 1 if metric.higher_is_better else -1]
    rows = [{"lists": share, "low": min(at, 0.0), "high": max(at, 0.0)} for share, at in differences_by_list.points]
    x = alt.X(
        "lists:Q", title="lists, those with the best difference first", axis=alt.Axis(format="%"),
        scale=alt.Scale(domain=[0, 1]),
    )  # fmt: skip
    base = alt.Chart().encode(x=x)
    layers = [
        base.mark_area(interpolate="step", color=colour, opacity=1).encode(
            y=alt.Y(f"{column}:Q", title=f"difference of {metric.label}")
        )
        for column, colour in zip(("high", "low"), colours, strict=True)
    ]
    layers.append(alt.Chart(charts.data_of([{"zero": 0}])).mark_rule(color=charts.GREY).encode(y=alt.Y("zero:Q")))
    equal = 1 - differences_by_list.better - differences_by_list.worse
    model, baseline = texts.short(model), texts.short(baseline)
    counts = (
        f"{model} is better in {differences_by_list.better:.0%}, equal in {max(equal, 0):.0%}, "
        f"worse in {differences_by_list.worse:.0%}"
    )
    lines = [
        f"{counts} of {texts.lists_text(differences_by_list.lists)}",
        f"mean difference {differences_by_list.mean:+.4f}; {texts.direction(metric)}",
    ]
    return charts.titled(layers, rows, f"{metric.label}: {model} against {baseline}", lines)
