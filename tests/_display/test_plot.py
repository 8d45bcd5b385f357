"""Charts: what their specifications hold, how large they are, and what is refused. Pixels are looked at by people."""

import datetime as dt
import itertools
import json
import math
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

import recframe
from recframe import metrics
from recframe._display import labels
from recframe._display.colours import MODELS as COLOURS
from recframe._display.colours import VERDICTS
from recframe._display.data import Values, histogram, sorted_differences
from recframe._display.plot import PLOTS

pl = pytest.importorskip("polars")
np = pytest.importorskip("numpy")
pytest.importorskip("scipy")
alt = pytest.importorskip("altair")

MODELS = ["popular", "old", "new"]
DAYS = [dt.date(2024, 1, day) for day in (1, 2, 3)]


def crowd(lists=60, length=6):
    rng = np.random.default_rng(0)
    rows = lists * length
    user = np.repeat(np.arange(lists), length)
    return pl.DataFrame(
        {"user": user, "item": np.tile(np.arange(length), lists), "relevant": rng.random(rows) < 0.3}
        | {model: rng.random(rows) for model in MODELS}
        | {"country": [["at", "be", None][one % 3] for one in user], "date": [DAYS[one % 3] for one in user]}
    )


FRAME = crowd()


def spec(chart):
    """Return a chart's specification, which Altair has validated, its rows but those of labels, and its text."""
    result = chart.to_dict()
    return result, [row for row in rows_of(result) if "name" not in row], json.dumps(result)


def rows_of(found):
    return [rounded(row) for data in find(found, "values") for row in data if isinstance(row, dict)]


def labels_of(found):
    return [row for row in rows_of(found) if "name" in row]


def rounded(value):
    """Return numbers up to rounding: engines sum in their own order."""
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(rounded, value))
    return float(f"{value:.9g}") if isinstance(value, float) else value


def find(node, key):
    if isinstance(node, dict):
        yield from ([node[key]] if key in node else [])
        node = list(node.values())
    if isinstance(node, list):
        for child in node:
            yield from find(child, key)


def described(metric, **given):
    return {
        (row.get("country", row.get("date")), row["model"], row["metric"]): rounded(
            (row["mean"], row["low"], row["high"])
        )
        for row in FRAME.rec.describe(metric, **given).to_dicts()
    }


def test_curves_hold_the_means_and_intervals_of_describe():
    result, rows, _ = spec(FRAME.rec.plot.curve(["ndcg", "recall"], k=[1, 3], score=MODELS, confidence=0.9))
    expected = described(["ndcg", "recall"], k=[1, 3], score=MODELS, confidence=0.9)
    assert len(result["concat"]) == 2
    for panel, metric in zip(result["concat"], ("ndcg", "recall"), strict=True):
        assert panel["title"]["text"] == f"{metric} by cutoff"
        scales = [x["scale"] for x in find(panel, "x") if x.get("field") == "k"]
        assert scales and all(scale == {"domain": [1, 3], "nice": False} for scale in scales)
        assert "90% intervals" in panel["title"]["subtitle"][0] and panel["title"]["subtitle"][1] == "higher is better"
        of_panel = rounded(next(data["values"] for data in find(panel, "data") if "values" in data))
        values = {
            (None, row["model"], f"{metric}@{row['k']}"): (row["mean"], row["low"], row["high"]) for row in of_panel
        }
        assert values == {key: value for key, value in expected.items() if key[2].startswith(metric)}
    assert len(rows) == 2 * 2 * 3


def test_curves_of_metrics_of_all_lists_hold_their_intervals():
    _, rows, _ = spec(FRAME.rec.plot.curve("coverage", k=[1, 2], score=MODELS))
    values = {(None, row["model"], f"coverage@{row['k']}"): (row["mean"], row["low"], row["high"]) for row in rows}
    assert values == described("coverage", k=[1, 2], score=MODELS)


def test_by_default_a_curve_has_20_cutoffs():
    result, rows, _ = spec(FRAME.rec.plot.curve("recall", score="old"))
    assert [row["k"] for row in rows] == list(range(1, 21))
    assert "concat" not in result


def test_models_keep_their_colours_and_also_have_shapes():
    _, _, text = spec(FRAME.rec.plot.curve("ndcg", k=[1, 2], score=MODELS))
    scales = [scale for scale in find(json.loads(text), "scale") if "range" in scale]
    assert {tuple(scale["domain"]) for scale in scales} == {tuple(MODELS)}
    assert {tuple(scale["range"]) for scale in scales} == {COLOURS[:3], ("circle", "square", "triangle-up")}


