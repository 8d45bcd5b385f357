"""What a metric may request of a ranked row.

It holds no data: it hands out Narwhals expressions over the plan's own columns and remembers which columns
were requested, so that the plan computes these and nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import narwhals as nw

from recframe._base.columns import (
    BLOCK_HITS,
    BLOCK_NONRELEVANT,
    CATALOG_SIZE,
    CONCORDANCE,
    FAMILIAR,
    GRADE_RANK,
    HIT,
    HITS_BEFORE,
    INFERRED,
    LENGTH,
    NONRELEVANT_BEFORE,
    ORDER,
    POOLED,
    POOLED_BEFORE,
    POPULAR,
    POPULAR_LEVEL,
    RANKED_RELEVANT,
    RELEVANCE,
    RELEVANT,
    SAME_GRADE,
    SIZE,
    START,
    SUBTOPIC,
    VALUE,
    before_column,
    first_pairs_column,
    interpolated_column,
    seen_column,
    stop_column,
    upto_column,
)
from recframe.metrics._shared_terms import RequestedColumn, SharedTerms

if TYPE_CHECKING:
    from collections.abc import Callable

    Weight = Callable[[nw.Expr], nw.Expr]
    Stop = Callable[[nw.Expr, nw.Expr], nw.Expr]
    Order = Callable[[Any], nw.Expr]  # from an ideal row to the gain that sorts the ideal ranking
    Group = tuple[str, str, Any]  # the column with the attention of groups, the name of a distance, and the target


Numbered = TypeVar("Numbered")
EPSILON = 0.00001
"""The constant that trec_eval adds to counts of judged rows, so that their share is defined without any."""
ALL_ROWS = "all_rows"
"""Requested by a row of the ideal ranking if every row counts there, whatever its relevance."""
FIRST_HIT = "first_hit"
"""Requested by a row that reads the possible positions of the first hit."""
ALL_HITS = "all_hits"
"""Requested by a row that reads whether all hits of a tied block are among the first k."""
STOPS = "stops"
"""Requested by a row that reads the positions where users stop."""


class Numbering(dict[Numbered, int]):
    """A number for each function with its arguments, in the order in which metrics pass them to rows and sums."""

    def of(self, key: Numbered) -> int:
        """Return the number of a function with its arguments."""
        return self.setdefault(key, len(self))


class Numbers:
    """Numbers the functions and options that the metrics of a call pass to rows and sums, so each is computed once."""

    def __init__(self) -> None:
        self.weights: Numbering[tuple[Weight, int | None]] = Numbering()
        """Weights of positions, with the last position that counts."""
        self.stops: Numbering[Stop] = Numbering()
        """Functions from a relevance to the probability to stop."""
        self.constants: Numbering[tuple[Weight, int]] = Numbering()
        """Weights of positions, each with the k for which its sum over the positions 1 to k is needed."""
        self.levels: Numbering[float] = Numbering()
        """Levels of recall."""
        self.pairs: Numbering[int] = Numbering()
        """The n of `Row.first_pairs`."""
        self.seen: Numbering[tuple[float, Weight, int | None]] = Numbering()
        """The arguments of `Row.seen`: the probability to stop at a relevant row, a weight, and the cutoff."""
        self.orders: Numbering[Order] = Numbering()
        """Gains that sort the best order of a list instead of the relevance."""
        self.alphas: Numbering[float] = Numbering()
        """Shares of its gain that a repeated subtopic loses."""
        self.groups: Numbering[Group] = Numbering()
        """Distances of groups from a target."""
        self.distinct: Numbering[int | None] = Numbering()
        """Cutoffs up to which the different items of a list are counted."""
        self.greedy: Numbering[tuple[float, Weight, int | None]] = Numbering()
        """Greedy ideal rankings: the share of its gain that a repeated subtopic loses, a weight, and the cutoff."""


class RelevantRow(SharedTerms):
    """The base of ranked rows and of rows in the best order of a list."""

    relevance = nw.col(RELEVANCE)
    hit = nw.col(HIT)
    value = RequestedColumn(VALUE)
    """The value of the row's item, 0 where it is missing."""

    def __init__(self, numbers: Numbers | None = None) -> None:
        super().__init__()
        self._numbers = numbers or Numbers()


