# %% [text]
# # Five factor models and recometrics
#
# The vignette of the package [recometrics](https://github.com/david-cortes/recometrics) holds out 30 % of the liked films of 100 test
# users. It compares several models at k = 5, straight from their factors. This tutorial does the same: one table by recframe, then the
# same numbers by recometrics itself. They agree for each user, metric and model. In the end, one model is chosen.
#
# The data is [MovieLens 100K](https://grouplens.org/datasets/movielens/100k/) (F. M. Harper and J. A. Konstan, *The MovieLens Datasets:
# History and Context*, ACM TiiS 5(4), 2015). It may not be redistributed. Download it there, and put its path into the
# environment variable `RATINGS`. [This script](tutorials/recometrics.py) wrote the page. To run it, in a checkout:
#
# - install `pip install '.[tutorials]'`, which compiles C and C++,
# - run `python tools/tutorials.py recometrics --ratings ml-100k/u.data`.
# %%
import os
from pathlib import Path

import numpy as np
import polars as pl
import recometrics
from cmfrec import CMF_implicit
from implicit.als import AlternatingLeastSquares
from implicit.bpr import BayesianPersonalizedRanking
from scipy.sparse import coo_array, csr_array, csr_matrix

import recframe

pl.Config.set_tbl_width_chars(80)
path = Path(os.environ.get("RATINGS", "ml-100k/u.data"))
if path.suffix == ".parquet":
    ratings = pl.read_parquet(path)
else:
    columns = ["user", "item", "rating", "timestamp"]
    ratings = pl.read_csv(
        path, separator="\t", has_header=False, new_columns=columns
    )
liked = (
    ratings.filter(pl.col("rating") >= 4)
    .select("user", "item")
    .sort("user", "item")
)
users, items = liked["user"].unique().sort(), liked["item"].unique().sort()
print(
    f"{liked.height:,} ratings of 4 or 5, by {len(users)} users,",
    f"of {len(items):,} films",
)
# %% [text]
# ## Hold out
#
# The test set has 100 random users with at least two liked films. It holds 30 % of the films of each, rounded up. All
# other rows are for training.
# %%
train, test = liked.rec.split(users=100, fraction=0.3, min_items=2, seed=1)
print(
    f"{train.height:,} to learn from, {test.height:,} held out,",
    f"of {test['user'].n_unique()} users",
)


# %% [text]
# ## Models
#
# A model is a pair of factors, or an item bias alone. BPR stores its item bias as one more factor. The settings are examples, not tuned.
# %%
def matrix(pairs):
    rows, cols = (
        users.search_sorted(pairs["user"]).to_numpy(),
        items.search_sorted(pairs["item"]).to_numpy(),
    )
    return coo_array(
        (np.ones(len(rows)), (rows, cols)), shape=(len(users), len(items))
    )


past = csr_matrix(matrix(train), dtype=np.float32)
wrmf = CMF_implicit(
    k=20, lambda_=5.0, niter=15, verbose=False, nthreads=1, random_state=1
).fit(matrix(train))
als = AlternatingLeastSquares(
    factors=20,
    iterations=15,
    alpha=15,
    regularization=10.0,
    random_state=1,
    num_threads=1,
    use_gpu=False,
)
als.fit(past, show_progress=False)
bpr = BayesianPersonalizedRanking(
    factors=20,
    iterations=100,
    learning_rate=0.05,
    regularization=0.01,
    random_state=1,
    num_threads=1,
    use_gpu=False,
)
bpr.fit(past, show_progress=False)
rng = np.random.default_rng(1)
models = {
    "random": (
        rng.standard_normal((len(users), 5)),
        rng.standard_normal((len(items), 5)),
        None,
    ),
    "most popular": (
        None,
        None,
        np.asarray(past.sum(axis=0)).ravel().astype(float),
    ),
    "WRMF (cmfrec)": (wrmf.A_, wrmf.B_, None),
    "ALS (implicit)": (als.user_factors, als.item_factors, None),
    "BPR (implicit)": (bpr.user_factors, bpr.item_factors, None),
}


