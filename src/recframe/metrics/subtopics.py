"""Metrics of several intents: an item that repeats a subtopic adds less than one that covers a new one."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

from recframe.metrics._options import bounds
from recframe.metrics._record import CutMetric, Reads
from recframe.metrics._sums import quotient
from recframe.metrics._weights import constant_weight, log2, reciprocal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import narwhals as nw

    from recframe.metrics._row import Row, Weight
    from recframe.metrics._sums import Sums

_SUBTOPICS = "S: the subtopics of the list"
_NOVEL = "novel(r) = Σ over the subtopics of r of (1 − α)^(rows ahead of r that are relevant to the subtopic)"


def _novel_gain(row: Row, alpha: float, weight: Weight, k: int | None) -> nw.Expr:
    """Return the term that sums to the gains of a list, each times the weight of its position."""
    return row.novel_gain(alpha, weight, k)


@lru_cache(64)
def _fading(alpha: float) -> Callable[[nw.Expr], nw.Expr]:
    """Return the function from a position r to (1 - alpha)^(r-1) / r: the gain if every row covers the same subtopic.

    It is the same function for equal alphas, so that metrics can share its sums.
    """
    return lambda position: ((position - 1.0) * math.log(1 - alpha)).exp() / position


class SubtopicMetric(CutMetric):
    """The base of metrics that read subtopics. `contributions` accepts none of them."""

    reads: ClassVar[Reads] = "hits"
    is_additive: ClassVar[bool] = False


@dataclass(frozen=True)
class FadingMetric(SubtopicMetric):
    """The base of metrics in which a subtopic counts less each time that it is repeated."""

    alpha: float = field(default=0.5, metadata=bounds(above=0, below=1))


@dataclass(frozen=True)
class AlphaNDCG(FadingMetric):
    r"""DCG of subtopics that are new to the list, divided by the DCG of a greedy ideal ranking.

    .. math:: \alpha\text{-DCG@}k = \sum_{r \le k} \frac{\text{novel}(r)}{\log_2(r + 1)}

    where novel(r) sums (1 − α)^c over the subtopics of the item at r, and c counts the earlier items of a subtopic.

    Parameters
    ----------
    k : int, optional
        The cutoff. None: the whole list; with ``subtopic=``, on eager frames only.
    alpha : float, default 0.5
        How much less a subtopic counts each time that it is repeated.

    Notes
    -----
    0 to 1, higher is better; above 1 if the ranking beats the greedy ideal. The role ``subtopic=`` names a column of
    the truth, which has a row for each subtopic of an item; without it, all relevant items have one subtopic. The
    best order is too hard to find, so the ideal ranking picks the item with the greatest gain for each position in
    turn, as ndeval does. If gains are equal, it picks the larger item.

    References
    ----------
    Clarke et al., *Novelty and diversity in information retrieval evaluation*, SIGIR 2008; TREC's ndeval
    ``alpha-nDCG``.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> top = pl.DataFrame({"user": [1, 1, 1], "item": ["a", "b", "c"], "score": [3, 2, 1]})
    >>> truth = pl.DataFrame({"user": [1] * 4, "item": ["a", "a", "b", "c"], "intent": ["x", "y", "x", "z"]})
    >>> round(top.rec.alpha_ndcg(3, truth=truth, subtopic="intent"), 6)
    0.977276
    """

    name: ClassVar[str] = "alpha_ndcg"
    formula: ClassVar[str] = "Σ r≤k of novel(r)/log2(r + 1), divided by the same of the greedy ideal"
    reference: ClassVar[str] = "Clarke et al., SIGIR 2008; ndeval `alpha-nDCG`"

    def explained(self) -> Sequence[str]:
        return [self.formula, _NOVEL, f"α = {self.alpha:g}"]

    def terms(self, row: Row) -> Mapping[str, nw.Expr]:
        return {"gain": row.shared(_novel_gain, self.alpha, log2, self.k)}

    def value(self, sums: Sums) -> nw.Expr:
        return sums["gain"] / sums.greedy_ideal(self.alpha, log2, self.k)


@dataclass(frozen=True)
class ErrIA(FadingMetric):
    r"""Expected reciprocal rank, mean over the subtopics of a list.

    .. math:: \text{ERR-IA@}k = \frac{1}{|S|} \sum_{r \le k} \frac{\alpha \cdot \text{novel}(r)}{r}

    where S holds the subtopics of the list, all equally likely, and novel(r) sums (1 − α)^c over the subtopics of the
    item at r, where c counts the earlier items of a subtopic.

    Parameters
    ----------
    k : int, optional
        The cutoff. None: the whole list.
    alpha : float, default 0.5
        The probability that a relevant row satisfies a user of its subtopic.
    normalized : bool, default False
        Divide by the value of a list in which every row covers all subtopics (ndeval); without a cutoff, an endless
        list.

    Notes
    -----
    0 to 1, higher is better. The role ``subtopic=`` names a column of the truth, which has a row for each subtopic of
    an item; without it, all relevant items have one subtopic.

    References
    ----------
    Chapelle et al., *Intent-based diversification of web search results: metrics and algorithms*, Information
    Retrieval 14(6), 2011; TREC's ndeval ``ERR-IA``.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> top = pl.DataFrame({"user": [1, 1, 1], "item": ["a", "b", "c"], "score": [3, 2, 1]})
    >>> truth = pl.DataFrame({"user": [1] * 4, "item": ["a", "a", "b", "c"], "intent": ["x", "y", "x", "z"]})
    >>> round(top.rec.err_ia(5, truth=truth, subtopic="intent"), 6)
    0.430556
    >>> round(top.rec.err_ia(5, normalized=True, truth=truth, subtopic="intent"), 6)
    0.625315
    """

    name: ClassVar[str] = "err_ia"
    formula: ClassVar[str] = "Σ r≤k of α·novel(r)/r, divided by |S|"
    reference: ClassVar[str] = "Chapelle et al., Information Retrieval 2011; ndeval `ERR-IA`"

    normalized: bool = False

    def explained(self) -> Sequence[str]:
        ideal = "Σ r≤k of novel(r)/r, divided by |S| · Σ r≤k of (1 − α)^(r−1)/r"
        return [ideal if self.normalized else self.formula, _SUBTOPICS, _NOVEL, f"α = {self.alpha:g}"]

    def terms(self, row: Row) -> Mapping[str, nw.Expr]:
        return {"gain": row.shared(_novel_gain, self.alpha, reciprocal, self.k)}

    def value(self, sums: Sums) -> nw.Expr:
        mean = sums["gain"] / sums.subtopics
        if not self.normalized:
            return mean * self.alpha
        if self.k is None:
            return mean * ((1 - self.alpha) / -math.log(self.alpha))
        return quotient(mean, sums.total_weight(_fading(self.alpha), self.k))


@dataclass(frozen=True)
class SubtopicRecall(SubtopicMetric):
    r"""Share of the subtopics that have a relevant item in the top k.

    .. math:: \text{S-recall@}k = \frac{1}{|S|} \Bigl|\bigcup_{r \le k} S_r\Bigr|

    where S holds the subtopics of the list, and S_r the subtopics to which the item at r is relevant.

    Parameters
    ----------
    k : int, optional
        The cutoff. None: the whole list.

    Notes
    -----
    0 to 1, higher is better. The role ``subtopic=`` names a column of the truth, which has a row for each subtopic of
    an item; without it, all relevant items have one subtopic, and the value equals `hit_rate`.

    References
    ----------
    Zhai, Cohen, Lafferty, *Beyond independent relevance: methods and evaluation metrics for subtopic retrieval*,
    SIGIR 2003; TREC's ndeval ``strec``.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> top = pl.DataFrame({"user": [1, 1, 1], "item": ["a", "b", "c"], "score": [3, 2, 1]})
    >>> truth = pl.DataFrame({"user": [1] * 4, "item": ["a", "a", "b", "c"], "intent": ["x", "y", "x", "z"]})
    >>> round(top.rec.subtopic_recall(2, truth=truth, subtopic="intent"), 6)
    0.666667
    """

    name: ClassVar[str] = "subtopic_recall"
    aliases: ClassVar[tuple[str, ...]] = ("s_recall", "strec")
    formula: ClassVar[str] = "|union of S_r at r ≤ k| / |S|"
    reference: ClassVar[str] = "Zhai et al., SIGIR 2003; ndeval `strec`"

    def explained(self) -> Sequence[str]:
        return [self.formula, "S_r: the subtopics to which the item at position r is relevant", _SUBTOPICS]

    def terms(self, row: Row) -> Mapping[str, nw.Expr]:
        # With alpha = 1, a subtopic that was covered before adds nothing.
        return {"novel_gain": row.shared(_novel_gain, 1.0, constant_weight, self.k)}

    def value(self, sums: Sums) -> nw.Expr:
        return sums["novel_gain"] / sums.subtopics
