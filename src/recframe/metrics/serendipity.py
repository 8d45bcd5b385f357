"""Which recommended items are both relevant and unexpected."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import narwhals as nw

from recframe.errors import OptionError
from recframe.metrics._options import bounds
from recframe.metrics._record import CutMetric, Reads
from recframe.metrics.accuracy import Denominator

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recframe.metrics._row import Row
    from recframe.metrics._sums import Sums


@dataclass(frozen=True)
class Serendipity(CutMetric):
    r"""Share of the top k that is relevant and that popularity alone would not have suggested.

    .. math:: \mathrm{serendipity@}k = \frac{|\{r \le k : i_r \text{ relevant},\ i_r \notin PM\}|}{k}

    where PM, what a primitive model suggests, are the most popular items of ``train`` (ties by item).

    Parameters
    ----------
    k : int, optional
        The cutoff. None: the whole list, divided by N; then `expected` must be given.
    expected : int, optional
        How many of the most popular items are expected; None: k.
    denominator : {"k", "list"}
        Divide by k, also where the list is shorter, or by min(k, N).

    Notes
    -----
    In [0, 1], higher is better. Needs ``train=``. As it reads the relevance, it is undefined where the accuracy metrics
    are, and its value under ties is the exact expected one.

    References
    ----------
    Ge, Delgado-Battenfeld, Jannach, *Beyond Accuracy: Evaluating Recommender Systems by Coverage and Serendipity*,
    RecSys 2010, after Murakami, Mori, Orihara, 2008: useful and unexpected, by comparison with a primitive model.
    Kaminskas and Bridge, ACM TiiS 7 (2016), survey the alternatives.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> train = pl.DataFrame({"user": [1, 2, 3, 1, 2, 3], "item": ["a", "a", "a", "b", "b", "c"]})
    >>> df = pl.DataFrame({"user": [9, 9], "item": ["a", "c"], "relevant": [1, 1], "score": [0.9, 0.8]})
    >>> df.rec.serendipity(2, train=train)
    0.5
    """

    name: ClassVar[str] = "serendipity"
    summary: ClassVar[str] = "share of the top k that is relevant and not among the most popular items"
    best_by_relevance: ClassVar[bool] = False
    formula: ClassVar[str] = "hits at r ≤ k outside the k most popular items / k"
    reference: ClassVar[str] = "Ge, Delgado-Battenfeld, Jannach, RecSys 2010"
    reads: ClassVar[Reads] = "hits"
    allows_propensity: ClassVar[bool] = True
    required_inputs: ClassVar[tuple[str, ...]] = ("train",)

    expected: int | None = field(default=None, metadata=bounds(least=1))
    denominator: Denominator = "k"

    def terms(self, row: Row) -> Mapping[str, nw.Expr]:
        expected = self.k if self.expected is None else self.expected
        if expected is None:
            msg = "serendipity of the whole list does not say how many of the most popular items are expected"
            raise OptionError(msg, "give k=10, or expected=10")
        return {"found": row.hit * (row.popular > expected).cast(nw.Float64()) * row.within(self.k)}

    def value(self, sums: Sums) -> nw.Expr:
        if self.k is None or self.denominator == "list":
            return sums.ratio(sums["found"], sums.ranked(self.k))
        return sums["found"] / float(self.k)
