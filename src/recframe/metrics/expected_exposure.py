"""Expected exposure: how much attention each item of a list gets, over the orders that its ties leave open."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from recframe.errors import OptionError, quoted
from recframe.metrics._gain import looked_up
from recframe.metrics._options import MOST_SQUARED, bounds, table, table_of
from recframe.metrics._record import CutMetric, RankedListMetric, Reads
from recframe.metrics._weights import log2, persistence

if TYPE_CHECKING:
    from collections.abc import Sequence

    import narwhals as nw

    from recframe.metrics._ideal_row import IdealRow
    from recframe.metrics._row import Row, Weight
    from recframe.metrics._shared_terms import Term
    from recframe.metrics._sums import Sums

Browsing = Literal["geometric", "log2", "cascade"] | Mapping[int, float] | tuple[tuple[float, float], ...]
"""How attention falls with the position: p^(r−1), 1/log2(r+1), p^(r−1) for users who stop at hits, or a table."""
STOCHASTIC = "a value of the exact expected attention, by definition; the mean over orders is higher"
LARGEST_ERROR = ", up to 1.71 in lists of up to 7 rows"
"""How much higher the mean over orders may be, if the attention at a position is at most 1."""


@cache
def _looked_up(table: tuple[tuple[float, float], ...]) -> Weight:
    """Return the function from a position to its attention in a table; the same function for the same table."""
    return lambda position: looked_up(position, table)


def _weight(browsing: Browsing, p: float) -> Weight:
    if isinstance(browsing, tuple):
        return _looked_up(browsing)
    return log2 if browsing == "log2" else persistence(p)


def attention(row: Row, browsing: Browsing, p: float, stop: float, k: int | None) -> nw.Expr:
    """Return the expected attention that a row gets."""
    return row.seen(stop, persistence(p), k) if browsing == "cascade" else row.weight(_weight(browsing, p), k)


def _squared_attention(row: Row, browsing: Browsing, p: float, stop: float, k: int | None) -> nw.Expr:
    exposure = attention(row, browsing, p, stop, k)
    return exposure * exposure


def _attention_to_hit(row: Row, browsing: Browsing, p: float, stop: float, k: int | None) -> nw.Expr:
    """Return the expected attention that a row gets if it is relevant, otherwise 0."""
    return row.hit * attention(row, browsing, p, stop, k)


def _attention_to_ideal_hit(row: IdealRow, browsing: Browsing, p: float, stop: float, k: int | None) -> nw.Expr:
    """Return the attention at the position of a relevant row in the ideal ranking, otherwise 0."""
    # All rows ahead are hits, so users go on past each with the probability p * (1 - stop). It must not be 0, because 0
    # has no logarithm.
    return row.hit_weight(_weight(browsing, max(p * (1 - stop), 1e-300) if browsing == "cascade" else p), k)


def _checked_browsing(browsing: Any) -> tuple[tuple[float, float], ...]:
    """Return a table of attention as a metric stores it, or raise if it is not a table of positions and attention."""
    attentions = table_of("browsing", browsing, "{1: 0.6, 2: 0.3, 3: 0.1}", of="positions")
    for position, attention in attentions:
        if position < 1 or position % 1 or not 0 <= attention <= MOST_SQUARED:
            msg = f"browsing={quoted(browsing)} gives position {position:g} the attention {attention:g}"
            raise OptionError(msg, f"positions are whole numbers from 1, and attention is from 0 to {MOST_SQUARED:g}")
    return attentions


@dataclass(frozen=True)
class BrowsingMetric(CutMetric):
    """What metrics of attention share: a model of how users browse."""

    p: float = field(default=0.5, metadata=bounds(above=0, below=1))
    browsing: Browsing = field(default="geometric", metadata=table(_checked_browsing))
    stop: float = field(default=0.5, metadata=bounds(above=0, below=1))

    def _shared(self, row: Row | IdealRow, term: Term) -> nw.Expr:
        """Return a term that metrics with the same model share."""
        return row.shared(term, self.browsing, self.p, self.stop, self.k)

    @property
    def _model(self) -> str:
        if isinstance(self.browsing, tuple):
            return ", ".join(f"{attention:g} at {position:g}" for position, attention in self.browsing) + ", else 0,"
        stops = f"·(1 − {self.stop:g})^(hits ahead)" if self.browsing == "cascade" else ""
        return "1/log2(r+1)" if self.browsing == "log2" else f"{self.p:g}^(r−1){stops}"


@dataclass(frozen=True)
class _ExpectedExposure(BrowsingMetric):
    """What the metrics of expected exposure share."""

    range: ClassVar[tuple[float, float]] = (0.0, math.inf)

    def explained(self) -> Sequence[str]:
        target = ["ε*: what each relevant item gets if all of them come first, in any order"]
        return [
            self.formula,
            f"ε: the expected attention {self._model} at r ≤ k that an item gets",
            *(target if "ε*" in self.formula else []),
        ]


@dataclass(frozen=True)
class _SquaredExposure(_ExpectedExposure):
    """The base of the metrics that square the attention."""

    @property
    def inexact(self) -> str:  # type: ignore[override]  # depends on an option
        return STOCHASTIC + ("" if isinstance(self.browsing, tuple) else LARGEST_ERROR)


@dataclass(frozen=True)
class EED(RankedListMetric, _SquaredExposure):
    r"""Expected exposure disparity: how unequally attention is spread over the items of a list.

    .. math:: \mathrm{EED} = \sum_d \varepsilon_d^2

    where ε is the expected attention that an item gets.

    Parameters
    ----------
    k : int, optional
        The cutoff. None: the whole list.
    p : float, default 0.5
        For geometric browsing: the probability to go on to the next item.
    browsing : {"geometric", "log2", "cascade"} or mapping of int to float
        The attention at position r: p^(r−1); 1/log2(r+1); p^(r−1) until a relevant item stops the user (expeval's
        ``gerr``); or a table, 0 for positions it lacks.
    stop : float, default 0.5
        For cascade browsing: the probability to stop at a relevant item.

    Notes
    -----
    0 or more, lower is more equal. Tied items share the attention of their positions, so ties lower the value, and it
    is least if all items tie. Without ties, all orders of a list have the same value, except with cascade browsing,
    which reads the relevance.

    References
    ----------
    Diaz, Mitra, Ekstrand, Biega, Carterette, *Evaluating Stochastic Rankings with Expected Exposure*, CIKM 2020,
    section 4; the authors' expeval, ``disparity``.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> df = pl.DataFrame({"user": [1, 1, 1], "score": [3, 2, 1], "tied": [3, 1, 1]})
    >>> df.rec.eed(), df.rec.eed(score="tied")
    (1.3125, 1.28125)
    """

    name: ClassVar[str] = "eed"
    aliases: ClassVar[tuple[str, ...]] = ("expected_exposure_disparity",)
    formula: ClassVar[str] = "Σ over items of ε²"
    reference: ClassVar[str] = "Diaz et al., CIKM 2020; expeval `disparity`"
    higher_is_better: ClassVar[bool] = False

    @property
    def reads_relevance(self) -> bool:  # type: ignore[override]  # depends on an option
        return self.browsing == "cascade"

    def terms(self, row: Row) -> Mapping[str, nw.Expr]:
        return {"squares": self._shared(row, _squared_attention)}

    def value(self, sums: Sums) -> nw.Expr:
        return sums["squares"]


@dataclass(frozen=True)
class EER(_ExpectedExposure):
    r"""Expected exposure relevance: how much attention goes to the relevant items of a list.

    .. math:: \mathrm{EER} = \sum_d \varepsilon_d\, \varepsilon^*_d, \qquad
        \varepsilon^*_d = \frac{1}{R} \sum_{r \le \min(R, k)} a(r) \text{ for relevant d, else } 0

    where ε is the expected attention that an item gets, a(r) the attention at position r, and R the number of
    relevant items.

    Parameters
    ----------
    k : int, optional
        The cutoff, of the target too. None: the whole list.
    p : float, default 0.5
        As for `eed`.
    browsing : {"geometric", "log2", "cascade"} or mapping of int to float
        As for `eed`.
    stop : float, default 0.5
        As for `eed`.

    Notes
    -----
    0 or more, higher is better. The maximum is ``R · ε*²``, reached if the relevant items come first, tied or not. It
    grows with the target, so compare values on the same lists only. The paper's trade-off has twice this value in
    EEL.

    References
    ----------
    Diaz, Mitra, Ekstrand, Biega, Carterette, *Evaluating Stochastic Rankings with Expected Exposure*, CIKM 2020,
    section 4, with binary relevance; the authors' expeval, ``relevance``.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> df = pl.DataFrame({"user": [1, 1, 1], "relevant": [1, 0, 1], "score": [3, 2, 1]})
    >>> df.rec.eer()
    0.9375
    """

    name: ClassVar[str] = "eer"
    aliases: ClassVar[tuple[str, ...]] = ("expected_exposure_relevance",)
    formula: ClassVar[str] = "Σ over items of ε · ε*"
    reference: ClassVar[str] = "Diaz et al., CIKM 2020; expeval `relevance`"
    reads: ClassVar[Reads] = "hits"

    def terms(self, row: Row) -> Mapping[str, nw.Expr]:
        return {"hits": self._shared(row, _attention_to_hit)}

    def best_terms(self, row: IdealRow) -> Mapping[str, nw.Expr]:
        return {"ideal": self._shared(row, _attention_to_ideal_hit)}

    def share(self, row: Sums, sums: Sums) -> nw.Expr:
        return row["hits"] * sums.ratio(sums["ideal"], sums.relevant)


@dataclass(frozen=True)
class EEL(_SquaredExposure):
    r"""Expected exposure loss: how far the attention that items get is from what they should get.

    .. math:: \mathrm{EEL} = \sum_d (\varepsilon_d - \varepsilon^*_d)^2
        = \mathrm{EED} - 2\,\mathrm{EER} + \sum_d \varepsilon^{*2}_d

    where ε is the expected attention that an item gets, and ε* its target: the attention if all relevant items come
    first, in any order.

    Parameters
    ----------
    k : int, optional
        The cutoff, of the target too. None: the whole list.
    p : float, default 0.5
        As for `eed`.
    browsing : {"geometric", "log2", "cascade"} or mapping of int to float
        As for `eed`.
    stop : float, default 0.5
        As for `eed`.

    Notes
    -----
    0 or more, lower is better. Two relevant items reach 0 if they tie at the top; one fixed order of them does not.
    Items that are not relevant should get no attention.

    References
    ----------
    Diaz, Mitra, Ekstrand, Biega, Carterette, *Evaluating Stochastic Rankings with Expected Exposure*, CIKM 2020,
    section 4, with binary relevance; the authors' expeval, ``difference``.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> df = pl.DataFrame({"user": [1, 1, 1], "relevant": [1, 1, 0], "score": [3, 2, 1], "tied": [3, 3, 1]})
    >>> df.rec.eel(), df.rec.eel(score="tied")
    (0.1875, 0.0625)
    """

    name: ClassVar[str] = "eel"
    aliases: ClassVar[tuple[str, ...]] = ("expected_exposure_loss",)
    formula: ClassVar[str] = "Σ over items of (ε − ε*)²"
    reference: ClassVar[str] = "Diaz et al., CIKM 2020; expeval `difference`"
    higher_is_better: ClassVar[bool] = False
    unranked: ClassVar[str] = "scores the most: Σ over items of ε*²"
    best_by_relevance: ClassVar[bool] = False
    is_additive: ClassVar[bool] = False

    def terms(self, row: Row) -> Mapping[str, nw.Expr]:
        return {"squares": self._shared(row, _squared_attention), "hits": self._shared(row, _attention_to_hit)}

    def best_terms(self, row: IdealRow) -> Mapping[str, nw.Expr]:
        return {"ideal": self._shared(row, _attention_to_ideal_hit)}

    def value(self, sums: Sums) -> nw.Expr:
        target = sums.ratio(sums["ideal"], sums.relevant)
        return sums["squares"] - 2 * target * sums["hits"] + target * sums["ideal"]