def luminance(colour):
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("background", ["#FFFFFF", "#333333"], ids=["light", "dark"])
def test_colours_are_seen_on_light_and_on_dark(background):
    for colour in (*COLOURS, *(verdict.chart for verdict in VERDICTS.values())):
        lower, higher = sorted(luminance(one) + 0.05 for one in (colour, background))
        assert higher / lower >= 3, colour


def test_themes_decide_about_text_and_background():
    for chart in (FRAME.rec.plot.curve("ndcg", score=MODELS), FRAME.rec.plot.distribution("ndcg", score=MODELS)):
        own = chart.to_dict(validate=False)
        assert "background" not in json.dumps(own)
        with alt.theme.enable("dark"):
            assert chart.to_dict()["usermeta"]["embedOptions"]["theme"] == "dark"


def test_distributions_are_binned():
    result, rows, _ = spec(FRAME.rec.plot.distribution("ndcg@3", score=["old", "new"]))
    values = {
        model: FRAME.rec.evaluate("ndcg@3", score=model, per="user")["ndcg@3"].drop_nulls() for model in ("old", "new")
    }
    for model in ("old", "new"):
        bins = [row for row in rows if row.get("model") == model]
        assert len(bins) == 20 and (bins[0]["from"], bins[-1]["to"]) == (0, 1)
        counts, _ = np.histogram(values[model], bins=np.linspace(0, 1, 21))
        assert [row["share"] for row in bins] == pytest.approx(counts / len(values[model]))
    assert result["title"]["subtitle"] == [f"{len(values['old'])} lists; line at the mean; higher is better"]
    titles = [panel["title"]["text"] for panel in result["vconcat"]]
    assert titles == [f"{model}: mean {values[model].mean():.4f}" for model in ("old", "new")]


def test_differences_are_sorted_and_few():
    result, rows, text = spec(crowd(lists=3000).rec.plot.differences("ndcg@3", score=["old", "new"]))
    compared = crowd(lists=3000).rec.compare("ndcg@3", score=["old", "new"], details=True).to_dicts()[0]
    points = [row["low"] + row["high"] for row in rows if "low" in row]
    assert len(points) == 201 and points == sorted(points, reverse=True)
    shares = [row["lists"] for row in rows if "low" in row]
    assert shares[0] == pytest.approx(1 - shares[-1], abs=1e-8) == pytest.approx(0.5 / compared["lists"], abs=1e-8)
    assert len(text) < 100_000
    better, equal, worse = (compared[name] / compared["lists"] for name in ("wins", "ties", "losses"))
    assert result["title"]["subtitle"] == [
        f"new is better in {better:.0%}, equal in {equal:.0%}, worse in {worse:.0%} of {compared['lists']:,} lists",
        f"mean difference {compared['difference']:+.4f}; higher is better",
    ]


class Depth(metrics.CutMetric):
    """A metric of which less is better."""

    name = "depth"
    higher_is_better = False

    def terms(self, row):
        return {"hits": row.hit * row.weight(lambda position: position * 0 + 1, self.k)}

    def value(self, sums):
        return sums["hits"]


def test_where_lower_is_better_the_smallest_differences_come_first():
    result, rows, _ = spec(FRAME.rec.plot.differences(Depth(), 2, score=["old", "new"]))
    points = [row["low"] + row["high"] for row in rows if "low" in row]
    assert points == sorted(points) and points[0] < 0 < points[-1]
    assert result["title"]["subtitle"][1].endswith("lower is better")
    colours = [mark["color"] for mark in find(result, "mark") if mark["type"] == "area"]
    assert colours == [VERDICTS["worse"].chart, VERDICTS["better"].chart], "above 0 is a loss"


TAG = "</script><img src=x onerror=alert(1)>"
COMMENT = "<!--<script>"
CHARTS = {
    "curve": lambda rec, models: rec.plot.curve("ndcg", k=[1, 3], score=models),
    "distribution": lambda rec, models: rec.plot.distribution("ndcg@3", score=models),
    "differences": lambda rec, models: rec.plot.differences("ndcg@3", score=models),
    "power": lambda rec, models: rec.plot.power("ndcg@3", difference=0.1, score=models),
    "ranks": lambda rec, models: rec.plot.ranks("ndcg@3", score=models),
    "segments": lambda rec, models: rec.plot.segments("ndcg@3", per=f"{TAG}s", score=models),
    "trend": lambda rec, models: rec.plot.trend("ndcg@3", per="date", score=models),
    "tradeoff": lambda rec, models: rec.plot.tradeoff("ndcg", "coverage", 2, score=models),
    "forest": lambda rec, models: recframe.forest(rec.compare("ndcg@3", per=f"{TAG}s", score=models)),
}


