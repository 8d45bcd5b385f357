"""What the metrics of one call need: terms, sums and positions, all known before any data is read."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, cast, get_args

import narwhals as nw

from recframe._base.columns import (
    BLOCK_HITS,
    CATALOG_SIZE,
    COMPARED,
    FAMILIAR,
    HITS_BEFORE,
    POOLED,
    POPULAR,
    POPULAR_LEVEL,
    POSITION,
    VALUE,
    stop_column,
)
from recframe._plan.weight_tables import WeightSums
from recframe.metrics._place_row import PLACE_ROWS
from recframe.metrics._record import BestOf
from recframe.metrics._row import ALL_ROWS, STOPS
from recframe.metrics._shared_terms import Terms

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from recframe._base.columns import Frame
    from recframe.metrics._beyond_accuracy import BeyondAccuracyMetric, ExposureMetric
    from recframe.metrics._record import Metric, Reads
    from recframe.metrics._row import Numbers


ITEM_NUMBERS = frozenset({CATALOG_SIZE, FAMILIAR, POPULAR, POPULAR_LEVEL})
"""The columns of items that metrics of relevance read."""


@dataclass(frozen=True)
class AccuracyTerms:
    """The terms that one metric of relevance sums per list."""

    metric: Metric
    reads: Reads
    """Which ranked rows the metric must see."""
    ranked: Terms
    """What a ranked row adds."""
    untied: Terms
    """What a ranked row adds if it ties with no other row."""
    ideal: Terms
    """What a row adds in the ideal ranking."""
    places: Mapping[str, Terms]
    """What a place of a tied block adds, by kind of place."""


class ColumnsRead(NamedTuple):
    """Which columns metrics read from the user's frames, in addition to keys and scores."""

    relevance: bool
    grades: bool
    """Whether a metric needs a column of relevance even if every row of a truth is relevant."""
    items_in_order: bool
    """Whether a metric sorts by the item."""
    value: bool
    """Whether a metric reads the value of hits."""
    subtopics: bool
    pool: bool
    """Whether a metric of relevance reads which rows are in the pool and which are judged."""


class RankedTerms(NamedTuple):
    """What a ranked row adds to the metrics of relevance, split by the rows that the metrics must see."""

    of_hits: Terms
    """What it adds to metrics that only read hits and graded rows."""
    of_all: Terms
    """What it adds to metrics that must see every row."""

    @classmethod
    def of(cls, terms: Sequence[tuple[Reads, Terms]]) -> RankedTerms:
        """Return the union of terms of each kind."""
        of_hits = Terms.union(each for reads, each in terms if reads != "all")
        return cls(of_hits, Terms.union(each for reads, each in terms if reads == "all"))


class RelevanceLimit(NamedTuple):
    """A metric that does not accept every relevance, with the least and the greatest one that it accepts."""

    metric: Metric
    low: float
    high: float


class Cascade(NamedTuple):
    """Probabilities to stop that are computed together, because metrics read them at the same positions."""

    stops: tuple[int, ...]
    """The numbers of the probabilities, from `Numbers.stops`."""
    cutoff: int | None
    """The last position that a metric reads; None: all."""


@dataclass(frozen=True)
class BeyondAccuracyTerms:
    """The terms that a metric of recommended items sums: per list, or per item for an exposure metric."""

    metric: BeyondAccuracyMetric | ExposureMetric
    recommended: Terms
    """What a recommended row adds."""
    history: Terms
    """What an item of the user's history adds to the user's lists."""


@dataclass(frozen=True)
class ListValue:
    """The value of one metric, computed from the sums of a list or of a segment."""

    metric: Metric
    value: nw.Expr
    defined: nw.Expr | None
    """Whether there is a value; None: always."""
    weighting: nw.Expr | None
    """The weight of a list in the mean; None: all lists have the same weight."""
    counted: tuple[str, ...]
    """The columns that must all be above 0 for a list to be averaged."""
    requested: frozenset[str]
    """The columns that these expressions read beyond the metric's sums."""

    def where_defined(self, *, eager: bool) -> nw.Expr:
        """Return the value, missing where it is undefined.

        A custom metric may lack a value although it is defined. Eager frames raise for that. On lazy frames the value
        becomes NaN, and so does the mean, which would skip a missing value.
        """
        if self.metric.is_builtin or eager:
            return self._where_defined
        return self._named(self.value.cast(nw.Float64()).fill_null(math.nan))

    @cached_property
    def _where_defined(self) -> nw.Expr:
        return self._named(self.value)

    def _named(self, value: nw.Expr) -> nw.Expr:
        return (value if self.defined is None else nw.when(self.defined).then(value)).alias(self.metric.column)

    @property
    def lacking(self) -> nw.Expr | None:
        """Whether a list is defined but has no finite value or weight; None: never, for metrics of the package."""
        if self.metric.is_builtin:
            return None
        value = self.value.cast(nw.Float64())
        missing = value.is_null() | ~value.is_finite()
        if self.weighting is not None:
            weight = self.weighting.cast(nw.Float64())
            missing = missing | ~(weight.is_finite() & (weight >= 0))
        return missing if self.defined is None else self.defined & missing


