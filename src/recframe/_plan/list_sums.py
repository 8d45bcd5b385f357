"""The sums per list of one model: over its ranked rows, over the ideal ranking, and counts of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import narwhals as nw

from recframe._base.columns import (
    CATALOG_SIZE,
    GAIN,
    HIT,
    IN_TRUTH,
    KNOWN,
    POOLED,
    POSITION,
    RANKED,
    RELEVANCE,
    RELEVANT,
    ROWS,
    SCORE,
    SERVED,
    START,
    Addends,
    ideal_position_column,
    score_column,
)
from recframe._plan import partial_rankings, places
from recframe._plan.beyond_accuracy import RecommendedItems
from recframe._plan.groups import group_distances
from recframe._plan.positions import kept_rows, placed_rows, ranked_rows, with_relevance
from recframe._plan.ranks import HOLDS_SEVERAL_FIRST_HITS
from recframe._plan.relevance import inverse_propensity, is_of_ideal, is_read_row
from recframe._plan.requirements import furthest
from recframe._plan.row_counts import row_counts
from recframe._plan.stops import stop_places
from recframe._plan.subtopics import sums_of_subtopics
from recframe._plan.sum_columns import as_float, constant, up_to
from recframe._plan.term_rows import TermRows
from recframe.metrics._ideal_row import IdealRow
from recframe.metrics._row import ALL_HITS, ALL_ROWS, FIRST_HIT, STOPS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._base.columns import Frame
    from recframe._engines.base import Later
    from recframe._plan.opened import Opened
    from recframe.metrics._record import BestOf
    from recframe.metrics._shared_terms import Terms


class Ranking:
    """The rows that one model ranks, up to a position.

    Attributes
    ----------
    ranked : Frame
        All rows that the model ranks.
    kept : Frame or None
        The ranked rows that can matter, with their tied blocks and relevance; None if no metric reads the relevance.
    recommended : RecommendedItems or None
        The first rows with ties broken; None if no metric reads the recommended items.

    Parameters
    ----------
    context : Opened
        The frames of the call.
    index : int
        Which of the query's orders ranks.
    ideal : callable or None
        Returns R and the sums of each list's ideal ranking; None if no metric reads the relevance.
    upto : int or None
        The last position that any metric reads; None: all.
    """

    def __init__(self, context: Opened, index: int, ideal: Later | None, upto: int | None) -> None:
        self._context = context
        requirements = context.requirements
        self._index = index
        self._ideal = ideal
        self.upto = upto
        ranked = ranked_rows(context, index)
        # Without a cutoff, the ranked rows are read twice: they are counted too.
        if upto is None and RANKED in requirements.requested:
            ranked = context.engine.collect_once(ranked)
        self.ranked = ranked
        placed = placed_rows(context, self.ranked, ideal, upto, index)
        if requirements.reads_recommended and requirements.columns_read.relevance:
            placed = self._context.engine.collect_once(placed)
        self.recommended = RecommendedItems(context, placed) if requirements.reads_recommended else None
        self.kept = kept_rows(context, placed, upto) if requirements.columns_read.relevance else None

    def sums(self) -> Frame:
        """Return the sums of every list that has a value or is reported."""
        context = self._context
        # Freeing few rows saves no memory, but splits steps that are otherwise computed together.
        releases = context.releases and not context.engine.sums_at_once
        if releases and self.kept is not None and self._ideal is not None and not self._needs_rows:
            # Free memory first: the ideal lists read no score.
            context.engine.release([self.ranked])
            context.release([score_column(self._index)])
            self._ideal()
            context.release()
        stacked = [] if self.kept is None or self._ideal is None else self._accuracy_sums(self._ideal)
        if self._context.requirements.beyond_accuracy and self.recommended is not None:
            stacked += self.recommended.list_sums()
        if context.every_list:
            stacked.append(Addends(context.lists, {}, one_row_each=True))
        return context.sum_by_list(stacked)

    @property
    def _needs_rows(self) -> bool:
        """Whether anything reads the user's rows after they are ranked and the ideal lists are computed."""
        context = self._context
        requirements = context.requirements
        query = context.query
        ideal = requirements.ideal
        return bool(
            self._index < len(query.orders) - 1
            or context.truth is not None
            or context.every_list
            or context.keys.long
            or context.omitted
            or query.weight is not None
            or query.sampled is not None
            or requirements.requested & {RANKED, ROWS, IN_TRUTH, SERVED, CATALOG_SIZE}
            or ideal["ranked"].by_column
            or ideal["signed"].by_column
            or requirements.numbers.stops
            or requirements.numbers.groups
            or requirements.beyond_accuracy
        )

    def graded_rows(self) -> tuple[Frame, TermRows]:
        """Return the kept rows with the columns of rank correlations, and the object that adds the other columns."""
        kept = self.kept
        assert kept is not None  # noqa: S101 - for the type checker: a metric reads the relevance
        if self._context.omitted:
            partial_rankings.check_metrics(self._context, kept)
        rows = TermRows(self._context, tied=not self._context.engine.is_untied(kept))
        return rows.compare_grades(kept, self._context.requirements.ranked.requested), rows

    def _accuracy_sums(self, ideal: Later) -> list[Addends]:
        """Return frames that add up to the sums that metrics of relevance read."""
        context = self._context
        requirements = context.requirements
        kept, rows = self.graded_rows()
        hits = self._hits(kept, rows)
        addends = [*self._row_sums(kept, hits, ideal, rows), *self._ideal_sums(ideal)]
        if (
            rows.tied
            and requirements.places[FIRST_HIT].by_column
            and context.engine.may_hold(hits, HOLDS_SEVERAL_FIRST_HITS)
        ):
            first = places.first_hit_places(context, hits)
            addends.append(Addends(first, requirements.places[FIRST_HIT].summands))
        if rows.tied and requirements.places[ALL_HITS].by_column:
            addends.append(Addends(places.all_hits_places(context, hits), requirements.places[ALL_HITS].summands))
        if requirements.requested & {RANKED, ROWS}:
            addends += row_counts(context, self.ranked, kept, self._index, self.upto)
        if IN_TRUTH in requirements.requested:
            addends.append(Addends(context.lists_of_truth, {IN_TRUTH: constant(IN_TRUTH, 1.0)}))
        if SERVED in requirements.requested:
            scored = context.all_rows.select(*context.keys.group, nw.col(score_column(self._index)).alias(SCORE))
            served = context.engine.distinct(context.engine.drop_missing(scored, SCORE), context.keys.group)
            addends.append(Addends(served, {SERVED: constant(SERVED, 1.0)}))
        if requirements.numbers.alphas:
            addends += sums_of_subtopics(context, kept, ideal(), tied=rows.tied)
        if requirements.numbers.stops:
            stops = stop_places(context, kept, tied=rows.tied)
            addends.append(Addends(stops, requirements.places[STOPS].summands))
        return addends

    def _hits(self, kept: Frame, rows: TermRows) -> Frame:
        """Return the rows that most metrics read, with their counts of hits.

        They are few, so counting hits among them is cheaper than among all kept rows.
        """
        requested = self._context.requirements.ranked.requested
        hits = kept.filter(is_read_row(graded=self._context.requirements.reads_graded))
        hits = rows.count_hits(hits, requested)
        # They are read twice: to see whether several first hits tie, and to sum them.
        return self._context.engine.collect_once(hits) if rows.tied and requested & {FIRST_HIT, ALL_HITS} else hits

    def _row_sums(self, kept: Frame, hits: Frame, ideal: Later, rows: TermRows) -> list[Addends]:
        """Return frames that add up to the sums over ranked rows, hits and other rows apart.

        Few rows are hits, and few metrics read the other rows.
        """
        context = self._context
        of_hits, of_all = self._context.requirements.ranked_terms[rows.tied]
        addends: list[Addends] = []
        if of_hits.by_column:
            read = rows.join_lookups(self._in_order(hits, rows), of_hits.requested, ideal)
            addends.append(Addends(read, of_hits.summands, order=START, upto=of_hits.upto))
        if of_all.by_column:
            read = self.read_rows(kept, ideal, rows, of_all)
            if self._context.requirements.numbers.groups:
                addends += group_distances(context, read, of_all.summands)
            part = Addends(read, of_all.summands, order=START, upto=of_all.upto)
            # Sum first if other parts follow, so that only one row per list is stacked.
            addends.append(context.summed(part, context.keys.group) if addends else part)
        return addends

    def read_rows(self, kept: Frame, ideal: Later, rows: TermRows, of_all: Terms) -> Frame:
        """Return the rows for metrics that must see every row, with the columns that their terms request."""
        cutoff = furthest(
            [terms.metric.cutoff for terms in self._context.requirements.accuracy if terms.reads == "all"]
        )
        read = kept if cutoff is None else kept.filter(up_to(START, cutoff))
        read = self._in_order(rows.count_hits(read, of_all.requested), rows)
        return rows.join_lookups(read, of_all.requested, ideal)

    def _in_order(self, read: Frame, rows: TermRows) -> Frame:
        """Return rows sorted, because the order of a sum changes its last bits."""
        context = self._context
        tied = [RELEVANCE, *context.propensities, *context.values] if rows.tied else []
        columns = [START, *tied]
        return context.engine.in_order(read, context.keys.group, columns, is_ranked=context.sums_ideal_rows)

    def _ideal_sums(self, ideal: Later) -> list[Addends]:
        """Return frames that add up to the sums over ideal rankings, and that mark lists with a relevant item."""
        context = self._context
        requirements = context.requirements
        if context.sums_ideal_rows:
            addends = [ideal_rows(context)]
        else:
            columns = (RELEVANT, *requirements.ideal["all"].by_column)
            addends = [Addends(ideal(), {name: as_float(name) for name in columns}, one_row_each=True)]
        for of in ("ranked", "signed"):
            if requirements.ideal[of].by_column:
                addends.append(ranked_ideal(context, self.ranked, of))
        if context.pooled:
            with_relevant = ideal().filter(nw.col(RELEVANT) > 0).select(*context.keys.key).unique()
            with_relevant = with_relevant.join(context.models, how="cross")
            addends.append(Addends(with_relevant, {KNOWN: constant(KNOWN, 1.0)}))
        return addends


