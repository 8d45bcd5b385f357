"""The errors and warnings of recframe.

Every error is a `RecError` and carries the built-in type that a habit expects, so that both
``except recframe.RecError`` and ``except KeyError`` work.
"""

from __future__ import annotations

import re
import sys
import warnings
from contextlib import contextmanager
from contextvars import ContextVar
from difflib import get_close_matches
from importlib.util import find_spec
from reprlib import Repr
from typing import TYPE_CHECKING, Any, NamedTuple

from recframe._base.defaults import config_hint

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import FrameType

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
    for match in _MARKED.finditer(text):
        parts.append(text[end : match.start()])
        end = match.end()
        if match["name"] is not None:
            parts.append(Argument(match["name"], match["value"]))
        elif match["example"] is not None:
            parts.append(Example(match["example"]))
        else:
            parts.append(Bound(tuple(Argument(*each.groups()) for each in _BOUND.finditer(match["bound"]))))
    return (*parts, text[end:])


def python_text(text: str) -> str:
    """Return a message as users of Python read it: arguments without backquotes."""
    return "".join(map(str, parts_of(text)))


def __dir__() -> list[str]:
    return list(__all__)


class RecError(Exception):
    """Base of all errors that recframe raises on purpose.

    Catch it to handle every wrong argument and every unusable frame at once. Each subclass also derives from the
    built-in error that you would expect, such as `KeyError` for a missing column. A message names the value that is
    wrong in its first line, and the remedy after ``Hint:``. An error of another class that a call raises is a bug of
    recframe or of a library that it uses.

    Parameters
    ----------
    message : str
        What is wrong, and with which value. Arguments are between backquotes, so that the command line can write them
        as its options.
    hint : str, default ""
        What would be right, with arguments between backquotes too.

    Examples
    --------
    >>> import recframe
    >>> try:
    ...     recframe.forest("a comparison")
    ... except TypeError as error:
    ...     print(*(kind.__name__ for kind in type(error).__mro__[:3]))
    OptionTypeError OptionError RecError
    """

    def __init__(self, message: str, hint: str = "") -> None:
        text = f"{message}\n\nHint: {hint}" if hint else message
        self.parts = parts_of(text)
        super().__init__(python_text(text))


class MissingColumnError(RecError, KeyError):
    """A role names a column that the frame does not have.

    It is a `KeyError` too. The message lists the columns of the frame and suggests the closest name. The usual remedy
    is to name your column in the call, as in ``by="user_id"``, or once for all calls with `recframe.Config`. If
    `Config` names the column, the message says so.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> frame = pl.DataFrame({"user": [1, 1], "relevant": [0, 1], "score": [0.9, 0.1]})
    >>> try:
    ...     frame.rec.mrr(relevant="clicked")
    ... except KeyError as error:
    ...     print(str(error).splitlines()[0])
    relevant='clicked': the frame has no such column; it has 'user', 'relevant', 'score'
    """

    @classmethod
    def of(cls, message: str, hint: str, *columns: tuple[str, object]) -> MissingColumnError:
        """Return the error for roles with their columns, and say which of them `recframe.Config` names."""
        configured = (config_hint(role, column) for role, column in columns)
        return cls(message, "; ".join(filter(None, (hint, *configured))))

    def __str__(self) -> str:
        # KeyError prints the repr of its argument, which turns line breaks into \n.
        return str(self.args[0]) if self.args else ""


class UnknownMethodError(RecError, AttributeError):
    """The namespace ``.rec``, its charts or merged states have no method of this name.

    It is an `AttributeError` too, so ``hasattr(frame.rec, "name")`` works. The message suggests the closest name, and
    the name that other libraries use for a metric leads to the name here. ``dir(frame.rec)`` lists all methods.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> frame = pl.DataFrame({"user": [1, 1], "relevant": [0, 1], "score": [0.9, 0.1]})
    >>> try:
    ...     frame.rec.ndgc()
    ... except AttributeError as error:
    ...     print(str(error).splitlines()[0])
    the namespace has no method 'ndgc'
    """


