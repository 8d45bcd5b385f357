"""How much the recommended items of a list differ, in pairs or in their mix of categories."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal

import narwhals as nw

from recframe.metrics._beyond_accuracy import BeyondAccuracyMetric
from recframe.metrics._options import MOST_SQUARED, bounds
from recframe.metrics._sums import nan_if_infinite, sum_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe.metrics._item_row import RecommendedRow
    from recframe.metrics._sums import Sums

Distance = Literal["cosine", "hamming", "pairs"]
"""How far two items are apart: one minus the cosine of their features, the share of features that only one has, or one
minus a similarity that is given for the pair."""


@dataclass(frozen=True)
class Diversity(BeyondAccuracyMetric):
    r"""Intra-list diversity: the mean distance between two of the recommended items.

    .. math:: 1 - \frac{2}{n(n-1)} \sum_{i < j} \cos(f_i, f_j)
        = 1 - \frac{\lVert \sum_i u_i \rVert^2 - \sum_i \lVert u_i \rVert^2}{n(n-1)}

    where u is the feature vector f scaled to length 1. No pair is formed, so time is linear in rows × columns.

    Parameters
    ----------
    k : int, optional
        The cutoff. None: the whole list.
    distance : {"cosine", "hamming", "pairs"}
        1 − cosine, the share of features that only one of two items has, or 1 − the similarity of pairs.

    Notes
    -----
    0 to 1, up to 2 if features are negative; higher is more diverse. An item without features is left out, a zero
    vector has the similarity 0 to every item, and a list needs two items. RecTools counts features instead of taking
    their share: the value of ``distance="hamming"`` times their number.

    With ``distance="pairs"``, ``features=`` has the columns of the item, ``other`` and ``similarity``, and a missing
    pair has the similarity 0. It takes time in proportion to k², and needs eager frames or lazy polars frames.

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
    >>> round(df.rec.diversity(3, distance="hamming", features=features), 4)
    0.6667
    >>> pairs = pl.DataFrame({"item": ["a", "b"], "other": ["b", "c"], "similarity": [0.5, 0.2]})
    >>> round(df.rec.diversity(3, distance="pairs", features=pairs), 4)
    0.7667
    """

    name: ClassVar[str] = "diversity"
    aliases: ClassVar[tuple[str, ...]] = ("ild", "intra_list_diversity")
    formula: ClassVar[str] = "1 − mean over pairs i < j of cos(fᵢ, fⱼ)"
    reference: ClassVar[str] = "Smyth, McClave, ICCBR 2001; Ziegler et al., WWW 2005"
    range: ClassVar[tuple[float, float]] = (0.0, 2.0)
    required_inputs: ClassVar[tuple[str, ...]] = ("features",)

    distance: Distance = "cosine"

    @property
    def reads_pairs(self) -> bool:  # type: ignore[override]  # depends on an option
        """Whether it reads ``features=`` as pairs of items with a similarity."""
        return self.distance == "pairs"

    def explained(self) -> Sequence[str]:
        if self.distance == "pairs":
            return ["1 − mean over pairs i < j of similarity(i, j), 0 for a pair that features= lacks"]
        if self.distance == "cosine":
            return [self.formula]
        return ["mean over pairs i < j of features that are 0 in one of fᵢ, fⱼ and not in the other / features"]

    def recommended_terms(self, row: RecommendedRow) -> Mapping[str, nw.Expr]:
        counts = row.within(self.k) * row.first
        if self.distance == "pairs":
            return {"items": counts, "similar": counts * row.similar_ahead}
        if self.distance == "hamming":
            had = [(direction != 0).cast(nw.Float64()) + nan_if_infinite(direction) for direction in row.directions]
            return {
                "items": counts * row.described,
                **{f"with {index}": counts * has_feature for index, has_feature in enumerate(had)},
            }
        along = {f"along {index}": counts * direction for index, direction in enumerate(row.directions)}
        return {"items": counts * row.described, "lengths": counts * row.unit, **along}

    def value(self, sums: Sums) -> nw.Expr:
        if self.distance == "pairs":
            return 1 - sums["similar"] / (sums["items"] * (sums["items"] - 1) / 2)
        if self.distance == "hamming":
            # Pairs that differ in a feature: one item of those that have it, one of the others.
            n = sums["items"]
            having = [sums[name] for name in sums.names if name.startswith("with")]
            return sum_of(some * (n - some) for some in having) / (len(having) * n * (n - 1) / 2)
        along = [sums[name] * sums[name] for name in sums.names if name.startswith("along")]
        n = sums["items"]
        return 1 - (sum_of(along) - sums["lengths"]) / (n * (n - 1))

    def defined(self, sums: Sums) -> nw.Expr:
        return sums["items"] > 1


@dataclass(frozen=True)
class CategoryEntropy(BeyondAccuracyMetric):
    r"""Entropy of the categories of the recommended items of a list, in bits.

    .. math:: H = -\sum_g q(g) \log_2 q(g)

    where q are the mean category shares of the items in the top k.

    Parameters
    ----------
    k : int, optional
        The cutoff. None: the whole list.
    smoothing : float, default 0
        Added to the sum of each category before shares are taken; LensKit adds 0.000001.

    Notes
    -----
    0 to log2 of the number of categories; higher is more diverse. ``features=`` has one column per category, none
    negative, scaled to a sum of 1 for each item. Items without categories are left out, and a list without other
    items is undefined.

    References
    ----------
    Shannon, 1948; LensKit's ``Entropy``.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> features = pl.DataFrame({"item": ["a", "b", "c"], "drama": [1, 1, 0], "comedy": [0, 0, 1]})
    >>> df = pl.DataFrame({"user": [1, 1, 1], "item": ["a", "c", "b"], "score": [0.9, 0.8, 0.7]})
    >>> df.rec.category_entropy(2, features=features)
    1.0
    >>> round(df.rec.category_entropy(3, features=features), 4)
    0.9183
    """

    name: ClassVar[str] = "category_entropy"
    aliases: ClassVar[tuple[str, ...]] = ("genre_entropy", "list_entropy")
    formula: ClassVar[str] = "−Σ over categories of q·log2 q; q: mean shares of the top k"
    reference: ClassVar[str] = "Shannon 1948; LensKit"
    range: ClassVar[tuple[float, float]] = (0.0, math.inf)
    required_inputs: ClassVar[tuple[str, ...]] = ("features",)

    smoothing: float = field(default=0, metadata=bounds(least=0, most=MOST_SQUARED))

    def explained(self) -> Sequence[str]:
        return [self.formula, *([f"q: with {self.smoothing:g} added to the sum of each"] if self.smoothing else [])]

    def recommended_terms(self, row: RecommendedRow) -> Mapping[str, nw.Expr]:
        within = row.within(self.k)
        mix = {f"of {index}": within * share for index, share in enumerate(row.categories)}
        return {"items": within * row.categorised, **mix}

    def value(self, sums: Sums) -> nw.Expr:
        mix = [sums[name] + float(self.smoothing) for name in sums.names if name.startswith("of")]
        total = sum_of(mix)
        shares = [part / total for part in mix]
        return 0 - sum_of(q * nw.when(q > 0).then(q).otherwise(1.0).log(2) for q in shares)

    def defined(self, sums: Sums) -> nw.Expr:
        return sums["items"] > 0
