"""Checks of single arguments: whether a call has them, and what they hold: names of columns, numbers, words."""

from __future__ import annotations

import math
import operator
from collections.abc import Collection, Sequence
from contextlib import suppress
from decimal import Decimal
from numbers import Real
from typing import TYPE_CHECKING, Any

from recframe._base.defaults import config_hint
from recframe._base.guesses import OTHER_WORDS, argument_hint
from recframe.errors import MissingColumnError, OptionError, OptionTypeError, before_list, closest, one_of, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable


def check_names(names: Iterable[str], allowed: Sequence[str], also: Sequence[str] = ()) -> None:
    """Raise for an argument that a call does not accept: `allowed` names roles, and `also` its other arguments."""
    for name in names:
        if name not in (*also, *allowed):
            existing = f"there are {', '.join([*also, *allowed])}"
            msg = f"there is no argument {name!r}"
            raise OptionTypeError(msg, before_list(argument_hint(name, allowed, also), existing))


def unnamed_role(value: object, call: str) -> OptionTypeError:
    """Return the error for a value that a call gets without the name of its role."""
    return OptionTypeError(f"{quoted(value)} lacks the name of its role", f"name it: {call}(by='user')")


# --- names of columns --------------------------------------------------------------------------------------------

FRAME_LIBRARIES = {"narwhals", "numpy", "polars", "pandas", "pyarrow", "duckdb", "ibis", "pyspark"}
"""The libraries of frames and of their columns; messages say what was given instead of a column's name."""
COLUMN_TYPES = ("Series", "Index", "ndarray", "ChunkedArray", "Array")
"""The names of column types in frame libraries."""
FRAME_TYPES = ("DataFrame", "LazyFrame", "Table", "DuckDBPyRelation")
"""The names of frame types in these libraries."""

Labels = Collection[Any] | None
"""The column labels of the call's pandas frames, which need not be text; None: columns are named by text only."""


def column_name(role: str, value: object, labels: Labels = None) -> str:
    """Return the column that an argument names.

    Raises
    ------
    OptionTypeError
        The argument is an expression, a column, a number or anything else that names no column.
    MissingColumnError
        It could be the label of a pandas frame, but is not.
    """
    if is_label(value, labels):
        return value  # type: ignore[return-value] # pandas has labels of other types
    if labels is not None and isinstance(value, int | float | tuple) and not isinstance(value, bool):
        names = ", ".join(map(quoted, labels)) or "no columns"
        msg = f"`{role}={quoted(value)}`: the frame has no such column; it has {names}"
        raise MissingColumnError.of(msg, "", (role, value))
    what, hint = _kind_and_remedy(role, value)
    hint = config_hint(role, value) or hint
    msg = f"`{role}={quoted(value)}` is {what}not the name of a column"
    raise OptionTypeError(msg, hint)


def column_or_none(role: str, value: object, labels: Labels = None) -> str | None:
    """Return the column of a role that may have none, or raise."""
    return None if value is None else column_name(role, value, labels)


def column_names(role: str, value: object, labels: Labels = None) -> str | list[str] | None:
    """Return what an argument names: one column, a list of columns, or None.

    A tuple that is a label of a pandas frame is one column; any other tuple is a sequence of columns.
    """
    if value is None or is_label(value, labels) or not isinstance(value, Sequence) or isinstance(value, bytes):
        return None if value is None else column_name(role, value, labels)
    return [column_name(role, name, labels) for name in value]


def as_tuple(value: Any) -> tuple[str, ...]:
    """Return the columns that `column_names` returned, as a tuple."""
    if value is None:
        return ()
    return tuple(value) if isinstance(value, list) else (value,)


def is_label(value: object, labels: Labels) -> bool:
    """Return whether an object can name a column: it is text, or a label that the frames have."""
    if isinstance(value, str):
        # Half a surrogate pair is no text to polars.
        return value.isascii() or not any("\ud800" <= character <= "\udfff" for character in value)
    try:
        # A set compares only values with equal hashes. An array, whose comparison has no truth value, has no hash.
        return labels is not None and value in set(labels)
    except TypeError:
        return False


def holds_values(value: object) -> bool:
    """Return whether an object is a column of any frame library."""
    kinds = [(base.__module__.split(".")[0], base.__name__) for base in type(value).__mro__]
    return any(name in COLUMN_TYPES and _is_frame_library(library) for library, name in kinds)


def _is_frame_library(library: str) -> bool:
    """Return whether a library has frames or columns of frames."""
    return library in FRAME_LIBRARIES


def _kind_and_remedy(role: str, value: object) -> tuple[str, str]:
    """Return what kind of object was passed instead of a column's name, as text, and the remedy."""
    kind = type(value)
    if isinstance(value, type) or not _is_frame_library(kind.__module__.split(".")[0]):
        return "", f"`{role}={quoted(sorted(value, key=quoted) if isinstance(value, set | frozenset) else 'name')}`"
    if kind.__name__ in FRAME_TYPES:
        return "a frame, ", f"`{role}='name'`"
    name = _name_of(value)
    if name is not None:
        return ("the column itself, " if holds_values(value) else "an expression, "), f"`{role}={name!r}`"
    if kind.__name__ == "Selector":
        return "a selector of columns, ", f"{role}=df.select(...).columns, the list of their names"
    also = ", or give `min_relevance=`" if role == "relevant" else ""
    of_pandas = kind.__module__.startswith("pandas")
    # An expression of polars is refused on other frames, too.
    add = "df.assign(name=...)" if of_pandas else "df.with_columns(name=...), or df.assign(name=...) in pandas"
    what = "a column's values, " if holds_values(value) else "an expression, "
    return what, f"add the column to the frame first, {add}, then `{role}='name'`{also}"


