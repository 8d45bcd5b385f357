"""What the metrics of one call need, found before any data is read: which terms, sums and positions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, cast

import narwhals as nw

from recframe._columns import (
    FIRST_HIT,
    JUDGED,
    KNOWN,
    POPULAR,
    POSITION,
    RANKED,
    RELEVANT,
    VALUE,
    item_sum_column,
    row_column,
    segment_sum_column,
    stop_column,
    sum_column,
)
from recframe.metrics._beyond_accuracy import BeyondAccuracyMetric, ExposureMetric
from recframe.metrics._item_row import HistoryRow, ItemRow, RecommendedRow
from recframe.metrics._row import CascadeRow, FirstHitRow, IdealRow, Numbers, Row, Sums
from recframe.metrics._shared_terms import TermColumns, Terms

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe._arguments import Lists, Query
    from recframe.metrics._record import Metric, Reads
    from recframe.metrics._row import Stop, Weight

COUNTED: dict[Lists, tuple[str, ...]] = {"all": (), "truth": (JUDGED,), "ranked": (RANKED,), "both": (JUDGED, RANKED)}
"""What a list must have to be averaged, under each policy."""


@dataclass(frozen=True)
class AccuracyTerms:
    """What one metric of relevance sums."""

    metric: Metric
    reads: Reads
    """Which ranked rows the metric must see."""
    ranked: Terms
    """What a ranked row adds."""
    ideal: Terms
    """What a row adds in the ideal ranking."""
    first_hit: Terms
    """What a place adds in a tied block with several first hits."""
    cascade: Terms
    """What a place adds at which users stop."""

    @property
    def cuts_at_relevant(self) -> bool:
        """Whether the metric cuts at R, the list's own number of relevant items."""
        return RELEVANT in self.ranked.requested

    @property
    def cutoff(self) -> int | None:
        return self.metric.cutoff


@dataclass(frozen=True)
class BeyondAccuracyTerms:
    """What one metric of the recommended items sums, over a list or, of an exposure metric, over an item."""

    metric: BeyondAccuracyMetric | ExposureMetric
    recommended: Terms
    """What a recommended row adds."""
    history: Terms
    """What an item of the user's past adds to the user's lists."""


@dataclass(frozen=True)
class ListValue:
    """The value of one metric, from the sums of a list or of a segment."""

    value: nw.Expr
    """The value, missing where it is undefined."""
    weighting: nw.Expr | None
    """The weight of a list in the mean; None: all weigh the same."""
    counted: tuple[str, ...]
    """What must be above 0 in a list for it to be averaged."""
    requested: frozenset[str]
    """The columns that it reads beyond the metric's sums."""


@dataclass(frozen=True)
class Shares:
    """What a row adds to the value of its list."""

    ranked: nw.Expr
    unranked: nw.Expr | None
    """What a relevant item adds that is not ranked; None: nothing."""
    requested: frozenset[str]
    """The columns that these read beyond the metric's sums."""


