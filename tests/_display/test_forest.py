"""`recframe.forest`: the chart shows what `compare` found, and nothing else."""

import json
import re

import pytest

import recframe
from recframe._display.chart_texts import LABEL_WIDTH
from recframe._display.colours import VERDICTS

pl = pytest.importorskip("polars")
pytest.importorskip("scipy")
pytest.importorskip("altair")

FRAME = pl.DataFrame({
    "user": [user for user in range(12) for _ in "abc"],
    "relevant": [1, 0, 0] * 12,
    "old": [1, 3, 2] * 10 + [3, 2, 1] * 2,
    "new": [3, 2, 1] * 11 + [2, 3, 1],
    "flat": [1, 2, 3] * 12,
    "day": ["mon"] * 18 + [None] * 18,
})  # fmt: skip
MODELS = ["old", "new", "flat"]


def find(node, key):
    """Return the values of a key anywhere in a specification."""
    if isinstance(node, dict):
        yield from ([node[key]] if key in node else [])
        node = list(node.values())
    if isinstance(node, list):
        for child in node:
            yield from find(child, key)


def drawn(chart):
    result = chart.to_dict()
    panels = result.get("vconcat", [result])
    rows = {}
    for panel in panels:
        for layer in panel["layer"]:
            name = layer.get("data", panel.get("data", {})).get("name")
            values = layer.get("data", {}).get("values") or result.get("datasets", {}).get(name, [])
            rows |= {(row["metric"], row["pair"]): row for row in values if "pair" in row}
    return result, panels, rows


def test_a_line_for_each_pair_a_panel_for_each_metric():
    result = FRAME.rec.compare(["mrr", "ndcg"], k=2, score=MODELS, baseline="old", details=True)
    _, panels, rows = drawn(recframe.forest(result))
    assert len(panels) == 2 and len(rows) == 4
    for row in result.iter_rows(named=True):
        one = rows[row["metric"], row["model"]]
        names = ("difference", "low", "high", "verdict", "lists")
        assert [one[name] for name in names] == [row[name] for name in names]
    assert panels[0]["title"]["subtitle"][0] == "against old, 12 lists"
    short = FRAME.rec.compare(["mrr", "ndcg"], k=2, score=MODELS, baseline="old")
    _, panels, few = drawn(recframe.forest(short))
    details = ("lists", "text")  # the text holds the relative difference
    assert few == {
        key: {name: row[name] for name in row if name not in details} | {"text": row["verdict"]}
        for key, row in rows.items()
    }
    assert panels[0]["title"]["subtitle"][0] == "against old"


def test_all_pairs_and_segments_are_named():
    result = FRAME.rec.compare("mrr", k=2, score=MODELS, per="day")
    _, _, rows = drawn(recframe.forest(result))
    expected = {f"{day} · {pair}" for day in ("mon", "missing") for pair in ("new − old", "flat − old", "flat − new")}
    assert {pair for _, pair in rows} == expected


def test_two_segments_of_one_name_have_lines_of_their_own():
    result = FRAME.with_columns(pl.col("day").replace("mon", "missing")).rec.compare(
        "mrr", score=["old", "new"], per="day"
    )
    _, _, rows = drawn(recframe.forest(result))
    assert {pair for _, pair in rows} == {"'missing' · new", "missing · new"}


def test_models_may_be_lists():
    long = pl.concat([FRAME.select("user", "relevant", score=name).with_columns(model=[name]) for name in MODELS[:2]])
    _, _, rows = drawn(recframe.forest(long.rec.compare("mrr", model="model")))
    assert [pair for _, pair in rows] == ["['new']"]


def colours_of(panel):
    """Return the colour of each verdict, which every layer of a panel has in common."""
    scales = [layer["encoding"]["color"]["scale"] for layer in panel["layer"] if "color" in layer["encoding"]]
    assert scales and all(scale == scales[0] for scale in scales)
    return dict(zip(scales[0]["domain"], scales[0]["range"], strict=True))


def test_colours_are_verdicts_and_open_ones_are_rings():
    verdicts = ["better", "open", None]
    result = FRAME.rec.compare("mrr", score=MODELS).with_columns(pl.Series("verdict", verdicts))
    _, panels, rows = drawn(recframe.forest(result))
    assert colours_of(panels[0]) == {name: verdict.chart for name, verdict in VERDICTS.items()}
    for row in rows.values():
        assert row["shown_verdict"] == (row["verdict"] or "open") and row["hollow"] == (row["verdict"] != "better")
        ring = row["left"] < row["difference"] < row["right"]
        assert ring == row["hollow"], "the interval leaves out the middle of a ring"
    assert len({VERDICTS[name].chart for name in ("better", "worse", "equivalent", "open")}) == 4
    assert VERDICTS["equivalent"].chart == VERDICTS["not worse"].chart


