"""Data and simple models for the demo: random, most popular, item neighbours, in plain NumPy.

Users and items are numbers from 0 here. Work goes block by block, so memory depends on the size of the
catalogue (at most `MAX_ITEMS` squared), not on the number of users.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.floating[Any]]

__all__ = ["MIN_ITEMS", "MODELS", "Split", "generate", "hold_out", "recommend"]

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
CELLS = 4_000_000
"""The size of a block of users x items."""


def generate(seed: int, n_users: int = 1_000, n_items: int = 500, n_tastes: int = 10) -> pl.DataFrame:
    """Return who liked what in a small invented world.

    Items differ in popularity (a few are liked by many) and belong to one taste each. Users differ in activity
    and like a few tastes much more than the others.

    Parameters
    ----------
    seed : int
        The same seed gives the same data.
    n_users, n_items, n_tastes : int
        The size of the world.

    Returns
    -------
    DataFrame
        The columns user and item, each pair once.
    """
    rng = np.random.default_rng(seed)
    popularity = -0.8 * np.log(rng.permutation(n_items) + 5.0)
    taste = rng.integers(n_tastes, size=n_items)
    likes = np.log(rng.dirichlet(np.full(n_tastes, 0.3), size=n_users) + 0.01)
    activity = np.clip(rng.lognormal(3.2, 0.7, size=n_users), 3, n_items / 3).astype(int)
    # The largest of log-weights plus Gumbel noise are a weighted draw without replacement.
    keys = popularity + likes[:, taste] + rng.gumbel(size=(n_users, n_items))
    place = np.argsort(np.argsort(-keys, axis=1), axis=1)
    users, items = np.nonzero(place < activity[:, None])
    return pl.DataFrame({"user": users, "item": items})


@dataclass(frozen=True)
class Split:
    """Positive pairs, sorted by user: what the models learn from, and what they have to find."""

    train_users: Ints
    train_items: Ints
    test_users: Ints
    test_items: Ints
    tested: Ints
    """The users with test items, ascending."""
    n_testable: int
    """How many users have enough items to be tested."""
    n_users: int
    n_items: int

    @property
    def train_sizes(self) -> Ints:
        """The number of train items of each tested user."""
        return np.bincount(self.train_users, minlength=self.n_users)[self.tested]


def hold_out(users: Ints, items: Ints, seed: int) -> Split:
    """Hide a fifth of each user's items, rounded up, if there are at least `MIN_ITEMS`.

    Parameters
    ----------
    users, items : array of int
        The positive pairs, each once.
    seed : int
        The same seed and the same pairs, in any order, give the same split.
    """
    rng = np.random.default_rng(seed)
    n_users, n_items = int(users.max()) + 1, int(items.max()) + 1
    order = np.lexsort((items, users))
    users, items = users[order], items[order]
    sizes = np.bincount(users, minlength=n_users)
    testable = np.flatnonzero(sizes >= MIN_ITEMS)
    tested = testable
    if len(testable) > MAX_USERS:
        tested = np.sort(rng.choice(testable, MAX_USERS, replace=False))
    order = np.lexsort((rng.random(len(users)), users))
    users, items = users[order], items[order]
    place = np.arange(len(users)) - (np.cumsum(sizes) - sizes)[users]
    hidden = np.zeros(n_users, dtype=np.int64)
    hidden[tested] = -(-sizes[tested] // 5)
    test = place < hidden[users]
    return Split(users[~test], items[~test], users[test], items[test], tested, len(testable), n_users, n_items)


def recommend(split: Split, longest: int, seed: int, progress: Callable[[str], None]) -> pl.DataFrame:
    """Return the best items of each tested user by each model, without those the user has in train.

    Parameters
    ----------
    split : Split
        What to learn from, and the users who are tested.
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
    rng = np.random.default_rng(seed)
    counts = np.bincount(split.train_items, minlength=split.n_items)
    catalogue = np.argsort(-counts, kind="stable")[: min(MAX_ITEMS, np.count_nonzero(counts))]
    column = np.full(split.n_items, -1)
    column[catalogue] = np.arange(len(catalogue))
    listed = column[split.train_items] >= 0
    users, columns = split.train_users[listed], column[split.train_items[listed]]
    popularity = counts[catalogue].astype(np.float32)

    similar = _similarities(users, columns, split.n_users, popularity, progress)
    row = np.full(split.n_users, -1)
    row[split.tested] = np.arange(len(split.tested))
    chosen = row[users] >= 0
    found: dict[str, list[tuple[Ints, Ints, Floats]]] = {model: [] for model in MODELS}
    for first, seen in _blocks(row[users[chosen]], columns[chosen], len(split.tested), len(catalogue)):
        progress(f"recommending: user {first:,} of {len(split.tested):,}")
        scores: dict[str, Floats] = {
            # In (0, 1], because 0 means: not recommended.
            "random": 1.0 - rng.random(seen.shape),
            "popular": np.broadcast_to(popularity, seen.shape),
            "neighbours": seen @ similar,
        }
        for model in MODELS:
            rows, places, values = _best(scores[model] * (1 - seen), max(longest, CANDIDATES))
            found[model].append((split.tested[rows + first], catalogue[places], values))
    progress("")
    return pl.concat(
        pl.DataFrame({"user": user, "item": item, "score": score.astype(np.float64)}).select(
            pl.lit(model).alias("model"), pl.all()
        )
        for model, parts in found.items()
        for user, item, score in parts
    )


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


def _best(scores: Floats, n: int) -> tuple[Ints, Ints, Floats]:
    """Return rows, columns and values of the n largest positive scores of each row."""
    n_columns = scores.shape[1]
    n = min(n, n_columns)
    places = np.argpartition(scores, n_columns - n, axis=1)[:, n_columns - n :]
    values = np.take_along_axis(scores, places, axis=1)
    rows, which = np.nonzero(values > 0)
    return rows, places[rows, which], values[rows, which]
