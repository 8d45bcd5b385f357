"""How well known the recommended items are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import narwhals as nw

from recframe.metrics._beyond_accuracy import BeyondAccuracyMetric
from recframe.metrics.accuracy import Denominator

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recframe.metrics._item_row import RecommendedRow
    from recframe.metrics._sums import Sums

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
    In [0, log2 |U|], higher is more novel. Needs ``train=``. A list without recommended items is undefined, and so
    is every list where ``train`` has no row.

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
    aliases: ClassVar[tuple[str, ...]] = ("self_information",)
    summary: ClassVar[str] = "mean self-information of the recommended items: how few users have them"
    formula: ClassVar[str] = "Σ r≤k of −log2(users of the item / users) / k"
    reference: ClassVar[str] = "Zhou et al., PNAS 2010"
    range: ClassVar[tuple[float, float]] = (0.0, math.inf)
    required_inputs: ClassVar[tuple[str, ...]] = ("train",)

    denominator: Denominator = "k"
    unseen: Unseen = "one_user"

    def recommended_terms(self, row: RecommendedRow) -> Mapping[str, nw.Expr]:
        within, seen = row.within(self.k), row.users > 0
        known = nw.when(seen).then(row.users).otherwise(1.0)
        counted = within if self.unseen == "one_user" else within * seen.cast(nw.Float64())
        return {"recommended": within, "counted": counted, "logarithms": within * known.log(2)}

    def value(self, sums: Sums) -> nw.Expr:
        # Σ −log2(users/U) is the number of items times log2(U), less the logarithms of their users.
        users = nw.when(sums.train_users > 0).then(sums.train_users).otherwise(1.0)
        information = sums["counted"] * users.log(2) - sums["logarithms"]
        return information / (sums["recommended"] if self.k is None or self.denominator == "list" else float(self.k))

    def defined(self, sums: Sums) -> nw.Expr:
        return (sums["recommended"] > 0) & (sums.train_users > 0)


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
    A list without recommended items is undefined, and so is every list where ``train`` has no row.

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
    aliases: ClassVar[tuple[str, ...]] = ("average_recommendation_popularity",)
    summary: ClassVar[str] = "average recommendation popularity: mean share of users who have the recommended items"
    formula: ClassVar[str] = "Σ r≤k of users of the item / users, divided by min(k, N)"
    reference: ClassVar[str] = "Yin et al., PVLDB 2012; Abdollahpouri et al., FLAIRS 2019"
    higher_is_better: ClassVar[bool] = False
    required_inputs: ClassVar[tuple[str, ...]] = ("train",)

    def recommended_terms(self, row: RecommendedRow) -> Mapping[str, nw.Expr]:
        return {"recommended": row.within(self.k), "users": row.within(self.k) * row.users}

    def value(self, sums: Sums) -> nw.Expr:
        return sums["users"] / sums.train_users / sums["recommended"]

    def defined(self, sums: Sums) -> nw.Expr:
        return (sums["recommended"] > 0) & (sums.train_users > 0)
