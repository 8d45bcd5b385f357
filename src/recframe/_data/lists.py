"""Lists instead of rows, and back."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypedDict, TypeVar, Unpack, overload

from recframe._base.defaults import BY, ITEM, RANK, RELEVANT, SCORE, VALUE, columns_or_defaults, only_these_roles
from recframe._base.signatures import checked_call
from recframe._base.values import LARGEST_NUMBER, as_tuple, column_names, flag, ids
from recframe._data.common import check_frame, check_name, check_roles, count_of, query_of_frames
from recframe._data.label import label
from recframe._data.top import ranked, unused_rank_column, with_single_order
from recframe._engines.column_spec import ColumnSpec, Source
from recframe._engines.registry import adapter_of, constructors_for, is_lazy, labels_of
from recframe._plan.query import check_apart
from recframe._plan.request import Request
from recframe._plan.sources import key_specs, model_spec
from recframe.errors import InputError, OptionError, OptionTypeError, quoted

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from recframe._engines.constructors import Constructors

    F = TypeVar("F", bound="_Frame")

    class _Frame(Protocol):
        @property
        def columns(self) -> Any: ...

    class _Others(TypedDict, total=False):
        users: Any
        scores: Any
        prices: Any
        by: Any
        item: str
        relevant: str
        rank: str
        score: str
        value: str


RECOMMENDED_LISTS = "recommended"
ACTUAL = "actual"
SCORES = "scores"
LISTS = (RECOMMENDED_LISTS, ACTUAL, SCORES)
PRICES = "prices"
MATRIX = 2
"""The dimensions of an array with a row for each user."""


@overload
def from_lists(
    recommended: Any, actual: Any = ..., *, frame: F, library: str | None = ..., **others: Unpack[_Others]
) -> F: ...
@overload
def from_lists(
    recommended: Any, actual: Any = ..., *, frame: None = ..., library: Literal["polars"], **others: Unpack[_Others]
) -> pl.DataFrame: ...
@overload
def from_lists(
    recommended: Any, actual: Any = ..., *, frame: None = ..., library: Literal["pandas"], **others: Unpack[_Others]
) -> pd.DataFrame: ...
@overload
def from_lists(
    recommended: Any, actual: Any = ..., *, frame: Any = ..., library: str | None = ..., **others: Unpack[_Others]
) -> Any: ...


@checked_call
def from_lists(
    recommended: Any,
    actual: Any = None,
    *,
    frame: Any = None,
    users: Any = None,
    scores: Any = None,
    prices: Any = None,
    by: Any = BY,
    item: str = ITEM,
    relevant: str = RELEVANT,
    rank: str = RANK,
    score: str = SCORE,
    value: str = VALUE,
    library: str | None = None,
) -> Any:
    """Return lists as a long frame, ready for every metric: one row for each user and item.

    Parameters
    ----------
    recommended : mapping, sequence of lists, 2-D array, column of lists, or str
        What each user was recommended, the best item first: ``{user: [item, ...]}``, one list a user, an array with a
        row for each user, a column of lists, or with `frame` the name of such a column.
    actual : the same, optional
        What each user did: the relevant items, in any order. Relevant items that were not recommended are added with a
        missing rank. None: the frame holds recommendations only, to be judged by ``truth=``.
    frame : frame, optional
        Where `recommended`, `actual`, `scores`, `prices` and `by` name columns.
    users : sequence, optional
        The users of plain lists; None: numbers from 0.
    scores : the same as `recommended`, optional
        The scores of the recommended items; the frame then has scores instead of ranks.
    prices : mapping, or the same as `recommended`, optional
        The values of items: ``{item: price}``, which also has prices of items that were never recommended, or the
        prices of the recommended items.
    by, item, relevant, rank, score, value : str
        The names of the columns of the result. With `frame`, `by` may be several.
    library : {"polars", "pandas"}, default None
        The library of the frame; None: the library of the input, otherwise polars if installed, otherwise pandas.

    Returns
    -------
    frame
        The columns `by`, `item`, `relevant` (1 or 0), `rank` (from 1) or `score`, and with prices `price`.

    Raises
    ------
    RecError
        The lists do not fit together.

    Examples
    --------
    >>> import recframe
    >>> frame = recframe.from_lists({"ann": ["tea", "jam"], "bob": ["rye"]}, {"ann": ["jam", "oat"], "bob": ["rye"]})
    >>> frame.rows()
    [('ann', 'tea', 0, 1), ('ann', 'jam', 1, 2), ('bob', 'rye', 1, 1), ('ann', 'oat', 1, None)]
    >>> frame.rec.recall(2)
    0.75
    """
    names = columns_or_defaults(by=by, item=item, relevant=relevant, rank=rank, score=score, value=value)
    arguments = (recommended, actual, frame, users, scores, prices, names, library)
    return adapter_of(frame).postpone(_from_lists, *arguments) if is_lazy(frame) else _from_lists(*arguments)


def _from_lists(
    recommended: Any,
    actual: Any,
    frame: Any,
    users: Any,
    scores: Any,
    prices: Any,
    names: Mapping[str, Any],
    library: str | None,
) -> Any:
    """Return the frame that `from_lists` returns; `names` holds the column names of the call or of `Config`."""
    lists = {name: _rows_of(values) for name, values in zip(LISTS, (recommended, actual, scores), strict=True)}
    prices = _rows_of(prices)
    if recommended is None:
        msg = "recommended=None, but there is nothing to judge without recommendations"
        raise OptionTypeError(msg, "from_lists([[...], [...]]), with one list for each user, or {user: [...]}")
    for name, column in names.items():
        if name != "by":
            check_name(name, column)
    item_prices = _item_prices(prices)
    lists[PRICES] = prices if item_prices is None else None
    lists = {name: values for name, values in lists.items() if values is not None}
    keys = as_tuple(column_names("by", names["by"], labels_of(frame)))
    make = constructors_for((frame, recommended, actual, scores), library)
    if frame is None:
        frame, lists = _frame_of_plain_lists(make, lists, users, keys)
    else:
        frame = _checked_frame(frame, lists, keys, users)
    needed = [*keys, names["item"], names["relevant"], names["rank"]]
    needed += [names["score"]] if SCORES in lists else []
    needed += [] if prices is None else [names["value"]]
    check_apart(needed, "name each of by, item, relevant, rank, score and value once")
    _check_lengths(make, frame, lists)
    if SCORES not in lists and len(make.distinct(frame, keys)) < len(frame):
        msg = f"by={quoted(list(keys))}: several lists have one key, so there are several items of each rank"
        raise InputError(msg, "give each list a key of its own, or scores= that order all items of a key")
    rows = _rows_of_lists(make, frame, keys, lists, names)
    if item_prices is not None:
        rows = make.priced(rows, names["item"], item_prices, names["value"])
    shown = ["item", *(["relevant"] if ACTUAL in lists else []), "score" if SCORES in lists else "rank"]
    shown += [] if prices is None else ["value"]
    return make.reorder(rows, [*keys, *(names[role] for role in shown)])


def _rows_of_lists(
    make: Constructors, frame: Any, keys: Sequence[str], lists: Mapping[str, Any], names: Mapping[str, Any]
) -> Any:
    """Return one row for each recommended item, and the relevance of items where the frame has the actual lists."""
    item = names["item"]
    columns = {RECOMMENDED_LISTS: item, SCORES: names["score"], PRICES: names["value"]}
    parallel = {column: lists[name] for name, column in columns.items() if name in lists}
    order = "score" if SCORES in lists else "rank"
    rows = make.explode(frame, keys, parallel, names["rank"] if order == "rank" else None)
    if ACTUAL not in lists:
        return rows
    relevant_rows = make.explode(frame, keys, {item: lists[ACTUAL]}, None)
    roles = {"by": list(keys), "item": item, "relevant": names["relevant"], order: names[order]}
    with only_these_roles({}):
        return label(Request(rows, {}, roles), relevant_rows, None, all_relevant=True)


def _rows_of(values: Any) -> Any:
    """Return a matrix, such as a model returns, as a list of its rows. Other values are returned unchanged."""
    # Expressions of pandas have any attribute.
    dimensions = getattr(values, "ndim", None)
    is_matrix = isinstance(dimensions, int) and dimensions == MATRIX and hasattr(values, "tolist")
    return values.tolist() if is_matrix else values


def to_lists(request: Request, k: int | None, *, scores: bool) -> Any:
    """Return one row for each list, with its items in order; see `Rec.to_lists`."""
    flag("scores", scores)
    k = None if k is None else count_of("k", k)
    frame = request.frame
    query = with_single_order(query_of_frames("to_lists", request), "to_lists")
    model = as_tuple(query.model)
    order = query.orders if scores else ()
    order_role = {"rank" if query.by_rank else "score": order}
    check_roles(model=model, by=query.by, item=[query.item], **order_role)
    keys = [*model, *query.by]
    columns = [query.item, *order]
    rank = unused_rank_column([*keys, *columns])
    top = ranked(frame, query, k, rank)
    frame = adapter_of(frame).checked("frame", Source(frame, {**key_specs(query), **model_spec(query)}))
    return constructors_for((frame,), None).implode(frame, top, keys, columns, rank)


# --- plain lists ----------------------------------------------------------------------------------------------


def _frame_of_plain_lists(
    make: Constructors, lists: dict[str, Any], users: Any, keys: Sequence[str]
) -> tuple[Any, dict[str, str]]:
    """Return plain lists as a frame with columns of lists, and the names of these columns."""
    if len(keys) != 1:
        msg = f"by={quoted(list(keys))} names {len(keys)} columns, but plain lists have one user each"
        raise OptionError(msg, "give a frame with columns of lists: from_lists('recommended', 'actual', frame=df)")
    (key,) = keys
    users, lists = _by_user(users, lists)
    for name, values in lists.items():
        _check_plain(make, name, values)
    users = range(len(lists[RECOMMENDED_LISTS])) if users is None else users
    users = users if make.is_series(users) else ids("users", users, "users=[...], one for each list", in_order=True)
    sizes = {name: len(values) for name, values in (*lists.items(), ("users", users))}
    if len(set(sizes.values())) > 1:
        msg = f"there are unlike numbers of lists: {', '.join(f'{size} in {name}' for name, size in sizes.items())}"
        raise InputError(msg, "one list for each user; an empty one where there is nothing")
    columns = {
        f"{name} of {key}": values if make.is_series(values) else list(map(_as_list, values))
        for name, values in lists.items()
    }
    if not len(users):
        msg = f"{RECOMMENDED_LISTS} holds no list"
        raise InputError(msg, "one list for each user; an empty one where there is nothing")
    frame = make.table({check_name("by", key): users, **columns})
    return frame, {name: f"{name} of {key}" for name in lists}


def _by_user(users: Any, lists: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return the users and one list for each. Mappings of users to lists name the users, so `users` must be None."""
    mappings = {name for name, values in lists.items() if isinstance(values, Mapping)}
    if not mappings:
        return users, lists
    if mappings != set(lists):
        plain = ", ".join(sorted(set(lists) - mappings))
        msg = f"{', '.join(sorted(mappings))} says whose each list is, but {plain} does not"
        raise OptionTypeError(msg, "give all of them as {user: list}, or all as one list for each user")
    if users is not None:
        msg = "users= is for plain lists, but mappings say whose each list is"
        raise OptionError(msg, "leave users= out")
    users = list(dict.fromkeys(user for values in lists.values() for user in values))
    return users, {name: [values.get(user, ()) for user in users] for name, values in lists.items()}


