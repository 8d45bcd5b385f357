"""What the metrics of one call need: which sums, over which rows, up to which position."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

import narwhals as nw

from recframe._columns import (
    FIRST_HIT,
    POPULAR,
    POSITION,
    RELEVANT,
    item_sum_column,
    row_column,
    segment_sum_column,
    sum_column,
)
from recframe.errors import OptionError, OptionTypeError
from recframe.metrics._beyond_accuracy import BeyondAccuracyMetric, ExposureMetric
from recframe.metrics._item_row import HistoryRow, ItemRow, RecommendedRow
from recframe.metrics._row import ALL_ROWS, CASCADE, CascadeRow, FirstHitRow, IdealRow, PlaceRow, Row, Sums

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence

    from recframe.metrics._record import Metric
    from recframe.metrics._row import Weight
    from recframe.metrics._shared_terms import SharedTerms

Name = tuple[str, str]
"""Of a term: the metric's label, which no other metric of the call has, and what the metric calls it."""


@dataclass
class Requirements:
    """What the metrics of one call ask for, found by asking each of them once."""

    metrics: Sequence[Metric]
    width: int = 0
    """The number of features of an item."""
    columns: dict[Name, str] = field(default_factory=dict)
    """The sums of a list by the names of their terms, and the columns that hold them, which metrics may share."""
    asked: set[str] = field(default_factory=set)
    first_hit: set[str] = field(default_factory=set)
    """The columns of the first hit."""
    cascade: set[str] = field(default_factory=set)
    """The columns of a user who reads from the top."""
    constants: dict[tuple[Weight, int], str] = field(default_factory=dict)
    item_columns: dict[Name, str] = field(default_factory=dict)
    """The sums of an item over the rows that show it."""
    all_columns: dict[Name, str] = field(default_factory=dict)
    """The sums over all items that are shown."""

    def __post_init__(self) -> None:
        sums, items, everything = (
            _Columns(self.columns, sum_column),
            _Columns(self.item_columns, item_sum_column),
            self.all_columns,
        )
        for shown in self.shown:
            row, past = RecommendedRow(self.width), HistoryRow(self.width)
            sums.add(shown, shown.recommended_terms(row), row, "recommended")
            sums.add(shown, shown.history_terms(past), past, "history")
        for exposure in self.exposure:
            row = RecommendedRow(self.width)
            items.add(exposure, exposure.recommended_terms(row), row, "recommended")
            for name in exposure.item_terms(ItemRow(self._own(exposure, self.item_columns))):
                everything[exposure.label, name] = segment_sum_column(len(everything))
        for metric in self.accuracy:
            ranked, best, first = Row(tied=True), IdealRow(), FirstHitRow()
            # Terms share a sum only if they are summed over the same rows.
            found = sums.add(metric, metric.terms(ranked), ranked, metric.reads)
            sums.add(metric, metric.best_terms(best), best, f"best of {metric.best_of}")
            metric.terms(first)
            if FIRST_HIT in first.asked:
                self.first_hit |= found
            if CASCADE in ranked.asked:
                self.cascade |= found
            self.asked |= ranked.asked | (best.asked - {POSITION, ALL_ROWS})

    @property
    def accuracy(self) -> list[Metric]:
        """The metrics that read the relevance."""
        return [metric for metric in self.metrics if not isinstance(metric, BeyondAccuracyMetric | ExposureMetric)]

    @property
    def shown(self) -> list[BeyondAccuracyMetric]:
        """The metrics of what a list shows."""
        return [metric for metric in self.metrics if isinstance(metric, BeyondAccuracyMetric)]

    @property
    def exposure(self) -> list[ExposureMetric]:
        """The metrics of what all lists show together."""
        return [metric for metric in self.metrics if isinstance(metric, ExposureMetric)]

    @property
    def reads_items(self) -> bool:
        """Whether a metric reads the items themselves, in their order."""
        return bool(self.shown or self.exposure) or POPULAR in self.asked

    @property
    def cutoff(self) -> int | None:
        """The last position that any metric reads; None: all."""
        return furthest([metric.cutoff for metric in self.metrics if not self._by_relevant(metric)])

    @property
    def recommended_cutoff(self) -> int | None:
        """The last position that a list metric reads; None: all."""
        return furthest([metric.cutoff for metric in (*self.shown, *self.exposure)])

    @staticmethod
    def _by_relevant(metric: Metric) -> bool:
        """Whether the metric cuts at R, the list's own number of relevant items."""
        row = Row(tied=True)
        metric.terms(row)
        return RELEVANT in row.asked

    def terms(self, row: Row, metrics: Sequence[Metric] | None = None) -> dict[str, nw.Expr]:
        """Return what a ranked row adds, by column; to some of the metrics that read the relevance, or to all."""
        metrics = self.accuracy if metrics is None else metrics
        found = _by_column(self.columns, ((metric, _terms(metric, row)) for metric in metrics))
        only = self.first_hit if isinstance(row, FirstHitRow) else self.cascade if isinstance(row, CascadeRow) else None
        return {column: term for column, term in found.items() if only is None or column in only}

    @property
    def cascade_cutoff(self) -> int | None:
        """The last position that a user reads who stops somewhere; None: all."""
        reading = [
            metric
            for metric in self.accuracy
            if {self.columns[metric.label, name] for name in metric.terms(Row(tied=True))} & self.cascade
        ]
        return furthest([metric.cutoff for metric in reading])

    def best_terms(self, of: str, row: IdealRow | None = None) -> dict[str, nw.Expr]:
        """Return what a row in the best order adds, by column, for the metrics that order these rows."""
        row = row or IdealRow()
        metrics = [metric for metric in self.accuracy if metric.best_of == of]
        return _by_column(self.columns, ((metric, metric.best_terms(row)) for metric in metrics))

    def recommended_terms(self, row: RecommendedRow) -> dict[str, nw.Expr]:
        """Return what a shown row adds to its list, by column."""
        return _by_column(self.columns, ((metric, metric.recommended_terms(row)) for metric in self.shown))

    def history_terms(self, row: HistoryRow) -> dict[str, nw.Expr]:
        """Return what an item of a user's past adds to the user's lists, by column."""
        return _by_column(self.columns, ((metric, metric.history_terms(row)) for metric in self.shown))

    def exposure_terms(self, row: RecommendedRow) -> dict[str, nw.Expr]:
        """Return what a shown row adds to its item, by column."""
        return _by_column(self.item_columns, ((metric, metric.recommended_terms(row)) for metric in self.exposure))

    def item_terms(self) -> tuple[dict[str, nw.Expr], set[str]]:
        """Return what an item adds to the value of all lists, by column, and the sums whose order that reads."""
        found: dict[str, nw.Expr] = {}
        ranked: set[str] = set()
        for metric in self.exposure:
            item = ItemRow(self._own(metric, self.item_columns))
            for name, term in metric.item_terms(item).items():
                found[self.all_columns[metric.label, name]] = term
            ranked |= item.ranked
        return found, ranked

    def sums(self, metric: Metric, row: Container[str] = ()) -> Sums:
        """Return the metric's view of the sums, and remember what it asks; of some columns, that of a single row."""
        columns = self.all_columns if isinstance(metric, ExposureMetric) else self.columns
        own = self._own(metric, columns).items()
        own_of_row = {name: row_column(column) if column in row else column for name, column in own}
        return Sums(own_of_row, self.asked, self.constants)

    @staticmethod
    def _own(metric: Metric, columns: Mapping[Name, str]) -> dict[str, str]:
        return {name: column for (label, name), column in columns.items() if label == metric.label}


