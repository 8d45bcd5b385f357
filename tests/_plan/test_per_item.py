"""`per_item=`: the whole lists, in which only the items of one value are relevant, against every order of tied items."""

from __future__ import annotations

import random

import pytest

import oracle
import recframe
from compare import assert_equal, skip_row_order

LABELS = ("recall@2", "precision@3", "ndcg@3", "mrr", "map@3", "f1@2", "hit_rate@2", "rbp", "r_precision")
GENRES = ("x", "y", None)


def drawn(seed, *, truth):
    """Return rows with ties, and a truth that knows the genres of items, some of which have none."""
    draw = random.Random(seed)
    genre = {item: draw.choice(GENRES) for item in range(8)}
    rows, known = [], []
    for user in range(6):
        for item in draw.sample(range(8), 5):
            row = {"user": user, "item": item, "score": draw.choice([0.0, 1.0, 2.0, None])}
            rows.append(row if truth else {**row, "relevant": draw.choice([0, 0, 1, 2, None]), "genre": genre[item]})
        for item in draw.sample(range(8), 3 if truth else 0):
            known.append({"user": user, "item": item, "relevant": draw.choice([0, 1, 3]), "genre": genre[item]})
    return rows, known


def expected(rows, truth, value, **roles):
    """Return the values of the lists that have an item of the value, which alone are relevant."""
    own = truth or rows
    users = {row["user"] for row in own if row["genre"] == value}
    there = [
        {**row, "relevant": row["relevant"] if row["genre"] == value else 0} for row in own if row["user"] in users
    ]
    rows = [row for row in rows if row["user"] in users] if truth else there
    return oracle.evaluate(rows, LABELS, truth=there if truth else None, **roles)


@pytest.mark.parametrize("ties", ["average", "best", "worst", "item", "first"])
@pytest.mark.parametrize("with_truth", [True, False])
def test_every_list_and_their_mean(engine, with_truth, ties):
    skip_row_order(engine, ties)
    rows, truth = drawn(1 + with_truth, truth=with_truth)
    frame, *others = engine.frames(rows, truth) if with_truth else [engine.frame(rows)]
    given = {"per_item": "genre", "ties": ties, **({"truth": others[0]} if with_truth else {})}
    for per in ([], ["user"]):
        result = engine.ask(frame, "evaluate", list(LABELS), **given, **({"per": per} if per else {}))
        right = {}
        for value in GENRES:
            for key, values in expected(rows, truth, value, ties=ties, per=per).items():
                right[*key, value] = values
        assert_equal(result, right, [*per, "genre"])


def test_models_stay_what_they_are(engine):
    rows, truth = drawn(3, truth=True)
    both = [{**row, "other": -row["item"]} for row in rows]
    frame, there = engine.frames(both, truth)
    result = engine.ask(frame, "evaluate", list(LABELS), score=["score", "other"], truth=there, per_item="genre")
    long = [{**row, "score": row[name], "model": name} for row in both for name in ("score", "other")]
    stacked, there = engine.frames(long, truth)
    names = ["model", "genre"]
    right = {
        (name, value): values
        for value in GENRES
        for name in ("score", "other")
        for values in expected(both, truth, value, score=name).values()
    }
    assert_equal(result, right, names)
    assert_equal(
        engine.ask(stacked, "evaluate", list(LABELS), model="model", truth=there, per_item="genre"), right, names
    )


def test_other_items_stay_judged(engine):
    rows = [{"user": 1, "item": item, "score": -item} for item in range(4)]
    truth = [
        {"user": 1, "item": 1, "relevant": 1, "genre": "x"},
        {"user": 1, "item": 2, "relevant": 1, "genre": "y"},
        {"user": 1, "item": 3, "relevant": -1, "genre": "y"},
    ]
    frame, there = engine.frames(rows, truth)
    result = engine.ask(
        frame, "evaluate", ["judged", "mrr"], truth=there, per_item="genre", condensed=True, counts=True
    )
    assert_equal(
        result, {("x",): {"judged": 1.0, "mrr": 1.0, "lists": 1}, ("y",): {"judged": 1.0, "mrr": 0.5}}, ["genre"]
    )
    result = engine.ask(frame, "judged", truth=there, per_item="genre")
    assert_equal(result, {("x",): {"judged": 0.5}, ("y",): {"judged": 0.5}}, ["genre"])


