"""Charts of Altair, from rows. Nothing here sets a colour of text or background: Altair's themes do, light and dark."""

from __future__ import annotations

from functools import partial
from itertools import cycle, islice
from typing import TYPE_CHECKING, Any

from recframe._display import chart_dates
from recframe._display import chart_texts as texts
from recframe._display.data import NO_MODEL, histogram, sorted_differences
from recframe._display.frames import grouped
from recframe._display.packages import package

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import altair as alt

    from recframe._display.data import Mean, Values
    from recframe.metrics import Metric

COLOURS = ("#1F83C6", "#C77C02", "#00916A", "#C266A0", "#D55E00", "#7F7F7F")
"""Near Okabe and Ito's, for colour-blind people; the contrast to white and to dark grey is 3 or more."""
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross")
WIDTH, HEIGHT = 460, 260
ROW_HEIGHT = 14
LEAST_SPAN = 0.05
"""The least span of an axis, as a share of its values."""
BAND_OPACITY = 0.2
"""The opacity of intervals."""
MOST_BANDS = len(COLOURS)
"""The most models whose bands do not hide each other, and whose names have room at their dots."""


def altair() -> Any:
    """Return Altair.

    Raises
    ------
    MissingExtraError
        It is not installed.
    """
    return package("altair", "charts")


@texts.safe_in_html
def curves(averages: Sequence[Mean], confidence: float, columns: int = 2) -> alt.LayerChart | alt.ConcatChart:
    """Return the means over the cutoff, a panel for each metric, so many side by side."""
    alt = altair()
    charts = []
    for name, means in grouped(averages, lambda mean: _without_cutoff(mean.metric)).items():
        rows = [_row(mean) | {"k": mean.metric.cutoff} for mean in means]
        cutoffs = [mean.metric.cutoff or 0 for mean in means]
        ends = [min(cutoffs), max(cutoffs)]
        scale = alt.Scale(domain=ends, nice=False) if ends[0] < ends[1] else alt.Scale(zero=False)
        x = alt.X("k:Q", title="cutoff k", scale=scale, axis=alt.Axis(tickMinStep=1, format="d"))
        charts.append(_lines(means, rows, x, name, "cutoff", confidence))
    return charts[0] if len(charts) == 1 else alt.concat(*charts, columns=columns)


@texts.safe_in_html
def trend(averages: Sequence[Mean], confidence: float, name: str) -> alt.LayerChart:
    """Return the means over time, or over another ordered column."""
    alt = altair()
    kind, at = chart_dates.places([mean.segment[0] for mean in averages])
    rows = [_row(mean) | {"place": where} for mean, where in zip(averages, at, strict=True) if where is not None]
    dates = chart_dates.axis([row["place"] for row in rows]) if kind == "T" else {}
    in_time = {"scale": alt.Scale(type="utc"), "axis": alt.Axis(**dates)} if dates else {}
    x = alt.X(f"place:{kind}", title=texts.axis_title(name), **in_time)
    return _lines(averages, rows, x, averages[0].metric.label, texts.short(name), confidence)


