"""`recframe.table`: bold by verdict, marks and intervals explained, in each format."""

import html
import itertools
import math
import re
import sys
import zipfile

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
RANKED = pl.DataFrame(
    {"metric": "ndcg", "model": ["old", "new"], "lists": 3, "mean": [0.3, 0.5], "rank": [2.0, 1.0]}
    | {"rank_low": 1.0, "rank_high": 2.0, "tied_with_best": True}
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


def test_no_value_is_bold_that_nothing_tested():
    assert rows(recframe.table(VALUES, digits=2)) == [
        ["model", "ndcg@10", "arp@10", "lists"],
        ["old\\_one", "0.25", "3.00", "3"],
        ["new", "0.50", "2.00", "3"],
        ["\\<third>", "0.50", "–", "1,200"],
    ]
    assert "Bold" not in str(recframe.table(VALUES))


def verdicts(*decided, per=None, metric="ndcg@10"):
    """Return a comparison, as `old new better`, each for a model, its baseline and the verdict."""
    pairs = [one.split() for one in decided]
    columns = {"day": [per] * len(pairs)} if per is not None else {}
    columns |= {"metric": [metric] * len(pairs), "model": [one[0] for one in pairs]}
    columns |= {"baseline": [one[1] for one in pairs]}
    columns |= {
        name: [0.1] * len(pairs) for name in ("mean", "baseline_mean", "difference", "low", "high", "p_adjusted")
    }
    return pl.DataFrame(columns | {"lists": 3, "verdict": [one[2] for one in pairs]})


MEANS = pl.DataFrame({"model": ["old", "new", "deep"], "ndcg@10": [0.5, 0.7, 0.6], "arp@10": [1.0, 2.0, 3.0]})


@pytest.mark.parametrize(
    ("compared", "cells", "note"),
    [
        (
            verdicts("new old better", "deep old better", "deep new open"),
            ["0.5", "**0.7**ᵃ", "**0.6**ᵃ"], "Bold: the best mean, and each that the comparison does not find worse",
        ),
        (verdicts("new old better", "deep old open"), ["0.5", "**0.7**ᵃ", "0.6"], "Only some pairs of models"),
        (verdicts("new old open", "deep old open", "deep new open"), ["0.5", "0.7", "0.6"], "No model is found better"),
        (verdicts("new old worse", "deep old open", "deep new better"), ["**0.5**ᵇ", "0.7", "**0.6**ᵇ"], "Letters: the"),
    ],
)  # fmt: skip
def test_means_are_bold_and_have_letters_by_a_comparison(compared, cells, note):
    table = recframe.table(MEANS, compared=compared, digits=1)
    result = rows(table)[1:]
    assert [row[0] for row in result] == ["old (a)", "new (b)", "deep (c)"]
    assert [row[1] for row in result] == cells
    assert note in str(table)


def test_the_legend_promises_bold_means_where_there_are_some():
    undecided = verdicts("new old open", "deep old open", "deep new open")
    decided = verdicts("new old better", "deep old open", "deep new open", metric="arp@10")
    text = str(recframe.table(MEANS.drop("arp@10"), compared=pl.concat([undecided, decided])))
    assert "Bold" not in text and "No model is found better" in text
    circle = verdicts("new old better", "old deep better", "deep new better")
    text = str(recframe.table(MEANS, compared=circle))
    assert "Bold" not in text and "No model" not in text and "Letters: the" in text


def test_where_lower_is_better_the_lowest_mean_is_bold():
    compared = verdicts("new old worse", "deep old worse", "deep new worse", metric="arp@10")
    assert [row[2] for row in rows(recframe.table(MEANS, compared=compared, digits=1))[1:]] == [
        "**1.0**ᵇᶜ",
        "2.0ᶜ",
        "3.0",
    ]


def test_more_models_than_letters_have_none():
    names = [f"m{number}" for number in range(26)]
    means = pl.DataFrame({"model": names, "ndcg@10": [float(number) for number in range(26)]})
    result = rows(recframe.table(means, compared=verdicts("m25 m0 better")))
    assert result[1][0] == "m0" and result[26][1] == "**25.0000**"


def test_the_best_model_of_the_first_metric_comes_first_if_requested():
    assert [row[0] for row in rows(recframe.table(MEANS, sort=True))[1:]] == ["new", "deep", "old"]
    by_cost = MEANS.select("model", "arp@10", "ndcg@10")
    assert [row[0] for row in rows(recframe.table(by_cost, sort=True))[1:]] == ["old", "new", "deep"]
    long = COMPARED.with_columns(difference=pl.Series([-0.2, None, 0.3]))
    assert [row[:2] for row in rows(recframe.table(long, sort=True))[1:]] == [
        ["ndcg", "new"], ["ndcg", "third"], ["mrr", "new"],
    ]  # fmt: skip
    assert recframe.table(MEANS.clear(), sort=True).to_markdown().count("\n") == 2


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (0.05, "0.050"),
        (0.0499, "0.050 *"),
        (0.01, "0.010 *"),
        (0.001, "0.001 **"),
        (0.000999, "<0.001 ***"),
        (0.0, "<0.001 ***"),
    ],
)
def test_stars_begin_below_their_level(p, text):
    table = str(recframe.table(COMPARED[:1].with_columns(p_adjusted=p)))
    assert f" {text} |" in table


