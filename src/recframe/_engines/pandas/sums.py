"""Sums of pandas frames that do not depend on the order of the rows."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recframe._engines.exact_sums import exactly_summable_parts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def exact_sums(
    frame: pd.DataFrame, group: Sequence[str], columns: Sequence[str], counted: Mapping[str, str]
) -> pd.DataFrame:
    """Return the sums of columns in each group, or over all rows without a group.

    `counted` names further columns. Each counts the values that are not missing in a column.
    """
    summands: dict[str, Any] = {name: frame[name] for name in group}
    totals: dict[str, list[str]] = {}
    for number, name in enumerate(columns):
        parts = {f"{number} {index}": part for index, part in enumerate(_parts(frame[name].to_numpy()))}
        summands |= parts
        totals[name] = [*parts]
    summands |= {f"count {name}": frame[column].notna().to_numpy() for name, column in counted.items()}
    rows: Any = pd.DataFrame(summands, index=frame.index)
    if group:
        sums = rows.groupby(list(group), dropna=False, sort=False, observed=True).sum().reset_index()
    else:
        sums = rows.sum().to_frame().T
    added: dict[str, Any] = {name: sums[name] for name in group}
    added |= {name: reduce(add, (sums[part] for part in parts)) for name, parts in totals.items()}
    added |= {name: sums[f"count {name}"] for name in counted}
    return pd.DataFrame(added)


def _parts(values: Any) -> Any:
    """Return the parts into which a column of floats is split for an exact sum; integers need only one part."""
    if values.dtype.kind != "f" or not len(values):
        return [values]
    with np.errstate(invalid="ignore"):
        return exactly_summable_parts(values, lambda part: float(np.fmax.reduce(np.abs(part))))
