"""Metrics of the value of the relevant items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from recframe.metrics._record import CutMetric, Reads
from recframe.metrics._sums import nan_if_infinite

if TYPE_CHECKING:
    from collections.abc import Mapping

    import narwhals as nw

    from recframe.metrics._ideal_row import IdealRow
    from recframe.metrics._row import Row
    from recframe.metrics._sums import Sums


def _hit_value(row: Row, k: int | None) -> nw.Expr:
    """Return the term that sums to the (expected) value of the hits among the top k."""
    return row.hit * row.value * row.within(k)


@dataclass(frozen=True)
class MoneyPrecision(CutMetric):
    r"""Share of the value of the top k that is relevant.

    .. math:: \sum_{r \le k,\ r\ \text{a hit}} value_r \Big/ \sum_{r \le k} value_r

    Parameters
    ----------
    k : int, optional
        The cutoff. None: the whole list.

    Notes
    -----
    0 to 1 if no value is negative, higher is better. Values come from the column ``value="price"``, missing 0. A top
    k whose values sum to 0 or less scores 0.

    References
    ----------
    The revenue-weighted precision of retail recommenders, as taught under the name ``money precision@k``.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> df = pl.DataFrame({"user": [1, 1, 1], "relevant": [1, 0, 1], "score": [3, 2, 1], "price": [10, 30, 5]})
    >>> df.rec.money_precision(2)
    0.25
    """

    name: ClassVar[str] = "money_precision"
    best_by_relevance: ClassVar[bool] = False
    formula: ClassVar[str] = "value of the hits in the top k / value of the top k"
    reference: ClassVar[str] = "retail practice"

    @property
    def inexact(self) -> str:  # type: ignore[override]  # depends on an option
        far = (
            "up to 0.52 off in lists of up to 7 rows, if values differ by a factor of up to 10; exact if they are equal"
        )
        return f"not exact: the ratio of the expected sums where a tied block straddles k, {far}" if self.k else ""

    def terms(self, row: Row) -> Mapping[str, nw.Expr]:
        return {"hit value": row.shared(_hit_value, self.k), "value": row.value * row.within(self.k)}

    def share(self, row: Sums, sums: Sums) -> nw.Expr:
        total = sums["value"]
        return sums.ratio(row["hit value"], total) + nan_if_infinite(total)


@dataclass(frozen=True)
class MoneyRecall(CutMetric):
    r"""Share of the value of all relevant items that is in the top k.

    .. math:: \sum_{r \le k,\ r\ \text{a hit}} value_r \Big/ \sum_{\text{relevant } i} value_i

    Parameters
    ----------
    k : int, optional
        The cutoff. None: the whole list.

    Notes
    -----
    0 to 1 if no value is negative, higher is better. Values come from the column ``value="price"``, missing 0. With
    ``truth=``, relevant items have the truth's value.

    References
    ----------
    The revenue-weighted recall of retail recommenders, as taught under the name ``money recall@k``.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> df = pl.DataFrame({"user": [1, 1, 1], "relevant": [1, 0, 1], "score": [3, 2, 1], "price": [10, 30, 30]})
    >>> df.rec.money_recall(2)
    0.25
    """

    name: ClassVar[str] = "money_recall"
    best_by_relevance: ClassVar[bool] = False
    formula: ClassVar[str] = "value of the hits in the top k / value of all relevant rows"
    undefined_if: ClassVar[str] = "whose relevant items have no value"
    reference: ClassVar[str] = "retail practice"
    reads: ClassVar[Reads] = "hits"
    allows_propensity: ClassVar[bool] = True

    def terms(self, row: Row) -> Mapping[str, nw.Expr]:
        return {"hit value": row.shared(_hit_value, self.k)}

    def best_terms(self, row: IdealRow) -> Mapping[str, nw.Expr]:
        return {"relevant value": row.hit * row.value}

    def value(self, sums: Sums) -> nw.Expr:
        total = sums["relevant value"]
        return sums["hit value"] / total + nan_if_infinite(total)

    def divisor(self, sums: Sums) -> nw.Expr:
        return sums["relevant value"]

    def defined(self, sums: Sums) -> nw.Expr:
        total = sums["relevant value"]
        return total + nan_if_infinite(total) > 0
