"""Metrics of incomplete judgments: what was never judged does not count as irrelevant, or is counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import narwhals as nw

from recframe.metrics._record import Metric, RankedListMetric
from recframe.metrics._row import EPSILON
from recframe.metrics.accuracy import Denominator, hits, per_position

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe.metrics._ideal_row import IdealRow
    from recframe.metrics._row import Row
    from recframe.metrics._sums import Sums


def _nonrelevant_ahead(row: Row) -> nw.Expr:
    """Return the expected min(number of judged irrelevant rows before a hit, R).

    Of the q such rows in its tied block, each number from 0 to q is ahead of the hit with the same probability.
    """
    before = row.nonrelevant_before
    inside = row.block_nonrelevant
    most = row.relevant_in_list
    below_limit = nw.when(most > before).then(most - before).otherwise(0.0)
    counted = nw.when(below_limit < inside).then(below_limit).otherwise(inside)
    total = (counted + 1) * (before + counted / 2) + (inside - counted) * most
    ahead = nw.when(before < most).then(total / (inside + 1)).otherwise(most)
    return row.hit * ahead


@dataclass(frozen=True)
class BPref(Metric):
    r"""How seldom judged irrelevant rows are ahead of relevant ones.

    Binary preference: unjudged rows do not count.

    .. math:: \mathrm{bpref} = \frac{1}{R} \sum_{\text{ranked relevant } r}
        \Bigl(1 - \frac{\min(n_r, R)}{\min(R, N^-)}\Bigr)

    where n counts the judged irrelevant rows ahead of r, and N⁻ all judged irrelevant rows of the list, ranked or
    not.

    Notes
    -----
    0 to 1, higher is better. A row is judged if its relevance is known and at least 0, in the truth if there is one,
    or if `min_relevance` makes it relevant.

    References
    ----------
    Buckley, Voorhees, *Retrieval evaluation with incomplete information*, SIGIR 2004; trec_eval's ``bpref``.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> df = pl.DataFrame({"user": [1] * 4, "relevant": [None, 1, 0, 1], "score": [0.9, 0.8, 0.5, 0.1]})
    >>> df.rec.bpref()
    0.5
    """

    name: ClassVar[str] = "bpref"
    aliases: ClassVar[tuple[str, ...]] = ("binary_preference",)
    formula: ClassVar[str] = "Σ over ranked relevant r of 1 − min(nᵣ, R)/min(R, N⁻), divided by R"
    reference: ClassVar[str] = "Buckley, Voorhees, SIGIR 2004; trec_eval `bpref`"

    def explained(self) -> Sequence[str]:
        return [
            self.formula,
            "nᵣ: the judged irrelevant rows ahead of r",
            "N⁻: the judged irrelevant rows of the list, ranked or not",
        ]

    def terms(self, row: Row) -> Mapping[str, nw.Expr]:
        return {"hits": row.shared(hits, None), "ahead": row.shared(_nonrelevant_ahead)}

    def best_terms(self, row: IdealRow) -> Mapping[str, nw.Expr]:
        return {"nonrelevant": row.nonrelevant}

    def share(self, row: Sums, sums: Sums) -> nw.Expr:
        every = sums["nonrelevant"]
        divisor = nw.when(every < sums.relevant).then(every).otherwise(sums.relevant)
        return (row["hits"] - sums.ratio(row["ahead"], divisor)) / sums.relevant


@dataclass(frozen=True)
class InfAP(Metric):
    r"""Average precision expected where only a sample of the pool was judged.

    Inferred average precision.

    .. math:: \mathrm{infAP} = \frac{1}{R} \sum_{\text{ranked relevant at } r} \Bigl(\frac{1}{r}
        + \frac{d_r}{r} \cdot \frac{h_r + \epsilon}{h_r + n_r + 2\epsilon}\Bigr)

    where d counts the rows ahead of position r that are in the pool, h those judged relevant and n those judged
    irrelevant; ε = 0.00001.

    Notes
    -----
    0 to 1, higher is better. The truth holds the pool: an item with a relevance below 0 is in the pool but unjudged.
    An item that the truth lacks is outside of the pool and never relevant. An item without a relevance is outside
    too, and irrelevant unless `min_relevance` is 0 or less. R counts the items judged relevant.

    References
    ----------
    Yilmaz, Aslam, *Estimating average precision with incomplete and imperfect judgments*, CIKM 2006; trec_eval's
    ``infAP``.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> df = pl.DataFrame({"user": [1] * 4, "relevant": [1, -1, 0, 1], "score": [0.9, 0.8, 0.5, 0.1]})
    >>> round(df.rec.inf_ap(), 4)
    0.8125
    """

    name: ClassVar[str] = "inf_ap"
    aliases: ClassVar[tuple[str, ...]] = ("inferred_ap",)
    formula: ClassVar[str] = "Σ over ranked relevant r of 1/r + (dᵣ/r)·(hᵣ + ε)/(hᵣ + nᵣ + 2ε), divided by R"
    reference: ClassVar[str] = "Yilmaz, Aslam, CIKM 2006; trec_eval `infAP`"

    def explained(self) -> Sequence[str]:
        ahead = "of the rows ahead of r: dᵣ in the pool, hᵣ judged relevant, nᵣ judged irrelevant"
        return [self.formula, ahead, f"ε = {EPSILON:g}"]

    def terms(self, row: Row) -> Mapping[str, nw.Expr]:
        return {"precisions": row.hit * row.inferred_precision}

    def value(self, sums: Sums) -> nw.Expr:
        return sums["precisions"] / sums.relevant


@dataclass(frozen=True)
class Judged(RankedListMetric):
    r"""Share of the top k that is judged, relevant or not.

    .. math:: \mathrm{judged@}k = |\{r \le k : r \text{ is judged}\}| / k

    Parameters
    ----------
    k : int, optional
        The cutoff. None: the whole list, divided by its number of ranked items N.
    denominator : {"k", "list"}
        Divide by k, even if the list is shorter, or by min(k, N) (ir_measures).

    Notes
    -----
    0 to 1; a higher value rests on more judgments. A row is judged if its relevance is known and at least 0, in the
    truth if there is one, or if `min_relevance` makes it relevant.

    References
    ----------
    ir_measures' ``Judged@k``; the complement of *hole@k*, Thakur et al., *BEIR*, NeurIPS 2021.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> df = pl.DataFrame({"user": [1, 1, 1], "relevant": [None, 0, 1], "score": [0.9, 0.8, 0.1]})
    >>> df.rec.judged(2)
    0.5
    """

    name: ClassVar[str] = "judged"
    formula: ClassVar[str] = "judged rows at r ≤ k / k"
    reference: ClassVar[str] = "ir_measures `Judged`; Thakur et al., NeurIPS 2021"

    denominator: Denominator = "k"

    def explained(self) -> Sequence[str]:
        return [self.formula if self.denominator == "k" else "judged rows at r ≤ k / min(k, N)"]

    def terms(self, row: Row) -> Mapping[str, nw.Expr]:
        return {"judged": row.judged * row.within(self.k)}

    def value(self, sums: Sums) -> nw.Expr:
        return per_position(sums["judged"], sums, self.k, self.denominator)
