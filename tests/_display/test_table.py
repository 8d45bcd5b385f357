"""`recframe.table`: the best values bold, marks and intervals explained, in each format."""

import math
import re
import sys

import pytest

import recframe
from recframe import metrics

pl = pytest.importorskip("polars")

VALUES = pl.DataFrame(
    {
        "model": ["old_one", "new", "<third>"],
        "ndcg@10": [0.25, 0.5, 0.5],
        "arp@10": [3.0, 2.0, None],
        "lists": [3, 3, 1200],
    }
)
COMPARED = pl.DataFrame(
    {
        "metric": ["ndcg", "ndcg", "mrr"],
        "model": ["new", "third", "new"],
        "baseline": ["old", "old", "old"],
        "lists": [10, 10, 10],
        "mean": [0.5, 0.2, 0.1],
        "baseline_mean": [0.3, 0.3, 0.1],
        "difference": [0.2, -0.1, 0.0],
        "low": [0.1, -0.3, None],
        "high": [0.3, 0.1, None],
        "p_adjusted": [0.0004, 0.04, float("nan")],
        "verdict": ["better", "worse", "open"],
        "wins": [5, 1, 0],
        "ties": [1, 1, 10],
        "losses": [4, 8, 0],
    }
)
FRAME = pl.DataFrame(
    {
        "user": [1, 1, 2, 2, 3, 3],
        "relevant": [0, 1, 1, 0, 0, 1],
        "old": [3, 1, 1, 2, 2, 1],
        "new": [1, 2, 2, 1, 2, 1],
        "day": [1, 1, 1, 1, 2, 2],
    }
)


class Depth(metrics.Metric):
    """A metric of a user's own, which recframe cannot know by its name."""

    name = "depth"
    higher_is_better = False

    def terms(self, row):
        return {"hits": row.hit}

    def value(self, sums):
        return sums["hits"]


def rows(table):
    """Return the cells of a table of Markdown."""
    lines = [line for line in table.to_markdown().splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines if "---" not in line]


def test_the_best_values_are_bold_in_the_direction_of_the_metric():
    assert rows(recframe.table(VALUES, digits=2)) == [
        ["model", "ndcg@10", "arp@10", "lists"],
        ["old\\_one", "0.25", "3.00", "3"],
        ["new", "**0.50**", "**2.00**", "3"],
        ["\\<third>", "**0.50**", "–", "1,200"],
    ]
    assert "lower is better for arp@10." in str(recframe.table(VALUES))


@pytest.mark.parametrize(
    ("result", "bold"),
    [
        (VALUES.filter(pl.col("model") == "new"), 0),
        (VALUES.with_columns(pl.lit(1.0).alias("ndcg@10"), pl.lit(None).alias("arp@10")), 0),
        (VALUES.drop("model"), 0),
        (VALUES.with_columns(country=pl.Series(["at", "at", "be"])).select("model", "country", "ndcg@10"), 1),
        (VALUES.rename({"ndcg@10": "depth"}).select("model", "arp@10", "depth"), 1),
    ],
    ids=["one model", "no difference", "no models", "segments", "unknown metric"],
)
def test_bold_needs_a_better_and_a_worse_value(result, bold):
    text = str(recframe.table(result))
    assert text.count("**") == 2 * bold
    assert ("Bold:" in text) == bool(bold)
    assert ("Bold says nothing of significance." in text) == bool(bold)


def test_metrics_of_ones_own_have_a_direction():
    result = VALUES.rename({"ndcg@10": "depth"}).select("model", "depth")
    with pytest.raises(recframe.InputError, match="named after a metric"):
        recframe.table(result)
    assert rows(recframe.table(result, metrics=Depth()))[1][1] == "**0.2500**"


def test_comparisons_have_intervals_and_marks():
    found = [
        dict(zip(rows(recframe.table(COMPARED))[0], row, strict=True)) for row in rows(recframe.table(COMPARED))[1:]
    ]
    assert [row["adjusted p"] for row in found] == ["\\<0.001 \\*\\*\\*", "0.040 \\*", "–"]
    assert [row["interval"] for row in found] == ["[0.1000, 0.3000]", "[-0.3000, 0.1000]", "–"]
    assert [row["mean"] for row in found] == ["**0.5000**", "0.2000", "0.1000"]
    assert [row["baseline mean"] for row in found] == ["0.3000", "**0.3000**", "0.1000"], "bold follows the verdict"
    assert [row["wins/ties/losses"] for row in found] == ["5/1/4", "1/1/8", "0/10/0"]
    text = recframe.table(COMPARED).to_markdown()
    assert "adjusted p-value below 0.05" in text and "Interval: of the difference" in text


