"""Metrics of the cascade model: a user reads from the top and stops at a row with a probability."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import narwhals as nw

from recframe.errors import OptionError, quoted
from recframe.metrics._gain import looked_up
from recframe.metrics._options import bounds, table, table_of
from recframe.metrics._record import MOST_EXPONENT, CutMetric, Reads
from recframe.metrics._sums import nan_if_infinite, quotient
from recframe.metrics._weights import persistence, reciprocal

if TYPE_CHECKING:
    from collections.abc import Callable

    from recframe.metrics._row import Row, Stop
    from recframe.metrics._sums import Sums

Probability = Mapping[float, float] | tuple[tuple[float, float], ...]
"""The chance that a row of a relevance satisfies a user, by relevance; a metric keeps it as a tuple."""
_RELEVANCE = "Pᵣ = the relevance, of the row at position r"


@cache
def _satisfied(max_relevance: float | None) -> Callable[[nw.Expr, nw.Expr], nw.Expr]:
    """Return a function from a row's relevance to the probability (2^rel - 1) / 2^max that the row satisfies a user.

    The same maximum gets the same function, so that its terms are shared.
    """

    def stop(relevance: nw.Expr, greatest: nw.Expr) -> nw.Expr:
        scale = 2.0**greatest if max_relevance is None else nw.lit(2.0**max_relevance)
        chance = quotient(2.0**relevance - 1, scale)
        return nw.when(relevance > 0).then(chance + nan_if_infinite(scale)).otherwise(0.0)

    return stop


@cache
def _looked_up(chances: tuple[tuple[float, float], ...]) -> Callable[[nw.Expr, nw.Expr], nw.Expr]:
    """Return a function from a relevance to its probability in a table, 0 if the table lacks the relevance."""
    return lambda relevance, _: looked_up(relevance, chances)


def _chances_of(table: Any) -> tuple[tuple[float, float], ...]:
    """Return the option `probability` as a metric stores it, or raise if it does not hold probabilities."""
    chances = table_of("probability", table, "{1: 0.1, 2: 0.4}")
    for grade, chance in chances:
        if not 0 <= chance <= 1:
            msg = f"probability={quoted(table)} gives relevance {grade:g} the chance {chance:g}"
            raise OptionError(msg, "chances lie between 0 and 1")
    return chances


def _explained(probability: Probability) -> str:
    """Return what the option `probability` says, in words."""
    grades = ", ".join(f"{chance:g} for relevance {grade:g}" for grade, chance in dict(probability).items())
    return f"Pᵣ = {grades}, else 0, of the row at position r"


def _relevance_as_probability(relevance: nw.Expr, greatest: nw.Expr) -> nw.Expr:  # noqa: ARG001
    """Return the relevance itself as the probability to stop."""
    return relevance


class CascadeMetric(CutMetric):
    """What metrics of the cascade model share; each has its own `probability`."""

    lower_grades: ClassVar[str] = "count too"

    probability: Any

    @property
    def best_by_relevance(self) -> bool:  # type: ignore[override]  # depends on an option
        return not isinstance(self.probability, tuple)

    @property
    def reads(self) -> Reads:  # type: ignore[override]  # depends on an option
        # If users may stop at irrelevant rows, the metric reads all rows.
        return "all" if isinstance(self.probability, tuple) and dict(self.probability).get(0.0) else "hits"

    def value(self, sums: Sums) -> nw.Expr:
        return sums["stops"]


@dataclass(frozen=True)
class ERR(CascadeMetric):
    r"""Expected reciprocal rank of the position that satisfies a user.

    .. math:: \mathrm{ERR@}k = \sum_{r \le k} \frac1r P_r \prod_{i < r} (1 - P_i), \quad P = (2^{rel} - 1) / 2^{max}

    where P is the probability that an item satisfies, and max the largest grade.

    Parameters
    ----------
    k : int, optional
        The cutoff. None: the whole list.
    max_relevance : float, optional
        The largest grade of the scale. None: the largest relevance of the frame, or of the truth.
    probability : mapping of float to float or "relevance", optional
        Instead of the formula: a table of P by relevance, 0 for grades it lacks; or ``"relevance"``, the relevance
        itself, between 0 and 1 (CatBoost).

    Notes
    -----
    0 to 1, higher is better. Negative relevance counts as 0.

    References
    ----------
    Chapelle, Metzler, Zhang, Grinspan, *Expected reciprocal rank for graded relevance*, CIKM 2009.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> df = pl.DataFrame({"user": [1, 1, 1], "relevant": [1, 0, 2], "score": [0.9, 0.8, 0.1]})
    >>> round(df.rec.err(), 6)
    0.4375
    >>> round(df.rec.err(probability={1: 0.5, 2: 1}), 6)
    0.666667
    """

    name: ClassVar[str] = "err"
    aliases: ClassVar[tuple[str, ...]] = ("expected_reciprocal_rank",)
    formula: ClassVar[str] = "Σ r≤k of (1/r)·Pᵣ·Π(1−Pᵢ), P = (2^rel − 1)/2^max"
    reference: ClassVar[str] = "Chapelle et al., CIKM 2009"

    max_relevance: float | None = field(default=None, metadata=bounds(least=0, most=MOST_EXPONENT))
    probability: Probability | Literal["relevance"] | None = field(default=None, metadata=table(_chances_of))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.probability is not None and self.max_relevance is not None:
            msg = f"err accepts max_relevance={self.max_relevance:g} or probability=, not both"
            raise OptionError(msg, "max_relevance is part of the formula that probability= replaces")

    @property
    def relevances(self) -> tuple[float, float]:
        if self.probability == "relevance":
            return 0.0, 1.0
        if self.probability is not None:
            return -math.inf, math.inf
        return -math.inf, MOST_EXPONENT if self.max_relevance is None else self.max_relevance

    @property
    def reads_greatest(self) -> bool:  # type: ignore[override]
        return self.max_relevance is None and self.probability is None

    def explained(self) -> Sequence[str]:
        formula = "Σ r≤k of (1/r)·Pᵣ·Π(1−Pᵢ)"
        if self.probability is not None:
            return [formula, _RELEVANCE if self.probability == "relevance" else _explained(self.probability)]
        top = "the largest relevance of the frame" if self.max_relevance is None else f"{self.max_relevance:g}"
        return [self.formula, f"max = {top}"]

    @property
    def _stop(self) -> Stop:
        """The function from a row's relevance to the probability that the row satisfies a user."""
        if self.probability == "relevance":
            return _relevance_as_probability
        return _satisfied(self.max_relevance) if self.probability is None else _looked_up(tuple(self.probability))

    def terms(self, row: Row) -> Mapping[str, nw.Expr]:
        return {"stops": row.cascade(self._stop, reciprocal, self.k)}