@dataclass(frozen=True)
class Shares:
    """What a row contributes to the value of its list."""

    ranked: nw.Expr
    unranked: nw.Expr | None
    """What an unranked relevant item contributes; None: nothing."""
    requested: frozenset[str]
    """The columns that these expressions read beyond the metric's sums."""


@dataclass(frozen=True)
class Requirements:
    """What the metrics of one call need. It is immutable and cached for equal calls."""

    metrics: tuple[Metric, ...]
    accuracy: tuple[AccuracyTerms, ...]
    beyond_accuracy: tuple[BeyondAccuracyTerms, ...]
    exposure: tuple[BeyondAccuracyTerms, ...]
    items: Terms
    """What an item adds to the sums of a segment. It also requests the item sums whose order it reads."""
    values: Mapping[str, ListValue]
    """The values by the labels of the metrics."""
    shares: Shares | None
    """What rows contribute to the metric, in a call for contributions."""
    numbers: Numbers
    """The weights, probabilities and other arguments that metrics passed to rows and sums, each with a number."""
    sum_columns: tuple[str, ...]
    """The columns of a list's sums."""
    item_sum_columns: tuple[str, ...]
    """The columns of an item's sums."""
    feature_count: int
    """How many features an item has."""

    @cached_property
    def catalog_sums(self) -> tuple[str, ...]:
        """The columns of an item's sums that are 0 for items outside `catalog=`."""
        of_catalog = (terms.recommended for terms in self.exposure if terms.metric.reads_catalog)
        return tuple(Terms.union(of_catalog).by_column)

    @cached_property
    def ranked(self) -> Terms:
        """What a ranked row adds to the metrics of relevance."""
        return Terms.union(metric.ranked for metric in self.accuracy)

    @cached_property
    def ranked_terms(self) -> Mapping[bool, RankedTerms]:
        """What a ranked row adds, by whether rows may tie."""
        tied = RankedTerms.of([(terms.reads, terms.ranked) for terms in self.accuracy])
        untied = RankedTerms.of([(terms.reads, terms.untied) for terms in self.accuracy])
        return {True: tied, False: untied}

    @cached_property
    def ideal(self) -> Mapping[BestOf, Terms]:
        """What a row adds in each kind of ideal ranking: of all rows, of ranked rows, of ranked and negative rows."""
        return {
            kind: Terms.union(terms.ideal for terms in self.accuracy if terms.metric.best_of == kind)
            for kind in get_args(BestOf)
        }

    @cached_property
    def places(self) -> Mapping[str, Terms]:
        """What a place of a tied block adds, by kind of place."""
        return {kind: Terms.union(each.places.get(kind, Terms()) for each in self.accuracy) for kind in PLACE_ROWS}

    @cached_property
    def weight_sums(self) -> tuple[WeightSums, ...]:
        """The position weights of metrics, with their running sums."""
        return tuple(WeightSums.of(number, *weight) for number, weight in enumerate(self.numbers.weights))

    @cached_property
    def weight_tables(self) -> dict[Hashable, Frame]:
        """A cache: tables of running sums that depend on no data, by the engine and the numbers of the weights."""
        return {}

    @cached_property
    def requested(self) -> frozenset[str]:
        """The optional columns of rows and lists that any metric reads."""
        ideal = Terms.union(metric.ideal for metric in self.accuracy).requested - {POSITION, ALL_ROWS}
        values = chain.from_iterable((*value.requested, *value.counted) for value in self.values.values())
        shares = frozenset() if self.shares is None else self.shares.requested
        return self.ranked.requested | ideal | shares | frozenset(values)

    @cached_property
    def columns_read(self) -> ColumnsRead:
        """Which columns metrics read from the user's frames."""
        return ColumnsRead(
            relevance=bool(self.accuracy),
            grades=any(terms.metric.reads_relevance for terms in self.accuracy),
            items_in_order=self.reads_items or bool(self.numbers.greedy),
            value=VALUE in self.requested,
            subtopics=bool(self.numbers.alphas),
            pool=POOLED in self.ranked.requested,
        )

    @cached_property
    def reads_ranks(self) -> bool:
        """Whether a metric's value changes if only a sample of the irrelevant rows is ranked."""
        return any(terms.metric.of_rank(1.0) is not None for terms in self.accuracy)

    @cached_property
    def limits(self) -> tuple[RelevanceLimit, ...]:
        """The metrics that do not accept every relevance, with their limits."""
        metrics = [terms.metric for terms in self.accuracy]
        return tuple(
            RelevanceLimit(metric, *metric.relevances)
            for metric in metrics
            if not all(map(math.isinf, metric.relevances))
        )

    @cached_property
    def reads_recommended(self) -> bool:
        """Whether a metric reads the recommended items."""
        return bool(self.beyond_accuracy or self.exposure)

    @cached_property
    def of_every_list(self) -> bool:
        """Whether a metric has a value even for lists without a relevant item."""
        return any(metric.metric.of_every_list for metric in self.accuracy)

    @cached_property
    def reads_items(self) -> bool:
        """Whether a metric reads the item column."""
        return self.reads_recommended or bool(self.numbers.groups) or bool(self.requested & ITEM_NUMBERS)

    @cached_property
    def all_rows_upto(self) -> int | None:
        """The last position up to which metrics of relevance read every row: 0 if no metric does, None for all."""
        cutoffs = [_cutoff(terms.metric) for terms in self.accuracy if terms.reads == "all" or STOPS in terms.places]
        if self.ranked.requested & COMPARED:
            cutoffs.append(None)
        return furthest(cutoffs) if cutoffs else 0

    @cached_property
    def reads_graded(self) -> bool:
        """Whether a metric reads irrelevant rows with a relevance other than 0."""
        return any(metric.reads == "graded" for metric in self.accuracy)

    @cached_property
    def counts_hits_for_all(self) -> bool:
        """Whether hits ahead are counted for all rows, not only for hits, because a custom metric may read them."""
        custom = [terms for terms in self.accuracy if not terms.metric.is_builtin]
        return any(terms.ranked.requested & {HITS_BEFORE, BLOCK_HITS} for terms in custom)

    @cached_property
    def cutoff(self) -> int | None:
        """The last position that any metric reads; None: all."""
        return furthest([metric.cutoff for metric in self.metrics if not metric.cuts_at_relevant])

    @cached_property
    def recommended_cutoff(self) -> int | None:
        """The last position that a metric of the recommended items reads; None: all."""
        return furthest([terms.metric.cutoff for terms in (*self.beyond_accuracy, *self.exposure)])

    @cached_property
    def place_cutoffs(self) -> Mapping[str, int | None]:
        """The last position at which metrics read each kind of place; None: all.

        A block has many more places than rows. So each kind has its own cutoff, and a deep metric of another kind adds
        no places.
        """
        return {
            kind: furthest([_cutoff(terms.metric) for terms in self.accuracy if kind in terms.places])
            for kind in PLACE_ROWS
        }

    @cached_property
    def cascades(self) -> tuple[Cascade, ...]:
        """The probabilities to stop, grouped by the last position that metrics read."""
        columns = {stop_column(number): number for number in self.numbers.stops.values()}
        read = [
            ([columns[name] for name in sorted(terms.places[STOPS].requested & columns.keys())], _cutoff(terms.metric))
            for terms in self.accuracy
            if STOPS in terms.places
        ]
        numbers = sorted({number for stops, _ in read for number in stops})
        if any(len(stops) > 1 for stops, _ in read):
            # A term may multiply two probabilities of its metric, so all are needed in the same rows.
            return (Cascade(tuple(numbers), self.place_cutoffs[STOPS]),)
        stops: dict[int | None, list[int]] = {}
        for number in numbers:
            cutoff = furthest([cutoff for stop_numbers, cutoff in read if number in stop_numbers])
            stops.setdefault(cutoff, []).append(number)
        return tuple(Cascade(tuple(together), cutoff) for cutoff, together in stops.items())


def _cutoff(metric: Metric) -> int | None:
    """Return the last position that a metric reads in every list, or None if there is no such position."""
    return None if metric.cuts_at_relevant else metric.cutoff


def furthest(cutoffs: Sequence[int | None]) -> int | None:
    """Return the largest cutoff, or None if a cutoff is None."""
    return None if None in cutoffs else max(cast("Sequence[int]", cutoffs), default=1)
