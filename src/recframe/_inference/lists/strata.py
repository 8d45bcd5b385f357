"""The strata of a call's lists: sums or values of each stratum are combined into the rows of a result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from recframe._engines.postponed import is_dry
from recframe._inference.lists.keys import rows_of, segments_of
from recframe._inference.statistics.stratified import pooled
from recframe._plan.strata import STRATUM_NUMBER, STRATUM_WEIGHT, table_of_strata, warn_of_missing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import narwhals as nw
    from numpy.typing import NDArray

    from recframe._base.strata import Strata
    from recframe._plan.opened import Opened

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class StrataOfLists:
    """The strata that lists belong to.

    Attributes
    ----------
    numbers : dict
        The number of each stratum, by its value in the plan.
    names : list
        The strata, as the user's frame has them.
    weights : array of float
        Their weights, which sum to 1.
    """

    _strata: Strata
    _columns: Sequence[str]
    numbers: Mapping[Any, int]
    names: Sequence[Any]
    weights: Floats

    @classmethod
    def of(cls, context: Opened, rows: nw.DataFrame[Any]) -> Self | None:
        """Return the strata in rows that have their column; None if the call names none."""
        strata = context.query.strata
        columns = context.keys.strata
        if strata is None:
            return None
        table, names = table_of_strata(context, strata, rows)
        numbers = dict(zip(rows_of(table, columns), table[STRATUM_NUMBER].to_list(), strict=True))
        weights = np.array(table[STRATUM_WEIGHT].to_list(), dtype=np.float64)
        return cls(strata, columns, numbers, names, weights)

    def numbers_of(self, rows: nw.DataFrame[Any]) -> NDArray[np.intp]:
        """Return the number of the stratum of each row."""
        return np.array([self.numbers[row] for row in rows_of(rows, self._columns)], dtype=np.intp)

    def pooled(self, sums: Mapping[str, Floats], metrics: Sequence[str]) -> dict[str, Floats]:
        """Return each row's sums from the sums of its strata: metrics on the first axis, strata on the last."""
        lacking = np.argwhere(sums["lists"] == 0)
        if len(lacking) and not is_dry():
            metric = int(lacking[0][0])
            stratum = int(lacking[0][-1])
            warn_of_missing(self._strata, metrics[metric], self.names[stratum])
        return pooled(sums, self.weights)


def sums_of_segments(
    context: Opened, cells: nw.DataFrame[Any], sums: Mapping[str, Floats], metrics: Sequence[str]
) -> tuple[dict[str, Floats], nw.DataFrame[Any]]:
    """Return the sums of each segment, added up from its strata, and the segments.

    Parameters
    ----------
    cells : DataFrame
        A row for each segment and stratum that has a list.
    sums : dict of array
        The sums, with a row for each pair of models and a column for each row of `cells`.
    metrics : sequence of str
        The metric of each pair.
    """
    (column,) = context.keys.strata
    # Lists without a stratum matter if they have a value.
    counted = np.flatnonzero((sums["lists"] > 0).any(axis=0) | ~cells[column].is_null().to_numpy().astype(bool))
    cells = cells[counted.tolist()]
    sums = {name: array[:, counted] for name, array in sums.items()}
    strata = StrataOfLists.of(context, cells)
    if strata is None:
        return dict(sums), cells.select(*context.keys.per)
    reported, segments = segments_of(cells, context.keys.per)
    count = len(reported) if context.keys.per else 1
    strata_numbers = strata.numbers_of(cells)
    spread = {}
    for name, array in sums.items():
        spread[name] = np.zeros((len(array), count, len(strata.names)))
        spread[name][:, segments, strata_numbers] = array
    return strata.pooled(spread, metrics), reported