@texts.safe_in_html
def distribution(by_model: Values, coloured: Sequence[str] = ()) -> Any:
    """Return how the values of lists spread, a panel for each model; ``coloured`` are all models with a colour."""
    alt = altair()
    rows, means, metric = histogram(by_model), by_model.means, by_model.metric
    models = list(means)
    over = f"{texts.lists_text(by_model.lists)}; line at the mean; {texts.direction(metric)}"
    title = _title(f"Distribution of {metric.label}", [over])
    title.offset = 12 if len(models) > 1 else alt.Undefined
    panels = []
    for model in models:
        of_model = [row for row in rows if row["model"] == model]
        bars = (
            alt.Chart(_data(of_model))
            .mark_bar(stroke=None, binSpacing=1)
            .encode(
                x=alt.X("from:Q", bin="binned", title=metric.label if model == models[-1] else None),
                x2=alt.X2("to:Q"),
                y=alt.Y("share:Q", title="lists", axis=alt.Axis(format="%", tickCount=4)),
                color=_colour(list(coloured) or models, legend=False),
                tooltip=["model:N", "from:Q", "to:Q", alt.Tooltip("share:Q", format=".1%")],
            )
        )
        mean = means[model]
        line = alt.Chart(_data([{"mean": mean}])).mark_rule(strokeDash=[4, 3], size=2, color=COLOURS[-1])
        panel = alt.layer(bars, line.encode(x=alt.X("mean:Q"))).properties(width=WIDTH, height=HEIGHT // 2.5)
        if model != NO_MODEL:
            shown = "no mean" if mean is None else f"mean {mean:.4f}"
            panel.title = _title(f"{texts.short(model)}: {shown}", [])
        panels.append(panel)
    if len(panels) == 1:
        return panels[0].properties(title=title)
    return alt.vconcat(*panels, title=title).resolve_scale(x="shared", y="shared")


@texts.safe_in_html
def differences(pair: Values, models: Sequence[str] = ()) -> alt.LayerChart:
    """Return the sorted differences of two models, list by list, where each is better in its colour."""
    alt = altair()
    points, better, worse, lists, mean = sorted_differences(pair)
    metric, (baseline, model) = pair.metric, pair.models
    of_models = dict(zip(models or pair.models, cycle(COLOURS), strict=False))
    colours = [of_models[model], of_models[baseline]][:: 1 if metric.higher_is_better else -1]
    rows = [{"lists": share, "low": min(at, 0.0), "high": max(at, 0.0)} for share, at in points]
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
    layers.append(alt.Chart(_data([{"zero": 0}])).mark_rule(color=COLOURS[-1]).encode(y=alt.Y("zero:Q")))
    equal = 1 - better - worse
    model, baseline = texts.short(model), texts.short(baseline)
    counts = f"{model} is better in {better:.0%}, equal in {max(equal, 0):.0%}, worse in {worse:.0%}"
    lines = [
        f"{counts} of {texts.lists_text(lists)}",
        f"mean difference {mean:+.4f}; {texts.direction(metric)}",
    ]
    return titled(layers, rows, f"{metric.label}: {model} against {baseline}", lines)


@texts.safe_in_html
def power(rows: Sequence[dict[str, Any]], metric: Metric, difference: str, wanted: float) -> alt.LayerChart:
    """Return the power of tests over the number of lists, a line for each pair of models."""
    alt = altair()
    pairs = texts.pair_texts([(texts.name_of(row["model"]), texts.name_of(row["baseline"])) for row in rows])
    rows = [row | {"model": pair} for row, pair in zip(rows, pairs, strict=True)]
    colour = _colour(list(dict.fromkeys(pairs)))
    colour.legend = alt.Legend(title="model", symbolOpacity=1, labelLimit=2 * texts.LABEL_WIDTH)
    x = alt.X("lists:Q", title="lists", scale=alt.Scale(type="log"))
    y = alt.Y("power:Q", title="power", scale=alt.Scale(domain=[0, 1]))
    line = alt.Chart().mark_line().encode(x=x, y=y, color=colour, tooltip=_tooltip("model:N", "lists:Q", "power:Q"))
    rule = alt.Chart(alt.Data(values=[{"power": wanted}])).mark_rule(strokeDash=[4, 4]).encode(y="power:Q")
    title = f"Power to find a difference of {difference} in {metric.label}"
    return titled([line, rule], rows, title, [f"dashed: {texts.percent(wanted)}"])


@texts.safe_in_html
def forest(
    rows: Sequence[dict[str, Any]], metrics: Mapping[str, Metric | None], models: list[str], subtitle: Sequence[str]
) -> Any:
    """Return differences with their intervals and verdicts, a line for each pair of models, a panel for each metric."""
    alt = altair()
    panels = []
    # A comparison has numbers of lists with details only.
    counted = ["lists:Q"] if rows and "lists" in rows[0] else []
    for number, (name, metric) in enumerate(metrics.items()):
        drawn = [row for row in rows if row["metric"] == name]
        labels = list(dict.fromkeys(row["pair"] for row in drawn))
        axis = alt.Axis(grid=False, labelLimit=2 * texts.LABEL_WIDTH)
        base = alt.Chart(_data(drawn)).encode(
            y=alt.Y("pair:N", title=None, sort=labels, axis=axis),
            color=_colour(models, legend=False),
            tooltip=_tooltip("pair:N", "difference:Q", "low:Q", "high:Q", "verdict:N", *counted),
        )
        # Some room on both sides: a line of dashes on the axis could not be seen.
        scale = alt.Scale(padding=8, nice=False)
        x = alt.X("difference:Q", title=f"difference of {name}", axis=alt.Axis(tickCount=7), scale=scale)
        verdict = base.mark_text(align="left", dx=8, fontWeight="bold").encode(
            text=alt.Text("verdict:N"), x=alt.value(WIDTH)
        )
        layers = [
            alt.Chart(_data([{"zero": 0}])).mark_rule(color=COLOURS[-1], strokeDash=[4, 3]).encode(x=alt.X("zero:Q")),
            base.mark_rule(size=3).encode(x=alt.X("low:Q"), x2=alt.X2("high:Q")),
            base.mark_point(filled=True, size=90, opacity=1).encode(x=x),
            verdict,
        ]
        better = [texts.direction(metric)] if metric is not None else []
        title = _title(f"Difference of {name}", [*(subtitle if number == 0 else ()), *better])
        panels.append(alt.layer(*layers).properties(width=WIDTH, height=alt.Step(2 * ROW_HEIGHT), title=title))
    return panels[0] if len(panels) == 1 else alt.vconcat(*panels)


@texts.safe_in_html
def segments(averages: Sequence[Mean], confidence: float, name: str, of: int) -> alt.LayerChart:
    """Return a dot with its interval for each segment and model."""
    alt = altair()
    metric, models = averages[0].metric, _models(averages)
    names = texts.segment_texts([mean.segment for mean in averages])
    labels = list(dict.fromkeys(names))
    rows = [_row(mean) | {"segment": name} for mean, name in zip(averages, names, strict=True)]
    y = names_axis("segment:N", texts.axis_title(name), labels)
    offset = {"yOffset": alt.YOffset("model:N", sort=models)} if len(models) > 1 else {}
    base = alt.Chart().encode(y=y, color=_colour(models), tooltip=_tooltip_of_mean("segment:N"), **offset)
    x = alt.X("mean:Q", title=f"mean {metric.label}", scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=7))
    layers = [
        base.mark_rule(size=2, opacity=0.6).encode(x=alt.X("low:Q"), x2=alt.X2("high:Q")),
        base.mark_point(filled=True, size=60, opacity=1).encode(x=x, shape=_shape(models)),
    ]
    some = [f"{len(labels)} of {of} segments, those with the most lists"] if len(labels) < of else []
    lines = [texts.means_text([mean.lists for mean in averages], confidence), *some, texts.direction(metric)]
    height = alt.Step(ROW_HEIGHT if offset else ROW_HEIGHT + 8)
    return titled(layers, rows, f"{metric.label} by {texts.short(name)}", lines, height)


