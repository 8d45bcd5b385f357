"""From factors to positions: score users in blocks, take the first k of each list, and find the test items.

A column is an item. Columns are in the order of the items' ids, so the smaller column wins a tie.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from recframe._data.factors.settings import Settings

    Array = np.ndarray[Any, np.dtype[Any]]

CHUNK = 2**20
"""The bytes of scores that a thread works on at a time, so that they fit its cache."""
SCORES_OF_GROUP = 32
"""The number of scores in a group. The greatest scores of the groups show roughly which score the top k needs."""
SPARE = 4
"""How many groups there must be for each of the k positions, so that few scores below the top k are sorted."""
FEW_TEST_ITEMS = 4
"""Up to so many test items are compared with all scores; for more, sorting the scores is faster."""


@dataclass(frozen=True)
class Model:
    """A model with scores that are products of factors, plus a bias of the item."""

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
    """Some columns of each list, sorted by list and column."""

    starts: Array
    """Where each list's columns start, and where the last list's columns end."""
    columns: Array

    @classmethod
    def of(cls, lists: Array, columns: Array, n_lists: int) -> Cells:
        """Return the cells with these lists and columns, which must be sorted by list and column."""
        return cls(np.concatenate(([0], np.cumsum(np.bincount(lists, minlength=n_lists)))), columns)

    def part(self, first: int, last: int) -> CellsPart:
        """Return the cells of the lists from `first` to before `last`."""
        span = slice(int(self.starts[first]), int(self.starts[last]))
        counts = np.diff(self.starts[first : last + 1])
        return CellsPart(span, np.repeat(np.arange(last - first), counts), self.columns[span])


class CellsPart(NamedTuple):
    """The cells of some neighbouring lists."""

    span: slice
    """Where these cells are among all cells."""
    lists: Array
    """The list of each cell, counted from the first list of the part."""
    columns: Array


@dataclass(frozen=True)
class _Candidates:
    """The rows that can be among the first k of the lists in a chunk."""

    lists: Array
    columns: Array
    scores: Array
    crowded: Array
    """The lists with many equal scores, or with fewer than k items: exactly their first k rows were chosen."""
    cut: Array
    """How many rows of the last tied block are cut off after k rows in each of these lists."""


def rank_in_blocks(
    model: Model, rows: Array, train: Cells, test: Cells, settings: Settings, step: Callable[[int], None]
) -> tuple[Top, TestCells]:
    """Return the first k rows of all lists, without the items of `train`, and the positions of the test items.

    Parameters
    ----------
    model : Model
        The model. Its scores are finite.
    rows : array
        The users' rows in the factors, one per list.
    train, test : Cells
        The columns to leave out of each list, and the columns to find the positions of.
    settings : Settings
        The options. k is at most the number of items.
    step : callable
        Is called with the number of lists that are done.
    """
    row_bytes = model.n_items * model.dtype.itemsize
    block_size = min(max(1, settings.memory // row_bytes), max(1, len(rows)))
    chunk = max(1, min(CHUNK // row_bytes, -(-block_size // settings.threads)))
    block = np.empty((block_size, model.n_items), dtype=model.dtype)
    cells = TestCells.of(test, model.dtype)
    tops: list[Top] = []
    with ThreadPoolExecutor(settings.threads) as pool:
        for first in range(0, len(rows), block_size):
            last = min(first + block_size, len(rows))
            model.scores(rows[first:last], block[: last - first])

            def work(begin: int, first: int = first, last: int = last) -> _Candidates:
                end = min(begin + chunk, last)
                scores = block[begin - first : end - first]
                left_out = train.part(begin, end)
                scores[left_out.lists, left_out.columns] = -np.inf
                candidates = _candidates(scores, begin, settings.k)
                cells.read(scores, test, begin, end, everywhere=settings.everywhere)
                return candidates

            tops.append(_top(list(pool.map(work, range(first, last, chunk))), settings.k))
            step(last)
    top = Top(*(np.concatenate(parts) for parts in zip(*tops, strict=True)))
    if not settings.everywhere:
        cells.take_from(top, test, len(rows))
    return top, cells


class Top(NamedTuple):
    """The first k rows of each list, sorted by list and position."""

    lists: Array
    columns: Array
    starts: Array
    """Where the row's tied block starts."""
    sizes: Array
    """The size of the tied block, with the rows after the first k."""
    scores: Array


@dataclass(frozen=True)
class TestCells:
    """The scores and the tied blocks of the test items, 0 for an item that is not ranked. The threads fill them in."""

    scores: Array
    starts: Array
    sizes: Array

    @classmethod
    def of(cls, test: Cells, dtype: np.dtype[Any]) -> TestCells:
        """Return cells that are not filled in yet."""
        n = len(test.columns)
        return cls(np.empty(n, dtype=dtype), np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64))

    def read(self, scores: Array, test: Cells, begin: int, end: int, *, everywhere: bool) -> None:
        """Fill in the scores of some lists' test items and, if `everywhere`, their tied blocks. May sort the scores."""
        part = test.part(begin, end)
        self.scores[part.span] = scores[part.lists, part.columns]
        if everywhere:
            self.starts[part.span], self.sizes[part.span] = _find_blocks(scores, part.lists, self.scores[part.span])

    def take_from(self, top: Top, test: Cells, n_lists: int) -> None:
        """Fill in the tied blocks of the test items that tie with the last of the first k rows.

        Such an item counts although it was cut off. The first k rows have their blocks themselves.
        """
        lists = test.part(0, n_lists).lists
        ends: Array = np.searchsorted(top.lists, lists, side="right") - 1
        tied = (ends >= 0) & (self.scores > -np.inf)
        tied[tied] = (top.lists[ends[tied]] == lists[tied]) & (top.scores[ends[tied]] == self.scores[tied])
        self.starts[tied] = top.starts[ends[tied]]
        self.sizes[tied] = top.sizes[ends[tied]]


