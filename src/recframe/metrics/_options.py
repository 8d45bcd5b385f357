"""The options of a metric, read from its fields to check, document and list them.

A field's type says which values it accepts: a Literal its words, `bool`, `int` and `float` those, a Callable a
function, and ``| None`` nothing. `bounds` adds the limits of a number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, fields
from functools import cache, partial
from types import UnionType
from typing import Any, Literal, Never, Union, get_args, get_origin, get_type_hints

from recframe._base.values import MOST_ROWS, choice, flag, number, whole_number
from recframe.errors import OptionError, OptionTypeError, quoted

CHECKED = frozenset({bool, int, float, Callable})
"""The kinds of values that are checked, in addition to words."""
MOST_SQUARED = 1e100
"""The largest number whose sums and squares are still finite."""


@dataclass(frozen=True)
class Bounds:
    """The limits of a number: from `least`, or `above` it; up to `most`, or `below` it."""

    least: float = -math.inf
    above: float = -math.inf
    most: float = math.inf
    below: float = math.inf

    def __contains__(self, value: float) -> bool:
        return math.isfinite(value) and self.least <= value <= self.most and self.above < value < self.below

    def __str__(self) -> str:
        if math.isfinite(self.above) and math.isfinite(self.below):
            return f"between {self.above:g} and {self.below:g}"
        limits = {"at least": self.least, "more than": self.above, "at most": self.most, "less than": self.below}
        return " and ".join(f"{word} {limit:g}" for word, limit in limits.items() if math.isfinite(limit)) or "finite"


def bounds(**limits: float) -> Mapping[str, Any]:
    """Return the metadata of a field for a number with limits: ``field(metadata=bounds(above=0, below=1))``."""
    return {"bounds": Bounds(**limits)}


def table(check: Callable[[Any], Any]) -> Mapping[str, Any]:
    """Return the metadata of a field for a mapping: what makes a table of it, or raises."""
    return {"table": check}


@dataclass(frozen=True)
class Option:
    """The values that one option of a metric accepts.

    Attributes
    ----------
    name : str
        The field's name.
    default : object
        Its value where the user gives none.
    words : tuple
        The words that it accepts.
    kinds : frozenset of type
        What else it accepts: `bool`, `int`, `float`, `Callable`, `Mapping`, `type(None)`.
    bounds : Bounds
        The limits of a number.
    table : callable, optional
        What makes a table of a mapping.
    """

    name: str
    default: Any
    words: tuple[Any, ...]
    kinds: frozenset[Any]
    bounds: Bounds
    table: Callable[[Any], Any] | None = None

    def checked(self, value: Any) -> Any:
        """Return a value as the metric keeps it, or raise if the option does not accept it."""
        kinds = self.kinds
        if (value is None and type(None) in kinds) or (Callable in kinds and callable(value)):
            return value
        if self.words and (isinstance(value, str) or not kinds & {*CHECKED, Mapping}):
            return self._word(value)
        if self.table is not None:
            return self.table(value)
        if Mapping in kinds and not isinstance(value, str):
            return value
        checks = ((bool, partial(flag, self.name)), (float, self._number), (int, self._whole_number))
        for kind, check in (*checks, (Callable, self._no_function)):
            if kind in kinds:
                return check(value)
        return value

    def _no_function(self, value: Any) -> Never:
        msg = f"{self.name}={quoted(value)} is neither a name nor a function"
        raise OptionTypeError(msg, f"the names are {', '.join(map(repr, self.words))}" if self.words else "")

    def _word(self, value: Any) -> Any:
        if all(isinstance(word, str) for word in self.words):
            choice(self.name, value, self.words)
        elif not isinstance(value, int | str | bytes) or value not in self.words:
            msg = f"{self.name}={quoted(value)} is not one of {', '.join(map(repr, self.words))}"
            raise OptionError(msg)
        return value

    def _number(self, option_value: Any) -> float:
        value = number(self.name, option_value)
        if value not in self.bounds:
            msg = f"{self.name}={quoted(option_value)} is not {self.bounds}"
            raise OptionError(msg)
        return option_value if isinstance(option_value, int | float) else value

    def _whole_number(self, value: Any) -> int:
        least = int(max(self.bounds.least, -MOST_ROWS))
        hint = f"{self.name} is a whole number" + (f" from {least}" if math.isfinite(self.bounds.least) else "")
        hint += (", or None" if type(None) in self.kinds else "") + (" for the whole list" if self.name == "k" else "")
        shape = getattr(value, "shape", None)  # expressions of pandas have any attribute
        is_array = isinstance(shape, tuple) and len(shape) == 1
        several = self.name == "k" and (is_array or isinstance(value, list | tuple | set | range))
        wrong = f"is of type {type(value).__name__}"
        wrong += "; for several cutoffs use evaluate(..., k=[...])" if several else ""
        return whole_number(self.name, value, hint, least=least, wrong=wrong)

    @property
    def values(self) -> list[str]:
        """The values to list, the default first: words, True and False, a number with its limits, a function."""
        default = [] if self.default is MISSING else [str(getattr(self.default, "__name__", self.default))]
        others = [*self.words, *(["False", "True"] if bool in self.kinds else [])]
        if {int, float} & self.kinds:
            limited = self.bounds != Bounds()
            others.append(("whole number" if int in self.kinds else "number") + (f" {self.bounds}" if limited else ""))
        others += ["mapping"] if Mapping in self.kinds else []
        others += ["function"] if Callable in self.kinds else []
        return list(dict.fromkeys([*default, *map(str, others)]))


def table_of(name: str, table: Any, example: str, of: str = "relevances") -> tuple[tuple[float, float], ...]:
    """Return a mapping to numbers as a sorted tuple, so that a metric that holds it stays hashable."""
    try:
        return tuple(sorted((float(grade), float(number)) for grade, number in dict(table).items()))
    except (TypeError, ValueError) as error:
        msg = f"{name}={quoted(table)} does not map {of} to numbers"
        raise OptionTypeError(msg, f"{name}={example}") from error


def options_of(kind: Any) -> tuple[Option, ...]:
    """Return the options of a kind of metric, `k` among them, in the order of its fields."""
    return _options_of(kind)


@cache
def _options_of(kind: Any) -> tuple[Option, ...]:
    options = []
    for field in fields(kind):
        parts = _parts(_hint(kind, field))
        words = tuple(word for part in parts if get_origin(part) is Literal for word in get_args(part))
        kinds = frozenset(get_origin(part) or part for part in parts if get_origin(part) is not Literal)
        limits = field.metadata.get("bounds", Bounds())
        table = field.metadata.get("table")
        options.append(Option(field.name, field.default, words, kinds, limits, table))
    return tuple(options)


def _hint(kind: Any, field: Field[Any]) -> Any:
    """Return the type of a field, by itself; None for one that only type checkers can read, which stays unchecked."""
    owner = [base for base in kind.__mro__ if vars(base).get("__dataclass_fields__", {}).get(field.name) is field][-1]
    alone = type(field.name, (), {"__annotations__": {field.name: field.type}, "__module__": owner.__module__})
    try:
        return get_type_hints(alone, localns=dict(vars(owner)))[field.name]
    except (NameError, TypeError, AttributeError, SyntaxError):
        return None


def _parts(hint: Any) -> list[Any]:
    """Return the types of a union, else the type itself."""
    if get_origin(hint) in (UnionType, Union):
        return [part for inner in get_args(hint) for part in _parts(inner)]
    return [] if hint is None else [hint]
