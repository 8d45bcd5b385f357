"""The area under a part of the ROC curve."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal

import narwhals as nw

from recframe.errors import OptionError
from recframe.metrics._options import bounds
from recframe.metrics._record import Metric
from recframe.metrics._sums import quotient
from recframe.metrics.accuracy import Points, hits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe.metrics._row import Row
    from recframe.metrics._sums import Sums


Positives = Literal["all", "first"]
"""Which relevant items form pairs with the first n irrelevant rows: all of them, or only the first n."""


def _first_pairs(row: Row, n: int) -> nw.Expr:
    """Return how many of the first n other rows a hit is ahead of, if it is one of the first n hits."""
    return row.hit * row.first_pairs(n)


def _area(row: Row, max_fpr: float, points: Points, negatives: int | None) -> nw.Expr:
    """Return a hit's part of the area up to the false positive rate or a number of other rows, in rows.

    Of m hits in a tied block with n other rows, m·i/(n + 1) are expected ahead of the i-th other one.
    """
    end = nw.lit(float(negatives)) if negatives else max_fpr * (row.length - row.ranked_relevant_in_list)
    before = row.order - 1 - row.hits_before
    inside = row.size - row.block_hits
    left = end - before
    full_rows = left - left % 1
    steps = (full_rows + 1) * (left - full_rows / 2) / (inside + 1)
    line = left * left / (2 * nw.when(inside > 0).then(inside).otherwise(1.0))
    cut = nw.when(left > 0).then(steps if points == "positions" else line).otherwise(0.0)
    return row.hit * nw.when(left >= inside).then(left - inside / 2).otherwise(cut)


@dataclass(frozen=True)
class PartialAUC(Metric):
    r"""Area under the first part of the ROC curve, by default standardised: chance scores 0.5.

    .. math:: \frac12 \Bigl(1 + \frac{A - x^2/2}{x - x^2/2}\Bigr), \quad A = \int_0^x \mathrm{TPR}(f)\, df

    where TPR(f) is the true positive rate at the false positive rate f.

    Parameters
    ----------
    max_fpr : float, default 0.1
        The greatest false positive rate x, above 0; 1 gives ``roc_auc(over="ranked")``.
    points : {"positions", "thresholds"}
        Where the curve has a point: at each position, or at each distinct score (scikit-learn).
    negatives : int, optional
        Instead of `max_fpr`: the curve ends after n irrelevant rows, and is not standardised (pAUC@n, RecTools).
    positives : {"all", "first"}
        With `negatives`: all relevant items count, or only the first n (pAp@n, RecTools' ``PAP``).

    Notes
    -----
    0 to 1, higher is better. It reads the ranked rows only. With ``points="thresholds"``, which needs
    ``ties="average"``, the curve is a straight line over a tied block.

    With `negatives`, the value is A / (n · R), even if the list has fewer than n irrelevant rows. R counts all relevant
    items, and is at most n with ``positives="first"``.

    References
    ----------
    McClish, *Analyzing a portion of the ROC curve*, Medical Decision Making 9(3), 1989; scikit-learn's
    ``roc_auc_score(max_fpr=)``. Hiranandani et al., *Optimization and Analysis of the pAp@k Metric for Recommender
    Systems*, ICML 2020: pAUC@k and pAp@k.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> df = pl.DataFrame({"user": [1] * 4, "relevant": [1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.1]})
    >>> round(df.rec.partial_auc(max_fpr=0.5), 6)
    0.666667
    >>> df.rec.partial_auc(negatives=2)
    0.75
    >>> df.rec.partial_auc(negatives=1, positives="first")
    1.0
    """

    name: ClassVar[str] = "partial_auc"
    aliases: ClassVar[tuple[str, ...]] = ("pauc",)
    formula: ClassVar[str] = "(1 + (A − x²/2) / (x − x²/2)) / 2, A: the integral of TPR(f) from f = 0 to x"
    reference: ClassVar[str] = "McClish, Medical Decision Making 1989; scikit-learn `roc_auc_score(max_fpr=)`"

    max_fpr: float = field(default=0.1, metadata=bounds(above=0, most=1))
    points: Points = "positions"
    negatives: int | None = field(default=None, metadata=bounds(least=1))
    positives: Positives = "all"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.negatives is not None and self.points == "thresholds":
            msg = f"negatives={self.negatives} counts rows, but points='thresholds' puts tied rows on a line"
            raise OptionError(msg, "leave one of them out")
        if self.negatives is None and self.positives == "first":
            msg = "positives='first' counts as many relevant items as negatives= says, which is not given"
            raise OptionError(msg, "negatives=10")

    @property
    def undefined_if(self) -> str:  # type: ignore[override]  # depends on an option
        return "" if self.negatives is not None else "without both a relevant and an irrelevant ranked row"

    @property
    def unranked(self) -> str:  # type: ignore[override]  # depends on an option
        return "has no value" if self.negatives is None else "scores 0"

    @property
    def requires_average_ties(self) -> bool:  # type: ignore[override]  # depends on an option
        return self.points == "thresholds"

    @property
    def inexact(self) -> str:  # type: ignore[override]  # depends on an option
        line = "a straight line over a tied block across max_fpr, up to 0.25 off in lists of up to 7 rows"
        return f"not the mean over orders, by definition: {line}" if self.points == "thresholds" else ""

    def explained(self) -> Sequence[str]:
        if self.negatives is not None:
            area = ["A: the area up to n rows that are not relevant, in rows", f"n = {self.negatives}"]
            if self.positives == "first":
                return ["A / (n · min(R, n))", f"{area[0]}, of the first n relevant items", area[1]]
            return [f"A / (n · R), {area[0]}", area[1]]
        rate = "TPR(f): the true positive rate at the false positive rate f"
        lines = ["the curve is a straight line over a tied block"] if self.points == "thresholds" else []
        return [self.formula, rate, f"x = {self.max_fpr:g}", *lines]

    def terms(self, row: Row) -> Mapping[str, nw.Expr]:
        if self.negatives is not None and self.positives == "first":
            area = row.shared(_first_pairs, self.negatives)
        else:
            area = row.shared(_area, float(self.max_fpr), self.points, self.negatives)
        return {"hits": row.shared(hits, None), "area": area}

    def share(self, row: Sums, sums: Sums) -> nw.Expr:
        if self.negatives is not None:
            relevant = sums.relevant if self.positives == "all" else sums.relevant_up_to(self.negatives)
            return sums.ratio(row["area"], self.negatives * relevant)
        least = self.max_fpr**2 / 2
        most = self.max_fpr
        area = row["area"] / (sums["hits"] * (sums.ranked(None) - sums["hits"]))
        # What the standardised value has without any area is spread over the hits.
        hits = row["hits"] / sums["hits"]
        return (hits + quotient(area - least * row["hits"] / sums["hits"], most - least)) / 2

    def defined(self, sums: Sums) -> nw.Expr | None:
        if self.negatives is not None:
            return None
        return (sums["hits"] > 0) & (sums["hits"] < sums.ranked(None))
