"""From statistics to the frame of a result, of the same kind as the user's frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from recframe._base.columns import MODEL
from recframe._plan.query import check_apart

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from recframe._plan.plan import Plan

COUNTS = frozenset([
    "tests", "seen", "clusters", "lists", "lists_careful", "lists_equivalent", "baseline_lists", "undefined",
    "wins", "ties", "losses", "rank", "rank_low", "rank_high", "human_lists", "judge_lists", "runs", "baseline_runs",
])  # fmt: skip
"""The columns of whole numbers."""
FLAGS = frozenset(["tied_with_best", "same_order"])
"""The columns of true and false."""
TEXTS = ("metric", "model", "baseline", "verdict", "changed")
"""The columns of text."""
INTERNAL = "result {}"
"""The name of a result's column until the frame is finished, so that it differs from the plan's own columns."""


def stacked(
    reported: nw.DataFrame[Any], rows: Sequence[Mapping[str, Any]], columns: Sequence[str]
) -> nw.DataFrame[Any]:
    """Return the rows of a result: for each entry in `rows`, one row per segment.

    Parameters
    ----------
    reported : DataFrame
        One row per segment, with the columns of `per`; a frame without columns if there is only one segment.
    rows : sequence of dict
        The statistics by their names: a text for all segments, or an array with one entry per segment.
    columns : sequence of str
        The columns of the result.
    """
    backend = nw.get_native_namespace(reported).__name__
    series: list[nw.Series[Any]] = []
    for name in columns:
        label = INTERNAL.format(name)
        if name in TEXTS:
            # One series for all rows, because a series of missing names alone would have no type.
            values = [text for row in rows for text in _texts(row[name], len(row["lists"]))]
            mixed = len({*map(type, values)} - {type(None)}) > 1
            series.append(nw.new_series(label, values, nw.Object() if mixed else None, backend=backend))
        elif name in FLAGS:
            flags = [flag for row in rows for flag in row[name].tolist()]
            series.append(nw.new_series(label, flags, nw.Boolean(), backend=backend))
        else:
            numbers = [None if x != x else x for row in rows for x in row[name].tolist()]  # noqa: PLR0124 - NaN
            # pandas cannot store a missing integer, so counts with missing values are floats there.
            is_integer = name in COUNTS and (backend != "pandas" or None not in numbers)
            dtype = nw.Int64() if is_integer else nw.Float64()
            series.append(nw.new_series(label, numbers, nw.Float64(), backend=backend).cast(dtype))
    if not reported.columns:
        return series[0].to_frame().with_columns(*series)
    return nw.concat([reported] * len(rows), how="vertical").with_columns(*series)


def _texts(value: Any, count: int) -> list[Any]:
    """Return one text per segment."""
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
    """Return a result as a frame of the user's kind.

    For DuckDB, Ibis and Spark, statistics are computed immediately, as a polars frame or an Arrow table. If the result
    is no table of statistics, `kinds` holds the types of its columns, and the result is a frame of the database again.
    Models have the type of the column that names them, or are text if `named_by_text`.
    """
    context = plan.context
    check_apart([*context.query.per, *columns])
    names = {name: column for name, column in context.names.items() if name in context.keys.per}
    names |= zip(map(INTERNAL.format, columns), columns, strict=True)

    def finished() -> Any:
        return context.session.finish(compute().lazy(), names, context.keys.per)

    def schema() -> Any:
        types = plan.frame().collect_schema()
        model = str if named_by_text else _type_of_names(types.get(MODEL, str))
        column_types = kinds or {name: _type(name, model) for name in columns}
        reported = {column: types[column] for column in context.query.per}
        return type(types)(reported | dict(column_types))

    postponed = context.engine.computed(finished, schema)
    if postponed is not None:
        return postponed
    result = compute().rename(names)
    return context.engine.in_kind(result) if kinds else result.to_native()


def _type_of_names(dtype: Any) -> Any:
    """Return the type of a column of models in a result, which is made of Python values: text for categories."""
    kind = dtype.to_python() if hasattr(dtype, "to_python") else dtype
    return kind if kind in (str, int, float) else dtype


def _type(name: str, model: Any) -> Any:
    """Return the Python type of a result's column; `model` is the type of models' names."""
    if name in ("model", "baseline"):
        return model
    if name in TEXTS:
        return str
    if name in FLAGS:
        return bool
    return int if name in COUNTS else float


def new_series(name: str, values: Any, dtype: Any, backend: Any) -> nw.Series[Any]:
    """Return a column of text, integers or floats; NaN becomes missing."""
    if dtype == nw.String():
        return nw.new_series(name, list(values), dtype, backend=backend)
    numbers = np.asarray(values, dtype=np.float64)
    if dtype == nw.Int64():
        return nw.new_series(name, numbers.astype(np.int64), dtype, backend=backend)
    return nw.new_series(name, numbers, dtype, backend=backend).fill_nan(None)
