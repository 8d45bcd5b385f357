"""How well known the recommended items are."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal

import narwhals as nw

from recframe.metrics._beyond_accuracy import BeyondAccuracyMetric
from recframe.metrics._options import bounds
from recframe.metrics._sums import quotient
from recframe.metrics.accuracy import Denominator

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe.metrics._item_row import RecommendedRow
    from recframe.metrics._sums import Sums

Unseen = Literal["one_user", "zero"]
"""What an item that nobody has counts as: one that a single user has, or one that adds nothing."""

Unit = Literal["users", "interactions"]
"""What the popularity of an item counts: its distinct users, or its rows of the training data."""


@dataclass(frozen=True)
class Popularity(BeyondAccuracyMetric):
    """What metrics of popularity share: they read how many users of the training data have the recommended items."""

    required_inputs: ClassVar[tuple[str, ...]] = ("train",)

    def defined(self, sums: Sums) -> nw.Expr:
        return (sums["recommended"] > 0) & (sums.train_users > 0)


@dataclass(frozen=True)
class Novelty(Popularity):
    r"""Mean self-information of the recommended items: how few users have them.

    .. math:: \mathrm{novelty@}k = \frac{1}{k} \sum_{r \le k} -\log_2 \frac{|U_{i_r}|}{|U|}

    where U are the users of ``train`` and Uᵢ those who have the item.

    Parameters
    ----------
    k : int, optional
        The cutoff. None: the whole list.
    denominator : {"k", "list"}
        Divide by k, even if the list is shorter, or by min(k, N).
    unseen : {"one_user", "zero"}
        An item that ``train`` lacks counts as seen by one user, or adds nothing.
    unit : {"users", "interactions"}
        U counts users, or rows of ``train``, so repeated rows count again (Recommenders).

    Notes
    -----
    0 to log2 of the number of users, higher is more novel.

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
    formula: ClassVar[str] = "Σ r≤k of −log2(users of the item / users) / k"
    reference: ClassVar[str] = "Zhou et al., PNAS 2010"
    range: ClassVar[tuple[float, float]] = (0.0, math.inf)

    denominator: Denominator = "k"
    unseen: Unseen = "one_user"
    unit: Unit = "users"

    def explained(self) -> Sequence[str]:
        divisor = "k" if self.denominator == "k" else "min(k, N)"
        lacks = {"one_user": "counts as seen once", "zero": "adds nothing"}[self.unseen]
        formula = f"Σ r≤k of −log2({self.unit} of the item / {self.unit}) / {divisor}"
        return [formula, f"an item that the training data lacks {lacks}"]

    def recommended_terms(self, row: RecommendedRow) -> Mapping[str, nw.Expr]:
        count = row.users if self.unit == "users" else row.interactions
        within = row.within(self.k)
        seen = count > 0
        positive = nw.when(seen).then(count).otherwise(1.0)
        counted = within if self.unseen == "one_user" else within * seen.cast(nw.Float64())
        return {"recommended": within, "counted": counted, "logarithms": within * positive.log(2)}

    def value(self, sums: Sums) -> nw.Expr:
        # Σ −log2(users/U) is the number of items times log2(U), less the logarithms of their users.
        training_size = sums.train_users if self.unit == "users" else sums.train_rows
        training_size = nw.when(training_size > 0).then(training_size).otherwise(1.0)
        information = sums["counted"] * training_size.log(2) - sums["logarithms"]
        return quotient(information, sums["recommended"] if self.k is None or self.denominator == "list" else self.k)