class _Columns:
    """Gives each term a column, and terms of several metrics that compute the same over the same rows a common one."""

    def __init__(self, columns: dict[Name, str], name: Callable[[object], str]) -> None:
        self._columns = columns
        self._name = name
        self._by_key: dict[object, str] = {}

    def add(self, metric: Metric, terms: Mapping[str, nw.Expr], row: SharedTerms, over: str) -> set[str]:
        """Return the columns of a metric's terms, which are new but for shared ones."""
        found = set()
        check_names(metric, terms, [known for label, known in self._columns if label == metric.label])
        for name, term in terms.items():
            if not isinstance(term, nw.Expr):
                msg = f"term {name!r} of metric {metric.label!r} is {term!r}, which is not a Narwhals expression"
                raise OptionTypeError(msg, "return expressions of the row, such as {'hits': row.hit}")
            computed = row.key_of(term)
            key = (metric.label, name) if computed is None else (computed, over)
            column = self._by_key.setdefault(key, self._name(len(self._by_key)))
            self._columns[metric.label, name] = column
            found.add(column)
        return found


def _terms(metric: Metric, row: Row) -> Mapping[str, nw.Expr]:
    """Return a metric's terms of a row; of a place in a tied block, only what the place adds."""
    terms = metric.terms(row)
    if metric.is_builtin or not isinstance(row, PlaceRow):
        return terms
    # A custom term may have a part that does not vanish here, such as the 1 of 1 - row.hit.
    rest = metric.terms(PlaceRow())
    return {name: term - rest[name] for name, term in terms.items()}


def check_names(metric: Metric, terms: Iterable[str], others: Collection[str]) -> None:
    """Raise if a metric gives a term the name of another one of its own, so that both would add to one sum."""
    for name in terms:
        if name in others:
            msg = f"metric {metric.label!r} has two terms of the name {name!r}"
            raise OptionError(msg, "give its terms, best_terms and share_terms names that differ")


def _by_column(
    columns: Mapping[Name, str], terms: Iterable[tuple[Metric, Mapping[str, nw.Expr]]]
) -> dict[str, nw.Expr]:
    """Return the terms of metrics by the columns that hold their sums."""
    return {columns[metric.label, name]: term for metric, own in terms for name, term in own.items()}


def furthest(cutoffs: Sequence[int | None]) -> int | None:
    """Return the largest cutoff, None where one is the whole list."""
    return None if None in cutoffs else max(cast("Sequence[int]", cutoffs), default=1)
