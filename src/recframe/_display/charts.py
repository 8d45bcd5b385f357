"""Charts of Altair, from rows. Nothing here sets a colour of text or background: Altair's themes do, light and dark."""

from __future__ import annotations

import math
from functools import partial
from itertools import cycle, islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from recframe._display import chart_dates
from recframe._display import chart_texts as texts
from recframe._display.colours import MODELS as COLOURS
from recframe._display.data import NO_MODEL, histogram
from recframe._display.frames import grouped
from recframe._display.labels import LABEL_SIZE, LINE_HEIGHT, Box, placed, spread
from recframe._display.packages import package

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import altair as alt

    from recframe._display.data import Values
    from recframe._display.described import Mean
    from recframe._display.labels import Label
    from recframe.metrics import Metric

GREY = "#7F7F7F"
"""The colour of lines at 0 and at means."""
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross")
WIDTH, HEIGHT = 400, 260
ROW_HEIGHT = 14
LEAST_SPAN = 0.05
"""The least span of an axis, as a share of its values."""
BAND_OPACITY, EDGE_OPACITY = 0.1, 0.35
"""The opacity of intervals and of their edges."""
DOT, RING = 90, 2.2
"""The area of dots and how thick their edges are."""
RADIUS = 6.5
"""The radius of a ring."""
MOST_BANDS = 3
"""The most models whose bands do not hide each other."""
MOST_NAMES = len(COLOURS)
"""The most models with their own colours, and with names beside their dots."""
MOST_LABELS = 12
"""The most lines with names at their ends."""


def altair() -> Any:
    """Return Altair.

    Raises
    ------
    MissingExtraError
        It is not installed.
    """
    return package("altair", "charts")


@texts.safe_in_html
def curves(averages: Sequence[Mean], confidence: float | None, columns: int = 2) -> alt.LayerChart | alt.ConcatChart:
    """Return the means over the cutoff, with a panel for each metric."""
    alt = altair()
    charts = []
    for name, means in grouped(averages, lambda mean: mean.name).items():
        rows = [_row(mean) | {"k": mean.cutoff} for mean in means]
        cutoffs = [mean.cutoff or 0 for mean in means]
        ends = [min(cutoffs), max(cutoffs)]
        scale = alt.Scale(domain=ends, nice=False) if ends[0] < ends[1] else alt.Scale(zero=False)
        x = alt.X("k:Q", title="cutoff k", scale=scale, axis=alt.Axis(tickMinStep=1, format="d"))
        charts.append(_lines(means, rows, x, name, "cutoff", confidence, itemgetter("k")))
    return charts[0] if len(charts) == 1 else alt.concat(*charts, columns=columns)


@texts.safe_in_html
def trend(averages: Sequence[Mean], confidence: float | None, name: str) -> alt.LayerChart:
    """Return the means over time, or over another ordered column."""
    alt = altair()
    kind, positions = chart_dates.axis_positions([mean.segment[0] for mean in averages])
    pairs = zip(averages, positions, strict=True)
    rows = [_row(mean) | {"place": position} for mean, position in pairs if position is not None]
    known_positions = [row["place"] for row in rows]
    sort_key: Callable[[Mapping[str, Any]], Any] = itemgetter("place")
    how: dict[str, Any] = {}
    if kind == "T" and known_positions:
        how = {"scale": alt.Scale(type="utc"), "axis": alt.Axis(**chart_dates.axis(known_positions))}
        sort_key = chart_dates.sort_key
    elif kind == "O":
        # Short names are horizontal, because they are easier to read.
        angle = 0 if texts.lies_flat(dict.fromkeys(known_positions), WIDTH) else -45
        how = {"axis": alt.Axis(labelAngle=angle)}
    x = alt.X(f"place:{kind}", title=texts.axis_title(name), **how)
    return _lines(averages, rows, x, averages[0].metric, texts.short(name), confidence, sort_key)


