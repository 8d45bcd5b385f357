"""The expressions that a metric may request from a place in a tied block, in frames with a row per place."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import narwhals as nw

from recframe._base.columns import BLOCK_HITS, CHANCE, HITS_BEFORE, POSITION, SUBTOPIC, examined_column, stop_column
from recframe.metrics._row import ALL_HITS, FIRST_HIT, STOPS, Row, cut

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recframe.metrics._row import Stop, Weight


class PlaceRow(Row):
    """A place in a tied block. Each subclass adds only one quantity; everything else is 0."""

    relevance = hit = nw.lit(0.0)

    def within(self, k: int | nw.Expr | None) -> nw.Expr:  # noqa: ARG002
        return nw.lit(0.0)

    def weight(self, of: Weight, k: int | None) -> nw.Expr:  # noqa: ARG002
        return nw.lit(0.0)

    def first_hit(self, of: Weight, k: int | None) -> nw.Expr:  # noqa: ARG002
        return nw.lit(0.0)


class FirstHitRow(PlaceRow):
    """One place in a tied block that holds several of the list's first hits.

    The rows of such a block are its positions: each adds the probability that the first hit is there.
    """

    def first_hit(self, of: Weight, k: int | None) -> nw.Expr:
        position = nw.col(POSITION)
        return nw.col(CHANCE) * cut(of(position), position, k)


class AllHitsRow(PlaceRow):
    """One of the hits of a tied block, numbered from 1, for `Row.log_all_within`.

    A tied block has n rows and h hits, and m of its positions are up to k. All h hits are in these m positions with
    probability Π (m − j)/(n − j) over j = 0 … h − 1, because each hit takes one of the positions that the hits before
    it left free.
    """

    def log_all_within(self, k: int | None) -> nw.Expr:
        if k is None:
            return nw.lit(0.0)
        positions_within = k - self.start + 1
        earlier_hits = nw.col(POSITION).cast(nw.Float64()) - 1
        fits = (self.size > positions_within) & (nw.col(BLOCK_HITS) <= positions_within)
        share = (positions_within - earlier_hits) / (self.size - earlier_hits)
        return nw.when(fits).then(share).otherwise(1.0).log()


class SubtopicRow(PlaceRow):
    """One place that a hit of a subtopic may have, for `Row.novel_gain`."""

    def novel_gain(self, alpha: float, of: Weight, k: int | None) -> nw.Expr:
        position = nw.col(POSITION)
        before = nw.col(HITS_BEFORE)
        # If alpha is 1, a repeated subtopic adds nothing, and 1 - alpha has no logarithm.
        only_first = nw.when(before > 0).then(0.0).otherwise(1.0)
        gain = only_first if alpha == 1 else (before * math.log(1 - alpha)).exp()
        return nw.col(CHANCE) * gain * cut(of(position), position, k)


class CascadeRow(PlaceRow):
    """One place where a user who reads from the top may stop, for `Row.cascade`."""

    def cascade(self, stop: Stop, of: Weight, k: int | None) -> nw.Expr:
        number = self._numbers.stops.of(stop)
        position = nw.col(POSITION)
        return self._column(stop_column(number)) * nw.col(examined_column(number)) * cut(of(position), position, k)


PLACE_ROWS: Mapping[str, type[PlaceRow]] = {
    FIRST_HIT: FirstHitRow,
    ALL_HITS: AllHitsRow,
    STOPS: CascadeRow,
    SUBTOPIC: SubtopicRow,
}
"""The kinds of places, by the name that a row requests if its terms need such places."""
