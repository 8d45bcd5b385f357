"""`agreement`: how alike rankings are, against plain Python and SciPy list by list."""

from __future__ import annotations

import itertools
import random
import statistics
from collections import defaultdict

import pytest

import recframe

stats = pytest.importorskip("scipy.stats")

MODELS = ["a", "b", "c"]


@pytest.fixture(autouse=True)
def _of_eager_frames(request):
    engine = getattr(request.node, "callspec", None) and request.node.callspec.params["engine"]
    if engine is not None and engine.lazy:
        pytest.skip("for eager frames")


def crowd(seed, lists=30):
    """Return lists with ties, missing scores and lists of unequal length."""
    draw = random.Random(seed)
    return [
        {"user": user, "country": "at" if user % 3 else "be", "item": item}
        | {model: draw.choice([None, 1.0, 2.0, 2.5, 4.0]) for model in MODELS}
        for user in range(lists)
        for item in range(draw.randint(1, 8))
    ]


def rbo(one, other, p):
    """Return equation 32 of Webber, Moffat and Zobel (2010), by its sums."""
    short, long = sorted((one, other), key=len)
    s, n = len(short), len(long)

    def common(depth):
        return len(set(short[:depth]) & set(long[:depth]))

    found = sum(common(d) / d * p**d for d in range(1, n + 1))
    found += sum(common(s) * (d - s) / (s * d) * p**d for d in range(s + 1, n + 1))
    return (1 - p) / p * found + ((common(n) - common(s)) / n + common(s) / s) * p**n


def expected(rows, pair, k, p, sign=1):
    """Return the number of lists and the means of what two models have in common."""
    lists, found = defaultdict(list), []
    for row in rows:
        lists[row["user"]].append(row)
    for members in lists.values():
        tops = []
        for model in pair:
            ranked = [row for row in members if row[model] is not None]
            ranked.sort(key=lambda row: (-sign * row[model], row["item"]))
            tops.append([row["item"] for row in ranked[:k]])
        if not all(tops):
            continue
        shared, every = set(tops[0]) & set(tops[1]), set(tops[0]) | set(tops[1])
        both = [[row[model] for row in members if None not in (row[pair[0]], row[pair[1]])] for model in pair]
        varied = all(len(set(values)) > 1 for values in both)
        found.append([
            len(shared) / max(map(len, tops)), len(shared) / len(every), rbo(*tops, p),
            stats.kendalltau(*both)[0] if varied else None, stats.spearmanr(*both)[0] if varied else None,
        ])  # fmt: skip
    means = [[value for value in column if value is not None] for column in zip(*found, strict=True)]
    return [len(found), *(statistics.fmean(values) for values in means)]


def assert_agrees(row, k, wanted):
    names = ["lists", f"overlap@{k}", f"jaccard@{k}", f"rbo@{k}", "kendall", "spearman"]
    assert [row[name] for name in names] == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("k", [1, 3, 20])
@pytest.mark.parametrize("p", [0.5, 0.9])
def test_pairs_of_models(engine, k, p):
    rows = crowd(1)
    found = engine.ask(engine.frame(rows), "agreement", k, p=p, score=MODELS)
    assert [(row["model"], row["other"]) for row in found] == [*itertools.combinations(MODELS, 2)]
    for row in found:
        assert_agrees(row, k, expected(rows, (row["model"], row["other"]), k, p))


def test_segments(engine):
    rows = crowd(2)
    found = engine.ask(engine.frame(rows), "agreement", 3, score=["a", "b"], per="country")
    assert [row["country"] for row in found] == ["at", "be"]
    for row in found:
        part = [one for one in rows if one["country"] == row["country"]]
        assert_agrees(row, 3, expected(part, ("a", "b"), 3, 0.9))


def test_ranks(engine):
    rows = crowd(3)
    (found,) = engine.ask(engine.frame(rows), "agreement", 3, rank=["a", "b"])
    assert_agrees(found, 3, expected(rows, ("a", "b"), 3, 0.9, sign=-1))


def test_a_model_agrees_with_its_copy(engine):
    rows = [row | {"b": row["a"]} for row in crowd(4)]
    (found,) = engine.ask(engine.frame(rows), "agreement", 5, score=["a", "b"])
    assert [found[name] for name in found][3:] == pytest.approx([1.0] * 5)


def test_lists_that_one_model_leaves_empty_do_not_count(engine):
    frame = engine.frame({"user": [1, 2], "item": [1, 1], "a": [1.0, 1.0], "b": [None, 2.0]})
    (found,) = engine.ask(frame, "agreement", 5, by="user", score=["a", "b"])
    assert (found["lists"], found["overlap@5"], found["kendall"]) == (1, 1.0, None)


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"score": "a"}, "score='a' is one"), ({"k": 0}, "k=0 is less than 1"), ({"p": 1}, "p=1 is not between 0 and 1"),
        ({"by": "country"}, "repeats items within lists"), ({"model": "country"}, "model"),
    ],
)  # fmt: skip
def test_bad_calls(engine, given, match):
    with pytest.raises(recframe.RecError, match=match):
        recframe.rec(engine.frame(crowd(5))).agreement(**{"score": ["a", "b"], **given})


def test_lazy_frames_are_refused_with_a_remedy():
    pl = pytest.importorskip("polars")
    with pytest.raises(recframe.OptionTypeError, match="collect it first"):
        pl.LazyFrame({"user": [1], "item": [1], "a": [1.0], "b": [1.0]}).rec.agreement(score=["a", "b"])
