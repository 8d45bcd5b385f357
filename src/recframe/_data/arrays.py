"""Arrays instead of a frame: labels and predictions, row by row, as estimators and boosters hold them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, overload

import narwhals as nw

from recframe._base.defaults import BY, ITEM, RELEVANT, SCORE, columns_or_defaults
from recframe._base.signatures import checked_call
from recframe._engines.registry import constructors_for
from recframe.errors import DataWarning, InputError, OptionError, OptionTypeError, check_packages, quoted, warn

if TYPE_CHECKING:
    from collections.abc import Collection

    import pandas as pd
    import polars as pl
    from numpy.typing import ArrayLike, NDArray

    from recframe._engines.constructors import Constructors


@overload
def from_arrays(
    relevant: Any, score: Any, *, by: Any = ..., item: Any = ..., library: Literal["polars"]
) -> pl.DataFrame: ...
@overload
def from_arrays(
    relevant: Any, score: Any, *, by: Any = ..., item: Any = ..., library: Literal["pandas"]
) -> pd.DataFrame: ...
@overload
def from_arrays(relevant: Any, score: Any, *, by: Any = ..., item: Any = ..., library: str | None = ...) -> Any: ...


@checked_call
def from_arrays(
    relevant: Any,
    score: Any,
    *,
    by: ArrayLike | None = None,
    item: ArrayLike | None = None,
    library: str | None = None,
) -> Any:
    """Return labels and predictions as a long frame, ready for every metric.

    Parameters
    ----------
    relevant : array of shape (rows,) or (lists, items)
        The relevance of each row: 0 or 1, or grades. A matrix has a row for each list and a column for each item; it
        may be sparse.
    score : array of the same shape, or mapping of str to such arrays
        The score of each row, or a mapping from each model to its scores. Sparse scores alone give a row per
        stored cell. Otherwise what sparse scores do not hold was not recommended, and what a sparse relevance does
        not hold is 0.
    by : array, optional
        Which list each row is in: as many ids as there are rows, in any order. Else the sizes of the lists, whose rows
        follow each other, as boosters have it; they sum to the number of rows. None: all rows are one list. Of
        matrices: the id of each list; None: numbers from 0.
    item : array, optional
        The id of each column of matrices; None: numbers from 0.
    library : {"polars", "pandas"}, default None
        The library of the frame; None: polars if it is installed, otherwise pandas.

    Returns
    -------
    frame
        The columns ``user`` (the id of the list, or its number from 0), of matrices ``item``, then ``relevant``, and
        ``score`` or one column for each model; they are named as `recframe.Config` names them.

    Raises
    ------
    InputError
        The arrays have different lengths, or the sizes do not sum to the number of rows.

    Examples
    --------
    >>> import recframe
    >>> frame = recframe.from_arrays([0, 1, 1, 0], [0.9, 0.8, 0.7, 0.3], by=[3, 1])
    >>> frame.rows()
    [(0, 0, 0.9), (0, 1, 0.8), (0, 1, 0.7), (1, 0, 0.3)]
    >>> frame.rec.mrr()
    0.5
    >>> recframe.from_arrays([[0, 1], [1, 0]], [[0.9, 0.8], [0.7, 0.3]], item=["tea", "jam"]).rows()
    [(0, 'tea', 0, 0.9), (0, 'jam', 1, 0.8), (1, 'tea', 1, 0.7), (1, 'jam', 0, 0.3)]
    """
    make = constructors_for((), library)
    names = columns_of_arrays()
    scores = score if isinstance(score, Mapping) else {names["score"]: score}
    if not scores:
        msg = f"score={quoted(score)} names no model"
        raise OptionError(msg, "score={'old': predictions, 'new': others}")
    taken = (names["by"], names["relevant"])
    for name in scores:
        if not isinstance(name, str) or name in taken:
            listed = " and ".join(map(repr, taken))
            msg = f"score has the model {quoted(name)}, but models are named by text other than {listed}"
            raise OptionTypeError(msg, "score={'old': predictions, 'new': others}")
    check_packages("from_arrays", "stats", "numpy")
    from recframe._data.matrices import is_matrix

    if is_matrix(relevant) and any(map(is_matrix, scores.values())):
        return _frame_of_matrices(make, names, relevant, scores, by, item)
    if item is not None:
        msg = "item= names the columns of matrices, but relevant and score are no matrices"
        raise OptionError(msg, "give matrices with a row for each list, or add the column to the frame")
    columns: dict[str, Any] = {names["relevant"]: array_of("relevant", relevant)}
    rows = len(columns[names["relevant"]])
    for name, values in scores.items():
        called = f"score[{name!r}]" if isinstance(score, Mapping) else "score"
        columns[name] = array_of(called, values)
        if len(columns[name]) != rows:
            msg = f"{called} has {len(columns[name])} rows, but relevant has {rows}"
            raise InputError(msg, "give the predictions of the same rows, in the same order")
    _check_swapped(columns, names["relevant"], scores)
    return make.table({names["by"]: _lists(by, rows), **columns})


def _frame_of_matrices(
    make: Constructors, names: Mapping[str, str], relevant: Any, scores: Mapping[str, Any], by: Any, item: Any
) -> Any:
    """Return the cells of matrices as a frame."""
    from recframe._data.matrices import cells, is_sparse, shape_of

    called = {f"score[{name!r}]" if len(scores) > 1 else "score": values for name, values in scores.items()}
    lists, items, relevance, scores_of_cells = cells(relevant, called, array_of)
    item_name = columns_or_defaults(item=ITEM)["item"]
    columns = {names["relevant"]: relevance, **dict(zip(scores, scores_of_cells.values(), strict=True))}
    if item_name in (names["by"], *columns):
        msg = f"the column of items would have the name {item_name!r} of another one"
        raise OptionError(msg, "name the models otherwise")
    _check_swapped(columns, names["relevant"], scores)
    count, width = shape_of(relevant)
    keys = {names["by"]: _named("by", by, lists, count), item_name: _named("item", item, items, width)}
    frame = make.table({**keys, **columns})
    sparse_models = [name for name, values in scores.items() if is_sparse(values)]
    if not sparse_models:
        return frame
    # A cell that is not stored is an item that was not recommended: its score is missing, not NaN.
    return nw.from_native(frame).with_columns(nw.col(*sparse_models).fill_nan(None)).to_native()


def _check_swapped(columns: Mapping[str, NDArray[Any]], relevant: str, scores: Collection[str]) -> None:
    """Warn if predictions and labels seem to be swapped."""
    binary = all(((columns[name] == 0) | (columns[name] == 1)).all() for name in scores)
    if binary and (columns[relevant] % 1 > 0).any():
        msg = "relevant has fractions and score only 0 and 1, as if they were swapped: from_arrays(relevant, score)"
        warn(msg, DataWarning)


def columns_of_arrays() -> dict[str, str]:
    """Return what frames of arrays call their columns: as `recframe.Config` does where it names one."""
    names = columns_or_defaults(by=BY, relevant=RELEVANT, score=SCORE)
    return {**names, "by": names["by"] if isinstance(names["by"], str) else str(BY)}


def array_of(name: str, values: Any, *, numbers: bool = True) -> NDArray[Any]:
    """Return an array with one dimension. An array with a single column becomes this column."""
    check_packages("from_arrays", "stats", "numpy")
    import numpy as np

    from recframe._data.matrices import on_host

    values = on_host(values)
    if np.ma.is_masked(values):
        msg = f"{name} has masked values, and a mask says nothing of what they are"
        raise InputError(msg, "fill them, as with values.filled(numpy.nan), or leave their rows out")
    try:
        column = np.asarray(values)
        if numbers and column.dtype.kind not in "biuf":
            # Neither text nor times nor complex numbers are relevance or scores.
            is_text = column.dtype.kind == "O" and any(isinstance(each, str | bytes) for each in column.flat)
            column = column.astype(np.float64, casting="safe" if is_text or column.dtype.kind in "cmMSU" else "unsafe")
    except (TypeError, ValueError, OverflowError, RecursionError):
        msg = f"{name}={quoted(values)} is no array of numbers"
        raise InputError(msg, "give one number for each row") from None
    column = column[:, 0] if column.ndim == 2 and column.shape[1] == 1 else column  # noqa: PLR2004
    if column.ndim != 1:
        msg = f"{name} has the shape {column.shape}, but has one value for each row"
        hint = f"give one column, such as {name}[:, 1], the probability of the second class"
        if name == "relevant" and column.ndim == 2:  # noqa: PLR2004
            hint = "of lists as rows and items as columns, give the truth first, then scores of the same shape"
        raise InputError(msg, hint)
    return column


def _named(name: str, ids: Any, numbers: NDArray[Any], count: int) -> NDArray[Any]:
    """Return the ids of rows or columns of a matrix, or their numbers."""
    if ids is None:
        return numbers
    values = array_of(name, ids, numbers=False)
    if len(values) != count:
        msg = f"{name} has {len(values)} ids, but the matrices have {count} {'rows' if name == 'by' else 'columns'}"
        raise InputError(msg, "give one id for each of them, in the same order")
    named: NDArray[Any] = values[numbers]
    return named


def _lists(by: Any, rows: int) -> NDArray[Any]:
    """Return the list of each row."""
    import numpy as np

    if by is None:
        return np.zeros(rows, dtype=np.int64)
    ids = array_of("by", by, numbers=False)
    if ids.dtype.kind == "O" and not all(isinstance(each, str | int | None) for each in ids):
        msg = f"by={quoted(by)} holds neither text nor numbers"
        raise InputError(msg, "give the id of each row's list, or the sizes of the lists")
    if ids.dtype.kind == "f" and (np.abs(ids) >= 2**53).any():
        msg = f"by={quoted(by)} holds whole numbers above 2**53 as floats, which round them"
        raise InputError(msg, "fill missing ids, so that the array has whole numbers, or give the ids as text")
    if len(ids) == rows:
        return ids
    if ids.dtype.kind not in "iu" or (ids < 0).any() or ids.sum() != rows:
        detail = f" that sum to {ids.sum()}" if ids.dtype.kind in "iu" else ""
        detail = f" of type {ids.dtype}" if ids.dtype.kind == "f" else detail
        msg = f"by has {len(ids)} values{detail}, but there are {rows} rows"
        sizes = "the sizes of the lists, whole numbers that sum to the number of rows"
        raise InputError(msg, f"give the list of each row, or {sizes}")
    return np.repeat(np.arange(len(ids)), ids)
