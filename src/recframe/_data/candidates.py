"""All items for given users: what a model has to put in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypedDict, TypeVar, Unpack, overload

import narwhals as nw

from recframe._base.defaults import BY, ITEM, columns_or_defaults
from recframe._base.signatures import checked_call
from recframe._base.values import ids
from recframe._data.common import check_frame
from recframe._data.label import drop_seen
from recframe._engines.column_spec import ColumnSpec, Source
from recframe._engines.registry import adapter_of, constructors_for, is_frame, is_lazy
from recframe._plan.request import Request
from recframe._plan.sources import item_spec, key_specs
from recframe.errors import ColumnTypeError, OptionError, OptionTypeError, quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    import polars as pl

    class _Pandas(Protocol):
        def to_pickle(self, *args: Any, **kwargs: Any) -> Any: ...

    class _Names(TypedDict, total=False):
        by: Any
        item: str

    class _Others(_Names, total=False):
        library: str | None

    P = TypeVar("P", bound=_Pandas)
    _Polars: TypeAlias = pl.DataFrame | pl.Series


@overload
def candidates(users: pl.LazyFrame, items: Any, seen: Any = ..., **others: Unpack[_Others]) -> pl.LazyFrame: ...
@overload
def candidates(users: Any, items: pl.LazyFrame, seen: Any = ..., **others: Unpack[_Others]) -> pl.LazyFrame: ...
@overload
def candidates(users: Any, items: Any, seen: pl.LazyFrame, **others: Unpack[_Others]) -> pl.LazyFrame: ...
@overload
def candidates(users: _Polars, items: Any, seen: Any = ..., **others: Unpack[_Others]) -> pl.DataFrame: ...
@overload
def candidates(users: Any, items: _Polars, seen: Any = ..., **others: Unpack[_Others]) -> pl.DataFrame: ...
@overload
def candidates(
    users: Any, items: Any, seen: Any = ..., *, library: Literal["polars"], **names: Unpack[_Names]
) -> pl.DataFrame: ...
@overload
def candidates(
    users: Any, items: Any, seen: Any = ..., *, library: Literal["pandas"], **names: Unpack[_Names]
) -> pd.DataFrame: ...
@overload
def candidates(users: P, items: Any, seen: Any = ..., **others: Unpack[_Others]) -> P: ...
@overload
def candidates(users: Any, items: Any, seen: Any = ..., **others: Unpack[_Others]) -> Any: ...


@checked_call
def candidates(
    users: Any,
    items: Any,
    seen: Any = None,
    *,
    by: Any = BY,
    item: str = ITEM,
    library: str | None = None,
) -> Any:
    """Return every item for every user, without what they have seen: the frame that a model scores.

    Parameters
    ----------
    users : frame, column or sequence
        The users, with or without repeats. For a frame, the distinct values of the columns `by`.
    items : frame, column or sequence
        The items. For a frame, the distinct values of the column `item`.
    seen : frame, optional
        Pairs of user and item that are left out, such as the interactions to learn from.
    by : str or sequence of str
        The column of users. Several columns keep what belongs to a user, such as a country; pairs of `seen` are then
        compared by all of them.
    item : str
        The column of items.
    library : {"polars", "pandas"}, default None
        The library of the frame; None: the library of the input, otherwise polars if installed, otherwise pandas.

    Returns
    -------
    frame
        The columns `by` and `item`, one row per pair. The frame is lazy if any input is lazy.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> train = pl.DataFrame({"user": [1, 1, 2], "item": ["a", "b", "b"]})
    >>> recframe.candidates([1, 2], train, seen=train).rows()
    [(2, 'a')]
    """
    names = columns_or_defaults(by=by, item=item)
    make = constructors_for((users, items, seen), library)
    query = Request(users, {}, names).query(["by", "item"], items, seen)
    if not query.by:
        msg = f"by={quoted(names['by'])} names no column, but users need one"
        raise OptionError(msg, "by='user'")
    left = _values(make, "users", users, query.by)
    right = _values(make, "items", items, [query.item])
    if seen is not None:
        check_frame("seen", seen)
    if any(map(is_lazy, (left, right, seen))):
        left = _as_lazy(left)
        right = _as_lazy(right)
        seen = None if seen is None else _as_lazy(seen)
    every: Any = nw.from_native(left)
    pairs = every.join(nw.from_native(right), how="cross").to_native()
    if is_lazy(pairs) and seen is not None:
        lazy: Any = adapter_of(pairs)
        return lazy.without_pairs(pairs, seen, {**key_specs(query), **item_spec(query)})
    return pairs if seen is None else drop_seen(pairs, seen, query)


def _as_lazy(frame: Any) -> Any:
    """Return a frame as a lazy frame."""
    return frame if is_lazy(frame) else frame.lazy()


def _values(make: Any, what: str, ids_or_frame: Any, columns: Sequence[str]) -> Any:
    """Return the distinct users or items as a frame."""
    if not is_frame(ids_or_frame):
        if not make.is_series(ids_or_frame):
            ids_or_frame = ids(what, ids_or_frame, f"give a frame with the column {columns[0]!r}, or a list")
        if len(columns) > 1:
            msg = f"{what} is no frame, but {list(columns)!r} are several columns"
            raise OptionTypeError(msg, "give a frame that has them")
        ids_or_frame = make.table({columns[0]: ids_or_frame})
    role = "by" if what == "users" else "item"
    specs = {column: ColumnSpec(column, role, "key") for column in columns}
    checked = adapter_of(ids_or_frame).checked_later(what, Source(ids_or_frame, specs))
    try:
        return make.distinct(checked, columns)
    except NotImplementedError as error:  # of lists and structs of Arrow
        msg = f"{role}={list(columns)!r}: {what} hold values that cannot be compared"
        raise ColumnTypeError(msg, "cast the column to text first") from error
