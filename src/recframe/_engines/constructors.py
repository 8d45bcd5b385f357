"""Frames made of something else than frames: which library makes them."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from recframe._engines.registry import check_holds_rows, kind_of
from recframe.errors import MissingExtraError, OptionTypeError, one_of

LIBRARIES = ("polars", "pandas")


def maker(given: tuple[object, ...], library: str | None) -> Any:
    """Return the module that makes frames: of the library of what is given, or of a library by name.

    Parameters
    ----------
    given : tuple
        What the user gave; frames and columns among it are of one library.
    library : str, optional
        The name of the library; None: that of what is given, else polars where it is installed, else pandas.
    """
    if library is not None and library not in LIBRARIES:
        msg = "library"
        raise one_of(msg, library, LIBRARIES)
    found = {name for name in map(_library_of, given) if name is not None}
    if len(found) > 1 or (library is not None and found - {library}):
        msg = f"what is given is of {' and '.join(sorted(found))}" + (f", but library={library!r}" if library else "")
        raise OptionTypeError(msg, "give everything in one library")
    names = found or ({library} if library is not None else LIBRARIES)
    for name in names:
        try:
            return importlib.import_module(f"recframe._engines.constructors_{name}")
        except ImportError:
            continue
    what = "making a frame" if library is None else f"library={library!r}"
    raise MissingExtraError.of(what, library or "polars")


def _library_of(given: object) -> str | None:
    """Return the library of a frame or a column."""
    check_holds_rows(given)
    kind = kind_of(given)
    if kind is not None:
        return kind.split()[0]
    for name in LIBRARIES:
        module = sys.modules.get(name)
        if module is not None and isinstance(given, module.Series):
            return name
    return None
