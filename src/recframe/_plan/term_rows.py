"""Kept rows with the columns that the terms of the metrics request."""

from __future__ import annotations

from typing import TYPE_CHECKING

import narwhals as nw

from recframe._columns import (
    BEFORE,
    BLOCK_HITS,
    BLOCK_NONRELEVANT,
    BLOCK_POOLED,
    CONCORDANCE,
    FIRST_HIT,
    GRADE_RANK,
    HIT,
    HIT_START,
    HITS_BEFORE,
    INFERRED,
    ITEM,
    LENGTH,
    LEVEL,
    NONRELEVANT_BEFORE,
    ORDER,
    POOLED,
    POOLED_BEFORE,
    POPULAR,
    POSITION,
    RANKED_RELEVANT,
    RELEVANT,
    SAME_GRADE,
    SIZE,
    START,
    UPTO,
    before_column,
    interpolated_column,
    upto_column,
    weight_column,
)
from recframe._plan import ranks
from recframe._plan.places import with_inferred_precision
from recframe._plan.positions import numbered
from recframe._plan.requirements import furthest
from recframe._plan.sum_columns import constant, own, renamed
from recframe.metrics._row import is_nonrelevant

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from recframe._columns import Frame
    from recframe._plan.context import CallContext
    from recframe.metrics._row import Weight

    Requested = AbstractSet[str]

LAZY_DIGITS = 20
"""Of the number of distinct relevances in a list, where it is not known: about a million."""


class TermRows:
    """Adds requested columns to kept rows.

    Parameters
    ----------
    context : CallContext
        The frames of the call.
    tied : bool
        Whether any tied block may have several rows.
    """

    def __init__(self, context: CallContext, *, tied: bool) -> None:
        self._context = context
        self._engine = context.engine
        self._group = context.group
        self.tied = tied

    def compare_grades(self, kept: Frame, requested: Requested) -> Frame:
        """Add what rank correlations and pairs of rows read, of all kept rows."""
        if requested & {LENGTH, GRADE_RANK, SAME_GRADE}:
            kept = ranks.grades(kept, self._group, requested)
        if CONCORDANCE in requested:
            kept = self._engine.settle(ranks.levels(kept, self._group))
            digits = LAZY_DIGITS
            if self._engine.eager:
                most = self._engine.scalar(kept.select(nw.col(LEVEL).max()))
                digits = max(1, int(most or 0).bit_length())
            kept = ranks.concordant_pairs(kept, self._group, digits)
        if ORDER in requested:
            # Of rows that the frame omits nobody knows a rank: its gaps are theirs.
            gaps = self._context.query.by_rank and not self._context.omits_rows
            order = nw.col(START).rank("min").over(*self._group) if gaps else nw.col(START)
            kept = kept.with_columns(order.cast(nw.Float64()).alias(ORDER))
        return kept

    def count_hits(self, rows: Frame, requested: Requested) -> Frame:
        """Add what is requested about the other hits of a row's list, all of which must be among the rows."""
        if BLOCK_HITS in requested:
            one = renamed(HIT, BLOCK_HITS)
            rows = ranks.block_hits(rows, self._group) if self.tied else rows.with_columns(one)
        if FIRST_HIT in requested:
            rows = ranks.first_blocks(rows, self._group)
        if HITS_BEFORE in requested:
            rows = numbered(self._engine, ranks.hit_starts(rows), self._group, HIT_START, descending=False)
            rows = ranks.hits_before(rows, self._group, tied=self.tied)
        if NONRELEVANT_BEFORE in requested:
            counted = NONRELEVANT_BEFORE, BLOCK_NONRELEVANT
            rows = ranks.count_ahead(self._engine, rows, self._group, is_nonrelevant(), *counted, tied=self.tied)
        if POOLED_BEFORE in requested:
            rows = ranks.count_ahead(
                self._engine, rows, self._group, nw.col(POOLED), POOLED_BEFORE, BLOCK_POOLED, tied=self.tied
            )
        if RANKED_RELEVANT in requested:
            rows = rows.with_columns(nw.col(HIT).sum().over(*self._group).alias(RANKED_RELEVANT))
        return rows

    def join_lookups(self, rows: Frame, requested: Requested, ideal: Frame) -> Frame:
        """Add what is requested from other tables, by list, item or position."""
        if RELEVANT in requested:
            rows = self._engine.join(rows, ideal.select(*self._group, RELEVANT), self._group)
        for number, level in enumerate(self._context.requirements.levels):
            if interpolated_column(number) in requested:
                rows = ranks.interpolated_precision(rows, self._group, level, interpolated_column(number))
        if INFERRED in requested:
            rows = with_inferred_precision(self._context, rows, tied=self.tied)
        if POPULAR in requested:
            rows = self._context.side_tables.with_popularity(rows, ITEM)
        weights = {
            number: weight
            for number, weight in enumerate(self._context.requirements.weights)
            if upto_column(number) in requested
        }
        if weights:
            rows = self._with_weights(rows, weights) if self.tied else _without_blocks(rows, weights)
        return rows.with_columns(own(START), own(SIZE))

    def _with_weights(self, rows: Frame, weights: dict[int, tuple[Weight, int | None]]) -> Frame:
        """Look up the sums of each weight over the positions before a tied block, and up to its end."""
        # Past the last position that counts, sums do not change.
        upto = furthest([k for _, k in weights.values()])
        before = nw.col(START).cast(nw.Int64()) - 1
        ends = {BEFORE: before, UPTO: before + nw.col(SIZE).cast(nw.Int64())}
        if upto is not None:
            ends = {side: nw.when(end < upto).then(end).otherwise(upto) for side, end in ends.items()}
        rows = rows.with_columns(*(end.cast(nw.Int64()).alias(side) for side, end in ends.items()))
        table = self._engine.positions(rows.select(nw.col(UPTO).max()) if upto is None else upto)
        table = table.with_columns(*(_weight(*weight).alias(weight_column(n)) for n, weight in weights.items()))
        for side, total in ((BEFORE, before_column), (UPTO, upto_column)):
            sums = [nw.col(weight_column(n)).cum_sum().over(order_by=POSITION).alias(total(n)) for n in weights]
            rows = rows.join(table.select(nw.col(POSITION).alias(side), *sums), on=side, how="left")
        columns = [total(number) for total in (before_column, upto_column) for number in weights]
        return rows.with_columns(nw.col(*columns).fill_null(0.0))


def _weight(of: Weight, k: int | None) -> nw.Expr:
    """Return the weight of a position, 0 past k, also where it is the same for all."""
    position = nw.col(POSITION).cast(nw.Float64())
    weight = of(position) if k is None else nw.when(position <= k).then(of(position)).otherwise(0.0)
    return weight + 0.0 * position


def _without_blocks(rows: Frame, weights: dict[int, tuple[Weight, int | None]]) -> Frame:
    """Add the columns of tied blocks, which nothing reads where each is one row."""
    columns = [total(number) for total in (before_column, upto_column) for number in weights]
    return rows.with_columns(*(constant(column, 0.0) for column in columns))