class ColumnTypeError(RecError, TypeError):
    """A column holds values of a type that its role cannot use.

    It is a `TypeError` too. A score must be a number, a relevance a number or a boolean, and a key or an item may be of
    nearly any type. The message names the role, the column and its type. The remedy is to cast the column before
    the call.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> frame = pl.DataFrame({"user": [1, 1], "relevant": [0, 1], "score": [0.9, 0.1]})
    >>> try:
    ...     frame.with_columns(score=pl.lit("high")).rec.mrr()
    ... except TypeError as error:
    ...     print(str(error).splitlines()[0])
    score='score' has the type String, but a score must be integer or float
    """


class InputError(RecError, ValueError):
    """The frame itself cannot be evaluated, although its columns and their types are right.

    It is a `ValueError` too. Examples are a frame without rows, two frames of different libraries, a price that is not
    finite, or a value of `per` that differs within a list. The message names the first rows or lists that are wrong.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> frame = pl.DataFrame({"user": [1, 1], "relevant": [0, 1], "score": [0.9, 0.1]})
    >>> try:
    ...     frame.rec.recall(per="relevant")
    ... except ValueError as error:
    ...     print(str(error).splitlines()[0])
    per='relevant' has several values within a list
    """


class OptionError(RecError, ValueError):
    """An option, a cutoff or the name of a metric has a value that it cannot have.

    It is a `ValueError` too. The message lists the values that are allowed, or suggests the closest one. Options that
    contradict each other, such as a baseline that is none of the models, raise this error as well.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> frame = pl.DataFrame({"user": [1, 1], "relevant": [0, 1], "score": [0.9, 0.1]})
    >>> try:
    ...     frame.rec.ndcg(k=0)
    ... except ValueError as error:
    ...     print(str(error).splitlines()[0])
    k=0 is less than 1
    """


class OptionTypeError(OptionError, TypeError):
    """An option has a value of a type that it cannot have, or a call has no such option.

    It is a `TypeError` and an `OptionError`, so a `ValueError` too. Text instead of a number is an example, and so is
    an argument whose name is misspelled. The message names the argument and the types that it accepts.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> frame = pl.DataFrame({"user": [1, 1], "relevant": [0, 1], "score": [0.9, 0.1]})
    >>> try:
    ...     frame.rec.ndcg(k="ten")
    ... except TypeError as error:
    ...     print(str(error).splitlines()[0])
    k='ten' is of type str
    """


class UndefinedError(RecError, ValueError):
    """Lists have no value under the metric, and the call asked for an error.

    It is a `ValueError` too. By default, lists without a value are left out of the mean. ``undefined="raise"`` raises
    this error as soon as one list has no value, and ``undefined="raise_all"`` only if no list has one. The message says
    how many lists have no value, why, and which ones.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> frame = pl.DataFrame({"user": [1, 1], "relevant": [0, 1], "score": [0.9, 0.1]})
    >>> try:
    ...     frame.with_columns(relevant=0).rec.mrr(undefined="raise")
    ... except ValueError as error:
    ...     print(str(error).splitlines()[0])
    1 list has no mrr because it has no relevant item, such as
    """


class ThresholdError(RecError, AssertionError):
    """A value falls short of what `recframe.require` or a gate of the command line demands.

    It is an `AssertionError` too, so a test runner shows it as a failed check rather than a crash. The message lists
    every demand that was missed, with its value and its limit. Let it stop the job: it says that quality fell, not that
    something is wrong with the data.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> frame = pl.DataFrame({"user": [1, 1], "relevant": [0, 1], "score": [0.9, 0.1]})
    >>> try:
    ...     recframe.require(frame.rec.evaluate("mrr"), {"mrr": 0.6})
    ... except AssertionError as error:
    ...     print(str(error).splitlines()[0])
    mrr is 0.5, below 0.6
    """


class MissingExtraError(RecError, ImportError):
    """A feature needs a package that is not installed.

    It is an `ImportError` too. Measuring needs only a library of frames. Comparisons also need SciPy, charts Altair,
    tables great_tables, and the command line click. The message names the packages, the command that installs them, and
    the extra of recframe that holds them.

    Examples
    --------
    >>> import recframe
    >>> error = recframe.MissingExtraError.of("charts", "plot")
    >>> print(str(error).splitlines()[0])
    packages for charts are not installed
    >>> isinstance(error, ImportError)
    True
    """

    @classmethod
    def of(cls, what: str, extra: str) -> MissingExtraError:
        """Return the error that names a feature, and the command that installs what it needs."""
        hint = f"pip install {' '.join(PACKAGES[extra])}, which is the extra {extra!r} of recframe"
        return cls(f"packages for {what} are not installed", hint)


