"""Turn results of calls into eager frames, whichever engine made them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import narwhals as nw

from recframe._engines.base import fetched, values_of
from recframe._engines.registry import adapter_of, is_frame
from recframe._inference.lists.result_notes import claims_of
from recframe.errors import OptionTypeError, quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

T = TypeVar("T")


def eager_result(result: Any, role: str = "result") -> nw.DataFrame[Any]:
    """Return a result with its rows.

    Raises
    ------
    OptionTypeError
        It is no frame.
    """
    if not is_frame(result):
        msg = f"{role}={quoted(result)} is not a frame"
        calls = "evaluate, describe or compare" if role == "result" else "compare"
        raise OptionTypeError(msg, f"give the result of {calls}")
    frame: Any = adapter_of(result).as_result(result)
    if isinstance(frame, nw.DataFrame):
        return frame
    return frame.collect() if frame.implementation.is_polars() else fetched(frame)


def columns_of(frame: nw.DataFrame[Any]) -> dict[str, list[Any]]:
    """Return the values of each column: None if missing, and text for lists and structs, which name segments."""
    return {
        column.name: [
            str(value) if value is not None and column.dtype.is_nested() else value for value in values_of(column)
        ]
        for column in frame.iter_columns()
    }


def rows_of(frame: nw.DataFrame[Any]) -> list[dict[str, Any]]:
    """Return the rows of a result, with None for missing values."""
    columns = columns_of(frame)
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def grouped(rows: Iterable[T], key: Callable[[T], Hashable]) -> dict[Any, list[T]]:
    """Return rows grouped by a key, in their order."""
    groups: dict[Any, list[T]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


def margins_of(result: Any) -> dict[str, str | None] | None:
    """Return the margin of each metric of a comparison, or None for other results and for changed frames."""
    claims = claims_of(result)
    if claims is None:
        return None
    return dict(zip(map(str, values_of(eager_result(result)["metric"])), claims.margins, strict=True))
