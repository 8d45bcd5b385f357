"""How much the recommended items of a list differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import narwhals as nw

from recframe.metrics._beyond_accuracy import BeyondAccuracyMetric

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recframe.metrics._item_row import RecommendedRow
    from recframe.metrics._sums import Sums


@dataclass(frozen=True)
class Diversity(BeyondAccuracyMetric):
    r"""Intra-list diversity: one minus the mean cosine similarity over the pairs of items of the top k.

    .. math:: 1 - \frac{2}{n(n-1)} \sum_{i < j} \cos(f_i, f_j)
        = 1 - \frac{\lVert \sum_i u_i \rVert^2 - \sum_i \lVert u_i \rVert^2}{n(n-1)}

    with uᵢ the feature vector fᵢ scaled to length 1: no pair is formed, so time is linear in rows × columns.

    Parameters
    ----------
    k : int, optional
        The cutoff. None: the whole list.

    Notes
    -----
    In [0, 2], in [0, 1] where no feature is negative; higher is more diverse. Needs ``features=``: a frame of the item
    and numeric columns, or one column of lists. Items count once; those without features stay out, a zero vector is
    similar to nothing. A list with fewer than two items left is undefined.

    References
    ----------
    Smyth, McClave, *Similarity vs. Diversity*, ICCBR 2001; Ziegler et al., *Improving Recommendation Lists Through
    Topic Diversification*, WWW 2005 (intra-list similarity).

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> features = pl.DataFrame({"item": ["a", "b", "c"], "drama": [1, 1, 0], "comedy": [0, 0, 1]})
    >>> df = pl.DataFrame({"user": [1, 1, 1], "item": ["a", "b", "c"], "score": [0.9, 0.8, 0.7]})
    >>> df.rec.diversity(2, features=features)
    0.0
    >>> round(df.rec.diversity(3, features=features), 4)
    0.6667
    """

    name: ClassVar[str] = "diversity"
    aliases: ClassVar[tuple[str, ...]] = ("ild", "intra_list_diversity")
    summary: ClassVar[str] = "intra-list diversity: one minus the mean cosine similarity of the recommended items"
    formula: ClassVar[str] = "1 − mean over pairs i < j of cos(fᵢ, fⱼ)"
    reference: ClassVar[str] = "Smyth, McClave, ICCBR 2001; Ziegler et al., WWW 2005"
    range: ClassVar[tuple[float, float]] = (0.0, 2.0)
    required_inputs: ClassVar[tuple[str, ...]] = ("features",)

    def recommended_terms(self, row: RecommendedRow) -> Mapping[str, nw.Expr]:
        counts = row.within(self.k) * row.first
        along = {f"along {index}": counts * direction for index, direction in enumerate(row.directions)}
        return {"items": counts * row.described, "lengths": counts * row.unit, **along}

    def value(self, sums: Sums) -> nw.Expr:
        along = [sums[name] * sums[name] for name in sums.names if name.startswith("along")]
        n = sums["items"]
        return 1 - (nw.sum_horizontal(*along) - sums["lengths"]) / (n * (n - 1))

    def defined(self, sums: Sums) -> nw.Expr:
        return sums["items"] > 1
