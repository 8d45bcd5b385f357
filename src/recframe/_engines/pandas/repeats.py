"""A fast check of a data frame: whether scores order anything, and which lists repeat an item."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recframe._engines.pandas.columns import no_nan

if TYPE_CHECKING:
    from collections.abc import Sequence


FIRST_COMPARED = 2**12
"""How many rows to read before all rows are read."""
PAIRS_PER_ROW = 32
"""The largest number of possible pairs of list and item per row, so that a table of all pairs stays small."""
MOST_INTEGERS = 2**30
"""Integers in a range of this size are used as codes themselves: pairs of two such codes fit into 64 bits."""

LARGEST_INTEGER = 2**62


def lists_with_repeats(frame: Any, keys: Sequence[Any], scores: Sequence[Any], item: Any) -> int | None:
    """Return in how many lists an item is repeated, or None if the check cannot tell; see `Adapter`."""
    names = dict.fromkeys([*keys, *scores, *([] if item is None else [item])])
    if any(name not in frame.columns for name in names):
        return None
    columns = {name: frame[name] for name in names}
    if not all(_is_number(columns[name].dtype) for name in scores):
        return None
    try:
        lists = np.zeros(len(columns[scores[0]]), dtype="int64")
        for number, key in enumerate(keys):
            codes = _pairs(lists, columns[key])
            lists = codes if number == 0 else pd.factorize(codes)[0].astype("int64")
        if not all(_orders_a_list(columns[name], lists) for name in scores):
            return None
        return 0 if item is None else _lists_with_repeats(lists, columns[item])
    except (TypeError, ValueError, NotImplementedError):  # values that cannot be compared
        return None


def _lists_with_repeats(lists: Any, items: Any) -> int:
    """Return in how many lists an item is repeated."""
    pairs = _pairs(lists, items)
    if _are_distinct(pairs):
        return 0
    return len(pd.unique(lists[pd.Series(pairs).duplicated(keep=False).to_numpy()]))


def _are_distinct(numbers: Any) -> bool:
    """Return whether all whole numbers are different."""
    most = int(numbers.max(initial=0))
    if most < PAIRS_PER_ROW * len(numbers) and numbers.min(initial=0) >= 0:
        is_used = np.zeros(most + 1, dtype=bool)
        is_used[numbers] = True
        return bool(np.count_nonzero(is_used) == len(numbers))
    # Half of the bits take half of the time to sort.
    ordered = np.sort(numbers.astype("uint32") if most < 2**32 else numbers)
    return not (ordered[1:] == ordered[:-1]).any()


def _is_number(dtype: Any) -> bool:
    """Return whether a column holds integers or floats as NumPy does, or a nullable or Arrow type."""
    return bool(pd.api.types.is_any_real_numeric_dtype(dtype)) and not isinstance(dtype, pd.SparseDtype)


def _pairs(codes: Any, column: Any) -> Any:
    """Return a whole number for each pair of a code and a value of a column. A missing value counts as a value."""
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iu" and len(column):
        integers = column.to_numpy()
        least, most = int(integers.min()), int(integers.max())
        if most < min(least + MOST_INTEGERS, LARGEST_INTEGER) and least > -LARGEST_INTEGER:
            return codes * (most - least + 1) + (integers.astype("int64", copy=False) - least)
    numbers, values = pd.factorize(column.to_numpy() if isinstance(column.dtype, np.dtype) else no_nan(column))
    return codes * (len(values) + 1) + numbers + 1


def _orders_a_list(column: Any, lists: Any) -> bool:
    """Return whether two neighbouring rows of the same list have different numbers."""
    values = column.to_numpy(dtype="float64", na_value=np.nan)
    # The first rows usually show it.
    return any(_differs(values[:rows], lists[:rows]) for rows in (FIRST_COMPARED, len(values)))


def _differs(values: Any, lists: Any) -> bool:
    """Return whether two neighbouring rows of the same list have different numbers."""
    first = values[:-1]
    second = values[1:]
    return bool((((first < second) | (first > second)) & (lists[:-1] == lists[1:])).any())