def check_packages(what: str, extra: str, *packages: str) -> None:
    """Raise if a feature needs a package that is not installed."""
    if any(find_spec(package) is None for package in packages):
        raise MissingExtraError.of(what, extra)


class RecWarning(UserWarning):
    """Base of the warnings of recframe.

    A warning means that a number was computed but that you should look at it before you believe it. Turn warnings into
    errors in jobs that nobody watches: ``warnings.simplefilter("error", recframe.RecWarning)``. Each warning points at
    the line of your code that made the call.

    Parameters
    ----------
    message : str
        What looks wrong, with arguments between backquotes, as for `RecError`.
    """

    def __init__(self, message: str = "") -> None:
        self.parts = parts_of(message)
        super().__init__(python_text(message))


class BackendWarning(RecWarning):
    """The database behind an Ibis table is not one of those that recframe was tested on.

    recframe is tested on DuckDB, PostgreSQL and ClickHouse. On another database, a query may fail, or round or sort
    differently. Compare a few values with the same call on a polars or pandas frame before you rely on them. The
    warning appears once for each database, and its message says whether Ibis writes SQL for that database at all.

    See Also
    --------
    DataWarning : The data look wrong, whatever the engine.
    """


class DataWarning(RecWarning):
    """The frame was evaluated, but something in it suggests that the numbers mean little.

    Examples are scores that are equal in every list, ids of the truth that match no recommendation, and items that a
    user has twice. The message says what was found, how often, and what to do. `check` looks for the same problems and
    for more, and returns them as a frame.

    See Also
    --------
    UndefinedWarning : No list has a value.
    """


class UndefinedWarning(RecWarning):
    """No list has a value under the metric, so the mean is not a number.

    It usually means that no list has a relevant item: the column of relevances is 0 everywhere, or the filter before
    the call removed the relevant rows. The result is ``nan``, or missing in a frame. ``undefined="raise_all"`` turns
    this case into an `UndefinedError`, which is the better choice in jobs.

    See Also
    --------
    UndefinedError : The error for lists without a value.
    """


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
    """Return a text with visible signs for its control characters, such as ``␛`` for Escape, except those in `keep`."""
    return _CONTROL.sub(lambda match: match[0] if match[0] in keep else _sign(ord(match[0])), text)


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
    """Return the error for a missing attribute; private names get a plain error, as Python itself asks for them."""
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
    """Return the error for a value outside the allowed ones; `meant` is the allowed value to suggest, if known."""
    allowed = list(allowed)
    listed = ", ".join(repr(value) for value in allowed)
    return OptionError(f"`{name}={quoted(value)}` is not one of {listed}", closest(meant or value, allowed))


LINE_OF_CALL: ContextVar[tuple[str, int] | None] = ContextVar("line of call", default=None)
"""The file and line at which the user made the postponed call that is running now, if one is."""


WARNED_TEXTS: ContextVar[set[str] | None] = ContextVar("warned texts", default=None)
"""The texts that a call which consists of several calls has warned of, if one is running."""


@contextmanager
def each_warning_once() -> Iterator[None]:
    """Give each warning once, although several calls look at the same data."""
    token = WARNED_TEXTS.set(set())
    try:
        yield
    finally:
        WARNED_TEXTS.reset(token)


def warn(text: str, category: type[Warning]) -> None:
    """Warn at the user's line. For a postponed call it is the line of the call, because a thread may collect it."""
    warned = WARNED_TEXTS.get()
    if warned is not None:
        if text in warned:
            return
        warned.add(text)
    line = LINE_OF_CALL.get()
    if line is None:
        level, _ = _user_frame()
        warnings.warn(text, category, stacklevel=level)
    else:
        warnings.warn_explicit(text, category, *line)


def user_line() -> tuple[str, int]:
    """Return the file and line of the user's code that is running now."""
    _, frame = _user_frame()
    return frame.f_code.co_filename, frame.f_lineno


def _user_frame() -> tuple[int, FrameType]:
    """Return the stack level, counted from the caller, and the stack frame of the first code outside the package."""
    # Until Python 3.12, a cached property is a frame of functools between two of the package.
    inside = {__name__.partition(".")[0], "functools"}
    level = 1
    frame = sys._getframe(1)  # noqa: SLF001
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in inside:
        level = level + 1
        frame = frame.f_back
    return level, frame
