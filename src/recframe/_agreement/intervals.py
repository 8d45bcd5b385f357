"""Intervals of means over lists, or over clusters of lists, from sums that every engine computes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from recframe._columns import CLUSTER, key_column
from recframe._comparison.describe import Options, intervals_of_means
from recframe._engines.column_spec import ColumnSpec
from recframe._lists import paired_sums as paired
from recframe._lists.clusters import check_clusters
from recframe._lists.keys import floats_of
from recframe._lists.paired_sums import UNIT_PARTS
from recframe._lists.results import new_series
from recframe._statistics import ROUNDING
from recframe.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from recframe._columns import Frame
    from recframe._engines.base import Engine

CLUSTERS = "clusters"
"""How many clusters a group of lists has."""
PARTS = ("lists", "total", "squares", "fractions")
"""What lists add to the sums of a measure."""


@dataclass(frozen=True)
class Interval(Options):
    """How intervals are requested, checked."""

    def specs(self, by: Sequence[str]) -> dict[str, ColumnSpec]:
        """Return the column of clusters to read, if it is not in the key."""
        if self.cluster is None or self.cluster in by:
            return {}
        return {CLUSTER: ColumnSpec(self.cluster, "cluster", "attribute")}

    def several(self) -> InputError:
        """Return the error for clusters that have several values within a list."""
        msg = f"`cluster={self.cluster!r}` has several values within a list"
        return InputError(msg, "give all rows of a list the same value")

    def terms(self, measures: Sequence[str]) -> dict[str, nw.Expr]:
        """Return what a list adds to the sums that the intervals of measures need."""
        terms: dict[str, nw.Expr] = {}
        for name in measures:
            value = nw.col(name)
            # 0 or more: how far a value is from 0 and from 1.
            fraction = (((value - 0.5).abs() - 0.5).abs() > ROUNDING).cast(nw.Float64())
            of_list = (value * 0 + 1, value, value * value, nw.when(~value.is_null()).then(fraction))
            terms |= dict(zip(_names(PARTS, name), of_list, strict=True))
        return terms

    def of_clusters(
        self, engine: Engine, lists: Frame, group: Sequence[str], by: Sequence[str], measures: Sequence[str]
    ) -> Frame:
        """Return the sums over clusters, a row for each group of lists, from lists with their terms."""
        cluster = key_column(by.index(self.cluster)) if self.cluster in by else CLUSTER
        of_cluster = list(dict.fromkeys([*group, cluster]))
        parts = [part for name in measures for part in _names(PARTS[:2], name)]
        sums = engine.sum_exactly(lists.select(*of_cluster, *parts), of_cluster, parts)
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
        """Add the ends of the intervals of measures, of these ranges, to a table of sums per segment."""
        if self.cluster is not None:
            lists = [_numbers(table, f"{PARTS[0]} of {name}") for name in ranges]
            check_clusters(self.cluster, per, lists, _numbers(table, CLUSTERS))
        backend = nw.get_native_namespace(table)
        for name, bounds in ranges.items():
            for column, end in zip((name_of(name) for name_of in named), self._ends(table, name, bounds), strict=True):
                table = table.with_columns(new_series(column, end, nw.Float64(), backend))
        return table

    def _ends(self, table: nw.DataFrame[Any], name: str, bounds: tuple[float, float]) -> tuple[Any, Any]:
        """Return the ends of the intervals of a measure."""
        lists, total, squares, fractions = (_numbers(table, part) for part in _names(PARTS, name))
        of_lists = (squares, total, lists, lists)
        units = of_lists if self.cluster is None else (_numbers(table, part) for part in _names(UNIT_PARTS, name))
        parts = dict.fromkeys(("lists", "weight", "weight_squares"), lists)
        parts |= {"difference": total, "squares": squares, **dict(zip(UNIT_PARTS, units, strict=True))}
        sums = paired.statistics(parts)
        return intervals_of_means(sums, self.confidence, bounds, negative=fractions < 0, fractions=fractions > 0)


def _names(parts: Sequence[str], measure: str) -> list[str]:
    return [f"{part} of {measure}" for part in parts]


def _numbers(table: nw.DataFrame[Any], column: str) -> Any:
    """Return sums as numbers; those of no list are 0."""
    return np.nan_to_num(floats_of(table[column]))
