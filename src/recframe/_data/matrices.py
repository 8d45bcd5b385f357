"""Matrices of labels and scores, a row for each list and a column for each item, as columns of a long frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from recframe._engines.codes import distinct
from recframe.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    Array = np.ndarray[Any, np.dtype[Any]]

MATRIX = 2
"""The dimensions of a matrix."""


def on_host(values: Any) -> Any:
    """Return an array that NumPy can read, also for tensors with gradients or with DLPack alone."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
    kind = type(values)
    return np.from_dlpack(values) if hasattr(kind, "__dlpack__") and not hasattr(kind, "__array__") else values


def is_sparse(values: Any) -> bool:
    """Return whether a value is a sparse matrix or array of SciPy."""
    return hasattr(type(values), "tocoo")


def is_matrix(values: Any) -> bool:
    """Return whether a value is a matrix with a row per list: two dimensions and more than one column."""
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


class Cells(NamedTuple):
    """The cells of matrices: in each array, an element per cell."""

    rows: Array
    columns: Array
    relevance: Array
    scores: dict[str, Array]
    """The scores by model, NaN if a sparse matrix does not store the cell."""


def cells(relevant: Any, scores: Mapping[str, Any], read: Any) -> Cells:
    """Return the cells of matrices of the same shape.

    Dense scores have all cells, sparse scores only the stored cells. `read` checks and converts numbers.
    """
    shape = shape_of(relevant)
    for name, values in scores.items():
        if shape_of(values) != shape:
            msg = f"{name} has the shape {shape_of(values)}, but relevant has {shape}"
            raise InputError(msg, "give both one row for each list and one column for each item")
    sparse = {name: _stored_cells(name, values, read) for name, values in scores.items() if is_sparse(values)}
    stored_relevance = _stored_cells("relevant", relevant, read) if is_sparse(relevant) else None
    count, width = shape
    has_all_cells = len(sparse) < len(scores) or stored_relevance is None
    if has_all_cells:
        cell_numbers = np.arange(count * width)
    else:
        matrices = [*sparse.values(), *([] if stored_relevance is None else [stored_relevance])]
        cell_numbers = distinct(np.concatenate([numbers for numbers, _ in matrices]))
    if stored_relevance is None:
        relevance = read("relevant", np.ravel(on_host(relevant)))
    else:
        relevance = _values_of_cells(cell_numbers, *stored_relevance, 0.0)
    columns = {
        name: _values_of_cells(cell_numbers, *sparse[name], np.nan)
        if name in sparse
        else read(name, np.ravel(on_host(values)))
        for name, values in scores.items()
    }
    return Cells(*np.divmod(cell_numbers, max(width, 1)), relevance, columns)


def _stored_cells(name: str, matrix: Any, read: Any) -> tuple[Array, Array]:
    """Return the numbers of the cells that a sparse matrix stores, in ascending order, and their values."""
    rows = matrix.tocsr().copy()
    rows.sum_duplicates()
    stored = rows.tocoo()
    cell_numbers = stored.row.astype(np.int64) * matrix.shape[1] + stored.col
    order = np.argsort(cell_numbers)
    return cell_numbers[order], read(name, stored.data)[order]


def _values_of_cells(cell_numbers: Array, stored: Array, values: Array, empty: float) -> Array:
    """Return the values of some cells, and `empty` for cells that are not stored."""
    filled = np.full(len(cell_numbers), empty)
    filled[np.searchsorted(cell_numbers, stored)] = values
    return filled
