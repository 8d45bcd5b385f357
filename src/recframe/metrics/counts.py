"""Counts of a list's rows: relevant, ranked, and both."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import narwhals as nw

from recframe.metrics._record import CutMetric, Metric, Reads
from recframe.metrics.accuracy import HitCount, hits

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recframe.metrics._row import Row
    from recframe.metrics._sums import Sums


@dataclass(frozen=True)
class Count(Metric):
    """What counts share: every list has one, also where it is 0."""

    range: ClassVar[tuple[float, float]] = (0.0, math.inf)
    needs_relevant: ClassVar[bool] = False
    of_every_list: ClassVar[bool] = True
    allows_propensity: ClassVar[bool] = True

    def defined(self, sums: Sums) -> nw.Expr:
        return sums.relevant >= 0


@dataclass(frozen=True)
class NumRel(Count):
    r"""Number of relevant items, ranked or not, of a list; mean over all lists.

    .. math:: \mathrm{num\_rel} = R

    Notes
    -----
    0 or more. A list without a relevant item has the value 0, so the mean covers all lists. trec_eval's summary gives
    the sum over topics instead: the mean times the number of lists.

    References
    ----------
    trec_eval's ``num_rel``.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> df = pl.DataFrame({"user": [1, 1, 1, 2], "relevant": [1, 0, 1, 0], "score": [0.9, 0.8, 0.1, 0.5]})
    >>> df.rec.num_rel()
    1.0
    """

    name: ClassVar[str] = "num_rel"
    formula: ClassVar[str] = "R"
    reference: ClassVar[str] = "trec_eval `num_rel`"
    unranked: ClassVar[str] = "counts as the others"
    reads: ClassVar[Reads] = "hits"

    def value(self, sums: Sums) -> nw.Expr:
        return sums.relevant

    def share(self, row: Sums, sums: Sums) -> nw.Expr:  # noqa: ARG002 - the rows alone say it
        return row["hits"]

    def share_terms(self, row: Row) -> Mapping[str, nw.Expr]:
        return {"hits": row.shared(hits, None)}

    def unranked_share(self, sums: Sums) -> nw.Expr:
        return (sums.relevant > 0).cast(nw.Float64())


@dataclass(frozen=True)
class NumRet(Count, CutMetric):
    r"""Number of ranked rows among the top k of a list; mean over all lists.

    .. math:: \mathrm{num\_ret@}k = \min(k, N)

    with N ranked items in the list.

    Parameters
    ----------
    k : int, optional
        The cutoff. None: the whole list.

    Notes
    -----
    0 to k. The mean covers all lists, also those without a relevant item. trec_eval's summary gives the sum over
    topics instead: the mean times the number of lists.

    References
    ----------
    trec_eval's ``num_ret``.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> df = pl.DataFrame({"user": [1, 1, 1, 2], "relevant": [1, 0, 1, 0], "score": [0.9, 0.8, 0.1, 0.5]})
    >>> df.rec.num_ret()
    2.0
    """

    name: ClassVar[str] = "num_ret"
    formula: ClassVar[str] = "min(k, N)"
    reference: ClassVar[str] = "trec_eval `num_ret`"
    reads: ClassVar[Reads] = "hits"
    reads_relevance: ClassVar[bool] = False

    def value(self, sums: Sums) -> nw.Expr:
        return sums.ranked_up_to(self.k)

    def share(self, row: Sums, sums: Sums) -> nw.Expr:  # noqa: ARG002 - the rows alone say it
        return row["ranked"]

    def share_terms(self, row: Row) -> Mapping[str, nw.Expr]:
        return {"ranked": row.within(self.k)}


@dataclass(frozen=True)
class NumRelRet(Count, HitCount):
    r"""Number of relevant rows among the top k of a list; mean over all lists.

    .. math:: \mathrm{num\_rel\_ret@}k = h(k)

    with h(k) hits in the top k.

    Parameters
    ----------
    k : int, optional
        The cutoff. None: the whole list.

    Notes
    -----
    0 to k, higher is better. Lists without a relevant item count as 0, so the mean divided by k equals `precision`
    with ``undefined=0``. trec_eval's summary gives the sum over topics instead: the mean times the number of lists.

    References
    ----------
    trec_eval's ``num_rel_ret``; ranx's ``hits``.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> df = pl.DataFrame({"user": [1, 1, 1, 2], "relevant": [1, 0, 1, 0], "score": [0.9, 0.8, 0.1, 0.5]})
    >>> df.rec.num_rel_ret(2)
    0.5
    """

    name: ClassVar[str] = "num_rel_ret"
    aliases: ClassVar[tuple[str, ...]] = ("num_hits",)
    formula: ClassVar[str] = "h(k)"
    reference: ClassVar[str] = "trec_eval `num_rel_ret`; ranx `hits`"

    def value(self, sums: Sums) -> nw.Expr:
        return sums["hits"]
