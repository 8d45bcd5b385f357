"""The geometric and harmonic mean and the median over lists, against Python's own, and what each refuses."""

from __future__ import annotations

import math
from statistics import fmean, geometric_mean, harmonic_mean, median

import pytest

import oracle
import recframe
from compare import same
from strategies import BINARY, crowd

pl = pytest.importorskip("polars")

MEANS = {"arithmetic": fmean, "geometric": geometric_mean, "harmonic": harmonic_mean, "median": median}
LABELS = ["mrr", "map@2", "ndcg", "ndcg(ideal=ones)@3"]


def data(*, zeros: bool):
    """Return lists of two days, with or without such that score 0."""
    rows = [{**row, "day": row["user"] is None} for row in crowd(21, 24, relevance=BINARY, missing=0.0)]
    values = oracle.evaluate(rows, LABELS, per="user")
    keep = [
        key for key, result in values.items() if None not in result.values() and (zeros or min(result.values()) > 0)
    ]
    return [row for row in rows if (row["user"],) in keep], {key: values[key] for key in keep}


@pytest.mark.parametrize("mean", MEANS)
def test_means_of_lists(engine, mean):
    rows, values = data(zeros=mean == "median")
    result = engine.ask(engine.frame(rows), "evaluate", LABELS, mean=mean, counts=True)[0]
    for label in LABELS:
        assert same(result[label], MEANS[mean]([of_list[label] for of_list in values.values()])), label
    assert result["lists"] == len(values)
    lists = engine.ask(engine.frame(rows), "evaluate", LABELS, mean=mean, per="user")
    assert {(row["user"],): row["map@2"] for row in lists} == pytest.approx({k: v["map@2"] for k, v in values.items()})


FRAME = {
    "user": [1, 1, 2, 2, 3],
    "relevant": [1, 0, 1, 0, 0],
    "score": [2.0, 1.0, 1.0, 2.0, 1.0],
    "day": [1, 1, 2, 2, 2],
}


@pytest.mark.parametrize(("mean", "value"), [("geometric", 0.0), ("harmonic", 0.0), ("median", 0.5)])
def test_a_value_of_0_and_segments(engine, mean, value):
    # mrr is 1, 0.5 and, as a number for what is undefined, 0.
    frame = engine.frame(FRAME)
    assert engine.ask(frame, "mrr", mean=mean, undefined=0.0) == value
    rows = engine.ask(frame, "mrr", mean=mean, by=["day", "user"], per="day")
    assert {row["day"]: row["mrr"] for row in rows} == {1: 1.0, 2: 0.5}


@pytest.mark.parametrize("mean", ["geometric", "harmonic"])
def test_a_value_of_0_changes_no_other_segment(engine, mean):
    frame = {"user": [1, 1, 2, 2], "day": [1, 1, 2, 2], "relevant": [0, 1, 0, 1], "score": [1, 1, 2, 1]}
    rows = engine.ask(engine.frame(frame), "evaluate", "precision@1", mean=mean, per="day")
    assert sorted((row["day"], round(row["precision@1"], 12)) for row in rows) == [(1, 0.5), (2, 0.0)]


@pytest.mark.parametrize("mean", ["geometric", "harmonic"])
@pytest.mark.parametrize("weights", [(1.0, 1e-200), (1.0, 1e-305), (1e100, 1e-100), (1e100, 1e100), (1.0, 0.0)])
def test_a_value_of_0_makes_the_mean_0_however_little_its_list_weighs(engine, mean, weights):
    frame = {"user": [1, 2, 2], "relevant": [1, 0, 1], "score": [1, 2, 1], "w": [weights[0], weights[1], weights[1]]}
    # A list without weight does not count.
    expected = 0.0 if weights[1] else 1.0
    assert engine.ask(engine.frame(frame), "precision", 1, mean=mean, weight="w") == expected


@pytest.mark.parametrize("mean", ["geometric", "harmonic"])
def test_a_weight_that_is_none_gives_no_mean_beside_a_value_of_0(mean):
    pytest.importorskip("pyarrow")
    duckdb = pytest.importorskip("duckdb")
    rows = duckdb.sql(
        "SELECT * FROM (VALUES (1, 1, 1, -1.0), (2, 0, 2, 1.0), (2, 1, 1, 1.0)) t(user, relevant, score, w)"
    )
    assert math.isnan(recframe.rec(rows).precision(1, mean=mean, weight="w").fetchall()[0][0])


class NearZero(recframe.Metric):
    """A value that is 0, or below it by rounding."""

    name = "near_zero"

    def terms(self, row):
        return {"hits": row.hit}

    def value(self, sums):
        return 0.3 - sums["hits"] * (0.1 + 0.2)


@pytest.mark.parametrize("mean", ["geometric", "harmonic"])
def test_a_value_below_0_by_rounding_counts_as_0(engine, mean):
    frame = engine.frame({"user": [1], "item": [1], "relevant": [1], "score": [1]})
    assert engine.ask(frame, "evaluate", NearZero(), mean=mean)[0]["near_zero"] == 0.0


