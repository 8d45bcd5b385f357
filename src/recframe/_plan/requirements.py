"""What the metrics of one call need, found before any data is read: which terms, sums and positions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, cast, get_args

import narwhals as nw

from recframe._columns import (
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
from recframe.metrics._place_row import PLACES
from recframe.metrics._record import BestOf
from recframe.metrics._row import ALL_ROWS, STOPS
from recframe.metrics._shared_terms import Terms

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from recframe._columns import Frame
    from recframe.metrics._beyond_accuracy import BeyondAccuracyMetric, ExposureMetric
    from recframe.metrics._record import Metric, Reads
    from recframe.metrics._row import Numbers


ITEM_NUMBERS = frozenset({CATALOG_SIZE, FAMILIAR, POPULAR, POPULAR_LEVEL})
"""What metrics of relevance read of items."""


@dataclass(frozen=True)
class AccuracyTerms:
    """What one metric of relevance sums."""

    metric: Metric
    reads: Reads
    """Which ranked rows the metric must see."""
    ranked: Terms
    """What a ranked row adds."""
    untied: Terms
    """What it adds where it ties with no other row."""
    ideal: Terms
    """What a row adds in the ideal ranking."""
    places: Mapping[str, Terms]
    """What places of tied blocks add, by what they are places of."""


class ColumnsRead(NamedTuple):
    """What metrics read of the user's frames, in addition to keys and what ranks."""

    relevance: bool
    grades: bool
    """Whether a metric cannot do without the relevance."""
    items_in_order: bool
    value: bool
    """Whether a metric reads the value of hits."""
    subtopics: bool
    pool: bool
    """Whether a metric of relevance reads which rows are in the pool, and which of them were judged."""


class RankedTerms(NamedTuple):
    """What a ranked row adds to the metrics of relevance."""

    of_hits: Terms
    """What it adds to metrics that need not see all rows."""
    of_all: Terms
    """What it adds to metrics that must see every row."""

    @classmethod
    def of(cls, terms: Sequence[tuple[Reads, Terms]]) -> RankedTerms:
        """Return the terms of metrics by the rows that these read."""
        of_hits = Terms.union(each for reads, each in terms if reads != "all")
        return cls(of_hits, Terms.union(each for reads, each in terms if reads == "all"))


