# %% [text]
# # A month of nights on MovieLens 100K
#
# You measure your models every night and delete the rows in the morning. At the end of the month you want one number, its interval, and an answer:
# is the new model better? This tutorial builds that job. One night it runs twice, one night it fails, and the month is still right.
#
# The trick is a [state](howto/trends.md#from-daily-rows-to-a-monthly-number): each night stores the sums of its lists in a small file, and sums add up.
#
# The data is [MovieLens 100K](https://grouplens.org/datasets/movielens/100k/) (F. M. Harper and J. A. Konstan, *The MovieLens Datasets: History
# and Context*, ACM TiiS 5(4), 2015). It may not be redistributed, so download it and put its path into the environment variable `RATINGS`.
#
# [This script](tutorials/daily_to_monthly.py) wrote the page. Run it in a checkout with
# `python tools/tutorials.py daily_to_monthly --ratings ml-100k/u.data`, after `pip install '.[polars,stats]'`.
# %%
import os
import tempfile
from datetime import date
from pathlib import Path

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
ratings = ratings.with_columns(day=pl.from_epoch("timestamp").dt.date())
likes = ratings.filter(pl.col("rating") >= 4)
days = pl.date_range(date(1998, 3, 1), date(1998, 3, 31), eager=True).to_list()
store = Path(tempfile.mkdtemp()) / "states"
store.mkdir()


# %% [text]
# ## 1. The two models and the truth of a day
#
# `all_time` ranks films by their likes since the start, and `last_month` by their likes of the last 30 days. Both rank only films that the user has
# not rated before. The truth is what the user liked on the day:
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


def liked(day):
    return likes.filter(pl.col("day") == day).select("user", "day", "item")


# %% [text]
# ## 2. The job of one night
#
# A user may come on several days, so a list is a user's day and `by` names both columns. `per="day"` keeps the days apart in the state.
# `cluster="user"` tells recframe that the lists of one user are not independent. `items=True` also stores how often each film is recommended, because
# coverage needs it.
#
# The gate comes first: if NDCG@10 is surely below 0.05, or has no value, the job fails before it stores anything. The file is written under another name
# and then renamed, so a killed job leaves no half file.
# %%
METRICS = ["ndcg@10", "recall@10", "coverage@10"]
ROLES = {
    "by": ["user", "day"],
    "score": ["all_time", "last_month"],
    "per": "day",
}
FILMS = ratings["item"].n_unique()


def night(day, truth):
    rec = ranked(day).rec(**ROLES, truth=truth, catalog=FILMS)
    recframe.require(
        rec(per=None).describe("ndcg@10"), {"ndcg@10": 0.05}, by="high"
    )
    state = rec.state(METRICS, cluster="user", items=True)
    target = store / f"{day}.parquet"
    state.write_parquet(target.with_suffix(".new"))
    target.with_suffix(".new").replace(target)


# %% [text]
# ## 3. Thirty-one nights
#
# On the 9th, cron starts the job twice, so the second run replaces the file of the first. On the 20th, the likes of the day have not arrived. The job fails,
# and you repeat it in the morning:
# %%
for day in days:
    for _ in range(2 if day.day == 9 else 1):
        try:
            night(day, liked(day).clear() if day.day == 20 else liked(day))
        except recframe.RecError as error:
            print(f"{day} failed:", str(error).partition(" (")[0])
night(date(1998, 3, 20), liked(date(1998, 3, 20)))
files = sorted(store.glob("*.parquet"))
size = sum(file.stat().st_size for file in files) // 1024
print(len(files), "files,", size, "kB")
# %% [text]
# ## 4. The month
#
# `per=[]` adds up all days:
# %%
states = [pl.read_parquet(file) for file in files]
month = recframe.merge_states(states, per=[])
print(month.evaluate())
result = month.compare(baseline="all_time")
print(result.select("metric", "difference", "low", "high", "verdict"))
# %% [text]
# Recent likes beat all-time likes in both metrics. The intervals count users and not lists, and the p-values are adjusted for both metrics, so you can replace
# the list of all time.
#
# Is the month really the same as one call on all rows? Normally you cannot check, because the rows are gone. Here they are not:
# %%
rows = pl.concat([ranked(day) for day in days])
truth = pl.concat([liked(day) for day in days])
roles = {**ROLES, "per": None, "truth": truth}
in_one_call = rows.rec.evaluate(METRICS, catalog=FILMS, **roles)
compared = rows.rec.compare(
    METRICS[:2], baseline="all_time", cluster="user", **roles
)


def largest_difference(first, second, names):
    return max((first[name] - second[name]).abs().max() for name in names)


numbers = ["difference", "low", "high", "p_adjusted"]
print(largest_difference(month.evaluate(), in_one_call, METRICS) < 1e-12)
print(largest_difference(result, compared, numbers) < 1e-12)
# %% [text]
# ## 5. Weeks, without a new run
#
# If you add a column to the stored states, you can report by it:
# %%
table = pl.concat(states).with_columns(week=pl.col("day").dt.truncate("1w"))
weeks = recframe.merge_states(table, per="week")
trend = weeks.describe().filter(model="last_month", metric="ndcg@10")
print(trend.select("week", "lists", "mean", "low", "high"))
# %% [text]
# The first week has only Sunday, the 1st of March. The intervals overlap widely, so you should not read a trend into these weeks.
#
# ## Drift
#
# Do the models still recommend the same films as last week? The states know how often each film was recommended. Half the sum of the differences
# between two weeks' shares is the share of recommendations that moved to other films:
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
# `last_month` moves more in every week, because it follows what is liked now.
#
# ## What does not add up
#
# Medians, other quantiles and the bootstrap need the value of each list. If you want them, also store
# `rec.evaluate("ndcg@10", per=["user", "day"])` each night.