@texts.safe_in_html
def distribution(by_model: Values) -> Any:
    """Return the distribution of the values of lists, with a panel for each model."""
    alt = altair()
    rows = histogram(by_model)
    means = by_model.means
    metric = by_model.metric
    models = list(means)
    over = f"{texts.lists_text(by_model.lists)}; line at the mean; {texts.direction(metric)}"
    title = title_of(f"Distribution of {metric.label}", [over])
    title.offset = 12 if len(models) > 1 else alt.Undefined
    panels = []
    for model in models:
        model_rows = [row for row in rows if row["model"] == model]
        bars = (
            alt.Chart(data_of(model_rows))
            .mark_bar(stroke=None, binSpacing=1, color=COLOURS[0])
            .encode(
                x=alt.X("from:Q", bin="binned", title=metric.label if model == models[-1] else None),
                x2=alt.X2("to:Q"),
                y=alt.Y("share:Q", title="lists", axis=alt.Axis(format="%", tickCount=4)),
                tooltip=["model:N", "from:Q", "to:Q", alt.Tooltip("share:Q", format=".1%")],
            )
        )
        mean = means[model]
        line = alt.Chart(data_of([{"mean": mean}])).mark_rule(strokeDash=[4, 3], size=2, color=GREY)
        panel = alt.layer(bars, line.encode(x=alt.X("mean:Q"))).properties(width=WIDTH, height=HEIGHT // 2.5)
        if model != NO_MODEL:
            shown = "no mean" if mean is None else f"mean {mean:.4f}"
            panel.title = title_of(f"{texts.short(model)}: {shown}", [])
        panels.append(panel)
    if len(panels) == 1:
        return panels[0].properties(title=title)
    return alt.vconcat(*panels, title=title).resolve_scale(x="shared", y="shared")


@texts.safe_in_html
def power(rows: Sequence[dict[str, Any]], metric: Metric, difference: str, wanted: float) -> alt.LayerChart:
    """Return the power of tests over the number of lists, a line for each pair of models."""
    alt = altair()
    pairs = texts.pair_texts([(texts.name_of(row["model"]), texts.name_of(row["baseline"])) for row in rows])
    rows = [row | {"model": pair} for row, pair in zip(rows, pairs, strict=True)]
    names = list(dict.fromkeys(pairs))
    ends = [row["lists"] for row in rows]
    axis = alt.Axis(values=_round_numbers(min(ends), max(ends)), format=",d")
    x = alt.X(
        "lists:Q", title="lists", axis=axis, scale=alt.Scale(type="log", domain=[min(ends), max(ends)], nice=False)
    )
    y = alt.Y("power:Q", title="power", scale=alt.Scale(domain=[0, 1]))
    line = (
        alt.Chart()
        .mark_line()
        .encode(
            x=x,
            y=y,
            color=_colour(names, legend=len(names) > MOST_LABELS),
            tooltip=tooltip("model:N", "lists:Q", "power:Q"),
        )
    )
    rule = alt.Chart(data_of([{"power": wanted}])).mark_rule(strokeDash=[4, 4], color=GREY).encode(y="power:Q")
    # All lines end at the top, so their names stand in the order in which they rise.
    last = [max(model_rows, key=itemgetter("lists")) for model_rows in grouped(rows, itemgetter("model")).values()]
    last.sort(key=lambda row: min([other["lists"] for other in rows if _has_risen(other, row["model"])], default=0))
    named = _names_at_ends(last, "power", (0.0, 1.0), names, x=alt.value(WIDTH), as_name=str)
    title = f"Power to find a difference of {difference} in {metric.label}"
    return titled([line, rule, *named], rows, title, [f"dashed: {texts.percent(wanted)}"])


@texts.safe_in_html
def segments(averages: Sequence[Mean], confidence: float | None, name: str, segment_count: int) -> alt.LayerChart:
    """Return a dot with its interval for each segment and model.

    `segment_count` is the number of segments of the result; only the largest ones may be shown.
    """
    alt = altair()
    metric, record = averages[0].metric, averages[0].record
    models = _models(averages)
    names = texts.segment_texts([mean.segment for mean in averages])
    labels = list(dict.fromkeys(names))
    rows = [_row(mean) | {"segment": name} for mean, name in zip(averages, names, strict=True)]
    y = names_axis("segment:N", texts.axis_title(name), labels)
    offset = {"yOffset": alt.YOffset("model:N", sort=models)} if len(models) > 1 else {}
    legend = len(models) > MOST_LABELS
    base = alt.Chart().encode(
        y=y, color=_colour(models, legend=legend), tooltip=_tooltip_of_mean("segment:N"), **offset
    )
    x = alt.X("mean:Q", title=f"mean {metric}", scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=7))
    layers = [
        base.mark_rule(size=2, opacity=0.6).encode(x=alt.X("low:Q"), x2=alt.X2("high:Q")),
        base.mark_point(filled=True, size=60, opacity=1).encode(x=x, shape=_shape(models, legend=legend)),
    ]
    if models != [NO_MODEL] and not legend:
        # The names of models stand once, at the first of their lines.
        first = [next(row for row in rows if row["model"] == model) for model in models]
        ends = [
            {
                "segment": row["segment"],
                "model": row["model"],
                "name": texts.short(row["model"]),
                "at": row["mean"] if row["high"] is None else row["high"],
            }
            for row in first
            if row["mean"] is not None
        ]
        text = alt.Chart(data_of(ends)).mark_text(align="left", dx=8, baseline="middle", fontSize=LABEL_SIZE - 1)
        colour = _colour(models, legend=False)
        layers.append(text.encode(y=y, x=alt.X("at:Q"), text=alt.Text("name:N"), color=colour, **offset))
    notes = []
    if len(labels) < segment_count:
        notes.append(f"{len(labels)} of {segment_count} segments, those with the most lists")
    lines = [texts.means_text([mean.lists for mean in averages], confidence), *notes, texts.direction(record)]
    height = alt.Step(ROW_HEIGHT if offset else ROW_HEIGHT + 8)
    return titled(layers, rows, f"{metric} by {texts.short(name)}", lines, height)


