"""The values of metrics of all lists together, from the numbers of recommendations of each item in states."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recframe._inference.lists.item_values import ITEM_SUM_COLUMNS, refuse_undefined, value_of_items
from recframe.errors import InputError
from recframe.profiles._spec import spec_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recframe._inference.states.merging import Rows

    Floats = NDArray[np.float64]


def values_of_items(rows: Rows, metric: str) -> list[float | None]:
    """Return the values of a metric of all lists together, for each model of each segment of merged states.

    A value is None if it is undefined, unless the call had a number for undefined values.
    """
    definition = rows.definitions[metric]
    record = spec_of(definition["record"]).metric
    parts = [rows.items(segment, metric, model) for segment in rows.segments for model in rows.models]
    codes = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    columns = {name: np.concatenate([rows.sums_of(part, name) for part in parts]) for name in ITEM_SUM_COLUMNS}
    # Items that are not in the catalogue have a sum of 0.
    used = len({*rows.names_of_items(np.concatenate(parts).astype(int)[columns["total"] != 0])})
    # Sort first: the order of a sum changes its last bits.
    order = np.lexsort((*columns.values(), codes))
    codes = codes[order]
    columns = {name: array[order] for name, array in columns.items()}
    size = len(rows.catalog(metric)) if definition["catalog"] is None else definition["catalog"]
    if record.reads_catalog and used > size:
        msg = f"catalog={size} is less than the {used} items that the lists of all states recommend"
        raise InputError(msg, "make the states with the number of all items that could be recommended")
    numbers = value_of_items(record, columns, codes, len(parts), float(size), rows.backend)
    undefined = definition["undefined"]
    refuse_undefined(numbers.reshape(-1, len(rows.models)), record, metric, undefined)
    replacement = undefined if isinstance(undefined, float) else None
    return [replacement if value != value else value for value in numbers.tolist()]  # noqa: PLR0124 - NaN
