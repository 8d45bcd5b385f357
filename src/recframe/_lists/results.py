"""From statistics to a frame of the kind given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from recframe._columns import MODEL
from recframe._query import check_apart

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from recframe._plan.plan import Plan

COUNTS = frozenset([
    "tests", "seen", "clusters", "lists", "lists_careful", "lists_equivalent", "baseline_lists", "undefined",
    "wins", "ties", "losses", "rank", "rank_low", "rank_high", "human_lists", "judge_lists",
])  # fmt: skip
"""The columns of whole numbers."""
FLAGS = frozenset(["tied_with_best"])
"""The columns of true and false."""
NAMES = ("metric", "model", "baseline", "verdict", "changed")
"""The columns of text."""
INTERNAL = "result {}"
"""What a column is called until the frame is finished: the plan's own columns have meanings of their own."""


def stacked(
    reported: nw.DataFrame[Any], rows: Sequence[Mapping[str, Any]], columns: Sequence[str]
) -> nw.DataFrame[Any]:
    """Return the rows of a result, one for each of the reported values and statistics, in this order.

    Parameters
    ----------
    reported : DataFrame
        The values of `per`; a frame without columns for the whole.
    rows : sequence of dict
        The statistics: a name for all, or an array with an entry for each reported value.
    columns : sequence of str
        The columns of the result.
    """
    backend = nw.get_native_namespace(reported).__name__
    columns_of: list[nw.Series[Any]] = []
    for name in columns:
        label = INTERNAL.format(name)
        if name in NAMES:
            # All at once, as a missing name alone has no type.
            values = [each for row in rows for each in _texts(row[name], len(row["lists"]))]
            mixed = len({*map(type, values)} - {type(None)}) > 1
            columns_of.append(nw.new_series(label, values, nw.Object() if mixed else None, backend=backend))
        elif name in FLAGS:
            flags = [flag for row in rows for flag in row[name].tolist()]
            columns_of.append(nw.new_series(label, flags, nw.Boolean(), backend=backend))
        else:
            numbers = [None if x != x else x for row in rows for x in row[name].tolist()]  # noqa: PLR0124 - NaN
            # A missing count is a float in pandas.
            whole = name in COUNTS and (backend != "pandas" or None not in numbers)
            dtype = nw.Int64() if whole else nw.Float64()
            columns_of.append(nw.new_series(label, numbers, nw.Float64(), backend=backend).cast(dtype))
    if not reported.columns:
        return columns_of[0].to_frame().with_columns(*columns_of)
    return nw.concat([reported] * len(rows), how="vertical").with_columns(*columns_of)


def _texts(value: Any, count: int) -> list[Any]:
    """Return a name for each reported value, or the texts of each."""
    texts: list[Any] = value.tolist() if isinstance(value, np.ndarray) else [value] * count
    return texts


def result_frame(
    plan: Plan,
    compute: Callable[[], nw.DataFrame[Any]],
    columns: Sequence[str],
    kinds: Mapping[str, type] | None = None,
    *,
    named_by_text: bool = False,
) -> Any:
    """Return a result as a frame of the kind given.

    DuckDB, Ibis and Spark compute statistics at once, and the result is a polars frame or an Arrow table. `kinds` are
    the types of the columns of a result that is no table of statistics: that of DuckDB, Ibis and Spark is a frame
    of these. Models have the type of the column that names them, or are `named_by_text`.
    """
    context = plan.context
    check_apart([*context.query.per, *columns])
    names = {name: column for name, column in context.names.items() if name in context.keys.per}
    names |= zip(map(INTERNAL.format, columns), columns, strict=True)

    def finished() -> Any:
        return context.session.finish(compute().lazy(), names, context.keys.per)

    def schema() -> Any:
        types = plan.frame().collect_schema()
        model = str if named_by_text else types.get(MODEL, str)
        of_columns = kinds or {name: _type(name, model) for name in columns}
        reported = {column: types[column] for column in context.query.per}
        return type(types)(reported | dict(of_columns))

    answer = context.engine.computed(finished, schema)
    if answer is not None:
        return answer
    result = compute().rename(names)
    return context.engine.in_kind(result) if kinds else result.to_native()


def _type(name: str, model: Any) -> Any:
    """Return the type of a column of a result; models have the type of the column that names them."""
    if name in NAMES:
        return model if name in ("model", "baseline") else str
    return bool if name in FLAGS else int if name in COUNTS else float


def new_series(name: str, values: Any, dtype: Any, backend: Any) -> nw.Series[Any]:
    """Return a column of text or of numbers, whole ones as such, NaN as missing."""
    if dtype == nw.String():
        return nw.new_series(name, list(values), dtype, backend=backend)
    numbers = np.asarray(values, dtype=np.float64)
    if dtype == nw.Int64():
        return nw.new_series(name, numbers.astype(np.int64), dtype, backend=backend)
    return nw.new_series(name, numbers, dtype, backend=backend).fill_nan(None)
