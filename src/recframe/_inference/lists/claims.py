"""What a gate reads from a comparison: the p-values of the claims that a model is not worse, and that it is better.

A gate that all rows of a model must pass needs no correction for the number of rows. It passes a bad model only if the
one bad row passes too, and the test of that row alone bounds the probability (intersection–union test). So the p-value
of a model is the largest p-value of its rows. Several models are corrected for their number.

References
----------
Berger, *Multiparameter hypothesis testing and acceptance sampling*, Technometrics 24, 1982.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from recframe._engines.base import values_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import narwhals as nw

    from recframe._inference.statistics.correction import Correction

Demand = Literal["not worse", "better"]
"""What a gate may demand of a model."""
P_OF_DEMANDS: dict[Demand, str] = {"not worse": "p of not worse", "better": "p of better"}
"""The unadjusted p-values of what a gate may demand, by their names among the statistics."""

READ = ("difference", "verdict")
"""The columns that show whether a frame was changed."""


@dataclass(frozen=True)
class Claims:
    """The p-values that gates read, an entry for each row of a result."""

    p_values: Mapping[Demand, Sequence[float]]
    """The unadjusted p-values of each demand, NaN where there is none."""
    correction: Correction
    level: float
    """The significance level."""
    margins: Sequence[str | None]
    """The margin of each row as text, None for a row without a margin."""
    rows: Sequence[tuple[str, str]]
    """The difference and the verdict of each row as text, which show whether a frame was changed."""

    @classmethod
    def of(
        cls, frame: nw.DataFrame[Any], correction: Correction, level: float, margins: Sequence[str | None]
    ) -> Claims:
        """Return what gates read of a result that has the p-values of demands as columns."""
        p_values: dict[Demand, list[float]] = {
            demand: [math.nan if p is None else p for p in values_of(frame[name])]
            for demand, name in P_OF_DEMANDS.items()
        }
        return cls(p_values, correction, level, margins, rows_of(frame))


def rows_of(frame: nw.DataFrame[Any]) -> list[tuple[str, str]]:
    """Return the difference and the verdict of each row as text."""
    return [(str(number), str(word)) for number, word in zip(*(values_of(frame[name]) for name in READ), strict=True)]


def correction_factor(p_values: Sequence[float], models: Sequence[Any], correction: Correction, level: float) -> float:
    """Return the factor that corrects the p-values of rows: a model passes if all products are below the level.

    Parameters
    ----------
    p_values : sequence of float
        The unadjusted p-values of rows, NaN where there is none.
    models : sequence
        The model of each row.
    correction : str
        How models are corrected for their number: by Bonferroni's correction, by Benjamini and Hochberg's, or not at
        all. All other corrections stand for Holm's.
    level : float
        The significance level.
    """
    largest: dict[Any, float] = {}
    for model, p in zip(models, p_values, strict=True):
        largest[model] = max(largest.get(model, 0.0), p if p == p else float("inf"))  # noqa: PLR0124 - NaN
    ordered = sorted(largest.values())
    count = len(largest)
    if correction == "none":
        return 1
    if correction == "bonferroni":
        return count
    if correction == "bh":
        passed = max((rank for rank, p in enumerate(ordered, 1) if p * count / rank < level), default=0)
        return count / min(passed + 1, count)
    passed = 0
    while passed < count and ordered[passed] * (count - passed) < level:
        passed += 1
    return max(count - passed, 1)
