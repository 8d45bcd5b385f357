"""Confidence intervals of the measures' means over lists, or over clusters of lists, from sums on any engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from recframe._base.columns import CLUSTER, key_column
from recframe._base.values import ROUNDING
from recframe._engines.column_spec import ColumnSpec
from recframe._inference.comparison.describe import Options, intervals_of_means
from recframe._inference.lists import paired_sums as paired
from recframe._inference.lists.clusters import check_clusters
from recframe._inference.lists.keys import floats_of
from recframe._inference.lists.paired_sums import UNIT_PARTS
from recframe._inference.lists.results import new_series
from recframe.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from recframe._base.columns import Frame
    from recframe._engines.base import Engine

CLUSTERS = "clusters"
"""The column with the number of clusters in a group of lists."""
PARTS = ("lists", "total", "squares", "fractions")
"""The sums over lists that the interval of a measure reads."""


@dataclass(frozen=True)
class Interval(Options):
    """The checked options of intervals, and their computation."""

    def specs(self, by: Sequence[str]) -> dict[str, ColumnSpec]:
        """Return the spec of the cluster column, empty if it is in the key or left out."""
        if self.cluster is None or self.cluster in by:
            return {}
        return {CLUSTER: ColumnSpec(self.cluster, "cluster", "attribute")}

    def several(self) -> InputError:
        """Return the error for clusters that have several values within a list."""
        msg = f"`cluster={self.cluster!r}` has several values within a list"
        return InputError(msg, "give all rows of a list the same value")

    def terms(self, measures: Sequence[str]) -> dict[str, nw.Expr]:
        """Return the terms that a list adds to the sums that intervals read."""
        terms: dict[str, nw.Expr] = {}
        for name in measures:
            value = nw.col(name)
            count = value * 0 + 1  # missing if the value is missing, like the other terms
            # 1 if the value is neither 0 nor 1. The distance of 0 and 1 from 0.5 is 0.5.
            fraction = (((value - 0.5).abs() - 0.5).abs() > ROUNDING).cast(nw.Float64())
            list_terms = (count, value, value * value, nw.when(~value.is_null()).then(fraction))
            terms |= dict(zip(_names(PARTS, name), list_terms, strict=True))
        return terms

    def cluster_sums(
        self, engine: Engine, lists: Frame, group: Sequence[str], by: Sequence[str], measures: Sequence[str]
    ) -> Frame:
        """Return the sums over clusters, one row per group of lists, from lists with their terms."""
        cluster = key_column(by.index(self.cluster)) if self.cluster in by else CLUSTER
        cluster_key = list(dict.fromkeys([*group, cluster]))
        parts = [part for name in measures for part in _names(PARTS[:2], name)]
        sums = engine.sum_exactly(lists.select(*cluster_key, *parts), cluster_key, parts)
        units: dict[str, nw.Expr] = {CLUSTERS: nw.lit(1.0)}
        for name in measures:
            count, total = (nw.col(part) for part in _names(PARTS[:2], name))
            units |= dict(zip(_names(UNIT_PARTS, name), paired.of_unit(total, count).values(), strict=True))
        return engine.sum_exactly(sums.with_columns(**units), group, [*units])

    def with_ends(
        self,
        table: nw.DataFrame[Any],
        ranges: Mapping[str, tuple[float, float]],
        named: Sequence[Callable[[str], str]],
        per: Sequence[str],
    ) -> nw.DataFrame[Any]:
        """Add the ends of each measure's interval to a table of sums per segment.

        `ranges` holds the range of each measure, and `named` makes the names of the two ends from a measure's name.
        """
        if self.cluster is not None:
            lists = [_numbers(table, f"{PARTS[0]} of {name}") for name in ranges]
            check_clusters(self.cluster, per, lists, _numbers(table, CLUSTERS))
        backend = nw.get_native_namespace(table)
        for name, bounds in ranges.items():
            for column, end in zip((name_of(name) for name_of in named), self._ends(table, name, bounds), strict=True):
                table = table.with_columns(new_series(column, end, nw.Float64(), backend))
        return table

    def _ends(self, table: nw.DataFrame[Any], name: str, bounds: tuple[float, float]) -> tuple[Any, Any]:
        """Return the low and the high ends of a measure's intervals, one per row of the table."""
        lists, total, squares, fractions = (_numbers(table, part) for part in _names(PARTS, name))
        if self.cluster is None:
            units = [squares, total, lists, lists]
        else:
            units = [_numbers(table, part) for part in _names(UNIT_PARTS, name)]
        parts = dict.fromkeys(("lists", "weight", "weight_squares"), lists)
        parts |= {"difference": total, "squares": squares, **dict(zip(UNIT_PARTS, units, strict=True))}
        sums = paired.statistics(parts)
        # The bounds of all measures are finite, so whether a value is negative does not matter.
        return intervals_of_means(sums, self.confidence, bounds, negative=False, fractions=fractions > 0)


def _names(parts: Sequence[str], measure: str) -> list[str]:
    """Return the columns of a measure's sums."""
    return [f"{part} of {measure}" for part in parts]


def _numbers(table: nw.DataFrame[Any], column: str) -> Any:
    """Return a column of sums as an array. A sum over no list is 0."""
    return np.nan_to_num(floats_of(table[column]))
