"""What the metrics of one call need, collected from each of them once for each kind of row that it reads."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, cast

import narwhals as nw

from recframe._columns import (
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
from recframe.metrics._place_row import PLACES, PlaceRow
from recframe.metrics._row import Numbers, Row, UntiedRow
from recframe.metrics._shared_terms import TermColumns, Terms, check_names, check_terms, what_is_wrong
from recframe.metrics._sums import Sums

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe._arguments import Lists
    from recframe._query import Query
    from recframe.metrics._record import Metric, Reads

COUNTED: dict[Lists, tuple[str, ...]] = {
    "all": (),
    "truth": (IN_TRUTH,),
    "ranked": (RANKED,),
    "both": (IN_TRUTH, RANKED),
}
"""What a list must have to be averaged, under each policy."""


def requirements_of(
    metrics: Sequence[Metric], query: Query, feature_count: int, *, truth: bool, shares: bool = False
) -> Requirements:
    """Return what the metrics of a call need; each is called once for each kind of row that it reads.

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
        Whether rows show what they add to the value of the one metric.

    Notes
    -----
    Later calls find what an earlier one collected, unless a metric is a custom one or has a function as an option,
    whose answers may change.
    """
    key = (truth, shares, *map(type, metrics), *map(attrgetter("label"), metrics))
    kept: Requirements | None = None if feature_count else query.kept.get(key)
    if kept is not None:
        return kept
    lists: tuple[Lists, ...] = tuple(query.averaging(metric.label).lists for metric in metrics)
    call = _Call(
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
    if not all(map(answers_alike, metrics)):
        return _collected(call)
    requirements = _kept(call)
    if not feature_count:
        query.kept[key] = requirements
    return requirements


@dataclass(frozen=True)
class _Call:
    """All that the requirements of a call depend on."""

    metrics: tuple[Metric, ...]
    labels: tuple[str, ...]
    """They tell options apart that are equal, such as 2 and 2.0."""
    lists: tuple[Lists, ...]
    """Which lists each metric averages."""
    feature_count: int
    with_shares: bool
    pooled: bool
    """Whether models in one frame tell together which lists there are."""
    condensed: bool
    """Whether unjudged rows are left out."""
    by_propensity: bool
    """Whether a relevant row counts as 1 / propensity rows."""
    by_divisor: bool
    """Whether a list weighs as much as the estimate that its value is divided by."""


def answers_alike(metric: Metric) -> bool:
    """Return whether a metric that equals this one always gives the same terms."""
    return metric.is_builtin and not any(map(callable, metric.options.values()))


def _collected(call: _Call) -> Requirements:
    metrics = call.metrics
    asking = _Asking(call)
    beyond = [asking.recommended(metric) for metric in metrics if isinstance(metric, BeyondAccuracyMetric)]
    exposure = [asking.recommended(metric) for metric in metrics if isinstance(metric, ExposureMetric)]
    items = Terms.union(asking.items(terms.metric) for terms in exposure if isinstance(terms.metric, ExposureMetric))
    others = [metric for metric in metrics if not isinstance(metric, BeyondAccuracyMetric | ExposureMetric)]
    accuracy = [asking.accuracy(metric) for metric in others]
    values = {metric.label: asking.value(metric, lists) for metric, lists in zip(metrics, call.lists, strict=True)}
    of_rows = asking.shares(accuracy[0]) if call.with_shares else None
    return Requirements(
        metrics=metrics,
        accuracy=tuple(accuracy),
        beyond_accuracy=tuple(beyond),
        exposure=tuple(exposure),
        items=items,
        values=values,
        shares=of_rows,
        numbers=asking.numbers,
        sum_columns=asking.sums.all,
        item_sum_columns=asking.item_sums.all,
        feature_count=call.feature_count,
    )


_kept = lru_cache(64)(_collected)


class _Asking:
    """Collects the terms of the metrics of one call. A term has a column of its own, or one that metrics share."""

    def __init__(self, call: _Call) -> None:
        self._call = call
        self.numbers = Numbers()
        self.sums = TermColumns(sum_column)
        self.item_sums = TermColumns(item_sum_column)
        self.segment_sums = TermColumns(segment_sum_column)

    def accuracy(self, metric: Metric) -> AccuracyTerms:
        row, best = Row(self.numbers), IdealRow(self.numbers)
        # Contributions include rows that other calls leave out.
        reads: Reads = "all" if self._call.with_shares else metric.reads
        ranked = self.sums.add(metric.label, self._terms(metric, row), row, reads)
        ideal = self.sums.add(metric.label, metric.best_terms(best), best, f"best of {metric.best_of}")
        untied = ranked if not metric.is_builtin else self._untied(metric)
        if self._call.by_propensity:
            count = inverse_propensity(graded=metric.reads == "graded")
            ranked, untied, ideal = (terms.times(count) for terms in (ranked, untied, ideal))
        if metric.is_builtin and metric.cutoff is not None:
            up = dict.fromkeys(ranked.by_column, metric.cutoff)
            ranked, untied = replace(ranked, upto=up), replace(untied, upto=up)
        places = {
            kind: self._places(metric, row_of(self.numbers)) for kind, row_of in PLACES.items() if kind in row.requested
        }
        return AccuracyTerms(metric, reads, ranked, untied, ideal, places)

    def _places(self, metric: Metric, row: PlaceRow) -> Terms:
        """Return what a place of a tied block adds."""
        return self.sums.known(metric.label, self._terms(metric, row), row.requested)

    def _untied(self, metric: Metric) -> Terms:
        """Return what a row adds that ties with no other, in fewer steps; a custom metric is called once for rows."""
        row = UntiedRow(self.numbers)
        return self.sums.known(metric.label, self._terms(metric, row), row.requested)

    def _terms(self, metric: Metric, row: Row) -> Mapping[str, nw.Expr]:
        """Return a metric's terms of a row; of a place in a tied block, only what the place adds."""
        terms = self._own_terms(metric, row)
        if metric.is_builtin or not isinstance(row, PlaceRow):
            return terms
        # A custom term may have a part that does not vanish here, such as the 1 of 1 - row.hit.
        rest = self._own_terms(metric, PlaceRow(self.numbers))
        return {name: term - rest[name] for name, term in terms.items()}

    def _own_terms(self, metric: Metric, row: Row) -> Mapping[str, nw.Expr]:
        terms = metric.terms(row)
        if not self._call.with_shares:
            return terms
        more = metric.share_terms(row)
        for each in (terms, more):
            check_terms(metric.label, each)
        check_names(metric.label, terms, more)
        return {**terms, **more}

    def recommended(self, metric: BeyondAccuracyMetric | ExposureMetric) -> BeyondAccuracyTerms:
        of_items = isinstance(metric, ExposureMetric)
        width, sums = self._call.feature_count, self.item_sums if of_items else self.sums
        row, past = RecommendedRow(width, self.numbers), HistoryRow(width)
        over = "recommended of the catalogue" if of_items and metric.reads_catalog else "recommended"
        recommended = sums.add(metric.label, metric.recommended_terms(row), row, over)
        history = sums.add(metric.label, metric.history_terms(past), past, "history")
        return BeyondAccuracyTerms(metric, recommended, history)

    def items(self, metric: ExposureMetric) -> Terms:
        sums = self.item_sums.of(metric.label)
        item = ItemRow(sums)
        # What a function makes of sums is the same only of the same sums.
        return self.segment_sums.add(metric.label, metric.item_terms(item), item, f"items with {sums}")

    def value(self, metric: Metric, lists: Lists) -> ListValue:
        exposure = isinstance(metric, ExposureMetric)
        sums = Sums((self.segment_sums if exposure else self.sums).of(metric.label), self.numbers)
        value = _expression(metric, "value", metric.value(sums), "sums['hits'] / sums.relevant")
        defined = metric.defined(sums)
        if defined is not None:
            defined = _expression(metric, "defined", defined, "sums.ranked(None) > 0")
            # A custom metric may return a number, which is true where it is not 0.
            defined = defined if metric.is_builtin else defined.cast(nw.Boolean())
        counted: tuple[str, ...] = ()
        if not isinstance(metric, BeyondAccuracyMetric | ExposureMetric):
            # A condensed list must have ranked something before.
            ranked = SERVED if self._call.condensed else RANKED
            counted = tuple(ranked if column == RANKED else column for column in COUNTED[lists])
            value, defined = self._of_relevant(metric, value, defined)
        weighting = None if exposure else metric.divisor(sums) if self._call.by_divisor else metric.weighting(sums)
        if weighting is not None:
            weighting = _expression(metric, "weighting", weighting, "sums.relevant")
        return ListValue(metric, value, defined, weighting, counted, frozenset(sums.requested))

    def _of_relevant(self, metric: Metric, value: nw.Expr, defined: nw.Expr | None) -> tuple[nw.Expr, nw.Expr]:
        """Return the value of a metric of relevance, and where it is defined: also by what other models rank."""
        has_relevant = nw.col(KNOWN if self._call.pooled else RELEVANT) > 0
        if not metric.needs_relevant and defined is not None:
            if metric.of_every_list or not self._call.pooled:
                return value, defined
            # Where other models have a relevant row and this one has none, it scores 0.
            return nw.when(defined).then(value).otherwise(0.0), defined | (has_relevant & (nw.col(RELEVANT) == 0))
        if self._call.pooled:
            # This model has no relevant row in a list where other models have one.
            defined = None if defined is None else defined | (nw.col(RELEVANT) == 0)
            value = nw.when(nw.col(RELEVANT) > 0).then(value).otherwise(0.0) if metric.higher_is_better else value
        return value, has_relevant if defined is None else has_relevant & defined

    def shares(self, terms: AccuracyTerms) -> Shares:
        own = self.sums.of(terms.metric.label)
        of_row = {
            name: row_column(column) if column in terms.ranked.by_column else column for name, column in own.items()
        }
        row, sums = Sums(of_row, self.numbers), Sums(own, self.numbers)
        ranked, unranked = terms.metric.share(row, sums), terms.metric.unranked_share(sums)
        if self._call.by_propensity and unranked is not None:
            unranked = unranked * inverse_propensity(graded=False)
        if self._call.pooled:
            # The list has a value because of other models' rows.
            defined = None if terms.metric.needs_relevant else terms.metric.defined(sums)
            has_value = nw.col(RELEVANT) > 0 if defined is None else defined
            ranked = nw.when(has_value).then(ranked).otherwise(0.0)
            unranked = None if unranked is None else nw.when(has_value).then(unranked).otherwise(0.0)
        requested = frozenset(row.requested | sums.requested)
        return Shares(_where_valued(ranked), None if unranked is None else _where_valued(unranked), requested)


def _where_valued(share: nw.Expr) -> nw.Expr:
    """Return what a row adds to the value of its list, missing where that has none."""
    return nw.when(~nw.col(LIST_VALUE).is_null()).then(share).alias(CONTRIBUTION)


def _expression(metric: Metric, method: str, found: object, example: str) -> nw.Expr:
    """Return what a method of a metric returned, or raise if it is no expression."""
    if wrong := what_is_wrong(found):
        msg = f"{method}() of metric {metric.label!r} returns {quoted(found)}, which {wrong}"
        raise OptionTypeError(msg, f"return an expression of the sums, such as {example}")
    return cast("nw.Expr", found)
