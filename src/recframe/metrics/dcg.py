"""Discounted cumulative gain, plain and normalised."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import narwhals as nw

from recframe.metrics._gain import Gain, Grades, check_function, checked_gain, explained_gain, gain_of, order_by_gain
from recframe.metrics._options import table
from recframe.metrics._record import LINEAR, MOST_EXPONENT, BestOf, CutMetric, Reads
from recframe.metrics._sums import nan_if_infinite, quotient
from recframe.metrics._weights import DISCOUNTS, Discount, checked_discount, weights_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe.metrics._ideal_row import IdealRow
    from recframe.metrics._row import Row, Weight
    from recframe.metrics._sums import Sums

Ideal = Literal["all", "ranked", "uncut", "ones", "first"]
"""The ideal of NDCG, which divides the DCG.

- all: the best order of all rows of the list, up to k;
- ranked: the best order of the ranked rows, up to k;
- uncut: the best order of all rows of the list, without a cutoff;
- ones: a gain of 1 at every position up to k;
- first: all rows of the list at the first position.
"""


def _discounted_gain(row: Row, gain: Gain, grades: Grades, discount: Weight, k: int | None) -> nw.Expr:
    """Return the gain of a row times the (expected) discount of its position, 0 past k."""
    return gain_of(row, gain, grades) * row.weight(discount, k)


def _ideal_gain(row: IdealRow, gain: Gain, grades: Grades, discount: Weight, k: int | None) -> nw.Expr:
    """Return the gain of a row times the discount of its position in the best order, 0 past k."""
    if gain == "binary":
        return row.hit * row.hit_weight(discount, k)
    weight = row.weight(discount, k, signed=grades == "signed", order=order_by_gain(gain, grades))
    return gain_of(row, gain, grades) * weight


def _first_gain(row: IdealRow, gain: Gain, grades: Grades, discount: Weight) -> nw.Expr:
    """Return the gain of a row times the discount of the first position."""
    gained = gain_of(row, gain, grades)
    return nw.when(gained > 0).then(gained * discount(nw.lit(1.0))).otherwise(0.0)


def _discount(row: Row, discount: Weight) -> nw.Expr:
    """Return the (expected) discount of a row's position, at any position."""
    return row.weight(discount, None)


