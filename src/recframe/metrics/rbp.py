"""Metrics of a user who goes on to the next item with the same probability."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal

import narwhals as nw

from recframe.metrics._options import bounds
from recframe.metrics._record import LINEAR, CutMetric, Reads
from recframe.metrics._sums import nan_if_infinite
from recframe.metrics._weights import constant_weight, persistence

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe.metrics._ideal_row import IdealRow
    from recframe.metrics._row import Row
    from recframe.metrics._sums import Sums

HitGain = Literal["binary", "linear", "scaled"]
"""What a hit gains: 1, its relevance, or its share of the list's largest relevance."""


def _persistent_gain(row: Row, p: float, gain: HitGain, k: int | None) -> nw.Expr:
    """Return the gain of a hit, discounted by the persistence p."""
    gained = row.hit
    if gain != "binary":
        gained = nw.when(row.relevance > 0).then(row.hit * row.relevance).otherwise(0.0)
    return gained * row.weight(persistence(p), k)


def _greatest(row: IdealRow) -> nw.Expr:
    """Return the term that sums to the largest relevance of the list, which is in the first row of the best order."""
    return row.relevance * row.weight(constant_weight, 1)


@dataclass(frozen=True)
class RBP(CutMetric):
    r"""Rank-biased precision: a user goes on to the next item with probability p.

    .. math:: \mathrm{RBP@}k = (1 - p) \sum_{r \le k,\ r\ \text{a hit}} p^{r-1}

    Parameters
    ----------
    k : int, optional
        The cutoff. None: the whole list.
    p : float, default 0.8
        The user's persistence.
    gain : {"binary", "linear", "scaled"}
        What a hit gains: 1, its relevance if positive, or its relevance divided by the largest of the list, ranked or
        not.

    Notes
    -----
    0 to 1 unless ``gain="linear"``, higher is better. A list with only relevant items scores ``1 - p^k``.

    References
    ----------
    Moffat, Zobel, *Rank-biased precision for measurement of retrieval effectiveness*, ACM TOIS 27(1), 2008.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> df = pl.DataFrame({"user": [1, 1, 1], "relevant": [1, 0, 1], "score": [0.9, 0.8, 0.1]})
    >>> df.rec.rbp(p=0.5)
    0.625
    >>> graded = pl.DataFrame({"user": [1, 1, 1], "relevant": [1, 0, 2], "score": [0.9, 0.8, 0.1]})
    >>> graded.rec.rbp(p=0.5, gain="scaled")
    0.375
    """

    name: ClassVar[str] = "rbp"
    aliases: ClassVar[tuple[str, ...]] = ("rank_biased_precision",)
    formula: ClassVar[str] = "(1 − p) · Σ over hits at r ≤ k of p^(r−1)"
    reference: ClassVar[str] = "Moffat, Zobel, ACM TOIS 2008; trec_eval 10 `rbp`"
    reads: ClassVar[Reads] = "hits"

    p: float = field(default=0.8, metadata=bounds(above=0, below=1))
    gain: HitGain = "binary"

    @property
    def relevances(self) -> tuple[float, float]:
        return -math.inf, LINEAR[1] if self.gain != "binary" else math.inf

    @property
    def allows_propensity(self) -> bool:  # type: ignore[override]  # depends on an option
        return self.gain != "scaled"

    def explained(self) -> Sequence[str]:
        gain = {"binary": "", "linear": "relevance·", "scaled": "relevance/max·"}[self.gain]
        return [
            f"(1 − p) · Σ over hits at r ≤ k of {gain}p^(r−1)",
            f"p = {self.p:g}",
            *(["max: the largest relevance of the list"] if self.gain == "scaled" else []),
        ]

    def of_rank(self, rank: float) -> float | None:
        return self.if_within(rank, (1 - self.p) * self.p ** (rank - 1)) if self.gain == "binary" else None

    def terms(self, row: Row) -> Mapping[str, nw.Expr]:
        return {"gains": row.shared(_persistent_gain, self.p, self.gain, self.k)}

    def best_terms(self, row: IdealRow) -> Mapping[str, nw.Expr]:
        return {"greatest": row.shared(_greatest)} if self.gain == "scaled" else {}

    def share(self, row: Sums, sums: Sums) -> nw.Expr:
        gains = (1 - self.p) * row["gains"]
        if self.gain != "scaled":
            return gains
        return sums.ratio(gains, sums["greatest"]) + nan_if_infinite(sums["greatest"])


@dataclass(frozen=True)
class RBPResidual(CutMetric):
    r"""How much more rank-biased precision could be, if all was judged.

    `rbp` is the value if all unjudged items are irrelevant, and `rbp` plus the residual the value if all of them are
    relevant.

    .. math:: \mathrm{residual@}k = 1 - (1 - p) \sum_{r \le k,\ r\ \text{is judged}} p^{r-1}

    Positions after the cutoff and after the end of the list count as unjudged.

    Parameters
    ----------
    k : int, optional
        The cutoff. None: the whole list.
    p : float, default 0.8
        The user's persistence, as of `rbp`.

    Notes
    -----
    0 to 1; a lower value rests on more judgments. It is ``p^k`` if the whole top k is judged. For
    ``rbp(gain="linear")``, multiply it by the largest relevance, because it assumes gains up to 1. A row is judged if
    its relevance is known and at least 0, in the truth if there is one, or if `min_relevance` makes it relevant.

    References
    ----------
    Moffat, Zobel, *Rank-biased precision for measurement of retrieval effectiveness*, ACM TOIS 27(1), 2008, section 5.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> df = pl.DataFrame({"user": [1, 1, 1], "relevant": [1, None, 0], "score": [0.9, 0.8, 0.1]})
    >>> df.rec.evaluate(["rbp(p=0.5)", "rbp_residual(p=0.5)"]).row(0)
    (0.5, 0.375)
    """

    name: ClassVar[str] = "rbp_residual"
    formula: ClassVar[str] = "1 − (1 − p) · Σ over judged r ≤ k of p^(r−1)"
    reference: ClassVar[str] = "Moffat, Zobel, ACM TOIS 2008"
    higher_is_better: ClassVar[bool] = False
    best_by_relevance: ClassVar[bool] = False
    is_additive: ClassVar[bool] = False
    unranked: ClassVar[str] = "scores 1"

    p: float = field(default=0.8, metadata=bounds(above=0, below=1))

    def explained(self) -> Sequence[str]:
        return [self.formula, f"p = {self.p:g}"]

    def terms(self, row: Row) -> Mapping[str, nw.Expr]:
        return {"judged": row.judged * row.weight(persistence(self.p), self.k)}

    def value(self, sums: Sums) -> nw.Expr:
        return 1 - (1 - self.p) * sums["judged"]