# %% [text]
# ## One table
#
# `from_factors` gives the top five of each user and the positions of the held-out films. Films of the training set are not ranked.
# The models are stacked in long format, with a column `model`. The keys of `names` are what recometrics calls the metrics.
# %%
def as_float64(arrays):
    return [
        None if array is None else np.asarray(array, dtype=np.float64)
        for array in arrays
    ]


frames = [
    recframe.from_factors(
        *as_float64(model),
        users=users,
        items=items,
        train=train,
        test=test,
        k=5,
    ).with_columns(model=pl.lit(name))
    for name, model in models.items()
]
lists = pl.concat(frames)
names = {
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
judged = lists.rec(model="model")
table = judged.evaluate(list(names.values()))
with pl.Config(
    tbl_cols=-1,
    tbl_width_chars=80,
    float_precision=4,
    tbl_hide_column_data_types=True,
):
    short = table.rename({here: there for there, here in names.items()})
    print(short.select("model", *list(names)[:5]))
    print(short.select("model", *list(names)[5:]))
# %% [text]
# ## User by user
#
# `per="user"` gives one row per user, like the frame of recometrics. These are rows of the model with the best NDCG@5.
# %%
best = table.sort("ndcg@5", descending=True)["model"][0]
per_user = judged.evaluate(list(names.values()), per="user")
with pl.Config(
    tbl_cols=-1,
    tbl_width_chars=80,
    float_precision=4,
    tbl_hide_column_data_types=True,
    tbl_rows=6,
):
    print(best)
    print(
        per_user.filter(pl.col("model") == best).select(
            "user", "precision@5", "ndcg@5", "mrr@5", "roc_auc"
        )
    )
# %% [text]
# ## The same by recometrics
#
# This is the largest difference of any user in any of the ten metrics. Ties must be removed first, as the two libraries treat them
# differently: recometrics breaks them by noise or by row order, recframe averages over their orders. Films of equal popularity tie. So do films
# that nobody likes in the training set: their factors are 0. So each film's bias gets a tiny step above that of the film before.
# %%
evaluated = test["user"].unique().sort()
rows = users.search_sorted(evaluated).to_numpy()
sets = [csr_array(csr_matrix(matrix(pairs))[rows]) for pairs in (train, test)]


def difference(name):
    user_factors, item_factors, bias = as_float64(models[name])
    bias = (0 if bias is None else bias) + np.linspace(0, 1e-6, len(items))
    theirs = recometrics.calc_reco_metrics(
        *sets,
        None
        if user_factors is None
        else np.ascontiguousarray(user_factors[rows]),
        item_factors,
        k=5,
        item_biases=bias,
        all_metrics=True,
        break_ties_with_noise=False,
        nthreads=1,
    )
    frame = recframe.from_factors(
        user_factors,
        item_factors,
        bias,
        users=users,
        items=items,
        train=train,
        test=test,
        k=5,
    )
    ours = frame.rec.evaluate(list(names.values()), per="user")
    return max(
        np.abs(theirs[there].to_numpy() - ours[here].to_numpy()).max()
        for there, here in names.items()
    )


differences = {name: difference(name) for name in models}
for name, largest in differences.items():
    print(
        f"{name:15} {'less than 1e-6' if largest < 1e-6 else f'{largest:.2g}'}"
    )
# %% [text]
# ## Decision
#
# 100 users are few. Which models may be the best by NDCG@5, once all pairs are tested together?
# %%
ranked = judged.rank_models("ndcg@5")
with pl.Config(
    tbl_cols=-1,
    tbl_width_chars=80,
    float_precision=4,
    tbl_hide_column_data_types=True,
):
    print(ranked.select("model", "mean", "rank", "rank_low", "rank_high"))
    print(
        "tied with the best:",
        ranked.filter("tied_with_best")["model"].to_list(),
    )
# %% [text]
# The two implicit-feedback models of least squares may each be the best; the three others are not. Ship whichever of the two is cheaper to train,
# or hold out more users: [how many](howto/sample-size.md#how-many-users-do-i-need).
#
# implicit computes in single precision, and its last bits depend on the processor. On another one, the values of its ALS differ by up to 0.01, and it may
# not be tied with the best.
