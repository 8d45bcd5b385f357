"""Against ranx, on lists without ties: it breaks them in the order in which it meets them."""

from __future__ import annotations

import warnings
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

import recframe  # noqa: F401 - registers .rec

if TYPE_CHECKING:
    from collections.abc import Callable

    Lists = tuple[dict[str, dict[str, float]], dict[str, dict[str, int]]]

with warnings.catch_warnings():
    # Importing ranx imports plotting and compiling libraries, whose own deprecations are no concern here.
    warnings.simplefilter("ignore")
    ranx = pytest.importorskip("ranx")

GRADED = {
    "ndcg": "ndcg",
    "ndcg@3": "ndcg@3",
    "ndcg@10": "ndcg@10",
    "ndcg_burges": "ndcg(gain=exp2)",
    "ndcg_burges@5": "ndcg(gain=exp2)@5",
    "map": "map(norm=relevant)",
    "map@5": "map(norm=relevant)@5",
    "mrr": "mrr",
    "mrr@2": "mrr@2",
    "precision": "precision",
    "precision@5": "precision@5",
    "recall": "recall",
    "recall@5": "recall@5",
    "f1": "f1",
    "f1@5": "f1@5",
    "r-precision": "r_precision",
    "hit_rate": "hit_rate",
    "hit_rate@2": "hit_rate@2",
}
"""ranx's names, and ours for the same definitions."""
# ranx weighs rbp with the grade, so only binary relevance compares.
BINARY = {"rbp.80": "rbp", "rbp.50": "rbp(p=0.5)"}


@pytest.fixture(params=["polars", "pandas"])
def make(request: pytest.FixtureRequest) -> Callable[..., Any]:
    return pytest.importorskip(request.param).DataFrame


def random_lists(grades: list[int]) -> Lists:
    """Return lists of one to fifteen items, no score twice, and grades of items both recommended and not."""
    random = Random(0)
    run, qrels = {}, {}
    for user in range(20):
        catalogue = [f"i{number}" for number in random.sample(range(1000), 25)]
        recommended = catalogue[: random.randint(1, 15)]
        run[f"u{user:02}"] = dict(zip(recommended, random.sample(range(1000), len(recommended)), strict=True))
        # ranx accepts no judgement of 0: what is not relevant is not there.
        qrels[f"u{user:02}"] = {item: random.choice(grades) for item in random.sample(catalogue, 8)}
    return {user: {item: score / 8 for item, score in items.items()} for user, items in run.items()}, qrels


def long(lists: dict[str, dict[str, Any]], value: str) -> dict[str, list[Any]]:
    """Return nested dictionaries as columns, rows in random order."""
    rows = [(user, item, number) for user, items in lists.items() for item, number in items.items()]
    Random(1).shuffle(rows)
    return dict(zip(("user", "item", value), map(list, zip(*rows, strict=True)), strict=True))


# Numba warns while it compiles ranx: a cast from uint64 to int64 in its sources.
@pytest.mark.filterwarnings("ignore:unsafe cast from uint64 to int64")
@pytest.mark.parametrize(("grades", "names"), [([1, 2, 3], GRADED), ([1], GRADED | BINARY)], ids=["graded", "binary"])
def test_every_list(make: Callable[..., Any], grades: list[int], names: dict[str, str]) -> None:
    run, qrels = random_lists(grades)
    expected = ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), list(names), return_mean=False)
    frame, truth = make(long(run, "score")), make(long(qrels, "relevant"))
    table = frame.rec.evaluate(list(names.values()), truth=truth, per="user", min_relevance=1)
    assert list(table["user"]) == sorted(run)
    for theirs, ours in names.items():
        assert table[ours].to_list() == pytest.approx(list(expected[theirs]), abs=1e-12), theirs


@pytest.mark.filterwarnings("ignore:unsafe cast from uint64 to int64")
def test_p_values_of_the_paired_t_test(make: Callable[..., Any]) -> None:
    one, qrels = random_lists([1, 2, 3])
    order = Random(2)
    runs = {"old": one, "new": {user: {item: order.random() for item in items} for user, items in one.items()}}
    theirs = ranx.compare(
        ranx.Qrels(qrels),
        [ranx.Run(run, name=name) for name, run in runs.items()],
        ["map", "ndcg@10"],
        stat_test="student",
    )
    frame = make({
        "model": [name for name, run in runs.items() for items in run.values() for _ in items],
        "user": [user for run in runs.values() for user, items in run.items() for _ in items],
        "item": [item for run in runs.values() for items in run.values() for item in items],
        "score": [score for run in runs.values() for items in run.values() for score in items.values()],
    })  # fmt: skip
    result = frame.rec.compare(
        ["map(norm=relevant)", "ndcg@10"],
        truth=make(long(qrels, "relevant")),
        model="model",
        min_relevance=1,
        correction="none",
        details=True,
    )
    expected = [theirs.comparisons["old", "new"][name]["p_value"] for name in ("map", "ndcg@10")]
    assert result["p"].to_list() == pytest.approx(expected, abs=1e-9)


@pytest.mark.slow  # Numba compiles it for seconds
@pytest.mark.filterwarnings("ignore:unsafe cast from uint64 to int64")
def test_bpref_is_refused_for_what_it_gives_to_some_lists() -> None:
    polars = pytest.importorskip("polars")
    run = {"some": {"a": 3.0, "b": 2.0, "c": 1.0}, "only hits": {"a": 1.0}, "negative": {"b": 2.0, "a": 1.0}}
    qrels = {"some": {"a": 1, "b": 0, "c": 2}, "only hits": {"a": 1}, "negative": {"a": 1, "b": -1}}
    theirs = ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), "bpref", return_mean=False)
    frame, truth = polars.DataFrame(long(run, "score")), polars.DataFrame(long(qrels, "relevant"))
    ours = frame.rec.bpref(truth=truth, per="user", min_relevance=1, undefined=0)
    # What is wrong there: a list of hits alone has no value, and an unjudged row lowers another.
    assert dict(zip(sorted(run), theirs.tolist(), strict=True)) == pytest.approx(
        {"negative": 0.0, "only hits": float("nan"), "some": 0.5}, nan_ok=True
    )
    assert dict(ours.iter_rows()) == {"negative": 1.0, "only hits": 1.0, "some": 0.5}
    # A list without a relevant item divides by 0, which ends the thread that reads it: the lists after it keep their 0.
    names = [f"q{number:03}" for number in range(1000)]
    qrels = {name: {"a": 0} if name == names[0] else {"a": 1, "b": 0} for name in names}
    theirs = ranx.evaluate(
        ranx.Qrels(qrels), ranx.Run({name: {"a": 1.0} for name in names}), "bpref", return_mean=False
    )
    assert theirs[1] == 0.0
