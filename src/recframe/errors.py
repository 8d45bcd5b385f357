"""The errors and warnings of recframe.

Every error is a `RecError` and carries the built-in type that a habit expects, so that both
``except recframe.RecError`` and ``except KeyError`` work.
"""

from __future__ import annotations

import re
import sys
from difflib import get_close_matches
from importlib.util import find_spec
from reprlib import Repr
from typing import TYPE_CHECKING, Any, NamedTuple

from recframe._base.defaults import config_hint

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "BackendWarning",
    "ColumnTypeError",
    "DataWarning",
    "InputError",
    "MissingColumnError",
    "MissingExtraError",
    "OptionError",
    "OptionTypeError",
    "RecError",
    "RecWarning",
    "ThresholdError",
    "UndefinedError",
    "UndefinedWarning",
    "UnknownMethodError",
]


PACKAGES = {
    "polars": ("polars",),
    "pandas": ("pandas",),
    "arrow": ("polars", "pyarrow"),
    "cli": ("click", "polars"),
    "factors": ("numpy", "tqdm"),
    "stats": ("numpy", "scipy"),
    "tables": ("great_tables", "xlsxwriter"),
    "sql": ("ibis-framework", "narwhals", "packaging", "sqlglot"),
    "plot": ("numpy", "scipy", "altair", "jinja2", "vl-convert-python"),
}
"""What the extras of features install."""

NO_FRAMES = {
    **dict.fromkeys(
        ("str", "PosixPath", "WindowsPath"), "read the file first, as with polars.read_parquet(path), and "
    ),
    "dict": "recframe.from_dict makes a frame of {query: {document: score}}, polars.DataFrame one of columns; else ",
    "list": "recframe.from_lists makes a frame of the items of each list; else ",
    "ndarray": "recframe.from_arrays(relevant, score) makes a frame of labels and predictions; else ",
}
"""What to do with what is no frame, by the names of types."""


_TEXT = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_VALUE = rf"(?:{_TEXT}|[^`'\"])*"
_NAME = rf"\w[\w ]*(?:\[(?:{_TEXT})\])?"
_MARKED = re.compile(
    rf"`(?:df\.rec\((?P<bound>{_VALUE})\)|, as in (?P<example>{_VALUE})|(?P<name>{_NAME})=(?P<value>{_VALUE}))`"
)
"""What is between backquotes in a message: an argument, with its value or without; the call that binds arguments; or an
example of Python."""
_BOUND = re.compile(rf"(\w+)=(\[(?:{_TEXT}|[^]'\"])*\]|{_TEXT}|[^,'\"]+)")


class Argument(NamedTuple):
    """An argument that a message names."""

    name: str
    value: str
    """As Python writes it; empty if the message names no value."""

    def __str__(self) -> str:
        return f"{self.name}={self.value}"


class Bound(NamedTuple):
    """The call that binds arguments to a frame, as a message writes it."""

    arguments: tuple[Argument, ...]

    def __str__(self) -> str:
        return f"df.rec({', '.join(map(str, self.arguments))})"


class Example(NamedTuple):
    """An example of Python in a message; the command line leaves it out."""

    code: str

    def __str__(self) -> str:
        return f", as in {self.code}"


Part = str | Argument | Bound | Example
"""A part of a message."""


def parts_of(text: str) -> tuple[Part, ...]:
    """Return the text between the arguments of a message, and the arguments, in their order."""
    parts: list[Part] = []
    end = 0
    for found in _MARKED.finditer(text):
        parts.append(text[end : found.start()])
        end = found.end()
        if found["name"] is not None:
            parts.append(Argument(found["name"], found["value"]))
        elif found["example"] is not None:
            parts.append(Example(found["example"]))
        else:
            parts.append(Bound(tuple(Argument(*each.groups()) for each in _BOUND.finditer(found["bound"]))))
    return (*parts, text[end:])


def python_text(text: str) -> str:
    """Return a message as users of Python read it: arguments without backquotes."""
    return "".join(map(str, parts_of(text)))


def __dir__() -> list[str]:
    return list(__all__)


class RecError(Exception):
    """Base of everything that recframe raises on purpose.

    Parameters
    ----------
    message : str
        What is wrong, and with which value. Arguments are between backquotes, so that the command line can write them
        as its options.
    hint : str
        What would be right, with arguments between backquotes too.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        text = f"{message}\n\nHint: {hint}" if hint else message
        self.parts = parts_of(text)
        super().__init__(python_text(text))


class MissingColumnError(RecError, KeyError):
    """A role names a column that the frame does not have."""

    @classmethod
    def of(cls, message: str, hint: str, *columns: tuple[str, object]) -> MissingColumnError:
        """Return the error for roles with their columns, and say which of them `recframe.Config` names."""
        configured = (config_hint(role, column) for role, column in columns)
        return cls(message, "; ".join(filter(None, (hint, *configured))))

    def __str__(self) -> str:
        # KeyError prints the repr of its argument, which turns line breaks into \n.
        return str(self.args[0]) if self.args else ""


class UnknownMethodError(RecError, AttributeError):
    """The namespace has no such method."""


class ColumnTypeError(RecError, TypeError):
    """A column holds a type that its role cannot use."""


class InputError(RecError, ValueError):
    """The frame itself cannot be evaluated: it is empty, or of another kind than its partner."""


class OptionError(RecError, ValueError):
    """An option, a cutoff or a metric's name has a value that it cannot have."""


class OptionTypeError(OptionError, TypeError):
    """An option has a value of a type that it cannot have."""


