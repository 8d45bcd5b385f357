"""What the metrics of one call need: which sums, over which rows, up to which position."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from recframe.metrics._beyond_accuracy import BeyondAccuracyMetric, ExposureMetric
from recframe.metrics._item_row import POPULAR, HistoryRow, ItemRow, RecommendedRow
from recframe.metrics._row import CASCADE, FIRST_HIT, POSITION, RELEVANT, CascadeRow, FirstHitRow, IdealRow, Row, Sums

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    import narwhals as nw

    from recframe.metrics._record import Metric
    from recframe.metrics._row import Weight


@dataclass
class Requirements:
    """What the metrics of one call ask for, found by asking each of them once."""

    metrics: Sequence[Metric]
    width: int = 0
    """The number of features of an item."""
    columns: dict[str, str] = field(default_factory=dict)
    """The sums by the full names of their terms, and the columns that hold them."""
    asked: set[str] = field(default_factory=set)
    first_hit: set[str] = field(default_factory=set)
    """The terms of the first hit."""
    cascade: set[str] = field(default_factory=set)
    """The terms of a user who reads from the top."""
    constants: dict[tuple[Weight, int], str] = field(default_factory=dict)
    item_columns: dict[str, str] = field(default_factory=dict)
    """The sums of an item over the rows that show it."""
    all_columns: dict[str, str] = field(default_factory=dict)
    """The sums over all items that are shown."""

    def __post_init__(self) -> None:
        for shown in self.shown:
            names = (*shown.recommended_terms(RecommendedRow(self.width)), *shown.history_terms(HistoryRow(self.width)))
            for name in names:
                self.columns.setdefault(full_name(shown, name), f"sum{len(self.columns)}")
        for exposure in self.exposure:
            for name in exposure.recommended_terms(RecommendedRow(self.width)):
                self.item_columns.setdefault(full_name(exposure, name), f"item{len(self.item_columns)}")
            for name in exposure.item_terms(ItemRow(self._own(exposure, self.item_columns))):
                self.all_columns.setdefault(full_name(exposure, name), f"all{len(self.all_columns)}")
        for metric in self.accuracy:
            row, best, first = Row(tied=True), IdealRow(), FirstHitRow()
            for name in (*metric.terms(row), *metric.best_terms(best)):
                self.columns.setdefault(full_name(metric, name), f"sum{len(self.columns)}")
            firsts = metric.terms(first)
            if FIRST_HIT in first.asked:
                self.first_hit |= {full_name(metric, name) for name in firsts}
            if CASCADE in row.asked:
                self.cascade |= {full_name(metric, name) for name in firsts}
            self.asked |= row.asked | (best.asked - {POSITION})

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
        found = {full_name(metric, name): term for metric in metrics for name, term in metric.terms(row).items()}
        only = self.first_hit if isinstance(row, FirstHitRow) else self.cascade if isinstance(row, CascadeRow) else None
        if only is not None:
            found = {name: term for name, term in found.items() if name in only}
        return {self.columns[name]: term for name, term in found.items()}

    @property
    def cascade_cutoff(self) -> int | None:
        """The last position that a user reads who stops somewhere; None: all."""
        reading = [
            metric
            for metric in self.accuracy
            if {full_name(metric, n) for n in metric.terms(Row(tied=True))} & self.cascade
        ]
        return furthest([metric.cutoff for metric in reading])

    def best_terms(self, of: str, row: IdealRow | None = None) -> dict[str, nw.Expr]:
        """Return what a row in the best order adds, by column, for the metrics that order these rows."""
        row = row or IdealRow()
        return {
            self.columns[full_name(metric, name)]: term
            for metric in self.accuracy
            if metric.best_of == of
            for name, term in metric.best_terms(row).items()
        }

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
                found[self.all_columns[full_name(metric, name)]] = term
            ranked |= item.ranked
        return found, ranked

    def sums(self, metric: Metric, row: Container[str] = ()) -> Sums:
        """Return the metric's view of the sums, and remember what it asks; of some columns, that of a single row."""
        columns = self.all_columns if isinstance(metric, ExposureMetric) else self.columns
        own = self._own(metric, columns).items()
        own_of_row = {name: f"row {column}" if column in row else column for name, column in own}
        return Sums(own_of_row, self.asked, self.constants)

    @staticmethod
    def _own(metric: Metric, columns: dict[str, str]) -> dict[str, str]:
        prefix = full_name(metric, "")
        return {name.removeprefix(prefix): column for name, column in columns.items() if name.startswith(prefix)}


def _by_column(columns: Mapping[str, str], terms: Iterable[tuple[Metric, Mapping[str, nw.Expr]]]) -> dict[str, nw.Expr]:
    """Return the terms of metrics by the columns that hold their sums."""
    return {columns[full_name(metric, name)]: term for metric, own in terms for name, term in own.items()}


def furthest(cutoffs: Sequence[int | None]) -> int | None:
    """Return the largest cutoff, None where one is the whole list."""
    return None if None in cutoffs else max(cast("Sequence[int]", cutoffs), default=1)


def full_name(metric: Metric, name: str) -> str:
    """Return a term's name among those of all metrics of a call."""
    return name if metric.shares_terms else f"{metric.label}: {name}"
