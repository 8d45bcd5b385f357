"""Data and simple models for the demo: random, most popular, and item neighbours in plain NumPy.

Users and items are numbers from 0 here. Work goes block by block, so memory depends on the size of the
catalogue (at most `MAX_ITEMS` squared), not on the number of users.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from recframe import candidates, rec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.floating[Any]]

MODELS = ("random", "popular", "neighbours")
MIN_ITEMS = 5
"""Users with fewer positive items are learned from, but not tested."""
MAX_ITEMS = 5_000
"""The most popular items that the models choose from: the neighbour model holds their square."""
MAX_USERS = 10_000
"""The users who are tested, drawn at random where there are more."""
NEIGHBOURS = 200
"""The most similar items that an item keeps."""
CANDIDATES = 100
"""The recommendations of a user and model. More only matter if a tie spans all of them."""
USERS, ITEMS, TASTES = 1_000, 500, 10
"""The size of the invented world."""
CELLS = 2_000_000
"""The size of a block of users x items."""


def generate(seed: int) -> pl.DataFrame:
    """Return who liked what in a small invented world.

    Items differ in popularity (a few are liked by many) and belong to one taste each. Users differ in activity
    and like a few tastes much more than the others.

    Parameters
    ----------
    seed : int
        The same seed gives the same data.

    Returns
    -------
    DataFrame
        The columns user and item, each pair once.
    """
    rng = np.random.default_rng(seed)
    popularity = -0.8 * np.log(rng.permutation(ITEMS) + 5.0)
    taste = rng.integers(TASTES, size=ITEMS)
    likes = np.log(rng.dirichlet(np.full(TASTES, 0.3), size=USERS) + 0.01)
    activity = np.clip(rng.lognormal(3.2, 0.7, size=USERS), 3, ITEMS / 3).astype(int)
    # The largest of log-weights plus Gumbel noise are a weighted draw without replacement.
    keys = popularity + likes[:, taste] + rng.gumbel(size=(USERS, ITEMS))
    place = np.argsort(np.argsort(-keys, axis=1), axis=1)
    users, items = np.nonzero(place < activity[:, None])
    return pl.DataFrame({"user": users, "item": items})


def hold_out(likes: pl.DataFrame, seed: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return what the models learn from, and a fifth of each tested user's items, rounded up, that they have to find.

    Parameters
    ----------
    likes : DataFrame
        The positive pairs, each once.
    seed : int
        The same seed and the same pairs, in any order, give the same split.
    """
    train, test = rec(likes).split(fraction=0.2, users=MAX_USERS, min_items=MIN_ITEMS, seed=seed)
    return train.sort("user", "item"), test.sort("user", "item")


def recommend(
    train: pl.DataFrame, test: pl.DataFrame, longest: int, seed: int, progress: Callable[[str], None]
) -> pl.DataFrame:
    """Return the best items of each tested user by each model, without those the user has in train.

    Parameters
    ----------
    train, test : DataFrame
        What to learn from, sorted by user, and the pairs whose users are tested.
    longest : int
        The largest cutoff; at least `CANDIDATES` items are given where there are as many.
    seed : int
        For the random model.
    progress : callable
        Told what is going on.

    Returns
    -------
    DataFrame
        The columns model, user, item, score. Items that a model knows nothing about have no row.
    """
    counts = np.bincount(train["item"])
    catalogue = np.argsort(-counts, kind="stable")[: min(MAX_ITEMS, np.count_nonzero(counts))]
    column = np.full(len(counts), -1)
    column[catalogue] = np.arange(len(catalogue))
    listed = train.filter(pl.Series(column[train["item"]] >= 0))
    users, columns = listed["user"].to_numpy(), column[listed["item"]]
    n_users = int(users.max(initial=-1)) + 1
    similar = _similarities(users, columns, n_users, counts[catalogue].astype(np.float32), progress)

    tested = test["user"].unique().sort()
    row = np.full(max(n_users, int(tested.max()) + 1), -1)  # type: ignore[arg-type]
    row[tested] = np.arange(len(tested))
    chosen = row[users] >= 0
    found: list[pl.DataFrame] = []
    for first, seen in _blocks(row[users[chosen]], columns[chosen], len(tested), len(catalogue)):
        progress(f"recommending: user {first:,} of {len(tested):,}")
        block = tested[first : first + len(seen)]
        pairs = candidates(block, pl.Series(catalogue), seen=train.join(block.to_frame("user"), on="user", how="semi"))
        if pairs.is_empty():
            continue
        scored = rec(rec(pairs).add_random(seed=seed + first)).add_popular(train)
        near = (seen @ similar)[row[scored["user"]] - first, column[scored["item"]]]
        # No neighbour among the user's items: not recommended.
        scored = scored.with_columns(pl.Series("neighbours", near, dtype=pl.Float64).replace(0, None))
        for model in MODELS:
            best = rec(scored).top(max(longest, CANDIDATES), score=model)
            found.append(best.select(pl.lit(model).alias("model"), "user", "item", pl.col(model).alias("score")))
    progress("")
    return pl.concat(found) if found else pl.DataFrame()


def _similarities(
    users: Ints, columns: Ints, n_users: int, popularity: Floats, progress: Callable[[str], None]
) -> NDArray[np.float32]:
    """Return the cosine of each item (row) to each of its nearest neighbours (columns), else 0."""
    n_items = len(popularity)
    both = np.zeros((n_items, n_items), dtype=np.float32)
    for first, seen in _blocks(users, columns, n_users, n_items):
        progress(f"counting pairs of items: user {first:,} of {n_users:,}")
        both += seen.T @ seen
    root = np.sqrt(popularity)
    both /= root
    both /= root[:, None]
    np.fill_diagonal(both, 0)
    if n_items > NEIGHBOURS:
        step = max(1, CELLS // n_items)
        for first in range(0, n_items, step):
            block = both[first : first + step]
            least = np.partition(block, n_items - NEIGHBOURS, axis=1)[:, n_items - NEIGHBOURS]
            block[block < least[:, None]] = 0
    # Row j, column i: how much having j speaks for i, whose neighbours count.
    return np.ascontiguousarray(both.T)


def _blocks(rows: Ints, columns: Ints, n_rows: int, n_columns: int) -> Iterator[tuple[int, NDArray[np.float32]]]:
    """Yield dense blocks of a 0/1 matrix, given its ones by ascending row, each with its first row."""
    step = max(1, CELLS // n_columns)
    for first in range(0, n_rows, step):
        last = min(first + step, n_rows)
        start, stop = np.searchsorted(rows, [first, last])
        block = np.zeros((last - first, n_columns), dtype=np.float32)
        block[rows[start:stop] - first, columns[start:stop]] = 1
        yield first, block
