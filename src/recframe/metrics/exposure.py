"""Exposure in all lists together: how much of the catalogue is recommended, how evenly, how differently."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import narwhals as nw

from recframe.metrics._beyond_accuracy import ExposureMetric
from recframe.metrics._sums import quotient

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe.metrics._item_row import ItemRow, RecommendedRow
    from recframe.metrics._sums import Sums

GiniDenominator = Literal["n", "n-1"]
"""What Gini's coefficient is divided by: the items of the catalogue, or one less, so that it reaches 1."""


def _exposure(row: RecommendedRow, k: int | None) -> nw.Expr:
    """Return the term that sums to the times that an item is recommended."""
    return row.within(k)


@dataclass(frozen=True)
class _Exposures(ExposureMetric):
    """What metrics of exposure share: how often each item of the catalogue is recommended."""

    optional_inputs: ClassVar[tuple[str, ...]] = ("catalog",)

    def recommended_terms(self, row: RecommendedRow) -> Mapping[str, nw.Expr]:
        return {"exposures": row.shared(_exposure, self.k)}


@dataclass(frozen=True)
class Coverage(_Exposures):
    r"""Share of the catalogue that is recommended in any top k.

    .. math:: \mathrm{coverage@}k = \Bigl| \bigcup_u \mathrm{top}_k(u) \Bigr| \Big/ |C|

    where C is the catalogue.

    Parameters
    ----------
    k : int, optional
        The cutoff. None: the whole lists.

    Notes
    -----
    0 to 1, higher covers more. ``catalog=`` is by default the distinct items of the frame; items outside a given
    collection do not count.

    References
    ----------
    Herlocker et al., *Evaluating Collaborative Filtering Recommender Systems*, ACM TOIS 22 (2004); Ge,
    Delgado-Battenfeld, Jannach, RecSys 2010 (catalogue coverage).

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> df = pl.DataFrame({"user": [1, 1, 2, 2], "item": ["a", "b", "a", "c"], "score": [2, 1, 2, 1]})
    >>> df.rec.coverage(2, catalog=["a", "b", "c", "d"])
    0.75
    """

    name: ClassVar[str] = "coverage"
    aliases: ClassVar[tuple[str, ...]] = ("catalog_coverage", "catalogue_coverage")
    formula: ClassVar[str] = "distinct items in any top k / items of the catalogue"
    reference: ClassVar[str] = "Herlocker et al., ACM TOIS 2004"
    undefined_without: ClassVar[str] = "catalogued item"

    def item_terms(self, item: ItemRow) -> Mapping[str, nw.Expr]:
        return {"items": (item["exposures"] > 0).cast(nw.Float64())}

    def value(self, sums: Sums) -> nw.Expr:
        return quotient(sums["items"], sums.catalog_size)

    def defined(self, sums: Sums) -> nw.Expr:
        return sums.catalog_size > 0


@dataclass(frozen=True)
class Gini(_Exposures):
    r"""Inequality of how often the items of the catalogue are recommended.

    .. math:: G = \frac{\sum_{i=1}^{n} (2i - n - 1)\, x_i}{n \sum_i x_i}

    where x counts, in ascending order, how often each of the n items of the catalogue is in a top k, zeros included.

    Parameters
    ----------
    k : int, optional
        The cutoff. None: the whole lists.
    denominator : {"n", "n-1"}
        Divide by n, so an item with all exposure gives 1 − 1/n; or by n − 1, so it gives 1 (Elliot: 1 − this).

    Notes
    -----
    0 to 1, lower is more even. ``catalog=`` is by default the distinct items of the frame; items outside a given
    collection do not count. Undefined if nothing is recommended, and with ``denominator="n-1"`` for a catalogue of
    one item.

    References
    ----------
    Gini, 1912; Adomavicius, Kwon, *Improving Aggregate Recommendation Diversity*, IEEE TKDE 24 (2012); Fleder,
    Hosanagar, *Blockbuster Culture's Next Rise or Fall*, Management Science 55 (2009).

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> df = pl.DataFrame({"user": [1, 1, 2, 2], "item": ["a", "b", "a", "b"], "score": [2, 1, 2, 1]})
    >>> df.rec.gini(2, catalog=4)
    0.5
    """

    name: ClassVar[str] = "gini"
    aliases: ClassVar[tuple[str, ...]] = ("gini_index",)
    formula: ClassVar[str] = "Σᵢ (2i − n − 1)·xᵢ / (n·Σx), x: exposures of the n items, zeros included, ascending"
    reference: ClassVar[str] = "Fleder, Hosanagar, Management Science 2009"
    higher_is_better: ClassVar[bool] = False

    denominator: GiniDenominator = "n"

    def explained(self) -> Sequence[str]:
        divisor = "n" if self.denominator == "n" else "(n − 1)"
        return [f"Σᵢ (2i − n − 1)·xᵢ / ({divisor}·Σx)", "x: exposures of the n items, zeros included, ascending"]

    def item_terms(self, item: ItemRow) -> Mapping[str, nw.Expr]:
        x = item["exposures"]
        rank = item.order("exposures")
        return {"exposures": x, "ordered exposures": rank * x, "items": (x > 0).cast(nw.Float64())}

    def value(self, sums: Sums) -> nw.Expr:
        # Items that are never recommended have the lowest ranks, so a recommended item has the rank n − m plus its rank
        # among the m recommended items.
        x = sums["exposures"]
        n = sums.catalog_size
        m = sums["items"]
        return (2 * sums["ordered exposures"] + (n - 2 * m - 1) * x) / ((n if self.denominator == "n" else n - 1) * x)

    def defined(self, sums: Sums) -> nw.Expr:
        recommended = sums["exposures"] > 0
        return recommended if self.denominator == "n" else recommended & (sums.catalog_size > 1)


