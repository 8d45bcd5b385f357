"""Arrays instead of a frame: labels and predictions, row by row, as estimators and boosters hold them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, overload

from recframe._defaults import BY, RELEVANT, SCORE, columns_or_defaults
from recframe._engines.registry import constructors_for
from recframe._signatures import checked_call
from recframe.errors import DataWarning, InputError, OptionError, OptionTypeError, check_packages, quoted, stack_level

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from numpy.typing import ArrayLike, NDArray


@overload
def from_arrays(relevant: ArrayLike, score: Any, *, by: Any = ..., library: Literal["polars"]) -> pl.DataFrame: ...
@overload
def from_arrays(relevant: ArrayLike, score: Any, *, by: Any = ..., library: Literal["pandas"]) -> pd.DataFrame: ...
@overload
def from_arrays(relevant: ArrayLike, score: Any, *, by: Any = ..., library: str | None = ...) -> Any: ...


@checked_call
def from_arrays(
    relevant: ArrayLike,
    score: ArrayLike | Mapping[str, ArrayLike],
    *,
    by: ArrayLike | None = None,
    library: str | None = None,
) -> Any:
    """Return labels and predictions as a long frame, ready for every metric.

    Parameters
    ----------
    relevant : array of shape (rows,)
        The relevance of each row: 0 or 1, or grades.
    score : array of shape (rows,), or mapping of str to such arrays
        The score of each row, or those of several models by their names.
    by : array, optional
        Which list each row is in: as many ids as there are rows, in any order. Else the sizes of the lists, whose rows
        follow each other, as boosters have it; they sum to the number of rows. None: all rows are one list.
    library : {"polars", "pandas"}, optional
        What makes the frame; None: polars where it is installed, else pandas.

    Returns
    -------
    frame
        The columns ``user`` (the id of the list, or its number from 0), ``relevant``, and ``score`` or one column for
        each model; they are named as `recframe.Config` names them.

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
    """
    make = constructors_for((), library)
    names = columns_of_arrays()
    columns: dict[str, Any] = {names["relevant"]: array_of("relevant", relevant)}
    rows = len(columns[names["relevant"]])
    scores = score if isinstance(score, Mapping) else {names["score"]: score}
    if not scores:
        msg = f"score={quoted(score)} names no model"
        raise OptionError(msg, "score={'old': predictions, 'new': others}")
    for name, values in scores.items():
        taken = (names["by"], names["relevant"])
        if not isinstance(name, str) or name in taken:
            listed = " and ".join(map(repr, taken))
            msg = f"score has the model {quoted(name)}, but models are named by text other than {listed}"
            raise OptionTypeError(msg, "score={'old': predictions, 'new': others}")
        called = f"score[{name!r}]" if isinstance(score, Mapping) else "score"
        columns[name] = array_of(called, values)
        if len(columns[name]) != rows:
            msg = f"{called} has {len(columns[name])} rows, but relevant has {rows}"
            raise InputError(msg, "give the predictions of the same rows, in the same order")
    binary = all(((columns[name] == 0) | (columns[name] == 1)).all() for name in scores)
    if binary and (columns[names["relevant"]] % 1 > 0).any():
        msg = "relevant has fractions and score only 0 and 1, as if they were swapped: from_arrays(relevant, score)"
        warnings.warn(msg, DataWarning, stacklevel=stack_level())
    return make.table({names["by"]: _lists(by, rows), **columns})


def columns_of_arrays() -> dict[str, str]:
    """Return what frames of arrays call their columns: as `recframe.Config` does where it names one."""
    names = columns_or_defaults(by=BY, relevant=RELEVANT, score=SCORE)
    return {**names, "by": names["by"] if isinstance(names["by"], str) else str(BY)}


def array_of(name: str, values: Any, *, numbers: bool = True) -> NDArray[Any]:
    """Return an array of one dimension; one of a single column is that column."""
    check_packages("from_arrays", "stats", "numpy")
    import numpy as np

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
            rows, size = column.shape
            call = f"from_arrays(numpy.ravel(truth), numpy.ravel(scores), by=[{size}] * {rows})"
            hint = f"of lists as rows, the truth first, then the scores: {call}"
        raise InputError(msg, hint)
    return column


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
        of = f" that sum to {ids.sum()}" if ids.dtype.kind in "iu" else ""
        of = f" of type {ids.dtype}" if ids.dtype.kind == "f" else of
        msg = f"by has {len(ids)} values{of}, but there are {rows} rows"
        sizes = "the sizes of the lists, whole numbers that sum to the number of rows"
        raise InputError(msg, f"give the list of each row, or {sizes}")
    return np.repeat(np.arange(len(ids)), ids)