class Tags(HTMLParser):
    """The tags of a page."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append(tag)


def test_all_charts_are_read_as_pages():
    assert CHARTS.keys() == {*PLOTS, "forest"}


@pytest.mark.parametrize("name", CHARTS)
@pytest.mark.filterwarnings("ignore::recframe.errors.DataWarning")
def test_names_are_text_in_a_chart_saved_as_html(tmp_path, name):
    """A name that closes the script of the page could run another one."""
    country = pl.col("country").fill_null("?") + TAG
    frame = FRAME.rename({"old": TAG, "new": COMMENT}).with_columns(country.alias(f"{TAG}s")).drop("country")
    path = tmp_path / "chart.html"
    CHARTS[name](frame.rec, [TAG, COMMENT]).save(path)
    text = path.read_text(encoding="utf-8")
    assert Tags(text).found == Tags(alt.Chart(pl.DataFrame({"x": [1]})).mark_point().to_html()).found
    # The label has a space that is hardly seen.
    assert "<\\u200a" in text


def layers_of(node, data=()):
    """Return each layer of a specification with its rows."""
    data = node.get("data", {}).get("values", data)
    parts = [part for name in ("layer", "vconcat", "hconcat", "concat") for part in node.get(name, ())]
    for part in parts:
        yield from layers_of(part, data)
    if not parts:
        yield node, data


def outside(chart):
    """Return the numbers that lie outside the domain of their scale, and how many lie within one."""
    result, inside = [], 0
    for layer, rows in layers_of(chart.to_dict()):
        domains = {}
        channels = {name: channel for name, channel in layer["encoding"].items() if isinstance(channel, dict)}
        for name, channel in channels.items():
            if channel.get("type") == "quantitative" and "domain" in channel.get("scale", {}):
                domains[name] = channel["scale"]["domain"]
        for name, channel in channels.items():
            if "field" not in channel or name.removesuffix("2") not in domains:
                continue
            low, high = domains[name.removesuffix("2")]
            numbers = [row[channel["field"]] for row in rows if row.get(channel["field"]) is not None]
            result += [(name, number) for number in numbers if not low - 1e-9 <= number <= high + 1e-9]
            inside += len(numbers)
    return result, inside


@pytest.mark.parametrize("name", CHARTS)
@pytest.mark.parametrize("models", [MODELS[:2], ["constant", "best"]])
@pytest.mark.filterwarnings("ignore::recframe.errors.DataWarning")
def test_every_datum_is_within_the_domain_of_its_scale(name, models):
    country = pl.col("country").fill_null("?").alias(f"{TAG}s")
    more = {"best": pl.col("relevant") * 1.0 + 0.001 * pl.col("new"), "constant": pl.lit(0.5)}
    frame = FRAME.with_columns(country, **more).drop("country")
    result, inside = outside(CHARTS[name](frame.rec, models))
    assert not result
    assert inside or name in ("distribution", "segments"), "where Vega finds the domain, it holds all"


def test_the_axis_of_a_tradeoff_does_not_leave_the_range_of_its_metric():
    chart = FRAME.rec.plot.tradeoff("ndcg", "coverage", 5, score=MODELS).to_dict()
    ends = [channel["scale"]["domain"] for channel in find(chart, "y") if "scale" in str(channel)]
    assert ends and all(high == 1 for _, high in ends)


def test_names_of_models_do_not_cover_each_other():
    many = [f"model {number}" for number in range(9)]
    frame = FRAME.with_columns(*(pl.col("old").alias(model) for model in many)).rec(score=many)
    curve = frame.plot.curve("ndcg", k=[1, 2]).to_dict()
    (low, high) = curve["layer"][0]["encoding"]["y"]["scale"]["domain"]
    places = sorted(260 * (row["at"] - low) / (high - low) for row in labels_of(curve))
    assert len(places) == 9 and min(b - a for a, b in itertools.pairwise(places)) > 14


@pytest.mark.parametrize("count", [2, 4, 6])
def test_names_of_dots_cover_neither_each_other_nor_dots(count):
    rng = np.random.default_rng(count)
    for _ in range(20):
        dots = [tuple(dot) for dot in (rng.random((count, 2)) * [120, 60] + [170, 120]).tolist()]
        texts = [f"model {number}" for number in range(count)]
        places = labels.placed(dots, texts, 460, 320)
        boxes = [
            place.box(*dot, labels.text_width(text, labels.LABEL_SIZE, bold=True))
            for place, dot, text in zip(places, dots, texts, strict=True)
        ]
        assert all(box.left >= 0 and box.right <= 460 and box.top >= 0 and box.bottom <= 320 for box in boxes)
        covered = sum(a.overlap(b) for a, b in itertools.combinations(boxes, 2))
        assert covered < 100, "less than a letter"


def test_relative_differences_are_percentages():
    from recframe._display.chart_texts import relative_text

    shares = {0.123: "+12%", -0.05: "-5.0%", 0.0001: "0%", math.inf: "", None: ""}
    assert {share: relative_text(share) for share in shares} == shares


def test_ticks_of_lists_are_round_numbers():
    from recframe._display import charts

    assert charts._round_numbers(3, 700) == [5, 10, 20, 50, 100, 200, 500]


def test_bold_texts_are_a_little_wider():
    width = labels.text_width("new model", 13)
    assert 9 * 13 / 3 < width < labels.text_width("new model", 13, bold=True) < 1.2 * width
    assert width < 9 * 13 * 0.7


@pytest.mark.parametrize("most", [2, 3])
def test_lines_have_a_legend_if_too_many_for_names_at_their_ends(monkeypatch, most):
    monkeypatch.setattr("recframe._display.charts.MOST_LABELS", most)
    chart = FRAME.rec.plot.curve("ndcg", k=[1, 2], score=MODELS).to_dict()
    colours = [colour for colour in find(chart, "color") if "field" in colour]
    assert bool(labels_of(chart)) == (most == len(MODELS))
    assert any(colour.get("legend", True) for colour in colours) == (most < len(MODELS))


@pytest.mark.parametrize("wanted", [[], [5.0], [0, 0, 0], [100, 100, 99], [1, 50, 49, 51, 100], [3] * 30])
def test_places_are_spread_within_their_ends(wanted):
    result = labels.spread(wanted, 10, 0, 100)
    gap = min(10, 100 / max(len(wanted) - 1, 1))
    ordered = sorted(result)
    assert all(0 - 1e-9 <= place <= 100 + 1e-9 for place in result)
    assert all(b - a >= gap - 1e-9 for a, b in itertools.pairwise(ordered))
    assert [result.index(place) for place in ordered] == sorted(range(len(wanted)), key=wanted.__getitem__)


def test_places_that_touch_stay_around_the_wanted_ones():
    assert labels.spread([50, 50, 50], 10, 0, 100) == [40, 50, 60]
    assert labels.spread([20, 51, 49, 50], 10, 0, 100) == [20, 60, 40, 50]


def test_ranks_have_whole_ticks_only():
    for models in (MODELS[:2], MODELS):
        chart = FRAME.rec.plot.ranks("ndcg@3", score=models).to_dict()
        axes = [channel["axis"] for channel in find(chart, "x") if "axis" in str(channel)]
        assert axes and all(axis["values"] == list(range(1, len(models) + 1)) for axis in axes)
        left, right = next(find(chart, "x"))["scale"]["domain"]
        assert (0 < left < 1) and right == len(models) + 1 - left, "equal room around the first and the last dot"
        ranked = FRAME.rec.rank_models("ndcg@3", score=models).sort("rank")
        assert next(find(chart, "y"))["sort"] == ranked["model"].to_list(), "the best model is at the top"


def test_segments_have_dots_with_intervals():
    result, rows, _ = spec(FRAME.rec.plot.segments("ndcg@3", per="country", score=["old", "new"]))
    expected = described("ndcg@3", per="country", score=["old", "new"])
    values = {(row["segment"], row["model"]): (row["mean"], row["low"], row["high"]) for row in rows}
    assert values == {(key[0] or "missing", key[1]): value for key, value in expected.items()}
    assert result["title"]["text"] == "ndcg@3 by country"


def test_of_many_segments_those_with_the_most_lists_are_drawn():
    frame = FRAME.with_columns(group=pl.min_horizontal("user", 50))
    result, rows, _ = spec(frame.rec.plot.segments("ndcg@3", per="group", score="old", most=2))
    assert len(rows) == 2 and "50" in {row["segment"] for row in rows}
    assert "2 of 51 segments, those with the most lists" in result["title"]["subtitle"]


@pytest.mark.parametrize(
    ("column", "kind", "first"),
    [
        (pl.col("date"), "temporal", "2024-01-01"),
        (pl.col("date").cast(pl.Datetime), "temporal", "2024-01-01T00:00:00Z"),
        (pl.col("date").dt.day(), "quantitative", 1),
        (pl.col("date").cast(pl.String), "ordinal", "2024-01-01"),
    ],
)
def test_trends_lay_out_dates_numbers_and_texts(column, kind, first):
    result, rows, _ = spec(FRAME.with_columns(column.alias("time")).rec.plot.trend("ndcg@3", per="time", score="old"))
    axes = [x for x in find(result, "x") if x["field"] == "place"]
    assert {x["type"] for x in axes} == {kind}
    assert {x["scale"].get("type") for x in axes if kind == "temporal"} <= {"utc"}
    assert rows[0]["place"] == first
    assert [row["mean"] for row in rows] == [rounded(mean) for mean, _, _ in trend_of("ndcg@3")]


def test_a_trend_of_too_many_times_is_refused(monkeypatch):
    monkeypatch.setattr("recframe._display.result_charts.MOST_MOMENTS", 1)
    with pytest.raises(recframe.InputError, match="per='date' has more than 1 values, too many for a chart"):
        FRAME.rec.plot.trend("ndcg@3", per="date", score="old")


@pytest.mark.parametrize(("every", "form"), [("1d", "%Y-%m-%d"), ("7h", "%Y-%m-%d %H:%M")])
def test_dates_of_a_trend_are_few_and_have_one_format(every, form):
    start = dt.datetime(2024, 1, 29)  # noqa: DTZ001 - as most frames hold times
    times = pl.datetime_range(start, start + dt.timedelta(days=40), every, eager=True)
    frame = pl.DataFrame({"user": range(len(times)), "score": 1.0, "relevant": 1, "time": times})
    result, _, _ = spec(frame.rec.plot.trend("mrr", per="time"))
    (axis,) = {str(x["axis"]): x["axis"] for x in find(result, "x") if x["field"] == "place"}.values()
    assert axis["format"] == form
    assert 5 <= len(axis["values"]) <= 7
    assert axis["values"][0] == start.replace(tzinfo=dt.UTC).timestamp() * 1000


def trend_of(metric):
    rows = FRAME.rec.describe(metric, per="date", score="old").to_dicts()
    return [(row["mean"], row["low"], row["high"]) for row in rows]


def test_tradeoffs_have_a_dot_for_each_model():
    _, rows, text = spec(FRAME.rec.plot.tradeoff("ndcg", "coverage", 2, score=MODELS))
    values = {row["model"]: (row["x"], row["y"]) for row in rows}
    expected = FRAME.rec.evaluate(["ndcg", "coverage"], k=2, score=MODELS)
    assert values == {model: rounded((x, y)) for model, x, y in expected.rows()}
    assert all(row["x_low"] < row["x"] < row["x_high"] for row in rows)
    assert "ndcg@2 (higher is better)" in text
    assert [row["name"] for row in labels_of(json.loads(text))] == MODELS


def test_tradeoffs_have_the_intervals_of_describe():
    _, rows, _ = spec(FRAME.rec.plot.tradeoff("gini", "mrr", 2, score=MODELS, confidence=0.9))
    result = {row["model"]: [(row[f"{name}_low"], row[f"{name}_high"]) for name in "xy"] for row in rows}
    expected = FRAME.rec.describe(["gini@2", "mrr@2"], score=MODELS, confidence=0.9)
    ends = {
        model: rows.select("low", "high").rows()
        for (model,), rows in expected.partition_by("model", as_dict=True).items()
    }
    assert result == {model: [rounded(pair) for pair in pairs] for model, pairs in ends.items()}
    assert all(None not in pair for pairs in result.values() for pair in pairs)


def test_charts_of_other_frames():
    pandas = pytest.importorskip("pandas")
    expected = spec(FRAME.rec.plot.trend("ndcg@3", per="date", score=["old", "new"]))[1]
    columns = FRAME.to_dict(as_series=False)
    result = spec(recframe.rec(pandas.DataFrame(columns)).plot.trend("ndcg@3", per="date", score=["old", "new"]))[1]
    order = [(row["model"], row["place"]) for row in expected]
    assert [(row["model"], row["place"]) for row in result] == order
    assert [row["mean"] for row in result] == pytest.approx([row["mean"] for row in expected])
    assert sorted(map(str, spec(FRAME.lazy().rec.plot.trend("ndcg@3", per="date", score=["old", "new"]))[1])) == sorted(
        map(str, expected)
    )


def test_bound_roles_hold():
    bound = FRAME.rename({"user": "object"}).rec(by="object", per="country", score=["old", "new"])
    assert (
        spec(bound.plot.segments("ndcg@3"))[1]
        == spec(FRAME.rec.plot.segments("ndcg@3", per="country", score=["old", "new"]))[1]
    )
    assert len(spec(bound.plot.curve("ndcg", k=[1, 2]))[1]) == 4, "per is not read"


def test_a_chart_is_saved_as_png(tmp_path):
    pytest.importorskip("vl_convert")
    FRAME.rec.plot.differences("ndcg@3", score=["old", "new"]).save(tmp_path / "chart.png")
    assert (tmp_path / "chart.png").read_bytes().startswith(b"\x89PNG")


def test_names_of_pairs_are_both_at_the_ends_of_lines():
    models = [f"{name}-with-a-configuration-in-its-name" for name in "abc"]
    frame = FRAME.with_columns(**dict(zip(models, (pl.col("old"), pl.col("new"), pl.col("item")), strict=True)))
    chart = frame.rec(score=models).plot.power("ndcg", difference=0.1).to_dict()
    names = {row["model"] for row in labels_of(chart)}
    assert len(names) == 3 and "b-with-a-configu…ion-in-its-name − a-with-a-configu…ion-in-its-name" in names
    assert chart["layer"][0]["encoding"]["color"]["legend"] is None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda plot: plot.curve("ndcg@5"), "ndcg@5 has a cutoff of its own"),
        (lambda plot: plot.curve("gauc"), "gauc accepts no cutoff"),
        (lambda plot: plot.curve("ndcg", per="country"), "per"),
        (lambda plot: plot.distribution(["ndcg", "mrr"]), "shows one metric at one cutoff, but these are ndcg, mrr"),
        (lambda plot: plot.distribution("coverage"), "coverage is one value of all lists together"),
        (
            lambda plot: plot.power("coverage", difference=1, score=["old", "new"]),
            "power needs a value per list, but coverage",
        ),
        (lambda plot: plot.differences("ndcg", score=MODELS), "shows two models, but there are 3"),
        (lambda plot: plot.differences("ndcg"), "differences shows two models, but there is one"),
        (lambda plot: plot.segments("ndcg"), "segments shows segments, but per= is not given"),
        (lambda plot: plot.segments("ndcg", per="country", most=0), "most=0 is less than 1"),
        (lambda plot: plot.trend("ndcg", per=["date", "country"]), "trend shows one column over time"),
        (lambda plot: plot.tradeoff("ndcg", "mrr", [1, 2]), "tradeoff shows two metrics"),
        (lambda plot: plot.segments("ndcg", per="country", confidence=2), "confidence"),
    ],
)
def test_what_no_chart_shows(call, message):
    with pytest.raises(recframe.RecError, match=re.escape(message)):
        call(FRAME.rec(score="old").plot)


@pytest.mark.parametrize(
    ("chart", "args", "given"),
    [
        ("distribution", ["ndcg"], {}),
        ("segments", ["ndcg"], {"per": "country"}),
        ("trend", ["ndcg"], {"per": "country"}),
        ("curve", [["ndcg", "mrr"]], {}),
        ("tradeoff", ["coverage", "ndcg", 2], {}),
    ],
)
def test_frames_without_a_value(chart, args, given):
    frame = FRAME.with_columns(relevant=0)
    with pytest.raises(recframe.InputError, match="no list has a value of ndcg"):
        getattr(frame.rec.plot, chart)(*args, score="old", **given)


def test_a_model_has_a_mean_from_its_first_list_with_a_weight_on():
    values = [np.array([0.5, np.nan]), np.array([np.nan, np.nan])]
    weights = [np.array([0.25, 1.0])] * 2
    assert Values(metrics.NDCG(k=3), ["a", "b"], values, weights).means == {"a": 0.5, "b": None}
    pair = Values(metrics.NDCG(k=3), ["a", "b"], [np.array([0.25, 0.5]), np.array([0.5, 0.25])], weights)
    assert sorted_differences(pair).mean == pytest.approx((0.5 - 2) * 0.25 / 2.5)
    light = [np.array([0.25, 0.25])] * 2
    assert sorted_differences(Values(pair.metric, pair.models, pair.values, light)).mean == 0


@pytest.mark.filterwarnings("ignore::recframe.DataWarning")  # a constant score orders nothing
def test_a_model_without_a_mean_has_a_panel():
    frame = FRAME.with_columns(new=1.0).rec(score=["old", "new"])
    result, _, _ = spec(frame.plot.distribution("spearman"))
    assert [panel["title"]["text"].partition(": ")[2][:5] for panel in result["vconcat"]] == ["mean ", "no me"]


def test_estimates_beyond_the_range_of_a_metric_have_bins_of_their_own():
    frame = pl.DataFrame({"user": [1, 2], "relevant": [1, 1], "score": [0.5, 0.5], "p": [0.1, 1.0]})
    _, rows, _ = spec(frame.rec.plot.distribution("precision", 1, propensity="p"))
    filled = [(row["from"], row["to"]) for row in rows if row.get("share")]
    assert filled == [(1.0, 1.5), (9.5, 10.0)]


def test_rounding_above_the_range_of_a_metric_adds_no_bins():
    above = np.array([0.0, 1.0, math.nextafter(1.0, 2.0)])
    rows = histogram(Values(metrics.NDCG(k=3), ["one"], [above], []))
    assert max(row["to"] for row in rows) == 1.0
    assert sum(row["share"] for row in rows) == pytest.approx(1)


LONG = "a model with dim=128,rate=0.001,layers=3,dropout=0.1 and seed {}\\f".format


def test_long_names_keep_their_ends_and_leave_room_for_the_chart():
    models = [LONG(0), LONG(1)]
    plot = FRAME.rename({"old": models[0], "new": models[1]}).rec(score=models).plot
    result, _, _ = spec(plot.differences("ndcg@3"))
    assert (
        result["title"]["text"] == "ndcg@3: a model with dim….1 and seed 1\\f against a model with dim….1 and seed 0\\f"
    )
    # Vega reads a backslash in the title of an axis as an escape, and images have no such letter.
    titles = [title for title in find(result, "title") if isinstance(title, str)]
    assert titles and not any("model" in title for title in titles)
    names = {"a model with dim….1 and seed 0\\f", "a model with dim….1 and seed 1\\f"}
    for chart in (plot.tradeoff("ndcg@3", "mrr"), plot.curve("ndcg", k=[1, 2]), plot.segments("ndcg@3", per="country")):
        result, rows, _ = spec(chart)
        assert {row["name"] for row in labels_of(result)} == names
        assert {row["model"] for row in rows} == set(models)
    result, _, _ = spec(FRAME.rename({"country": "a\\f"}).rec.plot.segments("ndcg@3", score="old", per="a\\f"))
    assert [title for title in find(result, "title") if isinstance(title, str)][:1] == ["a∖f"]


def test_many_models_have_no_bands_that_hide_each_other():
    models = [f"model {number}" for number in range(7)]
    plot = FRAME.with_columns(*(pl.col("old").alias(model) for model in models)).rec(score=models).plot
    result, _, text = spec(plot.curve("ndcg", k=[1, 2]))
    assert '"area"' not in text and result["title"]["subtitle"][0].endswith(" lists")
    result, _, text = spec(plot.tradeoff("ndcg@3", "mrr"))
    # Names at the dots would cover each other.
    assert '"text"' not in json.dumps([layer["mark"] for layer in result["layer"]]) and "labelExpr" in text


def test_one_list_is_one_list():
    result, _, _ = spec(FRAME.filter(user=0).with_columns(relevant=1).rec.plot.distribution("mrr", score="old"))
    assert result["title"]["subtitle"][0].startswith("1 list; ")


def test_models_of_different_lists_have_no_differences():
    frame = pl.DataFrame({"user": [1, 2], "relevant": [1, 1], "old": [0.5, None], "new": [None, 0.5]})
    with pytest.raises(recframe.InputError, match="no list has a value of mrr under both models"):
        frame.rec.plot.differences("mrr", score=["old", "new"], lists="ranked")


def test_without_altair_there_is_the_line_that_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(recframe.MissingExtraError, match="which is the extra 'plot' of recframe"):
        FRAME.rec.plot.curve("ndcg")


def test_a_broken_altair_is_not_called_missing(monkeypatch, tmp_path):
    (tmp_path / "altair.py").write_text("import no_such_module")
    monkeypatch.delitem(sys.modules, "altair")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        FRAME.rec.plot.curve("ndcg")


def test_numbers_are_none_of_the_specification_where_there_is_no_value():
    frame = FRAME.filter(pl.col("user") < 3)
    _, rows, text = spec(frame.rec.plot.segments("ndcg@3", per="country", score="old"))
    assert "NaN" not in text and all(row["low"] is None or math.isfinite(row["low"]) for row in rows)


def test_a_segment_named_missing_is_not_the_missing_one():
    frame = pl.DataFrame({"user": [1, 1, 2, 2], "relevant": [0, 1, 1, 0], "score": [2, 1, 2, 1]})
    frame = frame.with_columns(country=pl.Series([None, None, "missing", "missing"]))
    _, rows, _ = spec(frame.rec.plot.segments("mrr", per="country"))
    assert {row["segment"]: row["mean"] for row in rows} == {"missing": 0.5, "'missing'": 1.0}


@pytest.mark.slow
def test_control_characters_in_names_are_drawn_as_signs():
    # In a process of its own: what draws charts ends it at a character that XML does not allow.
    code = """
