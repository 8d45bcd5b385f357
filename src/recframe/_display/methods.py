"""The namespace's methods that show results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recframe._display.plot import Plot


class DisplayMethods:
    """What `Rec` offers for people rather than programs."""

    __slots__ = ()

    _frame: Any
    _bound: dict[str, Any]

    @property
    def plot(self) -> Plot:
        """The charts of the frame; they need Altair, the extra ``plot``."""
        from recframe._display.plot import Plot

        return Plot(self._frame, self._bound)
