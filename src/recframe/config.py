"""Own column names and policies, named once: ``recframe.Config``."""

from __future__ import annotations

from datetime import date
from numbers import Real
from typing import Any, Self

from recframe._base import defaults as _defaults
from recframe._base.roles import CONFIG_ROLES, FRAMES, ROLES
from recframe._base.signatures import show_roles
from recframe._base.values import check_names, unnamed_role
from recframe._engines.registry import LIBRARY, check_library
from recframe.errors import OptionError, OptionTypeError, quoted

__all__ = ["Config"]


def __dir__() -> list[str]:
    return list(__all__)


class Config:
    """Names columns and policies once, for every call that names no other.

    A call's own argument wins, then what the accessor binds, then `Config`, then the default.

    - ``with Config(by="user_id"):`` holds in the block, and in no other thread.
    - ``Config.set(by="user_id")`` holds from then on: on the main thread in the whole program, in another thread in
      this thread alone, in a block until its end. ``Config.restore_defaults()`` ends it.

    A lazy frame is evaluated under what holds when the call is made. Calls that make a frame of the user's columns,
    `candidates`, `from_lists` and `from_factors`, call them as `Config` does.

    Every role that names columns and every policy can be named. The frames `truth`, `train`, `features` and `catalog`
    cannot, as they belong to one question: named for all calls, they would change numbers that nobody looks at.

    Parameters
    ----------
    **roles
        The roles and policies, as for calls.
    library : {"polars", "pandas"}, default None
        What makes the frames of `from_arrays`, `from_lists`, `read_run` and other calls that are given no frame.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> clicks = pl.DataFrame({"user_id": [1, 1], "clicked": [0, 1], "score": [0.9, 0.1]})
    >>> with recframe.Config(by="user_id", relevant="clicked"):
    ...     clicks.rec.mrr()
    0.5
    >>> recframe.Config.set(by="user_id", relevant="clicked").state()
    {'by': 'user_id', 'relevant': 'clicked'}
    >>> clicks.rec.mrr()
    0.5
    >>> recframe.Config.restore_defaults().state()
    {}
    """

    def __init__(self, *unnamed: object, library: str | None = None, **roles: Any) -> None:
        self._roles = _checked(roles, unnamed, library)

    def __enter__(self) -> Self:
        _defaults.open_block({**_defaults.current(), **self._roles}, self)
        return self

    def __exit__(self, *raised: object) -> None:
        _defaults.close_block(self)

    def __repr__(self) -> str:
        return f"Config({', '.join(f'{name}={quoted(value)}' for name, value in self._roles.items())})"

    @classmethod
    def set(cls, *unnamed: object, library: str | None = None, **roles: Any) -> type[Config]:
        """Name roles and policies for every call from now on.

        Names from earlier calls stay unless you name them again. On the main thread this holds in the whole program, in
        another thread for this thread alone, and inside of a ``with recframe.Config(...)`` block until the block ends.
        Call it once at the top of a script or notebook whose columns have other names than the defaults.

        Returns
        -------
        type
            `Config` itself, so you can write ``recframe.Config.set(by="user_id").state()``.
        """
        _defaults.name_roles({**_defaults.current(), **_checked(roles, unnamed, library)})
        return cls

    @classmethod
    def restore_defaults(cls) -> type[Config]:
        """Forget all names that `set` gave, so that the defaults hold again.

        Inside of a ``with recframe.Config(...)`` block, this lasts until the block ends. Call it at the end of a test
        or a notebook that called `set`, because names outlive the test or the cell that set them.

        Returns
        -------
        type
            `Config` itself, so you can write ``recframe.Config.restore_defaults().state()``, which is ``{}``.
        """
        _defaults.name_roles({})
        return cls

    @classmethod
    def state(cls) -> dict[str, Any]:
        """Return the roles and policies that are named now.

        Use it to see why a call reads another column than you expected, or to store the names with a result. A role
        that is missing has its default. The dict is a copy, so changing it changes nothing; pass it to `set` as
        ``recframe.Config.set(**names)`` to restore it.

        Returns
        -------
        dict of str to object
            The values by the names of roles and policies, such as ``{"by": "user_id", "ties": "worst"}``.
        """
        return {name: [*value] if isinstance(value, list) else value for name, value in _defaults.current().items()}


def _checked(roles: dict[str, Any], unnamed: tuple[object, ...], library: str | None) -> dict[str, Any]:
    """Return roles and policies after the checks that need no frame, and the library if one is named."""
    if unnamed:
        raise unnamed_role(unnamed[0], "recframe.Config")
    for name in roles:
        if name in FRAMES:
            msg = f"Config names columns and policies, but {name} is a frame of one call"
            raise OptionTypeError(msg, f"give {name}= to the call, or bind it: df.rec({name}=...)")
    check_names(roles, [*CONFIG_ROLES, LIBRARY])
    check_library(library)
    checked: dict[str, Any] = {} if library is None else {LIBRARY: library}
    for name, raw in roles.items():
        value = list(raw) if isinstance(raw, list) else raw
        # Any label may be one of a pandas frame to come.
        parts = [value, *(value if isinstance(value, list | tuple) else ())]
        if ROLES[name].kind == "column":
            for flag in (each for each in parts if isinstance(each, bool)):
                ROLES[name].check(name, flag, None)  # True equals 1, which may be a label
        checked[name] = ROLES[name].check(name, value, [each for each in parts if _may_be_label(each)])
        if name in ("by", "score", "rank") and isinstance(value, list | tuple) and not value:
            msg = f"{name}={quoted(value)} names no column"
            raise OptionError(msg, "by=None makes the whole frame one list" if name == "by" else "")
    return checked


def _may_be_label(value: object) -> bool:
    """Return whether pandas frames have such column labels."""
    if isinstance(value, tuple):
        return bool(value) and all(isinstance(each, str) or _may_be_label(each) for each in value)
    return isinstance(value, Real | date) and not isinstance(value, bool)


for _call in (Config.__init__, Config.set.__func__):
    show_roles(_call, CONFIG_ROLES, every=True)