@texts.safe_in_html
def tradeoff(rows: Sequence[dict[str, Any]], x: Mean, y: Mean, confidence: float | None) -> alt.LayerChart:
    """Return two metrics against each other, a dot for each model: `x` and `y` are a mean of each."""
    alt = altair()
    models = [row["model"] for row in rows]
    crowded = len(models) > MOST_NAMES
    height = HEIGHT + 60
    base = alt.Chart().encode(color=_colour(models, legend=crowded), tooltip=tooltip("model:N", "x:Q", "y:Q"))
    ticks = alt.Axis(tickCount=6)
    domains = {"x": _domain(rows, "x", x.record), "y": _domain(rows, "y", y.record)}
    scales = {name: alt.Scale(domain=domain, nice=False, zero=False) for name, domain in domains.items()}
    at = {
        "x": alt.X("x:Q", title=_title_of_axis(x), scale=scales["x"], axis=ticks),
        "y": alt.Y("y:Q", title=_title_of_axis(y), scale=scales["y"], axis=ticks),
    }
    layers = [
        base.mark_rule(size=2, opacity=0.5).encode(x=alt.X("x_low:Q"), x2=alt.X2("x_high:Q"), y=at["y"]),
        base.mark_rule(size=2, opacity=0.5).encode(y=alt.Y("y_low:Q"), y2=alt.Y2("y_high:Q"), x=at["x"]),
        base.mark_point(filled=True, size=90, opacity=1).encode(**at, shape=_shape(models, legend=crowded)),
    ]
    drawn = [
        {"model": row["model"], "x": row["x"], "y": row["y"], "name": texts.short(row["model"])}
        for row in rows
        if None not in (row["x"], row["y"])
    ]
    labels = [] if crowded else _label_positions(rows, domains, height)
    for row, label in zip(drawn, labels, strict=False):
        text = alt.Chart(data_of([row])).mark_text(
            align=label.align, baseline="middle", dx=label.dx, dy=label.dy, fontSize=LABEL_SIZE, fontWeight="bold"
        )
        layers.append(text.encode(**at, text=alt.Text("name:N"), color=_colour(models, legend=False)))
    lines = [f"lines: {texts.intervals_text(confidence)}"]
    return titled(layers, rows, f"{y.metric} against {x.metric}", lines, height)


def _title_of_axis(mean: Mean) -> str:
    """Return the name of a metric, and which of its values are better."""
    direction = texts.direction(mean.record)
    return f"{mean.metric} ({direction})" if direction else mean.metric


