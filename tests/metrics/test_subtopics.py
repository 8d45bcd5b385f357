"""Alpha-nDCG, ERR-IA and subtopic recall: subtopics of a truth on every engine, models, levels of relevance, and what is refused."""

from __future__ import annotations

import random

import pytest

import oracle
import recframe
from compare import assert_equal
from oracle.subtopics import value

pl = pytest.importorskip("polars")

LABELS = [
    *("alpha_ndcg@2", "alpha_ndcg(alpha=0.2)@5", "err_ia@3", "err_ia", "err_ia(alpha=0.2,normalized=True)@4"),
    "err_ia(alpha=0.3,normalized=True)",
    *("subtopic_recall@1", "subtopic_recall@3", "subtopic_recall"),
]


def lists(seed: int, count: int):
    """Return recommendations with ties, and a truth in which items have none to three of four subtopics."""
    choose = random.Random(seed)
    rows, truth = [], []
    for user in range(count):
        items = choose.sample(range(20), 9)
        rows += [{"user": user, "item": item, "score": choose.randrange(5) / 4} for item in items[:6]]
        for item in choose.sample(items, 6):
            intents = choose.sample("wxyz", choose.randrange(4))
            truth += [{"user": user, "item": item, "intent": s, "relevant": choose.choice([0, 1, 2])} for s in intents]
    # Somebody wrote one judgment down twice, and one item is repeated.
    return [*rows, rows[0] | {"score": -1.0}], [*truth, truth[0]]


def broken(rows, subtopics, ties):
    """Return the rows with scores that put tied ones in the order of a policy, which may leave some of them tied."""
    number = {row["item"]: place for place, row in enumerate(rows)}
    order = {
        "average": lambda item: 0,
        "best": lambda item: max(subtopics.get(item, {"": 0}).values()),
        "worst": lambda item: -max(subtopics.get(item, {"": 0}).values()),
        "item": lambda item: -item,
        "item_desc": lambda item: item,
        "first": lambda item: -number[item],
    }[ties]
    return [{**row, "score": (row["score"], order(row["item"]))} for row in rows]


def expected(rows, truth, least=1, ties="average"):
    result = {}
    for user in {row["user"] for row in rows}:
        subtopics = {}
        for row in truth:
            if row["user"] == user and row["relevant"] >= least:
                subtopics.setdefault(row["item"], {})[row["intent"]] = row["relevant"]
        selected = [row for row in rows if row["user"] == user and row["score"] >= 0]
        result[user,] = {
            label: value(oracle.parse(label), broken(selected, subtopics, ties), subtopics) for label in LABELS
        }
    return result


@pytest.mark.filterwarnings("ignore::recframe.DataWarning")  # of the repeated item
def test_every_list(engine):
    rows, truth = lists(1, 12)
    frame, judged = engine.frames(rows, truth)
    result = engine.ask(frame, "evaluate", LABELS, truth=judged, subtopic="intent", per="user")
    assert_equal(result, expected(rows, truth), ["user"])


@pytest.mark.filterwarnings("ignore::recframe.DataWarning")
@pytest.mark.parametrize("ties", ["best", "worst", "item", "item_desc", "first"])
def test_tie_policies(ties):
    rows, truth = lists(3, 12)
    result = pl.DataFrame(rows).rec.evaluate(
        LABELS, truth=pl.DataFrame(truth), subtopic="intent", per="user", ties=ties
    )
    assert_equal(result.rows(named=True), expected(rows, truth, ties=ties), ["user"])


@pytest.mark.filterwarnings("ignore::recframe.DataWarning")  # of equal scores
def test_a_tied_block_by_hand():
    # Two hits of one subtopic among three tied rows: in places 1 2, 1 3 or 2 3.
    frame = pl.DataFrame({"user": [1] * 3, "relevant": [1, 0, 1], "score": [3.0] * 3})
    orders = [1 + 1 / 4, 1 + 1 / 6, 1 / 2 + 1 / 6]
    assert frame.rec.err_ia() == pytest.approx(sum(orders) / 3 / 2)
    # Of 200 tied hits only those have a place whose gain a float can hold.
    many = pl.DataFrame({"user": [1] * 200, "relevant": [1] * 200, "score": [1.0] * 200})
    assert many.rec.err_ia(alpha=0.5) == pytest.approx(sum(0.5**r / r for r in range(1, 201)), rel=1e-14)