def find(cells: Array, others: Array) -> Array:
    """Return the index of each cell among others, which may be in any order; -1 if it is not there."""
    if len(others) == 0:
        return np.full(len(cells), -1)
    order = np.argsort(others, kind="stable")
    indexes = order[np.minimum(np.searchsorted(others, cells, sorter=order), len(others) - 1)]
    return np.where(others[indexes] == cells, indexes, -1)


def _candidates(scores: Array, begin: int, k: int) -> _Candidates:
    """Return all rows that can be among the first k of their lists, and few other rows."""
    n_items = scores.shape[1]
    least = _score_reached_by_k(scores, k)
    enough = scores >= least[:, None]
    crowded = np.flatnonzero(np.count_nonzero(enough, axis=1) > max(SPARE * k, SCORES_OF_GROUP))
    # Lists with many equal scores, or with fewer than k items, are handled one by one below.
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
        tied = np.flatnonzero(scores_of_list == last) if last > -np.inf else above[:0]
        cut[index] = max(0, len(above) + len(tied) - k)
        chosen = np.concatenate((above, tied[: k - len(above)]))
        parts.append((np.full(len(chosen), row), chosen, scores_of_list[chosen]))
    lists, columns, values = (np.concatenate(part) for part in zip(*parts, strict=True))
    return _Candidates(lists + begin, columns, values, crowded + begin, cut)


def _score_reached_by_k(scores: Array, k: int) -> Array:
    """Return, for each list, a score that at least k items reach: close to the k-th greatest, and found in one pass."""
    n_items = scores.shape[1]
    size = min(SCORES_OF_GROUP, n_items // (SPARE * k))
    if size < 2:  # noqa: PLR2004 - a group of one is the score itself
        partitioned: Array = np.partition(scores, n_items - k, axis=1)
        return partitioned[:, n_items - k]
    groups = n_items // size
    greatest: Array = scores[:, : groups * size].reshape(len(scores), size, groups).max(axis=1)
    greatest.partition(groups - k, axis=1)
    return greatest[:, groups - k]


def _find_blocks(scores: Array, lists: Array, values: Array) -> tuple[Array, Array]:
    """Return the starts and the sizes of the tied blocks of some scores. Some lists of scores are sorted in place."""
    n_items = scores.shape[1]
    starts = np.zeros(len(lists), dtype=np.int64)
    sizes = np.zeros(len(lists), dtype=np.int64)
    borders = np.searchsorted(lists, np.arange(len(scores) + 1))
    for scores_of_list, begin, end in zip(scores, borders[:-1], borders[1:], strict=True):
        values_of_list = values[begin:end]
        if end - begin <= FEW_TEST_ITEMS:
            for cell, value in enumerate(values_of_list, begin):
                starts[cell] = 1 + np.count_nonzero(scores_of_list > value)
                sizes[cell] = np.count_nonzero(scores_of_list == value)
            continue
        scores_of_list.sort()
        upto = np.searchsorted(scores_of_list, values_of_list, side="right")
        starts[begin:end] = n_items + 1 - upto
        sizes[begin:end] = upto - np.searchsorted(scores_of_list, values_of_list, side="left")
    ranked = values > -np.inf
    return np.where(ranked, starts, 0), np.where(ranked, sizes, 0)


def _top(candidates: list[_Candidates], k: int) -> Top:
    """Return the first k rows of each list from the candidates of all chunks. The smaller column wins a tie."""
    lists, columns, scores = (
        np.concatenate([getattr(part, name) for part in candidates]) for name in ("lists", "columns", "scores")
    )
    order = np.lexsort((columns, -scores, lists))
    lists = lists[order]
    columns = columns[order]
    scores = scores[order]
    starts_list = np.concatenate(([True], lists[1:] != lists[:-1]))[: len(lists)]
    starts_block = starts_list.copy()
    starts_block[1:] |= scores[1:] != scores[:-1]
    block = np.cumsum(starts_block) - 1
    first_of_list = np.flatnonzero(starts_list)[np.cumsum(starts_list) - 1]
    block_starts = np.flatnonzero(starts_block)[block] - first_of_list + 1
    block_sizes = np.bincount(block)
    for part in candidates:
        # Add the rows of the last block that were cut off after k rows.
        ends = np.searchsorted(lists, part.crowded, side="right") - 1
        is_cut = part.cut > 0
        block_sizes[block[ends[is_cut]]] += part.cut[is_cut]
    is_top = np.arange(len(lists)) - first_of_list < k
    return Top(lists[is_top], columns[is_top], block_starts[is_top], block_sizes[block][is_top], scores[is_top])
