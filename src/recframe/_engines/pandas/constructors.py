"""Makes pandas frames from columns, lists and lines of text, and converts between rows and lists."""

from __future__ import annotations

from csv import QUOTE_NONE
from io import BytesIO
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recframe._engines.column_errors import no_lists
from recframe._engines.pandas.columns import no_nan, ordered_codes, series_of, with_levels

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Frame = Any
"""A data frame, whose methods are typed too loosely to say so."""


def is_series(value: object) -> bool:
    """Return whether something is a column."""
    return isinstance(value, pd.Series | pd.Index)


def table(columns: Mapping[str, Any]) -> Frame:
    """Return a frame of columns, each a sequence or a series."""
    return pd.DataFrame({name: _column(values) for name, values in columns.items()})


def distinct(frame: Frame, columns: Sequence[str]) -> Frame:
    """Return the distinct values of some columns."""
    return _keys(frame, columns).drop_duplicates(ignore_index=True)


def uneven(frame: Frame, columns: Sequence[str]) -> int:
    """Return how many rows hold lists of different lengths."""
    lengths = [_lengths(frame[name]) for name in columns]
    return int(np.logical_or.reduce([length != lengths[0] for length in lengths]).sum())


def check_lists(frame: Frame, role: str, column: str) -> None:
    """Raise if a column does not hold lists, or holds sets, whose order is not defined, although the order matters."""
    known = frame[column].dropna()
    unordered = role != "actual" and any(isinstance(values, set | frozenset) for values in known)
    if len(known) and (unordered or not any(map(_is_list, known))):
        raise no_lists(role, column, frame[column].dtype)


def explode(frame: Frame, keys: Sequence[str], lists: Mapping[str, str], rank_column: str | None) -> Frame:
    """Return one row for each element of parallel lists."""
    frame = with_levels(frame, keys)
    lengths = _lengths(frame[next(iter(lists.values()))])
    columns = {name: frame[name].repeat(lengths).reset_index(drop=True) for name in keys}
    for name, column in lists.items():
        values = chain.from_iterable(values for values in frame[column] if _is_list(values))
        columns[name] = series_of(list(values)) if lengths.sum() else pd.Series(dtype="object")
    if rank_column is not None:
        columns[rank_column] = pd.Series(
            np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths) + 1
        )
    return pd.DataFrame(columns)


def priced(frame: Frame, item: str, prices: Mapping[Any, Any], value: str) -> Frame:
    """Add a column with the value of each item, missing for an item without one."""
    price_of = {name: float(price) for name, price in prices.items()}
    # There are many more rows than items, so each item is looked up once.
    codes, items = pd.factorize(frame[item], use_na_sentinel=False)
    amounts = np.array([price_of.get(name, np.nan) for name in items.tolist()], dtype="float64")
    return frame.assign(**{value: amounts[codes]})


def reorder(frame: Frame, columns: Sequence[str]) -> Frame:
    """Return some columns in this order."""
    return with_levels(frame, columns)[list(columns)]


def implode(frame: Frame, ranked: Frame, keys: Sequence[str], columns: Sequence[str], rank: str) -> Frame:
    """Return one row for each list of a frame, with the values of its ranked rows as lists, in the order of `rank`."""
    if not keys:
        ordered = ranked.sort_values(rank, kind="stable")
        return pd.DataFrame({name: [ordered[name].tolist()] for name in columns})
    both = pd.concat([_keys(ranked, keys), _keys(frame, keys)], ignore_index=True)
    codes = [ordered_codes(both[name]) for name in keys]
    number = pd.Series(codes[0]).groupby(codes).ngroup().to_numpy()
    number_of_ranked = number[: len(ranked)]
    order = np.lexsort((ranked[rank].to_numpy(), number_of_ranked))
    ends = np.cumsum(np.bincount(number_of_ranked, minlength=number.max(initial=-1) + 1))
    starts = [0, *ends][: len(ends)]
    _, first = np.unique(number, return_index=True)
    imploded = both.take(first).reset_index(drop=True)
    for name in columns:
        values = ranked[name].take(order).tolist()
        lists = [values[start:end] for start, end in zip(starts, ends, strict=True)]
        imploded[name] = pd.Series(lists, dtype="object")
    return imploded


def fields(lines: bytes, names: Sequence[str], number: str | None, columns: Mapping[str, str]) -> Frame | None:
    """Return fields between single spaces as a frame, or None if a line cannot be read."""
    try:
        frame: Any = pd.read_csv(
            BytesIO(lines), sep=" ", header=None, names=list(names), index_col=False, dtype="str", quoting=QUOTE_NONE,
            keep_default_na=False, na_filter=False,
        )  # fmt: skip
    except ValueError:
        return None
    if bool((frame.fillna("") == "").any(axis=None)):
        return None
    if number is None:
        return frame[list(columns)].rename(columns=dict(columns))
    # Python reads 1_0 as ten, and digits of other scripts; other readers of these files do not.
    if bool(frame[number].str.contains(r"[^\x00-\x7f]|_", regex=True).any()):
        return None
    # A relevance is an integer in most files and stays one. A score is always a float.
    for kind in ("float64",) if number == "score" else ("int64", "float64"):
        try:
            frame[number] = frame[number].astype(kind)
        except (ValueError, OverflowError):
            continue
        return frame[list(columns)].rename(columns=dict(columns))
    return None


def _keys(frame: Frame, columns: Sequence[str]) -> Frame:
    """Return columns, or levels of the index, with null for NaN."""
    keys = with_levels(frame, columns)[list(columns)]
    keys.attrs = {}  # pandas cannot concatenate frames whose attributes are arrays
    for number, name in enumerate(columns):
        keys.isetitem(number, no_nan(keys[name]))
    return keys


def _column(values: Any) -> Any:
    """Return values as a column. Lists stay Python objects."""
    if isinstance(values, pd.Series | pd.Index):
        return pd.Series(values).reset_index(drop=True)
    values = list(values)
    return pd.Series(values, dtype="object") if any(map(_is_list, values)) else series_of(values)


def _is_list(value: object) -> bool:
    """Return whether a cell holds a list. A missing cell holds none."""
    return hasattr(value, "__len__") and not isinstance(value, str | bytes)


def _lengths(series: Any) -> Any:
    """Return the length of the list in each row, 0 if it is missing."""
    return np.fromiter((len(values) if _is_list(values) else 0 for values in series), dtype="int64", count=len(series))
