"""`df.rec.report`: one file that reads nothing else, sensible for one model and for several."""

import html
import re
from html.parser import HTMLParser

import pytest

import recframe
from recframe._display.colours import VERDICTS
from recframe._display.verdicts import InSegments

pl = pytest.importorskip("polars")
np = pytest.importorskip("numpy")
pytest.importorskip("scipy")
pytest.importorskip("vl_convert")
pytest.importorskip("altair")

EMPTY = {"meta", "path", "line", "rect", "br"}


def crowd():
    rng = np.random.default_rng(0)
    user = np.repeat(np.arange(30), 5)
    columns = {"user": user, "item": np.tile(np.arange(5), 30), "relevant": rng.random(150) < 0.4}
    columns |= {model: rng.random(150) for model in ("<old>", "new")}
    return pl.DataFrame(columns | {"day": [f"2024-01-0{1 + one % 3}" for one in user]}).with_columns(
        pl.col("day").str.to_date()
    )


class Page(HTMLParser):
    """The headings, charts and addresses of a page; fails where its elements do not nest."""

    def __init__(self, text):
        super().__init__()
        self.open, self.headings, self.charts, self.addresses, self.ids = [], [], 0, [], []
        self.columns, self.cells = [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.addresses += [value for name, value in attrs.items() if name in ("src", "href", "xlink:href")]
        self.ids += [attrs["id"]] if "id" in attrs else []
        self.charts += tag == "figure"
        self.cells += [attrs["data-column"]] if tag == "td" else []
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        if tag not in EMPTY:
            assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "h2":
            self.headings.append(data)
        if self.open and self.open[-1] == "th":
            self.columns.append(data)


def test_a_report_holds_means_comparisons_charts_checks_and_definitions(tmp_path):
    path = tmp_path / "report.html"
    crowd().rec(per="day").report(
        path, ["ndcg", "coverage"], k=[2, 3], score=["<old>", "new"], baseline="<old>", title="Models & more"
    )
    text = path.read_text(encoding="utf-8")
    page = Page(text)
    alarm, *first, check, last = page.headings
    assert first == ["Verdict", "Comparison", "Means", "Segments", "Charts", "How values of lists spread"]
    assert alarm == "In the data: 1 warning" and last == "What was computed"
    assert re.fullmatch(r"Check of the data: 1 warning(, \d+ notes?)?", check)
    assert text.count("<details>") == 3, "quantiles, findings and definitions are folded"
    # A forest plot at each cutoff and of segments; over cutoffs, the distribution, differences, segments, over time,
    # the tradeoff with coverage.
    assert page.charts == 9
    assert [f"#{name}" for name in page.ids if f"#{name}" in page.addresses] == page.addresses
    assert len(page.addresses) == 8 and len(set(page.ids)) == len(page.ids)
    assert set(re.findall(r"https?://[^\s\"<]*", text)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }
    assert "<h1>Models &amp; more</h1>" in text and "<old>" not in text
    widths = [float(width) for width in re.findall(r'<svg[^>]*? width="([\d.]+)"', text)]
    assert len(widths) == 9 and max(widths) < 700, "panels are one above the other, to be read on a phone"
    assert "figure svg { max-width: 100%" in text
    # Letters of the reader are wider than those that the chart was laid out with.
    assert re.search(r"figure svg {[^}]*overflow: visible", text)
    assert "currentColor" in text and "prefers-color-scheme: dark" in text
    assert "<th" in text and "undefined" in text and "adjusted p" in text
    # On a narrow screen, where the header is hidden, each value has the name of its column.
    assert page.cells and set(page.cells) == set(page.columns)
    assert re.search(r"pre {[^}]*white-space: pre-wrap; overflow-wrap: anywhere;", text)
    assert "thead { display: none; }" in text and "content: attr(data-column)" in text


def test_a_report_of_a_lazy_frame_is_written_at_the_call(tmp_path):
    eager, lazy, empty = (tmp_path / f"{name}.html" for name in ("eager", "lazy", "empty"))
    frame, given = crowd(), {"score": ["<old>", "new"], "baseline": "<old>"}
    assert frame.rec.report(eager, ["ndcg@2"], **given) is None
    assert frame.lazy().rec.report(lazy, ["ndcg@2"], **given) is None
    assert lazy.read_text() == eager.read_text()
    frame.head(0).rec.report(empty, ["ndcg@2"], score="new")
    assert Page(empty.read_text()).headings[0] == "Means"
    frame.head(0).rec(per="day").report(empty, ["ndcg@2", "coverage@2"], **given, margin="2%")
    assert Page(empty.read_text()).headings[:2] == ["Verdict", "Comparison"]


def test_a_report_says_that_numbers_are_estimates(tmp_path):
    frame = crowd().with_columns(chance=0.5)
    with recframe.Config(propensity="chance"):
        frame.rec.report(tmp_path / "report.html", "recall", k=2, score="new", weight="chance")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "each relevant item counts as 1 / chance items" in text and "of lists with the weight chance" in text


def test_one_model_needs_no_comparison(tmp_path):
    path = tmp_path / "report.html"
    crowd().rec.report(path, "mrr", score="new")
    page = Page(path.read_text(encoding="utf-8"))
    assert page.headings[1:4] == ["Means", "Charts", "How values of lists spread"]


@pytest.mark.filterwarnings("ignore::recframe.DataWarning")  # a constant score orders nothing
@pytest.mark.parametrize(("column", "metrics"), [({"relevant": 0}, ["ndcg@2"]), ({"new": 1.0}, ["spearman", "mrr"])])
def test_what_has_no_value_has_no_chart(tmp_path, column, metrics):
    path = tmp_path / "report.html"
    frame = crowd().with_columns(**column, country=pl.col("user") % 2)
    frame.rec.report(path, metrics, score=["<old>", "new"], per="country")
    page = Page(path.read_text(encoding="utf-8"))
    assert ("Charts" in page.headings) == ("new" in column) and "Means" in page.headings


def test_metrics_of_all_lists_together_have_means_only(tmp_path):
    path = tmp_path / "report.html"
    crowd().rec.report(path, "coverage", 2, score=["<old>", "new"])
    headings = Page(path.read_text(encoding="utf-8")).headings
    assert headings[1:2] == ["Means"] and len(headings) == 4


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"baseline": "none"}, "baseline='none' is not one of the models '<old>', 'new'"),
        ({"title": 1}, "title=1 is not text"),
        ({"path": 1}, "path=1 is not a path"),
        ({"correction": "all"}, "correction='all' is not one of"),
        ({"confidence": 2}, "confidence"),
    ],
)
def test_what_cannot_be_reported(tmp_path, given, message):
    given = {"path": tmp_path / "report.html", "metrics": "mrr", "score": ["<old>", "new"], **given}
    with pytest.raises(recframe.RecError, match=re.escape(message)):
        crowd().rec.report(**given)
    assert not (tmp_path / "report.html").exists()