@dataclass(frozen=True)
class DCG(CutMetric):
    r"""Discounted cumulative gain.

    .. math:: \mathrm{DCG@}k = \sum_{r \le k} \mathrm{gain}(rel_r) \cdot \mathrm{discount}(r)

    where rel is the relevance of the item at position r.

    Parameters
    ----------
    k : int, optional
        The cutoff. None: the whole list.
    gain : {"linear", "exp2", "binary"}, mapping of float to float, or callable
        The relevance, 2^relevance − 1, or 1 for every relevant row; or a table or a function of relevance above 0.
    discount : {"log2", "jarvelin", "reciprocal"}, sequence, mapping, frame or callable
        1/log2(r+1), 1/max(1, log2 r) or 1/r; or weights by position (as `position_bias` returns), or a function.
    grades : {"all", "positive", "relevant", "signed"}
        Which relevance has a gain: every value, values above 0, or values above 0 in relevant rows.

    Notes
    -----
    Unbounded, higher is better. A table of gains gives 0 to grades that it lacks. A table of weights that rises with
    the position is an error. A function may rise, but then `ndcg` can exceed 1, because its ideal is ordered by gain.

    With ``grades="all"``, relevance below `min_relevance` has a gain too, and negative relevance lowers the sum.
    ``"signed"`` differs for `ndcg` only. A binary `gain` ignores `grades`.

    References
    ----------
    Järvelin, Kekäläinen, *Cumulated gain-based evaluation of IR techniques*, ACM TOIS 20(4), 2002; gain exp2: Burges
    et al., *Learning to rank using gradient descent*, ICML 2005; ties: McSherry, Najork, ECIR 2008.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> df = pl.DataFrame({"user": [1, 1, 1], "relevant": [2, 0, 1], "score": [0.9, 0.8, 0.1]})
    >>> df.rec.dcg()
    2.5
    >>> df.rec.dcg(discount=lambda position: position**-2.0)
    2.111111111111111
    >>> df.rec.dcg(discount=[1, 0.6, 0.4])
    2.4
    >>> df.rec.dcg(gain={1: 1, 2: 10})
    10.5
    """

    name: ClassVar[str] = "dcg"
    aliases: ClassVar[tuple[str, ...]] = ("dcg_score", "dcg_burges(gain=exp2)")
    formula: ClassVar[str] = "Σ r≤k of gain(rel)·discount(r)"
    reference: ClassVar[str] = "Järvelin, Kekäläinen, ACM TOIS 2002"
    reads: ClassVar[Reads] = "graded"
    range: ClassVar[tuple[float, float]] = (-math.inf, math.inf)
    allows_propensity: ClassVar[bool] = True

    gain: Gain = field(default="linear", metadata=table(checked_gain))
    discount: Discount = field(default="log2", metadata=table(checked_discount))
    grades: Grades = "all"

    def __post_init__(self) -> None:
        super().__post_init__()
        if callable(self.gain):
            check_function("gain", self.gain, "relevance", "relevance**2")
        if callable(self.discount):
            check_function("discount", self.discount, "position", "1 / position")

    @property
    def best_by_relevance(self) -> bool:  # type: ignore[override]  # depends on an option
        return isinstance(self.gain, str) and isinstance(self.discount, str)

    @property
    def lower_grades(self) -> str:  # type: ignore[override]  # depends on an option
        if self.gain == "binary" or isinstance(self.gain, tuple) or self.grades == "relevant":
            return ""
        return "gain too, unless grades='relevant'"

    @property
    def relevances(self) -> tuple[float, float]:
        if self.gain == "binary" or isinstance(self.gain, tuple):
            return -math.inf, math.inf
        if self.gain == "exp2":
            return -math.inf, MOST_EXPONENT
        return -math.inf if self.grades in ("positive", "relevant") else LINEAR[0], LINEAR[1]

    def explained(self) -> Sequence[str]:
        return ["Σ r≤k of gain(r)·discount(r)", *self._parts()]

    def _parts(self) -> list[str]:
        weight = self.discount if isinstance(self.discount, str) else ""
        discount = {"log2": "1 / log2(r + 1)", "jarvelin": "1 / max(1, log2 r)", "reciprocal": "1 / r"}.get(weight)
        function = f"{getattr(self.discount, '__name__', 'a function')}(r)"
        if isinstance(self.discount, tuple):
            weights: Any = self.discount
            function = ", ".join([*(f"{weight:g} at {position:g}" for position, weight in weights), "else 0"])
        return [
            f"gain(r) = {explained_gain(self.gain, self.grades)}, of the row at position r",
            f"discount(r) = {discount or function}",
        ]

    @property
    def _weight(self) -> Weight:
        if isinstance(self.discount, tuple):
            return weights_of(self.discount)
        return self.discount if callable(self.discount) else DISCOUNTS[str(self.discount)]

    def terms(self, row: Row) -> Mapping[str, nw.Expr]:
        return {"dcg": row.shared(_discounted_gain, self.gain, self.grades, self._weight, self.k)}

    def share(self, row: Sums, sums: Sums) -> nw.Expr:  # noqa: ARG002 - the rows alone say it
        return row["dcg"]