def test_segments_are_columns_with_their_lists():
    values = pl.DataFrame(
        {"day": ["mon", "tue", "mon"], "model": ["a", "a", "b"], "mrr": [0.1, 0.2, 0.3], "lists": [5, 6, 4]}
    )
    assert rows(recframe.table(values, columns="segment", digits=1)) == [
        ["metric", "model", "mon (n = 4 to 5)", "tue (n = 6)"], ["mrr", "a", "0.1", "0.2"], ["mrr", "b", "0.3", "–"],
    ]  # fmt: skip
    compared = verdicts("new old better", per="mon").vstack(verdicts("new old open", per="tue"))
    assert rows(recframe.table(compared, columns="segment", digits=1, interval="none"))[1][2:] == ["**0.1**", "0.1"]


def test_metrics_are_columns_of_long_results():
    pytest.importorskip("scipy")
    spread = FRAME.rec.describe(["mrr", "ndcg@1"], score=["old", "new"])
    result = rows(recframe.table(spread, columns="metric", interval="plus_minus", digits=2))
    assert result[0] == ["model", "lists", "mrr", "ndcg@1"]
    assert result[1] == ["old", "3", "0.50 ± 0.35", "0.00 +0.56/-0.00"]
    assert "±: of the mean, at 95%." in str(recframe.table(spread, columns="metric", interval="plus_minus"))
    starred = COMPARED.with_columns(metric=pl.Series(["ndcg", "mrr", "arp"]))
    assert rows(recframe.table(starred, columns="metric", digits=1))[1] == [
        "new", "10", "**0.2 [0.1, 0.3]**∗∗∗", "–", "0.0",
    ]  # fmt: skip


def test_an_interval_of_two_different_halves_has_both():
    result = rows(recframe.table(COMPARED, interval="plus_minus", digits=1))
    differences = [row[result[0].index("difference")] for row in result[1:]]
    assert differences == ["0.2 ± 0.1", "-0.1 ± 0.2", "0.0"]
    skewed = COMPARED.with_columns(high=pl.lit(0.9))
    assert "0.2 +0.7/-0.1" in str(recframe.table(skewed, interval="plus_minus", digits=1))
    assert "interval" not in result[0] and "interval" not in rows(recframe.table(COMPARED, interval="none"))[0]


@pytest.mark.parametrize("call", ["describe", "compare", "rank_models"])
@pytest.mark.parametrize("library", ["polars", "lazy", "pandas"])
def test_the_note_names_the_confidence_that_was_used(call, library):
    pytest.importorskip("scipy")
    frame = FRAME.lazy() if library == "lazy" else FRAME
    if library == "pandas":
        frame = pytest.importorskip("pandas").DataFrame(FRAME.to_dict(as_series=False))
    result = getattr(frame.rec, call)("mrr", score=["old", "new"], confidence=0.9)
    assert ", at 90%." in str(recframe.table(result))
    changed = result.head(1)
    assert f"at the confidence given to {call} (0.95 unless named)" in str(recframe.table(changed)).replace("\\", "")
    assert ", at 90%." in str(recframe.table(changed, confidence=0.9))


