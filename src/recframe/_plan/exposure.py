"""Exposure: the attention that each group of items gets over all lists, and the attention that it should get."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw

from recframe._base.columns import EXPOSED, GROUP, HIT, ITEM, MODEL, RELEVANCE, TARGET, exposed_column, total_column
from recframe._plan.groups import catalog, relevant_items, target_numbers, with_groups
from recframe._plan.list_sums import Ranking
from recframe._plan.plan import Plan
from recframe._plan.query import check_apart
from recframe._plan.sum_columns import constant
from recframe.metrics._sums import quotient

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe._base.columns import Frame
    from recframe._engines.base import Later
    from recframe._plan.call_frames import CallFrames
    from recframe._plan.query import Query
    from recframe.metrics._record import Metric
    from recframe.metrics.awrf import GroupTarget

COLUMNS = ("items", RELEVANCE, "exposure", "share", TARGET, "parity", "treatment", "impact")
"""The columns of a result, after the model and the group."""


class GroupExposure:
    """The result of a call for group exposure: one row per model and group of items.

    Parameters
    ----------
    metrics : sequence of Metric
        An `awrf` metric, which brings the attention and the target, and any other metric that needs columns read.
    target : str or tuple
        The target of the `awrf` metric.
    """

    def __init__(self, frames: CallFrames, query: Query, metrics: Sequence[Metric], target: GroupTarget) -> None:
        self._plan = Plan(frames, query, metrics)
        self._target: GroupTarget = target
        self.context = self._plan.context
        self._group = ITEM if query.group is None else GROUP
        self._keys = [MODEL] if query.several else []

    def frame(self) -> Any:
        """Return the rows as a frame of the user's kind; an eager one is sorted by model and group."""
        user = {self._group: self.context.query.item if self.context.query.group is None else self.context.query.group}
        names = {name: name for name in self._keys} | user | {exposed_column(name): name for name in COLUMNS}
        check_apart(list(names.values()))
        return self.context.finish(self._shares().select(*names), names, [*self._keys, self._group])

    def _shares(self) -> Frame:
        """Return the sums of each group, its shares of the totals, and the ratios of these shares."""
        rows = self._sums()
        totals = {total_column(name): name for name in EXPOSED.values()}
        sums = self.context.engine.sum_exactly(rows.select(*self._keys, **totals), self._keys, list(totals))
        rows = self.context.engine.join(rows, sums, self._keys) if self._keys else rows.join(sums, how="cross")
        share = {name: _ratio(nw.col(column), nw.col(total_column(column))) for name, column in EXPOSED.items()}
        values = {
            "items": nw.col(EXPOSED["items"]).cast(nw.Int64()),
            **{name: nw.col(EXPOSED[name]) for name in (RELEVANCE, "exposure")},
            "share": share["exposure"],
            TARGET: share[TARGET],
            "parity": _ratio(share["exposure"], share["items"]),
            "treatment": _ratio(share["exposure"], share[RELEVANCE]),
            "impact": _ratio(share["gain"], share[RELEVANCE]),
        }
        columns = (value.alias(exposed_column(name)) for name, value in values.items())
        return rows.select(*self._keys, nw.col(GROUP).alias(self._group), *columns)

    def _sums(self) -> Frame:
        """Return the sums of each group under each model."""
        ideal, upto = self._plan.ideal_side()
        parts = [part for index in range(len(self.context.query.orders)) for part in self._parts(index, ideal, upto)]
        return self.context.engine.sum_exactly(
            self.context.engine.stack(parts), [*self._keys, GROUP], list(EXPOSED.values())
        )

    def _parts(self, index: int, ideal: Later | None, upto: int | None) -> list[Frame]:
        """Return rows that add up to the sums of groups under one model."""
        context = self.context
        requirements = context.requirements
        ranking = Ranking(self.context, index, ideal, upto)
        assert ideal is not None  # noqa: S101 - for the type checker: awrf is a metric of ranked rows
        kept, rows = ranking.graded_rows()
        terms = requirements.ranked_terms[rows.tied].of_all
        attention = terms.summands[next(iter(requirements.numbers.groups))[0]]
        read = with_groups(context, ranking.read_rows(kept, ideal, rows, terms))
        gain = nw.when(nw.col(HIT) > 0).then(nw.col(RELEVANCE).cast(nw.Float64())).otherwise(0.0) * attention
        # An item may count as relevant with a relevance of 0 or less, which adds nothing.
        useful = nw.when(nw.col(RELEVANCE) > 0).then(nw.col(RELEVANCE)).otherwise(0.0).cast(nw.Float64())
        in_frame = context.truth is None
        targets = target_numbers(context, self._target)
        return [
            self._part(index, read, {"exposure": attention, "gain": nw.when(gain > 0).then(gain).otherwise(0.0)}),
            self._part(index, relevant_items(context), {RELEVANCE: useful}, of_model=in_frame),
            self._part(index, catalog(context), {"items": nw.lit(1.0)}, of_model=False),
            self._part(index, targets, {TARGET: nw.col(TARGET)}, of_model=in_frame and self._target == "relevant"),
        ]

    def _part(self, index: int, frame: Frame, added: Mapping[str, nw.Expr], *, of_model: bool = True) -> Frame:
        """Return rows with one column per sum of a group: the number in `added`, or 0."""
        context = self.context
        columns = [
            added[name].alias(column) if name in added else constant(column, 0.0) for name, column in EXPOSED.items()
        ]
        frame = frame if of_model else context.of_models(frame)
        return context.named(frame.select(*(self._keys if context.keys.long else []), GROUP, *columns), index)


def _ratio(part: nw.Expr, total: nw.Expr) -> nw.Expr:
    """Return a part divided by its total, missing if the total is 0."""
    return nw.when(total > 0).then(quotient(part, total))
