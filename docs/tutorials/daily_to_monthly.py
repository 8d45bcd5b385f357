# %% [text]
# # A month of nights on MovieLens 100K
#
# Each night, a job measures two recommenders on what users liked that day, and stores a [state](howto/trends.md#from-daily-rows-to-a-monthly-number). One night it runs twice, one night it fails and is
# repeated. The month's number, its interval and the comparison come from the stored states alone, and equal one call on all rows.
#
# The data is [MovieLens 100K](https://grouplens.org/datasets/movielens/100k/): 943 users, 1,682 films, 100,000 ratings
# (F. M. Harper and J. A. Konstan, *The MovieLens Datasets: History and Context*, ACM TiiS 5(4), 2015). It may not be
# redistributed. Download it there, and put its path into the environment variable `RATINGS`.
#
# [This script](tutorials/daily_to_monthly.py) wrote the page. Run it in a checkout with `python tools/tutorials.py daily_to_monthly --ratings ml-100k/u.data`, after
# `pip install '.[polars,stats]'`.
# %%
import os
import tempfile
from datetime import date
from pathlib import Path

import polars as pl

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
ratings = ratings.with_columns(day=pl.from_epoch("timestamp").dt.date())
likes = ratings.filter(pl.col("rating") >= 4)
days = pl.date_range(date(1998, 3, 1), date(1998, 3, 31), eager=True).to_list()
store = Path(tempfile.mkdtemp()) / "states"
store.mkdir()
# %% [text]
# ## The job of one night
#
# Two recommenders: films by their likes of all time, and by those of the last 30 days. Both rank the films that the user has not rated before. What the user
# liked on the day is the truth.
#
# A list is a user's day, so `by` names both. `per="day"` keeps the days apart, and `cluster="user"` says that the lists of users who come back are not
# independent. `items=True` keeps how often each film is recommended, as coverage does not add up from day to day.


# %%
def ranked(day):
    """Return the films of each user on a day, with both models' scores."""
    before = likes.filter(pl.col("day") < day)
    recent = before.filter(pl.col("day") >= day - pl.duration(days=30))
    films = (
        before.group_by("item")
        .agg(all_time=pl.len())
        .join(
            recent.group_by("item").agg(last_month=pl.len()),
            on="item",
            how="left",
        )
    )
    seen = ratings.filter(pl.col("day") < day).select("user", "item")
    users = likes.filter(pl.col("day") == day).select("user", "day").unique()
    return (
        users.join(films, how="cross")
        .join(seen, on=["user", "item"], how="anti")
        .fill_null(0)
    )


METRICS = ["ndcg@10", "recall@10", "coverage@10"]
ROLES = {
    "by": ["user", "day"],
    "score": ["all_time", "last_month"],
    "per": "day",
}
FILMS = ratings["item"].n_unique()


def night(day, truth):
    """Stop where a metric surely fell or is missing, else store the state."""
    rec = ranked(day).rec(**ROLES, truth=truth, catalog=FILMS)
    recframe.require(
        rec(per=None).describe("ndcg@10"), {"ndcg@10": 0.05}, by="high"
    )
    state = rec.state(METRICS, cluster="user", items=True)
    target = store / f"{day}.parquet"
    state.write_parquet(target.with_suffix(".new"))
    target.with_suffix(".new").replace(target)
    return state.height


def liked(day):
    return likes.filter(pl.col("day") == day).select("user", "day", "item")


# %% [text]
# ## Thirty-one nights
#
# On the 9th, cron starts the job twice: the second run writes the same file again. On the 20th, the day's likes have not arrived. The job fails before it
# stores anything, and is repeated in the morning.
# %%
for day in days:
    for _ in range(2 if day.day == 9 else 1):
        try:
            night(day, liked(day).clear() if day.day == 20 else liked(day))
        except recframe.RecError as error:
            print(f"{day} failed:", str(error).partition(" (")[0])
night(date(1998, 3, 20), liked(date(1998, 3, 20)))
files = sorted(store.glob("*.parquet"))
print(
    len(files),
    "files,",
    sum(file.stat().st_size for file in files) // 1024,
    "kB",
)
# %% [text]
# ## The month
#
# `per=[]` adds up all days. The intervals are those of users, not of lists.
# %%
states = [pl.read_parquet(file) for file in files]
month = recframe.merge_states(states, per=[])
print(month.evaluate(counts=True))
print(
    month.describe().select("model", "metric", "lists", "mean", "low", "high")
)
print(
    month.compare().select(
        "metric", "model", "baseline", "difference", "low", "high", "p_adjusted"
    )
)
# %% [text]
# One call on all rows of the month gives the same:
# %%
rows = pl.concat([ranked(day) for day in days])
truth = pl.concat([liked(day) for day in days])
own = {**ROLES, "per": None, "truth": truth}
whole = rows.rec.evaluate(METRICS, catalog=FILMS, **own)
compared = rows.rec.compare(METRICS[:2], cluster="user", **own)


def largest_difference(one, other, names):
    """Return the largest difference between two results in some columns."""
    return max((one[name] - other[name]).abs().max() for name in names)


print(largest_difference(month.evaluate(), whole, METRICS) < 1e-12)
print(
    largest_difference(
        month.compare(), compared, ["difference", "low", "high", "p_adjusted"]
    )
    < 1e-12
)
# %% [text]
# ## Trend
#
# A column that is added to the states is one to report by. So weeks need no new run:
# %%
table = pl.concat(states).with_columns(week=pl.col("day").dt.truncate("1w"))
weeks = recframe.merge_states(table, per="week")
print(weeks.evaluate(counts=True).filter(model="last_month"))
print(
    weeks.describe()
    .filter(model="last_month", metric="ndcg@10")
    .select("week", "lists", "mean", "low", "high")
)
# %% [text]
# ## Drift
#
# How often each film is recommended is in the rows of the kind `"item"`. Half of the sum of differences of their shares is the share of the recommendations that moved
# to other films since the week before:
# %%
counts = (
    table.filter(kind="item", metric="coverage@10")
    .group_by("model", "week", "item")
    .agg(pl.col("total").sum())
)
shares = counts.with_columns(
    share=pl.col("total") / pl.col("total").sum().over("model", "week")
).drop("total")
before = shares.with_columns(pl.col("week").dt.offset_by("1w"))
moved = shares.join(
    before,
    on=["model", "week", "item"],
    how="full",
    coalesce=True,
    suffix="_before",
).fill_null(0)
inside = moved.filter(
    pl.col("week").is_between(
        shares["week"].min(), shares["week"].max(), closed="right"
    )
)
drift = inside.group_by("model", "week").agg(
    moved=(pl.col("share") - pl.col("share_before")).abs().sum() / 2
)
drift = drift.sort("week", "model")
print(drift.pivot("model", index="week", values="moved"))
# %% [text]
# ## What does not add up
#
# The coverage of the month is more than that of its days, so it needs item counts, as above. The median, other quantiles and the bootstrap need the values of all lists: store
# `evaluate(..., save="1998-03-20.parquet")`, a [baseline](compare.md), where these matter.
# %% [text]
# ## Decision
#
# May the list of the last month replace that of all time? The verdict is that of the whole month, by users, adjusted for both metrics:
# %%
for row in month.compare().rows(named=True):
    print(
        f"{row['metric']}: {row['model']} is {row['verdict']} against",
        row["baseline"],
    )
