"""Rank correlations of relevance and score, and the accuracy of their pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from recframe.metrics._record import Metric

if TYPE_CHECKING:
    from collections.abc import Mapping

    import narwhals as nw

    from recframe.metrics._row import Row
    from recframe.metrics._sums import Sums


NO_MEAN = "not the mean over orders, by definition"


def _concordance(row: Row) -> nw.Expr:
    """Return the term that sums to the concordant pairs less the discordant ones."""
    return row.concordance


def _grade_pairs(row: Row) -> nw.Expr:
    """Return the term that sums to the pairs of rows of different relevance."""
    return (row.length - row.same_grade) / 2


@dataclass(frozen=True)
class Correlation(Metric):
    """What rank correlations share: they compare all ranked rows of a list."""

    unranked: ClassVar[str] = "has no value"
    lower_grades: ClassVar[str] = "are compared too"


@dataclass(frozen=True)
class Spearman(Correlation):
    r"""Correlation of the average ranks of relevance and score.

    Spearman's rank correlation.

    .. math:: \rho = \frac{\sum_i (x_i - \bar x)(y_i - \bar y)}{\sqrt{\sum_i (x_i - \bar x)^2 \sum_i (y_i - \bar y)^2}}

    where x and y are the average ranks of relevance and score.

    Notes
    -----
    −1 to 1, higher is better. It reads the ranked rows only.

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
    aliases: ClassVar[tuple[str, ...]] = ("rho", "spearmanr")
    formula: ClassVar[str] = "cov(x, y) / √(var(x)·var(y)), x and y average ranks"
    reference: ClassVar[str] = "Spearman 1904; scipy `spearmanr`"
    undefined_if: ClassVar[str] = "with fewer than two ranked rows, or all scores or all relevances equal"
    range: ClassVar[tuple[float, float]] = (-1.0, 1.0)
    inexact: ClassVar[str] = f"{NO_MEAN}: ties have their average rank, up to 0.39 off in lists of up to 7 rows"

    def terms(self, row: Row) -> Mapping[str, nw.Expr]:
        middle = (row.length + 1) / 2
        score = row.order + (row.size - 1) / 2 - middle
        grade = row.grade_rank - middle
        return {"score·grade": score * grade, "score²": score * score, "grade²": grade * grade}

    def share(self, row: Sums, sums: Sums) -> nw.Expr:
        return row["score·grade"] / (sums["score²"] * sums["grade²"]).sqrt()

    def defined(self, sums: Sums) -> nw.Expr:
        return (sums["score²"] > 0) & (sums["grade²"] > 0)


@dataclass(frozen=True)
class Kendall(Correlation):
    r"""τ-b of relevance and score.

    Kendall's rank correlation.

    .. math:: \tau_b = \frac{C - D}{\sqrt{(n_0 - n_1)(n_0 - n_2)}}

    where C pairs are concordant and D discordant; of all n₀ pairs, n₁ tie in score and n₂ in relevance.

    Notes
    -----
    −1 to 1, higher is better. It reads the ranked rows only. Instead of counting pairs, it ranks the list once for
    each binary digit of its number of distinct relevances; in a lazy frame, twenty times.

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
    aliases: ClassVar[tuple[str, ...]] = ("tau", "kendalltau")
    formula: ClassVar[str] = "(C − D) / √((n₀ − n₁)(n₀ − n₂))"
    reference: ClassVar[str] = "Kendall, Biometrika 1945; scipy `kendalltau`"
    undefined_if: ClassVar[str] = "with fewer than two ranked rows, or all scores or all relevances equal"
    range: ClassVar[tuple[float, float]] = (-1.0, 1.0)
    inexact: ClassVar[str] = f"{NO_MEAN}: the divisor of τ-b counts no ties, up to 0.47 off in lists of up to 7 rows"
    is_additive: ClassVar[bool] = False

    def terms(self, row: Row) -> Mapping[str, nw.Expr]:
        return {
            "concordant less discordant": row.shared(_concordance),
            "score pairs": (row.length - row.size) / 2,
            "grade pairs": row.shared(_grade_pairs),
        }

    def value(self, sums: Sums) -> nw.Expr:
        return sums["concordant less discordant"] / (sums["score pairs"] * sums["grade pairs"]).sqrt()

    def defined(self, sums: Sums) -> nw.Expr:
        return (sums["score pairs"] > 0) & (sums["grade pairs"] > 0)


@dataclass(frozen=True)
class OPA(Correlation):
    r"""Share of the pairs of different relevance in which the more relevant row is ahead.

    Ordered pair accuracy.

    .. math:: \mathrm{OPA} = (C + T/2) / (C + D + T)

    where C pairs of different relevance are concordant and D discordant, and T tie in score.

    Notes
    -----
    0 to 1, higher is better; 0.5 is chance. It reads the ranked rows only. If all relevance is 0 or 1, it equals
    ``roc_auc(over="ranked")``. Pairs are counted as for `kendall`.

    References
    ----------
    Pasumarthi et al., *TF-Ranking: scalable TensorFlow library for learning-to-rank*, KDD 2019, as
    ``OPAMetric``, which gives a pair of equal score nothing.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> df = pl.DataFrame({"user": [1, 1, 1], "relevant": [3, 1, 2], "score": [0.9, 0.8, 0.1]})
    >>> round(df.rec.opa(), 6)
    0.666667
    """

    name: ClassVar[str] = "opa"
    aliases: ClassVar[tuple[str, ...]] = ("ordered_pair_accuracy",)
    formula: ClassVar[str] = "(C + T/2) / (C + D + T), T: pairs of equal score"
    reference: ClassVar[str] = "Pasumarthi et al., KDD 2019"
    undefined_if: ClassVar[str] = "without two ranked rows of different relevance"
    is_additive: ClassVar[bool] = False

    def terms(self, row: Row) -> Mapping[str, nw.Expr]:
        return {"concordant less discordant": row.shared(_concordance), "grade pairs": row.shared(_grade_pairs)}

    def value(self, sums: Sums) -> nw.Expr:
        return (sums["concordant less discordant"] / sums["grade pairs"] + 1) / 2

    def defined(self, sums: Sums) -> nw.Expr:
        return sums["grade pairs"] > 0
