"""Collects what the metrics of one call need.

A metric's `terms` is called with several recorders, which look like rows and record the columns that the metric reads:

- `Row`: what a ranked row adds, if it may tie with others.
- `UntiedRow`: the same for a row that ties with no other, in fewer steps.
- `IdealRow`: what a row adds in the ideal ranking.
- the rows in `PLACES`: what a place of a tied block adds, for metrics that cannot be split by rows.
- `RecommendedRow`, `HistoryRow` and `ItemRow`: what recommended items, the user's history and the catalogue add.

`Sums` records in the same way which sums the metric's `value` reads.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, cast

import narwhals as nw

from recframe._base.columns import (
    CONTRIBUTION,
    IN_TRUTH,
    KNOWN,
    LIST_VALUE,
    RANKED,
    RELEVANT,
    SERVED,
    item_sum_column,
    row_column,
    segment_sum_column,
    sum_column,
)
from recframe._plan.relevance import inverse_propensity
from recframe._plan.requirements import AccuracyTerms, BeyondAccuracyTerms, ListValue, Requirements, Shares
from recframe.errors import OptionTypeError, quoted
from recframe.metrics._beyond_accuracy import BeyondAccuracyMetric, ExposureMetric
from recframe.metrics._ideal_row import IdealRow
from recframe.metrics._item_row import HistoryRow, ItemRow, RecommendedRow
from recframe.metrics._place_row import PLACE_ROWS, PlaceRow
from recframe.metrics._row import Numbers, Row, UntiedRow
from recframe.metrics._shared_terms import TermColumns, Terms, check_names, check_terms, what_is_wrong
from recframe.metrics._sums import Sums

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe._base.roles import Lists
    from recframe._plan.query import Query
    from recframe.metrics._record import Metric, Reads

COUNTED: dict[Lists, tuple[str, ...]] = {
    "all": (),
    "truth": (IN_TRUTH,),
    "ranked": (RANKED,),
    "both": (IN_TRUTH, RANKED),
}
"""The columns that must be above 0 for a list to be averaged, under each value of `lists=`."""


def requirements_of(
    metrics: Sequence[Metric], query: Query, feature_count: int, *, truth: bool, shares: bool = False
) -> Requirements:
    """Return what the metrics of a call need.

    Parameters
    ----------
    metrics : sequence of Metric
        The metrics.
    query : Query
        The checked roles and policies.
    feature_count : int
        How many features an item has.
    truth : bool
        Whether there is a ground truth in addition to the frame.
    shares : bool
        Whether to compute what each row adds to the value, for a call with one metric.

    Notes
    -----
    The result is cached for equal calls, unless a metric is custom or has a function as an option, because these may
    return other terms next time.
    """
    key = (truth, shares, *map(type, metrics), *map(attrgetter("label"), metrics))
    cached: Requirements | None = None if feature_count else query.cached.get(key)
    if cached is not None:
        return cached
    lists: tuple[Lists, ...] = tuple(query.averaging(metric.label).lists for metric in metrics)
    call = _CallFacts(
        metrics=tuple(metrics),
        labels=tuple(metric.label for metric in metrics),
        lists=lists,
        feature_count=feature_count,
        with_shares=shares,
        pooled=query.model is not None and not truth,
        condensed=query.condensed,
        by_propensity=query.propensity is not None,
        by_divisor=query.propensity is not None and query.estimator == "pooled",
    )
    if not all(map(has_constant_terms, metrics)):
        return _collect(call)
    requirements = _collect_cached(call)
    if not feature_count:
        query.cached[key] = requirements
    return requirements


@dataclass(frozen=True)
class _CallFacts:
    """Everything about a call that its requirements depend on: the key of the cache."""

    metrics: tuple[Metric, ...]
    labels: tuple[str, ...]
    """They distinguish options that are equal, such as 2 and 2.0."""
    lists: tuple[Lists, ...]
    """Which lists each metric averages."""
    feature_count: int
    with_shares: bool
    pooled: bool
    """Whether the rows of all models together decide which lists count."""
    condensed: bool
    """Whether unjudged rows are left out."""
    by_propensity: bool
    """Whether a relevant row counts as 1 / propensity rows."""
    by_divisor: bool
    """Whether a list is weighted by the estimate that its value is divided by."""


def has_constant_terms(metric: Metric) -> bool:
    """Return whether equal metrics always have the same terms."""
    return metric.is_builtin and not any(map(callable, metric.options.values()))


def _collect(call: _CallFacts) -> Requirements:
    """Return the requirements of a call, collected from its metrics."""
    metrics = call.metrics
    collector = _Collector(call)
    beyond = [collector.recommended(metric) for metric in metrics if isinstance(metric, BeyondAccuracyMetric)]
    exposure = [collector.recommended(metric) for metric in metrics if isinstance(metric, ExposureMetric)]
    items = Terms.union(collector.items(terms.metric) for terms in exposure if isinstance(terms.metric, ExposureMetric))
    others = [metric for metric in metrics if not isinstance(metric, BeyondAccuracyMetric | ExposureMetric)]
    accuracy = [collector.accuracy(metric) for metric in others]
    values = {metric.label: collector.value(metric, lists) for metric, lists in zip(metrics, call.lists, strict=True)}
    shares = collector.shares(accuracy[0]) if call.with_shares else None
    return Requirements(
        metrics=metrics,
        accuracy=tuple(accuracy),
        beyond_accuracy=tuple(beyond),
        exposure=tuple(exposure),
        items=items,
        values=values,
        shares=shares,
        numbers=collector.numbers,
        sum_columns=collector.sums.all,
        item_sum_columns=collector.item_sums.all,
        feature_count=call.feature_count,
    )


_collect_cached = lru_cache(64)(_collect)


class _Collector:
    """Collects the terms of a call's metrics. Equal terms of several metrics share a column."""

    def __init__(self, call: _CallFacts) -> None:
        self._call = call
        self.numbers = Numbers()
        self.sums = TermColumns(sum_column)
        self.item_sums = TermColumns(item_sum_column)
        self.segment_sums = TermColumns(segment_sum_column)

    def accuracy(self, metric: Metric) -> AccuracyTerms:
        """Return the terms of a metric of relevance."""
        row = Row(self.numbers)
        ideal_row = IdealRow(self.numbers)
        # Contributions have a row for each ranked row, also for rows that add nothing.
        reads: Reads = "all" if self._call.with_shares else metric.reads
        ranked = self.sums.add(metric.label, self._terms(metric, row), row, reads)
        ideal = self.sums.add(metric.label, metric.best_terms(ideal_row), ideal_row, f"best of {metric.best_of}")
        untied = ranked if not metric.is_builtin else self._untied(metric)
        if self._call.by_propensity:
            count = inverse_propensity(graded=metric.reads == "graded")
            ranked, untied, ideal = (terms.times(count) for terms in (ranked, untied, ideal))
        if metric.is_builtin and metric.cutoff is not None:
            cutoffs = dict.fromkeys(ranked.by_column, metric.cutoff)
            ranked = replace(ranked, upto=cutoffs)
            untied = replace(untied, upto=cutoffs)
        places = {
            kind: self._places(metric, row_of(self.numbers))
            for kind, row_of in PLACE_ROWS.items()
            if kind in row.requested
        }
        return AccuracyTerms(metric, reads, ranked, untied, ideal, places)

    def _places(self, metric: Metric, row: PlaceRow) -> Terms:
        """Return the terms of a place in a tied block."""
        return self.sums.known(metric.label, self._terms(metric, row), row.requested)

    def _untied(self, metric: Metric) -> Terms:
        """Return the terms of a row that ties with no other. They need fewer steps than the terms of a tied row."""
        row = UntiedRow(self.numbers)
        return self.sums.known(metric.label, self._terms(metric, row), row.requested)

    def _terms(self, metric: Metric, row: Row) -> Mapping[str, nw.Expr]:
        """Return a metric's terms of a row, or only what a place of a tied block adds to them."""
        terms = self._terms_and_shares(metric, row)
        if metric.is_builtin or not isinstance(row, PlaceRow):
            return terms
        # A custom term may have a part that is not 0 at a place, such as the 1 in 1 - row.hit. Subtract it.
        rest = self._terms_and_shares(metric, PlaceRow(self.numbers))
        return {name: term - rest[name] for name, term in terms.items()}

    def _terms_and_shares(self, metric: Metric, row: Row) -> Mapping[str, nw.Expr]:
        """Return the terms of a metric and, in a call for contributions, the terms that its shares read."""
        terms = metric.terms(row)
        if not self._call.with_shares:
            return terms
        share_terms = metric.share_terms(row)
        check_terms(metric.label, terms)
        check_terms(metric.label, share_terms)
        check_names(metric.label, terms, share_terms)
        return {**terms, **share_terms}

    def recommended(self, metric: BeyondAccuracyMetric | ExposureMetric) -> BeyondAccuracyTerms:
        """Return the terms of a metric that reads recommended items."""
        of_items = isinstance(metric, ExposureMetric)
        sums = self.item_sums if of_items else self.sums
        row = RecommendedRow(self._call.feature_count, self.numbers)
        past = HistoryRow(self._call.feature_count)
        over = "recommended of the catalogue" if of_items and metric.reads_catalog else "recommended"
        recommended = sums.add(metric.label, metric.recommended_terms(row), row, over)
        history = sums.add(metric.label, metric.history_terms(past), past, "history")
        return BeyondAccuracyTerms(metric, recommended, history)

    def items(self, metric: ExposureMetric) -> Terms:
        """Return what an item adds to the sums of a segment."""
        sums = self.item_sums.of(metric.label)
        item = ItemRow(sums)
        # Two metrics may share a column only if their terms read the same sums, so the sums are part of the name.
        return self.segment_sums.add(metric.label, metric.item_terms(item), item, f"items with {sums}")

    def value(self, metric: Metric, lists: Lists) -> ListValue:
        """Return the value of a metric as expressions of its sums."""
        exposure = isinstance(metric, ExposureMetric)
        sums = Sums((self.segment_sums if exposure else self.sums).of(metric.label), self.numbers)
        value = _expression(metric, "value", metric.value(sums), "sums['hits'] / sums.relevant")
        defined = metric.defined(sums)
        if defined is not None:
            defined = _expression(metric, "defined", defined, "sums.ranked(None) > 0")
            # A custom metric may return a number: any number except 0 means that the list is defined.
            defined = defined if metric.is_builtin else defined.cast(nw.Boolean())
        counted: tuple[str, ...] = ()
        if not isinstance(metric, BeyondAccuracyMetric | ExposureMetric):
            # A condensed list counts if it ranked anything before unjudged rows were left out.
            ranked = SERVED if self._call.condensed else RANKED
            counted = tuple(ranked if column == RANKED else column for column in COUNTED[lists])
            value, defined = self._of_relevant(metric, value, defined)
        weighting = None
        if not exposure:
            weighting = metric.divisor(sums) if self._call.by_divisor else metric.weighting(sums)
        if weighting is not None:
            weighting = _expression(metric, "weighting", weighting, "sums.relevant")
        return ListValue(metric, value, defined, weighting, counted, frozenset(sums.requested))

    def _of_relevant(self, metric: Metric, value: nw.Expr, defined: nw.Expr | None) -> tuple[nw.Expr, nw.Expr]:
        """Return the value of a metric of relevance, and whether it is defined, which other models' rows may decide."""
        has_relevant = nw.col(KNOWN if self._call.pooled else RELEVANT) > 0
        if not metric.needs_relevant and defined is not None:
            if metric.of_every_list or not self._call.pooled:
                return value, defined
            # If other models have a relevant row in the list and this model has none, it scores 0.
            return nw.when(defined).then(value).otherwise(0.0), defined | (has_relevant & (nw.col(RELEVANT) == 0))
        if self._call.pooled:
            # The same holds here: the list is defined because of another model's relevant row.
            defined = None if defined is None else defined | (nw.col(RELEVANT) == 0)
            value = nw.when(nw.col(RELEVANT) > 0).then(value).otherwise(0.0) if metric.higher_is_better else value
        return value, has_relevant if defined is None else has_relevant & defined

    def shares(self, terms: AccuracyTerms) -> Shares:
        """Return what ranked and unranked rows contribute to the value of their list."""
        columns = self.sums.of(terms.metric.label)
        row_columns = {
            name: row_column(column) if column in terms.ranked.by_column else column for name, column in columns.items()
        }
        row = Sums(row_columns, self.numbers)
        sums = Sums(columns, self.numbers)
        ranked = terms.metric.share(row, sums)
        unranked = terms.metric.unranked_share(sums)
        if self._call.by_propensity and unranked is not None:
            unranked = unranked * inverse_propensity(graded=False)
        if self._call.pooled:
            # The list may have a value only because of other models' rows. Then this model's rows contribute 0.
            defined = None if terms.metric.needs_relevant else terms.metric.defined(sums)
            has_value = nw.col(RELEVANT) > 0 if defined is None else defined
            ranked = nw.when(has_value).then(ranked).otherwise(0.0)
            unranked = None if unranked is None else nw.when(has_value).then(unranked).otherwise(0.0)
        requested = frozenset(row.requested | sums.requested)
        return Shares(_where_valued(ranked), None if unranked is None else _where_valued(unranked), requested)


def _where_valued(share: nw.Expr) -> nw.Expr:
    """Return the contribution of a row, missing if its list has no value."""
    return nw.when(~nw.col(LIST_VALUE).is_null()).then(share).alias(CONTRIBUTION)


def _expression(metric: Metric, method: str, returned: object, example: str) -> nw.Expr:
    """Return what a method of a metric returned, or raise if it is not an expression."""
    if wrong := what_is_wrong(returned):
        msg = f"{method}() of metric {metric.label!r} returns {quoted(returned)}, which {wrong}"
        raise OptionTypeError(msg, f"return an expression of the sums, such as {example}")
    return cast("nw.Expr", returned)
