"""The type in which the values of a key can be compared in all frames, for polars and for SQL engines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw

from recframe._engines.column_errors import unlike_keys

if TYPE_CHECKING:
    from collections.abc import Mapping

    from narwhals.dtypes import DType

    from recframe._engines.column_spec import ColumnSpec

TEXT = (nw.String, nw.Categorical, nw.Enum)
WIDE = (nw.UInt64, nw.Int128, nw.UInt128)
"""Integers that do not fit into 64 bits with a sign."""
UNITS = ("ns", "us", "ms", "s")


def common_type(spec: ColumnSpec, types: Mapping[str, DType], native_types: Mapping[str, object]) -> DType:
    """Return the type in which the values of a key compare, or raise where they cannot match.

    Parameters
    ----------
    spec : ColumnSpec
        The key.
    types : mapping of str to DType
        Its types by the names of the frames.
    native_types : mapping of str to object
        The same types as the frames' library names them, for messages.
    """
    (first, common), *others = types.items()
    for name, dtype in others:
        shared = _common_type_of_pair(common, dtype)
        if shared is None:
            raise unlike_keys(spec, (first, native_types[first]), (name, native_types[name]))
        common = shared
    return common


def _common_type_of_pair(left: DType, right: DType) -> DType | None:
    """Return the type in which the values of two types compare, or None where they cannot match."""
    if left == right:
        return left
    if left.is_integer() and right.is_integer():
        return nw.Int128() if isinstance(left, WIDE) or isinstance(right, WIDE) else nw.Int64()
    if isinstance(left, nw.Datetime) and isinstance(right, nw.Datetime) and left.time_zone == right.time_zone:
        unit: Any = min(left.time_unit, right.time_unit, key=UNITS.index)
        return nw.Datetime(unit, left.time_zone)
    if left.is_float() and right.is_float():
        return nw.Float64()
    return nw.String() if isinstance(left, TEXT) and isinstance(right, TEXT) else None
