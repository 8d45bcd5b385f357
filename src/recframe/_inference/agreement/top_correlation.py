"""Rank correlations in which the first positions count most: AP correlation, and Kendall's tau with weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

import narwhals as nw

from recframe._base.columns import LEVEL, START
from recframe._inference.agreement.rank_overlap import LEFT, RIGHT, of_left, of_right

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._base.columns import Frame
    from recframe._engines.base import Engine

TAU_AP = "tau_ap"
WEIGHTED_TAU = "weighted_tau"
TOP_WEIGHTED = (TAU_AP, WEIGHTED_TAU)
MEAN_POSITION = "mean position"
"""The mean position of the row's tied block, under a model."""
FIRST_POSITION = "first position"
"""The first position of the row's tied block, under a model."""
ORDER_IN_BLOCK = "order in block"
"""The row's number in its tied block under a model, from 1, in the order of the other model."""
UNTIED = "pairs not tied"
"""Half the number of pairs that contain the row and do not tie under a model."""
ABOVE = "above by both"
"""How many rows both models put above the row."""
BALANCE = "balance of pairs"
"""How many pairs with the row the models order in the same way, minus the pairs that they order differently."""
NEGATED_START = "negated start"
"""The start of the row's tied block in the left model, negated because the highest number gets position 1."""
digits_column = "digits from {}".format
least_column = "least {}".format
mean_column = "mean {}".format
size_column = "size {}".format
PRECISION = "average precision"
PRECISION_COUNT = "rows below the first"
"""1 for a row that has rows above it. The average precision is a mean over these rows."""
WEIGHTED = "weighted pairs"
weighted_untied = "{} not tied, {}".format
SIDES = (of_left, of_right)
"""The functions that name columns of the left and of the right model."""


def with_pairs_of_rows(engine: Engine, frame: Frame, keys: Sequence[str], digits: int) -> Frame:
    """Add ABOVE and BALANCE to each row, from the levels of the right model and the starts of the left model.

    Higher levels are nearer to the top. `digits` is the number of binary digits of the highest level. A pair is counted
    at the first binary digit in which its levels differ, as in `ranks.concordant_pairs`.
    """
    # All digits in one step, because one step per digit makes a query that is nested too deeply for Ibis.
    levels = {digits_column(digit): nw.col(LEVEL) // 2**digit for digit in range(digits)}
    groups = [*([*keys, name] for name in levels), list(keys)]
    frame = frame.with_columns((-1 * nw.col(START)).alias(NEGATED_START), **levels)
    frame = engine.with_positions(
        frame, {least_column(i): (group, NEGATED_START) for i, group in enumerate(groups)}, first=True
    )
    frame = engine.with_positions(frame, {mean_column(i): (group, NEGATED_START) for i, group in enumerate(groups)})
    sizes = {size_column(i): nw.len().over(*group).cast(nw.Float64()) for i, group in enumerate(groups)}
    frame = frame.with_columns(**sizes)
    above = 0.0 * nw.col(LEVEL)
    balance = 0.0 * nw.col(LEVEL)
    for digit in range(digits):
        # The rows whose levels first differ from the row's level in this digit: the larger group without the smaller.
        # The left model puts `rows_above` of them above the row. `rows_above_or_half` also counts half of its ties.
        rows_above, rows_above_or_half, count = (
            nw.col(column(digit + 1)) - nw.col(column(digit)) for column in (least_column, mean_column, size_column)
        )
        rows_below_minus_above = count - 2 * rows_above_or_half
        # If the row's digit is 0, the right model puts all of them above the row, and otherwise below.
        is_lower = nw.col(digits_column(digit)) % 2 == 0
        above = above + nw.when(is_lower).then(rows_above).otherwise(0.0)
        balance = balance + nw.when(is_lower).then(-1 * rows_below_minus_above).otherwise(rows_below_minus_above)
    return frame.with_columns(above.alias(ABOVE), balance.alias(BALANCE))


def terms(frame: Frame, lists: Sequence[str]) -> tuple[Frame, list[str]]:
    """Return rows with the terms of both correlations, and the names of the columns with these terms.

    For AP correlation, a row adds the share of the rows above it that the other model puts above it too. For the
    weighted tau, a row adds the balance of its pairs, times 1 / position. Both are computed with the positions of the
    left model and with the positions of the right model. Items that tie in a model are ordered by the other model.
    """
    summed: list[str] = []
    for side, other in (SIDES, SIDES[::-1]):
        first = nw.col(side(FIRST_POSITION))
        order = nw.col(other(FIRST_POSITION)).rank("ordinal").over(*lists, side(FIRST_POSITION)).cast(nw.Float64())
        frame = frame.with_columns(order.alias(side(ORDER_IN_BLOCK)))
        has_rows_above = first > 1
        weight = 1 / (first + nw.col(side(ORDER_IN_BLOCK)) - 1)
        added = {
            side(PRECISION): nw.when(has_rows_above).then(nw.col(ABOVE) / (first - 1)).otherwise(0.0),
            side(PRECISION_COUNT): nw.when(has_rows_above).then(1.0).otherwise(0.0),
            side(WEIGHTED): weight * nw.col(BALANCE),
            weighted_untied(side(WEIGHTED), LEFT): weight * nw.col(of_left(UNTIED)) * 2,
            weighted_untied(side(WEIGHTED), RIGHT): weight * nw.col(of_right(UNTIED)) * 2,
        }
        frame = frame.with_columns(**added)
        summed += added
    return frame, summed


def values() -> list[nw.Expr]:
    """Return both correlations of a list from its sums, missing if a model ties all items."""
    precision = nw.lit(0.0)
    weighted = nw.lit(0.0)
    for side in SIDES:
        precision = precision + ratio(nw.col(side(PRECISION)), nw.col(side(PRECISION_COUNT)))
        below = nw.col(weighted_untied(side(WEIGHTED), LEFT)) * nw.col(weighted_untied(side(WEIGHTED), RIGHT))
        weighted = weighted + ratio(nw.col(side(WEIGHTED)), below.sqrt()) / 2
    return [(precision - 1).alias(TAU_AP), weighted.alias(WEIGHTED_TAU)]


def ratio(top: nw.Expr, below: nw.Expr) -> nw.Expr:
    """Return a ratio, missing if the divisor is 0."""
    return nw.when(below > 0).then(top / below)
