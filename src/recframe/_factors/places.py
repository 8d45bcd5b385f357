"""From factors to positions: scores in blocks of users, the first k of each list, and the positions of its test items.

Columns are in the order of the items, so that the smaller column is the smaller item.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from recframe._factors.settings import Settings

    Array = np.ndarray[Any, np.dtype[Any]]

CHUNK = 2**20
"""The bytes of scores that a thread works on at a time: what its cache holds."""
SCORES_OF_GROUP = 32
"""The scores of a group. The greatest score of each group tells roughly with which score the top k begins."""
SPARE = 4
"""How many groups there must be for each of the k places, so that few scores below the top k pass."""
FEW_TEST_ITEMS = 4
"""Up to so many test items are compared with all scores; for more, sorting the scores is faster."""


@dataclass(frozen=True)
class Model:
    """Whose scores are products of factors, plus what an item gets from everybody."""

    users: Array | None
    items: Array | None
    bias: Array | None
    n_items: int
    dtype: np.dtype[Any]

    def scores(self, rows: Array, out: Array) -> None:
        """Write the scores of all items for some users."""
        if self.users is None or self.items is None:
            out[:] = self.bias
            return
        np.matmul(self.users[rows], self.items.T, out=out)
        if self.bias is not None:
            out += self.bias


@dataclass(frozen=True)
class Cells:
    """Some columns of each list, one list after the other, its columns ascending."""

    starts: Array
    """Where each list's columns start, and the end of the last."""
    columns: Array

    @classmethod
    def of(cls, lists: Array, columns: Array, n_lists: int) -> Cells:
        """Return cells that are sorted by list and column."""
        return cls(np.concatenate(([0], np.cumsum(np.bincount(lists, minlength=n_lists)))), columns)

    def part(self, first: int, last: int) -> tuple[slice, Array, Array]:
        """Return the span of the cells of some lists, their lists counted from the first, and their columns."""
        span = slice(int(self.starts[first]), int(self.starts[last]))
        counts = np.diff(self.starts[first : last + 1])
        return span, np.repeat(np.arange(last - first), counts), self.columns[span]


@dataclass(frozen=True)
class _Found:
    """What can be among the first k of the lists of a chunk."""

    lists: Array
    columns: Array
    scores: Array
    crowded: Array
    """Lists whose last block was cut,"""
    cut: Array
    """and how many of it were."""