def test_a_report_is_not_written_to_a_file_of_another_kind(tmp_path):
    path = tmp_path / "r.pdf"
    with pytest.raises(recframe.OptionError, match=r"(?s)ends in '.pdf', but a report is HTML.*r\.html"):
        crowd().rec.report(path, "mrr", score="new")
    assert not path.exists()


def test_a_missing_directory_is_an_error_before_all_work(tmp_path, monkeypatch):
    monkeypatch.setattr("recframe._display.report.options_of", None)
    with pytest.raises(recframe.errors.InputError, match="there is no directory"):
        crowd().rec.report(tmp_path / "none" / "report.html", ["ndcg"], k=3, by="user", score="new")


def test_a_report_begins_with_what_is_decided_and_of_what_data(tmp_path):
    path = tmp_path / "report.html"
    frame = pl.DataFrame({"user": [n for n in range(40) for _ in "ab"], "relevant": [1, 0] * 40})
    frame = frame.with_columns(
        old=pl.Series([0.1, 0.2] * 36 + [0.2, 0.1] * 4), new=pl.Series([0.2, 0.1] * 40), same=pl.Series([0.2, 0.1] * 40)
    )
    frame.rec.report(path, ["ndcg", "mrr"], k=2, score=["old", "new", "same"], baseline="old", confidence=0.9)
    text_of_page = path.read_text(encoding="utf-8")
    text = re.sub(r"<[^>]*>", "\n", text_of_page.partition("<h2>Verdict</h2>")[2])
    compared = frame.rec.compare(
        ["ndcg@2", "mrr@2"], score=["old", "new", "same"], baseline="old", confidence=0.9, details=True
    )
    low, high, baseline_mean = (compared[name][0] for name in ("low", "high", "baseline_mean"))
    assert compared["verdict"].to_list() == ["better"] * 4
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    assert lines[:4] == ["new is better than old", f"{compared['mean'][0]:.4f}", "against", f"{baseline_mean:.4f}"]
    difference = f"{compared['difference'][0]:+.4f} (+{compared['relative'][0]:.0%})"
    expected = f"{difference}, 90% interval {low:.4f} to {high:.4f}; adjusted p below 0.001; 40 lists"
    assert lines[4] == f"ndcg@2 {expected}"
    assert lines[5] == "better" and lines[6].startswith(": mrr@2 +")
    assert "The p-values are adjusted for the 4 tests of all pairs and metrics (correction=&#39;holm&#39;)." in lines
    head = re.findall(r"<li>([^<]*)</li>", text_of_page.partition("</ul>")[0])
    facts = ["40 lists", "80 rows", "models old, new, same", "against old", "k = 2", "90% confidence"]
    assert head[:-1] == facts and re.fullmatch(r"\d{4}-\d\d-\d\d", head[-1])
    assert f"Written by recframe {recframe.__version__}." in lines
    assert "Interval: of the difference, at 90%." in lines