class UndefinedError(RecError, ValueError):
    """Lists have no value under the metric, and ``undefined="raise"`` or ``"raise_all"`` was given."""


class ThresholdError(RecError, AssertionError):
    """A value falls short of what `require` or a gate of the command line demands."""


class MissingExtraError(RecError, ImportError):
    """A feature needs a package that is not installed."""

    @classmethod
    def of(cls, what: str, extra: str) -> MissingExtraError:
        """Name the feature, and the line that installs what it needs."""
        hint = f"pip install {' '.join(PACKAGES[extra])}, which is the extra {extra!r} of recframe"
        return cls(f"packages for {what} are not installed", hint)


def check_packages(what: str, extra: str, *packages: str) -> None:
    """Raise where a feature needs a package that is not installed."""
    if any(find_spec(package) is None for package in packages):
        raise MissingExtraError.of(what, extra)


class RecWarning(UserWarning):
    """Base of the warnings of recframe.

    Parameters
    ----------
    message : str
        What looks wrong, with arguments between backquotes, as for `RecError`.
    """

    def __init__(self, message: str = "") -> None:
        self.parts = parts_of(message)
        super().__init__(python_text(message))


class BackendWarning(RecWarning):
    """The database of an Ibis table was never tested: the message says what is known of it."""


class DataWarning(RecWarning):
    """The frame was evaluated, but it looks as if its numbers mean nothing: the message says why and what to do."""


class UndefinedWarning(RecWarning):
    """No list has a value under the metric, so its mean is not a number."""


_REPR = Repr()
_REPR.maxlist = _REPR.maxtuple = _REPR.maxset = _REPR.maxfrozenset = _REPR.maxdict = 10
_REPR.maxstring = _REPR.maxlong = _REPR.maxother = LONGEST_VALUE = 120


def quoted(value: object) -> str:
    """Return a value as messages quote it: on one line, short, whatever it is."""
    try:
        text = _REPR.repr(value)
        # The address of an object says nothing; an expression of polars says by `str` what it is.
        text = str(value) if text.startswith("<Expr ") else text
    except Exception:  # noqa: BLE001 - the repr of a value may raise anything
        text = "\n"
    if "\n" in text or len(text) > 4 * LONGEST_VALUE:
        library = type(value).__module__.split(".")[0]
        text = f"<{type(value).__name__}>" if library == "builtins" else f"<{library} {type(value).__name__}>"
    return text


_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")
"""Characters that are no text: terminals obey them, tables break at them, and XML, so a chart, cannot hold them."""


def visible(text: str, keep: str = "") -> str:
    """Return a text with signs instead of its control characters, but for those to keep: ``␛`` for Escape."""
    return _CONTROL.sub(lambda found: found[0] if found[0] in keep else _sign(ord(found[0])), text)


def _sign(code: int) -> str:
    return chr(0x2400 + code) if code < ord(" ") else f"<U+{code:04X}>"


def closest_of(value: object, names: Iterable[str]) -> str:
    """Return the name that the user probably meant, or nothing."""
    by_lower = {name.lower(): name for name in reversed([*names])}
    match = (
        get_close_matches(value.lower()[:LONGEST_VALUE], by_lower, n=1, cutoff=0.7) if isinstance(value, str) else []
    )
    return by_lower[match[0]] if match else ""


def closest(value: object, names: Iterable[str]) -> str:
    """Return the hint that names what the user probably meant, or nothing."""
    name = closest_of(value, names)
    return f"did you mean {name!r}?" if name else ""


def before_list(hint: str, existing: str) -> str:
    """Return a hint in front of the list of available names, which may be long."""
    if not hint:
        return existing
    return f"{hint} {existing[0].upper()}{existing[1:]}" if hint.endswith("?") else f"{hint}; {existing}"


def no_attribute(name: str, message: str, names: Iterable[str], hint: str = "") -> AttributeError:
    """Return the error for an attribute that something does not have; Python itself asks for private ones."""
    if name.startswith("_"):
        return AttributeError(name)
    return UnknownMethodError(message.format(name), hint or closest(name, (each for each in names if each[0] != "_")))


def not_grouped(groups: Any, call: str = "") -> tuple[str, str]:
    """Return what is wrong with a grouped frame, and the hint that names its groups."""
    keys = groups.keys if hasattr(groups, "obj") else getattr(groups, "by", None)
    every = keys if isinstance(keys, list | tuple) else [keys]
    names = [key for key in every if isinstance(key, str)]
    per = repr(names[0] if len(names) == 1 else names) if names else "'country'"
    hint = f"df.rec{call}(..., per={per}) gives a row for each group; by={per} says that the groups are the lists"
    if type(groups).__module__.startswith("polars"):
        hint += "; in agg, recframe.expr has the metrics of one list"
    return "a grouped frame is no frame", hint


def one_of(name: str, value: object, allowed: Iterable[str], meant: str = "") -> OptionError:
    """Return the error for an option outside its allowed values, one of which may be known to be meant."""
    allowed = list(allowed)
    listed = ", ".join(repr(value) for value in allowed)
    return OptionError(f"`{name}={quoted(value)}` is not one of {listed}", closest(meant or value, allowed))


def stack_level() -> int:
    """Return the stack level of the first frame outside the package, so that a warning points at the user's line."""
    package = __name__.partition(".")[0]
    level, frame = 1, sys._getframe(1)  # noqa: SLF001
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        level, frame = level + 1, frame.f_back
    return level
