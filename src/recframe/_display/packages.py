"""The packages that draw charts and write tables, imported where they are used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from recframe.errors import check_packages


def package(name: str, what: str, extra: str = "plot") -> Any:
    """Return a package; raise `MissingExtraError` if it is missing, or the package's own error if it is broken."""
    check_packages(what, extra, name)
    return import_module(name)
