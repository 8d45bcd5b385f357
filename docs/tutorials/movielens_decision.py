# %% [text]
# # MovieLens: from the raw file to a decision
#
# You have a file of ratings and an idea for a recommender: show films that are similar to what a user rated. Is the idea better than a list of bestsellers?
# On this page you go all the way from the file to a decision. It ends with the answer that real data often gives: you cannot tell yet.
#
# The data is [MovieLens 100K](https://grouplens.org/datasets/movielens/100k/) (F. M. Harper and J. A. Konstan, *The MovieLens Datasets: History
# and Context*, ACM TiiS 5(4), 2015). It may not be redistributed, so download it and put its path into the environment variable `RATINGS`.
#
# [This script](tutorials/movielens_decision.py) wrote the page. Run it in a checkout with
# `python tools/tutorials.py movielens_decision --ratings ml-100k/u.data`, after `pip install '.[polars,stats]'`.
#
# ## 1. Read the file
# %%
import os
from pathlib import Path

import numpy as np
import polars as pl

import recframe

pl.Config.set_tbl_width_chars(80)
pl.Config.set_tbl_hide_column_data_types(True)
pl.Config.set_float_precision(3)
path = Path(os.environ.get("RATINGS", "ml-100k/u.data"))
if path.suffix == ".parquet":
    ratings = pl.read_parquet(path)
else:
    columns = ["user", "item", "rating", "timestamp"]
    ratings = pl.read_csv(
        path, separator="\t", has_header=False, new_columns=columns
    )
ratings = ratings.with_columns(relevant=(pl.col("rating") >= 4).cast(int))
print(ratings.select(pl.len(), pl.col("user", "item").n_unique()))
# %% [text]
# A rating of 4 or 5 is a success. A 3 is not, because nobody wants to be recommended a mediocre film.
#
# ## 2. Choose the metric before you see a result
#
# Your page shows ten films, and higher places are seen more, so NDCG@10 decides. Coverage is a guard: if you show the same ten films to everybody, you need
# no recommender.
#
# If you chose the metric after the results, you would choose the metric that your model wins. Section 6 shows how tempting that is.
#
# ## 3. Split by time
#
# The last fifth of the ratings is the test. The model may learn only from earlier ratings, as in production:
# %%
since = ratings["timestamp"].quantile(0.8)
train, test = ratings.rec.split(since=since, time="timestamp")
known = test.join(train, on="user", how="semi")
print(f"{train.height:,} ratings to learn from, {test.height:,} in the test.")
print(
    f"Of {test['user'].n_unique()} users in the test,",
    f"{known['user'].n_unique()} have a history.",
)


# %% [text]
# A similarity model can serve only users with a history. All other users get the bestsellers, whatever you decide, so leave them out of this comparison.
#
# ## 4. Two models
#
# `popular` counts ratings, and shows everybody the same list, except the films that the user has rated. `similar` adds up the cosine similarities
# between a film and the user's films. The function below scores every film that a user has not rated, and labels each film with the test's ratings:
# %%
def scored(train, test):
    users = train["user"].unique().sort()
    items = train["item"].unique().sort()
    rated = np.zeros((len(users), len(items)))
    rows = users.search_sorted(train["user"])
    rated[rows, items.search_sorted(train["item"])] = 1
    together = rated.T @ rated
    counts = np.diag(together).copy()
    np.fill_diagonal(together, 0)
    affinity = rated @ (together / np.sqrt(np.outer(counts, counts)))
    pairs = recframe.candidates(test, train, seen=train)
    row = users.search_sorted(pairs["user"])
    column = items.search_sorted(pairs["item"])
    return (
        pairs.with_columns(similar=pl.Series(affinity[row, column]))
        .rec.add_popular(train)
        .rec.label(test)
    )


frame = scored(train, known)
rec = frame.rec(score=["popular", "similar"])
print(frame.head(3))
# %% [text]
# ## 5. Look for mistakes first
#
# A mistake in the data looks just like a good or a bad model. So check before you measure:
# %%
found = rec.check(k=10).filter(pl.col("severity") != "note")
print(found.select("model", "finding", "severity", "count"))
# %% [text]
# There are no errors. The warnings are harmless here. Some users liked nothing in the test, so they have no NDCG and are left out. Some bestsellers tie at the tenth place,
# and recframe averages over the orders of tied films.
#
# ## 6. Measure and compare
# %%
print(rec.evaluate(["ndcg@10", "coverage@10"]))
result = rec.compare(["ndcg@10", "coverage@10"], baseline="popular")
print(result.select("metric", "difference", "low", "high", "verdict"))
# %% [text]
# `similar` shows twice as many different films. But on the metric that decides, the verdict is **open**: the means are equal to three digits, and the
# interval reaches from a clear loss to a clear gain. Do not conclude that there is no difference. You have too little data to tell.
#
# Now somebody asks for another metric. Here is the hit rate, the share of users with at least one good film:
# %%
result = rec.compare("hit_rate@10", baseline="popular")
print(result.select("metric", "difference", "low", "high", "verdict"))
# %% [text]
# By itself, the result says that `similar` is worse: it serves fewer users, and the users whom it serves get good films higher up. Should you believe it? If you
# care about the share of users who find anything, choose the hit rate before the experiment. After an open result, a second metric is another ticket in a lottery.
# If you must try several metrics, put all of them into one call, so that their p-values are adjusted together.
#
# ## 7. How many users would you need?
# %%
size = rec.sample_size("ndcg@10", difference=0.01, baseline="popular")
print(size.select("model", "difference", "seen", "lists", "lists_careful"))
# %% [text]
# To find a true difference of 0.01 you need thousands of users with a history. After the split, this file has about a hundred. recframe warns you that a plan from
# so few users is uncertain, and `lists_careful` allows for that.
#
# ## 8. The trap: a split that is easier to win
#
# Many papers hold out a random fifth of each user's ratings instead. Then every user has a history, and the test is larger:
# %%
easy_train, easy_test = ratings.rec.split(fraction=0.2, seed=0)
easy = scored(easy_train, easy_test).rec(score=["popular", "similar"])
result = easy.compare("ndcg@10", baseline="popular", details=True)
print(result.select("model", "difference", "low", "high", "lists", "verdict"))
# %% [text]
# The models and films are the same, and now `similar` is clearly better. The comparison is not wrong, but it answers another question: how well does a model fill
# the gaps in a history, if it has seen everybody's future? Production never asks that question, because tomorrow's ratings do not exist today.
#
# ## 9. The decision
#
# - **Do not replace the bestsellers because of this test.** The comparison that is like production is open, and the favourable comparison is not like production.
# - **For `similar`:** it shows twice as much of the catalogue. **Against `similar`:** fewer users find anything in their ten films.
# - **What you do next:** show `similar` to some users until you have thousands of lists, or use a larger file. With `test="anytime"` you may look every night
#   ([when to stop](howto/sample-size.md#look-every-night-stop-when-it-is-decided)).
#
# You decided nothing, and that is a result: you know which question is open and how many users the answer takes.