@pytest.mark.slow
def test_small_segments_are_marked_and_definitions_stand_once(tmp_path):
    path = tmp_path / "report.html"
    crowd().rec(per="day").report(path, "ndcg", k=[2, 3], score=["<old>", "new"])
    text = path.read_text(encoding="utf-8")
    assert re.search(r">\d+ †<", text) and "† of fewer than 30 lists" in text
    assert text.count("<pre>") == 1


@pytest.mark.slow
def test_many_models_and_segments_show_the_rows_that_decide(tmp_path):
    path = tmp_path / "report.html"
    rng = np.random.default_rng(0)
    user = np.repeat(np.arange(400), 4)
    relevant = rng.random(1600) < 0.5
    models = [f"model {number}" for number in range(12)]
    columns = {model: 0.06 * number * relevant + rng.random(1600) for number, model in enumerate(models)}
    frame = pl.DataFrame({"user": user, "relevant": relevant, "segment": user % 40 * (user % 3 > 0), **columns})
    frame.rec.report(path, "ndcg", k=2, score=models, baseline="model 0", per="segment")
    text = path.read_text(encoding="utf-8")
    segments = text.partition("<h2>Segments</h2>")[2].partition("</section>")[0]
    shown, rest = segments.split("<summary>")
    compared = frame.rec.compare("ndcg@2", score=models, baseline="model 0", per="segment", details=True)
    assert f"60 of {len(compared)}: those with a decision first, then those with the most lists." in shown
    verdicts = re.findall(r'data-column="verdict">([^<]*)<', shown)
    assert len(verdicts) == 60 and rest.startswith(f"{len(compared) - 60} more rows")
    decided = compared.filter(pl.col("verdict") != "open").height
    assert 0 < decided < 60 and 60 - verdicts.count("open") == decided
    differences = [float(number) for number in re.findall(r'data-column="difference">([^<]*)<', shown)]
    assert differences == sorted(differences, reverse=True)
    # Of lists, the baseline and the five best have charts, and the segments with the most lists.
    means = dict(frame.rec.evaluate("ndcg@2", score=models).rows())
    best = sorted(models[1:], key=means.get)[-5:]
    assert re.findall(r">(model \d+): mean", text) == ["model 0", *sorted(best, key=models.index)]
    assert "10 of 40 segments, those with the most lists" in text