def test_a_table_is_saved_in_the_format_of_the_ending(tmp_path):
    pytest.importorskip("great_tables")
    pytest.importorskip("vl_convert")
    table = recframe.table(COMPARED, title="<May>", digits=2)
    for ending, text in [("html", table.to_html()), ("tex", table.to_latex()), ("md", table.to_markdown())]:
        table.save(tmp_path / f"table.{ending}")
        # The HTML of a table has a name of its own each time.
        assert len((tmp_path / f"table.{ending}").read_text(encoding="utf-8")) == len(text)
    table.save(str(tmp_path / "table.PNG"))
    assert (tmp_path / "table.PNG").read_bytes().startswith(b"\x89PNG")


def test_the_image_holds_every_text_of_the_table():
    from recframe._display.table_image import svg

    table = recframe.table(MEANS, compared=verdicts("new old better"), title="<May>")
    texts = [html.unescape(text) for text in re.findall(r"<text[^>]*>([^<]*)</text>", svg(table._layout, "<May>"))]
    assert sorted(texts) == sorted([
        "<May>", "a", "model", "ndcg@10", "arp@10", "old (a)", "new (b)", "deep (c)",
        "0.5000", "0.7000", "0.6000", "1.0000", "2.0000", "3.0000", *table._layout.notes,
    ])  # fmt: skip


TEXT = re.compile(r'<text x="([\d.]+)" y="([\d.]+)" font-size="(\d+)"([^>]*)>([^<]*)</text>')


@pytest.mark.parametrize("title", [None, "A title that is wider than the columns of its table"])
@pytest.mark.parametrize("result", [COMPARED, MEANS, VALUES], ids=["compare", "means", "values"])
def test_no_two_texts_of_the_image_overlap(result, title):
    from recframe._display.labels import Box, text_width
    from recframe._display.table_image import svg

    image = svg(recframe.table(result, title=title)._layout, title)
    width, height = (float(re.search(rf'{side}="(\d+)"', image)[1]) for side in ("width", "height"))
    boxes = []
    for x, y, size, marks, text in TEXT.findall(image):
        wide = text_width(html.unescape(text), float(size), bold="bold" in marks)
        left = float(x) - (wide if 'text-anchor="end"' in marks else 0)
        boxes.append(Box(left, float(y) - float(size), left + wide, float(y)))
    assert len(boxes) == image.count("<text") > 5
    assert all(box.left >= 0 and box.top >= 0 and box.right <= width and box.bottom <= height for box in boxes)
    assert not [pair for pair in itertools.combinations(boxes, 2) if pair[0].overlap(pair[1])]


def test_the_texts_of_the_image_are_between_the_lines_around_their_row():
    from recframe._display.table_image import svg

    image = svg(recframe.table(VALUES)._layout, None)
    top, below_header, bottom = map(float, re.findall(r'd="M\d+ ([\d.]+)H', image))
    heights = [float(y) for _, y, size, _, _ in TEXT.findall(image) if size == "14"]
    assert sum(top < y < below_header for y in heights) == len(VALUES.columns)
    assert sum(below_header < y < bottom for y in heights) == len(heights) - len(VALUES.columns)


def test_a_sheet_holds_numbers(tmp_path):
    pytest.importorskip("xlsxwriter")
    recframe.table(COMPARED, title="May", digits=2).save(tmp_path / "table.xlsx")
    with zipfile.ZipFile(tmp_path / "table.xlsx") as book:
        sheet, texts = (book.read(f"xl/{name}").decode() for name in ("worksheets/sheet1.xml", "sharedStrings.xml"))
    assert "<v>0.5</v>" in sheet and "<v>10</v>" in sheet
    assert {"May", "difference", "&lt;0.001 ***"} <= set(re.findall(r"<t[^>]*>([^<]*)</t>", texts))


def test_metrics_of_ones_own_have_a_direction():
    result = VALUES.rename({"ndcg@10": "depth"}).select("model", "depth")
    with pytest.raises(recframe.InputError, match="named after a metric"):
        recframe.table(result, sort=True)
    assert [row[0] for row in rows(recframe.table(result, metrics=Depth(), sort=True))[1:]] == [
        "old\\_one",
        "new",
        "\\<third>",
    ]


