"""What a metric may ask of a ranked row, of a row in the best order, and of a list.

These classes hold no data: they hand out Narwhals expressions over the plan's own columns and remember
what was asked, so that the plan computes that and nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import narwhals as nw

from recframe._columns import (
    BLOCK_HITS,
    CATALOG_SIZE,
    CHANCE,
    CONCORDANCE,
    FIRST_HIT,
    GRADE_RANK,
    HIT,
    HITS_BEFORE,
    LENGTH,
    POPULAR,
    POSITION,
    RANKED,
    RANKED_RELEVANT,
    RELEVANCE,
    RELEVANT,
    ROWS,
    SAME_GRADE,
    SIZE,
    START,
    TRAIN_USERS,
    VALUE,
    before_column,
    constant_column,
    examined_column,
    stop_column,
    upto_column,
)
from recframe.errors import OptionError, closest
from recframe.metrics._shared_terms import SharedTerms

if TYPE_CHECKING:
    from collections.abc import Callable

    Weight = Callable[[nw.Expr], nw.Expr]
    Stop = Callable[[nw.Expr, nw.Expr], nw.Expr]

CASCADE = "cascade"
ALL_ROWS = "all_rows"
"""What an ideal row is asked where every row stands in the best order, whatever its relevance."""
"""In what a metric requests: that users stop somewhere."""


class Row(SharedTerms):
    """One ranked row, which stands in a tied block of `size` positions from `start` on.

    Attributes
    ----------
    tied : bool
        False where no row ties, so that every block is one row.
    relevance : Expr
        The relevance, 0 where it is missing.
    hit : Expr
        1.0 for a relevant row, else 0.0.
    start, size : Expr
        The first position of the row's tied block (from 1), and its number of rows.
    block_hits, hits_before : Expr
        The relevant rows in the block, and those that stand before it.
    relevant_in_list : Expr
        R, the relevant items of the row's list, ranked or not.
    """

    def __init__(self, *, tied: bool) -> None:
        super().__init__()
        self.tied = tied
        self.tables: dict[tuple[Weight, int | None], int] = {}
        self.stops: dict[Stop, int] = {}
        self.asked: set[str] = set()
        self.relevance = nw.col(RELEVANCE)
        self.hit = nw.col(HIT)
        self.start = nw.col(START)
        self.size = nw.col(SIZE) if tied else nw.lit(1.0)

    @property
    def block_hits(self) -> nw.Expr:
        self.asked.add(BLOCK_HITS)
        return nw.col(BLOCK_HITS) if self.tied else self.hit

    @property
    def hits_before(self) -> nw.Expr:
        return self._column(HITS_BEFORE)

    @property
    def relevant_in_list(self) -> nw.Expr:
        return self._column(RELEVANT)

    @property
    def ranked_relevant_in_list(self) -> nw.Expr:
        """The relevant items of the row's list that are ranked."""
        return self._column(RANKED_RELEVANT)

    @property
    def value(self) -> nw.Expr:
        """What a hit is worth, 0 where it is missing."""
        return self._column(VALUE)

    @property
    def length(self) -> nw.Expr:
        """The number of ranked rows of the list."""
        return self._column(LENGTH)

    @property
    def grade_rank(self) -> nw.Expr:
        """The average rank of the row's relevance among the ranked rows of its list."""
        return self._column(GRADE_RANK)

    @property
    def same_grade(self) -> nw.Expr:
        """How many ranked rows of the list have the row's relevance."""
        return self._column(SAME_GRADE)

    @property
    def concordance(self) -> nw.Expr:
        """The rows of lower relevance that the row stands before, less those that it stands behind.

        Only its sum over a list means that.
        """
        return self._column(CONCORDANCE)

    @property
    def popular(self) -> nw.Expr:
        """The item's place, from 1, when those of the training data stand by their users; infinite without any."""
        return self._column(POPULAR)

    def _column(self, name: str) -> nw.Expr:
        self.asked.add(name)
        return nw.col(name)

    def cascade(self, stop: Stop, of: Weight, k: int | None) -> nw.Expr:  # noqa: ARG002
        """Return what the row adds to the expected weight of the position at which a user stops, 0 past k.

        The user reads from the top and stops at a row with the chance that `stop` gives for its relevance; `stop`
        also takes the largest relevance of the frame. The rows of a tied block share their mean chance.
        """
        self.asked.add(CASCADE)
        self.stops.setdefault(stop, len(self.stops))
        return nw.lit(0.0)

    def within(self, k: int | nw.Expr | None) -> nw.Expr:
        """Return the chance that the row stands among the first k."""
        if k is None:
            return nw.lit(1.0)
        inside = (self.start <= k) if not self.tied else (self.start + self.size - 1 <= k)
        straddles = (k - self.start + 1) / self.size
        outside = nw.when(self.start <= k).then(straddles).otherwise(0.0) if self.tied else nw.lit(0.0)
        return nw.when(inside).then(1.0).otherwise(outside)

    def weight(self, of: Weight, k: int | None) -> nw.Expr:
        """Return the expected weight of the row's position, counting 0 past k.

        Parameters
        ----------
        of : callable
            From the position, a float from 1, to its weight; both are expressions.
        k : int, optional
            The last position that counts; None: all do.
        """
        alone = _cut(of(self.start), self.start, k)
        if not self.tied:
            return alone
        # The mean over the block is a difference of two prefix sums, looked up in a table of positions.
        index = self.tables.setdefault((of, k), len(self.tables))
        block = (nw.col(upto_column(index)) - nw.col(before_column(index))) / self.size
        return nw.when(self.size > 1).then(block).otherwise(alone)

    def first_hit(self, of: Weight, k: int | None) -> nw.Expr:
        """Return what the row adds to the expected weight of the list's first relevant position, 0 past k."""
        self.asked.update((BLOCK_HITS, FIRST_HIT))
        # A block with several hits is spread over all its rows: see FirstHitRow.
        only = (self.start == nw.col(FIRST_HIT)) & (self.block_hits == 1)
        return nw.when(only).then(self.hit * self.weight(of, k)).otherwise(0.0)