def test_an_item_of_several_genres_counts_in_each(engine):
    rows = [{"user": 1, "item": "a", "score": 2.0}, {"user": 1, "item": "b", "score": 1.0}]
    truth = [{"user": 1, "item": "b", "genre": genre} for genre in "xy"]
    frame, there = engine.frames(rows, truth)
    result = engine.ask(frame, "mrr", truth=there, per_item="genre")
    assert_equal(result, {("x",): {"mrr": 0.5}, ("y",): {"mrr": 0.5}}, ["genre"])
    assert_equal(
        engine.ask(frame, "mrr", by=None, truth=there, per_item="genre"),
        {("x",): {"mrr": 0.5}, ("y",): {"mrr": 0.5}},
        ["genre"],
    )


def test_weights_and_parts(engine):
    rows, truth = drawn(5, truth=True)
    truth = [{**row, "heavy": 1.0 + row["user"]} for row in truth]
    frame, there = engine.frames(rows, truth)
    result = engine.ask(frame, "recall", 2, truth=there, per_item="genre", weight="heavy")
    right = {}
    for value in GENRES:
        lists = {key: one["recall@2"] for key, one in expected(rows, truth, value, per="user").items()}
        lists = {key: one for key, one in lists.items() if one is not None}
        total = sum((1.0 + user) * one for (user,), one in lists.items())
        if lists:
            right[value,] = {"recall@2": total / sum(1.0 + user for (user,) in lists)}
    assert_equal(result, right, ["genre"])


def test_comparisons_and_descriptions_are_of_the_same_lists(engine):
    pytest.importorskip("scipy")
    rows, truth = drawn(7, truth=True)
    frame, there = engine.frames([{**row, "other": -row["item"]} for row in rows], truth)
    models = {"score": ["score", "other"], "truth": there, "per_item": "genre"}
    means = {(row["genre"], row["model"]): row["map@3"] for row in engine.ask(frame, "evaluate", "map@3", **models)}
    for row in engine.ask(frame, "compare", "map@3", **models):
        assert row["mean"] == pytest.approx(means[row["genre"], row["model"]])
        assert row["baseline_mean"] == pytest.approx(means[row["genre"], row["baseline"]])
    for row in engine.ask(frame, "describe", "map@3", **models):
        assert row["mean"] == pytest.approx(means[row["genre"], row["model"]])


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"metrics": "coverage@2"}, "per_item='genre' is about relevant items, but coverage@2 reads no relevance"),
        ({"by": ["user", "genre"]}, "per_item='genre' describes items, but by= has it as a key of lists"),
        ({"min_relevance": 0}, "per_item='genre' gives other items the relevance 0, which min_relevance=0 would"),
        ({"per_item": "colour"}, "colour"),
    ],
)
def test_what_it_cannot_mean_is_refused(engine, given, text):
    frame = engine.frame(drawn(1, truth=False)[0])
    with pytest.raises(recframe.RecError if "per_item" not in given else Exception, match=text):
        engine.ask(frame, "evaluate", **{"metrics": "mrr", "per_item": "genre", **given})


def test_parts_of_a_lazy_frame_add_up():
    pl = pytest.importorskip("polars")
    rows, truth = map(pl.LazyFrame, drawn(9, truth=True))
    result = [rows.rec.evaluate(["mrr"], truth=truth, per_item="genre", partitions=n).collect() for n in (None, 3)]
    assert_equal(
        result[1].to_dicts(), {(row["genre"],): {"mrr": row["mrr"]} for row in result[0].to_dicts()}, ["genre"]
    )