def test_names_of_any_letters_are_a_baseline(tmp_path):
    path = tmp_path / "report.html"
    name = "old\x1b[31m" + 200 * "x"
    crowd().rename({"<old>": name}).rec.report(path, "mrr", score=["new", name], baseline=name)
    text = path.read_text(encoding="utf-8")
    assert "\x1b" not in text and "overflow-wrap: anywhere" in re.search(r"body {[^}]*}", text)[0]


@pytest.mark.slow
def test_many_pairs_are_folded(tmp_path):
    path = tmp_path / "report.html"
    frame = crowd()
    names = [f"model {number}" for number in range(7)]
    frame = frame.with_columns([pl.col("new").shuffle(seed=number).alias(name) for number, name in enumerate(names)])
    frame.rec.report(path, "mrr", score=names)
    assert "9 more pairs of models" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("as_name", [lambda name: [name], lambda name: {"name": name}])
def test_models_and_segments_that_are_lists_or_structs_have_a_report(tmp_path, as_name):
    path = tmp_path / "report.html"
    rows = crowd().unpivot(names := ["new", "<old>"], index=["user", "item", "relevant"], variable_name="model")
    rows = rows.with_columns(
        pl.Series("model", [as_name(name) for name in rows["model"]]),
        pl.Series("country", [as_name("DE" if user % 2 else "FR") for user in rows["user"]]),
    )
    try:
        one = rows.head(1).with_columns(pl.col("model").unique(maintain_order=True))
        one.join(one, on="model", how="left")
    except pl.exceptions.PolarsError as error:
        pytest.skip(f"polars {pl.__version__}: {error}")
    rows.rec.report(path, "mrr", score="value", model="model", per="country", baseline=as_name("<old>"))
    text = html.unescape(path.read_text(encoding="utf-8"))
    assert all(str(as_name(name)) in text for name in (*names, "DE", "FR"))


def test_a_report_states_that_there_are_no_findings(tmp_path):
    path = tmp_path / "report.html"
    truth = pl.DataFrame({"user": [1, 1, 2, 2], "item": [1, 3, 3, 1]})
    frame = pl.DataFrame({"user": [1, 1, 2, 2], "item": [1, 2, 3, 4], "score": [0.9, 0.2, 0.8, 0.3]})
    assert frame.rec.check(truth=truth)["count"].sum() == 0
    frame.rec.report(path, "mrr", truth=truth)
    text = path.read_text(encoding="utf-8")
    assert "Check of the data: 0 findings" in text and "Nothing was found." in text


def lines_of(path):
    """Return the words of a page, line by line."""
    text = re.sub(r"(?s)<style>.*?</style>|<svg.*?</svg>", "", path.read_text(encoding="utf-8"))
    return [line.strip() for line in html.unescape(re.sub(r"<[^>]*>", "", text)).splitlines() if line.strip()]


@pytest.mark.slow
@pytest.mark.filterwarnings("always::recframe.DataWarning")
def test_a_report_warns_once_at_the_line_of_its_call(tmp_path):
    """Each table of the report looked at the data, and some warnings named a line of functools."""
    tied = crowd().with_columns(pl.lit(1.0).alias("<old>"))
    with pytest.warns(recframe.DataWarning) as caught:
        tied.rec.report(tmp_path / "report.html", "ndcg", k=3, score=["<old>", "new"])
    assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::recframe.DataWarning")
def test_errors_and_warnings_stand_above_the_verdict(tmp_path):
    path = tmp_path / "report.html"
    crowd().with_columns(pl.lit(1.0).alias("<old>")).rec.report(path, "ndcg", k=3, score=["<old>", "new"])
    lines = lines_of(path)
    alarm, verdict = lines.index("In the data: 1 error, 3 warnings"), lines.index("Verdict")
    assert alarm < verdict and lines[alarm + 1].startswith("error nothing_ordered: ")
    assert lines[alarm + 1].endswith("(<old>: 30, 100%)")
    assert lines[alarm + 2].startswith("warning ")
    assert any(line.startswith("Check of the data: 1 error, 3 warnings, 1 note") for line in lines)
    assert '<section class="alarm errors">' in path.read_text(encoding="utf-8")


