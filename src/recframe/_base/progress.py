"""The progress bar of a long run: tqdm's, where that is installed."""

from __future__ import annotations

from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from recframe._base.values import flag
from recframe.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

QUIET = 2.0
"""The seconds before a bar appears if the call did not request one."""


def check_progress(progress: object) -> bool | None:
    """Return whether to show a bar, or raise if one is requested but tqdm is not installed."""
    show = None if progress is None else flag("progress", progress)
    if show and find_spec("tqdm") is None:
        what = "progress=True"
        raise MissingExtraError.of(what, "factors")
    return show


@contextmanager
def progress_bar(total: int, what: str, *, show: bool | None) -> Iterator[Callable[[int], None]]:
    """Show a bar on standard error, and yield a function that moves it to a given count.

    Parameters
    ----------
    total : int
        The number at the end.
    what : str
        What is counted.
    show : bool, optional
        Whether to show the bar; None: in a terminal, after a moment, and only if tqdm is installed.
    """
    if show is False or find_spec("tqdm") is None:
        yield lambda done: None  # noqa: ARG005
        return
    tqdm = import_module("tqdm").tqdm
    # tqdm reads None as "only in a terminal".
    disable = None if show is None else False
    with tqdm(total=total, unit=f" {what}", disable=disable, delay=QUIET if show is None else 0) as bar:
        yield lambda done: bar.update(done - bar.n)