def _label_positions(
    rows: Sequence[Mapping[str, Any]], domains: Mapping[str, tuple[float, float]], height: int
) -> list[Label]:
    """Return the positions of the names of dots, which avoid the lines of all intervals."""

    def x_of(value: float) -> float:
        return WIDTH * _share(value, domains["x"])

    def y_of(value: float) -> float:
        return height * (1 - _share(value, domains["y"]))

    rows = [row for row in rows if None not in (row["x"], row["y"])]
    dots = [(x_of(row["x"]), y_of(row["y"])) for row in rows]
    lines = []
    for row, (x, y) in zip(rows, dots, strict=True):
        ends: list[Any] = [row.get(name) for name in ("x_low", "x_high", "y_low", "y_high")]
        if None not in ends[:2]:
            lines.append(Box(x_of(ends[0]), y - 1, x_of(ends[1]), y + 1))
        if None not in ends[2:]:
            lines.append(Box(x - 1, y_of(ends[3]), x + 1, y_of(ends[2])))
    return placed(dots, [texts.short(row["model"]) for row in rows], WIDTH, height, lines)


def names_axis(field: str, title: str | None, in_order: Sequence[str]) -> Any:
    """Return the axis of names, a row each."""
    alt = altair()
    axis = alt.Axis(grid=True, tickBand="extent", labelExpr=texts.SHORT_LABEL, labelLimit=texts.LABEL_WIDTH)
    return alt.Y(field, title=title, sort=in_order, axis=axis)


def titled(
    layers: Sequence[Any], rows: Sequence[dict[str, Any]], title: str, lines: Sequence[str], height: Any = HEIGHT
) -> alt.LayerChart:
    """Return layers over the same rows as one chart, with its title and lines below that."""
    chart: alt.LayerChart = altair().layer(*layers, data=data_of(rows))
    return chart.properties(width=WIDTH, height=height, title=title_of(title, lines))


def _lines(
    averages: Sequence[Mean],
    rows: Sequence[dict[str, Any]],
    x: Any,
    name: str,
    by: str,
    confidence: float | None,
    sort_key: Callable[[Mapping[str, Any]], Any],
) -> alt.LayerChart:
    """Return the means of a metric with their bands and points, a line for each model, named at its end."""
    alt = altair()
    models = _models(averages)
    bands, legend = len(models) <= MOST_BANDS, len(models) > MOST_LABELS
    columns = ("mean", "low", "high") if bands else ("mean",)
    domain = _around([row[column] for row in rows for column in columns])
    colour = _colour(models, legend=legend)
    base = alt.Chart().encode(x=x, tooltip=_tooltip_of_mean(x.shorthand))
    scale = alt.Scale(domain=domain, nice=False, zero=False)
    y = alt.Y("mean:Q", title=f"mean {name}", scale=scale)
    low = alt.Y("low:Q", title=f"mean {name}", scale=scale)
    # Edges show how far a band reaches where it lies on others.
    edges = {"strokeWidth": 1, "strokeOpacity": EDGE_OPACITY, "fillOpacity": BAND_OPACITY, "opacity": 1}
    stroke = _stroke(models, legend=False)
    layers = [
        *([base.mark_area(**edges).encode(y=low, y2="high:Q", color=colour, stroke=stroke)] if bands else []),
        base.mark_line().encode(y=y, color=colour),
        base.mark_point(filled=True, size=36, opacity=1).encode(y=y, color=colour, shape=_shape(models, legend=legend)),
    ]
    if models != [NO_MODEL]:
        by_model = grouped([row for row in rows if row["mean"] is not None], itemgetter("model"))
        last = [max(model_rows, key=sort_key) for model_rows in by_model.values()]
        layers += _names_at_ends(last, "mean", domain, models, x=x)
    over = texts.means_text([mean.lists for mean in averages], confidence, intervals=bands)
    return titled(layers, rows, f"{name} by {by}", [over, texts.direction(averages[0].record)])


def _names_at_ends(
    last: Sequence[dict[str, Any]],
    column: str,
    domain: tuple[float, float],
    models: list[str],
    *,
    x: Any,
    as_name: Callable[[str], str] = texts.short,
) -> list[Any]:
    """Return the names of lines beside their last points, moved apart where they would cover each other."""
    alt = altair()
    if not last or len(models) > MOST_LABELS:
        return []
    wanted = [HEIGHT * (1 - _share(row[column], domain)) for row in last]
    ends = [
        {name: row[name] for name in ("model", "k", "place") if name in row}
        | {"name": as_name(row["model"]), "at": domain[1] - pixel / HEIGHT * (domain[1] - domain[0])}
        for row, pixel in zip(last, spread(wanted, LINE_HEIGHT, 0, HEIGHT), strict=True)
    ]
    text = alt.Chart(data_of(ends)).mark_text(align="left", baseline="middle", dx=9, fontSize=LABEL_SIZE)
    y = alt.Y("at:Q", scale=alt.Scale(domain=domain, nice=False, zero=False))
    return [text.encode(x=x, y=y, text=alt.Text("name:N"), color=_colour(models, legend=False))]


