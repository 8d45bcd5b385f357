"""An extension of griffe for the site's reference: it shows what ``help()`` shows.

Methods of ``.rec`` get parts of their text, such as the shared roles, when the package is imported, and the stub that
type checkers read has no text. So signatures and docstrings of public classes come from the imported package.
Default values that are constants show as their value. The classes that only calls return stand under ``recframe``.
"""

from __future__ import annotations

import importlib
import inspect
import re
from typing import TYPE_CHECKING, Any

import griffe

if TYPE_CHECKING:
    from collections.abc import Iterator

CLASSES = {
    "EagerRec": "accessor.EagerRec",
    "Merged": "_inference.states.merged.Merged",
    "Plot": "_display.plot.Plot",
    "Table": "_display.table.Table",
    "Scorer": "_integrations.training.scorer.Scorer",
}
"""The classes whose methods are read from the package, by the name under which the site shows them.

Calls return the last four: `recframe.merge_states`, `.rec.plot`, `recframe.table` and `recframe.scorer`.
"""
KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: griffe.ParameterKind.positional_only,
    inspect.Parameter.POSITIONAL_OR_KEYWORD: griffe.ParameterKind.positional_or_keyword,
    inspect.Parameter.VAR_POSITIONAL: griffe.ParameterKind.var_positional,
    inspect.Parameter.KEYWORD_ONLY: griffe.ParameterKind.keyword_only,
    inspect.Parameter.VAR_KEYWORD: griffe.ParameterKind.var_keyword,
}
TOGETHER = re.compile(r"^(\w+(?:, \w+)+) : (.+\n(?: +.*\n)+)", re.MULTILINE)
"""An entry of a docstring about several parameters."""
ROLES = "Other Parameters\n----------------\n"
"""The section of a docstring with the roles that many calls share, which the site shows once."""
LINK = "Reads the [roles and policies](../measure/#roles-and-policies) {}.\n\n"


class PublicNames(griffe.Extension):  # type: ignore[misc]
    """Shows values and public places instead of private names."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Change a package that is loaded."""
        for function in functions(pkg):
            function.overloads = None  # their annotations are names of type checkers
            if function.docstring:
                function.docstring.value = TOGETHER.sub(apart, function.docstring.value)
            for parameter in function.parameters:
                if isinstance(parameter.default, griffe.ExprName):
                    parameter.default = written(parameter.default.canonical_path) or parameter.default
        for name, path in CLASSES.items():
            kind = pkg[path]
            module, _dot, named = path.rpartition(".")
            show_methods(kind, getattr(importlib.import_module(f"{pkg.name}.{module}"), named))
            pkg.set_member(name, kind)


def apart(entry: re.Match[str]) -> str:
    """Return an entry for each parameter, because griffe shows the default of the first one for all of them."""
    return "".join(f"{name} : {entry[2]}" for name in entry[1].split(", "))


def show_methods(shown: griffe.Class, imported: type) -> None:
    """Give a class of the reference the methods of the imported class, with their signatures and docstrings."""
    for name, method in inspect.getmembers(imported, inspect.isroutine):
        if name.startswith("_"):
            continue
        function = griffe.Function(name, parameters=parameters(method))
        shown.set_member(name, function)
        options: dict[str, Any] = {"warn_unknown_params": False}
        function.docstring = griffe.Docstring(text_of(method), parent=function, parser="numpy", parser_options=options)


def text_of(method: Any) -> str:
    """Return the docstring of a call, with the names of shared roles and a link instead of their descriptions."""
    text, _, roles = (inspect.getdoc(method) or "").partition(ROLES)
    names = re.findall(r"^(\w+) : ", roles, re.MULTILINE) + re.findall(r"`(\w+)`", roles.partition("**roles")[2])
    text = re.sub(r"^\*\*roles$", "**roles : Any", text, flags=re.MULTILINE)  # the site warns of a name without a type
    start, *rest = re.split(r"^(?=\w[\w ]*\n-{3,}$)", text, maxsplit=1, flags=re.MULTILINE)
    link = LINK.format(", ".join(f"`{name}`" for name in names)) if names else ""
    return "".join([f"{start.rstrip()}\n\n", link, *rest])


def parameters(method: Any) -> griffe.Parameters:
    """Return the parameters that the signature of a call prints, without ``self``."""
    signature = inspect.signature(method)
    return griffe.Parameters(
        *(
            griffe.Parameter(
                each.name,
                kind=KINDS[each.kind],
                default=None if each.default is inspect.Parameter.empty else repr(each.default),
            )
            for each in signature.parameters.values()
            if each.name not in ("self", "cls")
        )
    )


def functions(parent: griffe.Object) -> Iterator[griffe.Function]:
    """Yield the functions and methods of a package."""
    for member in parent.members.values():
        if isinstance(member, griffe.Function):
            yield member
        elif not member.is_alias:
            yield from functions(member)


def written(path: str) -> str | None:
    """Return the value of a constant of the package as code, or None if it is not a constant of the package."""
    module, _, name = path.rpartition(".")
    value = getattr(importlib.import_module(module), name) if module.startswith("recframe.") else None
    return repr(value) if isinstance(value, str | int | float) else None
