"""The probabilities to pass the places of tied blocks of a frame in memory, by NumPy.

This module gives the same values as the query in `tied_stops`, which needs many rows for each place. S(j) is the mean
product of the probabilities to go on over the first j of t rows, over all orders of the rows. Users only stop at m of
the rows, so S(j) is computed in two steps, and all terms of both are positive:

1. The mean product over h of the m rows where users stop. Row n of them is among h of the first n with probability h/n.
2. How many of these m rows are among the first j of the t rows follows the hypergeometric distribution, so S(j) is the
   mean of the products over h under this distribution.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from recframe._base.columns import MARKED, PLACE_COUNT, POSITION, SIZE, START, stop_column, survival_column

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from recframe._base.columns import Frame
    from recframe._engines.base import Engine
    from recframe._plan.requirements import Cascade

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

NUMBERS_AT_ONCE = 2**21
"""How many numbers a table holds at most, unless one row has more."""


def survivals(engine: Engine, grades: Frame, block: Sequence[str], carried: Sequence[str], cascade: Cascade) -> Frame:
    """Return the places of tied blocks with the probabilities to pass them; see `tied_stops.survivals`."""
    stops = [stop_column(number) for number in cascade.stops]
    # Equal blocks multiply their rows in the same order, so they have the same bits.
    rows = engine.collected(grades).sort(*block, *stops, MARKED, nulls_last=True).with_row_index(POSITION)
    first = rows.filter(nw.col(POSITION) == nw.col(POSITION).min().over(*block))
    starts = first.get_column(POSITION).to_numpy().astype(np.int64)
    counts = rows.get_column(MARKED).to_numpy().astype(np.int64)
    sizes = first.get_column(SIZE).to_numpy().astype(np.int64)
    last = sizes
    if cascade.cutoff is not None:
        last = np.minimum(sizes, cascade.cutoff + 1 - first.get_column(START).to_numpy().astype(np.int64))
    marked = np.add.reduceat(counts, starts) if len(starts) else sizes
    blocks = _Blocks(sizes, marked, last)
    survived = {}
    for number, stop in zip(cascade.stops, stops, strict=True):
        go_on = np.repeat(1 - rows.get_column(stop).to_numpy(), counts)
        survived[survival_column(number)] = blocks.survivals(go_on)
    return _with_places(engine, first.select(*block, *carried), last, survived)


def _with_places(engine: Engine, blocks: nw.DataFrame[Any], last: Integers, survived: dict[str, Floats]) -> Frame:
    """Return each block once per place, with the probabilities to pass it."""
    backend = nw.get_native_namespace(blocks)
    count = nw.Series.from_numpy(PLACE_COUNT, last, backend=backend)
    places = engine.repeat(engine.frame_of(blocks.with_columns(count).to_native()), PLACE_COUNT)
    columns = (nw.Series.from_numpy(name, values, backend=backend) for name, values in survived.items())
    return engine.frame_of(engine.collected(places).drop(PLACE_COUNT).with_columns(*columns).to_native())


class _Blocks:
    """The tied blocks of a frame: how many rows each has, how many where users stop, and which place is read last."""

    def __init__(self, sizes: Integers, marked: Integers, last: Integers) -> None:
        self._marked = marked
        self._starts = np.cumsum(marked) - marked
        self._ends = np.cumsum(last)
        self._kinds, kind = np.unique(np.stack([sizes, marked, last], axis=1), axis=0, return_inverse=True)
        # Blocks of one kind share the distribution of step 2.
        self._order = np.argsort(kind.ravel(), kind="stable")
        self._kind_ends = np.cumsum(np.bincount(kind.ravel(), minlength=len(self._kinds)))

    def survivals(self, go_on: Floats) -> Floats:
        """Return the probabilities to pass the places, one block after the other."""
        survived = np.empty(self._ends[-1] if len(self._ends) else 0)
        for (size, marked, last), end, start in zip(
            self._kinds.tolist(), self._kind_ends.tolist(), [0, *self._kind_ends.tolist()], strict=False
        ):
            for blocks, products in self._mean_products(go_on, self._order[start:end], marked, min(marked, last)):
                for places, shares in _marked_ahead(size, marked, last):
                    # Not a product of matrices: its last bits depend on how many rows are multiplied together.
                    values = np.einsum("bh,jh->bj", products, shares)
                    survived[(self._ends[blocks] - last - 1)[:, None] + places] = values
        return survived

    def _mean_products(
        self, go_on: Floats, blocks: Integers, marked: int, most: int
    ) -> Iterator[tuple[Integers, Floats]]:
        """Yield blocks, and the mean products over 0 to `most` of their marked rows."""
        at_once = max(1, NUMBERS_AT_ONCE // (most + 1))
        for first in range(0, len(blocks), at_once):
            some = blocks[first : first + at_once]
            products = np.zeros((len(some), most + 1))
            products[:, 0] = 1
            for row in range(1, marked + 1):
                chosen = np.arange(1, min(row, most) + 1)
                with_row = go_on[self._starts[some] + row - 1, None] * products[:, : len(chosen)]
                without_row = products[:, 1 : len(chosen) + 1]
                products[:, 1 : len(chosen) + 1] = with_row * (chosen / row) + without_row * ((row - chosen) / row)
            yield some, products


def _marked_ahead(size: int, marked: int, last: int) -> Iterator[tuple[Integers, Floats]]:
    """Yield places, and the probabilities that 0, 1, … of the marked rows are among the rows up to each place."""
    numbers = np.arange(min(marked, last) + 1)
    at_once = max(1, NUMBERS_AT_ONCE // len(numbers))
    for first in range(1, last + 1, at_once):
        places = np.arange(first, min(last, first + at_once - 1) + 1)
        j = places[:, None].astype(np.float64)
        h = numbers[1:].astype(np.float64)
        # The probability of h over the probability of h - 1.
        above = (marked - h + 1) * np.maximum(j - h + 1, 0)
        below = h * np.maximum(size - marked - j + h, 0)
        # From the most probable number in both directions, so that no product is infinite.
        is_upper = h > (j + 1) * (marked + 1) // (size + 2)
        upper = np.divide(above, below, out=np.ones_like(above), where=is_upper).cumprod(axis=1)
        lower = np.divide(below, above, out=np.ones_like(above), where=~is_upper)[:, ::-1].cumprod(axis=1)[:, ::-1]
        shares = np.ones((len(places), len(numbers)))
        shares[:, 1:] = upper
        shares[:, :-1] *= lower
        yield places, shares / shares.sum(axis=1, keepdims=True)
