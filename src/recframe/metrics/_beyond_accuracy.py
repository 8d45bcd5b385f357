"""Base classes of beyond-accuracy metrics: they read the recommended items, not their relevance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from recframe.metrics._record import CutMetric

if TYPE_CHECKING:
    from collections.abc import Mapping

    import narwhals as nw

    from recframe.metrics._item_row import HistoryRow, ItemRow, RecommendedRow


@dataclass(frozen=True)
class RecommendedMetric(CutMetric):
    """What both kinds of beyond-accuracy metrics share."""

    is_additive: ClassVar[bool] = False
    reads_relevance: ClassVar[bool] = False
    inexact: ClassVar[str] = "not exact: it reads one order, and its value may be any of those of all orders"

    def recommended_terms(self, row: RecommendedRow) -> Mapping[str, nw.Expr]:
        """Return what one recommended item adds to its list, or to the sums of its item, by name."""
        raise NotImplementedError

    def history_terms(self, row: HistoryRow) -> Mapping[str, nw.Expr]:  # noqa: ARG002
        """Return what one item of a user's past adds to the user's lists, by name; of exposure metrics, nothing."""
        return {}


@dataclass(frozen=True)
class BeyondAccuracyMetric(RecommendedMetric):
    """A number for every list with recommended items, from those in its top k.

    Parameters
    ----------
    k : int, optional
        The cutoff. None: the whole list.
    """

    undefined_without: ClassVar[str] = "usable item"


@dataclass(frozen=True)
class ExposureMetric(RecommendedMetric):
    """A number for all lists together, from the exposure of each item: how many lists have it in their top k.

    Parameters
    ----------
    k : int, optional
        The cutoff. None: the whole list.
    """

    undefined_without: ClassVar[str] = "usable list"

    def undefined_reason(self, count: int | None = None) -> str:
        """Return why so many values of `per` have no value, or the whole frame has none."""
        return f"because there is no {self.undefined_without}" if count is None else super().undefined_reason(count)

    def item_terms(self, item: ItemRow) -> Mapping[str, nw.Expr]:
        """Return what one item adds to the value of all lists, by name."""
        raise NotImplementedError
