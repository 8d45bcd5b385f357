"""From roles and metrics to one plan.

rank ▸ keep what can matter at the largest k ▸ terms per row ▸ sums per list ▸ values per list ▸ mean over `per`
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any

import narwhals as nw

from recframe._base.columns import (
    CATALOG_SIZE,
    CATEGORISED,
    IN_TRUTH,
    ITEM,
    MODEL,
    POSITION,
    RANKED,
    RELEVANT,
    SERVED,
    TRAIN_ROWS,
    TRAIN_USERS,
    VALUE,
    constant_column,
    weighting_column,
)
from recframe._plan import averages
from recframe._plan.beyond_accuracy import exposure_values, segments
from recframe._plan.checks import check_median, check_numbers, check_profile
from recframe._plan.collect_terms import requirements_of
from recframe._plan.custom_values import check_values
from recframe._plan.list_sums import Ranking, ideal_lists
from recframe._plan.opened import Opened
from recframe._plan.ranks import TIE_ORDER
from recframe._plan.sampled_lists import check_sampled, estimates
from recframe._plan.state import State, stacked
from recframe._plan.strata import averaged, check_unweighted
from recframe.errors import OptionError
from recframe.metrics._beyond_accuracy import ExposureMetric, RecommendedMetric

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from recframe._base.columns import Frame
    from recframe._engines.base import Later, Session
    from recframe._plan.call_frames import CallFrames
    from recframe._plan.query import Query
    from recframe.metrics._record import Metric


MOST_SUMMED = 10_000_000
"""How many positions a constant is summed over."""


class Plan:
    """The plan of one call: built by `run`, computed by whoever reads its result.

    Attributes
    ----------
    frames : CallFrames
        The user's frames.
    metrics : sequence of Metric
        What is computed.
    context : Opened
        The frames, opened.

    Parameters
    ----------
    frames : CallFrames
        The user's frames.
    query : Query
        The checked roles.
    metrics : sequence of Metric
        What to compute.
    item : bool
        Whether to read the item even if no metric does.
    shares : bool
        Whether to compute what each row adds to the value, for a call with one metric.
    made_by_sql : bool
        Whether a query of a database may compute hits and filled relevances where it reads the relevance.
    session : Session, optional
        The frames, if another plan of the call has opened them already.
    """

    def __init__(
        self,
        frames: CallFrames,
        query: Query,
        metrics: Sequence[Metric],
        *,
        item: bool = False,
        shares: bool = False,
        made_by_sql: bool = True,
        session: Session | None = None,
    ) -> None:
        if query.sampled is not None:
            metrics = estimates(query, metrics)
        self.frames = frames
        self.metrics = metrics
        requirements = requirements_of(
            metrics, query, len(frames.feature_names), truth=frames.truth is not None, shares=shares
        )
        if requirements.columns_read.value and VALUE in dict(TIE_ORDER[query.ties]):
            _check_value_order(query, metrics)
        self.context = Opened(frames, query, requirements, item=item, made_by_sql=made_by_sql, session=session)
        if query.mean == "median":
            check_median(requirements)
        if query.strata is not None:
            check_unweighted(requirements, query.strata)

    def run(self) -> Frame:
        """Return the result under the plan's names: one row per model and value of `per`, one column per metric."""
        return averaged(self.context, self._means(), self.metrics)

    def _means(self) -> Frame:
        """Return the means of each model and value of `per`, and of each stratum if the call names strata."""
        context = self.context
        if not averages.at_once(context):
            return self.result(self.state())
        models = [
            context.named(averages.means_of_lists(context, self._lists(ranking), self.labels, self.weighted), index)
            for index, ranking in enumerate(self.rankings())
        ]
        columns = [*context.keys.of_result, *self.labels, *averages.count_columns(context)]
        result = models[0] if len(models) == 1 else self.context.engine.stack(models)
        # A single column needs no reordering, which would add a SELECT to a query of a database.
        return self._reported(result if len(columns) == 1 else result.select(*columns))

    def state(self) -> State:
        """Return the sums over the lists of all models."""
        models = [self._state(index, ranking) for index, ranking in enumerate(self.rankings())]
        return models[0] if len(models) == 1 else stacked(self.context.engine, models)

    def merge(self, states: Sequence[State]) -> State:
        """Return the sums over all lists from the sums over their parts; each list belongs to one part."""
        engine = self.context.engine
        by = self.context.keys.of_result
        lists, items = stacked(engine, states)
        if not self.labels:
            lists = lists.unique()
        elif not self.context.keys.reports_lists:
            lists = engine.sum_exactly(lists, by, averages.summed(self.context, self.labels))
        if items is not None:
            items = engine.sum_exactly(items, [*by, ITEM], self.context.requirements.item_sum_columns)
        return State(lists, items)

    def rankings(self) -> Iterator[Ranking]:
        """Yield the ranked rows of each model."""
        ideal, upto = self.ideal_side()
        ranking = functools.partial(Ranking, self.context, ideal=ideal, upto=upto)
        return self.context.engine.prefetch(
            [functools.partial(ranking, index) for index in range(len(self.context.query.orders))]
        )

    def ideal_side(self) -> tuple[Later | None, int | None]:
        """Check the data, and return the ideal lists and the last position that matters, which all rankings share."""
        self._check_data()
        engine = self.context.engine
        requirements = self.context.requirements
        upto = requirements.cutoff
        ideal = (
            engine.submit(lambda: engine.collect_once(ideal_lists(self.context)))
            if requirements.columns_read.relevance
            else None
        )
        if ideal is not None and RELEVANT in requirements.requested:
            # A metric reads up to R. Lazy frames do not know R before they are collected, so they keep every position.
            most = engine.value_now(ideal().select(nw.col(RELEVANT).max()))
            upto = None if upto is None or most is None else max(upto, int(most))
        return ideal, upto

    def result(self, state: State) -> Frame:
        """Return the result, computed from the sums over all lists."""
        context = self.context
        rows = state.lists
        if state.items is not None:
            rows = exposure_values(context, state.items, rows)
        result = self._reported(averages.means(context, rows, self.labels))
        return averages.refuse_all_undefined(context, result, self.metrics)

    def _reported(self, result: Frame) -> Frame:
        """Return the rows to report. Models in long format are all reported, with or without a value."""
        if self.context.keys.long and not self.context.every_list:
            return self.context.engine.join(self.context.models, result, [MODEL])
        return averages.without_unknown(self.context, result, self.metrics)

    def frame(self) -> Any:
        """Return the result as a frame of the user's kind, sorted by key where it is eager."""
        return self.finish(self.run())

    def items(self, *, by_list: bool = False) -> Frame:
        """Return how often each model's lists recommend each item of the catalogue, per segment.

        With `by_list`, return what each list adds to these counts.
        """
        parts = [self._items(index, ranking, by_list=by_list) for index, ranking in enumerate(self.rankings())]
        return self.context.side_tables.counted(
            self.context.engine.stack([frame for frame in parts if frame is not None])
        )

    def finish(self, result: Frame) -> Any:
        """Return a result as a frame of the user's kind, sorted by key where it is eager."""
        context = self.context
        return context.finish(
            result,
            context.names,
            [*context.keys.per, *([MODEL] if self.context.query.several else [])],
        )

    def scalar(self) -> float:
        """Return the single number of an eager call with one metric, NaN if no list has a value."""
        return self.number(self.run())

    def number(self, result: Frame) -> float:
        """Return the single number in a result of `run`, NaN if no list has a value."""
        value = self.context.engine.scalar(result)
        return math.nan if value is None else float(value)

    @functools.cached_property
    def labels(self) -> list[str]:
        """The columns of the metrics that have one value per list."""
        return [metric.column for metric in self.list_metrics]

    @functools.cached_property
    def list_metrics(self) -> list[Metric]:
        """The metrics that have one value per list."""
        return [metric for metric in self.metrics if not isinstance(metric, ExposureMetric)]

    def sums(self, ranking: Ranking) -> Frame:
        """Return the sums of each list of one model, and every other column that the metrics' values read."""
        lists = self._with_constants(ranking.sums())
        if self.context.requirements.requested & {TRAIN_ROWS, TRAIN_USERS}:
            lists = self.context.side_tables.with_users(lists)
        values = self.context.requirements.values
        if any(CATALOG_SIZE in values[metric.label].requested for metric in self.list_metrics):
            lists = self.context.side_tables.with_catalog_size(lists, ranking.ranked)
        if self.context.query.sampled is not None and self.context.engine.eager:
            lists = check_sampled(self.context, lists)
        if all(metric.is_builtin for metric in self.metrics):
            return lists
        return check_values(self.context, lists, self.list_metrics, self.context.keys.key_names)

    def list_values(self) -> list[Frame]:
        """Return one frame per ranking: a row per list with its key, attributes, values and weights."""
        return [self._computed_early(self._lists(ranking)) for ranking in self.rankings()]

    def _computed_early(self, frame: Frame) -> Frame:
        """Return the frame of one model, computed now if there are several: meanwhile the next model is ranked."""
        if self.context.engine.eager and len(self.context.query.orders) > 1:
            return self.context.engine.collect_once(frame)
        return frame

    @functools.cached_property
    def weighted(self) -> dict[str, str]:
        """The weight columns by the value columns, for metrics whose mean over lists is weighted."""
        has_weights = self.context.query.weight is not None
        values = self.context.requirements.values
        weighted = [metric for metric in self.list_metrics if has_weights or values[metric.label].weighting is not None]
        return {metric.column: weighting_column(metric.column) for metric in weighted}

    def _lists(self, ranking: Ranking) -> Frame:
        """Return the values of lists under one model."""
        context = self.context
        metrics = self.list_metrics
        weighted = self.weighted
        values = {metric.column: self.context.requirements.values[metric.label] for metric in metrics}
        weights = [
            (nw.lit(1.0) if value.weighting is None else value.weighting).alias(weighted[column])
            for column, value in values.items()
            if column in weighted
        ]
        columns = [value.where_defined(eager=self.context.engine.eager) for value in values.values()]
        counted = [column for column in (IN_TRUTH, RANKED, SERVED) if column in self.context.requirements.requested]
        lists = self.sums(ranking).select(*context.keys.group, *counted, *columns, *weights)
        lists = averages.with_attributes(context, averages.fill(context, lists, metrics, context.keys.key_names))
        return averages.with_weights(context, lists, weighted.values())

    def _state(self, index: int, ranking: Ranking) -> State:
        """Return the sums over the lists under one model."""
        lists = self._totals(ranking) if self.list_metrics else segments(self.context)
        return State(self.context.named(lists, index), self._items(index, ranking))

    def _items(self, index: int, ranking: Ranking, *, by_list: bool = False) -> Frame | None:
        """Return how often one model's lists recommend each item, or None if no metric counts it."""
        if self.context.requirements.exposure and ranking.recommended:
            return self.context.named(ranking.recommended.item_sums(by_list=by_list), index)
        return None

    def _totals(self, ranking: Ranking) -> Frame:
        """Return the sums of the lists' values per segment."""
        return self._computed_early(averages.totals(self.context, self._lists(ranking), self.labels, self.weighted))

    def _with_constants(self, lists: Frame) -> Frame:
        """Add the sums of weights that are the same for every list."""
        for number, (weight, k) in enumerate(self.context.requirements.numbers.constants):
            if k > MOST_SUMMED:
                msg = f"`k={k}` is more than {MOST_SUMMED}, the most positions that a value is divided by"
                raise OptionError(msg, "give a smaller cutoff")
            column = constant_column(number)
            position = nw.col(POSITION).cast(nw.Float64())
            weights = self.context.engine.positions(k).select(weight(position).alias(column))
            lists = lists.join(weights.select(nw.col(column).sum()), how="cross")
        return lists

    def _check_data(self) -> None:
        """Raise for data that a metric cannot use. Lazy frames cannot be checked, except for categories."""
        for terms in self.context.requirements.beyond_accuracy:
            if CATEGORISED in terms.recommended.requested:
                self.context.side_tables.check_categories(terms.metric.label)
        if self.context.engine.eager and self.context.query.like is not None:
            check_profile(self.context)
        if self.context.engine.eager:
            check_numbers(self.context)


def _check_value_order(query: Query, metrics: Sequence[Metric]) -> None:
    """Raise if some metrics order tied rows by value and other metrics do not."""
    metrics = [metric for metric in metrics if not isinstance(metric, RecommendedMetric)]
    by_value = [requirements_of([each], query, 0, truth=False).columns_read.value for each in metrics]
    if not all(by_value):
        names = [query.averaging(metrics[by_value.index(flag)].label).name for flag in (True, False)]
        msg = f"`ties={query.ties!r}` orders tied rows by value for {names[0]}, and not for {names[1]}"
        raise OptionError(msg, "evaluate each of the two in a call of its own")