@texts.safe_in_html
def tradeoff(rows: Sequence[dict[str, Any]], x: Metric, y: Metric, confidence: float) -> alt.LayerChart:
    """Return two metrics against each other, a dot for each model."""
    alt = altair()
    models = [row["model"] for row in rows]
    crowded = len(models) > MOST_BANDS
    base = alt.Chart().encode(color=_colour(models, legend=crowded), tooltip=_tooltip("model:N", "x:Q", "y:Q"))
    ticks = alt.Axis(tickCount=6)
    at = {
        "x": alt.X("x:Q", title=f"{x.label} ({texts.direction(x)})", scale=_domain(rows, "x"), axis=ticks),
        "y": alt.Y("y:Q", title=f"{y.label} ({texts.direction(y)})", scale=_domain(rows, "y"), axis=ticks),
    }
    layers = [
        base.mark_rule(size=2, opacity=0.5).encode(x=alt.X("x_low:Q"), x2=alt.X2("x_high:Q"), y=at["y"]),
        base.mark_rule(size=2, opacity=0.5).encode(y=alt.Y("y_low:Q"), y2=alt.Y2("y_high:Q"), x=at["x"]),
        base.mark_point(filled=True, size=90, opacity=1).encode(**at, shape=_shape(models, legend=crowded)),
    ]
    # Names of neighbours are above and below their dots, so that they do not cover each other.
    ordered = sorted(rows, key=lambda row: row["x"] or 0.0)
    rows = [row | {"above": number % 2 == 0, "name": texts.short(row["model"])} for number, row in enumerate(ordered)]
    for side, dy in () if crowded else (("datum.above", -9), ("!datum.above", 14)):
        text = base.mark_text(align="left", dx=9, dy=dy, fontSize=13, fontWeight="bold")
        layers.append(text.encode(**at, text=alt.Text("name:N")).transform_filter(side))
    lines = [f"lines: {texts.percent(confidence)} intervals"]
    return titled(layers, rows, f"{y.label} against {x.label}", lines, HEIGHT + 60)


