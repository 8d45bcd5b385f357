"""Contributions: what each ranked row adds to the value of its list."""

from __future__ import annotations

import math
from copy import copy
from typing import TYPE_CHECKING, Any

import narwhals as nw

from recframe._base.columns import (
    ABSOLUTE,
    BLOCK_HITS,
    CONTRIBUTION,
    HIT,
    ITEM,
    LIST_SUM,
    LIST_VALUE,
    MODEL,
    POSITION,
    RELEVANCE,
    RELEVANT,
    SIZE,
    START,
    TIED,
    block_column,
    key_column,
    row_column,
    score_column,
)
from recframe._plan import places
from recframe._plan.list_sums import Ranking
from recframe._plan.matches import unmatched
from recframe._plan.plan import Plan
from recframe._plan.query import check_apart
from recframe._plan.relevance import or_zero
from recframe._plan.stops import row_stop_places
from recframe.errors import OptionError
from recframe.metrics._row import FIRST_HIT, STOPS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe._base.columns import Frame
    from recframe._engines.base import Later
    from recframe._plan.call_frames import CallFrames
    from recframe._plan.opened import Opened
    from recframe._plan.query import Query
    from recframe.metrics._record import Metric


TOLERANCE = 1e-9
"""How far the sum of a custom metric's contributions may be from the list's value, relative to their size."""
_POSITION = nw.col(START).cast(nw.Int64()).alias(POSITION)
_TIED = nw.col(SIZE).cast(nw.Int64()).alias(TIED)


class Contributions:
    """The contributions to one metric: one row per ranked row that can matter to it or to a `further` metric."""

    def __init__(
        self, frames: CallFrames, query: Query, metric: Metric, *, item: bool, further: Sequence[Metric] = ()
    ) -> None:
        if not metric.is_additive:
            msg = f"{metric.name} of a list is not a sum over its rows"
            raise OptionError(
                msg, "name a metric whose value is a sum over the rows of a list, such as 'ndcg' or 'map'"
            )
        item = item or frames.truth is not None or query.ties in ("item", "item_desc")
        self._names = {
            **({MODEL: MODEL} if query.several else {}),
            **{key_column(i): name for i, name in enumerate(query.by)},
            **({ITEM: query.item} if item else {}),
            RELEVANCE: query.relevant,
            **{name: name for name in (POSITION, TIED, CONTRIBUTION)},
            LIST_VALUE: query.averaging(metric.label).name,
        }
        check_apart([*self._names.values()])
        self.plan = Plan(frames, query, [metric, *further], item=item, shares=True)
        self.frames = frames
        self._metric = metric
        self._item = [ITEM] if item else []
        self.context = self.plan.context

    def frame(self) -> Any:
        """Return the rows as a frame of the user's kind; an eager one is sorted by model, key and position."""
        context = self.context
        rows = self.run().select(*self._names)
        if self.context.engine.eager:
            rows = self.context.engine.collect_once(rows)
        sort = [*([MODEL] if self.context.query.several else []), *context.keys.key_names, POSITION, *self._item]
        return context.finish(rows, self._names, sort)

    def run(self) -> Frame:
        """Return the rows of all models, under the plan's names."""
        results = [rows for rows, _ in self.by_ranking()]
        return results[0] if len(results) == 1 else self.context.engine.stack(results)

    def by_ranking(self) -> list[tuple[Frame, Frame]]:
        """Return a pair of frames for each model: its rows, under the plan's names, and its lists with their values."""
        ideal, upto = self.plan.ideal_side()
        return [self._rows(index, ideal, upto) for index in range(len(self.context.query.orders))]

    def of_lists(self, lists: Frame) -> Contributions:
        """Return the contributions in some lists only."""
        some = copy(self)
        some.plan = copy(self.plan)
        some.context = some.plan.context = self.context.of_lists(lists)
        return some

    def list_values(self) -> list[Frame]:
        """Return the lists of each ranking with their values, which needs fewer rows than the contributions."""
        context = self.context
        plan = Plan(self.frames, context.query, [self._metric], item=True, session=context.session)
        value = plan.context.requirements.values[self._metric.label].where_defined(eager=context.engine.eager)
        columns = [*context.keys.group, LIST_VALUE]
        lists = (plan.sums(ranking).with_columns(value.alias(LIST_VALUE)) for ranking in plan.rankings())
        return [context.engine.collect_once(each.select(*columns)) for each in lists]

    def _rows(self, index: int, ideal: Later | None, upto: int | None) -> tuple[Frame, Frame]:
        """Return the rows and the lists of one model."""
        context = self.context
        requirements = context.requirements
        # R differs from list to list, so no position is the last one for all lists.
        upto = None if RELEVANT in requirements.requested else upto
        ranking = Ranking(context, index, ideal, upto)
        shares = requirements.shares
        assert ideal is not None  # noqa: S101 - for the type checker: the metric
        assert shares is not None  # noqa: S101 - reads the relevance and shares
        value = {LIST_VALUE: requirements.values[self._metric.label].where_defined(eager=self.context.engine.eager)}
        lists = self.context.engine.collect_once(self.plan.sums(ranking).with_columns(**value))
        rows = rows_with_terms(context, ranking, ideal).select(
            *context.keys.group,
            *self._item,
            RELEVANCE,
            HIT,
            _POSITION,
            _TIED,
            *(row_column(column) for column in sorted(requirements.ranked.by_column)),
        )
        parts = [self._with_contributions(rows, lists, shares.ranked)]
        if shares.unranked is not None:
            missing = self._unranked(ranking.ranked, index)
            # A missing integer in every row: unranked rows have no position, and the relevance is never missing.
            nowhere = nw.when(nw.col(RELEVANCE).is_null()).then(nw.lit(0, dtype=nw.Int64()))
            missing = missing.with_columns(nowhere.alias(POSITION), nowhere.alias(TIED))
            parts.append(self._with_contributions(missing, lists, shares.unranked))
        result = self.context.engine.stack(parts)
        if not self._metric.is_builtin:
            result = self._checked(result)
        return context.named(result, index), lists

    def _with_contributions(self, rows: Frame, lists: Frame, share: nw.Expr) -> Frame:
        """Return rows with their contributions: `share` reads the terms of a row and the sums of its list.

        A contribution is missing if the list has no value.
        """
        context = self.context
        rows = self.context.engine.join(rows, lists, context.keys.group)
        return rows.select(*context.keys.group, *self._item, RELEVANCE, HIT, POSITION, TIED, share, LIST_VALUE)

    def _unranked(self, ranked: Frame, index: int) -> Frame:
        """Return the relevant items that a model does not rank."""
        context = self.context
        if context.truth is None:
            rows = context.frame.filter(nw.col(score_column(index)).is_null())
        else:
            rows = unmatched(self.context.engine, context.of_models(context.truth), ranked, [*context.keys.group, ITEM])
        rows = context.with_hits(rows.with_columns(or_zero(RELEVANCE)))
        return rows.filter(nw.col(HIT) > 0).select(
            *context.keys.group, *self._item, RELEVANCE, HIT, *context.propensities
        )

    def _checked(self, rows: Frame) -> Frame:
        """Return the rows of a custom metric, or raise if they do not add up to the value of their list.

        A lazy frame cannot raise, so its contributions become NaN in such a list.
        """
        group = self.context.keys.group
        engine = self.context.engine
        rows = rows.with_columns(nw.col(CONTRIBUTION).abs().alias(ABSOLUTE))
        sums = nw.col(CONTRIBUTION).sum().over(*group).alias(LIST_SUM), nw.col(ABSOLUTE).sum().over(*group)
        rows = engine.collect_once(rows.with_columns(*sums))
        differs = (nw.col(LIST_SUM) - nw.col(LIST_VALUE)).abs() > TOLERANCE * (1 + nw.col(ABSOLUTE))
        if engine.eager and engine.scalar(rows.filter(differs).select(nw.len())):
            msg = f"the contributions to {self._metric.label} do not add up to the value of a list"
            raise OptionError(
                msg,
                "let the metric's share() return what a row adds, or set is_additive = False if there is no such sum",
            )
        exact = nw.when(differs).then(nw.lit(math.nan)).otherwise(nw.col(CONTRIBUTION))
        return rows.with_columns(exact.alias(CONTRIBUTION)).drop(LIST_SUM, ABSOLUTE)


