"""Against scikit-learn, where the definitions coincide: NDCG and DCG over the rows of the list, ties averaged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import recframe  # noqa: F401 - registers .rec

if TYPE_CHECKING:
    from collections.abc import Callable

np = pytest.importorskip("numpy")
sklearn_metrics = pytest.importorskip("sklearn.metrics")

CUTOFFS = [None, 1, 3, 10, 100]


@pytest.fixture(params=["polars", "pandas"])
def make(request: pytest.FixtureRequest) -> Callable[..., Any]:
    return pytest.importorskip(request.param).DataFrame


def lists(seed: int, levels: int, *, least: int = 0, n_lists: int = 40, length: int = 12) -> Any:
    """Return graded relevance and scores, lists × items; few levels of score make many ties."""
    rng = np.random.default_rng(seed)
    relevance = rng.integers(least, 5, (n_lists, length)) * (rng.random((n_lists, length)) < 0.4)
    return relevance, rng.integers(0, levels, (n_lists, length)) / 4


def long(relevance: Any, scores: Any, rng: Any) -> dict[str, Any]:
    """Return lists × items as columns, rows in random order."""
    length = relevance.shape[1]
    order = rng.permutation(relevance.size)
    user, item = np.divmod(np.arange(relevance.size), length)
    columns = {"user": user, "item": item, "relevant": relevance.ravel(), "score": scores.ravel()}
    return {name: values[order] for name, values in columns.items()}


@pytest.mark.filterwarnings("ignore::recframe.DataWarning")  # of one level, where all scores tie
@pytest.mark.parametrize("k", CUTOFFS)
@pytest.mark.parametrize(("seed", "levels"), [(0, 1), (1, 3), (2, 8), (3, 10_000)])
def test_ndcg_with_ties_averaged(make: Callable[..., Any], seed: int, levels: int, k: int | None) -> None:
    relevance, scores = lists(seed, levels)
    frame = make(long(relevance, scores, np.random.default_rng(seed)))
    # scikit-learn counts a list without relevant items as 0.
    expected = sklearn_metrics.ndcg_score(relevance, scores, k=k)
    assert frame.rec.ndcg(k, ideal="ranked", undefined=0.0) == pytest.approx(expected, abs=1e-12)
    # Every item is ranked, so all rows and the ranked ones have the same ideal.
    assert frame.rec.ndcg(k, undefined=0.0) == pytest.approx(expected, abs=1e-12)


@pytest.mark.filterwarnings("ignore:(?s).*is NaN in:recframe.DataWarning")
@pytest.mark.parametrize("k", CUTOFFS)
def test_ndcg_of_each_list_ideal_of_what_is_ranked(make: Callable[..., Any], k: int | None) -> None:
    # Lists of different length, some rows not recommended: scikit-learn sees the ranked rows only.
    relevance, scores = lists(5, 6)
    scores[np.random.default_rng(5).random(scores.shape) < 0.3] = np.nan
    frame = make(long(relevance, scores, np.random.default_rng(6)))
    table = frame.rec.ndcg(k, ideal="ranked", per="user", undefined=0.0)
    ranked = ~np.isnan(scores)
    expected = [
        sklearn_metrics.ndcg_score([grades[seen]], [given[seen]], k=k)
        for grades, given, seen in zip(relevance, scores, ranked, strict=True)
    ]
    assert min(ranked.sum(axis=1)) > 1  # scikit-learn accepts no list of one
    assert list(table["user"]) == [*range(len(relevance))]
    assert list(table[table.columns[-1]]) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("k", CUTOFFS)
@pytest.mark.parametrize("levels", [3, 10_000])
def test_dcg_of_negative_relevance(make: Callable[..., Any], levels: int, k: int | None) -> None:
    relevance, scores = lists(7, levels, least=-2)
    relevance[:, 0] = 1  # a list without a positive item is undefined here, and has a DCG there
    frame = make(long(relevance, scores, np.random.default_rng(8)))
    assert frame.rec.dcg(k) == pytest.approx(sklearn_metrics.dcg_score(relevance, scores, k=k), abs=1e-12)


def test_average_precision_without_ties(make: Callable[..., Any]) -> None:
    # With ties scikit-learn's steps treat a tied block as one threshold, which is another definition.
    rng = np.random.default_rng(9)
    relevance, _ = lists(9, 1)
    relevance = (relevance > 0).astype(int)
    relevance[:, 0] = 1
    scores = rng.permuted(np.tile(np.arange(relevance.shape[1]), (len(relevance), 1)), axis=1)
    expected = [
        sklearn_metrics.average_precision_score(one, other) for one, other in zip(relevance, scores, strict=True)
    ]
    frame = make(long(relevance, scores, rng))
    assert frame.rec.map() == pytest.approx(np.mean(expected), abs=1e-12)
