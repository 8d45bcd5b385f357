"""Which recommended items are both relevant and unexpected."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal

import narwhals as nw

from recframe.errors import OptionError
from recframe.metrics._options import bounds
from recframe.metrics._record import CutMetric, Reads
from recframe.metrics._sums import at_most
from recframe.metrics.accuracy import Denominator, hits, per_position

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe.metrics._row import Row
    from recframe.metrics._sums import Sums

Unexpected = Literal["popular", "ranks", "history"]
"""What an item is unexpected by: the most popular items, its rank by popularity, or the items that the user had."""


def _positions_ahead(row: Row, k: int | None) -> nw.Expr:
    """Return how many positions a hit is expected to be ahead of its rank by popularity, 0 if it is behind it."""
    # An item that nobody had comes after the catalogue in the rank by popularity.
    popularity_rank = nw.coalesce(row.popular_level, row.catalog_size + 1)
    end = row.start + row.size - 1
    last = nw.min_horizontal(at_most(end, k), popularity_rank - 1)
    positions = last - row.start + 1
    ahead = positions * (popularity_rank - (row.start + last) / 2) / row.size
    return row.hit * nw.when(positions > 0).then(ahead).otherwise(0.0)


@dataclass(frozen=True)
class Serendipity(CutMetric):
    r"""Share of the top k that is relevant and not among the most popular items.

    .. math:: \mathrm{serendipity@}k = \frac1k \sum_{r \le k} [i_r \text{ relevant}] \cdot u(i_r)

    where u says how unexpected an item is: 1 if it is not among the most popular items of ``train`` (ties by item).

    Parameters
    ----------
    k : int, optional
        The cutoff. None: the whole list, which needs `expected`.
    expected : int, optional
        How many of the most popular items are expected. None: k.
    denominator : {"k", "list"}
        Divide by k, even if the list is shorter, or by min(k, N).
    unexpected : {"popular", "ranks", "history"}
        What u reads: the most popular items; the popularity rank (RecTools); or the mean cosine with the features of
        the user's past items (Recommenders).

    Notes
    -----
    0 to 1, up to 2 if features are negative; higher is better. Undefined lists and ties are as for accuracy metrics.

    With ``unexpected="ranks"``, an item at position r adds max(p − r, 0) / n, where p is its popularity rank and n the
    number of items in ``catalog=``. Equally popular items share a rank, and an item that nobody had has rank n + 1.

    With ``unexpected="history"``, u is 1 − the mean cosine, and ``features=`` is needed. Items without features and
    users without a history have the cosine 0. If the features say which users had the item, the cosine measures
    co-occurrence, as Recommenders does by default.

    References
    ----------
    Ge, Delgado-Battenfeld, Jannach, *Beyond Accuracy*, RecSys 2010, after Murakami, Mori, Orihara, 2008; a survey:
    Kaminskas, Bridge, ACM TiiS 7, 2016. History: Zhang et al., *Auralist*, WSDM 2012.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> train = pl.DataFrame({"user": [1, 2, 3, 1, 2, 3], "item": ["a", "a", "a", "b", "b", "c"]})
    >>> df = pl.DataFrame({"user": [9, 9], "item": ["a", "c"], "relevant": [1, 1], "score": [0.9, 0.8]})
    >>> df.rec.serendipity(2, train=train)
    0.5
    >>> df.rec.serendipity(2, unexpected="ranks", train=train, catalog=10)
    0.05
    """

    name: ClassVar[str] = "serendipity"
    best_by_relevance: ClassVar[bool] = False
    formula: ClassVar[str] = "Σ over hits at r ≤ k of u(item at r) / k"
    reference: ClassVar[str] = "Ge, Delgado-Battenfeld, Jannach, RecSys 2010"
    reads: ClassVar[Reads] = "hits"
    allows_propensity: ClassVar[bool] = True
    required_inputs: ClassVar[tuple[str, ...]] = ("train",)
    optional_inputs: ClassVar[tuple[str, ...]] = ("features", "catalog")

    expected: int | None = field(default=None, metadata=bounds(least=1))
    denominator: Denominator = "k"
    unexpected: Unexpected = "popular"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.expected is not None and self.unexpected != "popular":
            msg = f"expected={self.expected} counts popular items, which unexpected={self.unexpected!r} does not read"
            raise OptionError(msg, "leave one of them out")

    @property
    def needed_inputs(self) -> tuple[str, ...]:
        return ("train", "features") if self.unexpected == "history" else self.required_inputs

    def explained(self) -> Sequence[str]:
        divisor = "k" if self.denominator == "k" else "min(k, N)"
        if self.unexpected == "popular":
            count = "k" if self.expected is None else f"{self.expected}"
            return [f"hits at r ≤ k outside the {count} most popular items / {divisor}"]
        u = {
            "ranks": "max(rank by popularity − r, 0) / |C|, C: the items of the catalogue",
            "history": "1 − mean cosine with the items that the user had",
        }
        return [f"Σ over hits at r ≤ k of u / {divisor}", f"u: {u[self.unexpected]}"]

    def terms(self, row: Row) -> Mapping[str, nw.Expr]:
        if self.unexpected == "history":
            return {"unexpected_hits": row.shared(hits, self.k) * (1 - row.familiar)}
        if self.unexpected == "ranks":
            return {"unexpected_hits": row.shared(_positions_ahead, self.k)}
        expected = self.k if self.expected is None else self.expected
        if expected is None:
            msg = "serendipity of the whole list does not say how many of the most popular items are expected"
            raise OptionError(msg, "give k=10, or expected=10")
        return {"unexpected_hits": row.hit * (row.popular > expected).cast(nw.Float64()) * row.within(self.k)}

    def share(self, row: Sums, sums: Sums) -> nw.Expr:
        total = row["unexpected_hits"]
        if self.unexpected == "ranks":
            total = sums.ratio(total, sums.catalog_size)
        return per_position(total, sums, self.k, self.denominator)