@dataclass(frozen=True)
class NDCG(DCG):
    r"""DCG over the DCG of the best order.

    Normalised discounted cumulative gain.

    .. math:: \mathrm{NDCG@}k = \mathrm{DCG@}k / \mathrm{IDCG@}k

    where IDCG is the DCG of the best order of the list.

    Parameters
    ----------
    k : int, optional
        The cutoff. None: the whole list.
    gain : {"linear", "exp2", "binary"}, mapping of float to float, or callable
        As for `dcg`. With a table or a function, the best order sorts rows by gain.
    discount : {"log2", "jarvelin", "reciprocal"}, sequence, mapping, frame or callable
        As for `dcg`.
    grades : {"all", "positive", "relevant", "signed"}
        As for `dcg`. Negative relevance never lowers the ideal, except with ``"signed"``.
    ideal : {"all", "ranked", "uncut", "ones", "first"}
        The best order of all rows, ranked or not; of the ranked rows; of all rows without a cutoff; or as below.

    Notes
    -----
    0 to 1, higher is better; below 0 only if relevance is negative. It can exceed 1 with ``ideal="ones"`` and gains
    above 1, with ``grades="signed"`` and negative relevance, or with a `discount` that rises with the position.

    ``ideal="ones"`` has gain 1 at every position up to k, without a k at every ranked row. ``"first"`` has all rows at
    the first position, so the value is a mean over relevant items (Yang et al. 2018).

    With ``grades="positive"``, a list without a relevant item has a value too. With ``"signed"``, negative relevance is
    at the end of the ideal.

    References
    ----------
    Järvelin, Kekäläinen, *Cumulated gain-based evaluation of IR techniques*, ACM TOIS 20(4), 2002; trec_eval's
    ``ndcg_cut`` for ``ideal="all"``.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> df = pl.DataFrame({"user": [1, 1, 1], "relevant": [3, 0, 1], "score": [0.9, 0.8, 0.1]})
    >>> round(df.rec.ndcg(), 6)
    0.96394
    >>> round(df.rec.ndcg(2), 6)
    0.826235
    """

    name: ClassVar[str] = "ndcg"
    aliases: ClassVar[tuple[str, ...]] = ("normalized_dcg", "ndcg_cut", "ndcg_score", "ndcg_burges(gain=exp2)")
    formula: ClassVar[str] = "DCG@k / IDCG@k"
    reference: ClassVar[str] = "Järvelin, Kekäläinen, ACM TOIS 2002; trec_eval `ndcg_cut`"
    range: ClassVar[tuple[float, float]] = (-math.inf, 1.0)
    undefined_if: ClassVar[str] = "whose ideal is 0"

    ideal: Ideal = "all"

    @property
    def allows_propensity(self) -> bool:  # type: ignore[override]  # depends on an option
        return self.ideal == "first" or (self.ideal == "ones" and self.k is not None)

    @property
    def reads(self) -> Reads:  # type: ignore[override]  # depends on an option
        return "all" if self._counts_positions else "graded"

    @property
    def needs_relevant(self) -> bool:  # type: ignore[override]  # depends on an option
        return self.grades != "positive" or self.ideal == "ones"

    @property
    def unranked(self) -> str:  # type: ignore[override]  # depends on an option
        return "has no value" if self.ideal == "ranked" or self._counts_positions else "scores 0"

    @property
    def best_of(self) -> BestOf:  # type: ignore[override]  # depends on an option
        of_ranked: BestOf = "signed" if self._signed else "ranked"
        return of_ranked if self.ideal == "ranked" else "all"

    def explained(self) -> Sequence[str]:
        best = {
            "all": "the same sum with all rows of the list in their best order, unranked ones included",
            "ranked": "the same sum with the ranked rows in their best order; unranked ones do not exist",
            "uncut": "the same sum with all rows of the list in their best order, positions after k included",
            "ones": "Σ r≤k of discount(r), as if every position up to k held a gain of 1",
            "first": "Σ over all rows of the list of gain·discount(1), as if each were at the first position",
        }[self.ideal]
        if self._signed:
            best += ", negative relevance last"
        return [self.formula, "DCG@k = Σ r≤k of gain(r)·discount(r)", f"IDCG@k = {best}", *self._parts()]

    @property
    def _signed(self) -> bool:
        """Whether the ideal holds negative relevance."""
        return self.grades == "signed" and self.gain != "binary" and self.ideal in ("all", "ranked", "uncut")

    @property
    def _counts_positions(self) -> bool:
        return self.ideal == "ones" and self.k is None

    def terms(self, row: Row) -> Mapping[str, nw.Expr]:
        every = {"ideal": row.shared(_discount, self._weight)} if self._counts_positions else {}
        return {**super().terms(row), **every}

    def best_terms(self, row: IdealRow) -> Mapping[str, nw.Expr]:
        if self.ideal == "ones":
            return {}
        if self.ideal == "first":
            return {"ideal": row.shared(_first_gain, self.gain, self.grades, self._weight)}
        last = None if self.ideal == "uncut" else self.k
        ideal = {"ideal": row.shared(_ideal_gain, self.gain, self.grades, self._weight, last)}
        return ideal | ({"ideal hits": row.hit} if self._signed else {})

    def of_rank(self, rank: float) -> float | None:
        if self.ideal == "ones" or not isinstance(self.discount, str):
            return None
        return self.if_within(rank, DISCOUNTS[self.discount](rank))

    def _ideal(self, sums: Sums) -> nw.Expr:
        if self.ideal == "ones" and self.k is not None:
            return sums.total_weight(self._weight, self.k)
        return sums["ideal"]

    def share(self, row: Sums, sums: Sums) -> nw.Expr:
        ideal = self._ideal(sums)
        return quotient(row["dcg"], ideal) + nan_if_infinite(ideal)

    def divisor(self, sums: Sums) -> nw.Expr | None:
        return sums["ideal"] if self.ideal == "first" else None

    def defined(self, sums: Sums) -> nw.Expr:
        if self._signed:
            return (self._ideal(sums) != 0) & (sums["ideal hits"] > 0)
        return self._ideal(sums) > 0
