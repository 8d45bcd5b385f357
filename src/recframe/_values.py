"""Checks of single arguments: whether a call has them, and what they hold: names of columns, numbers, words."""

from __future__ import annotations

import math
import operator
from collections.abc import Collection, Sequence
from contextlib import suppress
from decimal import Decimal
from numbers import Real
from typing import TYPE_CHECKING, Any

from recframe._defaults import config_hint
from recframe._guesses import WORDS, argument_hint
from recframe.errors import MissingColumnError, OptionError, OptionTypeError, closest, one_of, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable


def check_names(names: Iterable[str], allowed: Sequence[str], also: Sequence[str] = ()) -> None:
    """Raise for an argument that a call does not accept; `also` names those that are no roles."""
    for name in names:
        if name not in (*also, *allowed):
            msg = f"there is no argument {name!r}; there are {', '.join([*also, *allowed])}"
            raise OptionTypeError(msg, argument_hint(name, allowed, also))


def unnamed_role(given: object, call: str) -> OptionTypeError:
    """Return the error for a value that a call gets without the name of its role."""
    return OptionTypeError(f"{quoted(given)} lacks the name of its role", f"name it: {call}(by='user')")


# --- names of columns --------------------------------------------------------------------------------------------

VALUES = ("Series", "Index", "ndarray", "ChunkedArray", "Array")
"""What libraries call the values of a column."""
FRAMES = ("DataFrame", "LazyFrame", "Table", "DuckDBPyRelation")

Labels = Collection[Any] | None
"""The column labels of the call's pandas frames, which need not be text; None: columns are named by text only."""


def column_name(role: str, given: object, labels: Labels = None) -> str:
    """Return the column that an argument names.

    Raises
    ------
    OptionTypeError
        The argument is an expression, a column, a number or anything else that names no column.
    MissingColumnError
        It could be the label of a pandas frame, but is not.
    """
    if is_label(given, labels):
        return given  # type: ignore[return-value] # what is called a name may be any label of pandas
    if labels is not None and isinstance(given, int | float | tuple) and not isinstance(given, bool):
        names = ", ".join(map(quoted, labels)) or "no columns"
        msg = f"{role}={quoted(given)}: the frame has no such column; it has {names}"
        raise MissingColumnError.of(msg, "", role, given)
    what, hint = _instead(role, given)
    hint = config_hint(role, given) or hint
    msg = f"{role}={quoted(given)} is {what}not the name of a column"
    raise OptionTypeError(msg, hint)


def column_or_none(role: str, given: object, labels: Labels = None) -> str | None:
    """Return the column of a role that may have none, or raise."""
    return None if given is None else column_name(role, given, labels)


def column_names(role: str, given: object, labels: Labels = None) -> str | list[str] | None:
    """Return what an argument names: one column, a list of columns, or None.

    A tuple that is a label of a pandas frame is one column; any other tuple is a sequence of columns.
    """
    if given is None or is_label(given, labels) or not isinstance(given, Sequence) or isinstance(given, bytes):
        return None if given is None else column_name(role, given, labels)
    return [column_name(role, name, labels) for name in given]


def as_tuple(given: Any) -> tuple[str, ...]:
    """Return the columns that `column_names` found, as a tuple."""
    if given is None:
        return ()
    return tuple(given) if isinstance(given, list) else (given,)


def is_label(given: object, labels: Labels) -> bool:
    """Return whether something is text that can name a column, or a label that the frames have."""
    if isinstance(given, str):
        # Half a surrogate pair is no text to polars.
        return given.isascii() or not any("\ud800" <= character <= "\udfff" for character in given)
    try:
        # A set compares what has one hash only, so that nothing without a truth value is compared.
        return labels is not None and given in set(labels)
    except TypeError:
        return False


def holds_values(given: object) -> bool:
    """Return whether something is a column's values, of any library."""
    kinds = [(base.__module__.split(".")[0], base.__name__) for base in type(given).__mro__]
    return any(name in VALUES and _is_of_frames(library) for library, name in kinds)


def _is_of_frames(library: str) -> bool:
    """Return whether a library is one of frames or of their columns."""
    from recframe._engines.registry import KINDS  # for messages only

    return library in {"narwhals", "numpy", *(kind.module.split(".")[0] for kind in KINDS)}


def _instead(role: str, given: object) -> tuple[str, str]:
    """Return what was given instead of a name, and the remedy."""
    kind = type(given)
    if not _is_of_frames(kind.__module__.split(".")[0]):
        return "", f"{role}='name'"
    if kind.__name__ in FRAMES:
        return "a frame, ", f"{role}='name'"
    name = _name_of(given)
    if name is not None:
        return ("the column itself, " if holds_values(given) else "an expression, "), f"{role}={name!r}"
    also = ", or give min_relevance=" if role == "relevant" else ""
    add = "df.assign(name=...)" if kind.__module__.startswith("pandas") else "df.with_columns(name=...)"
    what = "a column's values, " if holds_values(given) else "an expression, "
    return what, f"add the column to the frame first, {add}, then {role}='name'{also}"


