"""Results of calls as eager frames, whatever engine made them."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import narwhals as nw

from recframe._engines.registry import is_frame
from recframe.errors import OptionTypeError, quoted

if TYPE_CHECKING:
    from collections.abc import Mapping


def eager_result(result: Any) -> nw.DataFrame[Any]:
    """Return a result with its rows.

    Raises
    ------
    OptionTypeError
        It is no frame.
    """
    if not is_frame(result):
        msg = f"result={quoted(result)} is not a frame"
        raise OptionTypeError(msg, "give the result of evaluate, describe or compare")
    frame = nw.from_native(result)
    if isinstance(frame, nw.DataFrame):
        return frame
    native = nw.get_native_namespace(frame).__name__
    backend = "polars" if native == "polars" or find_spec("polars") else "pyarrow"
    collected: nw.DataFrame[Any] = frame.collect(backend=backend)
    return collected


def rows_of(result: Any) -> list[Mapping[str, Any]]:
    """Return the rows of a result, what is missing as None."""
    frame = eager_result(result)
    columns = {
        name: [None if _is_nan(value) else value for value in frame.get_column(name).to_list()]
        for name in frame.columns
    }
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and value != value  # noqa: PLR0124 - NaN
