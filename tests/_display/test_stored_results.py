"""Charts of results that were stored: they are the charts of the frame."""

import datetime as dt

import pytest

import recframe

pl = pytest.importorskip("polars")
pytest.importorskip("scipy")
pytest.importorskip("altair")

MODELS = ["old", "new"]
VISITS = recframe.datasets.visits().filter(pl.col("user") <= 60)
REC = VISITS.with_columns(day=dt.date(2026, 3, 1) + pl.duration(days=pl.col("user") % 4)).rec(score=MODELS)
CHARTS = {
    "curve": (
        lambda plot: plot.curve(["ndcg", "recall"], k=[1, 5], confidence=0.9),
        lambda: REC.describe(["ndcg", "recall"], k=[1, 5], confidence=0.9),
    ),
    "segments": (
        lambda plot: plot.segments("ndcg@5", per="country", confidence=0.9),
        lambda: REC.describe("ndcg@5", per="country", confidence=0.9),
    ),
    "trend": (
        lambda plot: plot.trend("mrr", per="day", confidence=0.9),
        lambda: REC.describe("mrr", per="day", confidence=0.9),
    ),
    "tradeoff": (
        lambda plot: plot.tradeoff("ndcg", "coverage", 5, confidence=0.9),
        lambda: REC.describe(["ndcg", "coverage"], k=5, confidence=0.9),
    ),
    "ranks": (
        lambda plot: plot.ranks("ndcg@5", confidence=0.9),
        lambda: REC.rank_models("ndcg@5", confidence=0.9),
    ),
}


@pytest.mark.parametrize("name", CHARTS)
def test_a_stored_result_has_the_chart_of_its_frame(name, tmp_path):
    of_frame, call = CHARTS[name]
    expected = of_frame(REC.plot).to_dict()
    draw = getattr(recframe.plot, name)
    result = call()
    assert draw(result).to_dict() == expected, "the result itself knows its confidence"
    result.write_parquet(tmp_path / "result.parquet")
    stored = [pl.read_parquet(tmp_path / "result.parquet")]
    if name != "trend":  # pandas reads times, where polars has dates
        pd = pytest.importorskip("pandas")
        stored.append(pd.DataFrame(result.to_dict(as_series=False)))
    for frame in stored:
        assert draw(frame, confidence=0.9).to_dict() == expected
        assert "90%" not in str(draw(frame).to_dict()), "a file does not hold the confidence"


def test_a_stored_comparison_has_its_forest_plot(tmp_path):
    result = REC.compare("ndcg@5")
    result.write_parquet(tmp_path / "result.parquet")
    assert recframe.forest(pl.read_parquet(tmp_path / "result.parquet")).to_dict() == recframe.forest(result).to_dict()


def test_a_chart_names_one_of_several_metrics():
    several = REC.describe(["ndcg@5", "mrr"], per="country")
    assert recframe.plot.segments(several, "mrr").to_dict()["title"]["text"] == "mrr by country"
    cutoffs = REC.describe(["ndcg", "recall", "mrr"], k=[1, 5])
    assert recframe.plot.curve(cutoffs, "recall").to_dict()["title"]["text"] == "recall by cutoff"
    assert recframe.plot.tradeoff(cutoffs, "recall@5", "mrr@1").to_dict()["title"]["text"] == "mrr@1 against recall@5"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: recframe.plot.power, "power draws the values of lists, which no stored result holds"),
        (lambda: recframe.plot.differences, r"df.rec.plot.differences\(...\) draws it from the rows"),
        (lambda: recframe.plot.forest, r"recframe.forest\(result\) draws a comparison"),
        (lambda: recframe.plot.curve(REC.evaluate("ndcg@5")), "curve draws a result of describe"),
        (lambda: recframe.plot.curve(REC.describe("gauc")), "gauc has none"),
        (lambda: recframe.plot.ranks(REC.describe("ndcg@5")), "ranks draws a result of rank_models"),
        (lambda: recframe.plot.segments(REC.describe("ndcg@5")), "per= is not given"),
        (lambda: recframe.plot.trend(REC.describe(["ndcg@5", "mrr"], per="week")), r"plot.trend\(result, 'ndcg@5'\)"),
        (lambda: recframe.plot.trend(REC.describe("ndcg@5", per="week"), "ndcg"), "no metric 'ndcg', but ndcg@5"),
        (lambda: recframe.plot.tradeoff(REC.describe("ndcg@5")), "tradeoff shows two metrics, but these are ndcg@5"),
        (lambda: recframe.plot.tradeoff(REC.describe("ndcg@5"), "ndcg@5"), "only one of x= and y="),
    ],
)
def test_what_no_stored_result_shows(call, message):
    with pytest.raises(recframe.RecError, match=f"(?s){message}"):
        call()