def _name_of(given: Any) -> str | None:
    """Return the name of a column that an expression or a series is, unless it is computed from it."""
    if holds_values(given):
        name = getattr(given, "name", None)
        # Truth values keep the name of the column that they were compared with.
        is_boolean = str(getattr(given, "dtype", "")).lower().startswith("bool")
        return name if isinstance(name, str) and name and not is_boolean else None
    roots = given.meta.root_names() if type(given).__module__.startswith("polars") else []
    return roots[0] if len(roots) == 1 and str(given) == f'col("{roots[0]}")' else None


# --- numbers and words -------------------------------------------------------------------------------------------

MOST_EXACT = 2**53
"""The largest integer up to which floats hold all."""
LARGEST_NUMBER = 1e300
"""The largest number that is read as a score or a value of a list: sums of larger ones are infinite."""
MOST_ROWS = 2**31 - 1
"""The largest number of rows of a list, and so the largest cutoff."""


def whole_number(
    name: str,
    given: object,
    hint: str,
    *,
    least: int = 1,
    most: int | None = MOST_ROWS,
    wrong: str = "is not a whole number",
) -> int:
    """Return a whole number within bounds; `wrong` says what else is wrong."""
    try:
        number = None if isinstance(given, bool) else operator.index(given)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = None
    if number is None:
        msg = f"{name}={quoted(given)} {wrong}"
        raise OptionTypeError(msg, hint)
    if number < least or (most is not None and number > most):
        msg = f"{name}={quoted(number)} is {f'less than {least}' if number < least else f'more than {most}'}"
        raise OptionError(msg, hint)
    return number


def number(name: str, given: object, hint: str = "") -> float:
    """Return a number as a float; NaN is none."""
    try:
        value = float(given) if isinstance(given, Real | Decimal) and not isinstance(given, bool) else None
    except ValueError:
        value = math.nan
    except OverflowError:
        msg = f"{name}={quoted(given)} is more than a float can hold"
        raise OptionError(msg, hint) from None
    if value is None or math.isnan(value):
        msg = f"{name}={quoted(given)} is not a number"
        raise (OptionTypeError if value is None else OptionError)(msg, hint)
    return value


def number_or(name: str, given: object, words: Sequence[str], hint: str = "") -> Any:
    """Return a number as a float, or one of some words."""
    if isinstance(given, str) and given in words:
        return given
    if isinstance(given, str) or given is None:
        msg = f"{name}={quoted(given)} is not {', '.join(map(repr, words))} or a number"
        raise OptionError(msg, closest(given, words) or hint)
    return number(name, given)


def finite_or(name: str, given: object, words: Sequence[str], hint: str) -> Any:
    """Return a number that means can be made of as a float, or one of some words."""
    value = number_or(name, given, words, hint)
    if isinstance(value, float) and not abs(value) <= LARGEST_NUMBER:
        msg = f"{name}={quoted(given)} is not within ±{LARGEST_NUMBER:g}"
        raise OptionError(msg, hint)
    return value


def share_or(name: str, given: object, words: Sequence[str]) -> Any:
    """Return a number above 0 and up to 1 as a float, or one of some words."""
    value = number_or(name, given, words)
    if isinstance(value, float) and not 0 < value <= 1:
        msg = f"{name}={quoted(given)} is not above 0 and at most 1"
        raise OptionError(msg)
    return value


def pair_of_numbers(name: str, given: Any) -> tuple[int, int]:
    """Return how many of how many: two whole numbers from 1, the first below the second."""
    hint = f"how many of how many, such as {name}=(99, 10_000)"
    if not isinstance(given, tuple | list) or len(given) != 2:  # noqa: PLR2004 - a pair
        msg = f"{name}={quoted(given)} is not a pair of numbers"
        raise OptionTypeError(msg, hint)
    some, total = (whole_number(name, part, hint) for part in given)
    if some >= total:
        msg = f"{name}={quoted(given)} holds no smaller number before a larger one"
        raise OptionError(msg, hint)
    return some, total


def flag(name: str, given: object) -> bool:
    """Return a truth value."""
    if not isinstance(given, bool):
        msg = f"{name}={quoted(given)} is neither True nor False"
        raise OptionTypeError(msg)
    return given


def ids(name: str, given: Any, hint: str, *, in_order: bool = False) -> list[Any]:
    """Return the users or items that something holds as a list; each can be compared with the others.

    In order, they are those of the rows of something else: a set says nothing of which is whose.
    """
    listed = None
    refused = (str, bytes, type, *((set, frozenset) if in_order else ()))
    if not isinstance(given, refused) and not hasattr(type(given), "columns"):
        with suppress(TypeError):
            listed = list(given.tolist() if hasattr(type(given), "tolist") else given)
    if listed is None:
        msg = f"{name}={quoted(given)} is neither a frame nor a sequence"
        raise OptionTypeError(msg, hint)
    try:
        set(listed)
    except TypeError as error:
        msg = f"{name} holds what is no id: {error}"
        raise OptionTypeError(msg, hint) from None
    return listed


def choice(name: str, given: Any, allowed: Iterable[str]) -> Any:
    """Return one of some words, or raise."""
    allowed = tuple(allowed)
    if not isinstance(given, str) or given not in allowed:
        text = given.lower() if isinstance(given, str) else "none" if given is None else ""
        meant = [word for word in allowed if text in WORDS.get(word, ())]
        raise one_of(name, given, allowed, *meant)
    return given
