"""Areas under the ROC curve, from rank sums."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import narwhals as nw

from recframe.metrics._record import CutMetric, Metric, Reads
from recframe.metrics.accuracy import Over, counted_over, hits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe.metrics._row import Row
    from recframe.metrics._sums import Sums

WeighBy = Literal["rows", "relevant"]
"""What the lists are weighted by in GAUC: the number of their rows, or of their relevant rows."""


def _average_rank(row: Row) -> nw.Expr:
    """Return the average rank of a hit over all orders of its tied block, and 0 for other rows."""
    # `order` counts rows. `start` is a position, and ranks from the user may leave positions out.
    return row.hit * (row.order + (row.size - 1) / 2)


def _wrong(row: Row) -> nw.Expr:
    """Return the number of ranked irrelevant rows before a hit; those that tie with it count one half."""
    return row.order - 1 - row.hits_before + (row.size - row.block_hits) / 2


def _up_to(row: Row, k: int, inside: nw.Expr | float, straddling: nw.Expr) -> nw.Expr:
    """Return the term of a hit: `inside` if its block ends by k, `straddling` if the block straddles k, otherwise 0."""
    other = nw.when(row.start <= k).then(straddling).otherwise(0.0)
    return row.hit * nw.when(row.start + row.size - 1 <= k).then(inside).otherwise(other)


def _covariance(row: Row, k: int) -> nw.Expr:
    """Return a hit's share of the variance of the number of hits that its block has up to k.

    That number is hypergeometric: the block that straddles k has s of its t rows there, and m hits.
    """
    s = k - row.start + 1
    t = row.size
    m = row.block_hits
    rest = nw.when(t > 1).then(t - 1).otherwise(1.0)
    return s / t * (1 - m / t) * (t - s) / rest


def _hit_count_variance(row: Row, k: int) -> nw.Expr:
    """Return the term that sums to the variance of h(k)."""
    return _up_to(row, k, 0.0, _covariance(row, k))


def _wrong_up_to(row: Row, k: int) -> nw.Expr:
    """Return the term that sums to the expected pairs of the top k in which the relevant row comes second."""
    s = k - row.start + 1
    t = row.size
    m = row.block_hits
    square = _covariance(row, k) + m * (s / t) * (s / t)
    straddling = s / t * (row.order - 1 - row.hits_before) + (s * s / t - square) / 2
    return _up_to(row, k, _wrong(row), straddling)


def _negatives(sums: Sums) -> nw.Expr:
    return sums.rows - sums.relevant


def _wrong_pairs(sums: Sums) -> nw.Expr:
    """Return the number of pairs with an irrelevant row before a hit; tied pairs count one half."""
    return sums["rank sum"] - sums["hits"] * (sums["hits"] + 1) / 2


def _unranked(sums: Sums) -> tuple[nw.Expr, nw.Expr]:
    """Return how many relevant rows of a list are not ranked, and how many irrelevant rows are not."""
    unranked_hits = sums.relevant - sums["hits"]
    return unranked_hits, sums.rows - sums.ranked(None) - unranked_hits


def _ranked_pairs(sums: Sums) -> nw.Expr:
    return sums["hits"] * (sums.ranked(None) - sums["hits"])


@dataclass(frozen=True)
class AllRowsAUC(Metric):
    """The base of areas over all rows of a list, where unranked rows share the last place."""

    reads: ClassVar[Reads] = "hits"

    def terms(self, row: Row) -> Mapping[str, nw.Expr]:
        return {"hits": row.shared(hits, None), "rank sum": row.shared(_average_rank)}

    def share_terms(self, row: Row) -> Mapping[str, nw.Expr]:
        return {"wrong": row.hit * _wrong(row)}

    def value(self, sums: Sums) -> nw.Expr:
        unranked_hits, unranked_others = _unranked(sums)
        ordered = sums["hits"] * _negatives(sums) - _wrong_pairs(sums) + unranked_hits * unranked_others / 2
        return ordered / (sums.relevant * _negatives(sums))

    def share(self, row: Sums, sums: Sums) -> nw.Expr:
        return (row["hits"] * _negatives(sums) - row["wrong"]) / (sums.relevant * _negatives(sums))

    def unranked_share(self, sums: Sums) -> nw.Expr | None:
        # An unranked relevant row ties with all unranked irrelevant rows, and each tied pair counts one half.
        return _unranked(sums)[1] / 2 / (sums.relevant * _negatives(sums))

    def defined(self, sums: Sums) -> nw.Expr:
        return _negatives(sums) > 0


@dataclass(frozen=True)
class ROCAUC(AllRowsAUC, CutMetric):
    r"""Probability that a relevant row outranks an irrelevant one.

    Tied pairs count one half.

    .. math:: \mathrm{AUC} = \frac{\text{ordered pairs} + \frac12 \text{tied pairs}}{R (n - R)}

    over all pairs of a relevant and an irrelevant row, with n rows in the list, R of them relevant.

    Parameters
    ----------
    k : int, optional
        Only the pairs within the top k. None: all rows of the list; unranked rows share the last place.
    over : {"all", "ranked"}
        All rows of the list, or only the ranked rows (scikit-learn). With a k, all pairs are of ranked rows.

    Notes
    -----
    0 to 1, higher is better; 0.5 is chance.

    References
    ----------
    Hanley, McNeil, *The meaning and use of the area under a receiver operating characteristic (ROC) curve*, Radiology
    143(1), 1982.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> df = pl.DataFrame({"user": [1, 1, 1, 1], "relevant": [1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.1]})
    >>> df.rec.roc_auc()
    0.75
    >>> df.rec.roc_auc(3)
    0.5
    """

    name: ClassVar[str] = "roc_auc"
    aliases: ClassVar[tuple[str, ...]] = ("auc", "auroc", "roc_auc_score")
    formula: ClassVar[str] = "ordered pairs / (R · (n − R)), ties one half"
    reference: ClassVar[str] = "Hanley, McNeil, Radiology 1982"

    over: Over = "all"

    @property
    def undefined_if(self) -> str:  # type: ignore[override]  # depends on an option
        rows = "ranked rows" if self.over == "ranked" else "rows"
        return f"whose {rows if self.k is None else f'rows in the top {self.k}'} are all relevant or all irrelevant"

    @property
    def unranked(self) -> str:  # type: ignore[override]  # depends on an option
        return "scores 0.5" if self.k is None and self.over == "all" else "has no value"

    @property
    def ignores_sampling(self) -> bool:  # type: ignore[override]  # depends on an option
        return self.k is None

    @property
    def inexact(self) -> str:  # type: ignore[override]  # depends on an option
        if self.k is None:
            return ""
        ratio = "the ratio of the expected numbers of pairs where a tied block straddles k"
        return f"not exact: {ratio}, up to 0.06 off in lists of up to 7 rows"

    def explained(self) -> Sequence[str]:
        if self.k is not None:
            return [
                "ordered pairs / pairs, ties one half",
                "pairs: a relevant and an irrelevant row, both in the top k",
            ]
        if self.over == "ranked":
            return ["ordered pairs / (R · (N − R)), ties one half", *counted_over(self.over)]
        return [self.formula, "n: the rows of the list; unranked ones share the last place"]

    def terms(self, row: Row) -> Mapping[str, nw.Expr]:
        if self.k is None:
            return super().terms(row)
        wrong = row.shared(_wrong_up_to, self.k)
        spread = row.shared(_hit_count_variance, self.k)
        return {"hits": row.shared(hits, self.k), "wrong": wrong, "spread": spread}

    def _pairs(self, sums: Sums) -> nw.Expr:
        """Return the expected number of pairs of a relevant and an irrelevant row in the top k."""
        return sums["hits"] * sums.ranked_up_to(self.k) - sums["hits"] * sums["hits"] - sums["spread"]

    def value(self, sums: Sums) -> nw.Expr:
        if self.k is not None:
            return 1 - sums["wrong"] / self._pairs(sums)
        return super().value(sums) if self.over == "all" else 1 - _wrong_pairs(sums) / _ranked_pairs(sums)

    def share(self, row: Sums, sums: Sums) -> nw.Expr:
        if self.k is None and self.over == "ranked":
            negatives = sums.ranked(None) - sums["hits"]
            return (row["hits"] * negatives - row["wrong"]) / _ranked_pairs(sums)
        if self.k is None:
            return super().share(row, sums)
        # Hits of the block that straddles k compete for the same positions: subtract each one's covariance share.
        others = sums.ranked_up_to(self.k) - sums["hits"]
        ordered = row["hits"] * others - row["spread"] - row["wrong"]
        return ordered / self._pairs(sums)

    def share_terms(self, row: Row) -> Mapping[str, nw.Expr]:
        return super().share_terms(row) if self.k is None else {}

    def unranked_share(self, sums: Sums) -> nw.Expr | None:
        return super().unranked_share(sums) if self.k is None and self.over == "all" else None

    def defined(self, sums: Sums) -> nw.Expr:
        if self.k is not None:
            # An expected number of pairs need not be whole, but it is far above this number if a pair is possible.
            return self._pairs(sums) > 1e-9  # noqa: PLR2004
        return (_negatives(sums) if self.over == "all" else _ranked_pairs(sums)) > 0


@dataclass(frozen=True)
class GAUC(AllRowsAUC):
    r"""ROC AUC averaged with the lists' row counts as weights.

    .. math:: \mathrm{GAUC} = \sum_u n_u \mathrm{AUC}_u / \sum_u n_u

    Parameters
    ----------
    weigh_by : {"rows", "relevant"}
        What n counts: all rows of a list, or its relevant rows (RecBole).

    Notes
    -----
    0 to 1, higher is better; 0.5 is chance.

    References
    ----------
    Zhou et al., *Deep interest network for click-through rate prediction*, KDD 2018.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> df = pl.DataFrame({"user": [1, 1, 2, 2, 2], "relevant": [1, 0, 0, 0, 1], "score": [2, 1, 3, 2, 1]})
    >>> df.rec.gauc()
    0.4
    """

    name: ClassVar[str] = "gauc"
    aliases: ClassVar[tuple[str, ...]] = ("group_auc",)
    formula: ClassVar[str] = "Σ nᵤ·AUCᵤ / Σ nᵤ"
    reference: ClassVar[str] = "Zhou et al., KDD 2018"
    undefined_if: ClassVar[str] = "whose rows are all relevant"
    unranked: ClassVar[str] = "scores 0.5"
    ignores_sampling: ClassVar[bool] = True

    weigh_by: WeighBy = "rows"

    @property
    def weighs(self) -> str:  # type: ignore[override]  # depends on an option
        return f"a list weighs as many {'rows' if self.weigh_by == 'rows' else 'relevant rows'} as it has"

    def explained(self) -> Sequence[str]:
        counted = "rows" if self.weigh_by == "rows" else "relevant rows"
        return [self.formula, f"nᵤ: the {counted} of the list"]

    def weighting(self, sums: Sums) -> nw.Expr:
        return sums.rows if self.weigh_by == "rows" else sums.relevant
