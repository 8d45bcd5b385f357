"""The values of exposure metrics, which all lists share, computed from what the lists add to each item."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from recframe._base.columns import CATALOG_SIZE, order_column
from recframe._base.roles import Roles
from recframe._engines.postponed import is_dry
from recframe._inference.lists.sums import ranks_by
from recframe._plan.collect_terms import requirements_of
from recframe._plan.query import Query
from recframe.errors import UndefinedError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from recframe.metrics import Metric

    Floats = NDArray[np.float64]

ITEM_SUM_COLUMNS = ("total", "weighted_total")
"""The columns of a state that hold an item's sums, in the order of the metric's terms."""


def refuse_undefined(values: Floats, record: Metric, name: str, undefined: str | float) -> None:
    """Raise for missing values of a metric if `undefined=` demands them; `values` has segments by models."""
    missing = np.isnan(values)
    if is_dry():
        return
    if missing.any() if undefined == "raise" else undefined == "raise_all" and missing.all(axis=0).any():
        have = "has no value" if missing.all() else f"has {missing.sum():,} undefined of {values.size:,} values"
        msg = f"{name} {have}, {record.undefined_reason()}"
        raise UndefinedError(msg, "`undefined='skip'` gives a missing value, `undefined=0.0` the number 0")


def value_of_items(
    record: Metric, columns: Mapping[str, Floats], codes: Any, count: int, size: float, backend: Any
) -> Floats:
    """Return the value of an exposure metric for each group of lists, NaN if it is undefined.

    Parameters
    ----------
    record : Metric
        The metric.
    columns : dict
        The sums of each item over the lists of its group, by the names in `ITEM_SUM_COLUMNS`.
    codes : array of int
        The group of each item.
    count : int
        How many groups there are.
    size : float
        The number of items in the catalogue.
    backend : str or module
        The library that computes.
    """
    requirements = requirements_of([record], Query.of(Roles()), 0, truth=False)
    (terms,) = requirements.exposure
    named = {column: columns[name] for name, column in zip(ITEM_SUM_COLUMNS, terms.recommended.by_column, strict=False)}
    orders = {order_column(column): _ranks_of_recommended(codes, array) for column, array in named.items()}
    items = nw.from_dict({"item": codes, **named, **orders}, backend=backend)
    items = items.select(*(term.cast(nw.Float64()).alias(name) for name, term in requirements.items.by_column.items()))
    sums = {name: np.bincount(codes, items[name].to_numpy(), count) for name in items.columns}
    lists = nw.from_dict({**sums, CATALOG_SIZE: np.full(count, size)}, backend=backend)
    value = requirements.values[record.label].where_defined(eager=True)
    return np.asarray(lists.select(value)[record.column].to_numpy(), dtype=np.float64)


def _ranks_of_recommended(codes: Any, sums: Floats) -> Floats:
    """Return the rank of each item among the recommended items of its group, from 1 for the smallest sum.

    Items with equal sums share their mean rank. Items that are not recommended have rank 0, as in `ItemRow.order`.
    """
    recommended = np.flatnonzero(sums > 0)
    ranks = np.zeros(len(sums))
    ranks[recommended] = ranks_by(codes[recommended], sums[recommended], "average")
    return ranks