@dataclass(frozen=True)
class ARP(Popularity):
    r"""Average recommendation popularity: mean share of users who have the recommended items.

    .. math:: \mathrm{ARP@}k = \frac{1}{\min(k, N)} \sum_{r \le k} \frac{|U_{i_r}|}{|U|}

    where U are the users of ``train`` and Uᵢ those who have the item.

    Parameters
    ----------
    k : int, optional
        The cutoff. None: the whole list.
    unit : {"users", "interactions"}
        The share of users who have an item, or how many rows of ``train`` have it, a count (Yin et al., Elliot, which
        counts repeated rows once).

    Notes
    -----
    0 to 1, lower is less biased towards what is popular; unbounded with ``unit="interactions"``. An item that
    ``train`` lacks has popularity 0.

    References
    ----------
    Yin et al., *Challenging the Long Tail Recommendation*, PVLDB 5 (2012), there with counts instead of shares;
    Abdollahpouri, Burke, Mobasher, *Managing Popularity Bias in Recommender Systems*, FLAIRS 2019.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> train = pl.DataFrame({"user": [1, 2, 3, 4, 1], "item": ["a", "a", "a", "a", "b"]})
    >>> df = pl.DataFrame({"user": [1, 1], "item": ["a", "b"], "score": [0.9, 0.8]})
    >>> df.rec.arp(2, train=train)
    0.625
    >>> df.rec.arp(2, unit="interactions", train=train)
    2.5
    """

    name: ClassVar[str] = "arp"
    aliases: ClassVar[tuple[str, ...]] = ("average_recommendation_popularity",)
    formula: ClassVar[str] = "Σ r≤k of users of the item / users, divided by min(k, N)"
    reference: ClassVar[str] = "Yin et al., PVLDB 2012; Abdollahpouri et al., FLAIRS 2019"
    range: ClassVar[tuple[float, float]] = (0.0, math.inf)
    higher_is_better: ClassVar[bool] = False

    unit: Unit = "users"

    def explained(self) -> Sequence[str]:
        if self.unit == "users":
            return [self.formula]
        return ["Σ r≤k of interactions of the item, divided by min(k, N)"]

    def recommended_terms(self, row: RecommendedRow) -> Mapping[str, nw.Expr]:
        count = row.users if self.unit == "users" else row.interactions
        return {"recommended": row.within(self.k), "popularity": row.within(self.k) * count}

    def value(self, sums: Sums) -> nw.Expr:
        mean = sums["popularity"] / sums["recommended"]
        return quotient(mean, sums.train_users) if self.unit == "users" else mean


@dataclass(frozen=True)
class LongTail(Popularity):
    r"""Share of the recommended items that are not among the most popular ones.

    .. math:: \mathrm{long\ tail@}k = \frac{|\{r \le k : i_r \notin \mathrm{head}\}|}{\min(k, N)}

    where the head are the most popular items of ``train``, by their users.

    Parameters
    ----------
    k : int, optional
        The cutoff. None: the whole list.
    head : float, default 0.2
        The head's share of the items of ``train``; of equally popular items, the smaller come first.

    Notes
    -----
    0 to 1, higher shows more of what is little known. An item that ``train`` lacks is in the tail.

    References
    ----------
    Abdollahpouri, Burke, Mobasher, *Managing popularity bias in recommender systems with personalized re-ranking*,
    FLAIRS 2019, as average percentage of long-tail items (APLT), there with a head of 80 % of the interactions.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> train = pl.DataFrame({"user": [1, 2, 3, 1], "item": ["a", "a", "a", "b"]})
    >>> df = pl.DataFrame({"user": [1, 1], "item": ["a", "b"], "score": [0.9, 0.8]})
    >>> df.rec.long_tail(2, head=0.5, train=train)
    0.5
    """

    name: ClassVar[str] = "long_tail"
    aliases: ClassVar[tuple[str, ...]] = ("aplt", "tail_percentage")
    formula: ClassVar[str] = "recommended items r ≤ k outside the head / min(k, N)"
    reference: ClassVar[str] = "Abdollahpouri et al., FLAIRS 2019"

    head: float = field(default=0.2, metadata=bounds(above=0, below=1))

    def explained(self) -> Sequence[str]:
        return [self.formula, f"head: the {self.head:.4g} of the items of the training data that most users have"]

    def recommended_terms(self, row: RecommendedRow) -> Mapping[str, nw.Expr]:
        within = row.within(self.k)
        return {"recommended": within, "tail": within * (row.popularity > self.head).cast(nw.Float64())}

    def value(self, sums: Sums) -> nw.Expr:
        return sums["tail"] / sums["recommended"]
