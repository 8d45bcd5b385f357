"""From roles and metrics to one plan: the only room that groups and joins.

rank ▸ keep what can matter at the largest k ▸ terms per row ▸ sums per list ▸ values per list ▸ mean over `per`
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals as nw

from recframe._columns import JUDGED, KNOWN, MODEL, POSITION, RANKED, RELEVANCE, RELEVANT, weighting_column
from recframe._plan import averages
from recframe._plan.beyond_accuracy import Exposure, joined
from recframe._plan.context import CallContext, Given
from recframe._plan.custom_values import check_values, defined_value, lacks_value
from recframe._plan.ideal import ideal_lists
from recframe._plan.list_sums import Ranking
from recframe._plan.profile_checks import check_profile
from recframe._plan.requirements import Requirements
from recframe._plan.side_tables import SideTables
from recframe.errors import InputError, OptionError
from recframe.metrics._item_row import RecommendedRow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._arguments import Query
    from recframe._columns import Frame
    from recframe._engines.base import Later
    from recframe.metrics._record import Metric


def _check_names(query: Query, metrics: Sequence[Metric]) -> None:
    if not metrics:
        msg = "the list of metrics is empty"
        raise OptionError(msg, "evaluate(['ndcg', 'map'], k=10)")
    names = [
        *([MODEL] if query.several else []),
        *query.per,
        *(query.averaging(metric.label).name for metric in metrics),
    ]
    twice = sorted({name for name in names if names.count(name) > 1}, key=str)
    if twice:
        msg = f"the result would have several columns of the name {', '.join(map(repr, twice))}"
        raise OptionError(msg, "name each metric, cutoff and column of `per` once")


def _check_ties(query: Query, metrics: Sequence[Metric]) -> None:
    for metric in metrics:
        if metric.requires_average_ties and query.ties != "average":
            name = query.averaging(metric.label).name
            msg = f"ties={query.ties!r} orders tied rows, but {name} takes them together"
            raise OptionError(msg, "ties='average'")


@dataclass(frozen=True)
class Partial:
    """What some of the lists give: sums that those of other lists may be added to."""

    totals: Frame | None
    """The sums of the lists' values, by what is reported by."""
    items: Frame | None
    """What each item gets from the lists that show it."""
    groups: Frame | None
    """The groups of lists that there are."""


