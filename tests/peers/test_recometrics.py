"""Against recometrics, straight from factors: all its metrics, user by user, on scores without ties."""

from __future__ import annotations

from typing import Any

import pytest

import recframe

np = pytest.importorskip("numpy")
pl = pytest.importorskip("polars")

NAMES = {
    "P@5": "precision@5",
    "TP@5": "recall(capped=True)@5",
    "R@5": "recall@5",
    "AP@5": "map(norm=relevant)@5",
    "TAP@5": "map@5",
    "NDCG@5": "ndcg@5",
    "Hit@5": "hit_rate@5",
    "RR@5": "mrr@5",
    "ROC_AUC": "roc_auc",
    "PR_AUC": "pr_auc",
}
"""recometrics' names, and ours for the same definitions."""

RECORDED = {
    "P@5": 0.18666666666666668,
    "TP@5": 0.2111111111111111,
    "R@5": 0.09556777280690325,
    "AP@5": 0.05504257763170807,
    "TAP@5": 0.1368888888888889,
    "NDCG@5": 0.1442023821446784,
    "Hit@5": 0.5666666666666667,
    "RR@5": 0.3722222222222222,
    "ROC_AUC": 0.5380006598237892,
    "PR_AUC": 0.2315776322981136,
}
"""What recometrics 0.1.6.post13 gives on average for the model of seed 0, where it is not installed."""


def model(seed: int, *, bias: bool = True, graded: bool = True) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    n_users, n_items = 30, 80
    drawn = [rng.permutation(n_items)[: rng.integers(6, 40)] for _ in range(n_users)]
    cuts = [int(rng.integers(1, len(items) - 1)) for items in drawn]
    train = [(user, item) for user, items in enumerate(drawn) for item in items[: cuts[user]].tolist()]
    test = [(user, item) for user, items in enumerate(drawn) for item in items[cuts[user] :].tolist()]
    return {
        "factors": (rng.standard_normal((n_users, 6)), rng.standard_normal((n_items, 6))),
        "bias": rng.standard_normal(n_items) if bias else None,
        "train": np.array(train),
        "test": np.array(test),
        "relevance": rng.integers(1, 6, len(test)) if graded else np.ones(len(test), dtype=int),
    }


def ours(made: dict[str, Any], dtype: Any = np.float64) -> Any:
    users, items = made["factors"]
    train, test = (pl.DataFrame(made[name], schema=["user", "item"], orient="row") for name in ("train", "test"))
    frame = recframe.from_factors(
        users.astype(dtype),
        items.astype(dtype),
        made["bias"],
        users=np.arange(len(users)),
        items=np.arange(len(items)),
        train=train,
        test=test.with_columns(relevant=pl.Series(made["relevance"])),
        k=5,
    )
    return frame.rec.evaluate(list(NAMES.values()), per="user")


def theirs(made: dict[str, Any]) -> Any:
    recometrics = pytest.importorskip("recometrics")
    sparse = pytest.importorskip("scipy.sparse")
    users, items = made["factors"]
    shape = (len(users), len(items))
    sets = [
        sparse.csr_array((values.astype(float), (made[name][:, 0], made[name][:, 1])), shape=shape)
        for name, values in (("train", np.ones(len(made["train"]))), ("test", made["relevance"]))
    ]
    given = {"k": 5, "item_biases": made["bias"], "all_metrics": True, "break_ties_with_noise": False, "nthreads": 1}
    return recometrics.calc_reco_metrics(*sets, users, items, **given)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("graded", [True, False])
def test_every_user(seed: int, bias: bool, graded: bool) -> None:
    made = model(seed, bias=bias, graded=graded)
    result, expected = ours(made), theirs(made)
    for name, label in NAMES.items():
        assert result[label].to_list() == pytest.approx(expected[name].tolist(), abs=1e-6), name


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_recorded_values(dtype: Any) -> None:
    result = ours(model(0), dtype)
    assert {name: result[label].mean() for name, label in NAMES.items()} == pytest.approx(RECORDED, abs=1e-6)


@pytest.mark.parametrize("k", [1, 2])
def test_every_row_is_relevant(k: int) -> None:
    # The profile says where it has no value.
    recometrics = pytest.importorskip("recometrics")
    sparse = pytest.importorskip("scipy.sparse")
    none, every = sparse.csr_array((1, 3)), sparse.csr_array(np.ones((1, 3)))
    given = {"k": k, "all_metrics": True, "break_ties_with_noise": False, "consider_cold_start": True, "nthreads": 1}
    table = recometrics.calc_reco_metrics(none, every, np.array([[3.0, 2.0, 1.0]]), np.eye(3), **given)
    assert {*table.iloc[0].dropna().index} == ({f"NDCG@{k}"} if k > 1 else set())
