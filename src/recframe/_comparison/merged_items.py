"""The values of all lists together, from how often the states of parts say that each item is recommended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from recframe._arguments import Roles
from recframe._columns import CATALOG_SIZE, order_column
from recframe._comparison.state_items import HELD_IN
from recframe._plan.collect_terms import requirements_of
from recframe._query import Query
from recframe.errors import InputError, UndefinedError
from recframe.profiles._spec import spec_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recframe._comparison.merging import Rows

    Floats = NDArray[np.float64]


def values_of_items(rows: Rows, metric: str) -> list[float | None]:
    """Return the values of a metric of all lists together, for each segment and model of merged states."""
    definition = rows.definition_of(metric)
    record = spec_of(definition["record"]).metric
    requirements = requirements_of([record], Query.of(Roles()), 0, truth=False)
    (terms,) = requirements.exposure
    parts = [rows.items(segment, metric, model) for segment in rows.segments for model in rows.models]
    codes = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    columns = {
        column: np.concatenate([rows.sums_of(part, name) for part in parts])
        for name, column in zip(HELD_IN, terms.recommended.by_column, strict=False)
    }
    backend = rows.backend
    places = {order_column(column): _places(codes, array, len(parts)) for column, array in columns.items()}
    items = nw.from_dict({"item": codes, **columns, **places}, backend=backend)
    items = items.select(*(term.cast(nw.Float64()).alias(name) for name, term in requirements.items.by_column.items()))
    sums = {name: np.bincount(codes, items[name].to_numpy(), len(parts)) for name in items.columns}
    size = len(rows.catalog(metric)) if definition["catalog"] is None else definition["catalog"]
    used = len({*rows.names_of_items(np.concatenate(parts).astype(int))})
    if used > size:
        msg = f"catalog={size} is less than the {used} items that the lists of all states recommend"
        raise InputError(msg, "make the states with the number of all items that could be recommended")
    lists = nw.from_dict({**sums, CATALOG_SIZE: np.full(len(parts), float(size))}, backend=backend)
    value = requirements.values[record.label].where_defined(eager=True)
    numbers = np.asarray(lists.select(value)[record.column].to_numpy(), dtype=np.float64)
    undefined = definition["undefined"]
    if undefined == "raise" and np.isnan(numbers).any():
        msg = f"{int(np.isnan(numbers).sum())} values of {metric} are undefined {record.undefined_reason()}"
        raise UndefinedError(msg, "make the states with undefined='skip' or a number")
    other = undefined if isinstance(undefined, float) else None
    return [other if value != value else value for value in numbers.tolist()]  # noqa: PLR0124 - NaN


def _places(codes: Any, sums: Floats, count: int) -> Floats:
    """Return the place of each item, from 1, among the recommended ones of its group in ascending order of sums.

    Items of equal sums share their mean place, and one that is not recommended has 0, as `ItemRow.order` has it.
    """
    from scipy.stats import rankdata

    ranks = np.zeros(len(sums))
    for code in range(count):
        own = np.flatnonzero((codes == code) & (sums > 0))
        ranks[own] = rankdata(sums[own])
    return ranks
