"""The axis of a chart over an ordered column: dates, numbers or text."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

from recframe.errors import visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MOST_DATES = 7
"""The most dates on an axis."""


def axis_positions(values: Sequence[Any]) -> tuple[str, list[Any]]:
    """Return Altair's type of an axis, and the positions of values on it."""
    known_values = [value for value in values if value is not None]
    if known_values and all(isinstance(value, dt.date) for value in known_values):
        return "T", [None if value is None else _moment(value) for value in values]
    if known_values and all(isinstance(value, int | float) and not isinstance(value, bool) for value in known_values):
        return "Q", list(values)
    return "O", [None if value is None else visible(str(value)) for value in values]


def axis(moments: Sequence[str]) -> dict[str, Any]:
    """Return the options of an axis with some of the dates. It shows times of day unless all are midnight."""
    ordered = sorted({dt.datetime.fromisoformat(moment) for moment in moments}, key=_milliseconds)
    clock = any(moment.time() != dt.time() for moment in ordered)
    step = -(-len(ordered) // MOST_DATES)
    return {
        "format": "%Y-%m-%d %H:%M" if clock else "%Y-%m-%d",
        "values": [_milliseconds(moment) for moment in ordered[:: max(step, 1)]],
    }


def sort_key(row: Mapping[str, Any]) -> float:
    """Return the date or time of a row as a number, to sort rows by."""
    return _milliseconds(dt.datetime.fromisoformat(row["place"]))


def _milliseconds(moment: dt.datetime) -> float:
    """Return the milliseconds since 1970, in UTC."""
    return 1000 * (moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)).timestamp()


def _moment(value: dt.date) -> str:
    """Return a date or time as JavaScript reads it in UTC; without a zone it would read times as local ones."""
    text = value.isoformat()
    return text if not isinstance(value, dt.datetime) or value.tzinfo is not None else f"{text}Z"
