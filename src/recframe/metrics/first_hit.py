"""Metrics of the first relevant item, of the last one, and of all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import narwhals as nw

from recframe.metrics._record import CutMetric, Metric, Reads
from recframe.metrics._weights import constant_weight, reciprocal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recframe.metrics._row import Row
    from recframe.metrics._sums import Sums


@dataclass(frozen=True)
class HitRate(CutMetric):
    r"""Whether the top k holds a relevant item.

    Its mean is the share of lists with a hit.

    .. math:: \mathrm{Hit@}k = 1 \text{ if } h(k) > 0, \text{ else } 0

    with h(k) hits in the top k.

    Parameters
    ----------
    k : int, optional
        The cutoff. None: the whole list.

    Notes
    -----
    0 to 1, higher is better.

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
        return {"first": row.first_hit(constant_weight, self.k)}

    def value(self, sums: Sums) -> nw.Expr:
        return sums["first"]


@dataclass(frozen=True)
class MRR(CutMetric):
    r"""One over the position of the first relevant item.

    Its mean is the mean reciprocal rank.

    .. math:: \mathrm{RR@}k = 1 / r_1 \text{ if } r_1 \le k, \text{ else } 0

    where r₁ is the position of the first relevant item.

    Parameters
    ----------
    k : int, optional
        The cutoff. None: the whole list.

    Notes
    -----
    0 to 1, higher is better.

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


def _hits_that_fit(row: Row, k: int | None) -> nw.Expr:
    """Return the term that sums to the hits of all blocks whose hits may all be among the first k."""
    if k is None:
        return row.hit
    last = row.start + row.block_hits - 1 if row.may_tie else row.start
    return nw.when(last <= k).then(row.hit).otherwise(0.0)


@dataclass(frozen=True)
class FullRecall(CutMetric):
    r"""Whether the top k holds all relevant items.

    Its mean is the share of lists with all of their evidence in the top k.

    .. math:: \mathrm{full\ recall@}k = 1 \text{ if } h(k) = R, \text{ else } 0

    with h(k) hits in the top k, and R relevant items in the list, ranked or not.

    Parameters
    ----------
    k : int, optional
        The cutoff. None: the whole list.

    Notes
    -----
    0 to 1, higher is better. A list scores 0 if it has more than k relevant items, or if one of them was not ranked.

    References
    ----------
    Multi-hop retrieval, which needs all passages of a question: Xiong et al., *Answering complex open-domain questions
    with multi-hop dense retrieval*, ICLR 2021. LongMemEval's ``recall_all``.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> df = pl.DataFrame({"user": [1, 1, 1, 1], "relevant": [1, 1, 0, 0], "score": [0.5, 0.5, 0.5, 0.1]})
    >>> round(df.rec.full_recall(2), 6)
    0.333333
    """

    name: ClassVar[str] = "full_recall"
    aliases: ClassVar[tuple[str, ...]] = ("recall_all", "all_recall")
    formula: ClassVar[str] = "1 if h(k) = R, else 0"
    reference: ClassVar[str] = "Xiong et al., ICLR 2021; LongMemEval `recall_all`"
    reads: ClassVar[Reads] = "hits"
    is_additive: ClassVar[bool] = False

    def of_rank(self, rank: float) -> float | None:
        return self.if_within(rank, 1.0)

    def terms(self, row: Row) -> Mapping[str, nw.Expr]:
        return {"fit": row.shared(_hits_that_fit, self.k), "log": row.log_all_within(self.k)}

    def value(self, sums: Sums) -> nw.Expr:
        return nw.when(sums["fit"] == sums.relevant).then(sums["log"].exp()).otherwise(0.0)


class RankMetric(Metric):
    """A metric whose value is the rank of a single relevant item: lower is better, and undefined if it is unranked."""

    range: ClassVar[tuple[float, float]] = (1.0, float("inf"))
    higher_is_better: ClassVar[bool] = False
    reads: ClassVar[Reads] = "hits"
    is_additive: ClassVar[bool] = False
    unranked: ClassVar[str] = "has no value"

    def value(self, sums: Sums) -> nw.Expr:
        return nw.when(sums["rank"] > 0).then(sums["rank"])


def _first_rank(row: Row) -> nw.Expr:
    """Return the term that sums to the expected rank of the first hit.

    In a tied block, m hits split the other rows into m + 1 gaps, which all have the same expected size.
    """
    rank = row.start - 1 + (row.size + 1) / (row.block_hits + 1)
    # If another metric of the call reads grades, there are also rows of blocks without a hit.
    is_first = (row.hits_before == 0) & (row.block_hits > 0)
    return row.hit * nw.when(is_first).then(rank / row.block_hits).otherwise(0.0)


def _last_rank(row: Row) -> nw.Expr:
    """Return the term that sums to the expected rank of the last hit, if all relevant items are ranked."""
    rank = row.start - 1 + row.block_hits * (row.size + 1) / (row.block_hits + 1)
    is_last = (row.hits_before + row.block_hits == row.relevant_in_list) & (row.block_hits > 0)
    return row.hit * nw.when(is_last).then(rank / row.block_hits).otherwise(0.0)


@dataclass(frozen=True)
class FirstRank(RankMetric):
    r"""Rank of the first relevant item.

    If each list has one relevant item, the mean over lists is the mean rank (MR) of knowledge graphs, and
    ``mean="median"`` gives the median rank.

    .. math:: r_1

    Notes
    -----
    From 1, lower is better. A list without a ranked relevant item has no value. So compare models that rank all
    candidates, or set ``undefined=`` to the rank that such lists and lists without a relevant item get. The mean rank
    says little without the number of candidates: ``evaluate(..., chance=True)`` adds the skill, which is the adjusted
    mean rank index, 1 at best and 0 in a random order.

    References
    ----------
    Bordes et al., *Translating embeddings for modeling multi-relational data*, NeurIPS 2013; chance: Berrendorf et al.,
    *On the ambiguity of rank-based evaluation of entity alignment or link prediction methods*, 2020.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> df = pl.DataFrame({"user": [1, 1, 1, 1], "relevant": [0, 1, 0, 1], "score": [0.9, 0.5, 0.5, 0.1]})
    >>> df.rec.first_rank()
    2.5
    """

    name: ClassVar[str] = "first_rank"
    aliases: ClassVar[tuple[str, ...]] = ("mean_rank", "mr", "average_rank", "rank_of_first")
    formula: ClassVar[str] = "r₁"
    reference: ClassVar[str] = "Bordes et al., NeurIPS 2013; Berrendorf et al., 2020"
    undefined_if: ClassVar[str] = "without a ranked relevant item"
    undefined_without: ClassVar[str] = "ranked relevant item"

    def terms(self, row: Row) -> Mapping[str, nw.Expr]:
        return {"rank": row.shared(_first_rank)}


@dataclass(frozen=True)
class LastRank(RankMetric):
    r"""Rank of the last relevant item: how far a user must read to see all of them.

    .. math:: r_R

    Notes
    -----
    From 1, lower is better. A list has no value if one of its relevant items was not ranked. So compare models that
    rank all candidates, or set ``undefined=`` to the rank that such lists and lists without a relevant item get.

    References
    ----------
    Cooper, *Expected search length: a single measure of retrieval effectiveness based on the weak ordering action of
    retrieval systems*, American Documentation 19(1), 1968, of a need for all relevant documents.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> df = pl.DataFrame({"user": [1, 1, 1, 1], "relevant": [1, 1, 1, 0], "score": [0.9, 0.5, 0.5, 0.5]})
    >>> round(df.rec.last_rank(), 6)
    3.666667
    """

    name: ClassVar[str] = "last_rank"
    aliases: ClassVar[tuple[str, ...]] = ("rank_of_last", "worst_rank")
    formula: ClassVar[str] = "r_R, the position of the last relevant item"
    reference: ClassVar[str] = "Cooper, American Documentation 1968"
    undefined_if: ClassVar[str] = "if a relevant item was not ranked"
    undefined_without: ClassVar[str] = "relevant item, all of them ranked"

    def terms(self, row: Row) -> Mapping[str, nw.Expr]:
        return {"rank": row.shared(_last_rank)}