def _check_plain(make: Constructors, name: str, lists: Any) -> None:
    """Raise if an argument is not a sequence of lists."""
    if make.is_series(lists):
        some = next((values for values in lists if values is not None and not isinstance(values, float)), None)
        if some is not None and (isinstance(some, str) or not hasattr(type(some), "__len__")):
            msg = f"{name} is a column of {type(some).__name__}, not of lists"
            raise OptionTypeError(msg, "one list of items for each user")
        return
    if isinstance(lists, str) or not isinstance(lists, Sequence):
        msg = f"{name} is a {type(lists).__name__}, not lists"
        hint = "name a column of lists only with frame=" if isinstance(lists, str) else ""
        raise OptionTypeError(msg, hint or "[[...], [...]], a list for each user, or array.tolist(), or {user: [...]}")
    for values in lists:
        # The order of a set differs from process to process.
        in_order = name == ACTUAL or not isinstance(values, set | frozenset)
        if values is not None and not (in_order and _is_list(values)):
            msg = f"{name} holds {quoted(values)} where the list of a user belongs"
            raise OptionTypeError(msg, f"one list in order for each user, even if there is one: {name}=[[...]]")
        first = values[0] if isinstance(values, list | tuple) and values else None
        if isinstance(first, tuple) and [isinstance(each, float) for each in first] == [False, True]:
            msg = f"{name} holds {quoted(first)} where an item belongs, as if it were one with its score"
            raise OptionTypeError(msg, "lists of items, and scores= with lists of their scores")