class Row(RelevantRow):
    """One ranked row, in a tied block of `size` positions from `start` on.

    Attributes
    ----------
    relevance : Expr
        The relevance, 0 where it is missing.
    hit : Expr
        1.0 for a relevant row, else 0.0.
    start, size : Expr
        The first position of the row's tied block (from 1), and its number of rows.
    block_hits, hits_before : Expr
        The relevant rows in the block, and those before it.
    relevant_in_list : Expr
        R, the relevant items of the row's list, ranked or not.
    """

    may_tie = True
    """Whether other rows may be in its tied block."""

    start = nw.col(START).cast(nw.Float64())
    size = nw.col(SIZE).cast(nw.Float64())
    order = RequestedColumn(ORDER)
    """The start of the row's tied block if the gaps between given ranks were closed."""
    block_hits = RequestedColumn(BLOCK_HITS)
    hits_before = RequestedColumn(HITS_BEFORE)
    relevant_in_list = RequestedColumn(RELEVANT)
    ranked_relevant_in_list = RequestedColumn(RANKED_RELEVANT)
    """The number of relevant items in the row's list that are ranked."""

    @property
    def judged(self) -> nw.Expr:
        """1.0 where the row is judged: its relevance is known, and 0 or more, or makes it relevant; else 0.0."""
        self.requested.add(POOLED)
        return is_judged().cast(nw.Float64())

    nonrelevant_before = RequestedColumn(NONRELEVANT_BEFORE, POOLED)
    """The judged rows before the row's tied block that are not relevant."""
    block_nonrelevant = RequestedColumn(BLOCK_NONRELEVANT, NONRELEVANT_BEFORE)
    """The judged irrelevant rows in the tied block itself."""
    inferred_precision = RequestedColumn(INFERRED, POOLED, HITS_BEFORE, BLOCK_HITS, NONRELEVANT_BEFORE, POOLED_BEFORE)
    """The precision estimated at a hit, from the judged rows and the pool rows ahead of it."""

    def interpolated_precision(self, recall: float) -> nw.Expr:
        """Return the list's greatest precision from a level of recall on, the same for all of its hits."""
        self.requested |= {RELEVANT, HITS_BEFORE, BLOCK_HITS}
        return self._column(interpolated_column(self._numbers.levels.of(recall)))

    def first_pairs(self, n: int) -> nw.Expr:
        """Return how many of the list's first n irrelevant rows come after this hit; 0 if n hits come before it."""
        self.requested |= {ORDER, HITS_BEFORE, BLOCK_HITS}
        return self._column(first_pairs_column(self._numbers.pairs.of(n)))

    length = RequestedColumn(LENGTH)
    """The number of ranked rows of the list."""
    grade_rank = RequestedColumn(GRADE_RANK)
    """The average rank of the row's relevance among the ranked rows of its list."""
    same_grade = RequestedColumn(SAME_GRADE)
    """How many ranked rows of the list have the row's relevance."""
    concordance = RequestedColumn(CONCORDANCE)
    """The number of rows of lower relevance after the row, minus the number of rows of lower relevance before it.

    Only the sum over a list has this meaning: a single row may hold another number.
    """
    popular = RequestedColumn(POPULAR)
    """The item's rank by its users in the training data, from 1; infinite without any."""
    popular_level = RequestedColumn(POPULAR_LEVEL)
    """The item's dense popularity rank: items with equally many users share a rank; missing if no user had the item."""
    catalog_size = RequestedColumn(CATALOG_SIZE)
    """The items of the catalogue."""
    familiar = RequestedColumn(FAMILIAR)
    """The mean cosine between the item's features and the features of the user's items; 0 if there are none."""

    def cascade(self, stop: Stop, of: Weight, k: int | None) -> nw.Expr:  # noqa: ARG002
        """Return what the row adds to the expected weight of the position at which a user stops, 0 past k.

        The user reads from the top and stops at a row with the probability that `stop` gives for its relevance; `stop`
        also gets the largest relevance of the frame. For tied rows this is the expected value over all their orders.
        """
        # Ranked rows add 0. The positions where users stop add the value: see CascadeRow.
        self.requested |= {STOPS, stop_column(self._numbers.stops.of(stop))}
        return nw.lit(0.0)

    def novel_gain(self, alpha: float, of: Weight, k: int | None) -> nw.Expr:  # noqa: ARG002
        """Return the row's gain of subtopics, times the weight of its position, 0 past k.

        A subtopic adds (1 - alpha) to the power of the rows ahead that are relevant to it.
        """
        # Ranked rows add 0. The possible positions of a subtopic's hits add the value: see SubtopicRow.
        self._numbers.alphas.of(alpha)
        self.requested.add(SUBTOPIC)
        return nw.lit(0.0)

    def within(self, k: int | nw.Expr | None) -> nw.Expr:
        """Return the probability that the row is among the first k."""
        if k is None:
            return nw.lit(1.0)
        straddles = (k - self.start + 1) / self.size
        outside = nw.when(self.start <= k).then(straddles).otherwise(0.0)
        return nw.when(self.start + self.size - 1 <= k).then(1.0).otherwise(outside)

    def weight(self, of: Weight, k: int | None) -> nw.Expr:
        """Return the expected weight of the row's position, counting 0 past k.

        Parameters
        ----------
        of : callable
            From the position, a float from 1, to its weight; both are expressions.
        k : int, optional
            The last position that counts; None: all do.
        """
        alone = cut(of(self.start), self.start, k)
        # The mean over the block is a difference of two prefix sums, looked up in a table of positions.
        number = self._numbers.weights.of((of, k))
        # There is no sum before the first position.
        block = (self._column(upto_column(number)) - self._column(before_column(number)).fill_null(0.0)) / self.size
        return nw.when(self.size > 1).then(block).otherwise(alone)

    def seen(self, stop: float, of: Weight, k: int | None) -> nw.Expr:
        """Return the expected weight of the row's position if users get there, counting 0 past k.

        They stop at each relevant row ahead of it with the probability `stop`.
        """
        return self._column(seen_column(self._numbers.seen.of((stop, of, k))))

    def first_hit(self, of: Weight, k: int | None) -> nw.Expr:
        """Return what the row adds to the expected weight of the list's first relevant position, 0 past k."""
        # What a block with several hits adds is spread over all its rows: see FirstHitRow.
        self.requested.add(FIRST_HIT)
        only = (self.hits_before == 0) & (self.block_hits == 1)
        return nw.when(only).then(self.hit * self.weight(of, k)).otherwise(0.0)

    def log_all_within(self, k: int | None) -> nw.Expr:
        """Return what the row adds to the logarithm of the probability that all hits are among the first k.

        The value is right only if all hits of each tied block fit into the first k positions. A block whose hits do not
        fit adds nothing.
        """
        # Ranked rows add 0. The hits of tied blocks that straddle k add the value: see AllHitsRow.
        if k is not None:
            self.requested |= {ALL_HITS, BLOCK_HITS, HITS_BEFORE}
        return nw.lit(0.0)


class UntiedRow(Row):
    """One ranked row without ties: its tied block is the row itself."""

    may_tie = False

    def within(self, k: int | nw.Expr | None) -> nw.Expr:
        return cut(nw.lit(1.0), self.start, k)

    def weight(self, of: Weight, k: int | None) -> nw.Expr:
        return cut(of(self.start), self.start, k)


def is_judged() -> nw.Expr:
    """Return whether a row is judged; a row with a relevance below 0 is not, as in TREC's files."""
    return (nw.col(POOLED) > 0) & ((nw.col(RELEVANCE) >= 0) | (nw.col(HIT) > 0))


def is_nonrelevant() -> nw.Expr:
    """Return whether a row is judged, and not relevant."""
    return is_judged() & (nw.col(HIT) == 0)


def cut(weight: nw.Expr, position: nw.Expr, k: int | nw.Expr | None) -> nw.Expr:
    """Return the weight of a position, 0 past k."""
    return weight if k is None else nw.when(position <= k).then(weight).otherwise(0.0)