def data_of(rows: Sequence[dict[str, Any]]) -> Any:
    """Return rows as the data of a chart."""
    # As a tuple, since Altair copies the rows of a list each time that it puts a chart into another one.
    return altair().Data(values=tuple(rows))


def _row(mean: Mean) -> dict[str, Any]:
    """Return a mean as a row of a chart's data."""
    return {"model": mean.model, "mean": mean.mean, "low": mean.low, "high": mean.high, "lists": mean.lists}


def tooltip(*names: str) -> list[Any]:
    """Return the tooltips of some columns."""
    # As objects, since Altair takes a hundredth of a second to make one of a text.
    return [altair().Tooltip(name) for name in names]


def _tooltip_of_mean(first: str) -> list[Any]:
    return tooltip(first, "model:N", "mean:Q", "low:Q", "high:Q", "lists:Q")


def _models(averages: Sequence[Mean]) -> list[str]:
    return list(dict.fromkeys(mean.model for mean in averages))


def _of_models(channel: str, values: Sequence[str], models: list[str], *, legend: bool = True) -> Any:
    """Return a channel of Altair, such as the colour, with a value for each model: the same in every chart."""
    alt = altair()
    scale = alt.Scale(domain=models, range=[*islice(cycle(values), len(models))])
    return getattr(alt, channel)("model:N", scale=scale, legend=_legend(models, legend=legend))


_colour, _shape = partial(_of_models, "Color", COLOURS), partial(_of_models, "Shape", SHAPES)
_stroke = partial(_of_models, "Stroke", COLOURS)


def _legend(models: list[str], *, legend: bool) -> Any:
    """Return the legend of models, or None if it is not needed or the only model has no name."""
    if not legend or models == [NO_MODEL]:
        return None
    return altair().Legend(title="model", symbolOpacity=1, labelExpr=texts.SHORT_LABEL, labelLimit=texts.LABEL_WIDTH)


def title_of(text: str, lines: Sequence[str]) -> Any:
    """Return a title with lines below it; empty lines are left out."""
    return altair().Title(text, subtitle=[line for line in lines if line], anchor="start")


def _domain(rows: Sequence[dict[str, Any]], name: str, metric: Metric | None) -> tuple[float, float]:
    """Return an axis around the values, within the metric's range unless a value is not.

    Models that are almost equal do not look far apart.
    """
    columns = (name, f"{name}_low", f"{name}_high")
    ends = [row[column] for row in rows for column in columns if row.get(column) is not None]
    low, high = _around(ends)
    if metric is None:
        return low, high
    least, most = metric.range
    return max(low, min(least, *ends)), min(high, max(most, *ends))


def _around(values: Iterable[float | None]) -> tuple[float, float]:
    """Return the ends of an axis that holds all values, with a margin on both sides."""
    numbers = [value for value in values if value is not None]
    least, most = min(numbers, default=0.0), max(numbers, default=1.0)
    span = max(most - least, LEAST_SPAN * max(abs(least), abs(most)), 1e-9)
    middle = (least + most) / 2
    return middle - 0.6 * span, middle + 0.6 * span


def _share(value: float, domain: tuple[float, float]) -> float:
    """Return the position of a value on an axis, as a share of its length."""
    return (value - domain[0]) / (domain[1] - domain[0])


def _has_risen(row: Mapping[str, Any], pair: str) -> bool:
    """Return whether a row belongs to this pair of models and has a power of at least one half."""
    return bool(row["model"] == pair and row["power"] >= 0.5)  # noqa: PLR2004


def _round_numbers(least: float, most: float) -> list[int]:
    """Return the round numbers between two numbers: 10, 20, 50, 100 and so on."""
    powers = range(math.floor(math.log10(least)), math.ceil(math.log10(most)) + 1)
    numbers = [first * 10**power for power in powers for first in (1, 2, 5)]
    return [round(number) for number in numbers if least <= number <= most and number >= 1]
