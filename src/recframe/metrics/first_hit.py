"""Metrics of the first relevant item."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from recframe.metrics._record import CutMetric, Reads
from recframe.metrics._weights import one, reciprocal

if TYPE_CHECKING:
    from collections.abc import Mapping

    import narwhals as nw

    from recframe.metrics._row import Row
    from recframe.metrics._sums import Sums


@dataclass(frozen=True)
class HitRate(CutMetric):
    r"""Whether the top k holds a relevant item.

    Its mean is the share of lists with a hit.

    .. math:: \mathrm{Hit@}k = 1 \text{ if } h(k) > 0, \text{ else } 0

    Under ties: the probability of a hit. With m relevant items in a tied block of t that starts behind
    position a and straddles k, and none before it, that is :math:`1 - \binom{t-m}{k-a} / \binom{t}{k-a}`.

    Parameters
    ----------
    k : int, optional
        The cutoff. None: the whole list.

    Notes
    -----
    In [0, 1], higher is better. Also known as success@k.

    References
    ----------
    Karypis, *Evaluation of item-based top-N recommendation algorithms*, CIKM 2001; trec_eval's ``success``.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> df = pl.DataFrame({"user": [1] * 4, "relevant": [0, 1, 1, 0], "score": [0.5, 0.5, 0.5, 0.1]})
    >>> df.rec.hit_rate(1)
    0.6666666666666666
    """

    name: ClassVar[str] = "hit_rate"
    aliases: ClassVar[tuple[str, ...]] = ("hr", "hit", "hit_ratio", "success")
    formula: ClassVar[str] = "1 if h(k) > 0, else 0"
    reference: ClassVar[str] = "Karypis, CIKM 2001; trec_eval `success`"
    reads: ClassVar[Reads] = "hits"

    def of_rank(self, rank: float) -> float | None:
        return self.if_within(rank, 1.0)

    def terms(self, row: Row) -> Mapping[str, nw.Expr]:
        return {"first": row.first_hit(one, self.k)}

    def value(self, sums: Sums) -> nw.Expr:
        return sums["first"]


@dataclass(frozen=True)
class MRR(CutMetric):
    r"""One over the position of the first relevant item.

    Its mean is the mean reciprocal rank.

    .. math:: \mathrm{RR@}k = 1 / r_1 \text{ if } r_1 \le k, \text{ else } 0

    Under ties: the expected value. In a tied block of t rows with m relevant ones that starts behind
    position a, the first relevant row is at a + j with probability :math:`\binom{t-j}{m-1}/\binom{t}{m}`.

    Parameters
    ----------
    k : int, optional
        The cutoff. None: the whole list.

    Notes
    -----
    In [0, 1], higher is better.

    References
    ----------
    Voorhees, *The TREC-8 question answering track report*, 1999; ties: McSherry, Najork, *Computing information
    retrieval performance measures efficiently in the presence of tied scores*, ECIR 2008; trec_eval's ``recip_rank``.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> df = pl.DataFrame({"user": [1, 1, 1], "relevant": [0, 1, 1], "score": [0.9, 0.5, 0.1]})
    >>> df.rec.mrr()
    0.5
    """

    name: ClassVar[str] = "mrr"
    aliases: ClassVar[tuple[str, ...]] = ("rr", "recip_rank", "reciprocal_rank", "mean_reciprocal_rank")
    formula: ClassVar[str] = "1 / r₁ if r₁ ≤ k, else 0"
    reference: ClassVar[str] = "Voorhees, TREC-8 1999; trec_eval `recip_rank`"
    reads: ClassVar[Reads] = "hits"

    def of_rank(self, rank: float) -> float | None:
        return self.if_within(rank, 1 / rank)

    def terms(self, row: Row) -> Mapping[str, nw.Expr]:
        return {"reciprocal": row.first_hit(reciprocal, self.k)}

    def value(self, sums: Sums) -> nw.Expr:
        return sums["reciprocal"]
