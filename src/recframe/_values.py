"""Checks of single values: numbers and choices."""

from __future__ import annotations

import math
import operator
from contextlib import suppress
from decimal import Decimal
from numbers import Real
from typing import TYPE_CHECKING, Any

from recframe.errors import OptionError, OptionTypeError, closest, one_of, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MOST = 2**31 - 1
"""The largest number of rows of a list, and so the largest cutoff."""


def whole_number(
    name: str,
    given: object,
    hint: str,
    *,
    least: int = 1,
    most: int | None = MOST,
    wrong: str = "is not a whole number",
) -> int:
    """Return a whole number within bounds; `wrong` says what else is wrong."""
    try:
        number = None if isinstance(given, bool) else operator.index(given)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = None
    if number is None:
        msg = f"{name}={shown(given)} {wrong}"
        raise OptionTypeError(msg, hint)
    if number < least:
        msg = f"{name}={shown(number)} is less than {least}"
        raise OptionError(msg, hint)
    if most is not None and number > most:
        msg = f"{name}={shown(number)} is more than {most}"
        raise OptionError(msg, hint)
    return number


def number(name: str, given: object, hint: str = "") -> float:
    """Return a number as a float; NaN is none."""
    try:
        found = float(given) if isinstance(given, Real | Decimal) and not isinstance(given, bool) else None
    except ValueError:
        found = math.nan
    except OverflowError:
        msg = f"{name}={shown(given)} is more than a float can hold"
        raise OptionError(msg, hint) from None
    if found is None:
        msg = f"{name}={shown(given)} is not a number"
        raise OptionTypeError(msg, hint)
    if math.isnan(found):
        msg = f"{name}={shown(given)} is not a number"
        raise OptionError(msg, hint)
    return found


def number_or(name: str, given: object, words: Sequence[str]) -> Any:
    """Return a number as a float, or one of some words."""
    if isinstance(given, str) and given in words:
        return given
    if isinstance(given, str) or given is None:
        msg = f"{name}={shown(given)} is not {', '.join(map(repr, words))} or a number"
        raise OptionError(msg, closest(given, words))
    return number(name, given)


def flag(name: str, given: object) -> bool:
    """Return a truth value."""
    if not isinstance(given, bool):
        msg = f"{name}={shown(given)} is neither True nor False"
        raise OptionTypeError(msg)
    return given


def ids(name: str, given: Any, hint: str) -> list[Any]:
    """Return the users or items that something holds as a list; each can be told from the others."""
    found = None
    if not isinstance(given, str | bytes | type) and not hasattr(type(given), "columns"):
        with suppress(TypeError):
            found = list(given.tolist() if hasattr(type(given), "tolist") else given)
    if found is None:
        msg = f"{name}={shown(given)} is neither a frame nor a sequence"
        raise OptionTypeError(msg, hint)
    try:
        set(found)
    except TypeError as error:
        msg = f"{name} holds what is no id: {error}"
        raise OptionTypeError(msg, hint) from None
    return found


def choice(name: str, given: object, allowed: Iterable[str]) -> None:
    """Raise for what is not one of some words."""
    allowed = tuple(allowed)
    if not isinstance(given, str) or given not in allowed:
        raise one_of(name, given, allowed)
