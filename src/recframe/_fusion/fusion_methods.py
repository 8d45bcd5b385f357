"""The methods of fusion, a record for each, and their numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Literal

import narwhals as nw

from recframe._fusion.medians import median, sorted_column
from recframe._values import number
from recframe.errors import OptionError, quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

WINS = "wins"
"""How many items of its list an item wins against, and itself."""


@dataclass(frozen=True)
class Values:
    """What the models give an item: a row of the frame."""

    each: Sequence[nw.Expr]
    """The values of all models, times their weights, missing where a model gives none."""
    count: nw.Expr
    """How many models give one."""
    weight: nw.Expr
    """The sum of their weights."""
    number: float
    """The method's own number."""

    @property
    def total(self) -> nw.Expr:
        """The sum of the values, the least first: items tie whichever model gave which value."""
        return nw.sum_horizontal(*(nw.when(self.count > i).then(sorted_column(i)) for i in range(len(self.each))))


@dataclass(frozen=True)
class Method:
    """How the values that models give an item become one.

    Attributes
    ----------
    fused : callable
        From the values of an item to its fused score.
    place : {"rrf", "isr", "borda", "rbc", "place"}, optional
        The weight of a position, if the method reads positions; None: it reads scores.
    number : str, optional
        The name of its own number.
    weights : {"optional", "needed", "refused"}
        Whether models may have weights.
    weighs : {"values", "models"}
        What weights multiply: the values, or what the method does with the number of models.
    tunes_weights : bool
        Whether `tune_fusion` looks for weights, as ranx does.
    """

    fused: Callable[[Values], nw.Expr]
    place: Literal["rrf", "isr", "borda", "rbc", "place"] | None = None
    number: str | None = None
    weights: Literal["optional", "needed", "refused"] = "optional"
    weighs: Literal["values", "models"] = "values"
    tunes_weights: bool = False


_total = attrgetter("total")
METHODS: Mapping[str, Method] = {
    "rrf": Method(_total, "rrf", "k"),
    "borda": Method(_total, "borda", tunes_weights=True),
    "isr": Method(lambda values: values.count * values.total, "isr"),
    "sum": Method(_total),
    "mnz": Method(lambda values: values.count * values.total),
    "min": Method(lambda values: nw.min_horizontal(*values.each), weights="refused"),
    "max": Method(lambda values: nw.max_horizontal(*values.each), weights="refused"),
    "median": Method(lambda values: median(len(values.each), values.count), weights="refused"),
    "anz": Method(lambda values: values.total / values.count, weights="refused"),
    "weighted": Method(_total, weights="needed", tunes_weights=True),
    "gmnz": Method(lambda values: values.count**values.number * values.total, number="gamma"),
    "wmnz": Method(lambda values: values.weight * values.total, weights="needed", weighs="models", tunes_weights=True),
    "mixed": Method(lambda values: values.count.sqrt() * values.total, tunes_weights=True),
    "log_isr": Method(lambda values: values.count.log() * values.total, "isr"),
    "logn_isr": Method(lambda values: (values.count + values.number).log() * values.total, "isr", "sigma"),
    "rbc": Method(_total, "rbc", "p"),
    # Pairs of items made its column.
    "condorcet": Method(lambda _: nw.col(WINS), "place", weighs="models", tunes_weights=True),
}
"""The methods by their names, the default first."""
BY_POSITION = tuple(name for name, method in METHODS.items() if method.place)
"""The methods that read positions only."""
NUMBERS: Mapping[str, tuple[float, Callable[[float], bool], str]] = {
    "k": (60.0, lambda value: 0 <= value < math.inf, "a number from 0 on"),
    "gamma": (0.5, math.isfinite, "finite"),
    "sigma": (0.01, lambda value: 0 <= value < math.inf, "a number from 0 on"),
    "p": (0.8, lambda value: 0 < value < 1, "between 0 and 1"),
}
"""The default of each number, whether it accepts a value, and what it accepts in words."""


def number_of(method: str, options: Mapping[str, object]) -> float:
    """Return the number of a method, or raise for one that is wrong, or that the method does not read."""
    constant = METHODS[method].number
    for name, (default, accepts, words) in NUMBERS.items():
        value = number(name, options[name], f"{name}={default:g}")
        if not accepts(value):
            msg = f"{name}={quoted(options[name])} is not {words}"
            raise OptionError(msg, f"{name}={default:g}")
        # The constant of the default method is accepted by all.
        if name not in ("k", constant) and value != default:
            reads = next(other for other, record in METHODS.items() if record.number == name)
            msg = f"method={method!r} does not read {name}={quoted(options[name])}"
            raise OptionError(msg, f"leave it out, or method={reads!r}")
    return 0.0 if constant is None else number(constant, options[constant])