def two_kinds(lists=120):
    """Return lists in which new is better for half of the users and worse for the others."""
    rng = np.random.default_rng(1)
    user = np.repeat(np.arange(lists), 6)
    kind = np.where(user % 3 > 0, "regular", "fresh")
    relevant = (rng.random(len(user)) < 0.4).astype(int)
    noise = rng.normal(size=(2, len(user)))
    pull = np.where(kind == "regular", 2.0, -2.0)
    return pl.DataFrame(
        {"user": user, "relevant": relevant, "kind": kind, "old": noise[0], "new": noise[1] + pull * relevant}
    )


@pytest.mark.slow
def test_the_headline_names_segments_that_say_the_contrary(tmp_path):
    path = tmp_path / "report.html"
    two_kinds().rec(score=["old", "new"]).report(path, "ndcg", k=3, per="kind", baseline="old")
    lines = lines_of(path)
    assert "new is better than old, but worse in fresh" in lines
    assert "By kind: worse in fresh; better in regular." in lines
    note = "There is one test of all pairs and metrics; those in segments for 2 tests of their own (correction='holm')."
    assert note in lines


def test_an_open_segment_whose_interval_says_the_contrary_is_named():
    rows = [{"verdict": "open", "low": -0.2, "high": -0.1}, {"verdict": "better", "low": 0.1, "high": 0.2}]
    in_segments = InSegments("kind", ["a", "b"], rows, higher_is_better=True)
    assert in_segments.contrary("better") == ", but perhaps worse in a"
    assert in_segments.contrary("worse") == ", but better in b"
    assert in_segments.contrary("open") == ", but better in b and perhaps worse in a"
    lower = InSegments("kind", ["a", "b"], rows, higher_is_better=False)
    assert lower.contrary("better") == ""
    both = InSegments("kind", ["a", "b"], [{"verdict": "worse", "low": -1, "high": -0.1}] * 2, higher_is_better=True)
    assert both.contrary("worse") == "" and both.sentence() == "By kind: worse in both segments."
    many = InSegments("week", list("abcdefg"), [{"verdict": "open", "low": -1, "high": 1}] * 7, higher_is_better=True)
    assert many.contrary("better") == "" and many.sentence() == "By week: open in all 7 segments."


@pytest.mark.slow
def test_open_says_what_would_have_been_missed_and_the_margin_stands_in_the_first_lines(tmp_path):
    path = tmp_path / "report.html"
    frame = crowd()
    frame.rec.report(path, "ndcg", k=2, score=["<old>", "new"], margin="2%")
    lines = lines_of(path)
    compared = frame.rec.compare("ndcg@2", score=["<old>", "new"], margin="2%", details=True)
    assert compared["verdict"][0] == "open"
    missed = next(line for line in lines if line.startswith("Open: a difference below "))
    assert float(missed.split()[4]) == pytest.approx(compared["detectable"][0], abs=0.005)
    assert "Not worse, and equivalent: by a margin of 2% of the baseline's mean." in lines
    assert "margin 2%" in " ".join(lines[:12])
    assert "direction of the metric, and by the margin of 2% of the baseline's mean." in " ".join(lines)
    with pytest.raises(recframe.OptionError, match="margin"):
        frame.rec.report(path, "ndcg", k=2, score=["<old>", "new"], margin=-1)


@pytest.mark.slow
def test_each_metric_may_have_a_margin_of_its_own(tmp_path):
    path = tmp_path / "report.html"
    margins = {"ndcg@3": 0.01, "mrr": "2%"}
    two_kinds().rec(score=["old", "new"]).report(path, ["ndcg@3", "mrr"], per="kind", baseline="old", margin=margins)
    lines = lines_of(path)
    assert "Not worse, and equivalent: by a margin of 0.01 for ndcg@3, 2% of the baseline's mean for mrr." in lines
    assert "margin 0.01 for ndcg@3, 2% for mrr" in " ".join(lines[:12])
    assert sum("; p of the margin " in line for line in lines) == 2


