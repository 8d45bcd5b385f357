"""F-measures: weighted harmonic means of precision and recall."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from recframe.metrics._options import MOST_SQUARED, bounds
from recframe.metrics.accuracy import HitCount

if TYPE_CHECKING:
    from collections.abc import Sequence

    import narwhals as nw

    from recframe.metrics._sums import Sums


class FMeasure(HitCount):
    """What F-measures share: recall weighs `beta` times as much as precision."""

    beta: float

    def value(self, sums: Sums) -> nw.Expr:
        return (1 + float(self.beta) ** 2) * sums["hits"] / self.divisor(sums)

    def divisor(self, sums: Sums) -> nw.Expr:
        return float(self.beta) ** 2 * sums.relevant + (sums.ranked(None) if self.k is None else self.k)


@dataclass(frozen=True)
class F1(FMeasure):
    r"""Harmonic mean of precision and recall.

    .. math:: \mathrm{F1@}k = 2 h(k) / (k + R)

    with h(k) hits in the top k, and R relevant items in the list, ranked or not.

    Parameters
    ----------
    k : int, optional
        The cutoff. None: the whole list, with its number of ranked items N instead of k.

    Notes
    -----
    0 to 1, higher is better.

    References
    ----------
    van Rijsbergen, *Information Retrieval*, 1979, chapter 7; trec_eval's ``set_F`` on the top k.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> df = pl.DataFrame({"user": [1, 1, 1], "relevant": [1, 0, 1], "score": [0.9, 0.8, 0.1]})
    >>> df.rec.f1(2)
    0.5
    """

    name: ClassVar[str] = "f1"
    aliases: ClassVar[tuple[str, ...]] = ("f1_score", "set_F")
    formula: ClassVar[str] = "2·h(k) / (k + R)"
    reference: ClassVar[str] = "van Rijsbergen 1979, ch. 7; trec_eval `set_F`"

    beta = 1

    def of_rank(self, rank: float) -> float | None:
        return None if self.k is None else self.if_within(rank, 2 / (1 + self.k))


@dataclass(frozen=True)
class FBeta(FMeasure):
    r"""Harmonic mean of precision and recall, with recall weighted β times as much.

    .. math:: \mathrm{F}_\beta\mathrm{@}k = (1 + \beta^2) h(k) / (\beta^2 R + k)

    with h(k) hits in the top k, and R relevant items in the list, ranked or not.

    Parameters
    ----------
    k : int, optional
        The cutoff. None: the whole list, with its number of ranked items N instead of k.
    beta : float, default 2.0
        The weight of recall: 2 prefers recall, 0.5 precision, and 1 gives `f1`.

    Notes
    -----
    0 to 1, higher is better.

    References
    ----------
    van Rijsbergen, *Information Retrieval*, 1979, chapter 7; RecTools' ``F1Beta``; trec_eval's ``set_F``.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> df = pl.DataFrame({"user": [1, 1, 1], "relevant": [1, 0, 1], "score": [0.9, 0.8, 0.1]})
    >>> df.rec.fbeta(1)
    0.5555555555555556
    >>> df.rec.fbeta(1, beta=0.5)
    0.8333333333333334
    """

    name: ClassVar[str] = "fbeta"
    aliases: ClassVar[tuple[str, ...]] = ("fbeta_score", "f2", "f1_beta(beta=1)", "f(beta=1)")
    formula: ClassVar[str] = "(1 + β²)·h(k) / (β²·R + k)"
    reference: ClassVar[str] = "van Rijsbergen 1979, ch. 7; RecTools `F1Beta`"

    beta: float = field(default=2.0, metadata=bounds(above=0, most=MOST_SQUARED))

    def explained(self) -> Sequence[str]:
        return [self.formula, f"β = {self.beta:g}"]