@dataclass(frozen=True)
class PFound(CascadeMetric):
    r"""Probability that a user finds a relevant item before giving up.

    .. math:: \mathrm{pFound@}k = \sum_{r \le k} look_r P_r,
        \quad look_1 = 1,\ look_{r+1} = look_r (1 - P_r)(1 - p_{break})

    where P is the probability that an item is what the user wants, and look the probability that the user gets to it.

    Parameters
    ----------
    k : int, optional
        The cutoff. None: the whole list.
    p_break : float, default 0.15
        The probability to give up after each row.
    probability : mapping of float to float, optional
        A table of P by relevance, 0 for grades it lacks. None: the relevance itself, between 0 and 1.

    Notes
    -----
    0 to 1, higher is better.

    References
    ----------
    Gulin, Karpovich, Raskovalov, Segalovich, *Yandex at ROMIP'2009: optimization of ranking algorithms by machine
    learning methods*, 2009.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> df = pl.DataFrame({"user": [1, 1, 1], "relevant": [0.4, 0.0, 0.1], "score": [0.9, 0.8, 0.1]})
    >>> round(df.rec.pfound(), 6)
    0.44335
    >>> graded = pl.DataFrame({"user": [1, 1], "relevant": [2, 1], "score": [0.9, 0.8]})
    >>> round(graded.rec.pfound(probability={1: 0.1, 2: 0.4}), 6)
    0.451
    """

    name: ClassVar[str] = "pfound"
    formula: ClassVar[str] = "Σ r≤k of look(r)·Pᵣ, look(r+1) = look(r)·(1−Pᵣ)·(1−p_break)"
    reference: ClassVar[str] = "Gulin et al., ROMIP 2009"

    p_break: float = field(default=0.15, metadata=bounds(least=0, below=1))
    probability: Probability | None = field(default=None, metadata=table(_chances_of))

    @property
    def relevances(self) -> tuple[float, float]:
        return (0.0, 1.0) if self.probability is None else (-math.inf, math.inf)

    def explained(self) -> Sequence[str]:
        chance = _RELEVANCE if self.probability is None else _explained(self.probability)
        return [self.formula, "look(1) = 1", f"p_break = {self.p_break:g}", chance]

    def terms(self, row: Row) -> Mapping[str, nw.Expr]:
        stop = _relevance_as_probability if self.probability is None else _looked_up(tuple(self.probability))
        return {"stops": row.cascade(stop, persistence(1 - self.p_break), self.k)}
