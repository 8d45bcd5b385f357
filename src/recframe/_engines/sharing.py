"""What the calls of one report share: frames are opened once, and each model is ranked once."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from recframe._base.columns import Frame
    from recframe._engines.base import Session
    from recframe._engines.column_spec import ColumnSpec, Source


@dataclass
class Shared:
    """Opened frames and ranked rows.

    Attributes
    ----------
    upto : int or None
        The last position that any of the calls reads; None: all.
    rankings : dict
        Ranked rows by all that they depend on, the session included.
    """

    upto: int | None = None
    rankings: dict[Any, Frame] = field(default_factory=dict)
    _sessions: dict[Any, tuple[Session, Mapping[str, Source]]] = field(default_factory=dict)
    """The sessions, with their sources: an identity is only unique while its frame is in use."""

    def session(
        self, sources: Mapping[str, Source], either: Mapping[str, ColumnSpec], rows: Any, make: Callable[[], Session]
    ) -> Session:
        """Return the opened frames of equal sources. If no call has opened them yet, `make` opens them.

        `either` are columns that any one of the frames may hold, and `rows` names the frames whose rows are numbered.
        """
        read = [(name, id(each.native), *each.specs.items(), *each.unread) for name, each in sources.items()]
        key = (*read, *either.items(), *rows)
        if key not in self._sessions:
            self._sessions[key] = make(), sources
        return self._sessions[key][0]


SHARED: ContextVar[Shared | None] = ContextVar("SHARED", default=None)


@contextmanager
def sharing() -> Iterator[Shared]:
    """Let calls on eager frames share what they open and rank."""
    shared = Shared()
    token = SHARED.set(shared)
    try:
        yield shared
    finally:
        SHARED.reset(token)
