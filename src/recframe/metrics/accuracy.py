"""Metrics that count hits in the top k."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from recframe.metrics._record import CutMetric, Metric, Reads
from recframe.metrics._sums import at_most, quotient

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import narwhals as nw

    from recframe.metrics._row import Row
    from recframe.metrics._sums import Sums

Denominator = Literal["k", "list"]
"""What precision divides by: the cutoff, or the number of ranked rows up to it."""
Over = Literal["all", "ranked"]
"""Which rows are the list: all, or only those that are ranked."""
Points = Literal["positions", "thresholds"]
"""Where a curve has its points: at every position, or at every distinct score."""


def hits(row: Row, k: int | None) -> nw.Expr:
    """Return the term that sums to h(k), the (expected) number of relevant rows among the top k."""
    return row.hit * row.within(k)


def _hits_at_r(row: Row, over: Over) -> nw.Expr:
    """Return the term that sums to h(R)."""
    return row.hit * row.within(row.relevant_in_list if over == "all" else row.ranked_relevant_in_list)


def per_position(total: nw.Expr, sums: Sums, k: int | None, denominator: Denominator) -> nw.Expr:
    """Return a sum over the top k, divided by k or by the number of ranked rows up to it."""
    return quotient(total, k) if k is not None and denominator == "k" else sums.ratio(total, sums.ranked(k))


def counted_over(over: Over) -> list[str]:
    """Return the line of an explanation that defines R, if R counts ranked rows only; otherwise no line."""
    return ["R: the relevant rows of the list that are ranked; others do not exist"] if over == "ranked" else []


class CountsRelevant(Metric):
    """The base of metrics that count relevant rows among all rows of a list, or among its ranked rows (`over`)."""

    over: Over

    @property
    def undefined_if(self) -> str:  # type: ignore[override]  # depends on an option
        return "without a ranked one" if self.over == "ranked" else ""

    @property
    def unranked(self) -> str:  # type: ignore[override]  # depends on an option
        return "has no value" if self.over == "ranked" else "scores 0"

    @property
    def cutoff(self) -> int | None:
        # Ranked relevant rows past k count in R too, so the whole list is ranked.
        return None if self.over == "ranked" else super().cutoff

    def _counted(self, row: Row) -> dict[str, nw.Expr]:
        """Return the term that sums to R if only ranked rows count in it, otherwise no term."""
        return {"relevant": row.shared(hits, None)} if self.over == "ranked" else {}

    def _relevant(self, sums: Sums) -> nw.Expr:
        """Return R: the relevant rows of the list, or only the ranked ones, as `over` says."""
        return sums["relevant"] if self.over == "ranked" else sums.relevant

    def defined(self, sums: Sums) -> nw.Expr | None:
        return sums["relevant"] > 0 if self.over == "ranked" else None


@dataclass(frozen=True)
class HitCount(CutMetric):
    """The base of precision, recall and F-measures, which read the same sum."""

    reads: ClassVar[Reads] = "hits"
    allows_propensity: ClassVar[bool] = True

    def terms(self, row: Row) -> Mapping[str, nw.Expr]:
        return {"hits": row.shared(hits, self.k)}


@dataclass(frozen=True)
class Precision(HitCount):
    r"""Share of the top k that is relevant.

    .. math:: \mathrm{P@}k = h(k) / k

    with h(k) hits in the top k.

    Parameters
    ----------
    k : int, optional
        The cutoff. None: the whole list, divided by its number of ranked items N.
    denominator : {"k", "list"}
        Divide by k, even if the list is shorter, or by min(k, N).

    Notes
    -----
    0 to 1, higher is better.

    References
    ----------
    Manning, Raghavan, Schütze, *Introduction to Information Retrieval*, 2008, section 8.4; trec_eval's ``P``.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> df = pl.DataFrame({"user": [1, 1, 1], "relevant": [1, 0, 1], "score": [0.9, 0.8, 0.1]})
    >>> df.rec.precision(2)
    0.5
    >>> df.rec.precision(6, denominator="list")
    0.6666666666666666
    """

    name: ClassVar[str] = "precision"
    aliases: ClassVar[tuple[str, ...]] = ("p", "prec", "pre", "set_P")
    formula: ClassVar[str] = "h(k) / k"
    reference: ClassVar[str] = "Manning, Raghavan, Schütze 2008, §8.4; trec_eval `P`"

    denominator: Denominator = "k"

    def explained(self) -> Sequence[str]:
        return [self.formula if self.denominator == "k" else "h(k) / min(k, N)"]

    def of_rank(self, rank: float) -> float | None:
        return None if self.k is None or self.denominator != "k" else self.if_within(rank, 1 / self.k)

    def value(self, sums: Sums) -> nw.Expr:
        return per_position(sums["hits"], sums, self.k, self.denominator)


@dataclass(frozen=True)
class Recall(CountsRelevant, HitCount):  # pyright: ignore[reportIncompatibleVariableOverride]  # depends on an option
    r"""Share of the relevant items that are in the top k.

    .. math:: \mathrm{R@}k = h(k) / R

    with h(k) hits in the top k, and R relevant items in the list, ranked or not.

    Parameters
    ----------
    k : int, optional
        The cutoff. None: the whole list.
    capped : bool, default False
        Divide by min(k, R), so that a full top k scores 1 (TP@K in recometrics).
    over : {"all", "ranked"}
        R counts all rows of the list, or only the ranked rows (TorchMetrics).

    Notes
    -----
    0 to 1, higher is better.

    References
    ----------
    Manning, Raghavan, Schütze, *Introduction to Information Retrieval*, 2008, section 8.4; trec_eval's ``recall``.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> df = pl.DataFrame({"user": [1, 1, 1], "relevant": [1, 0, 1], "score": [0.9, 0.8, 0.1]})
    >>> df.rec.recall(1)
    0.5
    >>> df.rec.recall(1, capped=True)
    1.0
    """

    name: ClassVar[str] = "recall"
    aliases: ClassVar[tuple[str, ...]] = ("rec", "r", "set_recall", "set_R")
    formula: ClassVar[str] = "h(k) / R"
    reference: ClassVar[str] = "Manning, Raghavan, Schütze 2008, §8.4; trec_eval `recall`"

    capped: bool = False
    over: Over = "all"

    def explained(self) -> Sequence[str]:
        return ["h(k) / min(R, k)" if self.capped else self.formula, *counted_over(self.over)]

    @property
    def allows_propensity(self) -> bool:  # type: ignore[override]  # depends on an option
        return not self.capped

    def of_rank(self, rank: float) -> float | None:
        return self.if_within(rank, 1.0)

    def terms(self, row: Row) -> Mapping[str, nw.Expr]:
        return {"hits": row.shared(hits, self.k), **self._counted(row)}

    def share(self, row: Sums, sums: Sums) -> nw.Expr:
        relevant = self._relevant(sums)
        return sums.ratio(row["hits"], at_most(relevant, self.k) if self.capped else relevant)

    def divisor(self, sums: Sums) -> nw.Expr:
        return self._relevant(sums)


@dataclass(frozen=True)
class RPrecision(CountsRelevant):
    r"""Precision at R, the list's number of relevant items.

    .. math:: \mathrm{RP} = h(R) / R

    with R relevant items in the list, ranked or not, and h(R) of them in the first R positions.

    Parameters
    ----------
    over : {"all", "ranked"}
        R counts all rows of the list, or only the ranked rows (TorchMetrics).

    Notes
    -----
    0 to 1, higher is better.

    References
    ----------
    Buckley, Voorhees, *Evaluating evaluation measure stability*, SIGIR 2000; trec_eval's ``Rprec``.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> df = pl.DataFrame({"user": [1, 1, 1], "relevant": [1, 0, 1], "score": [0.9, 0.8, 0.1]})
    >>> df.rec.r_precision()
    0.5
    """

    name: ClassVar[str] = "r_precision"
    aliases: ClassVar[tuple[str, ...]] = ("Rprec",)
    formula: ClassVar[str] = "h(R) / R"
    reference: ClassVar[str] = "Buckley, Voorhees, SIGIR 2000; trec_eval `Rprec`"
    reads: ClassVar[Reads] = "hits"

    over: Over = "all"

    @property
    def cuts_at_relevant(self) -> bool:  # type: ignore[override]  # depends on an option
        return self.over == "all"

    def explained(self) -> Sequence[str]:
        return [self.formula, *counted_over(self.over)]

    def terms(self, row: Row) -> Mapping[str, nw.Expr]:
        return {"hits": row.shared(_hits_at_r, self.over), **self._counted(row)}

    def share(self, row: Sums, sums: Sums) -> nw.Expr:
        return sums.ratio(row["hits"], self._relevant(sums))