@pytest.mark.parametrize("call", ["evaluate", "describe", "compare"])
@pytest.mark.parametrize("library", ["polars", "lazy", "pandas"])
def test_results_of_the_calls_are_read(call, library):
    pytest.importorskip("scipy")
    frame = FRAME
    if library == "pandas":
        frame = pytest.importorskip("pandas").DataFrame(FRAME.to_dict(as_series=False))
    elif library == "lazy":
        frame = FRAME.lazy()
    result = getattr(frame.rec, call)(["mrr", "ndcg@1"], score=["old", "new"], per="day")
    text = recframe.table(result).to_markdown()
    assert "| day |" in text and ("segment by segment" in text) == ("**" in text) == (call != "compare")


@pytest.mark.parametrize("result", [VALUES, COMPARED], ids=["evaluate", "compare"])
def test_every_format_has_the_same_cells(result):
    pytest.importorskip("great_tables")
    table = recframe.table(result, title="Models of <May>")
    html, latex = table.to_html(), table.to_latex()
    count = str(table).count("**") // 2 - 1  # the title is bold in Markdown
    assert html.count("<strong>") == latex.count(r"\textbf{") == count > 0
    assert "&lt;May&gt;" in html and r"\textless{}May" in latex
    assert "<third>" not in html
    assert r"old\_one" in latex or result is COMPARED
    assert table._repr_html_().count("<tr>") == html.count("<tr>")
    assert type(table.gt).__name__ == "GT"


def test_names_mean_themselves_in_markdown():
    name = "R&D &amp; ~x~ [a](b) $e$ <b>|*_`\\\\"
    text = recframe.table(pl.DataFrame({"model": [name], "mrr": [0.5]})).to_markdown()
    assert "| R&D \\&amp; \\~x\\~ [a\\](b) \\$e\\$ \\<b>\\|\\*\\_\\`\\\\\\\\ |" in text


def test_rounding_leaves_no_sign_of_a_zero_and_infinite_values_are_values():
    found = rows(recframe.table(pl.DataFrame({"model": ["a", "b", "c"], "dcg": [-1e-9, math.inf, -math.inf]})))
    assert [row[1] for row in found[1:4]] == ["0.0000", "**inf**", "-inf"]


def test_a_star_at_the_start_of_a_line_is_no_argument_of_the_line_break_in_latex():
    pytest.importorskip("great_tables")
    assert "\\\\\n{}* adjusted p-value below 0.05" in recframe.table(COMPARED).to_latex()
    named = VALUES.with_columns(model=pl.lit("*old"))
    assert "\\\\\n{}*old &" in recframe.table(named).to_latex()


def test_tables_without_great_tables(monkeypatch):
    monkeypatch.setitem(sys.modules, "great_tables", None)
    table = recframe.table(VALUES)
    assert table.to_markdown() == table._repr_markdown_() == repr(table)
    assert table._repr_html_() is None
    for call in (table.to_html, table.to_latex):
        with pytest.raises(recframe.MissingExtraError, match="pip install great_tables, which is the extra 'tables'"):
            call()


@pytest.mark.parametrize(
    ("result", "given", "message"),
    [
        (0.5, {}, "result=0.5 is not a frame"),
        (FRAME, {}, "none of them is named after a metric"),
        (VALUES, {"digits": -1}, "digits=-1 is less than 0"),
        (VALUES, {"digits": 99}, "digits=99 is more than 15"),
        (VALUES, {"title": 1}, "title=1 is not text"),
        (VALUES, {"metrics": 1}, "metrics=1 is no list of metrics"),
    ],
)
def test_what_is_no_table(result, given, message):
    with pytest.raises(recframe.RecError, match=re.escape(message)):
        recframe.table(result, **given)


def test_metrics_of_ones_own_without_a_cutoff_are_known_with_one():
    class Mine(recframe.CutMetric):
        name = "mine"
        higher_is_better = False

        def value(self, sums):
            return sums.relevant

    frame = pl.DataFrame({"model": ["a", "b"], "mine@2": [0.1, 0.2], "mine@5": [0.3, 0.2]})
    text = recframe.table(frame, metrics=[Mine()], digits=1).to_markdown()
    assert "| a | **0.1** | 0.3 |" in text
    assert "lower is better" in text


def test_large_numbers_have_an_exponent():
    frame = pl.DataFrame({"model": ["a", "b"], "dcg@2": [1e300, -1e15]})
    assert "| a | **1.0000e+300** |" in recframe.table(frame).to_markdown()
    assert "| b | -1.0000e+15 |" in recframe.table(frame).to_markdown()
