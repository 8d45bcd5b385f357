"""Interpolated precision: the greatest precision from a recall on."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, ClassVar

import narwhals as nw

from recframe.metrics._options import bounds
from recframe.metrics._record import Metric, Reads
from recframe.metrics._sums import quotient

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe.metrics._row import Row
    from recframe.metrics._sums import Sums

LEVELS = tuple(tenths / 10 for tenths in range(11))
"""The levels of recall of the 11-point mean."""


def _spread(row: Row, levels: tuple[float, ...]) -> nw.Expr:
    """Return the term that sums to the mean over levels: each hit has the list's values, divided by its hits."""
    mean = quotient(reduce(add, map(row.interpolated_precision, levels)), len(levels))
    return nw.when(row.hit > 0).then(mean / row.ranked_relevant_in_list).otherwise(0.0)


@dataclass(frozen=True)
class IPrec(Metric):
    r"""Greatest precision from a recall on; by default its mean over the recalls 0, 0.1, …, 1.

    Interpolated precision, as the precision-recall curve has it.

    .. math:: \mathrm{iprec}(x) = \max_{r :\, h(r) \ge \mathrm{int}(x R + 0.9)} h(r) / r

    with h(r) hits in the first r positions, and R relevant items in the list, ranked or not.

    Parameters
    ----------
    recall : float, optional
        The recall x. None: the mean over 0, 0.1, …, 1 (the 11-point average).

    Notes
    -----
    0 to 1, higher is better. A recall that the ranked rows do not reach has precision 0.

    References
    ----------
    Manning, Raghavan, Schütze, *Introduction to Information Retrieval*, 2008, section 8.4; trec_eval's
    ``iprec_at_recall`` and ``11pt_avg``.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> df = pl.DataFrame({"user": [1, 1, 1], "relevant": [0, 1, 1], "score": [0.9, 0.8, 0.1]})
    >>> round(df.rec.iprec(recall=0.5), 6)
    0.666667
    >>> round(df.rec.iprec(), 6)
    0.666667
    """

    name: ClassVar[str] = "iprec"
    aliases: ClassVar[tuple[str, ...]] = ("11pt_avg", "interpolated_precision", "iprec_at_recall")
    formula: ClassVar[str] = "max over r with h(r) ≥ int(x·R + 0.9) of h(r)/r"
    reference: ClassVar[str] = "Manning, Raghavan, Schütze 2008, §8.4; trec_eval `iprec_at_recall`, `11pt_avg`"
    reads: ClassVar[Reads] = "hits"
    is_additive: ClassVar[bool] = False
    inexact: ClassVar[str] = (
        "not exact: tied rows are one point of the curve, at the end of their block, up to 0.31 too low in lists of up "
        "to 7 rows"
    )

    recall: float | None = field(default=None, metadata=bounds(least=0, most=1))

    def explained(self) -> Sequence[str]:
        level = "x = 0, 0.1, …, 1, and the mean of these" if self.recall is None else f"x = {self.recall:g}"
        return [self.formula, level]

    def terms(self, row: Row) -> Mapping[str, nw.Expr]:
        levels = LEVELS if self.recall is None else (float(self.recall),)
        return {"precision": row.shared(_spread, levels)}

    def value(self, sums: Sums) -> nw.Expr:
        return sums["precision"]