import polars as pl, recframe
frame = pl.DataFrame({
    "user": [1, 1, 2, 2], "relevant": [0, 1, 1, 0], "a\\x1bb": [.1, .2, .4, .3], "new\\x00": [2, 1, 2, 1],
    "country\\x07": ["a\\x00", "a\\x00", "c\\ufffe", "c\\ufffe"],
})
models, per = frame.columns[2:4], frame.columns[4]
plot = frame.rec(score=models).plot
charts = [plot.curve("ndcg", k=[1, 2]), plot.distribution("mrr"), plot.differences("mrr"),
    plot.segments("mrr", per=per), plot.trend("mrr", per=per), plot.tradeoff("mrr", "recall", k=1),
    plot.ranks("mrr"), plot.power("mrr", difference=0.1)]
for number, chart in enumerate(charts):
    chart.save(f"{number}.svg")
frame.rec(score=models, per=per).report("report.html", "mrr")
"""
    with TemporaryDirectory() as folder:
        result = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False)
        assert result.returncode == 0, result.stderr[:2000]
        texts = [path.read_text("utf-8") for path in sorted(Path(folder).iterdir())]
    assert len(texts) == 9
    assert all("␛" in text or "␀" in text for text in texts)
    assert not any(re.search("[\x00\x07\x1b\ufffe]", text) for text in texts)


@pytest.mark.parametrize("names", [[1, 2], [True, False], [None, "new"]])
def test_power_names_models_of_any_type(names):
    frame = pl.DataFrame({
        "user": [1, 1, 2, 2, 3, 3] * 2, "relevant": [1, 0, 0, 1, 1, 0] * 2,
        "score": [1, 2, 3, 1, 1, 2, 2, 1, 1, 5, 1, 3], "model": [names[0]] * 6 + [names[1]] * 6,
    })  # fmt: skip
    _, rows, _ = spec(frame.rec.plot.power("mrr", difference=0.1, model="model"))
    assert {row["model"] for row in rows if "model" in row} == {f"{names[1]} − {names[0]}"}


def test_power_of_differences_that_never_vary_says_so():
    frame = pl.DataFrame({"user": [1, 1, 2, 2], "relevant": [1, 0, 1, 0], "old": [1, 2, 1, 2], "new": [2, 1, 2, 1]})
    with pytest.raises(recframe.InputError, match="no pair of models has differences of mrr that vary"):
        frame.rec.plot.power("mrr", difference=0.1, score=["old", "new"])


@pytest.mark.parametrize("kind", ["segments", "trend"])
def test_segments_that_are_lists_or_structs_have_charts(kind):
    frame = pl.DataFrame(
        {"user": [1, 1, 2, 2], "relevant": [0, 1, 1, 0], "score": [2, 1, 2, 1], "of": [["a"]] * 2 + [["b"]] * 2}
    )
    for per in (frame, frame.with_columns(of=pl.struct(pl.col("of").list.first()))):
        names = {str(value) for value in per["of"].to_list()}
        drawn = str(getattr(per.rec.plot, kind)("mrr", per="of").to_dict())
        assert all(name in drawn.replace("\\", "") for name in names)
