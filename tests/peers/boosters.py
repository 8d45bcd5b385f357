"""Train a booster on a small ranking set: run by an interpreter that has it, without recframe.

``python boosters.py LIBRARY`` writes as JSON what the model says of the lists that it did not see: the grades, scores
and sizes of the lists, and the booster's own metrics of them, by our spelling.
"""

from __future__ import annotations

import json
import sys

import numpy as np

CUTOFFS = (1, 3, 5, 10)


def lists(seed, users):
    """Return features, grades and list sizes of films that users rated: the films' fame, age and how they suit them."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 25, users)
    films = rng.normal(size=(80, 4))
    features, grades = [], []
    for size in sizes:
        own = films[rng.choice(80, size, replace=False)]
        taste = rng.normal(size=2)
        suits = own[:, :2] @ taste
        rating = suits + own[:, 2] + rng.normal(scale=0.7, size=size)
        features.append(np.column_stack([np.round(suits), np.round(own[:, 2:], 1)]))
        grades.append(np.clip(np.round(rating), 0, 4))
    return np.vstack(features), np.concatenate(grades), sizes


def lightgbm(train, test):
    import lightgbm as library

    def data(rows):
        features, grades, sizes = rows
        return library.Dataset(features, grades, group=sizes)

    given = {"objective": "lambdarank", "metric": ["ndcg", "map"], "eval_at": CUTOFFS, "verbose": -1, "num_threads": 1}
    result = {}
    fitted, seen = data(train), data(test)
    seen.reference = fitted
    model = library.train(
        given, fitted, 15, valid_sets=[seen], valid_names=["test"], callbacks=[library.record_evaluation(result)]
    )
    values = {name: own[-1] for name, own in result["test"].items()}
    return model.predict(test[0]), values


def xgboost(train, test):
    import xgboost as library

    def data(rows, *, binary):
        features, grades, sizes = rows
        made = library.DMatrix(features, grades > 0 if binary else grades)
        made.set_group(sizes)
        return made

    result = {}
    # Its map and pre accept labels of 0 and 1 only.
    for binary, metrics in ((False, ("ndcg",)), (True, ("map", "pre"))):
        requested = [f"{metric}@{k}" for metric in metrics for k in CUTOFFS]
        seen = data(test, binary=binary)
        given = {"objective": "rank:ndcg", "nthread": 1, "eta": 0.3, "eval_metric": requested}
        history = {}
        model = library.train(
            given, data(train, binary=False), 15, evals=[(seen, "test")], evals_result=history, verbose_eval=False
        )
        result |= {name.replace("pre@", "precision@"): own[-1] for name, own in history["test"].items()}
    return model.predict(seen).astype(float), result


def catboost(train, test):
    import catboost as library

    def data(rows):
        features, grades, sizes = rows
        return library.Pool(features, grades, group_id=np.repeat(np.arange(len(sizes)), sizes))

    names = {
        "ndcg": "NDCG:", "ndcg(gain=exp2)": "NDCG:type=Exp;", "precision": "PrecisionAt:", "recall": "RecallAt:",
        "map": "MAP:", "mrr": "MRR:",
    }  # fmt: skip
    requested = {f"{metric}top={k}": f"{name}@{k}" for name, metric in names.items() for k in CUTOFFS}
    model = library.CatBoostRanker(
        iterations=15, learning_rate=0.3, loss_function="QueryRMSE", thread_count=1, verbose=False,
        allow_writing_files=False, random_seed=1,
    )  # fmt: skip
    model.fit(data(train))
    history = model.eval_metrics(data(test), list(requested), thread_count=1)
    result = {label: own[-1] for label, own in zip(requested.values(), history.values(), strict=True)}
    return model.predict(data(test)), result


if __name__ == "__main__":
    train, test = lists(1, 150), lists(2, 100)
    scores, values = globals()[sys.argv[1]](train, test)
    said = {"grades": test[1].tolist(), "scores": np.asarray(scores).tolist(), "sizes": test[2].tolist()}
    print("\n" + json.dumps(said | {"values": {name: float(value) for name, value in values.items()}}))  # noqa: T201
