"""What a call reads, and how the value of one list becomes that of the call."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from oracle.rows import Row, grouped, mean

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from oracle.metric import Metric

    OfList = Callable[["Metric", "Case", str], float | None]


@dataclass(frozen=True)
class Case:
    """A frame with the columns user, item, relevant, score and price, and its side information."""

    rows: Sequence[Row]
    train: Sequence[Row] = ()
    features: Mapping[Hashable, Sequence[float]] = field(default_factory=dict)
    catalog: Sequence[Hashable] = ()
    max_relevance: float = 1
    """The largest relevance of the whole frame."""

    @property
    def lists(self) -> list[Case]:
        """The case of each list."""
        return [self.of(rows) for rows in grouped(self.rows, ["user"]).values()]

    def of(self, rows: Sequence[Row]) -> Case:
        """Return the case of some of the rows."""
        return replace(self, rows=rows)


class OfCall(Protocol):
    """The value of a whole call under a tie policy; None: it has none."""

    def __call__(self, metric: Metric, case: Case, ties: str = "average") -> float | None: ...


ORACLES: dict[str, OfCall] = {}
"""By a metric's name, the function from a metric and a case to the value of the whole call; None: it has none."""


def mean_over_lists(value: OfList) -> OfCall:
    """Return the function of a call from that of one list: the mean of the lists that have a value."""

    def of_call(metric: Metric, case: Case, ties: str = "average") -> float | None:
        return mean(value(metric, of, ties) for of in case.lists)

    return of_call


def of_list(value: OfList) -> OfList:
    """Enter the function of the metric of this name from one list to its value; a call has their mean."""
    ORACLES[value.__name__] = mean_over_lists(value)
    return value


def of_call(value: OfCall) -> OfCall:
    """Enter the function of the metric of this name from a whole call to its value."""
    ORACLES[value.__name__] = value
    return value