def test_comparisons_have_intervals_and_marks():
    result = [
        dict(zip(rows(recframe.table(COMPARED))[0], row, strict=True)) for row in rows(recframe.table(COMPARED))[1:]
    ]
    assert [row["adjusted p"] for row in result] == ["\\<0.001 \\*\\*\\*", "0.040 \\*", "–"]
    assert [row["interval"] for row in result] == ["[0.1000, 0.3000]", "[-0.3000, 0.1000]", "–"]
    assert [row["mean"] for row in result] == ["**0.5000**", "0.2000", "0.1000"]
    assert [row["baseline mean"] for row in result] == ["0.3000", "**0.3000**", "0.1000"], "bold follows the verdict"
    assert [row["wins/ties/losses"] for row in result] == ["5/1/4", "1/1/8", "0/10/0"]
    text = recframe.table(COMPARED).to_markdown()
    assert "adjusted p-value below 0.05" in text and "Interval: of the difference" in text
    # What p-values decide may differ from what an interval suggests: the table says so where it does.
    assert "Open although" not in text
    doubtful = COMPARED.with_columns(low=pl.lit(0.1), verdict=pl.lit("open"))
    assert "Open although an interval leaves out 0" in recframe.table(doubtful).to_markdown()


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
    assert "| day |" in text and "**" not in text


@pytest.mark.parametrize("result", [VALUES, COMPARED], ids=["evaluate", "compare"])
def test_every_format_has_the_same_cells(result):
    pytest.importorskip("great_tables")
    compared = verdicts("old_one <third> better", "new <third> better") if result is VALUES else None
    table = recframe.table(result, title="Models of <May>", compared=compared)
    text, latex = table.to_html(), table.to_latex()
    count = table.to_markdown().count("**") // 2 - 1  # the title is bold in Markdown
    assert text.count("<strong>") == latex.count(r"\textbf{") == count > 0
    assert "&lt;May&gt;" in text and r"\textless{}May" in latex
    assert "<third>" not in text
    assert r"old\_one" in latex or result is COMPARED
    assert table._repr_html_().count("<tr>") == text.count("<tr>")
    assert type(table.gt).__name__ == "GT"


def test_names_mean_themselves_in_markdown():
    name = "R&D &amp; ~x~ [a](b) $e$ <b>|*_`\\\\"
    text = recframe.table(pl.DataFrame({"model": [name], "mrr": [0.5]})).to_markdown()
    assert "| R&D \\&amp; \\~x\\~ [a\\](b) \\$e\\$ \\<b>\\|\\*\\_\\`\\\\\\\\ |" in text


def test_rounding_leaves_no_sign_of_a_zero_and_infinite_values_are_values():
    result = rows(recframe.table(pl.DataFrame({"model": ["a", "b", "c"], "dcg": [-1e-9, math.inf, -math.inf]})))
    assert [row[1] for row in result[1:4]] == ["0.0000", "inf", "-inf"]


def test_a_star_at_the_start_of_a_line_is_no_argument_of_the_line_break_in_latex():
    pytest.importorskip("great_tables")
    assert "\\\\\n{}* adjusted p-value below 0.05" in recframe.table(COMPARED).to_latex()
    named = VALUES.with_columns(model=pl.lit("*old"))
    assert "\\\\\n{}*old &" in recframe.table(named).to_latex()


def test_tables_without_great_tables(monkeypatch):
    monkeypatch.setitem(sys.modules, "great_tables", None)
    table = recframe.table(VALUES)
    assert table.to_markdown() == table._repr_markdown_()
    assert "| old_one |" in repr(table), "terminals show names as they are"
    assert table._repr_html_() is None
    for call in (table.to_html, table.to_latex):
        with pytest.raises(recframe.MissingExtraError, match="pip install great_tables xlsxwriter, which is the extra"):
            call()


