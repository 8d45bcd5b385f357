"""The ranked side of one model: terms per row ▸ sums per list."""

from __future__ import annotations

from typing import TYPE_CHECKING

import narwhals as nw

from recframe._columns import (
    BEFORE,
    BLOCK_HITS,
    BLOCK_STOP,
    CONCORDANCE,
    FIRST_HIT,
    GRADE_RANK,
    HIT,
    HIT_START,
    HITS_BEFORE,
    ITEM,
    JUDGED,
    KNOWN,
    LENGTH,
    LEVEL,
    OWN_STOP,
    PLACE_COUNT,
    POPULAR,
    POSITION,
    RANKED,
    RANKED_RELEVANT,
    RELEVANCE,
    RELEVANT,
    ROWS,
    SAME_GRADE,
    SIZE,
    START,
    UPTO,
    before_column,
    block_column,
    row_column,
    score_column,
    stop_column,
    upto_column,
    weight_column,
)
from recframe._plan import partial_rankings, ranks
from recframe._plan.beyond_accuracy import Shown
from recframe._plan.ideal import ranked_ideal
from recframe._plan.positions import is_read, kept_rows, numbered, placed_rows, ranked_rows
from recframe._plan.relevance import row_counts
from recframe._plan.requirements import furthest
from recframe._plan.side_tables import unexpected
from recframe.errors import OptionError
from recframe.metrics._row import CASCADE, CascadeRow, FirstHitRow, Row

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recframe._columns import Frame
    from recframe._engines.base import Later
    from recframe._plan.context import CallContext
    from recframe._plan.side_tables import SideTables


LAZY_DIGITS = 20
"""Of the number of distinct relevances in a list, where it is not known: about a million."""


