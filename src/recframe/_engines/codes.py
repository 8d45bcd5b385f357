"""Codes: whole numbers in NumPy arrays that distinguish lists and items, to compare them fast."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

PAIRS_PER_ROW = 32
"""The largest number of possible codes per row, so that a table of all codes stays small."""
MOST_CODES = 2**62
"""How many codes a signed integer can hold."""


class Codes(NamedTuple):
    """A whole number for each row; only equal values have the same number."""

    numbers: Any
    """The numbers, from 0."""
    bound: int
    """All numbers are below it."""

    @classmethod
    def of_integers(cls, integers: Any) -> Codes | None:
        """Return integers as codes; None for other arrays, and if one is negative or too large."""
        if integers.dtype.kind not in "iu":
            return None
        # All bits in one pass, instead of the least and the largest number in two.
        bits = int(np.bitwise_or.reduce(integers))
        bound = 1 << bits.bit_length()
        return cls(integers.astype("int64", copy=False), bound) if bits >= 0 and bound <= MOST_CODES else None

    def paired(self, other: Codes) -> Codes | None:
        """Return codes of the pairs of two values, or None if there may be too many pairs."""
        bound = self.bound * other.bound
        if bound > MOST_CODES:
            return None
        numbers = self.numbers * other.bound
        numbers += other.numbers
        return Codes(numbers, bound)

    def are_distinct(self) -> bool:
        """Return whether all codes are different."""
        rows = len(self.numbers)
        if self.bound <= PAIRS_PER_ROW * rows:
            is_used = np.zeros(self.bound, dtype=bool)
            is_used[self.numbers] = True
            return bool(np.count_nonzero(is_used) == rows)
        # Half of the bits take half of the time to sort.
        ordered = np.sort(self.numbers.astype("uint32") if self.bound <= 2**32 else self.numbers)
        return not (ordered[1:] == ordered[:-1]).any()

    def has_unequal_neighbours(self, values: Any) -> bool:
        """Return whether two neighbouring rows have the same code and different numbers in an array; NaN is none."""
        rows = np.flatnonzero(self.numbers[1:] == self.numbers[:-1])
        first, second = values[rows], values[rows + 1]
        return bool(((first < second) | (first > second)).any())


def distinct(numbers: Any) -> Any:
    """Return the distinct whole numbers of an array, sorted.

    `np.unique` of NumPy 2.3 takes up to fifty times as long if most numbers are different.
    """
    ordered = np.sort(numbers)
    is_new = np.ones(len(ordered), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_new[1:])
    return ordered[is_new]
