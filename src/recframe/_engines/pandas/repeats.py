"""A fast check of a few rows: whether scores order anything, and which lists repeat an item."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recframe._engines.codes import Codes
from recframe._engines.pandas.columns import no_nan

if TYPE_CHECKING:
    from collections.abc import Sequence


def lists_with_repeats(rows: Any, keys: Sequence[str], scores: Sequence[str], items: Any | None) -> int | None:
    """Return in how many lists an item is repeated, or None if the check cannot tell; see `Engine`."""
    codes = [_codes(rows[key].to_numpy()) for key in keys] or [Codes(np.zeros(len(rows), dtype="int64"), 1)]
    lists = reduce(_paired, codes)
    if not all(lists.has_unequal_neighbours(rows[name].to_numpy(dtype="float64", na_value=np.nan)) for name in scores):
        return None
    if items is None:
        return 0
    pairs = _paired(lists, _codes(items))
    if pairs.are_distinct():
        return 0
    return len(pd.unique(lists.numbers[pd.Series(pairs.numbers).duplicated(keep=False).to_numpy()]))


def comparable_codes(column: Any) -> Any | None:
    """Return integers that are equal where the values of a column are equal; None if they cannot be compared.

    A missing value counts as a value.
    """
    is_array = isinstance(column.dtype, np.dtype)
    if is_array and column.dtype.kind in "iu":
        return column.to_numpy()
    try:
        return _factorized(column.to_numpy() if is_array else no_nan(column)).numbers
    except (TypeError, ValueError, NotImplementedError):
        return None


def _codes(values: Any) -> Codes:
    """Return codes of an array. A missing value counts as a value."""
    return Codes.of_integers(values) or _factorized(values)


def _factorized(values: Any) -> Codes:
    """Return codes without gaps, in the order of the values."""
    numbers, distinct = pd.factorize(values)
    return Codes(numbers.astype("int64", copy=False) + 1, len(distinct) + 1)


def _paired(lists: Codes, others: Codes) -> Codes:
    """Return codes of the pairs of two values."""
    # Codes without gaps are few enough.
    return lists.paired(others) or _paired(_factorized(lists.numbers), _factorized(others.numbers))