@pytest.mark.parametrize("grade", [1e30, 1e250])
def test_large_gains_change_no_other_segment(engine, grade):
    frame = {"user": [1, 2, 3, 4], "day": [1, 1, 2, 3], "relevant": [1.0, 3.0, grade, 1e-70], "score": [1, 1, 1, 1]}
    rows = engine.ask(engine.frame(frame), "evaluate", "dcg", per="day")
    assert sorted((row["day"], row["dcg"]) for row in rows) == [(1, 2.0), (2, grade), (3, 1e-70)]


def test_weights_and_parts(polars_engine):
    weight = pl.when(pl.col("user") == 1).then(3).otherwise(1)
    frame = pl.DataFrame(FRAME).with_columns(weight=weight, item=pl.int_range(pl.len()))
    assert frame.rec.mrr(mean="geometric", weight="weight") == pytest.approx(math.exp(math.log(0.5) / 4))
    assert frame.rec.mrr(mean="harmonic", weight="weight") == pytest.approx(4 / (3 + 2))
    parts = frame.lazy().rec.mrr(mean="harmonic", weight="weight", partitions=2).collect().item()
    assert parts == pytest.approx(4 / 5)
    # trec_eval counts lower values as 0.00001.
    assert frame.rec.mrr(mean="geometric", undefined=0.0, like="trec_eval") == pytest.approx((0.5 * 1e-5) ** (1 / 3))


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda rec: rec.spearman(mean="geometric"), "spearman may be -1"),
        (lambda rec: rec.coverage(mean="median"), "one value of all lists together"),
        (lambda rec: rec.gauc(mean="median"), "has no weights, but gauc weights its lists"),
        (lambda rec: rec.mrr(mean="median", weight="score"), "has no weights, but weight='score' weights the lists"),
        (lambda rec: rec.mrr(mean="average"), "is not one of"),
        (lambda rec: rec.dcg(mean="harmonic", relevant="cost", min_relevance=-9), "a list has dcg -"),
    ],
)
def test_what_has_no_meaning_is_refused(call, says):
    frame = pl.DataFrame(FRAME).with_columns(cost=-pl.col("relevant"), item=pl.lit(1))
    with pytest.raises(recframe.RecError, match=says):
        call(frame.rec)


def test_intervals_are_of_arithmetic_means():
    pytest.importorskip("scipy")
    rec = pl.DataFrame(FRAME).rec
    with pytest.raises(recframe.RecError, match="describe looks at arithmetic means"):
        rec(mean="median").describe("mrr")
    with pytest.raises(recframe.RecError, match=r'mean=col\("cost"\) is bound, but describe looks at arithmetic means'):
        rec(mean=pl.col("cost")).describe("mrr")
    with pytest.raises(recframe.RecError, match="there is no argument 'mean'"):
        rec.compare("mrr", mean="median")


def test_a_value_below_0_has_no_geometric_mean():
    pytest.importorskip("polars", minversion="1.35")  # before, polars makes its own error of ours
    frame = pl.LazyFrame({"user": [1, 1], "relevant": [-3, 1], "score": [2.0, 1.0]})
    for mean in ("geometric", "harmonic"):
        with pytest.raises(recframe.InputError, match=f"mean='{mean}' needs values from 0 on"):
            frame.rec.dcg(mean=mean).collect()
    assert recframe.Config.set(mean="median").state() == {"mean": "median"}
    recframe.Config.restore_defaults()


@pytest.mark.parametrize("mean", MEANS)
def test_a_value_that_is_no_finite_number_leaves_no_mean(engine, mean):
    if not engine.lazy:
        pytest.skip("eager frames are refused")
    frame = {"user": [1, 1, 2, 2, 3, 3], "score": [2.0, 1.0] * 3, "day": [1, 1, 1, 1, 2, 2]}
    unknown = frame | {"relevant": [1.0, 0.0, 1.0, 1.0, 1.0, 2.0], "p": [0.5, 0.5, 0.5, 0.5, 0.5, None]}
    infinite = frame | {"relevant": [1.0, 0.0, 1.0, 1.0, math.inf, 2.0]}
    for rows, metric, given in ((unknown, "recall@1", {"propensity": "p"}), (infinite, "dcg", {})):
        (whole,) = engine.ask(engine.frame(rows), "evaluate", [metric], mean=mean, **given)
        days = engine.ask(engine.frame(rows), "evaluate", [metric], mean=mean, per="day", **given)
        result = {"all": whole[metric], **{row["day"]: row[metric] for row in days}}
        finite = {key: math.isfinite(value or math.nan) for key, value in result.items()}
        assert finite == {"all": False, 1: True, 2: False}, metric


@pytest.mark.parametrize("weight", [1e-250, 1e-150, 1e250])
def test_only_ratios_of_weights_count_in_a_harmonic_mean(engine, weight):
    if weight > 1 and not engine.lazy:
        pytest.skip("eager frames are refused")
    frame = {"user": [1, 1, 2, 2], "relevant": [1, 0, 1, 0], "score": [2.0, 1.0, 1.0, 2.0], "weight": [weight] * 4}
    for metric, expected in (("mrr", 2 / 3), ("precision@1", 0.0)):
        (row,) = engine.ask(engine.frame(frame), "evaluate", [metric], mean="harmonic", weight="weight")
        assert row[metric] == pytest.approx(expected, abs=0)
