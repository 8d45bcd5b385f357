"""What a list shows: how well known, how varied, how close to the user's past."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import narwhals as nw

from recframe.errors import OptionError
from recframe.metrics._beyond_accuracy import BeyondAccuracyMetric
from recframe.metrics._record import CutMetric, Reads, check_choice, check_k

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recframe.metrics._item_row import HistoryRow, RecommendedRow
    from recframe.metrics._row import Row, Sums

__all__ = ["ARP", "Calibration", "Diversity", "Novelty", "Serendipity"]

Slots = Literal["k", "list"]
"""What a sum over the top k is divided by: the cutoff, or the number of rows that the list shows up to it."""

Unseen = Literal["one_user", "zero"]
"""What an item that nobody has counts as: one that a single user has, or one that adds nothing."""


@dataclass(frozen=True)
class Novelty(BeyondAccuracyMetric):
    r"""Mean self-information of the top k: how few users have these items.

    .. math:: \mathrm{novelty@}k = \frac{1}{k} \sum_{r \le k} -\log_2 \frac{|U_{i_r}|}{|U|}

    where U are the users of ``train`` and Uᵢ those who have the item.

    Parameters
    ----------
    k : int, optional
        The cutoff. None: the whole list.
    denominator : {"k", "list"}
        Divide by k, also where the list is shorter, or by min(k, N).
    unseen : {"one_user", "zero"}
        What an item that ``train`` lacks counts as: seen by one user, or adding nothing.

    Notes
    -----
    In [0, log2 |U|], higher is more novel. Needs ``train=``. A list that shows nothing is undefined.

    References
    ----------
    Zhou et al., *Solving the apparent diversity-accuracy dilemma of recommender systems*, PNAS 107 (2010), as
    self-information; Castells, Hurley, Vargas, *Novelty and Diversity in Recommender Systems*, 2015.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> train = pl.DataFrame({"user": [1, 2, 3, 4, 1], "item": ["a", "a", "a", "a", "b"]})
    >>> df = pl.DataFrame({"user": [1, 1], "item": ["a", "b"], "score": [0.9, 0.8]})
    >>> df.rec.novelty(2, train=train)
    1.0
    """

    name: ClassVar[str] = "novelty"
    summary: ClassVar[str] = "mean self-information of the items shown: how few users have them"
    formula: ClassVar[str] = "Σ r≤k of −log2(users of the item / users) / k"
    reference: ClassVar[str] = "Zhou et al., PNAS 2010"
    range: ClassVar[tuple[float, float]] = (0.0, math.inf)
    needs: ClassVar[tuple[str, ...]] = ("train",)

    denominator: Slots = "k"
    unseen: Unseen = "one_user"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("denominator", self.denominator, Slots)
        check_choice("unseen", self.unseen, Unseen)

    def recommended_terms(self, row: RecommendedRow) -> Mapping[str, nw.Expr]:
        within, seen = row.within(self.k), row.users > 0
        known = nw.when(seen).then(row.users).otherwise(1.0)
        counted = within if self.unseen == "one_user" else within * seen.cast(nw.Float64())
        return {"shown": within, "counted": counted, "logarithms": within * known.log(2)}

    def value(self, sums: Sums) -> nw.Expr:
        # Σ −log2(users/U) is the number of items times log2(U), less the logarithms of their users.
        information = sums["counted"] * sums.train_users.log(2) - sums["logarithms"]
        return information / (sums["shown"] if self.k is None or self.denominator == "list" else float(self.k))

    def defined(self, sums: Sums) -> nw.Expr:
        return sums["shown"] > 0


@dataclass(frozen=True)
class ARP(BeyondAccuracyMetric):
    r"""Average recommendation popularity: the mean share of users who have the items of the top k.

    .. math:: \mathrm{ARP@}k = \frac{1}{\min(k, N)} \sum_{r \le k} \frac{|U_{i_r}|}{|U|}

    where U are the users of ``train`` and Uᵢ those who have the item.

    Parameters
    ----------
    k : int, optional
        The cutoff. None: the whole list.

    Notes
    -----
    In [0, 1], lower is less biased towards what is popular. Needs ``train=``; an item that it lacks has popularity 0.
    A list that shows nothing is undefined.

    References
    ----------
    Yin et al., *Challenging the Long Tail Recommendation*, PVLDB 5 (2012), there with counts in the place of shares;
    Abdollahpouri, Burke, Mobasher, *Managing Popularity Bias in Recommender Systems*, FLAIRS 2019.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> train = pl.DataFrame({"user": [1, 2, 3, 4, 1], "item": ["a", "a", "a", "a", "b"]})
    >>> df = pl.DataFrame({"user": [1, 1], "item": ["a", "b"], "score": [0.9, 0.8]})
    >>> df.rec.arp(2, train=train)
    0.625
    """

    name: ClassVar[str] = "arp"
    summary: ClassVar[str] = "average recommendation popularity: mean share of users who have the items shown"
    formula: ClassVar[str] = "Σ r≤k of users of the item / users, divided by min(k, N)"
    reference: ClassVar[str] = "Yin et al., PVLDB 2012; Abdollahpouri et al., FLAIRS 2019"
    higher_is_better: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ("train",)

    def recommended_terms(self, row: RecommendedRow) -> Mapping[str, nw.Expr]:
        return {"shown": row.within(self.k), "users": row.within(self.k) * row.users}

    def value(self, sums: Sums) -> nw.Expr:
        return sums["users"] / sums.train_users / sums["shown"]

    def defined(self, sums: Sums) -> nw.Expr:
        return sums["shown"] > 0


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
    summary: ClassVar[str] = "intra-list diversity: one minus the mean cosine similarity of the items shown"
    formula: ClassVar[str] = "1 − mean over pairs i < j of cos(fᵢ, fⱼ)"
    reference: ClassVar[str] = "Smyth, McClave, ICCBR 2001; Ziegler et al., WWW 2005"
    range: ClassVar[tuple[float, float]] = (0.0, 2.0)
    needs: ClassVar[tuple[str, ...]] = ("features",)

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


@dataclass(frozen=True)
class Calibration(BeyondAccuracyMetric):
    r"""Miscalibration: how far the category mix of the top k is from that of the user's history.

    .. math:: \mathrm{KL}(p \,\|\, \tilde q) = \sum_g p(g) \ln \frac{p(g)}{(1 - \alpha)\, q(g) + \alpha\, p(g)}

    with p the mean category shares of the user's items in ``train``, and q that of the items among the top k.

    Parameters
    ----------
    k : int, optional
        The cutoff. None: the whole list.
    alpha : float
        How much of p is mixed into q, in (0, 1), so that a category that the list lacks is no infinite divergence.

    Notes
    -----
    In [0, −ln alpha], lower is better calibrated. Needs ``train=`` and ``features=``: a frame of the item and one
    column per category, none negative, scaled to a sum of 1 for each item. Items without categories stay out. A list
    is undefined where it shows no item with a category, or where its user has none in the history.

    References
    ----------
    Steck, *Calibrated Recommendations*, RecSys 2018, equations 2 to 6, with equal weights.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> features = pl.DataFrame({"item": ["a", "b", "c"], "drama": [1, 1, 0], "comedy": [0, 0, 1]})
    >>> train = pl.DataFrame({"user": [1, 1], "item": ["b", "c"]})
    >>> df = pl.DataFrame({"user": [1, 1, 1], "item": ["a", "b", "c"], "score": [0.9, 0.8, 0.7]})
    >>> round(df.rec.calibration(2, train=train, features=features), 4)
    1.9585
    """

    name: ClassVar[str] = "calibration"
    summary: ClassVar[str] = "miscalibration: divergence of the category mix shown from that of the user's history"
    formula: ClassVar[str] = "Σ over categories of p·ln(p / ((1 − α)·q + α·p)); p: history, q: top k"
    reference: ClassVar[str] = "Steck, RecSys 2018"
    range: ClassVar[tuple[float, float]] = (0.0, math.inf)
    higher_is_better: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ("train", "features")

    alpha: float = 0.01

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.alpha < 1:
            msg = f"alpha={self.alpha!r} is not between 0 and 1"
            raise OptionError(msg, "Steck uses 0.01")

    def recommended_terms(self, row: RecommendedRow) -> Mapping[str, nw.Expr]:
        within = row.within(self.k)
        mix = {f"shown {index}": within * share for index, share in enumerate(row.categories)}
        return {"items": within * row.categorised, **mix}

    def history_terms(self, row: HistoryRow) -> Mapping[str, nw.Expr]:
        mix = {f"past {index}": share for index, share in enumerate(row.categories)}
        return {"history": row.categorised, **mix}

    def value(self, sums: Sums) -> nw.Expr:
        parts = []
        for name in sums.names:
            if name.startswith("past"):
                p = sums[name] / sums["history"]
                q = sums[name.replace("past", "shown")] / sums["items"]
                mixed = (1 - self.alpha) * q + self.alpha * p
                parts.append(p * nw.when(p > 0).then(p / mixed).otherwise(1.0).log())
        return nw.sum_horizontal(*parts)

    def defined(self, sums: Sums) -> nw.Expr:
        return (sums["items"] > 0) & (sums["history"] > 0)


@dataclass(frozen=True)
class Serendipity(CutMetric):
    r"""Share of the top k that is relevant and that popularity alone would not have suggested.

    .. math:: \mathrm{serendipity@}k = \frac{|\{r \le k : i_r \text{ relevant},\ i_r \notin PM\}|}{k}

    where PM, what a primitive model suggests, are the most popular items of ``train`` (ties by item).

    Parameters
    ----------
    k : int, optional
        The cutoff. None: the whole list, divided by N; then `expected` must be given.
    expected : int, optional
        How many of the most popular items are expected; None: k.
    denominator : {"k", "list"}
        Divide by k, also where the list is shorter, or by min(k, N).

    Notes
    -----
    In [0, 1], higher is better. Needs ``train=``. As it reads the relevance, it is undefined where the accuracy metrics
    are, and its value under ties is the exact expected one.

    References
    ----------
    Ge, Delgado-Battenfeld, Jannach, *Beyond Accuracy: Evaluating Recommender Systems by Coverage and Serendipity*,
    RecSys 2010, after Murakami, Mori, Orihara, 2008: useful and unexpected, by comparison with a primitive model.
    Kaminskas and Bridge, ACM TiiS 7 (2016), survey the alternatives.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> train = pl.DataFrame({"user": [1, 2, 3, 1, 2, 3], "item": ["a", "a", "a", "b", "b", "c"]})
    >>> df = pl.DataFrame({"user": [9, 9], "item": ["a", "c"], "relevant": [1, 1], "score": [0.9, 0.8]})
    >>> df.rec.serendipity(2, train=train)
    0.5
    """

    name: ClassVar[str] = "serendipity"
    summary: ClassVar[str] = "share of the top k that is relevant and not among the most popular items"
    formula: ClassVar[str] = "hits at r ≤ k outside the k most popular items / k"
    reference: ClassVar[str] = "Ge, Delgado-Battenfeld, Jannach, RecSys 2010"
    reads: ClassVar[Reads] = "hits"
    needs: ClassVar[tuple[str, ...]] = ("train",)

    expected: int | None = None
    denominator: Slots = "k"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "expected", check_k(self.expected, "expected"))
        check_choice("denominator", self.denominator, Slots)

    def terms(self, row: Row) -> Mapping[str, nw.Expr]:
        expected = self.k if self.expected is None else self.expected
        if expected is None:
            msg = "serendipity of the whole list does not say how many of the most popular items are expected"
            raise OptionError(msg, "give k=10, or expected=10")
        return {"found": row.hit * (row.popular > expected).cast(nw.Float64()) * row.within(self.k)}

    def value(self, sums: Sums) -> nw.Expr:
        if self.k is None or self.denominator == "list":
            return sums.ratio(sums["found"], sums.ranked(self.k))
        return sums["found"] / float(self.k)
