"""The expressions that a metric may read from a list: the sums of its terms, and counts of its rows."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

import narwhals as nw

from recframe._base.columns import (
    CATALOG_SIZE,
    RANKED,
    RELEVANT,
    ROWS,
    SUBTOPICS,
    TRAIN_ROWS,
    TRAIN_USERS,
    constant_column,
    greedy_column,
    group_distance_column,
    grouped_column,
    vacant_column,
)
from recframe.errors import OptionError, closest
from recframe.metrics._shared_terms import Reader, RequestedColumn

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from recframe.metrics._row import Numbers, Weight


class Sums(Reader):
    """The sums of one list, by the names that the terms gave them.

    Attributes
    ----------
    relevant : Expr
        R, the relevant items of the list, ranked or not; at least 1.
    """

    def __init__(self, columns: Mapping[str, str], numbers: Numbers) -> None:
        super().__init__()
        self._columns = columns
        self._numbers = numbers
        self.relevant = nw.col(RELEVANT)

    def __getitem__(self, name: str) -> nw.Expr:
        if name not in self._columns:
            names = ", ".join(map(repr, self._columns)) or "none"
            msg = f"value() requests the sum of {name!r}, but the metric's terms are {names}"
            raise OptionError(msg, closest(name, self._columns) or "terms() names what is summed")
        return nw.col(self._columns[name])

    def relevant_up_to(self, k: int | None) -> nw.Expr:
        """Return min(R, k)."""
        return at_most(self.relevant, k)

    def ranked(self, k: int | None) -> nw.Expr:
        """Return min(N, k), where N is the number of ranked rows."""
        return at_most(self._column(RANKED), k)

    def ranked_up_to(self, k: int | None) -> nw.Expr:
        """Return the ranked rows at the positions up to k: fewer than min(N, k) where given ranks have gaps."""
        return self.ranked(k) if k is None else self.ranked(k) - self._column(vacant_column(k))

    rows = RequestedColumn(ROWS)
    """The rows of the list, ranked or not."""

    @property
    def names(self) -> list[str]:
        """The names of the sums."""
        return list(self._columns)

    train_users = RequestedColumn(TRAIN_USERS)
    """The users of the training data."""
    train_rows = RequestedColumn(TRAIN_ROWS)
    """The rows of the training data."""
    catalog_size = RequestedColumn(CATALOG_SIZE)
    """The items of the catalogue."""
    subtopics = RequestedColumn(SUBTOPICS)
    """The subtopics of the list that have a relevant item."""

    def greedy_ideal(self, alpha: float, of: Weight, k: int | None) -> nw.Expr:
        """Return the sum of the gains of subtopics in a greedy ideal ranking, each times the weight of its position."""
        return self._column(greedy_column(self._numbers.greedy.of((alpha, of, k))))

    def group_distance(self, attention: str, distance: str, target: Any) -> nw.Expr:
        """Return the distance between the groups' shares of a summed term and their target shares, from 0 to 1.

        Parameters
        ----------
        attention : str
            The name that `terms` gave the term.
        distance : str
            The option `distance` of `AWRF`.
        target : str or tuple
            The option `target` of `AWRF`.
        """
        number = self._numbers.groups.of((self._columns[attention], distance, target))
        # The column holds the distance less 1/2, so that only the groups that a list has need rows.
        distance_to_target = self._column(group_distance_column(number)) + 0.5
        # Rounding may move it slightly below 0 or above 1.
        at_most_1 = nw.when(distance_to_target > 1).then(1.0).otherwise(distance_to_target)
        return nw.when(distance_to_target < 0).then(0.0).otherwise(at_most_1)

    def grouped(self, attention: str, distance: str, target: Any) -> nw.Expr:
        """Return the part of a summed term that belongs to items with a group, 0 if the list has no target.

        It accepts the arguments of `group_distance`.
        """
        return self._column(grouped_column(self._numbers.groups.of((self._columns[attention], distance, target))))

    def total_weight(self, of: Weight, k: int) -> nw.Expr:
        """Return the sum of a weight over the positions 1 to k."""
        return nw.col(constant_column(self._numbers.constants.of((of, k))))

    @staticmethod
    def ratio(part: nw.Expr, total: nw.Expr) -> nw.Expr:
        """Return part / total, and 0 where the total is 0."""
        return nw.when(total > 0).then(quotient(part, total)).otherwise(0.0)


def quotient(part: nw.Expr, total: nw.Expr | float) -> nw.Expr:
    """Return part / total with one rounding, so that the result does not depend on how polars splits the rows.

    Polars divides a batch by a constant by multiplying with its reciprocal, but not if the batch has one row. Adding
    ``part * 0.0`` turns the constant into a column.
    """
    return part / (part * 0.0 + total)


def sum_of(terms: Iterable[nw.Expr]) -> nw.Expr:
    """Return the sum of terms, added in the same order in each call.

    Polars adds the columns of `sum_horizontal` in an order that varies. A tree of sums, because a chain of hundreds is
    too deep for engines.
    """
    parts = [*terms]
    while len(parts) > 1:
        parts = [reduce(nw.Expr.__add__, parts[i : i + 2]) for i in range(0, len(parts), 2)]
    return parts[0]


def at_most(count: nw.Expr, k: int | None) -> nw.Expr:
    """Return min(count, k)."""
    return count if k is None else nw.when(count < k).then(count).otherwise(float(k))


def nan_if_infinite(total: nw.Expr) -> nw.Expr:
    """Return 0, or NaN where the number is infinite: a share of it would be 0 in lazy frames, which are not checked."""
    return total - total