# --- the ideal ranking ---------------------------------------------------------------------------------------

_RELEVANT = nw.col(HIT).alias(RELEVANT)
_IS_OF_RANKED = (nw.col(RELEVANCE) > 0) | (nw.col(HIT) > 0)


def ideal_lists(context: Opened) -> Frame:
    """Return R and the sums over the ideal ranking for each list that has a relevant row."""
    group = context.relevant_keys
    lists = context.summed(ideal_rows(context), group).frame
    return lists.join(context.models, how="cross") if group != context.keys.group else lists


def ideal_rows(context: Opened) -> Addends:
    """Return the rows of the ideal rankings, with what each adds to its list."""
    group = context.relevant_keys
    if context.truth is None:
        columns = [*group, *context.relevance, *context.propensities, *context.values]
        source = context.with_relevance(context.engine.narrow(context.frame, columns))
    else:
        columns = [*group, RELEVANCE, *context.pool, *context.propensities, *context.values]
        source = context.with_hits(context.truth.select(*columns))
    return _best(context, source, group, "all")


def ranked_ideal(context: Opened, ranked: Frame, of: BestOf) -> Addends:
    """Return the sums in the ideal ranking of the ranked rows only."""
    if context.truth is not None:
        ranked = placed_rows(context, ranked, None, None)
    rows = with_relevance(context, ranked).select(*context.keys.group, RELEVANCE, HIT)
    return context.summed(_best(context, rows, context.keys.group, of), context.keys.group)


