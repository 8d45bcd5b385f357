"""The packages that draw charts and write tables, imported where they are used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from recframe.errors import MissingExtraError


def package(name: str, what: str, extra: str = "plot") -> Any:
    """Return a package, or raise `MissingExtraError` and say what needs it; a broken one raises its own error."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise MissingExtraError.of(what, extra) from None
