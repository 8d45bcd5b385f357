"""The fusion methods, one record each, and the numbers that they read."""

from __future__ import annotations

import math
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Literal, NamedTuple

import narwhals as nw

from recframe._base.values import number
from recframe._inference.fusion.medians import median, sorted_column
from recframe.errors import OptionError, quoted
from recframe.metrics._sums import sum_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

WINS = "wins"
"""The column with the number of items that an item beats, plus 1 for itself; see `majorities`."""


@dataclass(frozen=True)
class Values:
    """The values that the models give to an item, as expressions of a row."""

    each: Sequence[nw.Expr]
    """One value per model, times the model's weight; missing if the model did not retrieve the item."""
    count: nw.Expr
    """The number of models that retrieved the item."""
    weight: nw.Expr
    """The sum of these models' weights."""
    number: float
    """The number of the method, such as k."""

    @property
    def total(self) -> nw.Expr:
        """The sum of the values, from the smallest to the largest, so that items with the same values tie exactly."""
        return sum_of(nw.when(self.count > i).then(sorted_column(i)).otherwise(0.0) for i in range(len(self.each)))


@dataclass(frozen=True)
class Method:
    """A fusion method: how the values that models give to an item become one score.

    Attributes
    ----------
    fused : callable
        Returns the fused score of an item from its values.
    points : {"rrf", "isr", "borda", "rbc", "position"}, optional
        The value of a position, if the method reads positions; None: it reads scores.
    number : str, optional
        The name of the method's number.
    weights : {"optional", "needed", "refused"}
        Whether models may have weights.
    weighs : {"values", "models"}
        Whether weights multiply the models' values, or count the models.
    tunes_weights : bool
        Whether `tune_fusion` tries weights, as ranx does.
    """

    fused: Callable[[Values], nw.Expr]
    points: Literal["rrf", "isr", "borda", "rbc", "position"] | None = None
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
    # `with_wins` has added the column before.
    "condorcet": Method(lambda _: nw.col(WINS), "position", weighs="models", tunes_weights=True),
}
"""The methods by their names, the default first."""
BY_POSITION = tuple(name for name, method in METHODS.items() if method.points)
"""The methods that only read positions."""


class NumberRule(NamedTuple):
    """The rule for one of the numbers that methods read."""

    default: float
    accepts: Callable[[float], bool]
    words: str
    """What the number accepts, for messages."""


NUMBERS: Mapping[str, NumberRule] = {
    "k": NumberRule(60.0, lambda value: 0 <= value < math.inf, "a number from 0 on"),
    "gamma": NumberRule(0.5, math.isfinite, "finite"),
    "sigma": NumberRule(0.01, lambda value: 0 <= value < math.inf, "a number from 0 on"),
    "p": NumberRule(0.8, lambda value: 0 < value < 1, "between 0 and 1"),
}


def number_of(method: str, options: Mapping[str, object]) -> float:
    """Return the number of a method, or raise if any number is invalid or is not read by the method."""
    number_read = METHODS[method].number
    for name, rule in NUMBERS.items():
        value = number(name, options[name], f"{name}={rule.default:g}")
        if not rule.accepts(value):
            msg = f"{name}={quoted(options[name])} is not {rule.words}"
            raise OptionError(msg, f"{name}={rule.default:g}")
        # Every method accepts k, the number of the default method.
        if name not in ("k", number_read) and value != rule.default:
            reader = next(other for other, record in METHODS.items() if record.number == name)
            msg = f"method={method!r} does not read {name}={quoted(options[name])}"
            raise OptionError(msg, f"leave it out, or method={reader!r}")
    return 0.0 if number_read is None else number(number_read, options[number_read])
