"""Matrices of labels and scores, a row for each list and a column for each item, as columns of a long frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recframe.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    Array = np.ndarray[Any, np.dtype[Any]]

MATRIX = 2
"""The dimensions of a matrix."""


def on_host(values: Any) -> Any:
    """Return an array that NumPy can read, also from a tensor with gradients or one that speaks only DLPack."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
    kind = type(values)
    return np.from_dlpack(values) if hasattr(kind, "__dlpack__") and not hasattr(kind, "__array__") else values


def is_sparse(values: Any) -> bool:
    """Return whether something is a sparse matrix or array of SciPy."""
    return hasattr(type(values), "tocoo")


def is_matrix(values: Any) -> bool:
    """Return whether something has a row for each list: two dimensions, and not one column."""
    if is_sparse(values):
        return True
    try:
        shape = np.shape(on_host(values))
    except (ValueError, TypeError):
        return False  # lists of different lengths
    return len(shape) == MATRIX and shape[1] != 1


def shape_of(values: Any) -> tuple[int, ...]:
    """Return the number of rows and of columns."""
    return tuple(values.shape) if is_sparse(values) else np.shape(on_host(values))


def cells(relevant: Any, scores: Mapping[str, Any], read: Any) -> tuple[Array, Array, Array, dict[str, Array]]:
    """Return the row, the column and the relevance of each cell, and its scores; NaN where a sparse matrix has none.

    Dense scores have all cells, sparse ones only the stored cells. `read` checks and converts numbers.
    """
    shape = shape_of(relevant)
    for name, values in scores.items():
        if shape_of(values) != shape:
            msg = f"{name} has the shape {shape_of(values)}, but relevant has {shape}"
            raise InputError(msg, "give both one row for each list and one column for each item")
    sparse = {name: _held(name, values, read) for name, values in scores.items() if is_sparse(values)}
    of_truth = _held("relevant", relevant, read) if is_sparse(relevant) else None
    count, width = shape
    every = len(sparse) < len(scores) or of_truth is None
    held = [places for places, _ in (*sparse.values(), *([] if of_truth is None else [of_truth]))]
    places = np.arange(count * width) if every else np.unique(np.concatenate(held))
    relevance = read("relevant", np.ravel(on_host(relevant))) if of_truth is None else _filled(places, *of_truth, 0.0)
    columns = {
        name: _filled(places, *sparse[name], np.nan) if name in sparse else read(name, np.ravel(on_host(values)))
        for name, values in scores.items()
    }
    return *np.divmod(places, max(width, 1)), relevance, columns


def _held(name: str, matrix: Any, read: Any) -> tuple[Array, Array]:
    """Return the places of the cells that a sparse matrix holds, in order, and their values."""
    rows = matrix.tocsr().copy()
    rows.sum_duplicates()
    held = rows.tocoo()
    places = held.row.astype(np.int64) * matrix.shape[1] + held.col
    order = np.argsort(places)
    return places[order], read(name, held.data)[order]


def _filled(places: Array, held: Array, values: Array, empty: float) -> Array:
    """Return values at places, and `empty` where there is none."""
    filled = np.full(len(places), empty)
    filled[np.searchsorted(places, held)] = values
    return filled
