"""What a metric may read of a place in a tied block, in frames with a row for each place."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import narwhals as nw

from recframe._columns import CHANCE, HITS_BEFORE, POSITION, SUBTOPIC, examined_column, stop_column
from recframe.metrics._row import FIRST_HIT, STOPS, Row, cut

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recframe.metrics._row import Stop, Weight


class PlaceRow(Row):
    """A place in a tied block, in a frame of its own: it adds nothing but the one thing that the frame is for."""

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


class SubtopicRow(PlaceRow):
    """One place that a hit of a subtopic may have, for `Row.novel_gain`."""

    def novel_gain(self, alpha: float, of: Weight, k: int | None) -> nw.Expr:
        position = nw.col(POSITION)
        gain = (nw.col(HITS_BEFORE) * math.log(1 - alpha)).exp()
        return nw.col(CHANCE) * gain * cut(of(position), position, k)


class CascadeRow(PlaceRow):
    """One place at which a user may stop who reads from the top, for `Row.cascade`."""

    def cascade(self, stop: Stop, of: Weight, k: int | None) -> nw.Expr:
        number = self._numbers.stops.of(stop)
        position = nw.col(POSITION)
        return self._column(stop_column(number)) * nw.col(examined_column(number)) * cut(of(position), position, k)


PLACES: Mapping[str, type[PlaceRow]] = {FIRST_HIT: FirstHitRow, STOPS: CascadeRow, SUBTOPIC: SubtopicRow}
"""The kinds of places, by what a row requests that leaves something to them."""
