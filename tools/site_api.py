"""An extension of griffe for the site's reference: no private names in it.

Default values that are constants show as their value. The classes that only calls return stand under ``recframe``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import griffe

if TYPE_CHECKING:
    from collections.abc import Iterator

RETURNED = ("_comparison.merged.Merged", "_display.plot.Plot")
"""What `recframe.merge` and `.rec.plot` return."""


class PublicNames(griffe.Extension):  # type: ignore[misc]
    """Shows values and public places instead of private names."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Change a package that is loaded."""
        for function in functions(pkg):
            for parameter in function.parameters:
                if isinstance(parameter.default, griffe.ExprName):
                    constant = known(pkg, parameter.default.canonical_path)
                    parameter.default = constant or parameter.default
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


def known(pkg: griffe.Module, path: str) -> Any:
    """Return the value of a constant of the package, as it is written."""
    name = path.removeprefix(f"{pkg.name}.")
    try:
        found = pkg[name]
    except KeyError:
        return None
    return found.value if found.is_attribute else None
