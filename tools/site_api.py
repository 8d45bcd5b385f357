"""An extension of griffe for the site's reference: no private names in it.

Default values that are constants show as their value. The classes that only calls return stand under ``recframe``.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import griffe

if TYPE_CHECKING:
    from collections.abc import Iterator

RETURNED = (
    "_inference.states.merged.Merged",
    "_display.plot.Plot",
    "_display.table.Table",
    "_integrations.training.scorer.Scorer",
)
"""What `recframe.merge_states`, `.rec.plot`, `recframe.table` and `recframe.scorer` return."""


class PublicNames(griffe.Extension):  # type: ignore[misc]
    """Shows values and public places instead of private names."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Change a package that is loaded."""
        for function in functions(pkg):
            function.overloads = None  # their annotations are names of type checkers
            for parameter in function.parameters:
                if isinstance(parameter.default, griffe.ExprName):
                    parameter.default = written(parameter.default.canonical_path) or parameter.default
        for path in RETURNED:
            kind = pkg[path]
            pkg.set_member(kind.name, kind)


def functions(parent: griffe.Object) -> Iterator[griffe.Function]:
    """Yield the functions and methods of a package."""
    for member in parent.members.values():
        if isinstance(member, griffe.Function):
            yield member
        elif not member.is_alias:
            yield from functions(member)


def written(path: str) -> str | None:
    """Return the value of a constant of the package as code; None for what is no constant of it."""
    module, _, name = path.rpartition(".")
    value = getattr(importlib.import_module(module), name) if module.startswith("recframe.") else None
    return repr(value) if isinstance(value, str | int | float) else None
