"""A quick look at a data frame that clears most of the common mistakes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from pandas.api import types

if TYPE_CHECKING:
    from collections.abc import Sequence


def looks_sound(frame: Any, keys: Sequence[Any], scores: Sequence[Any], item: Any) -> bool:
    """Return what `Adapter.looks_sound` says."""
    items = [] if item is None else [item]
    dtypes = [frame[name].dtype if name in frame.columns else None for name in scores]
    if not all(types.is_any_real_numeric_dtype(dtype) and not isinstance(dtype, pd.SparseDtype) for dtype in dtypes):
        return False
    if any(name not in frame.columns for name in (*keys, *items)):
        return False
    try:
        lists = np.zeros(len(frame), dtype="int64")
        for number, key in enumerate(keys):
            codes = _pairs(lists, frame[key])
            lists = codes if number == 0 else pd.factorize(codes)[0].astype("int64")
        unlike = [_differs(frame[name], lists) for name in scores]
        return all(unlike) and (item is None or len(pd.unique(_pairs(lists, frame[item]))) == len(frame))
    except TypeError:  # values that cannot be compared
        return False


def _pairs(codes: Any, column: Any) -> Any:
    """Return one whole number for each pair of a code and a value; missing is a value."""
    own, values = pd.factorize(column)
    return codes * (len(values) + 1) + own + 1


def _differs(column: Any, lists: Any) -> bool:
    """Return whether two rows of a list that stand together have unlike numbers."""
    values = column.to_numpy(dtype="float64", na_value=np.nan)
    first, second = values[:-1], values[1:]
    return bool((((first < second) | (first > second)) & (lists[:-1] == lists[1:])).any())
