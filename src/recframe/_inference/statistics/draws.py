"""Sums over units drawn with replacement, for many resamples at a time. Every unit is equally likely."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]
    Pairs = NDArray[np.complex128]

SECTION = 2**15
"""Units whose draws are split among their blocks at a time, to save memory."""
UNITS_OF_BLOCK = 2**7
"""The units of a block, few enough for 16 bits to name two: tables of all pairs stay in the processor's cache."""
RESAMPLES_AT_ONCE = 500
"""Resamples that draw from a block at a time: what they draw stays in the cache too."""


def drawn_sums(values: Pairs, random: np.random.Generator, count: int) -> Floats:
    """Return the sum of each column over the units that a resample draws: an array of resamples × columns.

    Each resample draws as many units as there are, with replacement. `values` has a row per unit, and each complex
    number holds two columns. They become two columns of the result.

    How many units come from each section is drawn first, then how many from each block of a section, then the units.
    """
    draws = _PairDraws(random, values.shape[1], count)
    for section, drawn_of_section in _split(random, values, np.full(count, len(values)), SECTION):
        for block, drawn in _split(random, section, drawn_of_section, UNITS_OF_BLOCK):
            draws.add(block, drawn)
    return np.ascontiguousarray(draws.sums.T).view(np.float64)


def _split(
    random: np.random.Generator, values: Pairs, drawn: Integers, length: int
) -> Iterator[tuple[Pairs, Integers]]:
    """Yield parts of the units, and how many of the units that each resample draws are from that part."""
    starts = np.arange(0, len(values), length)
    lengths = np.minimum(length, len(values) - starts)
    shares = random.multinomial(drawn, lengths / len(values))
    for start, share in zip(starts, shares.T, strict=True):
        yield values[start : start + length], np.ascontiguousarray(share)


class _PairDraws:
    """The sums of each column over the units that each resample draws, block by block.

    One random number draws two units: their sum is looked up in a table of all pairs. The last unit of an odd number is
    drawn alone. The arrays of a block are used again for the next: new ones would cost as much as their contents.
    """

    def __init__(self, random: np.random.Generator, columns: int, count: int) -> None:
        self.sums = np.zeros((columns, count), np.complex128)
        self._random = random
        self._tables = np.empty(columns * UNITS_OF_BLOCK * (UNITS_OF_BLOCK + 1), np.complex128)
        self._chosen = np.empty(0, np.intp)
        self._drawn_sums = np.empty(0, np.complex128)

    def add(self, block: Pairs, drawn: Integers) -> None:
        """Draw units from a block: as many as each resample draws from it."""
        length, columns = block.shape
        tables = self._tables[: columns * length * (length + 1)].reshape(columns, length + 1, length)
        np.add(block.T[:, :, None], block.T[:, None, :], out=tables[:, :length])
        tables[:, length] = block.T
        for start in range(0, len(drawn), RESAMPLES_AT_ONCE):
            self._add_pairs(tables, drawn[start : start + RESAMPLES_AT_ONCE], start)

    def _add_pairs(self, tables: Pairs, drawn: Integers, start: int) -> None:
        """Draw the units of some resamples, whose numbers begin with `start`."""
        length = tables.shape[2]
        pairs = (drawn + 1) // 2
        ends = pairs.cumsum()
        total = int(ends[-1])
        if total > len(self._chosen):
            self._chosen = np.empty(total, np.intp)
            self._drawn_sums = np.empty(total, np.complex128)
        chosen = self._chosen[:total]
        taken = self._drawn_sums[:total]
        np.copyto(chosen, _random_numbers(self._random, total, length**2))
        # In a table, the single units follow all pairs.
        alone = ends[drawn % 2 == 1] - 1
        chosen[alone] = length**2 + chosen[alone] % length
        some = np.flatnonzero(pairs)
        firsts = (ends - pairs)[some]
        for column, table in zip(self.sums, tables.reshape(len(tables), -1), strict=True):
            # All numbers lie within the table. With "wrap", NumPy does not check them, so it needs no copy.
            table.take(chosen, out=taken, mode="wrap")
            column[start + some] += np.add.reduceat(taken, firsts)


def _random_numbers(random: np.random.Generator, count: int, end: int) -> Any:
    """Return random numbers from 0 up to an end, from 16 bits if `end` divides 2^16."""
    if 2**16 % end:
        return random.integers(0, end, count)
    return random_bits(random, count, np.uint16) & np.uint16(end - 1)


def random_bits(random: np.random.Generator, count: int, dtype: Any) -> Any:
    """Return integers of random bits. One 64-bit draw of the generator gives several of them."""
    words = -(-count * np.dtype(dtype).itemsize // 8)
    return random.bit_generator.random_raw(words).view(dtype)[:count]