class Cascade(NamedTuple):
    """Probabilities to stop that are computed together, because their metrics read the same positions."""

    stops: tuple[int, ...]
    """The numbers of the probabilities."""
    cutoff: int | None
    """The last position that a metric reads; None: all."""


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

    metric: Metric
    value: nw.Expr
    defined: nw.Expr | None
    """Whether there is a value; None: always."""
    weighting: nw.Expr | None
    """The weight of a list in the mean; None: all weigh the same."""
    counted: tuple[str, ...]
    """What must be above 0 in a list for it to be averaged."""
    requested: frozenset[str]
    """The columns that it reads beyond the metric's sums."""

    def where_defined(self, *, eager: bool) -> nw.Expr:
        """Return the value, missing where it is undefined.

        The mean skips missing values. So a custom metric of a lazy frame, which cannot be checked, is NaN where it
        lacks a value although it is defined, and its mean too.
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
        """Whether a list lacks a value or a weight that can be averaged, although it is defined; None: never."""
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
    numbers: Numbers
    """What rows and sums were given, by its numbers."""
    sum_columns: tuple[str, ...]
    """The sums of a list's terms."""
    item_sum_columns: tuple[str, ...]
    feature_count: int
    """How many features an item has."""

    @cached_property
    def catalog_sums(self) -> tuple[str, ...]:
        """The sums of an item that are 0 outside a given catalogue."""
        return tuple(Terms.union(each.recommended for each in self.exposure if each.metric.reads_catalog).by_column)

    @cached_property
    def ranked(self) -> Terms:
        """What a ranked row adds to the metrics of relevance."""
        return Terms.union(metric.ranked for metric in self.accuracy)

    @cached_property
    def ranked_terms(self) -> Mapping[bool, RankedTerms]:
        """What a ranked row adds, by whether rows may tie."""
        tied = RankedTerms.of([(each.reads, each.ranked) for each in self.accuracy])
        return {True: tied, False: RankedTerms.of([(each.reads, each.untied) for each in self.accuracy])}

    @cached_property
    def ideal(self) -> Mapping[BestOf, Terms]:
        """What a row adds in the ideal ranking of all rows, of the ranked ones, and of these with negative ones."""
        metrics, kinds = self.accuracy, get_args(BestOf)
        return {of: Terms.union(metric.ideal for metric in metrics if metric.metric.best_of == of) for of in kinds}

    @cached_property
    def places(self) -> Mapping[str, Terms]:
        """What places of tied blocks add, by what they are places of."""
        return {kind: Terms.union(each.places.get(kind, Terms()) for each in self.accuracy) for kind in PLACES}

    @cached_property
    def weight_sums(self) -> tuple[WeightSums, ...]:
        """The sums of weights over the positions of tied blocks."""
        return tuple(WeightSums.of(number, *weight) for number, weight in enumerate(self.numbers.weights))

    @cached_property
    def weight_tables(self) -> dict[Hashable, Frame]:
        """The tables of these sums that depend on no data, by the engine and the numbers of the weights."""
        return {}

    @cached_property
    def requested(self) -> frozenset[str]:
        """The columns of rows and lists that any metric reads beyond those that are always there."""
        ideal = Terms.union(metric.ideal for metric in self.accuracy).requested - {POSITION, ALL_ROWS}
        values = chain.from_iterable((*value.requested, *value.counted) for value in self.values.values())
        shares = frozenset() if self.shares is None else self.shares.requested
        return self.ranked.requested | ideal | shares | frozenset(values)

    @cached_property
    def columns_read(self) -> ColumnsRead:
        """The columns that metrics read of the user's frames."""
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
        """Whether a metric has another expected value if only a sample of the irrelevant rows is ranked."""
        return any(terms.metric.of_rank(1.0) is not None for terms in self.accuracy)

    @cached_property
    def limits(self) -> tuple[tuple[Metric, float, float], ...]:
        """The metrics that some relevances do not suit, each with the least and the greatest that do."""
        return tuple(
            (of.metric, *of.metric.relevances) for of in self.accuracy if not all(map(math.isinf, of.metric.relevances))
        )

    @cached_property
    def reads_recommended(self) -> bool:
        """Whether a metric reads the recommended items."""
        return bool(self.beyond_accuracy or self.exposure)

    @cached_property
    def of_every_list(self) -> bool:
        """Whether a metric has a value even of lists without anything of relevance."""
        return any(metric.metric.of_every_list for metric in self.accuracy)

    @cached_property
    def reads_items(self) -> bool:
        """Whether a metric reads the items themselves, in their order."""
        return self.reads_recommended or bool(self.numbers.groups) or bool(self.requested & ITEM_NUMBERS)

    @cached_property
    def all_rows_upto(self) -> int | None:
        """The last position up to which metrics of relevance read all ranked rows, 0 if none does; None: all."""
        cutoffs = [_cutoff(terms.metric) for terms in self.accuracy if terms.reads == "all" or STOPS in terms.places]
        if self.ranked.requested & COMPARED:
            cutoffs.append(None)
        return furthest(cutoffs) if cutoffs else 0

    @cached_property
    def reads_graded(self) -> bool:
        """Whether a metric reads rows with a relevance other than 0 that are not relevant."""
        return any(metric.reads == "graded" for metric in self.accuracy)

    @cached_property
    def counts_hits_for_all(self) -> bool:
        """Whether the hits ahead of rows that are no hits are counted too: a metric of your own may read them."""
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
        """The last position at which metrics read each kind of places; None: all.

        A tied block has many more places than rows, so a deeper metric of another kind must not add any.
        """
        return {
            kind: furthest([_cutoff(terms.metric) for terms in self.accuracy if kind in terms.places])
            for kind in PLACES
        }

    @cached_property
    def cascades(self) -> tuple[Cascade, ...]:
        """The probabilities to stop, by the positions that their metrics read."""
        columns = {stop_column(number): number for number in self.numbers.stops.values()}
        read = [
            ([columns[name] for name in sorted(terms.places[STOPS].requested & columns.keys())], _cutoff(terms.metric))
            for terms in self.accuracy
            if STOPS in terms.places
        ]
        numbers = sorted({number for stops, _ in read for number in stops})
        if any(len(stops) > 1 for stops, _ in read):
            # A term may multiply the probabilities of its metric, so all are needed in the same rows.
            return (Cascade(tuple(numbers), self.place_cutoffs[STOPS]),)
        stops: dict[int | None, list[int]] = {}
        for number in numbers:
            stops.setdefault(furthest([cutoff for each, cutoff in read if number in each]), []).append(number)
        return tuple(Cascade(tuple(together), cutoff) for cutoff, together in stops.items())


def _cutoff(metric: Metric) -> int | None:
    """Return the last position that a metric reads in every list; None: all, or another one in each list."""
    return None if metric.cuts_at_relevant else metric.cutoff


def furthest(cutoffs: Sequence[int | None]) -> int | None:
    """Return the largest cutoff, None where one is the whole list."""
    return None if None in cutoffs else max(cast("Sequence[int]", cutoffs), default=1)