@dataclass(frozen=True)
class Entropy(_Exposures):
    r"""Entropy of how often the items are recommended, in bits.

    .. math:: H = -\sum_i p_i \log_2 p_i, \qquad p_i = x_i / \textstyle\sum_j x_j

    where x counts how often an item is in a top k.

    Parameters
    ----------
    k : int, optional
        The cutoff. None: the whole lists.

    Notes
    -----
    0 to log2 of the number of items, higher is more even. Items outside a collection given as ``catalog=`` do not
    count. Undefined if nothing is recommended.

    References
    ----------
    Shannon, 1948; Shani, Gunawardana, *Evaluating Recommendation Systems*, Recommender Systems Handbook, 2011, section
    8.3.3.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> df = pl.DataFrame({"user": [1, 1, 2, 2], "item": ["a", "b", "a", "b"], "score": [2, 1, 2, 1]})
    >>> df.rec.entropy(2)
    1.0
    """

    name: ClassVar[str] = "entropy"
    aliases: ClassVar[tuple[str, ...]] = ("shannon_entropy",)
    formula: ClassVar[str] = "−Σ p·log2 p, p: shares of the exposures"
    reference: ClassVar[str] = "Shannon 1948; Shani, Gunawardana 2011"
    range: ClassVar[tuple[float, float]] = (0.0, math.inf)

    def item_terms(self, item: ItemRow) -> Mapping[str, nw.Expr]:
        x = item["exposures"]
        return {"exposures": x, "logarithms": x * _log2(x)}

    def value(self, sums: Sums) -> nw.Expr:
        x = sums["exposures"]
        return _log2(x) - sums["logarithms"] / x

    def defined(self, sums: Sums) -> nw.Expr:
        return sums["exposures"] > 0


def _log2(count: nw.Expr) -> nw.Expr:
    return nw.when(count > 0).then(count).otherwise(1.0).log(2)


@dataclass(frozen=True)
class Personalization(ExposureMetric):
    r"""One minus the mean cosine similarity over all pairs of lists.

    .. math:: 1 - \frac{2}{n(n-1)} \sum_{a < b} \frac{|A \cap B|}{\sqrt{|A| \cdot |B|}}
        = 1 - \frac{\sum_i \bigl(\sum_{A \ni i} |A|^{-1/2}\bigr)^2 - n}{n(n-1)}

    where A and B are the item sets of two top k. It is computed from item counts, so time is linear in rows.

    Parameters
    ----------
    k : int, optional
        The cutoff. None: the whole lists.

    Notes
    -----
    0 to 1, higher is more personal. Lists without a recommended item are left out, and at least two must remain.

    References
    ----------
    Zhou et al., *Solving the apparent diversity-accuracy dilemma of recommender systems*, PNAS 107 (2010), there with
    lists of equal length, so that the cosine is their overlap.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> df = pl.DataFrame({"user": [1, 1, 2, 2], "item": ["a", "b", "a", "c"], "score": [2, 1, 2, 1]})
    >>> round(df.rec.personalization(2), 12)
    0.5
    """

    name: ClassVar[str] = "personalization"
    aliases: ClassVar[tuple[str, ...]] = ("personalisation", "inter_list_diversity")
    formula: ClassVar[str] = "1 − mean over pairs of lists of |A∩B| / √(|A|·|B|)"
    reference: ClassVar[str] = "Zhou et al., PNAS 2010"

    def recommended_terms(self, row: RecommendedRow) -> Mapping[str, nw.Expr]:
        # A list without a row up to k has no size.
        counts = row.within(self.k) * row.first
        size = row.distinct(self.k)
        size = nw.when(size > 0).then(size).otherwise(1.0)
        return {"parts": counts / size, "root parts": counts / size.sqrt()}

    def item_terms(self, item: ItemRow) -> Mapping[str, nw.Expr]:
        root = item["root parts"]
        return {"lists": item["parts"], "squares": root * root}

    def value(self, sums: Sums) -> nw.Expr:
        # The parts of a list sum to 1, up to rounding.
        n = sums["lists"].round(0)
        return (1 - (sums["squares"] - n) / (n * (n - 1))).clip(0, 1)

    def defined(self, sums: Sums) -> nw.Expr:
        return sums["lists"].round(0) > 1