@dataclass(frozen=True)
class Requirements:
    """What the metrics of one call need; nothing changes it once it is made."""

    metrics: tuple[Metric, ...]
    accuracy: tuple[AccuracyTerms, ...]
    beyond_accuracy: tuple[BeyondAccuracyTerms, ...]
    exposure: tuple[BeyondAccuracyTerms, ...]
    items: Terms
    """What an item adds to the sums of a segment, and the item sums whose order that reads."""
    values: Mapping[str, ListValue]
    """The values by the labels of the metrics."""
    shares: Shares | None
    """Of the one metric of a call for contributions."""
    weights: tuple[tuple[Weight, int | None], ...]
    """The weights of positions up to a cutoff, by their numbers; of rows."""
    constants: tuple[tuple[Weight, int], ...]
    """The same, of positions, which sum to the same for every list."""
    stops: tuple[Stop, ...]
    """The probabilities to stop at a row, by their numbers."""
    cutoffs: frozenset[int | None]
    """Up to where the different items of a list are counted."""
    sum_columns: tuple[str, ...]
    """The sums of a list's terms."""
    item_sum_columns: tuple[str, ...]
    feature_count: int
    """How many features an item has."""

    @cached_property
    def ranked(self) -> Terms:
        """What a ranked row adds to the metrics of relevance."""
        return Terms.union(metric.ranked for metric in self.accuracy)

    @cached_property
    def first_hit(self) -> Terms:
        """What a place adds in a tied block with several first hits."""
        return Terms.union(metric.first_hit for metric in self.accuracy)

    @cached_property
    def cascade(self) -> Terms:
        """What a place adds at which users stop."""
        return Terms.union(metric.cascade for metric in self.accuracy)

    @cached_property
    def requested(self) -> frozenset[str]:
        """The columns of rows and lists that any metric reads beyond those that are always there."""
        ideal = Terms.union(metric.ideal for metric in self.accuracy).requested - {POSITION}
        values = chain.from_iterable((*value.requested, *value.counted) for value in self.values.values())
        shares = frozenset() if self.shares is None else self.shares.requested
        return self.ranked.requested | ideal | shares | frozenset(values)

    @property
    def reads_relevance(self) -> bool:
        """Whether a metric reads the relevance."""
        return bool(self.accuracy)

    @property
    def reads_recommended(self) -> bool:
        """Whether a metric reads the recommended items."""
        return bool(self.beyond_accuracy or self.exposure)

    @property
    def reads_items(self) -> bool:
        """Whether a metric reads the items themselves, in their order."""
        return self.reads_recommended or POPULAR in self.requested

    @property
    def reads_value(self) -> bool:
        """Whether a metric reads the value of hits."""
        return VALUE in self.requested

    @property
    def reads_all_rows(self) -> bool:
        """Whether a metric of relevance must see every ranked row."""
        return any(metric.reads == "all" for metric in self.accuracy)

    @property
    def reads_graded(self) -> bool:
        """Whether a metric reads rows with a relevance other than 0 that are not relevant."""
        return any(metric.reads == "graded" for metric in self.accuracy)

    @property
    def cutoff(self) -> int | None:
        """The last position that any metric reads; None: all."""
        at_relevant = {metric.metric.label for metric in self.accuracy if metric.cuts_at_relevant}
        return furthest([metric.cutoff for metric in self.metrics if metric.label not in at_relevant])

    @property
    def recommended_cutoff(self) -> int | None:
        """The last position that a metric of the recommended items reads; None: all."""
        return furthest([terms.metric.cutoff for terms in (*self.beyond_accuracy, *self.exposure)])

    @property
    def cascade_cutoff(self) -> int | None:
        """The last position that a cascade model reads; None: all."""
        return furthest([metric.cutoff for metric in self.accuracy if metric.cascade.by_column])

    def ideal(self, of: str) -> Terms:
        """Return what a row adds in the ideal ranking of all rows, or of the ranked ones."""
        return Terms.union(metric.ideal for metric in self.accuracy if metric.metric.best_of == of)


def requirements_of(
    metrics: Sequence[Metric], query: Query, feature_count: int, *, truth: bool, shares: bool = False
) -> Requirements:
    """Return what the metrics of a call need, each asked once about each kind of row that it reads.

    Parameters
    ----------
    metrics : sequence of Metric
        The metrics.
    query : Query
        The checked roles and policies.
    feature_count : int
        How many features an item has.
    truth : bool
        Whether there is a ground truth besides the frame.
    shares : bool
        Whether rows show what they add to the value of the one metric.
    """
    asking = _Asking(query, feature_count, shares=shares, pooled=query.model is not None and not truth)
    beyond = [asking.beyond(metric) for metric in metrics if isinstance(metric, BeyondAccuracyMetric)]
    exposure = [asking.exposure(metric) for metric in metrics if isinstance(metric, ExposureMetric)]
    items = Terms.union(asking.items(terms.metric) for terms in exposure if isinstance(terms.metric, ExposureMetric))
    others = [metric for metric in metrics if not isinstance(metric, BeyondAccuracyMetric | ExposureMetric)]
    accuracy = [asking.accuracy(metric) for metric in others]
    values = {metric.label: asking.value(metric) for metric in metrics}
    of_rows = asking.shares(accuracy[0]) if shares else None
    return Requirements(
        metrics=tuple(metrics),
        accuracy=tuple(accuracy),
        beyond_accuracy=tuple(beyond),
        exposure=tuple(exposure),
        items=items,
        values=values,
        shares=of_rows,
        weights=tuple(asking.numbers.weights),
        constants=tuple(asking.numbers.constants),
        stops=tuple(asking.numbers.stops),
        cutoffs=frozenset(asking.cutoffs),
        sum_columns=asking.sums.all,
        item_sum_columns=asking.item_sums.all,
        feature_count=feature_count,
    )


