"""Estimates of metrics on full lists, from lists with one relevant item and a sample of the other items."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import TYPE_CHECKING, Any, ClassVar

import narwhals as nw

from recframe.metrics._record import Metric, Reads
from recframe.metrics._sampled_ranks import table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recframe._base.roles import Estimator
    from recframe.metrics._row import Row, Weight
    from recframe.metrics._sums import Sums


@dataclass(frozen=True)
class SampledMetric(Metric):
    """An estimate of a metric on lists of `total` items, from the relevant item and `sampled` other items."""

    reads: ClassVar[Reads] = "hits"

    metric: Any
    """The metric to estimate, defined on full lists."""
    sampled: int
    total: int
    estimator: Any

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("name", "label", "range", "higher_is_better"):
            vars(self)[name] = getattr(self.metric, name)

    def terms(self, row: Row) -> Mapping[str, nw.Expr]:
        weight = _estimates(self.metric, self.sampled, self.total, self.estimator)
        return {"estimate": row.hit * row.weight(weight, None)}

    def value(self, sums: Sums) -> nw.Expr:
        # Eager frames with such lists raise an error. On lazy frames, NaN reaches the result.
        fits = (sums.relevant == 1) & (sums.rows == self.sampled + 1)
        return nw.when(fits).then(sums["estimate"]).otherwise(nw.lit(float("nan")))

    def share(self, row: Sums, sums: Sums) -> nw.Expr:  # noqa: ARG002 - the rows alone say it
        return row["estimate"]


@lru_cache(64)
def _estimates(metric: Metric, sampled: int, total: int, estimator: Estimator) -> Weight:
    """Return the function from a position among the sampled items to the estimated value.

    It is the same function for equal arguments, so that metrics can share its sums.
    """
    values = table(lambda rank: metric.of_rank(rank) or 0.0, sampled, total, estimator)

    def weight(position: nw.Expr) -> nw.Expr:
        parts = [
            nw.when(position == sampled_rank).then(estimate).otherwise(0.0)
            for sampled_rank, estimate in enumerate(values, start=1)
            if estimate
        ]
        while len(parts) > 1:
            # A tree of sums: a chain of hundreds is too deep for engines.
            parts = [reduce(nw.Expr.__add__, parts[i : i + 2]) for i in range(0, len(parts), 2)]
        return parts[0] if parts else 0.0 * position

    return weight
