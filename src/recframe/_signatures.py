"""The signatures and documentation of calls, written from the roles that they accept."""

from __future__ import annotations

import re
from dataclasses import fields
from functools import wraps
from inspect import Parameter, cleandoc, signature
from typing import TYPE_CHECKING, Any, TypeVar, cast

from recframe._arguments import ALL_ROLES, CALL_ROLES, Roles
from recframe.errors import OptionTypeError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Made = TypeVar("Made", bound="Callable[..., Any]")


def role_parameters(names: Iterable[str]) -> list[Parameter]:
    """Return roles as the parameters of a signature."""
    return [
        Parameter(field.name, Parameter.KEYWORD_ONLY, default=field.default, annotation=field.type)
        for field in fields(Roles)
        if field.name in names
    ]


def roles_doc(names: Iterable[str], title: str = "Other Parameters") -> str:
    """Return the section of a docstring that says what roles are."""
    # From 3.13 on, Python itself takes the margin away.
    text = cleandoc(Roles.__doc__ or "").split("----------\n", 1)[-1]
    entries = [entry for entry in re.split(r"\n(?=\w)", text) if entry.split(":", 1)[0].strip() in names]
    return f"\n{title}\n{'-' * len(title)}\n" + "\n".join(entries) + "\n"


def show_roles(call: Callable[..., Any], names: Iterable[str]) -> None:
    """Write the roles that a call accepts as ``**roles`` into its signature and its documentation."""
    names = tuple(names)
    shown = signature(call)
    several = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
    own = [parameter for parameter in shown.parameters.values() if parameter.kind not in several]
    full = shown.replace(parameters=[*own, *role_parameters(names)])
    setattr(call, "__signature__", full)  # noqa: B010 - functions declare no such attribute
    call.__doc__ = f"{cleandoc(call.__doc__ or '')}\n{roles_doc(names)}"


FEW_ROLES = 5
"""Up to how many roles a hint shows."""


def checked_call(call: Made) -> Made:
    """Return a method or a function that raises an error of this package for arguments that it does not accept."""
    expected = signature(call)
    own = [parameter for parameter in expected.parameters.values() if parameter.name not in ("self", "roles")]
    shown = [f"{each.name}=..." if each.kind == Parameter.KEYWORD_ONLY else each.name for each in own]
    roles = CALL_ROLES.get(call.__name__, ALL_ROLES)
    shown += [f"{name}=..." for name in roles] if len(roles) <= FEW_ROLES else []

    @wraps(call)
    def checked(*args: Any, **given: Any) -> Any:
        try:
            expected.bind(*args, **given)
        except TypeError as error:
            msg = f"{call.__name__}: {error}"
            raise OptionTypeError(msg, f"{call.__name__}({', '.join(shown)})") from None
        return call(*args, **given)

    return cast("Made", checked)
