"""The factors of a model, of any library, as checked NumPy arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recframe._data.factors.positions import Model
from recframe.errors import InputError, OptionTypeError

if TYPE_CHECKING:
    Array = np.ndarray[Any, np.dtype[Any]]


def array(values: Any, name: str, dimensions: int) -> Array:
    """Return an array-like as an array of finite floats, or raise if it is not one."""
    if hasattr(values, "detach"):  # a tensor, which may have gradients or be on a GPU
        values = values.detach().cpu()
    for method in ("to_numpy", "numpy"):
        if not isinstance(values, np.ndarray) and hasattr(values, method):
            values = getattr(values, method)()
    try:
        numbers: Array = np.asarray(values)
    except ValueError as error:
        msg = f"{name} is not an array: {error}"
        raise OptionTypeError(msg) from error
    if numbers.dtype.kind not in "biuf":
        msg = f"{name} is a {type(values).__name__} of type {numbers.dtype}, but factors are numbers"
        sparse = hasattr(values, "tocsr")
        hint = "a sparse matrix of what users have is train=, and of what they liked test=" if sparse else ""
        raise OptionTypeError(msg, hint or "a NumPy array, or something that NumPy can convert")
    if numbers.ndim != dimensions:
        expected = "one row each" if dimensions == 2 else "one number for each item"  # noqa: PLR2004
        msg = f"{name} has the shape {numbers.shape}, but holds {expected}"
        raise InputError(msg)
    if numbers.dtype not in (np.float32, np.float64):
        numbers = numbers.astype(np.float32 if numbers.dtype == np.float16 else np.float64)
    if not np.isfinite(numbers).all():
        rows = np.unique(np.nonzero(~np.isfinite(numbers))[0])
        msg = f"{name} holds values that are not finite, in {len(rows)} of {len(numbers)} rows, such as row {rows[0]}"
        raise InputError(msg, "leave these rows out of the factors and the ids, or give them factors of 0")
    return numbers


def model_of(user_factors: Any, item_factors: Any, item_bias: Any, n_users: int, n_items: int) -> Model:
    """Return the model, or raise if the factors, the biases and the ids do not fit each other."""
    if user_factors is None and item_factors is None and item_bias is None:
        msg = "there are neither factors nor an item bias"
        raise OptionTypeError(msg, "from_factors(user_factors, item_factors, ...)")
    if (user_factors is None) != (item_factors is None):
        lacking, named = ("user", "item") if user_factors is None else ("item", "user")
        msg = f"{lacking}_factors is None, but {named}_factors is not"
        raise OptionTypeError(msg, "both, or neither and an item_bias")
    bias = None if item_bias is None else array(item_bias, "item_bias", 1)
    if bias is not None:
        _check_rows("item_bias", len(bias), "items", n_items)
    if user_factors is None:
        assert bias is not None  # noqa: S101 - for the type checker
        return Model(None, None, bias, n_items, bias.dtype)
    users = array(user_factors, "user_factors", 2)
    items = array(item_factors, "item_factors", 2)
    _check_rows("user_factors", len(users), "users", n_users)
    _check_rows("item_factors", len(items), "items", n_items)
    if users.shape[1] != items.shape[1]:
        msg = f"user_factors has {users.shape[1]} columns, but item_factors {items.shape[1]}"
        raise InputError(msg, "one column for each factor in both")
    dtype = np.result_type(users, items)
    _check_range(users, items, bias, dtype)
    bias = None if bias is None else bias.astype(dtype, copy=False)
    return Model(users.astype(dtype, copy=False), items.astype(dtype, copy=False), bias, n_items, dtype)


def _check_rows(name: str, rows: int, ids: str, expected: int) -> None:
    """Raise if an array does not have one row per id."""
    if rows != expected:
        msg = f"{name} has {rows} rows, but {ids} has {expected} ids"
        raise InputError(msg, "one id for each row, in the same order")


def _check_range(users: Array, items: Array, bias: Array | None, dtype: np.dtype[Any]) -> None:
    """Raise if a score could be larger than its type can hold."""
    lengths = [np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64).max(initial=0)) for rows in (users, items)]
    most = lengths[0] * lengths[1] + (0.0 if bias is None else float(np.abs(bias).max(initial=0)))
    if not most < np.finfo(dtype).max:
        msg = f"scores may reach {most:.3g}, which {dtype} cannot hold"
        raise InputError(msg, "scale the factors, or give them as float64")
