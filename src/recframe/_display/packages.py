"""The packages that draw charts and write tables, imported where they are used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from recframe.errors import check_packages


def package(name: str, what: str, extra: str = "plot") -> Any:
    """Return a package, or raise `MissingExtraError` and say what needs it; a broken one raises its own error."""
    check_packages(what, extra, name)
    return import_module(name)
