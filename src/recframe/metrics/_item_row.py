"""What a beyond-accuracy metric may read of a recommended item, of a user's history, and of an item of the catalogue.

Like `Row`, these classes hold no data: they return expressions and remember which columns those read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import narwhals as nw

from recframe._base.columns import (
    CATEGORISED,
    DESCRIBED,
    FIRST,
    INTERACTIONS,
    PLACE,
    POPULARITY,
    SIMILAR_AHEAD,
    UNIT,
    USERS,
    direction_column,
    distinct_column,
    numbered,
    order_column,
    share_column,
)
from recframe.metrics._shared_terms import RequestedColumn, SharedTerms

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recframe.metrics._row import Numbers


def feature_columns(width: int) -> list[str]:
    """Return all columns that describe an item by its features."""
    return [*numbered(width, direction_column), DESCRIBED, UNIT, *numbered(width, share_column), CATEGORISED]


class _Described(SharedTerms):
    """A row whose item may have features.

    Attributes
    ----------
    categories : list of Expr
        The item's features as shares, which sum to 1; all 0 without features.
    categorised : Expr
        1.0 where the item has shares, else 0.0.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self._width = width

    @property
    def categories(self) -> list[nw.Expr]:
        return [self._column(name) for name in numbered(self._width, share_column)]

    categorised = RequestedColumn(CATEGORISED)


class RecommendedRow(_Described):
    """One row of the list that a user sees: ties are broken, so that it has one position.

    Attributes
    ----------
    users : Expr
        The users of the training data who have the item; 0 where nobody has.
    interactions : Expr
        The rows of the training data that have the item.
    popularity : Expr
        The item's rank by its users, the most popular first, divided by the number of items of the training data;
        infinite where nobody has it.
    first : Expr
        1.0 where the item occurs in the list for the first time, else 0.0.
    directions : list of Expr
        The item's features as a vector of length 1; all 0 for a zero vector and without features.
    described, unit : Expr
        1.0 where the item has features, and where they are not all 0; else 0.0.
    similar_ahead : Expr
        The item's similarities with the different items ahead in the list, summed. 0.0 where the list has the item
        again.
    """

    def __init__(self, width: int, numbers: Numbers) -> None:
        super().__init__(width)
        self._numbers = numbers

    @staticmethod
    def within(k: int | None) -> nw.Expr:
        """Return 1.0 where the row is among the first k, else 0.0."""
        return nw.lit(1.0) if k is None else (nw.col(PLACE) <= k).cast(nw.Float64())

    users = RequestedColumn(USERS)
    interactions = RequestedColumn(INTERACTIONS)
    popularity = RequestedColumn(POPULARITY)
    first = RequestedColumn(FIRST)

    @property
    def directions(self) -> list[nw.Expr]:
        return [self._column(name) for name in numbered(self._width, direction_column)]

    described = RequestedColumn(DESCRIBED)
    unit = RequestedColumn(UNIT)

    @property
    def similar_ahead(self) -> nw.Expr:
        self.requested.add(FIRST)
        return self._column(SIMILAR_AHEAD)

    def distinct(self, k: int | None) -> nw.Expr:
        """Return the number of different items among the first k of the row's list."""
        self.requested.add(FIRST)
        return self._column(distinct_column(self._numbers.distinct.of(k)))


class HistoryRow(_Described):
    """One item that a user had in the training data."""


class ItemRow(SharedTerms):
    """One item with its sums over the rows that recommend it, by the names of the metric's `recommended_terms`."""

    def __init__(self, columns: Mapping[str, str]) -> None:
        super().__init__()
        self._columns = columns

    def __getitem__(self, name: str) -> nw.Expr:
        return nw.col(self._columns[name])

    def order(self, name: str) -> nw.Expr:
        """Return the item's rank, from 1, among the recommended items in ascending order of a sum.

        Items of equal sums share their mean rank, so that it does not depend on the order of rows. 0: not recommended.
        """
        return self._column(order_column(self._columns[name]))
