"""Gain: the number that DCG counts for a relevance, from a name, a table or a function."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

import narwhals as nw

from recframe.errors import OptionError, OptionTypeError, quoted
from recframe.metrics._options import table_of

if TYPE_CHECKING:
    from recframe.metrics._ideal_row import IdealRow
    from recframe.metrics._row import Row

Table = tuple[tuple[float, float], ...]
"""A mapping as a metric stores it: a sorted tuple of pairs, which can be hashed."""
GainName = Literal["linear", "exp2", "binary"]
"""The gains with a name: the relevance itself, 2^relevance − 1, or 1 for a relevant row."""
Gain = GainName | Mapping[float, float] | Table | Callable[[nw.Expr], nw.Expr]
"""How relevance becomes gain: a name, a table, or a function of the relevance's expression (a float)."""
Grades = Literal["all", "positive", "relevant", "signed"]
"""Which relevance has a gain: every value, those above 0, those above 0 of relevant rows, or every value, negative
ones in the ideal too."""
_TABLE = "{1: 1, 2: 3}"


def checked_gain(gain: Any) -> Table:
    """Return a table of gains as a metric stores it; raise for values that are not a table of gains."""
    table = table_of("gain", gain, _TABLE)
    for relevance, number in table:
        if not math.isfinite(number):
            msg = f"gain={quoted(gain)} gives relevance {relevance:g} the gain {number:g}"
            raise OptionError(msg, "gains are finite numbers")
        if number < 0 or (number > 0 and relevance <= 0):
            msg = f"gain={quoted(gain)} gives relevance {relevance:g} the gain {number:g}"
            raise OptionError(msg, "gains are 0 or more, and what is not above 0 has none")
    return table


def check_function(name: str, function: Callable[[nw.Expr], object], of: str, example: str) -> None:
    """Raise for a function that does not turn an expression into another expression."""
    hint = f"{name}=lambda {of}: {example}"
    hint += f", or a table such as {name}={_TABLE}" if name == "gain" else ""
    try:
        result = function(nw.col(of))
    except Exception as error:
        msg = f"{name}={quoted(function)} fails for the {of}'s expression: {error}"
        raise OptionTypeError(msg, hint) from error
    if not isinstance(result, nw.Expr):
        msg = f"{name}={quoted(function)} gives a {type(result).__name__}, not an expression of the {of}"
        raise OptionTypeError(msg, hint)


def looked_up(relevance: nw.Expr, table: Table) -> nw.Expr:
    """Return the number that a table has for a relevance, 0 if it has none."""
    gain = nw.lit(0.0)
    for grade, number in table:
        gain = nw.when(relevance == grade).then(nw.lit(number)).otherwise(gain)
    return gain


def gain_of(row: Row | IdealRow, gain: Any, grades: Grades) -> nw.Expr:
    """Return the gain of a row."""
    if gain == "binary":
        return row.hit
    relevance = row.relevance
    if grades in ("positive", "relevant"):
        counts = relevance > 0 if grades == "positive" else (relevance > 0) & (row.hit > 0)
        relevance = nw.when(counts).then(relevance).otherwise(0.0)
    if isinstance(gain, str):
        return 2.0**relevance - 1 if gain == "exp2" else relevance
    value = looked_up(relevance, gain) if isinstance(gain, tuple) else gain(relevance)
    return nw.when(relevance > 0).then(value).otherwise(0.0)


def order_by_gain(gain: Any, grades: Grades) -> Callable[[IdealRow], nw.Expr] | None:
    """Return the gain that sorts the best order, or None if the gain grows with the relevance, which then sorts it."""
    return None if isinstance(gain, str) else _sorted_by(gain, grades)


@lru_cache(64)
def _sorted_by(gain: Any, grades: Grades) -> Callable[[IdealRow], nw.Expr]:
    """Return the gain of a row; the same function for the same arguments."""
    return lambda row: gain_of(row, gain, grades)


def explained_gain(gain: Any, grades: Grades) -> str:
    """Return the option `gain` in words."""
    names = {"linear": "relevance", "exp2": "2^relevance − 1", "binary": "1 for what is relevant, else 0"}
    if isinstance(gain, str):
        words = names[gain]
    elif isinstance(gain, tuple):
        words = ", ".join([*(f"{number:g} for relevance {grade:g}" for grade, number in gain), "else 0"])
    else:
        words = f"{getattr(gain, '__name__', 'a function')}(relevance), 0 where that is not above 0"
    if gain not in ("linear", "exp2"):
        return words
    lacks = {"positive": ", 0 where that is negative", "relevant": ", 0 where that is negative or not relevant"}
    return words + lacks.get(grades, "")
