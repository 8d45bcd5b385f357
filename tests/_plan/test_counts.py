"""How many lists have a value: ``evaluate(counts=True)``."""

import re

import pytest

import recframe

pl = pytest.importorskip("polars")

ROWS = {
    "user": [1, 1, 2, 2, 3, 4],
    "item": ["a", "b", "a", "b", "a", "b"],
    "relevant": [1, 0, 0, 0, 1, 0],
    "old": [0.9, 0.1, 0.2, 0.3, 0.4, 0.5],
    "new": [0.1, 0.2, None, None, 0.4, 0.5],
    "country": ["at", "at", "at", "at", "be", "be"],
}


def counts(rows):
    return [(row["lists"], row["undefined"]) for row in rows]


def test_lists_with_and_without_a_value_are_counted(engine):
    frame = engine.frame(ROWS)
    result = engine.ask(frame, "evaluate", ["mrr", "ndcg@1"], score=["old", "new"], counts=True)
    assert list(result[0]) == ["model", "mrr", "ndcg@1", "lists", "undefined"]
    assert counts(result) == [(2, 2), (2, 2)]
    plain = engine.ask(frame, "evaluate", ["mrr", "ndcg@1"], score=["old", "new"])
    assert [{name: row[name] for name in plain[0]} for row in result] == plain
    per = engine.ask(frame, "evaluate", "mrr", score="old", per="country", counts=True)
    assert sorted(zip((row["country"] for row in per), counts(per), strict=True)) == [("at", (1, 1)), ("be", (1, 1))]


def test_a_frame_without_rows_has_no_list(engine):
    kinds = dict.fromkeys(ROWS, "int64") | dict.fromkeys(["old", "new"], "float64") | {"item": "str", "country": "str"}
    frame = engine.frame({name: [] for name in ROWS}, kinds)
    assert counts(engine.ask(frame, "evaluate", ["mrr", "ndcg@1"], score=["old"], counts=True)) == [(0, 0)]


@pytest.mark.parametrize(
    ("metrics", "given", "expected"),
    [
        ("mrr", {"undefined": 0.0}, [(4, 0)]),
        ("mrr", {"per": "user"}, [(1, 0), (0, 1), (1, 0), (0, 1)]),
        # Every list has a novelty, half of them a reciprocal rank; coverage has no value per list.
        (["novelty@1", "coverage@1"], {"train": pl.DataFrame(ROWS)}, [(4, 0)]),
        (["novelty@1", "mrr", "coverage@1"], {"train": pl.DataFrame(ROWS)}, [(2, 2)]),
    ],
)
def test_a_list_counts_where_every_metric_has_a_value(metrics, given, expected):
    frame = pl.DataFrame(ROWS)
    assert counts(frame.rec.evaluate(metrics, score="old", counts=True, **given).to_dicts()) == expected


def test_counts_are_those_of_describe():
    pytest.importorskip("scipy")
    given = {"score": ["old", "new"], "per": "country"}
    described = pl.DataFrame(ROWS).rec.describe("mrr", **given, details=True).sort("country", "model")
    counted = pl.DataFrame(ROWS).rec.evaluate("mrr", counts=True, **given).sort("country", "model")
    assert counted.select("lists", "undefined").equals(described.select("lists", "undefined"))


def test_parts_are_added():
    frame = pl.LazyFrame(ROWS).rec.evaluate("mrr", score="old", counts=True, partitions=3)
    assert frame.collect().row(0) == (1.0, 2, 2)
    assert frame.collect_schema()["lists"] == pl.Int64


def test_no_lists_are_counted_as_none():
    assert counts(pl.DataFrame(ROWS)[:0].rec.evaluate("mrr", score="old", counts=True).to_dicts()) == [(0, 0)]


def test_segments_may_have_the_name_of_models_where_results_name_none():
    frame = pl.DataFrame(ROWS).with_columns(model=pl.lit("a"))
    assert frame.rec.evaluate("mrr", score="old", per="model").columns == ["model", "mrr"]
    with pytest.raises(recframe.OptionError, match="several columns of the name 'model'"):
        frame.rec.evaluate("mrr", score=["old", "new"], per="model")


@pytest.mark.parametrize(
    ("metrics", "given", "message"),
    [
        ("coverage@1", {}, "coverage@1 is one value of all lists together"),
        ("mrr", {"per": "lists"}, "several columns of the name 'lists'"),
        ("mrr", {"counts": 1}, "counts=1 is neither True nor False"),
    ],
)
def test_what_cannot_be_counted(metrics, given, message):
    with pytest.raises(recframe.OptionError, match=re.escape(message)):
        pl.DataFrame(ROWS).rec.evaluate(metrics, score="old", **{"counts": True, **given})
