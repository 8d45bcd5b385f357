"""Prints how often the tests of `compare` are wrong, on values of real lists: the table in ``docs/compare.md``.

``python tools/simulation.py ratings.parquet`` takes a quarter of a minute with MovieLens 100K. Two models recommend
films to each user on each day. Lists, or users with all of their days, are drawn with replacement from their
differences in NDCG@10, which are shifted so that the true difference is known.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

import recframe
from recframe._statistics import student
from recframe._statistics.student import Sums

if TYPE_CHECKING:
    from collections.abc import Callable

DRAWS = 2_000
LISTS = 200
USERS = 300
CONFIDENCE = 0.95
LIKED = 4

HEAD = """\
| what is drawn | test | rejects at 0.05, no difference | interval holds the truth | power at `detectable` |
| --- | --- | ---: | ---: | ---: |
"""

PROPENSITY_HEAD = """\
| relevant items per list | metric | true | observed items alone | shares of lists | pooled |
| ---: | --- | ---: | ---: | ---: | ---: |
"""
ITEMS, SERVED, TOP = 1_000, 20_000, 10

Floats = NDArray[np.float64]


def differences(path: str) -> pl.DataFrame:
    """Return the difference in NDCG@10 of two models for each user and day."""
    ratings = pl.read_parquet(path).with_columns(day=pl.from_epoch("timestamp").dt.truncate("1d"))
    first = ratings.group_by("item").agg(popular=pl.len(), liked=pl.col("rating").mean())
    rows = ratings.join(first, on="item").with_columns(relevant=(pl.col("rating") >= LIKED).cast(pl.Int8))
    key = ["user", "day"]
    values = recframe.rec(rows).evaluate("ndcg@10", by=key, per=key, score=["popular", "liked"])
    wide = values.pivot(on="model", index=key, values="ndcg@10").drop_nulls()
    return wide.select("user", difference=pl.col("liked") - pl.col("popular"))


def drawn_lists(values: Floats, random: np.random.Generator, shift: float) -> Sums:
    """Return the sums of lists drawn one by one."""
    chosen = random.choice(values, LISTS) + shift
    return Sums.of(chosen, np.ones(LISTS))


def drawn_users(values: list[Floats], random: np.random.Generator, shift: float, *, clustered: bool) -> Sums:
    """Return the sums of the lists of users drawn with all of their days."""
    users = [values[place] for place in random.integers(0, len(values), USERS)]
    lists = np.concatenate(users) + shift
    clusters = np.repeat(np.arange(USERS), [len(user) for user in users])
    return Sums.of(lists, np.ones(len(lists)), clusters if clustered else None)


def observed_lists(length: int, random: np.random.Generator) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the relevant items of users with their ranks, and those that were observed.

    Users like items in proportion to their popularity, which follows Zipf's law. The relevance of an item is observed
    with the probability that is the square root of its popularity, relative to the first item's, and the model puts it
    into the top 10 with the same probability.
    """
    popularity = 1 / np.arange(1, ITEMS + 1)
    liked = random.choice(popularity, SERVED * length, p=popularity / popularity.sum())
    propensity = np.sqrt(liked)
    rank = np.where(random.random(len(propensity)) < propensity, random.integers(1, TOP + 1, len(propensity)), 100)
    users = np.repeat(np.arange(SERVED), length)
    rows = pl.DataFrame({"user": users, "rank": rank, "relevant": 1, "p": propensity})
    # No two items share a rank: those of one list move down.
    rows = rows.sort("user", "rank").with_columns(
        rank=(pl.col("rank") - pl.int_range(pl.len()).over("user")).cum_max().over("user")
        + pl.int_range(pl.len()).over("user")
    )
    return rows, rows.filter(random.random(len(propensity)) < rows["p"].to_numpy())


def print_propensity() -> None:
    """Print how far estimates of shares are off, by the number of relevant items of each list."""
    sys.stdout.write(PROPENSITY_HEAD)
    random = np.random.default_rng(2)
    metrics = [f"recall@{TOP}", f"ndcg(ideal=first)@{TOP}"]
    for length in (2, 7, 20, 100):
        rows, seen = observed_lists(length, random)
        plain = [recframe.rec(frame).evaluate(metrics, rank="rank") for frame in (rows, seen)]
        own = recframe.rec(seen, propensity="p")
        estimates = [own.evaluate(metrics, rank="rank"), own.evaluate(metrics, rank="rank", estimator="pooled")]
        for metric in metrics:
            true, *others = [frame[metric].item() for frame in (*plain, *estimates)]
            texts = [f"{value:.3f} ({value / true - 1:+.0%})" for value in others]
            sys.stdout.write(f"| {length} | `{metric}` | {true:.3f} | {' | '.join(texts)} |\n")


def main() -> int:
    """Print the tables; that of real lists where their file is named."""
    print_propensity()
    if len(sys.argv) > 1:
        print_comparison(sys.argv[1])
    return 0


def print_comparison(path: str) -> None:
    """Print how often tests are wrong."""
    table = differences(path)
    values = table["difference"].to_numpy()
    values = values - values.mean()
    of_user = table.group_by("user", maintain_order=True).agg("difference")["difference"].to_list()
    users = [np.asarray(one, dtype=np.float64) for one in of_user]
    mean = np.concatenate(users).mean()
    users = [one - mean for one in users]
    random = np.random.default_rng(1)
    sys.stdout.write(HEAD)
    cases: dict[str, Callable[[float], Sums]] = {
        f"{LISTS} lists | t": lambda shift: drawn_lists(values, random, shift),
        f"{USERS} users, all of their days | t": lambda shift: drawn_users(users, random, shift, clustered=False),
        f'{USERS} users, all of their days | t, `cluster="user"`': lambda shift: drawn_users(
            users, random, shift, clustered=True
        ),
    }
    for name, draw in cases.items():
        sums = [draw(0.0) for _ in range(DRAWS)]
        rejects = np.mean([student.p_value(one).item() < 1 - CONFIDENCE for one in sums])
        covers = np.mean([low <= 0 <= high for low, high in (student.interval(one, CONFIDENCE) for one in sums)])
        shift = float(np.mean([student.detectable(one, CONFIDENCE).item() for one in sums[:200]]))
        power = np.mean([student.p_value(draw(shift)).item() < 1 - CONFIDENCE for _ in range(DRAWS)])
        sys.stdout.write(f"| {name} | {rejects:.1%} | {covers:.1%} | {power:.2f} |\n")


if __name__ == "__main__":
    sys.exit(main())