def _name_of(value: Any) -> str | None:
    """Return the column name of an expression or series, unless it computes something from the column."""
    if holds_values(value):
        name = getattr(value, "name", None)
        # Truth values keep the name of the column that they were compared with.
        is_boolean = str(getattr(value, "dtype", "")).lower().startswith("bool")
        return name if isinstance(name, str) and name and not is_boolean else None
    roots = value.meta.root_names() if type(value).__module__[:6] == "polars" and hasattr(value, "meta") else []
    return roots[0] if len(roots) == 1 and str(value) == f'col("{roots[0]}")' else None


# --- numbers and words -------------------------------------------------------------------------------------------

ROUNDING = 1e-12
"""Two values of a list that differ by less count as equal, because the order of a sum changes its last bits."""
MOST_EXACT = 2**53
"""The largest n for which floats hold every integer up to n."""
LARGEST_NUMBER = 1e300
"""The largest number that is accepted as a score or a value: sums of larger numbers could be infinite."""
MOST_ROWS = 2**31 - 1
"""The largest number of rows of a list, and so the largest cutoff."""


def whole_number(
    name: str,
    value: object,
    hint: str,
    *,
    least: int = 1,
    most: int | None = MOST_ROWS,
    wrong: str = "is not a whole number",
) -> int:
    """Return a whole number within bounds, or raise."""
    try:
        number = None if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = None
    if number is None:
        msg = f"`{name}={quoted(value)}` {wrong}"
        raise OptionTypeError(msg, hint)
    if number < least or (most is not None and number > most):
        msg = f"`{name}={quoted(number)}` is {f'less than {least}' if number < least else f'more than {most}'}"
        raise OptionError(msg, hint)
    return number


def number(name: str, value: object, hint: str = "") -> float:
    """Return a number as a float, or raise; NaN is not accepted."""
    try:
        converted = float(value) if isinstance(value, Real | Decimal) and not isinstance(value, bool) else None
    except ValueError:
        converted = math.nan
    except OverflowError:
        msg = f"`{name}={quoted(value)}` is more than a float can hold"
        raise OptionError(msg, hint) from None
    if converted is None or math.isnan(converted):
        msg = f"`{name}={quoted(value)}` is not a number"
        raise (OptionTypeError if converted is None else OptionError)(msg, hint)
    return converted


def number_or_word(name: str, value: object, words: Sequence[str], hint: str = "") -> Any:
    """Return a number as a float, or an allowed word."""
    if isinstance(value, str) and value in words:
        return value
    if isinstance(value, str) or value is None:
        msg = f"`{name}={quoted(value)}` is not {', '.join(map(repr, words))} or a number"
        raise OptionError(msg, closest(value, words) or hint)
    return number(name, value)


def finite_number_or_word(name: str, option_value: object, words: Sequence[str], hint: str) -> Any:
    """Return a number as a float that is small enough to average, or an allowed word."""
    value = number_or_word(name, option_value, words, hint)
    if isinstance(value, float) and not abs(value) <= LARGEST_NUMBER:
        msg = f"`{name}={quoted(option_value)}` is not within ±{LARGEST_NUMBER:g}"
        raise OptionError(msg, hint)
    return value


def share_or_word(name: str, option_value: object, words: Sequence[str]) -> Any:
    """Return a number above 0 and up to 1 as a float, or an allowed word."""
    value = number_or_word(name, option_value, words)
    if isinstance(value, float) and not 0 < value <= 1:
        msg = f"`{name}={quoted(option_value)}` is not above 0 and at most 1"
        raise OptionError(msg)
    return value


def pair_of_numbers(name: str, value: Any) -> tuple[int, int]:
    """Return two whole numbers ``(m, n)`` from 1, with m below n."""
    hint = f"how many of how many, such as `{name}=(99, 10_000)`"
    if not isinstance(value, tuple | list) or len(value) != 2:  # noqa: PLR2004 - a pair
        msg = f"`{name}={quoted(value)}` is not a pair of numbers"
        raise OptionTypeError(msg, hint)
    some, total = (whole_number(name, part, hint) for part in value)
    if some >= total:
        msg = f"`{name}={quoted(value)}` holds no smaller number before a larger one"
        raise OptionError(msg, hint)
    return some, total


def flag(name: str, value: object) -> bool:
    """Return a truth value."""
    if not isinstance(value, bool):
        msg = f"`{name}={quoted(value)}` is neither True nor False"
        raise OptionTypeError(msg)
    return value


def ids(name: str, values: Any, hint: str, *, in_order: bool = False) -> list[Any]:
    """Return users or items as a list of hashable ids.

    With `in_order`, id number i belongs to row i of another argument, so a set is refused: it has no order.
    """
    listed = None
    refused = (str, bytes, type, *((set, frozenset) if in_order else ()))
    if not isinstance(values, refused) and not hasattr(type(values), "columns"):
        with suppress(TypeError):
            listed = list(values.tolist() if hasattr(type(values), "tolist") else values)
    if listed is None:
        msg = f"`{name}={quoted(values)}` is neither a frame nor a sequence"
        raise OptionTypeError(msg, hint)
    try:
        set(listed)
    except TypeError as error:
        msg = f"{name} holds what is no id: {error}"
        raise OptionTypeError(msg, hint) from None
    return listed


def choice(name: str, value: Any, allowed: Iterable[str]) -> Any:
    """Return the value if it is an allowed word, or raise."""
    allowed = tuple(allowed)
    if not isinstance(value, str) or value not in allowed:
        text = ""
        if isinstance(value, str):
            text = value.lower()
        elif value is None:
            text = "none"
        meant = [word for word in allowed if text in OTHER_WORDS.get(word, ())]
        raise one_of(name, value, allowed, *meant)
    return value
