"""Average precision: mean of the precisions at the relevant items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import narwhals as nw

from recframe.metrics._record import CutMetric, Reads
from recframe.metrics._sums import at_most, quotient
from recframe.metrics._weights import reciprocal
from recframe.metrics.accuracy import CountsRelevant, Over, Points, counted_over, hits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe.metrics._row import Row
    from recframe.metrics._sums import Sums

Norm = Literal["capped", "relevant", "hits", "k"]
"""What the sum of average precision is divided by: min(R, k), R, the hits in the top k, or k."""


def precision_at_hit(row: Row, k: int | None) -> nw.Expr:
    """Return the (expected) precision at a hit's position, 0 past k."""
    precision = (row.hits_before + 1) * row.weight(reciprocal, k)
    if row.may_tie:
        # Summed over the positions of a block, McSherry and Najork's term is linear in 1/r and 1.
        slope = nw.when(row.size > 1).then((row.block_hits - 1) / (row.size - 1)).otherwise(0.0)
        precision += slope * (row.within(k) - row.start * row.weight(reciprocal, k))
    return row.hit * precision


@dataclass(frozen=True)
class MAP(CountsRelevant, CutMetric):  # pyright: ignore[reportIncompatibleVariableOverride]  # depends on an option
    r"""Mean of the precision at every relevant item.

    Average precision: its mean is the mean average precision.

    .. math:: \mathrm{AP@}k = \frac{1}{\text{norm}} \sum_{r \le k,\ r\ \text{a hit}} h(r) / r

    with h(r) hits in the first r positions.

    Parameters
    ----------
    k : int, optional
        The cutoff. None: the whole list.
    norm : {"capped", "relevant", "hits", "k"}
        Divide by min(R, k), by R (trec_eval), by the hits in the top k, or by k (without a cutoff: by N).
    over : {"all", "ranked"}
        R counts all rows of the list, or only the ranked rows (LightGBM).

    Notes
    -----
    0 to 1, higher is better.

    References
    ----------
    Buckley, Voorhees, *Retrieval system evaluation*, in *TREC*, 2005; ties: McSherry, Najork, ECIR 2008; trec_eval's
    ``map`` and ``map_cut`` are ``norm="relevant"``.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> df = pl.DataFrame({"user": [1, 1, 1], "relevant": [1, 0, 1], "score": [0.9, 0.8, 0.1]})
    >>> df.rec.map()
    0.8333333333333333
    >>> df.rec.map(2, norm="relevant")
    0.5
    """

    name: ClassVar[str] = "map"
    aliases: ClassVar[tuple[str, ...]] = (
        "avg_precision",
        "ap",
        "average_precision",
        "mean_average_precision",
        "map_cut(norm=relevant)",
    )
    formula: ClassVar[str] = "Σ over hits at r ≤ k of h(r)/r, divided by min(R, k)"
    reference: ClassVar[str] = "Buckley, Voorhees 2005; trec_eval `map_cut` (norm=relevant)"
    reads: ClassVar[Reads] = "hits"

    norm: Norm = "capped"
    over: Over = "all"

    @property
    def inexact(self) -> str:  # type: ignore[override]  # depends on an option
        if self.norm != "hits" or self.k is None:
            return ""
        ratio = "the ratio of the expected sums where a tied block straddles k"
        return f"not exact: {ratio}, up to 0.86 off in lists of up to 7 rows"

    def explained(self) -> Sequence[str]:
        divisor = {"capped": "min(R, k)", "relevant": "R", "hits": "h(k)", "k": "k"}[self.norm]
        return [f"Σ over hits at r ≤ k of h(r)/r, divided by {divisor}", *counted_over(self.over)]

    def of_rank(self, rank: float) -> float | None:
        return self.if_within(rank, 1 / rank) if self.norm in ("capped", "relevant") else None

    def terms(self, row: Row) -> Mapping[str, nw.Expr]:
        counted = {"hits": row.shared(hits, self.k)} if self.norm == "hits" else {}
        return {"precisions": row.shared(precision_at_hit, self.k), **counted, **self._counted(row)}

    def share(self, row: Sums, sums: Sums) -> nw.Expr:
        precisions = row["precisions"]
        if self.norm == "hits":
            return sums.ratio(precisions, sums["hits"])
        if self.norm == "k":
            return sums.ratio(precisions, sums.ranked(None)) if self.k is None else quotient(precisions, self.k)
        return quotient(precisions, at_most(self._relevant(sums), None if self.norm == "relevant" else self.k))


def _precision_at_block_end(row: Row) -> nw.Expr:
    """Return the precision of a hit where its tied block ends."""
    return row.hit * (row.hits_before + row.block_hits) / (row.start + row.size - 1)


@dataclass(frozen=True)
class PRAUC(CountsRelevant):
    r"""Average precision over the whole list (rectangular rule).

    The area under the precision-recall curve.

    .. math:: \mathrm{AP} = \frac{1}{R} \sum_{r\ \text{a hit}} h(r) / r

    with h(r) hits in the first r positions.

    Parameters
    ----------
    points : {"positions", "thresholds"}
        Where the curve has a point: at each position, or at each distinct score, so each hit of a tied block has the
        precision at the block's end (with ``ties="average"`` only).
    over : {"all", "ranked"}
        R counts all rows of the list, or only the ranked rows (scikit-learn).

    Notes
    -----
    0 to 1, higher is better. It equals ``map(norm="relevant")`` without a cutoff.

    References
    ----------
    Davis, Goadrich, *The relationship between precision-recall and ROC curves*, ICML 2006; recometrics' PR AUC.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> df = pl.DataFrame({"user": [1, 1, 1], "relevant": [1, 0, 1], "score": [0.9, 0.8, 0.1]})
    >>> df.rec.pr_auc()
    0.8333333333333333
    """

    name: ClassVar[str] = "pr_auc"
    aliases: ClassVar[tuple[str, ...]] = ("auprc", "average_precision_score(points=thresholds)")
    formula: ClassVar[str] = "Σ over hits of h(r)/r, divided by R"
    reference: ClassVar[str] = "Davis, Goadrich, ICML 2006; recometrics"
    reads: ClassVar[Reads] = "hits"

    points: Points = "positions"
    over: Over = "all"

    @property
    def requires_average_ties(self) -> bool:  # type: ignore[override]  # depends on an option
        return self.points == "thresholds"

    @property
    def inexact(self) -> str:  # type: ignore[override]  # depends on an option
        point = "tied rows are one point of the curve, up to 0.28 off in lists of up to 7 rows"
        return f"not the mean over orders, by definition: {point}" if self.points == "thresholds" else ""

    def explained(self) -> Sequence[str]:
        steps = "r: the end of the hit's tied block, so that tied rows are one threshold"
        return [self.formula, *([steps] if self.points == "thresholds" else []), *counted_over(self.over)]

    def of_rank(self, rank: float) -> float | None:
        return 1 / rank

    def terms(self, row: Row) -> Mapping[str, nw.Expr]:
        positions = self.points == "positions"
        area = row.shared(precision_at_hit, None) if positions else row.shared(_precision_at_block_end)
        return {"area": area, **self._counted(row)}

    def share(self, row: Sums, sums: Sums) -> nw.Expr:
        return sums.ratio(row["area"], self._relevant(sums))