def test_files_of_no_format_are_refused(tmp_path, monkeypatch):
    table = recframe.table(VALUES)
    with pytest.raises(recframe.OptionError, match=r"ends in '.docx', but a table is saved as .html, .tex, .md, .png"):
        table.save(tmp_path / "table.docx")
    with pytest.raises(recframe.InputError, match="there is no directory"):
        table.save(tmp_path / "none" / "table.md")
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)
    with pytest.raises(recframe.MissingExtraError, match="packages for tables in Excel are not installed"):
        table.save(tmp_path / "table.xlsx")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("result", "given", "message"),
    [
        (0.5, {}, "result=0.5 is not a frame"),
        (FRAME, {"columns": "metric"}, "none of them is named after a metric"),
        (pl.DataFrame({"user": range(10_001)}), {}, "more than 10,000 rows"),
        (VALUES, {"digits": -1}, "digits=-1 is less than 0"),
        (VALUES, {"digits": 99}, "digits=99 is more than 15"),
        (VALUES, {"title": 1}, "title=1 is not text"),
        (VALUES, {"metrics": 1}, "metrics=1 is no list of metrics"),
        (VALUES, {"columns": "rows"}, "columns='rows' is not"),
        (VALUES, {"columns": "segment"}, "columns='segment' needs segments, but the result has none"),
        (VALUES, {"interval": "±"}, "interval='±' is not"),
        (VALUES, {"sort": "ndcg@10"}, "sort='ndcg@10' is neither True nor False"),
        (COMPARED, {"confidence": 95}, "confidence=95 is not a number between 0 and 1"),
        (VALUES, {"compared": VALUES}, "compared= is no result of compare"),
        (VALUES, {"compared": 5}, "compared=5 is not a frame\n\nHint: give the result of compare"),
        (VALUES, {"compared": COMPARED}, "compared= is of other models, metrics or segments than the result"),
        (COMPARED, {"compared": COMPARED}, "compared= decides about the means of several models"),
        (RANKED, {"compared": COMPARED}, "compared= decides about the means of several models"),
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
    assert rows(recframe.table(frame, metrics=[Mine()], digits=1, sort=True))[1] == ["a", "0.1", "0.3"]


def test_large_numbers_have_an_exponent():
    frame = pl.DataFrame({"model": ["a", "b"], "dcg@2": [1e300, -1e15]})
    assert [row[1] for row in rows(recframe.table(frame))[1:]] == ["1.0000e+300", "-1.0000e+15"]


TWO_LISTS = {"user": [1, 1, 2, 2], "item": [1, 2, 1, 2], "relevant": [1, 0, 0, 1], "score": [0.9, 0.8, 0.4, 0.1]}
TWO_MODELS = TWO_LISTS | {"other": [0.1, 0.8, 0.3, 0.2], "country": ["at", "at", "be", "be"]}


@pytest.mark.parametrize(
    ("call", "interval", "cells"),
    [
        ("describe", "plus_minus", {"mean": "0.8155 +0.1845/-0.8155"}),
        ("compare", "plus_minus", {"difference": "-0.1845 +1.1845/-0.8155", "verdict": "open"}),
        ("compare", "none", {"difference": "-0.1845", "mean": "0.6309"}),
    ],
)
def test_intervals_stand_beside_means_or_nowhere(call, interval, cells):
    pytest.importorskip("scipy")
    frame = pytest.importorskip("polars").DataFrame(TWO_MODELS)
    details = {"details": True} if call == "compare" else {}
    result = getattr(frame.rec, call)("ndcg", score=["score", "other"], by="user", **details)
    names, _, row, *_ = str(recframe.table(result, interval=interval)).splitlines()
    actual = dict(zip(*([cell.strip() for cell in line.split("|")] for line in (names, row)), strict=True))
    assert {name: actual[name] for name in cells} == cells
    assert "interval" not in actual
    assert ("wins/ties/losses" in actual) == (call == "compare")


def test_columns_may_be_segments_or_metrics_without_models():
    frame = pytest.importorskip("polars").DataFrame(TWO_MODELS)
    result = frame.rec.evaluate(["ndcg", "map"], by="user", per="country")
    lines = {name: str(recframe.table(result, columns=name)).split() for name in ("metric", "segment")}
    assert lines["metric"][:7] == ["|", "country", "|", "ndcg", "|", "map", "|"]
    assert lines["segment"][:7] == ["|", "metric", "|", "at", "|", "be", "|"]
    for actual in lines.values():
        assert {"1.0000", "0.6309", "0.5000"} <= {*actual}


@pytest.mark.parametrize("backend", ["numpy_nullable", "pyarrow"])
def test_missing_values_of_pandas_that_are_neither_true_nor_false(backend):
    pd = pytest.importorskip("pandas")
    if backend == "pyarrow":
        pytest.importorskip("pyarrow")
    rows = {"user": [1, 1, 2, 2], "country": ["de", "de", None, None], "relevant": [0, 1] * 2, "old": [1, 2, 2, 1]}
    frame = pd.DataFrame({**rows, "new": [2, 1] * 2})
    expected = str(recframe.table(frame.rec.evaluate("mrr", score=["old", "new"], per="country")))
    result = frame.convert_dtypes(dtype_backend=backend).rec.evaluate("mrr", score=["old", "new"], per="country")
    for each in (result, result.convert_dtypes(dtype_backend=backend)):
        assert str(recframe.table(each)) == expected
        with pytest.raises(recframe.ThresholdError, match="mrr of country 'de' and model 'new' is 0.5"):
            recframe.require(each, {"mrr": 0.6})


def test_levels_of_an_index_are_columns():
    pd = pytest.importorskip("pandas")
    pytest.importorskip("scipy")
    data = {"user": [1, 1, 2, 2], "relevant": [1, 0, 0, 1], "new": [1, 2, 3, 4], "old": [4, 3, 2, 1]}
    rec = recframe.rec(pd.DataFrame(data | {"day": [1, 1, 2, 2]}))
    models = {"score": ["new", "old"]}
    for result, levels in (
        (rec.evaluate("mrr", per="day", **models), ["day", "model"]),
        (rec.compare("mrr", **models), "metric"),
        (rec.compare("mrr", **models), ["metric", "model"]),
        (rec.compare("mrr", **models), ["model", "baseline"]),
        (rec.compare("mrr", per="day", **models), ["metric", "baseline"]),
        (rec.rank_models("mrr", per="day", **models), ["metric"]),
        (rec.describe("mrr", per="day", **models), ["day", "metric"]),
    ):
        assert str(recframe.table(result.set_index(levels))) == str(recframe.table(result.copy()))
    described = rec.describe("mrr", per="day", **models)
    for levels, header in {"metric": "metric | day | model", "day": "day | metric | model"}.items():
        assert str(recframe.table(described.set_index(levels))).startswith(f"| {header}")
    pytest.importorskip("altair")
    actual = rec.compare("mrr", **models)
    assert str(recframe.forest(actual.set_index("metric"))) == str(recframe.forest(actual.copy()))


SMALL = pl.DataFrame(
    {
        "user": [1, 1, 1, 2, 2, 2, 3, 3, 3],
        "item": ["tea", "jam", "rye"] * 3,
        "relevant": [1, 0, 0, 0, 1, 0, 0, 0, 1],
        "old": [0.1, 0.9, 0.3, 0.7, 0.2, 0.3, 0.5, 0.9, 0.1],
        "new": [0.9, 0.1, 0.3, 0.2, 0.7, 0.3, 0.1, 0.5, 0.9],
    }
)
BOTH = SMALL.rec(score=["old", "new"])
ONE_MODEL = SMALL.rec(score="new")
STATES = recframe.merge_states
RESULTS = {
    "evaluate": lambda: BOTH.evaluate(["ndcg@2", "mrr"], counts=True),
    "chance": lambda: BOTH.evaluate("ndcg@2", chance=True),
    "lists": lambda: BOTH.evaluate("ndcg@2", per="user"),
    "segments": lambda: ONE_MODEL.ndcg(2, per="user"),
    "describe": lambda: BOTH.describe("ndcg@2"),
    "describe details": lambda: BOTH.describe("ndcg@2", details=True),
    "compare": lambda: BOTH.compare("ndcg@2", baseline="old"),
    "compare details": lambda: BOTH.compare(["ndcg@2", "mrr"], relative=True, details=True),
    "compare segments": lambda: BOTH.compare("ndcg@2", per="user"),
    "rank_models": lambda: BOTH.rank_models("ndcg@2"),
    "sample_size": lambda: BOTH.sample_size("ndcg@2", difference=0.1),
    "bounds": lambda: ONE_MODEL.bounds("ndcg@2", truth=SMALL.select("user", "item", "relevant").head(7)),
    "estimate_with_judge": lambda: ONE_MODEL.estimate_with_judge(
        "ndcg@2", truth=SMALL.head(6).select("user", "item", "relevant"), judge=SMALL.select("user", "item", "relevant")
    ),
    "agreement": lambda: BOTH.agreement(2),
    "changes": lambda: BOTH.changes("ndcg@2"),
    "contributions": lambda: ONE_MODEL.contributions("ndcg@2"),
    "exposure": lambda: ONE_MODEL.exposure(target="catalog"),
    "check": lambda: BOTH.check(2),
    "check all": lambda: BOTH.check(2, all=True),
    "tune_fusion": lambda: BOTH.tune_fusion("ndcg@2", folds=2),
    "fuse": lambda: BOTH.fuse(method="rrf"),
    "top": lambda: ONE_MODEL.top(2),
    "state": lambda: BOTH.state("ndcg@2"),
    "merged": lambda: STATES(BOTH.state("ndcg@2")).compare(),
    "merged means": lambda: STATES(BOTH.state("ndcg@2")).describe(),
    "merged other lists": lambda: STATES(ONE_MODEL.state("ndcg@2")).compare(
        baseline=SMALL.with_columns(pl.col("user") + 9).rec(score="old").state("ndcg@2")
    ),
    "merged other lists details": lambda: STATES(ONE_MODEL.state("ndcg@2")).compare(
        baseline=SMALL.with_columns(pl.col("user") + 9).rec(score="old").state("ndcg@2"), details=True
    ),
}


@pytest.mark.filterwarnings("ignore::recframe.RecWarning")
@pytest.mark.parametrize("call", RESULTS)
def test_results_of_all_calls_are_tables(call):
    pytest.importorskip("scipy")
    result = RESULTS[call]()
    text = repr(recframe.table(result))
    assert text.count("\n") >= len(result) + 2
    assert not re.search(r"\d\.\d{5}", text), text
    cells = {cell.strip() for line in text.splitlines() if line.startswith("|") for cell in line.split("|")}
    assert not {"None", "nan", "null"} & cells
    in_pandas = pytest.importorskip("pandas").DataFrame(result.to_dict(as_series=False))
    assert repr(recframe.table(in_pandas)).splitlines()[0] == text.splitlines()[0]


def test_a_comparison_has_the_verdict_first_and_a_constant_baseline_below():
    pytest.importorskip("scipy")
    text = repr(recframe.table(BOTH.compare("ndcg@2", baseline="old")))
    assert text.splitlines()[0].replace(" ", "") == "|metric|model|verdict|difference|interval|adjustedp|"
    assert "\nBaseline: old.\n" in text
    assert max(map(len, text.splitlines()[:3])) <= 80
    several = SMALL.with_columns(deep=-pl.col("old")).rec(score=["old", "new", "deep"]).compare("ndcg@2")
    assert rows(recframe.table(several))[0][:4] == ["metric", "model", "baseline", "verdict"]
    assert "Baseline" not in repr(recframe.table(several))


@pytest.mark.parametrize(
    ("margin", "words"),
    [
        (None, "metric."),
        (0.02, "metric, and by the margin of 0.02."),
        ("2%", "metric, and by the margin of 2% of the baseline's mean."),
        ({"mrr": 0.02}, "metric, and by the margins of 0.02 (mrr)."),
        ({"mrr": 0.02, "recall@1": "1%"}, "by the margins of 0.02 (mrr), 1% of the baseline's mean (recall@1)."),
    ],
)
def test_a_comparison_names_its_margin(margin, words):
    pytest.importorskip("scipy")
    visits = recframe.datasets.visits()
    result = visits.rec.compare(["mrr", "recall@1"], score=["old", "new"], margin=margin)
    assert recframe.table(result).to_markdown().strip().endswith(words)
    # A changed frame has lost what the call was given.
    assert "by the margin if there is one." in recframe.table(result.head(1)).to_markdown()


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_findings_of_check_are_the_first_note(library):
    namespace = pytest.importorskip(library)
    rec = recframe.datasets.visits(library=library).rec(score=["old", "new"])
    values = rec.evaluate("ndcg@5")
    notes = str(recframe.table(values, checked=rec.check(20))).split("\n\n")[1]
    assert notes.startswith("Check of the data: no errors or warnings.")
    rows = {
        "finding": ["ties", "nan_scores", "ties", "unmatched"],
        "severity": ["warning", "error", "warning", "error"],
    }
    result = namespace.DataFrame({"model": ["old", "old", "new", "new"], **rows, "count": [3, 1, 2, 0]})
    notes = str(recframe.table(values, checked=result)).split("\n\n")[1]
    assert notes.startswith("Check of the data: 1 error (nan_scores) and 1 warning (ties).")
    with pytest.raises(recframe.InputError, match="checked= is no result of check"):
        recframe.table(values, checked=values)
