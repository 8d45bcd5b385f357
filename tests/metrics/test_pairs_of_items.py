"""`diversity(distance="pairs")` reads how similar two items are from a frame of pairs."""

from __future__ import annotations

import random
import re
from itertools import combinations
from statistics import mean

import pytest

import recframe

ITEMS = ["a", "b", "c", "d", "e", "f"]
HERE = ("polars", "polars lazy", "polars in-memory", "polars many rows", "pandas", "pandas alone", "pandas nullable")
PAIRS = [
    {"item": "a", "other": "b", "similarity": 0.5},
    {"item": "b", "other": "c", "similarity": 0.2},
    {"item": "b", "other": "b", "similarity": 1.0},
]
LABEL = "diversity(distance=pairs)@3"


def sample(seed):
    """Return rows with ties, repeats and missing scores, and pairs in one order or in both, some with themselves."""
    rng = random.Random(seed)
    rows = [
        {"user": user, "item": item, "score": rng.choice([None, 0.1, 0.2, 0.3, 0.9]), "relevant": 1}
        for user in ("u1", "u2", None, "u4")
        for item in rng.choices(ITEMS, k=rng.randint(1, 9))
    ]
    pairs = []
    for one, other in combinations(ITEMS[:5], 2):
        similarity = rng.choice([None, -0.5, 0.0, 0.25, 0.7, 1.0])
        pairs += (
            rng.choice([[], [(one, other)], [(other, one)], [(one, other), (other, one)]])
            and [
                {"item": one, "other": other, "similarity": similarity},
                {"item": other, "other": one, "similarity": similarity},
            ][: rng.randint(1, 2)]
        )
    pairs += [{"item": item, "other": item, "similarity": 0.9} for item in ITEMS[::2]]
    return rows, pairs


def by_hand(rows, pairs, k):
    """Return the mean over users of one less the mean similarity of two items, by a loop over all pairs."""
    similar = {frozenset((each["item"], each["other"])): each["similarity"] or 0.0 for each in pairs}
    values = []
    for user in {row["user"] for row in rows}:
        selected = [row for row in rows if row["user"] == user and row["score"] is not None]
        top = sorted(selected, key=lambda row: (-row["score"], row["item"]))[:k]
        items = dict.fromkeys(row["item"] for row in top)
        if len(items) > 1:
            values.append(1 - mean(similar.get(frozenset(pair), 0.0) for pair in combinations(items, 2)))
    return mean(values)


@pytest.mark.parametrize("seed", range(6))
def test_equals_a_loop_over_pairs(engine, seed):
    rows, pairs = sample(seed)
    frame, features = engine.frames(rows, pairs)
    labels = {k: f"diversity(distance=pairs){f'@{k}' if k else ''}" for k in (2, 4, None)}
    if engine.name not in (*HERE, "pandas pyarrow", "pyarrow"):
        with pytest.raises(recframe.OptionError, match="reads pairs of items, which is for eager frames"):
            engine.ask(frame, "evaluate", list(labels.values()), features=features)
        return
    (result,) = engine.ask(frame, "evaluate", ["mrr", *labels.values()], features=features)
    assert result["mrr"] is not None
    for k, label in labels.items():
        assert result[label] == pytest.approx(by_hand(rows, pairs, k), rel=1e-12)


def frames(**columns):
    pl = pytest.importorskip("polars")
    rows = {"user": [1, 1, 1, 2, 2, 2], "item": [*"abcacd"], "score": [0.9, 0.8, 0.7, 0.9, 0.5, 0.2]}
    changes = {name: pl.Series(values) for name, values in columns.items()}
    return pl.DataFrame({**rows, "relevant": [1, 0, 0, 0, 1, 0]}), pl.DataFrame(PAIRS).with_columns(**changes)


def test_all_calls_read_pairs():
    pytest.importorskip("scipy")
    frame, pairs = frames()
    expected = pytest.approx([1 - 0.7 / 3, 1.0])
    assert frame.rec.diversity(3, distance="pairs", features=pairs, per="user")[LABEL].to_list() == expected
    assert frame.rec.describe(LABEL, features=pairs)["mean"].to_list() == pytest.approx([1 - 0.7 / 6])
    state = frame.rec.state(LABEL, features=pairs)
    assert recframe.merge_states([state]).evaluate().item() == pytest.approx(1 - 0.7 / 6)
    parts = recframe.rec(frame.lazy()).evaluate(LABEL, features=pairs, partitions=2)
    assert parts.collect().item() == pytest.approx(1 - 0.7 / 6)
    assert "similarity(i, j)" in str(recframe.explain(LABEL))


def test_ids_are_numbers_too():
    frame, pairs = frames()
    pl = pytest.importorskip("polars")
    numbers = {"item": pl.col("item").replace_strict(dict(zip("abcd", [1, 2, 3, 4], strict=True)))}
    others = {"other": pl.col("other").replace_strict(dict(zip("abcd", [1, 2, 3, 4], strict=True)))}
    result = frame.with_columns(**numbers).rec.evaluate(LABEL, features=pairs.with_columns(**numbers, **others))
    assert result.item() == pytest.approx(1 - 0.7 / 6)


def test_rounded_similarities_are_read():
    frame, pairs = frames(similarity=[1.0 + 2e-16, 0.2, 1.0])
    again = pairs.with_columns(item="other", other="item", similarity=pairs["similarity"] + 1e-9)
    result = frame.rec.evaluate(LABEL, features=pairs.vstack(again))
    assert result.item() == pytest.approx(1 - 1.2 / 6)


@pytest.mark.parametrize(
    ("names", "changes", "renamed", "message"),
    [
        (["diversity@3"], {}, {}, "features holds pairs of items, but no metric of the call reads pairs"),
        ([LABEL, "category_entropy"], {}, {}, "but category_entropy reads a row for each item"),
        ([LABEL], {}, {"other": "second"}, "rename its columns to 'item', 'other' and 'similarity'"),
        ([LABEL], {"similarity": [0.5, 2.5, 1.0]}, {}, "holds the similarity 2.5, but a similarity is a number from"),
        ([LABEL], {"item": ["a", "b", "a"], "similarity": [0.5, 0.2, 0.7]}, {}, "1 pair of items with different"),
        ([LABEL], {"other": [1, 2, 3]}, {}, "String in the frame, but Int64 in features"),
    ],
)
def test_what_is_no_frame_of_pairs(names, changes, renamed, message):
    frame, pairs = frames(**changes)
    with pytest.raises(recframe.RecError, match=re.escape(message)):
        frame.rec.evaluate(names, features=pairs.rename(renamed))


def test_pairs_must_be_given():
    frame, _ = frames()
    with pytest.raises(recframe.OptionError, match=re.escape("features=pairs, a frame of the item, 'other' and")):
        frame.rec.diversity(3, distance="pairs")
