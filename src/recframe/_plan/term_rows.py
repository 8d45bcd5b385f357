"""Adds the columns that metrics request to the kept rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import narwhals as nw

from recframe._base.columns import (
    BEFORE,
    BLOCK_HITS,
    BLOCK_NONRELEVANT,
    BLOCK_POOLED,
    CATALOG_SIZE,
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

    from recframe._base.columns import Frame
    from recframe._engines.base import Later
    from recframe._plan.opened import Opened
    from recframe._plan.weight_tables import WeightSums

    Requested = AbstractSet[str]

LAZY_DIGITS = 20
"""How many binary digits to allow for a list's number of distinct relevances on lazy frames: about a million."""


class TermRows:
    """Adds requested columns to the kept rows of one model.

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
        """Add the columns of rank correlations and of pairs of rows, which compare a row with all kept rows."""
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
            # Gaps between ranks are closed, unless the frame omits rows: then the omitted rows fill the gaps.
            gaps = self._context.query.by_rank and not self._context.omitted
            order = nw.col(START).rank("min").over(*self._context.keys.group) if gaps else nw.col(START)
            kept = kept.with_columns(order.cast(nw.Float64()).alias(ORDER))
        return kept

    def count_hits(self, rows: Frame, requested: Requested) -> Frame:
        """Add the requested counts of other hits in a row's list. All hits of the list must be among the rows."""
        if requested & {BLOCK_HITS, HITS_BEFORE}:
            rows = self._count_hits(rows)
        if NONRELEVANT_BEFORE in requested:
            rows = self._count_ahead(rows, is_nonrelevant(), NONRELEVANT_BEFORE, BLOCK_NONRELEVANT)
        if POOLED_BEFORE in requested:
            rows = self._count_ahead(rows, nw.max_horizontal(POOLED, HIT), POOLED_BEFORE, BLOCK_POOLED)
        if RANKED_RELEVANT in requested:
            rows = rows.with_columns(nw.col(HIT).sum().over(*self._context.keys.group).alias(RANKED_RELEVANT))
        return rows

    def _count_ahead(self, rows: Frame, flag: nw.Expr, before: str, inside: str) -> Frame:
        """Add how many flagged rows are ahead of each row's tied block, and how many are in the block."""
        engine = self._context.engine
        return ranks.count_ahead(engine, rows, self._context.keys.group, flag, before, inside, tied=self.tied)

    def _count_hits(self, rows: Frame) -> Frame:
        """Add how many hits are ahead of each row's tied block, and how many are in the block.

        Most metrics read these counts only at hits, which is faster.
        """
        if self._context.requirements.counts_hits_for_all:
            return self._count_ahead(rows, nw.col(HIT), HITS_BEFORE, BLOCK_HITS)
        starts = rows.with_columns(ranks.STARTS_OF_HITS)
        group = self._context.keys.group
        if self.tied:
            rows = self._context.engine.number_rows(starts, group, HIT_START, descending=False, tied=True)
            return rows.with_columns(ranks.COUNT_HITS_BEFORE, ranks.COUNT_BLOCK_HITS).drop(POSITION, EQUAL)
        rows = self._context.engine.number_hits(starts, group, HIT_START)
        return rows.with_columns(ranks.COUNT_HITS_BEFORE, ranks.COUNT_HIT_ALONE).drop(POSITION)

    def join_lookups(self, rows: Frame, requested: Requested, ideal: Later) -> Frame:
        """Add the requested columns of other tables, joined by list, item or position."""
        if RELEVANT in requested:
            rows = self._context.engine.join(
                rows, ideal().select(*self._context.keys.group, RELEVANT), self._context.keys.group
            )
        rows = self._with_places(rows, requested)
        if requested & {POPULAR, POPULAR_LEVEL}:
            rows = self._context.side_tables.with_popularity(rows, ITEM)
        if CATALOG_SIZE in requested:
            rows = self._context.side_tables.with_unchecked_catalog_size(rows)
        if FAMILIAR in requested:
            rows = self._context.side_tables.with_familiarity(rows)
        weights = [
            weight for weight in self._context.requirements.weight_sums if upto_column(weight.number) in requested
        ]
        return self._with_weights(rows, weights) if weights else rows

    def _with_weights(self, rows: Frame, weights: Sequence[WeightSums]) -> Frame:
        """Add the sums of each weight over the positions before a tied block, and up to its end."""
        # After the last position that counts, sums do not change.
        upto = furthest([weight.k for weight in weights])
        rows = rows.with_columns(*ends_of_blocks(upto))
        if self._context.query.by_rank and (upto is None or upto > MOST_POSITIONS):
            return self._with_weights_of_blocks(rows, weights)
        table = self._weight_table(rows, weights, upto)
        return self._context.engine.look_up(self._context.engine.look_up(rows, table, BEFORE), table, UPTO, WITH_BLOCK)

    def _with_weights_of_blocks(self, rows: Frame, weights: Sequence[WeightSums]) -> Frame:
        """Add the sums of each weight over a tied block, for ranks so large that a table of positions may not fit.

        The sum before the block is set to 0, since only the difference counts.
        """
        engine = self._context.engine
        block = [BEFORE, UPTO]
        blocks = rows.filter(nw.col(SIZE) > 1).select(*block).unique()
        places = repeated(engine, blocks, nw.col(UPTO) - nw.col(BEFORE))
        places = places.with_columns((nw.col(BEFORE) + nw.col(POSITION)).alias(POSITION))
        sums = {upto_column(weight.number): weight.weight for weight in weights}
        places = places.select(*block, *(weight.alias(column) for column, weight in sums.items()))
        rows = engine.join(rows, engine.sum_disordered(places, block, [*sums], []), block)
        return rows.with_columns(*(constant(before_column(weight.number), 0.0) for weight in weights))

    def _weight_table(self, rows: Frame, weights: Sequence[WeightSums], upto: int | None) -> Frame:
        """Return the sums of weights up to each position. A table that depends on no data is cached for equal calls."""
        engine = self._context.engine
        tables = self._context.requirements.weight_tables
        key = type(engine), *(weight.number for weight in weights)
        if key in tables:
            return tables[key]
        # No block ends after the longest list. SQL reads that length, because finding the last block would rank again.
        ends = engine.count_rows(self._context.frame, self._context.keys.group, UPTO, {}) if engine.writes_sql else rows
        last = ends.select(GREATEST_END) if upto is None or upto > MOST_POSITIONS else upto
        table = engine.positions(last).select(POSITION, *(weight.sums for weight in weights))
        if engine.eager and isinstance(last, int):
            table = tables[key] = engine.collect_once(table)
        return table

    def _with_places(self, rows: Frame, requested: Requested) -> Frame:
        """Add the requested columns that depend on the places a tied row may have."""
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