@pytest.mark.filterwarnings("ignore::recframe.DataWarning")
def test_models_and_levels():
    rows, truth = lists(2, 8)
    frame = pl.DataFrame(rows).with_columns(other=pl.lit(None, pl.Float64))
    given = {"truth": pl.DataFrame(truth), "subtopic": "intent", "min_relevance": 2}
    wide = frame.rec.evaluate([*LABELS, "ndcg"], score=["score", "other"], per="user", **given)
    result = wide.filter(pl.col("model") == "score").drop("model", "ndcg").rows(named=True)
    assert_equal(result, expected(rows, truth, 2), ["user"])
    # A model that recommends nothing scores 0 in the same lists.
    assert wide.filter(pl.col("model") == "other")["err_ia"].drop_nulls().unique().to_list() == [0.0]
    long = pl.concat(
        [frame.with_columns(name=pl.lit(n), score=s) for n, s in (("a", pl.col("score")), ("b", pl.col("other")))]
    )
    stacked = long.rec.evaluate(LABELS, model="name", **given)
    means = frame.rec.evaluate(LABELS, **given)
    assert stacked.filter(pl.col("model") == "a").drop("model").row(0) == pytest.approx(means.row(0))


@pytest.mark.parametrize("k", [2, 5])
def test_a_missing_item_is_one_like_any_other(engine, k):
    result = []
    for item in ("d", None):
        frame, truth = engine.frames(
            {"user": [1, 1], "item": ["f", item], "score": [2.0, 1.0]},
            {"user": [1] * 4, "item": ["f", item, "c", "g"], "relevant": [1] * 4, "topic": ["v", "t", "t", "t"]},
        )
        result.append(engine.ask(frame, "alpha_ndcg", k, truth=truth, subtopic="topic"))
    assert result[0] == pytest.approx(result[1])


def test_without_subtopics_all_relevant_items_have_one():
    frame = pl.DataFrame({"user": [1, 1, 1], "relevant": [1, 0, 1], "score": [3, 2, 1]})
    assert frame.rec.err_ia() == pytest.approx(frame.rec.err(probability={1: 0.5}))
    lazy = frame.lazy().rec.alpha_ndcg().collect().item()
    assert lazy == pytest.approx(1.25 / (1 + 0.5 / 1.584962500721156))


@pytest.mark.filterwarnings("ignore::recframe.DataWarning")  # of equal scores
@pytest.mark.parametrize("name", ["alpha_ndcg", "err_ia(normalized=True)"])
def test_an_alpha_that_takes_nothing_from_repeated_subtopics(name):
    metric, _, options = name.partition("(")
    frame = pl.DataFrame({"user": [1, 1, 1], "relevant": [1, 0, 1], "score": [2, 1, 1]})
    tiny, small = (
        frame.rec.evaluate(f"{metric}(alpha={alpha}{',' if options else ')'}{options}@3").item()
        for alpha in (1e-200, 1e-12)
    )
    assert tiny == pytest.approx(small)


def test_what_is_refused():
    frame = pl.DataFrame({"user": [1], "item": [1], "relevant": [1], "score": [3], "intent": ["x"]})
    with pytest.raises(recframe.RecError, match="there is no truth="):
        frame.rec.err_ia(subtopic="intent")
    lazy = frame.lazy().rec.alpha_ndcg(truth=frame, subtopic="intent").collect().item()
    assert lazy == frame.rec.alpha_ndcg(truth=frame, subtopic="intent")
    with pytest.raises(recframe.RecError, match="alpha_ndcg of a list is not a sum over its rows"):
        frame.rec.contributions("alpha_ndcg@2")


def test_without_a_relevant_item_there_is_no_ideal(polars_engine):
    frame, truth = polars_engine.frames(
        [{"user": 1, "item": "a", "score": 1.0}], [{"user": 1, "item": "a", "relevant": 0, "subtopic": "x"}]
    )
    result = polars_engine.ask(frame, "evaluate", ["alpha_ndcg", "err_ia"], truth=truth, subtopic="subtopic")
    assert list(result[0].values()) == [None, None]
