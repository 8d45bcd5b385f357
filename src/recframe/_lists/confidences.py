"""The confidence of a result's intervals, for tables. It is kept beside the frame, which cannot hold such a note."""

from __future__ import annotations

from typing import Any
from weakref import ref

_CONFIDENCES: dict[int, tuple[ref[Any], float]] = {}


def remember(result: Any, confidence: float) -> Any:
    """Return a result unchanged, and remember the confidence of its intervals as long as the frame exists."""
    number = id(result)
    try:
        reference = ref(result, lambda _: _CONFIDENCES.pop(number, None))
    except TypeError:  # a frame without weak references
        return result
    _CONFIDENCES[number] = (reference, confidence)
    return result


def confidence_of(result: Any) -> float | None:
    """Return the confidence of a result's intervals, or None if the frame was changed, copied or read from a file."""
    reference, confidence = _CONFIDENCES.get(id(result), (None, None))
    return confidence if reference is not None and reference() is result else None
