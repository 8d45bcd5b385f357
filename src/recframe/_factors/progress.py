"""A progress bar on standard error, for what takes longer than a moment."""

from __future__ import annotations

import sys
from time import monotonic

QUIET = 2.0
"""Seconds before a bar that nobody asked for shows itself."""
EVERY = 0.2
"""Seconds between two states of the bar."""
WIDTH = 30


class Progress:
    """A bar that shows how much is done and how long the rest takes.

    Parameters
    ----------
    total : int
        How much there is to do.
    what : str
        What is counted.
    show : bool, optional
        Whether to show the bar; None: in a terminal, and only of what takes longer than a moment.
    """

    def __init__(self, total: int, what: str, *, show: bool | None = None) -> None:
        self._total, self._what = total, what
        self._show = sys.stderr.isatty() if show is None else show
        self._start = monotonic()
        self._next = self._start + (QUIET if show is None else 0.0)
        self._shown = False

    def step(self, done: int) -> None:
        """Say how much is done by now."""
        now = monotonic()
        if not self._show or (now < self._next and done < self._total) or (done == self._total and not self._visible):
            return
        self._next, self._shown = now + EVERY, True
        share = done / self._total
        left = (now - self._start) * (1 - share) / share if done else 0.0
        bar = "#" * round(WIDTH * share)
        end = "\n" if done == self._total else ""
        sys.stderr.write(f"\r[{bar:<{WIDTH}}] {done:,} of {self._total:,} {self._what}, {left:.0f} s left  {end}")
        sys.stderr.flush()

    @property
    def _visible(self) -> bool:
        """Whether there is a bar to bring to its end."""
        return self._shown or monotonic() >= self._next
