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
    """The base of both kinds of beyond-accuracy metrics."""

    is_additive: ClassVar[bool] = False
    reads_relevance: ClassVar[bool] = False
    inexact: ClassVar[str] = "not exact: it reads one order, and another order may give another value"

    def recommended_terms(self, row: RecommendedRow) -> Mapping[str, nw.Expr]:
        """Return what one recommended item adds, by name.

        recframe evaluates the expressions for each item in the top k. A `BeyondAccuracyMetric` gets their sums within
        each list, and an `ExposureMetric` their sums for each item over all lists. Every subclass must define this
        method. Tied items are ordered by item first, because these metrics need one concrete order.

        Parameters
        ----------
        row : RecommendedRow
            The expressions of a recommended item, such as its popularity in `train` and its features.

        Returns
        -------
        mapping of str to narwhals expression
            The terms.
        """
        raise NotImplementedError

    def history_terms(self, row: HistoryRow) -> Mapping[str, nw.Expr]:  # noqa: ARG002
        """Return what one item of a user's past adds to each of the user's lists, by name.

        The items come from `train`. Calibration, for example, sums the features of past items to know what share of
        each genre a user had. `value` reads the sums under these names. Exposure metrics never call this method, since
        they have no sums of single lists. The default is no term.

        Parameters
        ----------
        row : HistoryRow
            The expressions of a past item.

        Returns
        -------
        mapping of str to narwhals expression
            The terms.
        """
        return {}


@dataclass(frozen=True)
class BeyondAccuracyMetric(RecommendedMetric):
    """A number for every list with recommended items, computed from the items in its top k.

    Such a metric reads which items are recommended, not whether they are relevant, so frames need no relevance. The
    result is the mean over lists, as for accuracy metrics, and `compare` can test it. `novelty`, `diversity` and
    `calibration` inherit from this class. Subclasses define `recommended_terms` and `value`.

    Parameters
    ----------
    k : int, default None
        The cutoff, at least 1. None: the whole list.

    See Also
    --------
    ExposureMetric : One number for all lists together.
    Metric : The base class, with all methods and attributes.
    """

    undefined_without: ClassVar[str] = "usable item"


@dataclass(frozen=True)
class ExposureMetric(RecommendedMetric):
    """One number for all lists together, computed from how many lists have each item in their top k.

    No single list has a value, so the result is no mean over lists. `compare` tests such a metric by leaving lists out,
    with ``test="t"`` only. `coverage`, `gini` and `entropy` inherit from this class. Subclasses define
    `recommended_terms`, which is summed for each item, `item_terms`, which is summed over items, and `value`.

    Parameters
    ----------
    k : int, default None
        The cutoff, at least 1. None: the whole list.

    See Also
    --------
    BeyondAccuracyMetric : A number for every list, and the mean over lists.
    Metric : The base class, with all methods and attributes.
    """

    undefined_without: ClassVar[str] = "usable list"

    def undefined_reason(self, count: int | None = None) -> str:
        """Return why segments, or the whole frame, have no value, as messages say it.

        An exposure metric has one value for all lists of a segment. It has none if no list of the segment recommends
        an item that counts. Errors under ``undefined="raise"`` and the warning that there is no value use this text.

        Parameters
        ----------
        count : int, default None
            How many segments have no value. None: the frame as a whole has none.

        Returns
        -------
        str
            Such as ``"because there is no usable list"``.
        """
        return f"because there is no {self.undefined_without}" if count is None else super().undefined_reason(count)

    def item_terms(self, item: ItemRow) -> Mapping[str, nw.Expr]:
        """Return what one item adds to the value of all lists, by name.

        recframe first sums `recommended_terms` for each item over all lists. It then evaluates these expressions once
        for each item of the catalogue, recommended or not, and sums them; `value` reads the sums. Every subclass must
        define this method.

        Parameters
        ----------
        item : ItemRow
            The expressions of an item: its sums by name, and its rank by exposure.

        Returns
        -------
        mapping of str to narwhals expression
            Such as ``{"seen": item["lists"] > 0}``.
        """
        raise NotImplementedError