def place(
    model: Model, rows: Array, train: Cells, test: Cells, how: Settings, step: Callable[[int], None]
) -> tuple[Top, TestCells]:
    """Return the first k of all lists, of all items but those of `train`, and the places of the test items.

    Parameters
    ----------
    model : Model
        What gives the scores; they are finite.
    rows : array
        The users' rows in the factors; a list each.
    train, test : Cells
        The columns that are left out of each list, and those whose places are looked up.
    how : Settings
        Of these, k is at most the number of items.
    step : callable
        Takes the number of lists that are done.
    """
    row_bytes = model.n_items * model.dtype.itemsize
    many = min(max(1, how.memory // row_bytes), max(1, len(rows)))
    chunk = max(1, min(CHUNK // row_bytes, -(-many // how.threads)))
    block = np.empty((many, model.n_items), dtype=model.dtype)
    cells = TestCells.of(test, model.dtype)
    tops: list[tuple[Array, ...]] = []
    with ThreadPoolExecutor(how.threads) as pool:
        for first in range(0, len(rows), many):
            last = min(first + many, len(rows))
            model.scores(rows[first:last], block[: last - first])

            def work(begin: int, first: int = first, last: int = last) -> _Found:
                end = min(begin + chunk, last)
                scores = block[begin - first : end - first]
                _, left_out, columns = train.part(begin, end)
                scores[left_out, columns] = -np.inf
                top = _first(scores, begin, how.k)
                cells.read(scores, test, begin, end, everywhere=how.everywhere)
                return top

            tops.append(_top(list(pool.map(work, range(first, last, chunk))), how.k))
            step(last)
    top = Top(*(np.concatenate(parts) for parts in zip(*tops, strict=True)))
    if not how.everywhere:
        cells.take_from(top, test, len(rows), model.n_items)
    return top, cells


@dataclass(frozen=True)
class Top:
    """The first k of each list: its number, the column, the start and the size of the tied block, the score."""

    lists: Array
    columns: Array
    starts: Array
    sizes: Array
    scores: Array


@dataclass(frozen=True)
class TestCells:
    """The scores of the test items and their tied blocks, 0 for one that is not ranked; the threads fill them in."""

    scores: Array
    starts: Array
    sizes: Array

    @classmethod
    def of(cls, test: Cells, dtype: np.dtype[Any]) -> TestCells:
        """Return cells without values yet."""
        n = len(test.columns)
        return cls(np.empty(n, dtype=dtype), np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64))

    def read(self, scores: Array, test: Cells, begin: int, end: int, *, everywhere: bool) -> None:
        """Read the scores of some lists' test items, and find their blocks, which changes the order of the scores."""
        span, lists, columns = test.part(begin, end)
        self.scores[span] = scores[lists, columns]
        if everywhere:
            self.starts[span], self.sizes[span] = _look_up(scores, lists, self.scores[span])

    def take_from(self, top: Top, test: Cells, n_lists: int, n_items: int) -> None:
        """Take the blocks of the test items from the top k."""
        _, lists, _ = test.part(0, n_lists)
        places = find(lists * n_items + test.columns, top.lists * n_items + top.columns)
        # What ties with the last of the top k belongs to a block that counts, though it was cut off.
        ends: Array = np.searchsorted(top.lists, lists, side="right") - 1
        tied = (ends >= 0) & (self.scores > -np.inf)
        tied[tied] = (top.lists[ends[tied]] == lists[tied]) & (top.scores[ends[tied]] == self.scores[tied])
        places = np.where(tied, ends, places)
        is_placed = places >= 0
        self.starts[is_placed], self.sizes[is_placed] = top.starts[places[is_placed]], top.sizes[places[is_placed]]


def find(cells: Array, others: Array) -> Array:
    """Return the index of each cell among others in any order, -1 for none."""
    if len(others) == 0:
        return np.full(len(cells), -1)
    order = np.argsort(others, kind="stable")
    places = order[np.minimum(np.searchsorted(others, cells, sorter=order), len(others) - 1)]
    return np.where(others[places] == cells, places, -1)


def _first(scores: Array, begin: int, k: int) -> _Found:
    """Return everything that can be among the first k, and little else."""
    n_items = scores.shape[1]
    least = _least(scores, k)
    enough = scores >= least[:, None]
    crowded = np.flatnonzero(np.count_nonzero(enough, axis=1) > max(SPARE * k, SCORES_OF_GROUP))
    # A list with many equal scores, or with fewer items than places, is computed in another way.
    enough[crowded] = False
    lists, columns = np.divmod(np.flatnonzero(enough), n_items)
    values = scores[lists, columns]
    ranked = values > -np.inf
    parts = [(lists[ranked], columns[ranked], values[ranked])]
    cut = np.zeros(len(crowded), dtype=np.int64)
    for index, row in enumerate(crowded):
        scores_of_list = scores[row]
        last = np.partition(scores_of_list, n_items - k)[n_items - k]
        above = np.flatnonzero(scores_of_list > last)
        same = np.flatnonzero(scores_of_list == last) if last > -np.inf else above[:0]
        cut[index] = max(0, len(above) + len(same) - k)
        chosen = np.concatenate((above, same[: k - len(above)]))
        parts.append((np.full(len(chosen), row), chosen, scores_of_list[chosen]))
    lists, columns, values = (np.concatenate(part) for part in zip(*parts, strict=True))
    return _Found(lists + begin, columns, values, crowded + begin, cut)


def _least(scores: Array, k: int) -> Array:
    """Return a score of each list that at least k reach: close to the k-th greatest, and found in one pass."""
    n_items = scores.shape[1]
    size = min(SCORES_OF_GROUP, n_items // (SPARE * k))
    if size < 2:  # noqa: PLR2004 - a group of one is the score itself
        whole: Array = np.partition(scores, n_items - k, axis=1)
        return whole[:, n_items - k]
    groups = n_items // size
    greatest: Array = scores[:, : groups * size].reshape(len(scores), size, groups).max(axis=1)
    greatest.partition(groups - k, axis=1)
    return greatest[:, groups - k]


def _look_up(scores: Array, lists: Array, values: Array) -> tuple[Array, Array]:
    """Return where the blocks of some scores start, and their sizes; the lists are in another order afterwards."""
    n_items = scores.shape[1]
    starts, sizes = (np.zeros(len(lists), dtype=np.int64) for _ in range(2))
    borders = np.searchsorted(lists, np.arange(len(scores) + 1))
    for scores_of_list, begin, end in zip(scores, borders[:-1], borders[1:], strict=True):
        of_list = values[begin:end]
        if end - begin <= FEW_TEST_ITEMS:
            for cell, value in enumerate(of_list, begin):
                starts[cell] = 1 + np.count_nonzero(scores_of_list > value)
                sizes[cell] = np.count_nonzero(scores_of_list == value)
            continue
        scores_of_list.sort()
        upto = np.searchsorted(scores_of_list, of_list, side="right")
        starts[begin:end] = n_items + 1 - upto
        sizes[begin:end] = upto - np.searchsorted(scores_of_list, of_list, side="left")
    ranked = values > -np.inf
    return np.where(ranked, starts, 0), np.where(ranked, sizes, 0)


def _top(found: list[_Found], k: int) -> tuple[Array, ...]:
    """Return the first k of each list, the smaller item first where scores tie: list, column, block and score."""
    lists, columns, scores = (
        np.concatenate([getattr(part, name) for part in found]) for name in ("lists", "columns", "scores")
    )
    order = np.lexsort((columns, -scores, lists))
    lists, columns, scores = lists[order], columns[order], scores[order]
    new_list = np.concatenate(([True], lists[1:] != lists[:-1]))[: len(lists)]
    new_block = new_list.copy()
    new_block[1:] |= scores[1:] != scores[:-1]
    rows = np.arange(len(lists))
    block, of_list = np.cumsum(new_block) - 1, np.cumsum(new_list) - 1
    first_of_list = np.flatnonzero(new_list)[of_list]
    starts = np.flatnonzero(new_block)[block] - first_of_list + 1
    counts = np.bincount(block)
    for part in found:
        # The last block of these lists goes on beyond the top k.
        ends = np.searchsorted(lists, part.crowded, side="right") - 1
        is_cut = part.cut > 0
        counts[block[ends[is_cut]]] += part.cut[is_cut]
    kept = rows - first_of_list < k
    return lists[kept], columns[kept], starts[kept], counts[block][kept], scores[kept]
