"""Notes about a result, for tables and gates. They are kept beside the frame, which cannot hold notes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import ref

if TYPE_CHECKING:
    from collections.abc import Callable

    from recframe._inference.lists.claims import Claims


@dataclass(frozen=True)
class _Note:
    """The confidence and the claims that belong to one frame."""

    frame: ref[Any]
    confidence: float
    claims: Callable[[], Claims] | None
    """The function that returns what gates read, called only if a gate needs it."""


_NOTES: dict[int, _Note] = {}


def remember(result: Any, confidence: float, claims: Callable[[], Claims] | None = None) -> Any:
    """Return a result unchanged, and remember its confidence and what gates read as long as the frame exists."""
    number = id(result)
    try:
        reference = ref(result, lambda _: _NOTES.pop(number, None))
    except TypeError:  # a frame without weak references
        return result
    _NOTES[number] = _Note(reference, confidence, claims)
    return result


def confidence_of(result: Any) -> float | None:
    """Return the confidence of a result's intervals, or None if the frame was changed, copied or read from a file."""
    note = _note_of(result)
    return None if note is None else note.confidence


def claims_of(result: Any) -> Claims | None:
    """Return what gates read of a result, or None if the frame was changed, copied or read from a file."""
    note = _note_of(result)
    return None if note is None or note.claims is None else note.claims()


def _note_of(result: Any) -> _Note | None:
    """Return the note about a result, or None if there is none or it belongs to a freed frame with the same id."""
    note = _NOTES.get(id(result))
    return note if note is not None and note.frame() is result else None