class Plan:
    """The plan of one call: built by `run`, computed by whoever reads its result.

    Parameters
    ----------
    given : Given
        The user's frames.
    query : Query
        The checked roles.
    metrics : sequence of Metric
        What to compute.
    part : tuple of int, optional
        Which part of the lists to read, from 0, and how many parts there are; None: all lists.
    item : bool
        Whether to read the item even if no metric does.
    """

    def __init__(
        self,
        given: Given,
        query: Query,
        metrics: Sequence[Metric],
        part: tuple[int, int] | None = None,
        *,
        item: bool = False,
    ) -> None:
        _check_names(query, metrics)
        _check_ties(query, metrics)
        self._query = query
        self._metrics = metrics
        self._requirements = Requirements(metrics, len(given.feature_names))
        self.context = CallContext(given, query, self._requirements, part, item=item)
        self._side_tables = SideTables(self.context)
        self._engine = self.context.engine
        self._lacking: dict[str, nw.Expr] = {}
        """Whether a list lacks the value of a custom metric although it is defined, by the metric's column."""
        self._values = self._value_expressions()

    def run(self) -> Frame:
        """Return one row per model and value of `per`, with the model, the plan's names of `per`, and the labels."""
        return self.whole([self.partial()])

    def partial(self) -> list[Partial]:
        """Return what the lists give, for each ranking."""
        ideal, upto = self._ahead()
        return [self._model(index, ideal, upto) for index in range(len(self._query.orders))]

    def _ahead(self) -> tuple[Later | None, int | None]:
        """Return what all rankings share, the ideal side and the last position that matters, after checks."""
        self._check_data()
        upto, engine = self._requirements.cutoff, self._engine
        ideal = engine.later(lambda: engine.settle(ideal_lists(self.context))) if self.context.labelled else None
        if ideal is not None and RELEVANT in self._requirements.asked:
            # A cutoff at R: known on eager frames, on lazy ones it may be any position.
            most = engine.scalar(ideal().select(nw.col(RELEVANT).max())) if engine.eager else None
            upto = None if upto is None or most is None else max(upto, int(most))
        return ideal, upto

    def whole(self, parts: Sequence[Sequence[Partial]]) -> Frame:
        """Return the result from what all parts of the lists give."""
        results = [self._result(index, list(models)) for index, models in enumerate(zip(*parts, strict=True))]
        return results[0] if len(results) == 1 else nw.concat(results, how="vertical")

    def frame(self) -> Any:
        """Return the result as a frame of the user's kind, sorted by key where it is eager."""
        return self.finish(self.run())

    def finish(self, result: Frame) -> Any:
        """Return a result as a frame of the user's kind, sorted by key where it is eager."""
        context = self.context
        return context.session.finish(result, context.names, context.reported)

    def scalar(self) -> float:
        """Return the one number of an eager frame's one metric, NaN where no list has a value."""
        value = self._engine.scalar(self.run())
        return math.nan if value is None else float(value)

    @property
    def metrics(self) -> Sequence[Metric]:
        """What is computed."""
        return self._metrics

    @property
    def _by_list(self) -> list[Metric]:
        """The metrics that are measured list by list."""
        return [metric for metric in self._metrics if metric not in self._requirements.exposure]

    def _model(self, index: int, ideal: Later | None, upto: int | None) -> Partial:
        """Return what the lists of one ranking give."""
        ranking = Ranking(self.context, self._side_tables, index, ideal, upto)
        totals = self._totals(ranking) if self._by_list else None
        exposed = self._requirements.exposure and ranking.shown is not None
        items, groups = ranking.shown.item_sums() if exposed and ranking.shown is not None else (None, None)
        return Partial(totals, items, groups)

    def list_values(self) -> list[Frame]:
        """Return the lists of each ranking: their key, what describes them, values, and the weights of `weighted`."""
        ideal, upto = self._ahead()
        indices = range(len(self._query.orders))
        return [self._lists(Ranking(self.context, self._side_tables, index, ideal, upto)) for index in indices]

    @property
    def weighted(self) -> dict[str, str]:
        """The columns of weights by those of values, for metrics whose mean over lists is weighted."""
        every = self._query.weight is not None
        return {
            metric.column: weighting_column(metric.column)
            for metric in self._by_list
            if every or metric.weighting(self._requirements.sums(metric)) is not None
        }

    def _lists(self, ranking: Ranking) -> Frame:
        """Return the values of lists under one ranking."""
        context, metrics = self.context, self._by_list
        lists = self._side_tables.with_users(self._with_constants(ranking.sums()))
        lists = check_values(context, lists, metrics, self._lacking, context.key_names)
        weights = []
        for metric in metrics:
            if metric.column in self.weighted:
                weight = metric.weighting(self._requirements.sums(metric))
                weights.append((nw.lit(1.0) if weight is None else weight).alias(self.weighted[metric.column]))
        values = [self._values[metric.column] for metric in metrics]
        counted = [column for column in (JUDGED, RANKED) if column in self._requirements.asked]
        lists = lists.select(*context.group, *counted, *values, *weights)
        lists = averages.with_attributes(context, averages.fill(context, lists, metrics, context.key_names))
        return averages.with_weights(context, lists, self.weighted.values())

    def _totals(self, ranking: Ranking) -> Frame:
        """Return the sums of what is measured list by list."""
        labels = [metric.column for metric in self._by_list]
        return averages.totals(self.context, self._lists(ranking), labels, self.weighted)

    def _result(self, index: int, parts: list[Partial]) -> Frame:
        """Return the result of one ranking from what parts of its lists give."""
        context = self.context
        found = []
        totals = [part.totals for part in parts if part.totals is not None]
        if totals:
            sums = totals[0] if len(totals) == 1 else averages.added(context, totals)
            found.append(averages.means(context, sums, [metric.column for metric in self._by_list]))
        items = [part.items for part in parts if part.items is not None]
        groups = [part.groups for part in parts if part.groups is not None]
        if items:
            exposure = Exposure(context, self._side_tables)
            several = len(items) > 1
            every = nw.concat(groups, how="vertical").unique() if several else groups[0]
            found.append(exposure.values(exposure.added(items) if several else items[0], every))
        name = nw.col(MODEL) if context.long else nw.lit(self._query.model_name(index)).alias(MODEL)
        model = [name] if self._query.several else []
        result = joined(context.engine, found, context.reported)
        order = self._query.orders[index]
        result = averages.refuse_all_undefined(context, result, self._metrics, order)
        return result.select(*model, *context.per, *(metric.column for metric in self._metrics))

    def _value_expressions(self) -> dict[str, nw.Expr]:
        """Return the metrics of a list by their labels, missing where it is undefined."""
        # The models' rows stand below each other and tell together which lists there are.
        pooled = self.context.pooled
        found: dict[str, nw.Expr] = {}
        known = nw.col(KNOWN if pooled else RELEVANT) > 0
        for metric in self._metrics:
            sums = self._requirements.sums(metric)
            defined, value = metric.defined(sums), metric.value(sums)
            if not metric.needs_relevant and defined is not None:
                if pooled:
                    value, defined = nw.when(defined).then(value).otherwise(0.0), defined | known
            elif metric in self._requirements.accuracy:
                if pooled:
                    # This model has no relevant row in a list that others show to have one.
                    defined = None if defined is None else defined | (nw.col(RELEVANT) == 0)
                    value = nw.when(nw.col(RELEVANT) > 0).then(value).otherwise(0.0)
                defined = known if defined is None else known & defined
            found[metric.column] = defined_value(metric, value, defined, eager=self._engine.eager)
            if not metric.is_builtin:
                self._lacking[metric.column] = lacks_value(value, defined)
        return found

    def _with_constants(self, lists: Frame) -> Frame:
        """Add the sums of weights that are the same for every list."""
        for (of, k), column in self._requirements.constants.items():
            weights = self._engine.positions(k).select(of(nw.col(POSITION).cast(nw.Float64())).alias(column))
            lists = lists.join(weights.select(nw.col(column).sum()), how="cross")
        return lists

    def _check_data(self) -> None:
        """Raise for data that a metric cannot use, where they can be seen."""
        context = self.context
        for shown in self._requirements.shown:
            row = RecommendedRow(self._requirements.width)
            shown.recommended_terms(row)
            if "categories" in row.asked:
                self._side_tables.check_categories(shown.label)
        if self._engine.eager and self._query.like is not None:
            check_profile(context)
        for metric in self._requirements.accuracy:
            least, greatest = metric.relevances
            if not self._engine.eager or (least == -math.inf and greatest == math.inf):
                continue
            source = context.relevance(
                (context.truth if context.truth is not None else context.frame).select(RELEVANCE)
            )
            wrong = source.filter((nw.col(RELEVANCE) < least) | (nw.col(RELEVANCE) > greatest))
            if self._engine.scalar(wrong.select(nw.len())):
                found = self._engine.scalar(wrong.select(nw.col(RELEVANCE).max()))
                bounds = f"at most {greatest:g}" if least == -math.inf else f"{least:g} to {greatest:g}"
                msg = f"relevant={self._query.relevant!r} holds {found:g}, but {metric.label} takes {bounds}"
                raise InputError(msg, "see the metric's options, such as probability= or max_relevance=")
