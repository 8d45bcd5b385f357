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
    EQUAL,
    FAMILIAR,
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
    POPULAR_LEVEL,
    POSITION,
    RANKED_RELEVANT,
    RELEVANT,
    SAME_GRADE,
    SIZE,
    START,
    UPTO,
    WITH_BLOCK,
    before_column,
    first_pairs_column,
    interpolated_column,
    seen_column,
    upto_column,
)
from recframe._plan import ranks
from recframe._plan.places import repeated, with_first_pairs, with_inferred_precision
from recframe._plan.requirements import furthest
from recframe._plan.seen import with_seen
from recframe._plan.sum_columns import constant
from recframe._plan.weight_tables import GREATEST_END, MOST_POSITIONS, ends_of_blocks
from recframe.metrics._row import is_nonrelevant

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from recframe._columns import Frame
    from recframe._engines.base import Later
    from recframe._plan.opened import Opened
    from recframe._plan.weight_tables import WeightSums

    Requested = AbstractSet[str]

LAZY_DIGITS = 20
"""Of the number of distinct relevances in a list, where it is not known: about a million."""


class TermRows:
    """Adds requested columns to kept rows.

    Parameters
    ----------
    context : Opened
        The frames of the call.
    tied : bool
        Whether any tied block may have several rows.
    """

    def __init__(self, context: Opened, *, tied: bool) -> None:
        self._context = context
        self.tied = tied

    def compare_grades(self, kept: Frame, requested: Requested) -> Frame:
        """Add what rank correlations and pairs of rows read, of all kept rows."""
        if requested & {LENGTH, GRADE_RANK, SAME_GRADE}:
            kept = ranks.grades(kept, self._context.keys.group, requested)
        if CONCORDANCE in requested:
            kept = self._context.engine.collect_once(ranks.levels(kept, self._context.keys.group))
            digits = LAZY_DIGITS
            if self._context.engine.eager:
                most = self._context.engine.scalar(kept.select(nw.col(LEVEL).max()))
                digits = max(1, int(most or 0).bit_length())
            kept = ranks.concordant_pairs(self._context.engine, kept, self._context.keys.group, digits)
        if ORDER in requested:
            # Of rows that the frame omits nobody knows a rank: its gaps are theirs.
            gaps = self._context.query.by_rank and not self._context.omitted
            order = nw.col(START).rank("min").over(*self._context.keys.group) if gaps else nw.col(START)
            kept = kept.with_columns(order.cast(nw.Float64()).alias(ORDER))
        return kept

    def count_hits(self, rows: Frame, requested: Requested) -> Frame:
        """Add what is requested about the other hits of a row's list, all of which must be among the rows."""
        if requested & {BLOCK_HITS, HITS_BEFORE}:
            rows = self._count_hits(rows)
        if NONRELEVANT_BEFORE in requested:
            counted = NONRELEVANT_BEFORE, BLOCK_NONRELEVANT
            rows = ranks.count_ahead(
                self._context.engine, rows, self._context.keys.group, is_nonrelevant(), *counted, tied=self.tied
            )
        if POOLED_BEFORE in requested:
            pooled, counted = nw.max_horizontal(POOLED, HIT), (POOLED_BEFORE, BLOCK_POOLED)
            rows = ranks.count_ahead(
                self._context.engine, rows, self._context.keys.group, pooled, *counted, tied=self.tied
            )
        if RANKED_RELEVANT in requested:
            rows = rows.with_columns(nw.col(HIT).sum().over(*self._context.keys.group).alias(RANKED_RELEVANT))
        return rows

    def _count_hits(self, rows: Frame) -> Frame:
        """Add how many hits are ahead of each row's tied block, and in it; most metrics read that of hits alone."""
        engine, group, tied = self._context.engine, self._context.keys.group, self.tied
        if self._context.requirements.counts_hits_for_all:
            return ranks.count_ahead(engine, rows, group, nw.col(HIT), HITS_BEFORE, BLOCK_HITS, tied=tied)
        starts = rows.with_columns(ranks.STARTS_OF_HITS)
        rows = engine.number_rows(starts, group, HIT_START, descending=False, tied=tied)
        if tied:
            return rows.with_columns(ranks.HITS_AHEAD, ranks.HITS_INSIDE).drop(POSITION, EQUAL)
        return rows.with_columns(ranks.HITS_AHEAD, ranks.HIT_ALONE).drop(POSITION)

    def join_lookups(self, rows: Frame, requested: Requested, ideal: Later) -> Frame:
        """Add what is requested from other tables, by list, item or position."""
        if RELEVANT in requested:
            rows = self._context.engine.join(
                rows, ideal().select(*self._context.keys.group, RELEVANT), self._context.keys.group
            )
        rows = self._with_places(rows, requested)
        if requested & {POPULAR, POPULAR_LEVEL}:
            rows = self._context.side_tables.with_popularity(rows, ITEM)
        if FAMILIAR in requested:
            rows = self._context.side_tables.with_familiarity(rows)
        weights = [
            weight for weight in self._context.requirements.weight_sums if upto_column(weight.number) in requested
        ]
        return self._with_weights(rows, weights) if weights else rows

    def _with_weights(self, rows: Frame, weights: Sequence[WeightSums]) -> Frame:
        """Look up the sums of each weight over the positions before a tied block, and up to its end."""
        # Past the last position that counts, sums do not change.
        upto = furthest([weight.k for weight in weights])
        rows = rows.with_columns(*ends_of_blocks(upto))
        if self._context.query.by_rank and (upto is None or upto > MOST_POSITIONS):
            return self._with_weights_of_blocks(rows, weights)
        table = self._weight_table(rows, weights, upto)
        return self._context.engine.look_up(self._context.engine.look_up(rows, table, BEFORE), table, UPTO, WITH_BLOCK)

    def _with_weights_of_blocks(self, rows: Frame, weights: Sequence[WeightSums]) -> Frame:
        """Add the sums of each weight over a tied block alone: a table of all positions up to a rank may not fit."""
        engine, block = self._context.engine, [BEFORE, UPTO]
        blocks = rows.filter(nw.col(SIZE) > 1).select(*block).unique()
        places = repeated(engine, blocks, nw.col(UPTO) - nw.col(BEFORE))
        places = places.with_columns((nw.col(BEFORE) + nw.col(POSITION)).alias(POSITION))
        sums = {upto_column(weight.number): weight.weight for weight in weights}
        places = places.select(*block, *(weight.alias(column) for column, weight in sums.items()))
        rows = engine.join(rows, engine.sum_disordered(places, block, [*sums], []), block)
        return rows.with_columns(*(constant(before_column(weight.number), 0.0) for weight in weights))

    def _weight_table(self, rows: Frame, weights: Sequence[WeightSums], upto: int | None) -> Frame:
        """Return the sums of weights up to each position; equal calls find one that depends on no data."""
        engine, tables = self._context.engine, self._context.requirements.weight_tables
        key = type(engine), *(weight.number for weight in weights)
        if key in tables:
            return tables[key]
        # SQL would rank all rows again to find where the last block ends; no block ends after the longest list.
        ends = engine.count_rows(self._context.frame, self._context.keys.group, UPTO, {}) if engine.writes_sql else rows
        last = ends.select(GREATEST_END) if upto is None or upto > MOST_POSITIONS else upto
        table = engine.positions(last).select(POSITION, *(weight.sums for weight in weights))
        if engine.eager and isinstance(last, int):
            table = tables[key] = engine.collect_once(table)
        return table

    def _with_places(self, rows: Frame, requested: Requested) -> Frame:
        """Add what is requested of the places that rows of tied blocks may have."""
        requirements = self._context.requirements
        for number, level in enumerate(requirements.numbers.levels):
            if interpolated_column(number) in requested:
                rows = ranks.interpolated_precision(rows, self._context.keys.group, level, interpolated_column(number))
        for number, n in enumerate(requirements.numbers.pairs):
            if first_pairs_column(number) in requested:
                rows = with_first_pairs(self._context, rows, n, first_pairs_column(number), tied=self.tied)
        if any(seen_column(number) in requested for number in range(len(requirements.numbers.seen))):
            rows = with_seen(self._context, rows, tied=self.tied)
        if INFERRED in requested:
            rows = with_inferred_precision(self._context, rows, tied=self.tied)
        return rows
