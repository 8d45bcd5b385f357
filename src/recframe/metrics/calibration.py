"""How close the recommended items are to the mix of a user's past."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import narwhals as nw

from recframe.metrics._beyond_accuracy import BeyondAccuracyMetric
from recframe.metrics._options import bounds
from recframe.metrics._sums import sum_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recframe.metrics._item_row import HistoryRow, RecommendedRow
    from recframe.metrics._sums import Sums


@dataclass(frozen=True)
class Calibration(BeyondAccuracyMetric):
    r"""Miscalibration: how far the categories of the top k diverge from the user's history.

    .. math:: \mathrm{KL}(p \,\|\, \tilde q) = \sum_g p(g) \ln \frac{p(g)}{(1 - \alpha)\, q(g) + \alpha\, p(g)}

    where p are the mean category shares of the user's items in ``train``, and q the shares of the items in the top k.

    Parameters
    ----------
    k : int, optional
        The cutoff. None: the whole list.
    alpha : float, default 0.01
        How much of p is mixed into q, so that a category that the list lacks is no infinite divergence.

    Notes
    -----
    0 to −ln alpha, lower is better calibrated. ``features=`` has one column per category, none negative, scaled to a
    sum of 1 for each item. Items without categories are left out, and a list without other items is undefined. So is
    a list whose user has no item with a category in ``train``.

    References
    ----------
    Steck, *Calibrated Recommendations*, RecSys 2018, equations 2 to 6, with equal weights.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> features = pl.DataFrame({"item": ["a", "b", "c"], "drama": [1, 1, 0], "comedy": [0, 0, 1]})
    >>> train = pl.DataFrame({"user": [1, 1], "item": ["b", "c"]})
    >>> df = pl.DataFrame({"user": [1, 1, 1], "item": ["a", "b", "c"], "score": [0.9, 0.8, 0.7]})
    >>> round(df.rec.calibration(2, train=train, features=features), 4)
    1.9585
    """

    name: ClassVar[str] = "calibration"
    aliases: ClassVar[tuple[str, ...]] = ("miscalibration",)
    formula: ClassVar[str] = "Σ over categories of p·ln(p / ((1 − α)·q + α·p)); p: history, q: top k"
    reference: ClassVar[str] = "Steck, RecSys 2018"
    range: ClassVar[tuple[float, float]] = (0.0, math.inf)
    higher_is_better: ClassVar[bool] = False
    required_inputs: ClassVar[tuple[str, ...]] = ("train", "features")

    alpha: float = field(default=0.01, metadata=bounds(above=0, below=1))

    def recommended_terms(self, row: RecommendedRow) -> Mapping[str, nw.Expr]:
        within = row.within(self.k)
        mix = {f"recommended {index}": within * share for index, share in enumerate(row.categories)}
        return {"items": within * row.categorised, **mix}

    def history_terms(self, row: HistoryRow) -> Mapping[str, nw.Expr]:
        mix = {f"past {index}": share for index, share in enumerate(row.categories)}
        return {"history": row.categorised, **mix}

    def value(self, sums: Sums) -> nw.Expr:
        parts = []
        for name in sums.names:
            if name.startswith("past"):
                p = sums[name] / sums["history"]
                q = sums[name.replace("past", "recommended")] / sums["items"]
                mixed = (1 - self.alpha) * q + self.alpha * p
                parts.append(p * nw.when(p > 0).then(p / mixed).otherwise(1.0).log())
        return sum_of(parts)

    def defined(self, sums: Sums) -> nw.Expr:
        return (sums["items"] > 0) & (sums["history"] > 0)
