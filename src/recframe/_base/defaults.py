"""The roles and policies that `recframe.Config` sets, for calls and accessors that do not set them."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@dataclass(frozen=True)
class Scope:
    """The roles and policies that `Config` sets in a thread, or in a block of a thread or task. It is never changed."""

    roles: Mapping[str, Any]
    outer: Scope | None = None
    """The scope in force after the block."""
    block: object = None
    """The ``with`` block that opened it; None: `Config.set` did."""


_scope: ContextVar[Scope | None] = ContextVar("recframe.Config", default=None)
_program: dict[str, Mapping[str, Any]] = {"roles": {}}
"""What the main thread set outside blocks. It is in force in every thread that sets nothing itself."""


def current() -> Mapping[str, Any]:
    """Return the roles and policies in force now, by name."""
    scope = _scope.get()
    return _program["roles"] if scope is None else scope.roles


def name_roles(roles: Mapping[str, Any]) -> None:
    """Set all roles and policies: of the open block; without a block, of the program or of this thread."""
    scope = _scope.get()
    if scope is not None and scope.block is not None:
        _scope.set(Scope(roles, scope.outer, scope.block))
    elif threading.current_thread() is threading.main_thread():
        _program["roles"] = roles
        _scope.set(None)
    else:
        _scope.set(Scope(roles))


def open_block(roles: Mapping[str, Any], block: object) -> None:
    """Set roles and policies until the block is closed."""
    _scope.set(Scope(roles, _scope.get(), block))


def close_block(block: object) -> None:
    """Restore the state before a block; blocks opened later and still open, as in a generator, stay in force."""
    _scope.set(_without(_scope.get(), block))


def _without(scope: Scope | None, block: object) -> Scope | None:
    """Return the scopes without the scope that a block opened."""
    if scope is None:
        return None
    if scope.block is block:
        return scope.outer
    outer = _without(scope.outer, block)
    return scope if outer is scope.outer else replace(scope, outer=outer)


@contextmanager
def only_these_roles(roles: Mapping[str, Any]) -> Iterator[None]:
    """Use only these roles and policies, for calls within a call."""
    block = object()
    open_block(roles, block)
    try:
        yield
    finally:
        close_block(block)


class Default(str):
    """The default name of a column in a signature, which differs from the same text given by the user."""

    __slots__ = ()


BY, ITEM, RELEVANT, RANK, SCORE, VALUE, MODEL = map(
    Default, ("user", "item", "relevant", "rank", "score", "price", "model")
)
"""The defaults of calls that take column names as their own arguments."""


def columns_or_defaults(**columns: Any) -> dict[str, Any]:
    """Return each role's column: the call's argument, otherwise as `recframe.Config` sets it, otherwise the default."""
    named = current()
    return {
        role: _config_column(role, named, column) if isinstance(column, Default) else column
        for role, column in columns.items()
    }


def _config_column(role: str, named: Mapping[str, Any], default: Default) -> Any:
    """Return the column that Config sets, unless it sets scores of several models, which cannot name one new column."""
    column = named.get(role, str(default))
    return str(default) if role in ("rank", "score", "model") and not isinstance(column, str) else column


def config_hint(role: str, column: object) -> str:
    """Return the hint for a missing column if Config set its name, or an empty string."""
    value = current().get(role)
    names = value if isinstance(value, list) else [value]
    # Values other than text are compared by identity, because they may be expressions.
    if column is None or not any(name is column or (isinstance(column, str) and name == column) for name in names):
        return ""
    return f"recframe.Config names `{role}={value!r}`; name another in the call, as `{role}='name'`"