@pytest.mark.slow
def test_colours_of_the_page_are_verdicts(tmp_path):
    path = tmp_path / "report.html"
    two_kinds().rec(score=["old", "new"]).report(path, "ndcg", k=3, per="kind", baseline="old")
    text = path.read_text(encoding="utf-8")
    assert text.count("prefers-color-scheme: dark") == 2
    for verdict, colour in VERDICTS.items():
        name = verdict.replace(" ", "-")
        assert f"--{name}: {colour.light};" in text and f"--{name}: {colour.dark};" in text
        assert colour.chart not in text, "charts have the page's colours"
    assert "var(--better)" in text.partition("<svg")[2] and 'class="word worse" data-column="verdict"' in text


@pytest.mark.parametrize("lazy", [False, True])
def test_a_report_of_training_runs_shows_the_numbers_of_compare(tmp_path, lazy):
    rows = crowd().unpivot(
        ["<old>", "new"], index=["user", "item", "relevant"], variable_name="model", value_name="score"
    )
    shift = pl.col("item") * pl.col("seed") / 9
    frame = pl.concat([rows.with_columns(seed=seed) for seed in range(3)]).with_columns(score=pl.col("score") + shift)
    frame = frame.filter((pl.col("model") == "new") | (pl.col("seed") > 0))
    roles = {"model": "model", "runs": "seed", "baseline": "new"}
    with pytest.warns(recframe.DataWarning, match="'<old>' has two runs"):
        result = frame.rec.compare("ndcg@3", **roles).row(0, named=True)
    with pytest.warns(recframe.DataWarning, match="'<old>' has two runs"):
        (frame.lazy() if lazy else frame).rec.report(tmp_path / "runs.html", ["ndcg@3"], **roles)
    text = (tmp_path / "runs.html").read_text(encoding="utf-8")
    shown = re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", text)))
    assert "models new (3 runs), <old> (2 runs)" in shown
    assert f"95% interval {result['low']:+.4f} to {result['high']:.4f}".replace("+", "") in shown
    assert "means over the runs of a model" in shown
    assert "'<old>' has two runs in runs='seed', which tell little" in shown
    assert "duplicate_rows" not in shown
    assert Page(text).charts > 2
    with pytest.raises(recframe.OptionError, match="does not go with per='user'"):
        frame.rec.report(tmp_path / "runs.html", ["ndcg@3"], per="user", **roles)


def test_every_name_is_escaped(tmp_path):
    path = tmp_path / "report.html"
    name, title = "<script>alert(1)</script>", "<b>T</b>"
    frame = two_kinds().rename({"old": name, "kind": "<kind>"}).with_columns(pl.col("<kind>") + "<i>")
    frame.rec(score=[name, "new"]).report(path, "ndcg", k=3, per="<kind>", baseline=name, title=title)
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"<(script|b|i|kind)>", text.replace('<b class="', ""))
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text and "<h1>&lt;b&gt;T&lt;/b&gt;</h1>" in text


@pytest.mark.slow
def test_a_report_ranks_each_model_once_and_check_once_more(tmp_path, monkeypatch):
    from recframe._engines.polars.adapter import EagerPolars

    ranked, rank = [], EagerPolars.rank_rows
    monkeypatch.setattr(EagerPolars, "rank_rows", lambda *given: ranked.append(given[3]) or rank(*given))
    crowd().rec(score=["<old>", "new"]).report(tmp_path / "report.html", ["ndcg", "map"], k=2)
    assert len(ranked) == 4


def test_a_shared_ranking_up_to_a_later_position_gives_the_same_values():
    from recframe._engines.sharing import sharing

    rec = crowd().with_columns(pl.col("new").round(1)).rec(per="user", score="new")
    metrics = ["ndcg", "map", "rbp", "num_rel_ret"]
    expected = rec.evaluate(metrics, k=2)
    for last in (None, 4):
        with sharing() as shared:
            shared.upto = last
            assert rec.evaluate(metrics, k=3)["ndcg@3"].sum() > 0
            assert rec.evaluate(metrics, k=2).equals(expected)
            assert len(shared.rankings) == 1
