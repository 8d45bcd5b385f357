"""Methods of the namespace that print a two-line help if somebody leaves out the brackets."""

from __future__ import annotations

from functools import WRAPPER_ASSIGNMENTS
from inspect import signature
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Callable
    from inspect import Signature

    from recframe._base.signatures import RolesSignature


class BoundCall:
    """A method bound to its namespace, like Python's bound methods, but with a helpful text."""

    def __init__(self, function: Callable[..., Any], namespace: Any) -> None:
        self.__func__, self.__self__ = function, namespace
        self.__name__, self.__doc__ = function.__name__, function.__doc__

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return self.__func__(self.__self__, *args, **keywords)

    def __get__(self, instance: object, owner: type | None = None) -> BoundCall:
        # help() documents an object that has this method as a function, and others as values.
        return self

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__func__, name)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BoundCall):
            return NotImplemented
        return self.__self__ is other.__self__ and self.__func__ is other.__func__

    def __hash__(self) -> int:
        return hash((id(self.__self__), self.__func__))

    def __reduce__(self) -> tuple[Any, ...]:
        return getattr, (self.__self__, self.__name__)

    @property
    def __signature__(self) -> Signature:
        """The signature without ``self``; its parameters are all roles, for completion, and its text is short."""
        return cast("RolesSignature", signature(self.__func__)).with_all_roles()

    def __repr__(self) -> str:
        from recframe._display.overview import text_of_call

        return text_of_call(self.__name__)


class ShownMethod:
    """A method of a class whose instances give it as a `BoundCall`."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        vars(self).update({name: getattr(function, name) for name in WRAPPER_ASSIGNMENTS}, __wrapped__=function)

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self._function if instance is None else BoundCall(self._function, instance)
