"""Rank correlations of relevance and score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from recframe.metrics._record import Metric, Reads

if TYPE_CHECKING:
    from collections.abc import Mapping

    import narwhals as nw

    from recframe.metrics._row import Row
    from recframe.metrics._sums import Sums


@dataclass(frozen=True)
class Spearman(Metric):
    r"""Spearman's rank correlation: the correlation of the average ranks of relevance and score.

    .. math:: \rho = \frac{\sum_i (x_i - \bar x)(y_i - \bar y)}{\sqrt{\sum_i (x_i - \bar x)^2 \sum_i (y_i - \bar y)^2}}

    Notes
    -----
    In [-1, 1], higher is better. Takes no k; of the ranked rows. Ties have their average rank. A list with fewer than
    two ranked rows, or with all scores or all relevances equal, is undefined.

    References
    ----------
    Spearman, *The proof and measurement of association between two things*, 1904; ``scipy.stats.spearmanr``.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> df = pl.DataFrame({"user": [1, 1, 1], "relevant": [3, 1, 2], "score": [0.9, 0.8, 0.1]})
    >>> df.rec.spearman()
    0.5
    """

    name: ClassVar[str] = "spearman"
    aliases: ClassVar[tuple[str, ...]] = ("spearmanr",)
    summary: ClassVar[str] = "correlation of the average ranks of relevance and score"
    formula: ClassVar[str] = "cov(x, y) / √(var(x)·var(y)), x and y average ranks"
    reference: ClassVar[str] = "Spearman 1904; scipy `spearmanr`"
    undefined_if: ClassVar[str] = "with fewer than two ranked rows, or all scores or all relevances equal"
    range: ClassVar[tuple[float, float]] = (-1.0, 1.0)
    reads: ClassVar[Reads] = "all"

    def terms(self, row: Row) -> Mapping[str, nw.Expr]:
        middle = (row.length + 1) / 2
        score = row.order + (row.size - 1) / 2 - middle
        grade = row.grade_rank - middle
        return {"score·grade": score * grade, "score²": score * score, "grade²": grade * grade}

    def value(self, sums: Sums) -> nw.Expr:
        return self.share(sums, sums)

    def share(self, row: Sums, sums: Sums) -> nw.Expr:
        return row["score·grade"] / (sums["score²"] * sums["grade²"]).sqrt()

    def defined(self, sums: Sums) -> nw.Expr:
        return (sums["score²"] > 0) & (sums["grade²"] > 0)


@dataclass(frozen=True)
class Kendall(Metric):
    r"""Kendall's τ-b of relevance and score.

    .. math:: \tau_b = \frac{C - D}{\sqrt{(n_0 - n_1)(n_0 - n_2)}}

    with C concordant and D discordant pairs, n₀ all pairs, n₁ and n₂ those that tie in score and in relevance.

    Notes
    -----
    In [-1, 1], higher is better. Takes no k; of the ranked rows. A list with fewer than two ranked rows, or with all
    scores or all relevances equal, is undefined. Counted by one ranking for each binary digit of the number of
    distinct relevances of a list, never by pairs; a lazy frame, where that number is not known, takes twenty.

    References
    ----------
    Kendall, *The treatment of ties in ranking problems*, Biometrika 33(3), 1945; ``scipy.stats.kendalltau``.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> df = pl.DataFrame({"user": [1, 1, 1], "relevant": [3, 1, 2], "score": [0.9, 0.8, 0.1]})
    >>> round(df.rec.kendall(), 6)
    0.333333
    """

    name: ClassVar[str] = "kendall"
    aliases: ClassVar[tuple[str, ...]] = ("kendalltau",)
    summary: ClassVar[str] = "τ-b of relevance and score"
    formula: ClassVar[str] = "(C − D) / √((n₀ − n₁)(n₀ − n₂))"
    reference: ClassVar[str] = "Kendall, Biometrika 1945; scipy `kendalltau`"
    undefined_if: ClassVar[str] = "with fewer than two ranked rows, or all scores or all relevances equal"
    range: ClassVar[tuple[float, float]] = (-1.0, 1.0)
    reads: ClassVar[Reads] = "all"
    is_additive: ClassVar[bool] = False

    def terms(self, row: Row) -> Mapping[str, nw.Expr]:
        return {
            "concordant less discordant": row.concordance,
            "score pairs": (row.length - row.size) / 2,
            "grade pairs": (row.length - row.same_grade) / 2,
        }

    def value(self, sums: Sums) -> nw.Expr:
        return sums["concordant less discordant"] / (sums["score pairs"] * sums["grade pairs"]).sqrt()

    def defined(self, sums: Sums) -> nw.Expr:
        return (sums["score pairs"] > 0) & (sums["grade pairs"] > 0)
