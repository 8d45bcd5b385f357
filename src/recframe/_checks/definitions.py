"""What makes data suspicious: the definitions that `check`, the data warnings and `compare` share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw

from recframe._columns import MODEL
from recframe._engines.registry import adapter_of

if TYPE_CHECKING:
    from recframe._query import Query

REPEATED = 1.2
"""How many lists have the same value of a key's column, on average, where they may not be independent."""


def used_columns(query: Query) -> set[str | None]:
    """Return the columns that have a role in a call, and None."""
    roles = (query.item, query.relevant, query.value, query.model, query.candidates, query.tied, query.weight)
    return {*query.by, *query.per, *query.orders, *roles, query.cluster}


def may_pool_models(query: Query) -> bool:
    """Return whether a column `model`, if there is one, has no role in the call."""
    return MODEL not in used_columns(query)


def comparable(frame: Any, column: str) -> bool:
    """Return whether the values of a column can be compared: not those of lists, structs and objects."""
    dtype = adapter_of(frame).as_narwhals(frame).collect_schema().get(column)
    return dtype is None or (not dtype.is_nested() and dtype not in (nw.Object, nw.Unknown))


def may_hold_relevance(truth: Any, query: Query) -> list[Any]:
    """Return the columns of a truth that may be the relevance by their type: numbers without a role."""
    schema = adapter_of(truth).as_narwhals(truth).collect_schema().items()
    used = used_columns(query)
    return [
        name
        for name, dtype in schema
        if name not in used and (dtype.is_integer() or dtype.is_float() or dtype == nw.Boolean)
    ]


def holds_relevance(zeros: Any, ones: Any, rows: Any, mixed: Any, long: Any) -> Any:
    """Return whether a column that nobody named says what is relevant.

    It holds only 0 and 1, some 0 among them, and is not alike in all rows of each list, as what describes lists is.

    Parameters
    ----------
    zeros, ones, rows : int or Expr
        How many rows hold 0, hold 1, and how many there are.
    mixed, long : int or Expr
        How many lists hold both, and how many have several rows.
    """
    return (zeros + ones == rows) & (zeros > 0) & ((mixed > 0) | (ones == 0) | (long == 0))


def makes_dependent(values: Any, lists: Any) -> Any:
    """Return whether lists are unlikely to be independent, as a column of their key has so few values."""
    return values * REPEATED <= lists