def _item_prices(prices: Any) -> dict[Any, Any] | None:
    """Return the price of each item; None if there are no prices, or a list of prices for each user."""
    if not isinstance(prices, Mapping) or any(map(_is_list, prices.values())):
        return None
    for item, price in prices.items():
        size: Any = abs(price) if isinstance(price, Real) else math.inf
        # A price that is NaN is missing.
        if size > LARGEST_NUMBER:
            msg = (
                f"prices gives {quoted(item)} the price {quoted(price)}, which is not a number up to {LARGEST_NUMBER:g}"
            )
            raise OptionTypeError(msg, "{item: price} with integers or floats, or one list of prices for each user")
    return dict(prices)


def _is_list(value: object) -> bool:
    """Return whether a value is a list, a set or an array, but not text."""
    if isinstance(value, str | bytes):
        return False
    return isinstance(value, Sequence | AbstractSet) or hasattr(value, "tolist")


def _as_list(values: Any) -> list[Any]:
    """Return one user's values as a Python list; None is an empty list."""
    if values is None:
        return []
    return list(values.tolist()) if hasattr(values, "tolist") else list(values)


# --- checks ---------------------------------------------------------------------------------------------------


def _checked_frame(frame: Any, lists: Mapping[str, Any], keys: Sequence[str], users: Any) -> Any:
    """Return the frame of the call, or raise if it lacks a column or an argument does not name one."""
    check_frame("frame", frame)
    if users is not None:
        msg = "users= is for plain lists, but the frame says whose each list is"
        raise OptionError(msg, "by='user' names the column of users")
    for name, value in lists.items():
        if not isinstance(value, str):
            msg = f"{name} is a {type(value).__name__}, but with frame= it names a column of lists"
            raise OptionTypeError(msg, "from_lists('recommended', 'actual', frame=df)")
    roles = {name: ColumnSpec(column, name, "key") for name, column in lists.items()}
    roles |= {f"by {key}": ColumnSpec(key, "by", "key") for key in keys}
    return adapter_of(frame).checked("frame", Source(frame, roles))


def _check_lengths(make: Constructors, frame: Any, lists: Mapping[str, str]) -> None:
    """Raise if columns hold no lists, or if the lists for the recommended items differ in length."""
    for name, column in lists.items():
        make.check_lists(frame, name, column)
    parallel = {name: column for name, column in lists.items() if name != ACTUAL}
    count = make.uneven(frame, list(parallel.values()))
    if count:
        msg = f"{' and '.join(parallel)} have lists of unlike lengths, in {count} of the users"
        raise InputError(msg, "one score and one price for each recommended item")