def names_axis(field: str, title: str, in_order: Sequence[str]) -> Any:
    """Return the axis of names, a row each."""
    alt = altair()
    axis = alt.Axis(grid=True, tickBand="extent", labelExpr=texts.SHORT_LABEL, labelLimit=texts.LABEL_WIDTH)
    return alt.Y(field, title=title, sort=in_order, axis=axis)


def titled(
    layers: Sequence[Any], rows: Sequence[dict[str, Any]], title: str, lines: Sequence[str], height: Any = HEIGHT
) -> alt.LayerChart:
    """Return layers over the same rows as one chart, with its title and lines below that."""
    chart: alt.LayerChart = altair().layer(*layers, data=_data(rows))
    return chart.properties(width=WIDTH, height=height, title=_title(title, lines))


def _lines(
    averages: Sequence[Mean], rows: Sequence[dict[str, Any]], x: Any, name: str, by: str, confidence: float
) -> alt.LayerChart:
    """Return the means of a metric with their bands and points, a line for each model."""
    alt = altair()
    models = _models(averages)
    bands = len(models) <= MOST_BANDS
    base = alt.Chart().encode(x=x, color=_colour(models), tooltip=_tooltip_of_mean(x.shorthand))
    scale = alt.Scale(zero=False)
    y = alt.Y("mean:Q", title=f"mean {name}", scale=scale)
    band = base.mark_area(opacity=BAND_OPACITY).encode(y=alt.Y("low:Q", title=f"mean {name}", scale=scale), y2="high:Q")
    layers = [
        *([band] if bands else []),
        base.mark_line().encode(y=y),
        base.mark_point(filled=True, size=36, opacity=1).encode(y=y, shape=_shape(models)),
    ]
    over = texts.means_text([mean.lists for mean in averages], confidence, intervals=bands)
    return titled(layers, rows, f"{name} by {by}", [over, texts.direction(averages[0].metric)])


def _data(rows: Sequence[dict[str, Any]]) -> Any:
    # As a tuple, since Altair copies the rows of a list each time that it puts a chart into another one.
    return altair().Data(values=tuple(rows))


def _row(mean: Mean) -> dict[str, Any]:
    return {"model": mean.model, "mean": mean.mean, "low": mean.low, "high": mean.high, "lists": mean.lists}


def _tooltip(*names: str) -> list[Any]:
    # As objects, since Altair takes a hundredth of a second to make one of a text.
    return [altair().Tooltip(name) for name in names]


def _tooltip_of_mean(first: str) -> list[Any]:
    return _tooltip(first, "model:N", "mean:Q", "low:Q", "high:Q", "lists:Q")


def _models(averages: Sequence[Mean]) -> list[str]:
    return list(dict.fromkeys(mean.model for mean in averages))


def _of_models(channel: str, values: Sequence[str], models: list[str], *, legend: bool = True) -> Any:
    """Return the colour or the shape of a model; the same models have the same in every chart."""
    alt = altair()
    scale = alt.Scale(domain=models, range=[*islice(cycle(values), len(models))])
    return getattr(alt, channel)("model:N", scale=scale, legend=_legend(models, legend=legend))


_colour, _shape = partial(_of_models, "Color", COLOURS), partial(_of_models, "Shape", SHAPES)


def _legend(models: list[str], *, legend: bool) -> Any:
    """Return the legend of models; None without one, and where there is one model without a name."""
    if not legend or models == [NO_MODEL]:
        return None
    return altair().Legend(title="model", symbolOpacity=1, labelExpr=texts.SHORT_LABEL, labelLimit=texts.LABEL_WIDTH)


def _title(text: str, lines: Sequence[str]) -> Any:
    return altair().Title(text, subtitle=list(lines), anchor="start")


def _domain(rows: Sequence[dict[str, Any]], name: str) -> Any:
    """Return an axis around the values, on which models that are almost equal do not look far apart."""
    columns = (name, f"{name}_low", f"{name}_high")
    ends = [row[column] for row in rows for column in columns if row.get(column) is not None]
    least, most = min(ends), max(ends)
    room = max(most - least, LEAST_SPAN * max(abs(least), abs(most)), 1e-9)
    middle = (least + most) / 2
    return altair().Scale(domain=[middle - 0.6 * room, middle + 0.6 * room], nice=True, zero=False)


def _without_cutoff(metric: Metric) -> str:
    return metric.label.rpartition("@")[0] or metric.label