@pytest.mark.parametrize(
    ("share", "text"), [(0.254, " +25%"), (-0.0312, " −3.1%"), (0.00001, " 0%"), (None, ""), (float("inf"), "")]
)
def test_verdicts_stand_with_relative_differences(share, text):
    result = FRAME.rec.compare("mrr", score=["old", "new"]).with_columns(relative=pl.lit(share))
    assert [row["text"] for row in drawn(recframe.forest(result))[2].values()] == [f"better{text}"]


def test_labels_of_pairs_have_room_for_two_names():
    result = json.dumps(recframe.forest(FRAME.rec.compare("mrr", score=MODELS)).to_dict())
    limits = [float(limit) for limit in re.findall(r'"labelLimit": ([\d.]+)', result)]
    assert limits and min(limits) >= 2 * LABEL_WIDTH


def test_panels_share_their_zero():
    result = FRAME.rec.compare(["mrr", "dcg", "precision@1"], score=MODELS, baseline="old")
    _, panels, rows = drawn(recframe.forest(result))
    shares = []
    for panel in panels:
        domains = {tuple(scale["domain"]) for scale in find(panel["layer"], "scale") if "domain" in scale}
        (ends,) = [ends for ends in domains if isinstance(ends[0], float)]
        shares.append(-ends[0] / (ends[1] - ends[0]))
        name = panel["title"]["text"].removeprefix("Difference of ")
        of_panel = [row for (metric, _), row in rows.items() if metric == name]
        numbers = [row[column] for row in of_panel for column in ("low", "difference", "high")]
        assert ends[0] < min(numbers) and max(numbers) < ends[1]
        # The axis ends soon after the interval that reaches furthest.
        assert max(min(numbers) / ends[0], max(numbers) / ends[1]) > 0.9
    assert len(panels) == 3 and shares == pytest.approx([shares[0]] * 3)


def test_a_forest_plot_is_as_narrow_as_a_phone_and_wider_for_long_names():
    result = FRAME.rec.compare("mrr", score=MODELS)
    assert recframe.forest(result).to_dict()["width"] <= 358
    long = FRAME.rename({"old": "o" * 40, "new": "n" * 40})
    long = long.rec.compare("mrr", score=["o" * 40, "n" * 40, "flat"])
    assert recframe.forest(long).to_dict()["width"] > 358


def test_of_many_pairs_those_with_the_largest_differences_are_drawn(monkeypatch):
    monkeypatch.setattr("recframe._display.forest.MOST_PAIRS", 1)
    result = FRAME.rec.compare("mrr", score=MODELS, baseline="old")
    actual, _, rows = drawn(recframe.forest(result))
    assert [pair for _, pair in rows] == ["new"]
    assert "1 of 2 pairs, those with the largest differences" in actual["title"]["subtitle"]


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (FRAME.rec.evaluate("mrr", score="old"), "a forest plot shows a result of compare"),
        (FRAME.clear(), "a forest plot shows a result of compare"),
        ("mrr", "result='mrr' is not a frame"),
    ],
)
def test_what_is_no_comparison(result, message):
    with pytest.raises(recframe.RecError, match=message):
        recframe.forest(result)


def test_without_a_difference_there_is_no_chart():
    result = FRAME.with_columns(relevant=0).rec.compare("mrr", score=["old", "new"])
    with pytest.raises(recframe.InputError, match="no pair of models has a difference"):
        recframe.forest(result)


def test_the_line_at_zero_is_inside_the_panel():
    result = FRAME.rec.compare("mrr", score=["old", "new"])
    assert result["low"].min() > 0
    _, panels, _ = drawn(recframe.forest(result))
    for layer in panels[0]["layer"]:
        low, high = layer["encoding"]["x"].get("scale", {"domain": (-1, 1)})["domain"]
        assert low < 0 < high


def test_names_that_differ_in_the_middle_only_have_lines_of_their_own():
    models = {name: f"{'a' * 20}-{name}-{'z' * 20}" for name in MODELS}
    result = FRAME.rename(models).rec.compare("mrr", score=[*models.values()])
    _, _, rows = drawn(recframe.forest(result))
    assert len(rows) == 3