class PlaceRow(Row):
    """A place in a tied block, beside the ranked rows: it adds nothing but the one thing that it stands for."""

    def __init__(self) -> None:
        super().__init__(tied=False)
        self.relevance = self.hit = nw.lit(0.0)

    def within(self, k: int | nw.Expr | None) -> nw.Expr:  # noqa: ARG002
        return nw.lit(0.0)

    def weight(self, of: Weight, k: int | None) -> nw.Expr:  # noqa: ARG002
        return nw.lit(0.0)

    def first_hit(self, of: Weight, k: int | None) -> nw.Expr:  # noqa: ARG002
        return nw.lit(0.0)


class FirstHitRow(PlaceRow):
    """One place in a tied block that holds several of the list's first hits.

    The rows of such a block stand for its positions: each adds the chance that the first hit falls there.
    """

    def first_hit(self, of: Weight, k: int | None) -> nw.Expr:
        self.asked.add(FIRST_HIT)
        position = nw.col(POSITION)
        return nw.col(CHANCE) * _cut(of(position), position, k)


class CascadeRow(PlaceRow):
    """One ranked row in the hands of a user who reads from the top, for what `Row.cascade` is about."""

    def cascade(self, stop: Stop, of: Weight, k: int | None) -> nw.Expr:
        self.asked.add(CASCADE)
        index = self.stops.setdefault(stop, len(self.stops))
        position = nw.col(POSITION)
        return nw.col(stop_column(index)) * nw.col(examined_column(index)) * _cut(of(position), position, k)


