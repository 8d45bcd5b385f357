"""What the metrics of one call need: which sums, over which rows, up to which position."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from recframe._terms import CASCADE, FIRST_HIT, POSITION, RELEVANT, CascadeRow, FirstHitRow, IdealRow, Row, Sums

if TYPE_CHECKING:
    from collections.abc import Sequence

    import narwhals as nw

    from recframe._terms import Weight
    from recframe.metrics._record import Metric

__all__ = ["Need"]


@dataclass
class Need:
    """What the metrics of one call ask for, found by asking each of them once."""

    metrics: Sequence[Metric]
    columns: dict[str, str] = field(default_factory=dict)
    """The sums by the full names of their terms, and the columns that hold them."""
    asked: set[str] = field(default_factory=set)
    first_hit: set[str] = field(default_factory=set)
    """The terms of the first hit."""
    cascade: set[str] = field(default_factory=set)
    """The terms of a user who reads from the top."""
    constants: dict[tuple[Weight, int], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for metric in self.metrics:
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
    def cutoff(self) -> int | None:
        """The last position that any metric reads; None: all."""
        cutoffs = [metric.cutoff for metric in self.metrics if not self._by_relevant(metric)]
        return None if None in cutoffs else max(cast("list[int]", cutoffs), default=1)

    @staticmethod
    def _by_relevant(metric: Metric) -> bool:
        """Whether the metric cuts at R, the list's own number of relevant items."""
        row = Row(tied=True)
        metric.terms(row)
        return RELEVANT in row.asked

    def terms(self, row: Row) -> dict[str, nw.Expr]:
        """Return what a ranked row adds, by column."""
        found = {full_name(metric, name): term for metric in self.metrics for name, term in metric.terms(row).items()}
        only = self.first_hit if isinstance(row, FirstHitRow) else self.cascade if isinstance(row, CascadeRow) else None
        if only is not None:
            found = {name: term for name, term in found.items() if name in only}
        return {self.columns[name]: term for name, term in found.items()}

    def best_terms(self, of: str, row: IdealRow | None = None) -> dict[str, nw.Expr]:
        """Return what a row in the best order adds, by column, for the metrics that order these rows."""
        row = row or IdealRow()
        return {
            self.columns[full_name(metric, name)]: term
            for metric in self.metrics
            if metric.best_of == of
            for name, term in metric.best_terms(row).items()
        }

    def sums(self, metric: Metric) -> Sums:
        """Return the metric's view of the sums, and remember what it asks."""
        prefix = full_name(metric, "")
        own = {name.removeprefix(prefix): column for name, column in self.columns.items() if name.startswith(prefix)}
        return Sums(own, self.asked, self.constants)


def full_name(metric: Metric, name: str) -> str:
    """Return a term's name among those of all metrics of a call."""
    return name if metric.shares_terms else f"{metric.label}: {name}"
