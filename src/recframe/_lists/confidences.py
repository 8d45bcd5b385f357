"""The confidence of a result's intervals, remembered as long as its frame lives: frames hold no such note."""

from __future__ import annotations

from typing import Any
from weakref import ref

_CONFIDENCES: dict[int, tuple[ref[Any], float]] = {}


def remember(result: Any, confidence: float) -> Any:
    """Return a result, and keep the confidence of its intervals for tables."""
    number = id(result)
    try:
        reference = ref(result, lambda _: _CONFIDENCES.pop(number, None))
    except TypeError:  # a frame without weak references
        return result
    _CONFIDENCES[number] = (reference, confidence)
    return result


def confidence_of(result: Any) -> float | None:
    """Return the confidence of this very frame, None of a frame that was changed, copied or read."""
    reference, confidence = _CONFIDENCES.get(id(result), (None, None))
    return confidence if reference is not None and reference() is result else None
