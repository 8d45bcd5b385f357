"""Rank correlations in which the first positions count most: that of average precision, and Kendall's with weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

import narwhals as nw

from recframe._agreement.rank_overlap import LEFT, RIGHT, of_left, of_right
from recframe._columns import LEVEL, START

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._columns import Frame
    from recframe._engines.base import Engine

TAU_AP, WEIGHTED_TAU = "tau_ap", "weighted_tau"
TOP_WEIGHTED = (TAU_AP, WEIGHTED_TAU)
PLACE, FIRST, TIES = "place", "first place", "pairs not tied"
"""A row's mean and first place in its tied block by a model, and half of the pairs that it does not tie, by the row."""
ABOVE, AGREED = "above by both", "pairs of the row"
"""How many rows both models put above a row, and how many pairs with the row they order alike, less the others."""
BACK = "start from the last"
digits_column = "digits from {}".format
least_column, mean_column, size_column = "least {}".format, "mean {}".format, "size {}".format
PRECISION, LOWER, WEIGHTED = "average precision", "rows below the first", "weighted pairs"
weighted_ties = "{} not tied, {}".format
SIDES = (of_left, of_right)


def with_pairs_of_rows(engine: Engine, frame: Frame, keys: Sequence[str], digits: int) -> Frame:
    """Add what each row's pairs are, from the levels of the right model and the starts of the left one.

    Two levels differ first in some binary digit: see `ranks.concordant_pairs`.
    """
    # All digits at once: a query of SQL with a step for each is nested deeper than Ibis writes.
    levels = {digits_column(digit): nw.col(LEVEL) // 2**digit for digit in range(digits)}
    groups = [*([*keys, name] for name in levels), list(keys)]
    frame = frame.with_columns((-1 * nw.col(START)).alias(BACK), **levels)
    frame = engine.with_places(frame, {least_column(i): (group, BACK) for i, group in enumerate(groups)}, first=True)
    frame = engine.with_places(frame, {mean_column(i): (group, BACK) for i, group in enumerate(groups)})
    sizes = {size_column(i): nw.len().over(*group).cast(nw.Float64()) for i, group in enumerate(groups)}
    frame = frame.with_columns(**sizes)
    above = agreed = 0.0 * nw.col(LEVEL)
    for digit in range(digits):
        before, mean, others = (
            nw.col(of(digit + 1)) - nw.col(of(digit)) for of in (least_column, mean_column, size_column)
        )
        alike = others - 2 * mean
        # The others have the higher level where the row's own digit is 0.
        low = nw.col(digits_column(digit)) % 2 == 0
        above = above + nw.when(low).then(before).otherwise(0.0)
        agreed = agreed + nw.when(low).then(-1 * alike).otherwise(alike)
    return frame.with_columns(above.alias(ABOVE), agreed.alias(AGREED))


def terms(frame: Frame, lists: Sequence[str]) -> tuple[Frame, list[str]]:
    """Add what rows add to the sums of both correlations, and return the columns of the sums."""
    summed: list[str] = []
    for side, other in (SIDES, SIDES[::-1]):
        first = nw.col(side(FIRST))
        within = nw.col(other(FIRST)).rank("ordinal").over(*lists, side(FIRST)).cast(nw.Float64())
        frame = frame.with_columns(within.alias(side("within")))
        below, weight = first > 1, 1 / (first + nw.col(side("within")) - 1)
        added = {
            side(PRECISION): nw.when(below).then(nw.col(ABOVE) / (first - 1)).otherwise(0.0),
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
