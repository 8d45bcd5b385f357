"""The expressions that a metric may request from a row in the best order of its list."""

from __future__ import annotations

from typing import TYPE_CHECKING

import narwhals as nw

from recframe._base.columns import POOLED, POSITION, ideal_position_column
from recframe.metrics._row import ALL_ROWS, RelevantRow, cut, is_nonrelevant

if TYPE_CHECKING:
    from recframe.metrics._row import Order, Weight


class IdealRow(RelevantRow):
    """One row that is relevant or of positive relevance, at its position in the list's best order.

    Attributes
    ----------
    relevance, hit : Expr
        As of `Row`.
    """

    @property
    def nonrelevant(self) -> nw.Expr:
        """1.0 for a judged row that is not relevant, otherwise 0.0. Reading it adds such rows to the best order."""
        self.requested.add(POOLED)
        return is_nonrelevant().cast(nw.Float64())

    def weight(self, of: Weight, k: int | None, *, signed: bool = False, order: Order | None = None) -> nw.Expr:
        """Return the weight of the row's position in the best order, 0 past k and where the gain is not positive.

        The gain sorts the best order: the relevance, or what the function `order` returns for the row. With `signed`,
        rows whose gain is not positive have a weight too.
        """
        position = POSITION if order is None else ideal_position_column(self._numbers.orders.of(order))
        if signed:
            self.requested.add(ALL_ROWS)
            return self._weight(of, k, position)
        gain = self.relevance if order is None else order(self)
        return nw.when(gain > 0).then(self._weight(of, k, position)).otherwise(0.0)

    def hit_weight(self, of: Weight, k: int | None) -> nw.Expr:
        """Return the weight of the row's position, 0 past k and where the row is not relevant."""
        return nw.when(self.hit > 0).then(self._weight(of, k)).otherwise(0.0)

    def _weight(self, of: Weight, k: int | None, position: str = POSITION) -> nw.Expr:
        at = self._column(position)
        return cut(of(at), at, k)
