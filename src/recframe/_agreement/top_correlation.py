"""Rank correlations in which the first positions count most: that of average precision, and Kendall's with weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

import narwhals as nw

from recframe._agreement.rank_overlap import LEFT, RIGHT, of_left, of_right
from recframe._columns import LEVEL, START

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._columns import Frame

TAU_AP, WEIGHTED_TAU = "tau_ap", "weighted_tau"
TOP_WEIGHTED = (TAU_AP, WEIGHTED_TAU)
RANK, TIES = "rank", "pairs not tied"
"""The average rank of a row by a model, and half of the pairs that the model does not tie, by the row."""
ABOVE, AGREED = "above by both", "pairs of the row"
"""How many rows both models put above a row, and how many pairs with the row they order alike, less the others."""
digits_column = "digits from {}".format
above_column, agreed_column = "above by both {}".format, "pairs of the row {}".format
PRECISION, LOWER, WEIGHTED = "average precision", "rows below the first", "weighted pairs"
weighted_ties = "{} not tied, {}".format
SIDES = (of_left, of_right)


def with_pairs_of_rows(frame: Frame, keys: Sequence[str], digits: int) -> Frame:
    """Add what each row's pairs are, from the levels of the right model and the starts of the left one.

    Two levels differ first in some binary digit. Among the rows that agree in all digits before it, the ranks of all
    less the ranks of those with the row's own digit count the others before the row.
    """
    above, agreed = nw.lit(0.0), nw.lit(0.0)
    # All digits at once: a query of SQL with a step for each is nested deeper than Ibis writes.
    frame = frame.with_columns(
        *((nw.col(LEVEL) // 2**digit).alias(digits_column(digit)) for digit in range(digits + 1))
    )
    added = {}
    for digit in reversed(range(digits)):
        every, own = [*keys, digits_column(digit + 1)], [*keys, digits_column(digit)]
        least, mean = (nw.col(START).rank(how).over(*every) for how in ("min", "average"))
        least_own, mean_own = (nw.col(START).rank(how).over(*own) for how in ("min", "average"))
        others = nw.len().over(*every).cast(nw.Float64()) - nw.len().over(*own).cast(nw.Float64())
        before = least.cast(nw.Float64()) - least_own.cast(nw.Float64())
        alike = others - 2 * (mean.cast(nw.Float64()) - mean_own.cast(nw.Float64()))
        # The others have the higher level where the row's own digit is 0.
        low = nw.col(digits_column(digit)) % 2 == 0
        added[above_column(digit)] = nw.when(low).then(before).otherwise(0.0)
        added[agreed_column(digit)] = nw.when(low).then(-1 * alike).otherwise(alike)
        above, agreed = above + nw.col(above_column(digit)), agreed + nw.col(agreed_column(digit))
    frame = frame.with_columns(**added)
    zero = 0.0 * nw.col(LEVEL)
    return frame.with_columns((above + zero).alias(ABOVE), (agreed + zero).alias(AGREED))


def terms(frame: Frame, lists: Sequence[str]) -> tuple[Frame, list[str]]:
    """Add what rows add to the sums of both correlations, and return the columns of the sums."""
    summed: list[str] = []
    for side, other in (SIDES, SIDES[::-1]):
        start = side("start")
        first = nw.col(side(RANK)).rank("min", descending=True).over(*lists).cast(nw.Float64())
        within = nw.col(other(RANK)).rank("ordinal", descending=True).over(*lists, side(RANK)).cast(nw.Float64())
        frame = frame.with_columns(first.alias(start), within.alias(side("within")))
        below, weight = nw.col(start) > 1, 1 / (nw.col(start) + nw.col(side("within")) - 1)
        added = {
            side(PRECISION): nw.when(below).then(nw.col(ABOVE) / (nw.col(start) - 1)).otherwise(0.0),
            side(LOWER): nw.when(below).then(1.0).otherwise(0.0),
            side(WEIGHTED): weight * nw.col(AGREED),
            weighted_ties(side(WEIGHTED), LEFT): weight * nw.col(of_left(TIES)) * 2,
            weighted_ties(side(WEIGHTED), RIGHT): weight * nw.col(of_right(TIES)) * 2,
        }
        frame = frame.with_columns(**added)
        summed += added
    return frame, summed


def values() -> list[nw.Expr]:
    """Return both correlations of a list from its sums, missing where a model ties all items."""
    precision, weighted = nw.lit(0.0), nw.lit(0.0)
    for side in SIDES:
        precision = precision + ratio(nw.col(side(PRECISION)), nw.col(side(LOWER)))
        below = nw.col(weighted_ties(side(WEIGHTED), LEFT)) * nw.col(weighted_ties(side(WEIGHTED), RIGHT))
        weighted = weighted + ratio(nw.col(side(WEIGHTED)), below.sqrt()) / 2
    return [(precision - 1).alias(TAU_AP), weighted.alias(WEIGHTED_TAU)]


def ratio(top: nw.Expr, below: nw.Expr) -> nw.Expr:
    """Return a ratio, missing where the divisor is 0."""
    return nw.when(below > 0).then(top / below)
