"""From roles and metrics to one plan.

rank ▸ keep what can matter at the largest k ▸ terms per row ▸ sums per list ▸ values per list ▸ mean over `per`
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any

import narwhals as nw

from recframe._columns import (
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
from recframe.errors import OptionError
from recframe.metrics._beyond_accuracy import ExposureMetric, RecommendedMetric

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from recframe._call_frames import CallFrames
    from recframe._columns import Frame
    from recframe._engines.base import Later
    from recframe._query import Query
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
        Whether to find what rows add to the one metric.
    prepared : bool
        Whether SQL may make what the plan needs of the relevance where it reads it.
    """

    def __init__(
        self,
        frames: CallFrames,
        query: Query,
        metrics: Sequence[Metric],
        *,
        item: bool = False,
        shares: bool = False,
        prepared: bool = True,
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
        self.context = Opened(frames, query, requirements, item=item, prepared=prepared)
        if query.mean == "median":
            check_median(requirements)

    def run(self) -> Frame:
        """Return one row per model and value of `per`, with the model, the plan's names of `per`, and the labels."""
        context = self.context
        if not averages.at_once(context):
            return self.result(self.state())
        models = [
            context.named(averages.means_of_lists(context, self._lists(ranking), self.labels, self.weighted), index)
            for index, ranking in enumerate(self.rankings())
        ]
        columns = [*context.keys.of_result, *self.labels, *averages.count_columns(context)]
        result = models[0] if len(models) == 1 else self.context.engine.stack(models)
        # One metric alone is one column: a query of a database has no need of another SELECT.
        return self._reported(result if len(columns) == 1 else result.select(*columns))

    def state(self) -> State:
        """Return the sums over the lists, under all rankings."""
        models = [self._state(index, ranking) for index, ranking in enumerate(self.rankings())]
        return models[0] if len(models) == 1 else stacked(self.context.engine, models)

    def merge(self, states: Sequence[State]) -> State:
        """Return the sums over all lists from those over parts of them; a list is in one part only."""
        engine, by = self.context.engine, self.context.keys.of_result
        lists, items = stacked(engine, states)
        if not self.labels:
            lists = lists.unique()
        elif not self.context.keys.reports_lists:
            lists = engine.sum_exactly(lists, by, averages.summed(self.context, self.labels))
        if items is not None:
            items = engine.sum_exactly(items, [*by, ITEM], self.context.requirements.item_sum_columns)
        return State(lists, items)

    def rankings(self) -> Iterator[Ranking]:
        """Yield what each model ranks."""
        ideal, upto = self.ideal_side()
        ranking = functools.partial(Ranking, self.context, ideal=ideal, upto=upto)
        return self.context.engine.prefetch(
            [functools.partial(ranking, index) for index in range(len(self.context.query.orders))]
        )

    def ideal_side(self) -> tuple[Later | None, int | None]:
        """Return what all rankings share, the ideal lists and the last position that matters, after checks."""
        self._check_data()
        upto, engine, requirements = self.context.requirements.cutoff, self.context.engine, self.context.requirements
        ideal = (
            engine.submit(lambda: engine.collect_once(ideal_lists(self.context)))
            if requirements.columns_read.relevance
            else None
        )
        if ideal is not None and RELEVANT in requirements.requested:
            # A cutoff at R: known on eager frames, on lazy ones it may be any position.
            most = engine.value_now(ideal().select(nw.col(RELEVANT).max()))
            upto = None if upto is None or most is None else max(upto, int(most))
        return ideal, upto

    def result(self, state: State) -> Frame:
        """Return the result that the sums over all lists give."""
        context, rows = self.context, state.lists
        if state.items is not None:
            rows = exposure_values(context, state.items, rows)
        result = self._reported(averages.means(context, rows, self.labels))
        # No profile asks for it, so the query says it of every metric.
        refuses = self.context.query.undefined == "raise_all"
        return averages.refuse_all_undefined(context, result, self.metrics) if refuses else result

    def _reported(self, result: Frame) -> Frame:
        """Return the rows of a result that are reported: of models in long format all, if they have a value or not."""
        if self.context.keys.long and not self.context.every_list:
            return self.context.engine.join(self.context.models, result, [MODEL])
        return averages.without_unknown(self.context, result, self.metrics)

    def frame(self) -> Any:
        """Return the result as a frame of the user's kind, sorted by key where it is eager."""
        return self.finish(self.run())

    def items(self, *, by_list: bool = False) -> Frame:
        """Return how often the lists of each segment recommend each item of the catalogue, under all rankings.

        Or, `by_list`, what each list adds to that.
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
        """Return the one number of an eager frame's one metric, NaN if no list has a value."""
        return self.number(self.run())

    def number(self, result: Frame) -> float:
        """Return the one number that a result of `run` holds, NaN if no list has a value."""
        value = self.context.engine.scalar(result)
        return math.nan if value is None else float(value)

    @functools.cached_property
    def labels(self) -> list[str]:
        """The columns of the metrics that are measured list by list."""
        return [metric.column for metric in self.by_list]

    @functools.cached_property
    def by_list(self) -> list[Metric]:
        """The metrics that are measured list by list."""
        return [metric for metric in self.metrics if not isinstance(metric, ExposureMetric)]

    def sums(self, ranking: Ranking) -> Frame:
        """Return the sums of the lists of one model with all that the values of metrics read."""
        lists = self._with_constants(ranking.sums())
        if self.context.requirements.requested & {TRAIN_ROWS, TRAIN_USERS}:
            lists = self.context.side_tables.with_users(lists)
        if any(CATALOG_SIZE in self.context.requirements.values[metric.label].requested for metric in self.by_list):
            lists = self.context.side_tables.with_catalog_size(lists, ranking.ranked)
        if self.context.query.sampled is not None and self.context.engine.eager:
            lists = check_sampled(self.context, lists)
        if all(metric.is_builtin for metric in self.metrics):
            return lists
        return check_values(self.context, lists, self.by_list, self.context.keys.key_names)

    def list_values(self) -> list[Frame]:
        """Return the lists of each ranking: their key, what describes them, values, and the weights of `weighted`."""
        return [self._one_of_several(self._lists(ranking)) for ranking in self.rankings()]

    def _one_of_several(self, frame: Frame) -> Frame:
        """Compute what belongs to one of several models now, while the next one is ranked."""
        return (
            self.context.engine.collect_once(frame)
            if self.context.engine.eager and len(self.context.query.orders) > 1
            else frame
        )

    @functools.cached_property
    def weighted(self) -> dict[str, str]:
        """The columns of weights by those of values, for metrics whose mean over lists is weighted."""
        every, values = self.context.query.weight is not None, self.context.requirements.values
        weighted = [metric for metric in self.by_list if every or values[metric.label].weighting is not None]
        return {metric.column: weighting_column(metric.column) for metric in weighted}

    def _lists(self, ranking: Ranking) -> Frame:
        """Return the values of lists under one model."""
        context, metrics, weighted = self.context, self.by_list, self.weighted
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
        lists = self._totals(ranking) if self.by_list else segments(self.context)
        return State(self.context.named(lists, index), self._items(index, ranking))

    def _items(self, index: int, ranking: Ranking, *, by_list: bool = False) -> Frame | None:
        """Return how often lists recommend each item under one model, where a metric counts that."""
        if self.context.requirements.exposure and ranking.recommended:
            return self.context.named(ranking.recommended.item_sums(by_list=by_list), index)
        return None

    def _totals(self, ranking: Ranking) -> Frame:
        """Return the sums of the values of lists over segments."""
        return self._one_of_several(averages.totals(self.context, self._lists(ranking), self.labels, self.weighted))

    def _with_constants(self, lists: Frame) -> Frame:
        """Add the sums of weights that are the same for every list."""
        for number, (of, k) in enumerate(self.context.requirements.numbers.constants):
            if k > MOST_SUMMED:
                msg = f"`k={k}` is more than {MOST_SUMMED}, the most positions that a value is divided by"
                raise OptionError(msg, "give a smaller cutoff")
            column = constant_column(number)
            weights = self.context.engine.positions(k).select(of(nw.col(POSITION).cast(nw.Float64())).alias(column))
            lists = lists.join(weights.select(nw.col(column).sum()), how="cross")
        return lists

    def _check_data(self) -> None:
        """Raise for data that a metric cannot use, where they can be seen."""
        for terms in self.context.requirements.beyond_accuracy:
            if CATEGORISED in terms.recommended.requested:
                self.context.side_tables.check_categories(terms.metric.label)
        if self.context.engine.eager and self.context.query.like is not None:
            check_profile(self.context)
        if self.context.engine.eager:
            check_numbers(self.context)


def _check_value_order(query: Query, metrics: Sequence[Metric]) -> None:
    """Raise for metrics that order tied rows by value beside others, which do not."""
    metrics = [metric for metric in metrics if not isinstance(metric, RecommendedMetric)]
    by_value = [requirements_of([each], query, 0, truth=False).columns_read.value for each in metrics]
    if not all(by_value):
        names = [query.averaging(metrics[by_value.index(flag)].label).name for flag in (True, False)]
        msg = f"`ties={query.ties!r}` orders tied rows by value for {names[0]}, and not for {names[1]}"
        raise OptionError(msg, "make a call for each of them")