def rows_with_terms(context: Opened, ranking: Ranking, ideal: Later) -> Frame:
    """Return the kept rows of a model with the terms of each row, in columns named by `row_column`.

    A term is what the row adds to a sum of its list. What the first hit of a list adds is known per tied block. It is
    spread evenly over the block's hits.
    """
    requirements = context.requirements
    kept, term_rows = ranking.graded_rows()
    # A call for contributions reads every row, even for metrics that otherwise read only hits.
    terms = requirements.ranked_terms[term_rows.tied].of_all
    requested = terms.requested
    added = dict(terms.by_column)
    kept = context.engine.collect_once(term_rows.count_hits(kept, requested))
    first_hit = requirements.places[FIRST_HIT].by_column
    cascade = requirements.places[STOPS].by_column
    if term_rows.tied and first_hit:
        kept = _with_block_sums(context, kept, places.first_hit_places(context, kept), first_hit)
        share = nw.when(nw.col(BLOCK_HITS) > 0).then(nw.col(HIT) / nw.col(BLOCK_HITS)).otherwise(0.0)
        added |= {column: added[column] + nw.col(block_column(column)) * share for column in first_hit}
    if cascade:
        if len(requirements.numbers.stops) > 1:
            msg = "a metric with several probabilities to stop at a row has no contributions"
            raise OptionError(msg)
        stops = row_stop_places(context, kept, tied=term_rows.tied)
        kept = _with_block_sums(context, kept, stops, cascade, RELEVANCE)
        added |= {column: added[column] + nw.col(block_column(column)) for column in cascade}
    # A sum skips missing values, so a row with a missing term adds 0.
    columns = [term.cast(nw.Float64()).fill_null(0.0).alias(row_column(column)) for column, term in added.items()]
    return term_rows.join_lookups(kept, requested, ideal).with_columns(*columns)


def _with_block_sums(
    context: Opened, kept: Frame, block_places: Frame, terms: Mapping[str, nw.Expr], *within: str
) -> Frame:
    """Add to each row the sums of terms over the places of its tied block: the positions where its rows may be.

    With `within`, the sums are over those places that have the row's values in these columns.
    """
    block = [*context.keys.group, START, *within]
    names = [block_column(name) for name in terms]
    summands = (term.cast(nw.Float64()).alias(block_column(name)) for name, term in terms.items())
    sums = context.engine.sum_exactly(block_places.select(*block, *summands), block, names)
    kept = context.engine.join(kept, sums, block)
    return kept.with_columns(nw.col(*names).fill_null(0.0))