class IdealRow(SharedTerms):
    """One row that is relevant or of positive relevance, at its position in the list's best order.

    Attributes
    ----------
    relevance, hit : Expr
        As of `Row`.
    """

    def __init__(self) -> None:
        super().__init__()
        self.asked: set[str] = set()
        self.relevance = nw.col(RELEVANCE)
        self.hit = nw.col(HIT)

    @property
    def value(self) -> nw.Expr:
        """What a hit is worth, 0 where it is missing."""
        self.asked.add(VALUE)
        return nw.col(VALUE)

    def weight(self, of: Weight, k: int | None, *, signed: bool = False) -> nw.Expr:
        """Return the weight of the row's position, 0 past k and, unless signed, where the relevance is not positive."""
        if signed:
            self.asked.add(ALL_ROWS)
            return self._weight(of, k)
        return nw.when(self.relevance > 0).then(self._weight(of, k)).otherwise(0.0)

    def hit_weight(self, of: Weight, k: int | None) -> nw.Expr:
        """Return the weight of the row's position, 0 past k and where the row is not relevant."""
        return nw.when(self.hit > 0).then(self._weight(of, k)).otherwise(0.0)

    def _weight(self, of: Weight, k: int | None) -> nw.Expr:
        self.asked.add(POSITION)
        return _cut(of(nw.col(POSITION)), nw.col(POSITION), k)


class Sums:
    """The sums of one list, by the names that the terms gave them.

    Attributes
    ----------
    relevant : Expr
        R, the relevant items of the list, ranked or not; at least 1.
    """

    def __init__(self, columns: dict[str, str], asked: set[str], constants: dict[tuple[Weight, int], str]) -> None:
        self._columns = columns
        self._asked = asked
        self._constants = constants
        self.relevant = nw.col(RELEVANT)

    def __getitem__(self, name: str) -> nw.Expr:
        if name not in self._columns:
            names = ", ".join(map(repr, self._columns)) or "none"
            msg = f"value() asks for the sum of {name!r}, but the metric's terms are {names}"
            raise OptionError(msg, closest(name, self._columns) or "terms() names what is summed")
        return nw.col(self._columns[name])

    def relevant_up_to(self, k: int | None) -> nw.Expr:
        """Return min(R, k)."""
        return at_most(self.relevant, k)

    def ranked(self, k: int | None) -> nw.Expr:
        """Return min(N, k), where N is the number of ranked rows."""
        self._asked.add(RANKED)
        return at_most(nw.col(RANKED), k)

    @property
    def rows(self) -> nw.Expr:
        """The rows of the list, ranked or not."""
        self._asked.add(ROWS)
        return nw.col(ROWS)

    @property
    def names(self) -> list[str]:
        """The names of the sums."""
        return list(self._columns)

    @property
    def train_users(self) -> nw.Expr:
        """The users of the training data."""
        self._asked.add(TRAIN_USERS)
        return nw.col(TRAIN_USERS)

    @property
    def catalog_size(self) -> nw.Expr:
        """The items of the catalogue."""
        self._asked.add(CATALOG_SIZE)
        return nw.col(CATALOG_SIZE)

    def total_weight(self, of: Weight, k: int) -> nw.Expr:
        """Return the sum of a weight over the positions 1 to k."""
        return nw.col(self._constants.setdefault((of, k), constant_column(len(self._constants))))

    @staticmethod
    def ratio(part: nw.Expr, whole: nw.Expr) -> nw.Expr:
        """Return part / whole, and 0 where the whole is 0."""
        return nw.when(whole > 0).then(part / whole).otherwise(0.0)


def _cut(weight: nw.Expr, position: nw.Expr, k: int | None) -> nw.Expr:
    return weight if k is None else nw.when(position <= k).then(weight).otherwise(0.0)


def at_most(count: nw.Expr, k: int | None) -> nw.Expr:
    """Return min(count, k)."""
    return count if k is None else nw.when(count < k).then(count).otherwise(float(k))