class _Asking:
    """Asks the metrics of one call for their terms, and gives each a column of its own or one that it shares."""

    def __init__(self, query: Query, feature_count: int, *, shares: bool, pooled: bool) -> None:
        self._query = query
        self._feature_count = feature_count
        self._with_shares = shares
        self._pooled = pooled
        self.numbers = Numbers()
        self.cutoffs: set[int | None] = set()
        self.sums = TermColumns(sum_column)
        self.item_sums = TermColumns(item_sum_column)
        self.segment_sums = TermColumns(segment_sum_column)

    def accuracy(self, metric: Metric) -> AccuracyTerms:
        row, best = Row(self.numbers), IdealRow()
        # Rows that show what they add show it all.
        reads: Reads = "all" if self._with_shares else metric.reads
        ranked = self.sums.add(metric, self._terms(metric, row), row, reads)
        ideal = self.sums.add(metric, metric.best_terms(best), best, f"best of {metric.best_of}")
        first_hit = cascade = Terms()
        if FIRST_HIT in row.requested:
            first_hit = self.sums.known(metric, self._terms(metric, FirstHitRow(self.numbers)))
        if row.requested & {stop_column(number) for number in self.numbers.stops.values()}:
            cascade = self.sums.known(metric, self._terms(metric, CascadeRow(self.numbers)))
        return AccuracyTerms(metric, reads, ranked, ideal, first_hit, cascade)

    def _terms(self, metric: Metric, row: Row) -> Mapping[str, nw.Expr]:
        return {**metric.terms(row), **metric.share_terms(row)} if self._with_shares else metric.terms(row)

    def beyond(self, metric: BeyondAccuracyMetric) -> BeyondAccuracyTerms:
        row, past = RecommendedRow(self._feature_count), HistoryRow(self._feature_count)
        recommended = self.sums.add(metric, metric.recommended_terms(row), row, "recommended")
        self.cutoffs |= row.cutoffs
        return BeyondAccuracyTerms(
            metric, recommended, self.sums.add(metric, metric.history_terms(past), past, "history")
        )

    def exposure(self, metric: ExposureMetric) -> BeyondAccuracyTerms:
        row = RecommendedRow(self._feature_count)
        recommended = self.item_sums.add(metric, metric.recommended_terms(row), row, "recommended")
        self.cutoffs |= row.cutoffs
        return BeyondAccuracyTerms(metric, recommended, Terms())

    def items(self, metric: ExposureMetric) -> Terms:
        item = ItemRow(self.item_sums.of(metric))
        return self.segment_sums.add(metric, metric.item_terms(item), item, "items")

    def value(self, metric: Metric) -> ListValue:
        exposure = isinstance(metric, ExposureMetric)
        sums = Sums((self.segment_sums if exposure else self.sums).of(metric), self.numbers)
        defined, value = metric.defined(sums), metric.value(sums)
        counted: tuple[str, ...] = ()
        if not isinstance(metric, BeyondAccuracyMetric | ExposureMetric):
            counted = COUNTED[self._query.averaging(metric.label).lists]
            known = nw.col(KNOWN if self._pooled else RELEVANT) > 0
            if self._pooled:
                # This model has no relevant row in a list where other models have one.
                defined = None if defined is None else defined | (nw.col(RELEVANT) == 0)
                value = nw.when(nw.col(RELEVANT) > 0).then(value).otherwise(0.0)
            defined = known if defined is None else known & defined
        value = value if defined is None else nw.when(defined).then(value)
        weighting = None if exposure else metric.weighting(sums)
        return ListValue(value.alias(metric.column), weighting, counted, frozenset(sums.requested))

    def shares(self, terms: AccuracyTerms) -> Shares:
        own = self.sums.of(terms.metric)
        of_row = {
            name: row_column(column) if column in terms.ranked.by_column else column for name, column in own.items()
        }
        row, sums = Sums(of_row, self.numbers), Sums(own, self.numbers)
        ranked, unranked = terms.metric.share(row, sums), terms.metric.unranked_share(sums)
        return Shares(ranked, unranked, frozenset(row.requested | sums.requested))


def furthest(cutoffs: Sequence[int | None]) -> int | None:
    """Return the largest cutoff, None where one is the whole list."""
    return None if None in cutoffs else max(cast("Sequence[int]", cutoffs), default=1)