def _best(context: Opened, rows: Frame, group: Sequence[str], of: BestOf) -> Addends:
    """Return what rows add in an ideal ranking, without the rows of relevance 0 or less if no metric reads them."""
    terms = context.requirements.ideal[of]
    if not terms.requested & {ALL_ROWS, POOLED}:
        # A ranked row that the truth lacks is not relevant, however low min_relevance is.
        rows = rows.filter(is_of_ideal(context.query.min_relevance) if of == "all" else _IS_OF_RANKED)
    rows = _by_gain(context, rows, group, terms)
    if POSITION in terms.requested:
        rows = context.engine.number_rows(rows, group, RELEVANCE, descending=True)
    # Rows of equal relevance are numbered in any order. Their terms only differ if propensities or values do.
    order = POSITION if POSITION in terms.requested and not (context.propensities or context.values) else ""
    if of != "all":
        return Addends(rows, terms.summands, order=order)
    relevant = inverse_propensity(graded=False).alias(RELEVANT) if context.propensities else _RELEVANT
    return Addends(rows, {**terms.summands, RELEVANT: relevant}, order=order)


def _by_gain(context: Opened, rows: Frame, group: Sequence[str], terms: Terms) -> Frame:
    """Add each row's position in the ideal rankings that sort by a gain instead of the relevance."""
    for number, gain in enumerate(context.requirements.numbers.orders):
        column = ideal_position_column(number)
        if column in terms.requested:
            rows = rows.with_columns(gain(IdealRow()).cast(nw.Float64()).alias(GAIN))
            rows = context.engine.number_rows(rows, group, GAIN, descending=True)
            rows = rows.with_columns(nw.col(POSITION).cast(nw.Float64()).alias(column)).drop(POSITION, GAIN)
    return rows
