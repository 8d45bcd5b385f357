"""The signatures and documentation of calls, written from the roles that they accept."""

from __future__ import annotations

from dataclasses import fields
from functools import wraps
from inspect import Parameter, Signature, cleandoc, signature
from textwrap import fill
from typing import TYPE_CHECKING, Any, TypeVar, cast

from recframe._base.docstrings import entries_of
from recframe._base.guesses import ONE_SIDED, REQUIRED, STRATA, role_meant
from recframe._base.roles import Roles
from recframe._base.values import check_names
from recframe.errors import OptionTypeError, closest

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

Made = TypeVar("Made", bound="Callable[..., Any]")


def role_parameters(names: Iterable[str]) -> list[Parameter]:
    """Return roles as the parameters of a signature."""
    return [
        Parameter(field.name, Parameter.KEYWORD_ONLY, default=field.default, annotation=field.type)
        for field in fields(Roles)
        if field.name in names
    ]


MAIN_ROLES = ("by", "item", "relevant", "score", "truth", "per")
"""The roles that signatures and docstrings show; one line lists the other roles."""
OTHER_ROLES = """**roles
    Also {names}: ``help(recframe.rec)``.
"""


def roles_doc(names: Iterable[str], *, options: Collection[str] = (), every: bool = False) -> str:
    """Return the section of a docstring that explains roles.

    Parameters
    ----------
    names : iterable of str
        The roles that the call accepts.
    options : collection of str
        The roles that are options of the metric, so that they are explained too.
    every : bool
        Whether to explain all of them instead of the main ones.
    """
    entries = {name: entry for name, entry in entries_of(Roles.__doc__ or "").items() if name in names}
    shown = [entry for name, entry in entries.items() if every or name in MAIN_ROLES or name in options]
    others = [f"`{name}`" for name in entries if not (every or name in MAIN_ROLES or name in options)]
    shown += [fill_entry(OTHER_ROLES, ", ".join(others))] if others else []
    return f"\nOther Parameters\n----------------\n{''.join(shown)}"


def fill_entry(entry: str, names: str) -> str:
    """Return an entry of a docstring about some names, in lines of a width that help shows."""
    head, text = entry.split("\n", 1)
    return f"{head}\n{fill(text.strip().format(names=names), 100, initial_indent='    ', subsequent_indent='    ')}\n"


class RolesSignature(Signature):
    """A signature whose text has the main roles only, so that ``help()`` fits a screen.

    Attributes
    ----------
    others : list of Parameter
        The roles that ``**roles`` stands for.
    """

    __slots__ = ("others", "shown")

    others: list[Parameter]
    shown: Signature

    def with_all_roles(self) -> RolesSignature:
        """Return the signature without ``self`` and with all roles, which prints as this one.

        Completion in notebooks reads the parameters, and help prints the text.
        """
        named = [each for each in self.parameters.values() if each.name != "self"]
        every = [*(each for each in named if each.kind != Parameter.VAR_KEYWORD), *self.others]
        completed = RolesSignature(every)
        completed.shown = Signature(named)
        return completed

    def __str__(self) -> str:
        return str(self.shown) if hasattr(self, "shown") else super().__str__()

    def format(self, **options: Any) -> str:
        """Return the text, as Python from 3.13 on asks for it."""
        known: Any = self.shown if hasattr(self, "shown") else super()
        text: str = known.format(**options)
        return text


def signature_of(parameters: Sequence[Parameter], names: Iterable[str]) -> RolesSignature:
    """Return the signature that fits a screen: positional arguments, main roles, the call's own options, ``**roles``.

    It shows names and defaults. The types stand in the docstring, and in the stubs that type checkers read.
    """
    names = tuple(names)
    several = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
    plain = [each.replace(annotation=Parameter.empty) for each in parameters if each.kind not in several]
    options = [each for each in plain if each.kind == Parameter.KEYWORD_ONLY]
    every = [each.replace(annotation=Parameter.empty) for each in role_parameters(names)]
    roles = [each for each in every if each.name in MAIN_ROLES]
    shown = {each.name for each in (*roles, *options)}
    rest = [] if shown.issuperset(names) else [Parameter("roles", Parameter.VAR_KEYWORD)]
    shown_signature = RolesSignature([*(each for each in plain if each not in options), *roles, *options, *rest])
    shown_signature.others = [each for each in every if each.name not in shown]
    return shown_signature


def show_roles(call: Callable[..., Any], names: Iterable[str], *, every: bool = False) -> None:
    """Write the roles that a call accepts as ``**roles`` into its signature and its documentation.

    With `every`, the documentation explains all roles instead of the main ones.
    """
    names = tuple(names)
    shown = signature_of([*signature(call).parameters.values()], names)
    setattr(call, "__signature__", shown)  # noqa: B010 - functions declare no such attribute
    call.__doc__ = f"{cleandoc(call.__doc__ or '')}\n{roles_doc(names, every=every)}"


FEW_ROLES = 5
"""Up to how many roles a hint shows."""


def checked_call(
    call: Made, roles: Sequence[str] = (), refuse_options: Callable[[Mapping[str, Any], Any], None] | None = None
) -> Made:
    """Return a method or a function that raises an error of this package for arguments that it does not accept.

    In methods, `refuse_options` first reports arguments that are options of metrics; functions check their roles.
    """
    expected = signature(call)
    name = call.__qualname__.removesuffix(".__init__").rpartition(".")[2]
    not_shown = ("self", "unnamed", "roles", "policies")
    parameters = [each for each in expected.parameters.values() if each.name not in not_shown]
    shown = [f"{each.name}=..." if each.kind == Parameter.KEYWORD_ONLY else each.name for each in parameters]
    named = [each.name for each in parameters]
    accepted = {*roles, *named}
    is_open = "roles" in expected.parameters or "policies" in expected.parameters
    shown += [f"{name}=..." for name in roles] if len(roles) <= FEW_ROLES else []

    @wraps(call)
    def checked(*args: Any, **keywords: Any) -> Any:
        unknown = {each: value for each, value in keywords.items() if each not in accepted}
        try:
            bound = expected.bind(*args, **keywords).arguments
        except TypeError as error:
            first = next(iter(unknown), "")
            hint = closest(role_meant(first, named) or first, named) or (ONE_SIDED | STRATA).get(first.lower(), "")
            hint = hint or next((REQUIRED[each] for each in named if each in REQUIRED and each not in keywords), "")
            msg = f"{name}: {error if is_open or not unknown else f'there is no argument {first!r}'}"
            raise OptionTypeError(msg, hint or f"{name}({', '.join(shown)})") from None
        if refuse_options is not None and unknown:
            refuse_options(unknown, bound.get("metrics", bound.get("metric")))
            check_names(unknown, roles, named)
        return call(*args, **keywords)

    return cast("Made", checked)
