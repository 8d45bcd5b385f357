"""Definitions of suspicious data that `check`, the data warnings and `compare` share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw

from recframe._engines.registry import adapter_of
from recframe._plan.sources import omitted_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._plan.query import Query

VALUES = "values"
REPEATED = 1.2
"""How many lists have the same value of a key's column, on average, where they may not be independent."""


def used_columns(query: Query) -> set[str | None]:
    """Return the columns that have a role in a call; the set may contain None."""
    return {*query.orders, *used_in_truth(query), query.model}


def used_in_truth(query: Query) -> set[str | None]:
    """Return the columns that have a role in a truth, without scores; the set may contain None."""
    roles = (query.item, query.relevant, query.value, query.weight, query.propensity, query.subtopic, query.group)
    strata = None if query.strata is None else query.strata.column
    return {*query.by, *query.per, *omitted_rows(query).values(), *roles, query.cluster, strata}


def list_keys(query: Query) -> list[Any]:
    """Return the columns that tell one model's lists apart."""
    return [*query.by, *([] if query.model is None else [query.model])]


def has_columns(frame: Any, columns: Sequence[Any]) -> bool:
    """Return whether an eager frame has these columns, and no two of one name. Index levels of pandas count."""
    names = adapter_of(frame).names(frame)
    return {*columns} <= {*names} and len({*names}) == len(names)


def values_of(rows: Any, column: Any) -> Any:
    """Return a column of a Narwhals data frame by its exact name, also where polars would read it as a pattern."""
    # `pl.col` would read a name such as "^a$" as a pattern.
    return rows[:, rows.columns.index(column)].alias(VALUES)


def comparable(frame: Any, column: str) -> bool:
    """Return whether the values of a column can be compared; lists, structs and objects cannot."""
    rows = adapter_of(frame).as_narwhals(frame)
    return column not in rows.columns or is_comparable(values_of(rows, column))


def is_comparable(values: Any) -> bool:
    """Return whether the values of a Narwhals series can be compared."""
    return not values.dtype.is_nested() and values.dtype not in (nw.Object, nw.Unknown)


def makes_dependent(values: Any, lists: Any) -> Any:
    """Return whether lists are unlikely to be independent, as a column of their key has so few values."""
    return values * REPEATED <= lists
