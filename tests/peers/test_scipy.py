"""Against SciPy's rank correlations, list by list."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest

import recframe  # noqa: F401 - registers .rec

if TYPE_CHECKING:
    from collections.abc import Callable

np = pytest.importorskip("numpy")
stats = pytest.importorskip("scipy.stats")

THEIRS = {"kendall": "kendalltau", "spearman": "spearmanr"}


@pytest.fixture(params=["polars", "pandas"])
def make(request: pytest.FixtureRequest) -> Callable[..., Any]:
    return pytest.importorskip(request.param).DataFrame


def lists(seed: int, grades: int, scores: int) -> list[tuple[Any, Any]]:
    """Return lists of several lengths, relevance and scores; few values make many ties and some constant lists."""
    rng = np.random.default_rng(seed)
    return [(rng.integers(-1, grades, n), rng.integers(0, scores, n) / 8) for n in rng.integers(1, 60, 200)]


@pytest.mark.filterwarnings("ignore::scipy.stats.ConstantInputWarning")
@pytest.mark.parametrize("name", THEIRS)
@pytest.mark.parametrize(
    ("seed", "grades", "scores"), [(0, 2, 2), (1, 3, 5), (2, 5, 100_000), (3, 100_000, 4), (4, 100_000, 100_000)]
)
def test_each_list(make: Callable[..., Any], name: str, seed: int, grades: int, scores: int) -> None:
    data = lists(seed, grades, scores)
    columns = {
        "user": np.repeat(np.arange(len(data)), [len(relevance) for relevance, _ in data]),
        "relevant": np.concatenate([relevance for relevance, _ in data]),
        "score": np.concatenate([score for _, score in data]),
    }
    order = np.random.default_rng(seed).permutation(len(columns["user"]))
    result = make({name: values[order] for name, values in columns.items()}).rec.evaluate(name, per="user")[name]
    compared = 0
    for value, (relevance, score) in zip(result.to_list(), data, strict=True):
        if (relevance <= 0).all() or len(relevance) < 2:
            continue  # undefined here: nothing is relevant, or there is no pair
        theirs = getattr(stats, THEIRS[name])(relevance, score).statistic
        if math.isnan(theirs):
            assert value is None or math.isnan(value)
        else:
            assert value == pytest.approx(theirs, abs=1e-12)
            compared += 1
    assert compared > len(data) / 2
