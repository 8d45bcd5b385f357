"""Attaches the namespaces to polars and pandas frames, whichever is imported first.

The registration functions of both libraries are called, because they check for collisions and make completion work.
But polars and pandas 2 then cache the accessor on the frame. This is a reference cycle, so a frame would live until the
cyclic garbage collector runs. So the class attribute is then replaced by one that does not cache.
"""

from __future__ import annotations

import sys
import threading
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from typing import TYPE_CHECKING, Any, NoReturn

from recframe.errors import UnknownMethodError, not_grouped

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

NAME = "rec"


class _Accessor:
    """A class attribute that makes a new namespace at each look-up. The first one imports the namespace's class."""

    __slots__ = ("_class_name", "_module", "_namespace")

    def __init__(self, class_name: str, module: str = "recframe.accessor") -> None:
        self._class_name = class_name
        self._module = module
        self._namespace: Any = None

    def __get__(self, frame: Any, owner: type | None = None) -> Any:
        if self._namespace is None:
            self._namespace = getattr(import_module(self._module), self._class_name)
        return self._namespace if frame is None else self._namespace(frame)


class _Redirect:
    """What columns have in place of the namespace: every method raises an error that says where the namespace is."""

    __slots__ = ("_hint", "_what")

    def __init__(self, what: str, hint: str) -> None:
        self._what = what
        self._hint = hint

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(name)
        self._raise(f".{name}")

    def _raise(self, call: str) -> NoReturn:
        msg = f"{self._what}, so it has no .{NAME}{call}"
        raise UnknownMethodError(msg, self._hint.format(call=call))


class _GroupsRedirect(_Redirect):
    """What a grouped frame has in place of the namespace: its errors name the groups."""

    __slots__ = ("_groups",)

    def __init__(self, groups: Any) -> None:
        self._groups = groups

    def __call__(self, *_: object, **__: object) -> NoReturn:
        self._raise("")

    def _raise(self, call: str) -> NoReturn:
        what, hint = not_grouped(self._groups, call)
        msg = f"{what}, so it has no .{NAME}{call}"
        raise UnknownMethodError(msg, hint)


class _GroupsAccessor:
    """The accessor of grouped frames. If a column has its name, pandas shows the column as an attribute instead."""

    __slots__ = ()

    def __get__(self, groups: Any, owner: type | None = None) -> Any:
        return groups[NAME] if NAME in getattr(getattr(groups, "obj", None), "columns", ()) else _GroupsRedirect(groups)


COLUMN = (
    "a column by itself holds no lists",
    f"call it on the frame, and name the columns: df.{NAME}{{call}}(by='user', score='score')",
)


def _attach(owner: type, register: Callable[[str], Callable[[type], type]], accessor: _Accessor | _Redirect) -> None:
    """Attach an accessor to a class. If an earlier import of this package has registered the name, only replace it."""
    if type(vars(owner).get(NAME)).__module__ != __name__:
        register(NAME)(type(NAME, (), {}))
    setattr(owner, NAME, accessor)


def _attach_to_groups(module: str, *names: str) -> None:
    """Attach the accessor of grouped frames to each of the named classes that the library has."""
    for name in names:
        owner = getattr(sys.modules.get(module), name, None)
        if owner is not None:
            setattr(owner, NAME, _GroupsAccessor())


def _attach_to_polars(polars: ModuleType) -> None:
    """Attach the namespaces to the classes of polars."""
    _attach(polars.DataFrame, polars.api.register_dataframe_namespace, _Accessor("EagerRec"))
    _attach(polars.LazyFrame, polars.api.register_lazyframe_namespace, _Accessor("LazyRec"))
    _attach(
        polars.Expr,
        polars.api.register_expr_namespace,
        _Accessor("ExprRec", "recframe._integrations.expressions.namespace"),
    )
    _attach(polars.Series, polars.api.register_series_namespace, _Redirect(*COLUMN))
    _attach_to_groups("polars.dataframe.group_by", "GroupBy", "DynamicGroupBy", "RollingGroupBy")
    _attach_to_groups("polars.lazyframe.group_by", "LazyGroupBy")


def _attach_to_pandas(pandas: ModuleType) -> None:
    """Attach the namespaces to the classes of pandas."""
    _attach(pandas.DataFrame, pandas.api.extensions.register_dataframe_accessor, _Accessor("EagerRec"))
    _attach(pandas.Series, pandas.api.extensions.register_series_accessor, _Redirect(*COLUMN))
    _attach_to_groups("pandas.api.typing", "DataFrameGroupBy", "SeriesGroupBy")


_LIBRARIES: dict[str, Callable[[ModuleType], None]] = {"polars": _attach_to_polars, "pandas": _attach_to_pandas}


class _AfterImport(Loader):
    """Runs a library's own loader, then registers."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        created: ModuleType | None = self._loader.create_module(spec)
        return created

    def exec_module(self, module: ModuleType) -> None:
        # The module must not remember this loader, because it lacks methods that resource readers call.
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        _LIBRARIES[module.__name__](module)


class _Finder(MetaPathFinder):
    """Gives a library that is imported later its namespace. Another finder finds the library; this one does not."""

    def __init__(self) -> None:
        self._searched: set[tuple[int, str]] = set()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        searched = threading.get_ident(), fullname
        if fullname not in _LIBRARIES or searched in self._searched:
            return None
        # Another finder may ask all finders in turn, including this one.
        self._searched.add(searched)
        try:
            others = (finder for finder in list(sys.meta_path) if not _is_our_finder(finder))
            specs = (finder.find_spec(fullname, path, target) for finder in others if hasattr(finder, "find_spec"))
            spec = next((spec for spec in specs if spec is not None), None)
        finally:
            self._searched.discard(searched)
        if spec is not None and hasattr(spec.loader, "exec_module"):
            spec.loader = _AfterImport(spec.loader)
        return spec


def _is_our_finder(finder: object) -> bool:
    """Return whether a finder belongs to this package, or to an earlier import of it."""
    return type(finder).__qualname__ == _Finder.__qualname__ and type(finder).__module__ == __name__


def install() -> None:
    """Attach the namespaces to libraries that are imported already, and to others when they are imported."""
    for name, register in _LIBRARIES.items():
        module = sys.modules.get(name)
        if module is not None and hasattr(module, "DataFrame"):
            register(module)
    if not any(map(_is_our_finder, sys.meta_path)):
        sys.meta_path.insert(0, _Finder())
