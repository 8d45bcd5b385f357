"""The base of the parts of the namespace."""

from __future__ import annotations

from typing import Any


class Methods:
    """A part of `Rec`: methods of a frame, and of the roles that are bound to it."""

    __slots__ = ()

    _frame: Any
    _bound: dict[str, Any]
