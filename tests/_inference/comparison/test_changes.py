"""What changed between two models: lists sum to `compare`, items to `contributions`, places are those of all orders."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise, permutations
from statistics import mean
from typing import Any

import pytest

import recframe
from strategies import BY, crowd

METRICS = [
    "ndcg@3",
    "map@2",
    "mrr",
    "recall@2",
    "precision@2",
    "err@3",
    "roc_auc",
    "bpref",
    "dcg(gain=exp2)@2",
    "judged@2",
]
BOTH = ["score", "other"]


def models(seed: int, lists: int) -> list[dict[str, Any]]:
    """Return rows with two scores, the items of a list all different, and a user and a day as key."""
    rows, seen = [], set()
    for number, row in enumerate(crowd(seed, lists, text=True)):
        day = None if row["day"] != row["day"] else row["day"]
        score = None if row["score"] != row["score"] else row["score"]
        if row["item"] is None or (row["user"], day, row["item"]) in seen:
            continue
        seen.add((row["user"], day, row["item"]))
        other = None if number % 7 == 0 else float((number * 5) % 4)
        rows.append({**row, "day": day, "score": score, "other": other})
    return rows


def in_long_format(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**row, "score": row[name], "model": name} for name in BOTH for row in rows]


def key_of(row: dict[str, Any]) -> tuple[Any, Any]:
    return row["user"], row["day"]


def asked(engine, rows, format_: str, method: str, *args: Any, **given: Any) -> list[dict[str, Any]]:
    roles = {"score": BOTH} if format_ == "wide" else {"model": "model"}
    frame = engine.frame(rows if format_ == "wide" else in_long_format(rows))
    return engine.ask(frame, method, *args, by=BY, **roles, **given)


@pytest.mark.parametrize("format_", ["wide", "long"])
@pytest.mark.parametrize("label", METRICS)
def test_lists_sum_to_compare_and_items_to_contributions(engine, label, format_):
    pytest.importorskip("scipy")
    rows = models(3, 40)
    lists = asked(engine, rows, format_, "changes", label, most=None, items=False, baseline="score")
    (compared,) = asked(engine, rows, format_, "compare", label, baseline="score")
    assert len(lists) == compared["lists"]
    assert mean(row["difference"] for row in lists) == pytest.approx(compared["difference"], abs=1e-12)
    assert mean(row["before"] for row in lists) == pytest.approx(compared["baseline_mean"], abs=1e-12)
    # Differences that are equal up to rounding are in the order of their keys.
    rounded = [round(row["difference"], 12) for row in lists]
    assert rounded == sorted(rounded)

    items = asked(engine, rows, format_, "changes", label, most=None, baseline="score")
    parts = defaultdict(float)
    for row in items:
        parts[key_of(row)] += row["part"] or 0
    assert parts == {key_of(row): pytest.approx(row["difference"], abs=1e-9) for row in lists}
    expected = defaultdict(float)
    for row in asked(engine, rows, format_, "contributions", label):
        if key_of(row) not in parts:
            continue  # one of the models has no value
        expected[*key_of(row), row["item"]] += (row["contribution"] or 0) * (1 if row["model"] == "other" else -1)
    result = {(*key_of(row), row["item"]): row["part"] for row in items if row["item"] is not None}
    assert {key: part for key, part in result.items() if abs(part) > 1e-12} == {
        key: pytest.approx(part, abs=1e-12) for key, part in expected.items() if abs(part) > 1e-12
    }


def orders_of(rows: list[dict[str, Any]], score: str) -> list[list[dict[str, Any]]]:
    """Return the orders of the ranked rows that their ties leave open."""
    ranked = [row for row in rows if row[score] is not None]
    every = (list(order) for order in permutations(ranked))
    return [order for order in every if all(a[score] >= b[score] for a, b in pairwise(order))]


@pytest.mark.parametrize("truth", [False, True])
def test_places_are_the_means_over_all_orders(engine, truth):
    rows = [
        {"user": user, "item": item, "relevant": int((user * item) % 3 == 1), "score": score, "other": other}
        for user in range(1, 6)
        for item in range(1, 6)
        for score in [None if user + item == 6 else float((user + item) % 3)]
        for other in [None if item == user else float((user * item) % 4)]
    ]
    frame, more = engine.frame(rows), {}
    if truth:
        frame, there = engine.frames(
            [{name: value for name, value in row.items() if name != "relevant"} for row in rows],
            [{"user": row["user"], "item": row["item"]} for row in rows if row["relevant"]],
        )
        more = {"truth": there}
    result = engine.ask(frame, "changes", "recall", 2, most=None, score=BOTH, **more)
    assert {row["user"] for row in result} == {1, 2, 4, 5}
    items = {(row["user"], row["item"]): row for row in result if row["item"] is not None}
    for user in (1, 2, 4, 5):
        own = [row for row in rows if row["user"] == user]
        of_list = next(row for row in result if row["user"] == user)
        for name, score in (("before", "score"), ("after", "other")):
            orders = orders_of(own, score)
            hits = [[place for place, row in enumerate(order, 1) if row["relevant"]] for order in orders]
            first = mean(places[0] for places in hits) if hits[0] else None
            assert of_list[f"first_{name}"] == (first if first is None else pytest.approx(first, abs=1e-12))
            for row in own:
                places = [order.index(row) + 1 for order in orders if row in order]
                row[f"top_{name}"] = sum(place <= 2 for place in places) / len(orders)
                row[f"position_{name}"] = mean(places) if places else None
        for row in own:
            moved = row["top_after"] - row["top_before"]
            shown = items.get((user, row["item"]))
            assert (shown is not None) == (abs(moved) > 1e-12)
            if shown is not None:
                assert shown["change"] == ("entered" if moved > 0 else "left")
                assert shown["relevant"] == row["relevant"]
                for name in ("top_before", "top_after", "position_before", "position_after"):
                    expected = row[name]
                    assert shown[name] == (expected if expected is None else pytest.approx(expected, abs=1e-12))


def test_the_lists_that_lost_and_gained_most_come_first_and_last(engine):
    rows = [
        {"user": f"u{user:02}", "item": item, "relevant": int(item == 1), "score": score, "other": other}
        for user in range(12)
        for item, score, other in (
            # Lists of users 0 to 4 lose a half, those of users 5 to 9 gain it, the last two stay.
            (1, 2.0 if user < 5 else 1.0, 2.0 if 4 < user < 10 else 1.0),
            (2, 1.0 if user < 5 else 2.0, 1.0 if 4 < user < 10 else 2.0),
        )
    ]
    for given in (rows, rows[::-1]):
        result = engine.ask(engine.frame(given), "changes", "mrr", most=2, items=False, score=BOTH)
        assert [(row["user"], row["difference"]) for row in result] == [
            ("u00", -0.5), ("u01", -0.5), ("u05", 0.5), ("u06", 0.5),
        ]  # fmt: skip
        assert [(row["first_before"], row["first_after"]) for row in result] == [(1, 2), (1, 2), (2, 1), (2, 1)]
    turned = engine.ask(engine.frame(rows), "changes", "mrr", most=1, items=False, score=BOTH, baseline="other")
    assert [(row["user"], row["difference"]) for row in turned] == [("u05", -0.5), ("u00", 0.5)]
    assert engine.ask(engine.frame(rows[-4:]), "changes", "mrr", score=BOTH) == []


def test_one_list_without_a_key(engine):
    frame = engine.frame({"item": [1, 2], "relevant": [0, 1], "score": [2.0, 1.0], "other": [1.0, 2.0]})
    result = engine.ask(frame, "changes", "mrr@1", by=None, score=BOTH)
    assert [(row["change"], row["item"], row["part"], row["difference"]) for row in result] == [
        ("left", 1, 0, 1), ("entered", 2, 1, 1),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"score": "score"}, "changes looks at two models, but 1 are named"),
        ({"score": ["score", "other", "third"]}, "changes looks at two models, but 3 are named"),
        ({"score": BOTH, "baseline": "older"}, "baseline='older' is not one of the models 'score', 'other'"),
        ({"score": BOTH, "metric": "kendall"}, "kendall of a list is not a sum over its rows"),
        ({"score": BOTH, "metric": "coverage@2"}, "Hint: name a metric whose value is a sum over the rows of a list"),
        ({"score": BOTH, "most": 0}, "most=0"),
        ({"score": BOTH, "per": "user"}, "per"),
        ({"score": BOTH, "item": None}, "item=None"),
    ],
)
def test_what_is_refused_says_why(engine, given, said):
    columns = {"user": [1, 1], "item": [1, 2], "relevant": [0, 1], "score": [2.0, 1.0]}
    frame = engine.frame({**columns, "other": [1.0, 2.0], "third": [1.0, 2.0]})
    with pytest.raises(recframe.RecError, match=said):
        engine.ask(frame, "changes", **{"metric": "mrr", **given})


def test_a_frame_that_omits_rows_tells_positions_up_to_the_cutoff(engine):
    if engine.lazy:
        pytest.skip("whether a lazy frame holds the first rows is not known")
    counts = {"recframe_tied": 1, "recframe_candidates": 90}
    rows = [
        {"user": 1, "item": item, "relevant": int(item == 1), "model": model, "rank": rank, **counts}
        for model, ranks in (("a", {1: 1, 2: 2}), ("b", {2: 1, 3: 2, 1: 30}))
        for item, rank in ranks.items()
    ]
    result = engine.ask(engine.frame(rows), "changes", "mrr@2", rank="rank", model="model")
    assert [(row["change"], row["item"], row["part"]) for row in result] == [("left", 1, -1), ("entered", 3, 0)]
    assert {(row["first_before"], row["first_after"]) for row in result} == {(1, None)}


def test_three_models_in_long_format_are_refused(polars_engine):
    rows = [{"user": 1, "item": 1, "relevant": 1, "score": 1.0, "model": name} for name in "abc"]
    with pytest.raises(Exception, match="changes looks at two models, but 3 are named: 'a', 'b', 'c'"):
        polars_engine.ask(polars_engine.frame(rows), "changes", "mrr", model="model")


def test_lazy_frames_stay_lazy_and_know_their_columns():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(models(5, 12))
    for given in ({}, {"items": False}):
        eager = frame.rec.changes("ndcg@2", by=BY, score=BOTH, **given)
        lazy = frame.lazy().rec.changes("ndcg@2", by=BY, score=BOTH, **given)
        assert isinstance(lazy, pl.LazyFrame)
        assert lazy.collect_schema() == eager.schema
        assert lazy.collect().equals(eager) or lazy.collect().height == eager.height


@pytest.mark.parametrize("items", [False, True])
def test_a_model_that_ranks_nothing_is_one_of_two_models(engine, items):
    scores = {"old": None, "new": 1.0}
    rows = [{"user": 1, "item": 1, "relevant": 0, "score": score, "model": name} for name, score in scores.items()]
    frame = engine.frame(rows, {"score": "float64"})
    assert engine.ask(frame, "changes", "mrr", model="model", baseline="old", items=items) == []
