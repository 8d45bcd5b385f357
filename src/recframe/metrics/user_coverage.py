"""Which lists have a recommended item."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import narwhals as nw

from recframe.metrics._beyond_accuracy import BeyondAccuracyMetric

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe.metrics._item_row import RecommendedRow
    from recframe.metrics._sums import Sums


@dataclass(frozen=True)
class UserCoverage(BeyondAccuracyMetric):
    r"""Whether a list has a recommended item; its mean is the share of users who are served.

    .. math:: \mathrm{user\ coverage} = 1 \text{ if } N > 0, \text{ else } 0

    with N ranked items in the list.

    Parameters
    ----------
    k : int, optional
        The cutoff. None: the whole list.
    filled : bool, default False
        Count a list only if it fills all k places (Elliot's ``UserCoverageAtN``, a count of users).

    Notes
    -----
    0 to 1, higher serves more users. Every list of the frame and of the truth has a value, so users in neither are
    not counted.

    References
    ----------
    Shani, Gunawardana, *Evaluating Recommendation Systems*, Recommender Systems Handbook, 2011, section 8.3.3, as user
    space coverage.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> df = pl.DataFrame({"user": [1, 1, 2, 3], "item": ["a", "b", "a", "a"], "score": [2.0, 1.0, 1.0, None]})
    >>> round(df.rec.user_coverage(), 6)
    0.666667
    >>> round(df.rec.user_coverage(2, filled=True), 6)
    0.333333
    """

    name: ClassVar[str] = "user_coverage"
    aliases: ClassVar[tuple[str, ...]] = ("user_space_coverage",)
    formula: ClassVar[str] = "1 if N > 0, else 0"
    reference: ClassVar[str] = "Shani, Gunawardana 2011"
    of_every_list: ClassVar[bool] = True
    inexact: ClassVar[str] = ""

    filled: bool = False

    def explained(self) -> Sequence[str]:
        return ["1 if N ≥ k, else 0" if self.filled and self.k is not None else self.formula]

    def recommended_terms(self, row: RecommendedRow) -> Mapping[str, nw.Expr]:
        return {"recommended": row.within(self.k)}

    def value(self, sums: Sums) -> nw.Expr:
        return nw.when(sums["recommended"] >= ((self.filled and self.k) or 1)).then(1.0).otherwise(0.0)