class Ranking:
    """The rows that one model ranks, up to a position.

    Parameters
    ----------
    tables : Tables
        The frames of the call.
    beside : Beside
        What stands beside them.
    index : int
        Which of the query's orders ranks.
    ideal : callable or None
        Returns R and the sums in the best order of each list, where a metric reads the relevance.
    upto : int or None
        The last position that any metric reads.
    """

    def __init__(
        self, context: CallContext, beside: SideTables, index: int, ideal: Later | None, upto: int | None
    ) -> None:
        self._context = context
        self._side_tables = beside
        self._requirements = context.requirements
        self._engine = context.engine
        self._group = context.group
        self._ideal = ideal
        self._upto = upto
        self._compact = context.query.tied is not None
        self._score = score_column(index)
        self.ranked = ranked_rows(context, index)
        placed = placed_rows(context, self.ranked, ideal, upto)
        if context.reads_recommended and context.labelled:
            placed = placed._replace(rows=self._engine.settle(placed.rows))
        self.shown = Shown(context, beside, placed) if context.reads_recommended else None
        self.kept = kept_rows(context, self.ranked, placed, upto) if context.labelled else None
        """The rows that can matter, each with its tied block and its relevance."""

    def sums(self) -> Frame:
        """Return the sums of every list that matters."""
        context = self._context
        stacked = [] if self.kept is None or self._ideal is None else self._accuracy_sums(self.kept, self._ideal())
        if self._requirements.shown and self.shown is not None:
            stacked += self.shown.list_sums()
        if context.every_list:
            stacked.append(context.to_sum_columns(context.lists(), {}))
        return self._engine.sum_by(nw.concat(stacked, how="vertical"), self._group, context.columns)

    def _accuracy_sums(self, kept: Frame, ideal: Frame) -> list[Frame]:
        """Return frames whose sums the metrics of relevance read."""
        kept, row, _ = self._asked(kept)
        hits = self._hits(kept, row)
        stacked = [*self._row_sums(kept, hits, ideal, tied=row.tied), *self._other_sums(kept, hits, ideal, row)]
        if CASCADE in row.asked:
            reading, _, stopped = self._cascade(kept, tied=row.tied)
            stacked.append(self._context.to_sum_columns(reading, stopped))
        return stacked

    def rows(self, kept: Frame, ideal: Frame) -> Frame:
        """Return the kept rows with what each adds to the sums, in columns of their names by `row_column`.

        What is known of a tied block as a whole is spread over its rows: the place of the first hit evenly over its
        hits, that at which a user stops by the rows' own chances to stop.
        """
        kept, row, terms = self._asked(kept)
        kept = self._engine.settle(self._beside_hits(kept, row))
        added = dict(terms)
        if row.tied and self._requirements.first_hit:
            firsts = self._requirements.terms(FirstHitRow())
            places = ranks.chances(self._first_places(kept), self._group)
            kept = self._with_blocks(kept, places, firsts)
            each = nw.when(nw.col(BLOCK_HITS) > 0).then(nw.col(HIT) / nw.col(BLOCK_HITS)).otherwise(0.0)
            added |= {column: added[column] + nw.col(block_column(column)) * each for column in firsts}
        if CASCADE in row.asked:
            reading, cascade, stopped = self._cascade(kept, tied=row.tied)
            if len(cascade.stops) > 1:
                msg = "a metric with several chances to stop at a row has no contributions"
                raise OptionError(msg)
            (stop,) = cascade.stops
            kept, greatest = self._context.with_greatest(self._with_blocks(kept, reading, stopped))
            kept = kept.with_columns(stop(nw.col(RELEVANCE), greatest).cast(nw.Float64()).alias(OWN_STOP))
            kept = kept.with_columns(nw.col(OWN_STOP).sum().over(*self._group, START).alias(BLOCK_STOP))
            each = nw.when(nw.col(BLOCK_STOP) > 0).then(nw.col(OWN_STOP) / nw.col(BLOCK_STOP)).otherwise(0.0)
            added |= {column: added[column] + nw.col(block_column(column)) * each for column in stopped}
        rows = self._ready(kept, row, ideal)
        # A sum skips what is missing.
        columns = [term.cast(nw.Float64()).fill_null(0.0).alias(row_column(column)) for column, term in added.items()]
        return rows.with_columns(*columns)

    def _asked(self, kept: Frame) -> tuple[Frame, Row, dict[str, nw.Expr]]:
        """Return the kept rows with what rank correlations ask for, and the terms of a row."""
        partial_rankings.check_metrics(self._context, kept)
        tied = not self._engine.eager or bool(self._engine.scalar(kept.select((nw.col(SIZE).max() > 1).alias(SIZE))))
        row = Row(tied=tied)
        terms = self._requirements.terms(row)
        return self._compared(kept, row.asked), row, terms

    def _with_blocks(self, kept: Frame, places: Frame, terms: Mapping[str, nw.Expr]) -> Frame:
        """Add to each row what the places of its tied block add together."""
        block = [*self._group, START]
        places = places.select(
            *block, *(term.cast(nw.Float64()).alias(block_column(name)) for name, term in terms.items())
        )
        names = [block_column(name) for name in terms]
        kept = self._engine.join(kept, self._engine.sum_by(places, block, names), block)
        return kept.with_columns(nw.col(*names).fill_null(0.0))

    # --- rows ------------------------------------------------------------------------------------------------

    def _compared(self, kept: Frame, asked: set[str]) -> Frame:
        """Add what rank correlations ask for."""
        if asked & {LENGTH, GRADE_RANK, SAME_GRADE}:
            kept = ranks.grades(kept, self._group, asked)
        if CONCORDANCE in asked:
            kept = self._engine.settle(ranks.levels(kept, self._group))
            digits = LAZY_DIGITS
            if self._engine.eager:
                most = self._engine.scalar(kept.select(nw.col(LEVEL).max()))
                digits = max(1, int(most or 0).bit_length())
            kept = ranks.concordant_pairs(kept, self._group, digits)
        return kept

    def _hits(self, kept: Frame, row: Row) -> Frame:
        """Return the rows that most metrics read: few, so that it pays to look around among them alone."""
        hits = self._beside_hits(kept.filter(is_read(self._context, nw.col(HIT) > 0, nw.col(RELEVANCE))), row)
        # Whether several first hits tie is asked of them, and what they add is summed.
        return self._engine.settle(hits) if row.tied and FIRST_HIT in row.asked else hits

    def _beside_hits(self, rows: Frame, row: Row) -> Frame:
        """Add to rows, all hits of their blocks among them, what is asked of the other hits of their lists."""
        if row.tied and BLOCK_HITS in row.asked:
            rows = ranks.block_hits(rows, self._group)
        if FIRST_HIT in row.asked:
            rows = ranks.first_blocks(rows, self._group)
        if HITS_BEFORE in row.asked:
            rows = numbered(self._engine, ranks.hit_starts(rows), self._group, HIT_START, descending=False)
            rows = ranks.hits_before(rows, self._group, tied=row.tied)
        if RANKED_RELEVANT in row.asked:
            rows = rows.with_columns(nw.col(HIT).sum().over(*self._group).alias(RANKED_RELEVANT))
        return rows

    def _row_sums(self, kept: Frame, hits: Frame, ideal: Frame, *, tied: bool) -> list[Frame]:
        """Return what lists get from their ranked rows: few are hits, and few metrics read the others."""
        accuracy = self._requirements.accuracy
        of_hits = [metric for metric in accuracy if metric.reads != "all"]
        of_all = [metric for metric in accuracy if metric.reads == "all"]
        found: list[Frame] = []
        summed: dict[str, nw.Expr] = {}
        if of_hits:
            row = Row(tied=tied)
            summed = self._requirements.terms(row, of_hits)
            found.append(self._context.to_sum_columns(self._ready(hits, row, ideal), summed))
        every = Row(tied=tied)
        terms = {name: term for name, term in self._requirements.terms(every, of_all).items() if name not in summed}
        if terms:
            cutoff = furthest([metric.cutoff for metric in of_all])
            rows = kept if cutoff is None else kept.filter(nw.col(START) <= cutoff)
            rows = self._ready(self._beside_hits(rows, every), every, ideal)
            if of_hits:
                rows = self._engine.sum_by(rows.select(*self._group, **terms), self._group, list(terms))
                terms = {name: nw.col(name) for name in terms}
            found.append(self._context.to_sum_columns(rows, terms))
        return found

    def _ready(self, rows: Frame, row: Row, ideal: Frame) -> Frame:
        """Add to rows what else their terms ask for."""
        if RELEVANT in row.asked:
            rows = self._engine.join(rows, ideal.select(*self._group, RELEVANT), self._group)
        if POPULAR in row.asked:
            known = self._side_tables.popularity.select(ITEM, POPULAR)
            rows = self._engine.join(rows, known, [ITEM]).with_columns(unexpected().alias(POPULAR))
        if row.tables:
            rows = self._with_tables(rows, row)
        return rows.with_columns(nw.col(START, SIZE).cast(nw.Float64()))

    def _with_tables(self, rows: Frame, row: Row) -> Frame:
        """Look up the sums of each weight over the positions before a tied block, and up to its end."""
        # Past the last position that counts, sums do not change.
        upto = furthest([k for _, k in row.tables])
        before = nw.col(START).cast(nw.Int64()) - 1
        ends = {BEFORE: before, UPTO: before + nw.col(SIZE).cast(nw.Int64())}
        if upto is not None:
            ends = {side: nw.when(end < upto).then(end).otherwise(upto) for side, end in ends.items()}
        rows = rows.with_columns(*(end.cast(nw.Int64()).alias(side) for side, end in ends.items()))
        table = self._engine.positions(rows.select(nw.col(UPTO).max()) if upto is None else upto)
        position = nw.col(POSITION).cast(nw.Float64())
        weights = []
        for (of, k), index in row.tables.items():
            weight = of(position) if k is None else nw.when(position <= k).then(of(position)).otherwise(0.0)
            weights.append((weight + 0.0 * position).alias(weight_column(index)))
        table = table.with_columns(*weights)
        sides = {BEFORE: before_column, UPTO: upto_column}
        for side, total in sides.items():
            totals = [
                nw.col(weight_column(index)).cum_sum().over(order_by=POSITION).alias(total(index))
                for index in row.tables.values()
            ]
            lookup = table.select(nw.col(POSITION).alias(side), *totals)
            rows = rows.join(lookup, on=side, how="left")
        columns = [total(index) for total in sides.values() for index in row.tables.values()]
        return rows.with_columns(nw.col(*columns).fill_null(0.0))

    # --- what lists get from elsewhere -----------------------------------------------------------------------

    def _other_sums(self, kept: Frame, hits: Frame, ideal: Frame, row: Row) -> list[Frame]:
        """Return what lists get from elsewhere than their ranked rows."""
        context = self._context
        found = [
            context.to_sum_columns(
                ideal, {name: nw.col(name) for name in (RELEVANT, *self._requirements.best_terms("all"))}
            )
        ]
        if self._requirements.best_terms("ranked"):
            found.append(ranked_ideal(context, self.ranked))
        if row.tied and self._requirements.first_hit and self._may_hold(hits, ranks.several_first_hits()):
            places = self._first_places(hits)
            found.append(
                context.to_sum_columns(ranks.chances(places, self._group), self._requirements.terms(FirstHitRow()))
            )
        found += self._counts(kept)
        if JUDGED in self._requirements.asked:
            found.append(context.to_sum_columns(context.lists(of="truth"), {JUDGED: nw.lit(1.0)}))
        if context.pooled:
            known = ideal.filter(nw.col(RELEVANT) > 0).select(*context.keys).unique()
            found.append(context.to_sum_columns(known.join(context.models(), how="cross"), {KNOWN: nw.lit(1.0)}))
        return found

    def _counts(self, kept: Frame) -> list[Frame]:
        """Return how many rows of each list are ranked, and how many there are, as far as that is asked."""
        context, asked = self._context, self._requirements.asked
        compact = context.query.candidates is not None
        if {RANKED, ROWS} <= asked and context.truth is None and not compact:
            ranked = nw.col(self._score).count().alias(RANKED)
            both = context.frame.group_by(*self._group).agg(nw.len().alias(ROWS), ranked)
            return [context.to_sum_columns(both, {ROWS: nw.col(ROWS), RANKED: nw.col(RANKED)})]
        found = []
        if RANKED in asked and compact:
            found.append(context.to_sum_columns(partial_rankings.candidates(context), {RANKED: nw.col(RANKED)}))
        elif RANKED in asked:
            # As many rows as can matter stay, unless positions were given and have gaps.
            counted = self.ranked if context.query.by_rank else kept
            counts = counted.group_by(*self._group).agg(nw.len().alias(RANKED))
            found.append(context.to_sum_columns(counts, {RANKED: nw.col(RANKED)}))
        if ROWS in asked:
            found += [context.to_sum_columns(counted, {ROWS: nw.col(ROWS)}) for counted in row_counts(context)]
        return found

    def _may_hold(self, frame: Frame, condition: nw.Expr) -> bool:
        """Return whether rows meet a condition; of a lazy frame they may."""
        return not self._engine.eager or self._engine.scalar(frame.filter(condition).select(nw.len())) > 0

    def _first_places(self, rows: Frame) -> Frame:
        """Return the places of the blocks that hold several of a list's first hits, these hits among the rows."""
        several = rows.filter(ranks.several_first_hits())
        return self._places(several.select(*self._group, START, SIZE, BLOCK_HITS).unique())

    def _places(self, blocks: Frame) -> Frame:
        """Return a row for each place of each block up to the last position that is read."""
        many = nw.col(SIZE)
        if self._upto is not None:
            blocks = blocks.filter(nw.col(START) <= self._upto)
            left = self._upto - nw.col(START) + 1
            many = nw.when(many > left).then(left).otherwise(many)
        return self._engine.repeat(blocks.with_columns(many.cast(nw.Int64()).alias(PLACE_COUNT)), PLACE_COUNT)

    def _cascade(self, kept: Frame, *, tied: bool) -> tuple[Frame, CascadeRow, dict[str, nw.Expr]]:
        """Return the places at which a user stops who reads from the top, and their terms."""
        cutoff = self._requirements.cascade_cutoff
        kept = kept if cutoff is None else kept.filter(nw.col(START) <= cutoff)
        kept, greatest = self._context.with_greatest(kept)
        row = CascadeRow()
        terms = self._requirements.terms(row)
        stops = [stop(nw.col(RELEVANCE), greatest) for stop in row.stops]
        read = ranks.stopping(kept, self._group, stops, tied=tied)
        read = self._engine.settle(self._places(read) if tied else read.with_columns(nw.lit(1).alias(POSITION)))
        surely = nw.any_horizontal(*(nw.col(stop_column(index)) >= 1 for index in range(len(stops))), ignore_nulls=True)
        return ranks.reading(read, self._group, len(stops), certain=self._may_hold(read, surely)), row, terms
