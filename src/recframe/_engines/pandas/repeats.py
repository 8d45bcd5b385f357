"""A fast check of a data frame: whether scores order anything, and which lists repeat an item."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recframe._engines.codes import Codes
from recframe._engines.pandas.columns import no_nan

if TYPE_CHECKING:
    from collections.abc import Sequence


def lists_with_repeats(frame: Any, keys: Sequence[Any], scores: Sequence[Any], item: Any) -> int | None:
    """Return in how many lists an item is repeated, or None if the check cannot tell; see `Adapter`."""
    names = dict.fromkeys([*keys, *scores, *([] if item is None else [item])])
    if any(name not in frame.columns for name in names):
        return None
    columns = {name: frame[name] for name in names}
    if not all(_is_number(columns[name].dtype) for name in scores):
        return None
    try:
        codes = [_codes(columns[key]) for key in keys] or [Codes(np.zeros(len(frame), dtype="int64"), 1)]
        lists = reduce(_paired, codes)
        if not all(
            lists.has_unequal_neighbours(columns[name].to_numpy(dtype="float64", na_value=np.nan)) for name in scores
        ):
            return None
        return 0 if item is None else _lists_with_repeats(lists, columns[item])
    except (TypeError, ValueError, NotImplementedError):  # values that cannot be compared
        return None


def _lists_with_repeats(lists: Codes, items: Any) -> int:
    """Return in how many lists an item is repeated."""
    pairs = _paired(lists, _codes(items))
    if pairs.are_distinct():
        return 0
    return len(pd.unique(lists.numbers[pd.Series(pairs.numbers).duplicated(keep=False).to_numpy()]))


def _is_number(dtype: Any) -> bool:
    """Return whether a column holds integers or floats as NumPy does, or a nullable or Arrow type."""
    return bool(pd.api.types.is_any_real_numeric_dtype(dtype)) and not isinstance(dtype, pd.SparseDtype)


def _codes(column: Any) -> Codes:
    """Return codes of a column. A missing value counts as a value."""
    is_array = isinstance(column.dtype, np.dtype)
    codes = Codes.of_integers(column.to_numpy()) if is_array and column.dtype.kind in "iu" else None
    return codes or _factorized(column.to_numpy() if is_array else no_nan(column))


def _factorized(values: Any) -> Codes:
    """Return codes without gaps, in the order of the values."""
    numbers, distinct = pd.factorize(values)
    return Codes(numbers.astype("int64", copy=False) + 1, len(distinct) + 1)


def _paired(lists: Codes, others: Codes) -> Codes:
    """Return codes of the pairs of two values."""
    # Codes without gaps are few enough.
    return lists.paired(others) or _paired(_factorized(lists.numbers), _factorized(others.numbers))
