"""The column of strata that a call names, and the weights that it gives them, checked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from recframe._base.values import column_name, number
from recframe.errors import OptionError, OptionTypeError, closest, quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._base.values import Labels

HINT = "`strata='task', strata_weights={'head': 0.1, 'tail': 0.9}`"


@dataclass(frozen=True)
class Strata:
    """The column of strata that a call names, and the weights that it gives them, checked.

    Attributes
    ----------
    column : str
        The user's column.
    weights : mapping, optional
        The weight of each of its values; None: all weigh the same.
    """

    column: str
    weights: Mapping[Any, float] | None = None

    @classmethod
    def of(cls, strata: Any, weights: Any, labels: Labels) -> Self | None:
        """Return checked strata, or None without strata. Only what needs no frame is checked."""
        if strata is None:
            if weights is not None:
                msg = "`strata_weights=` is given, but no `strata=`, the column whose values it weights"
                raise OptionError(msg, HINT)
            return None
        if isinstance(strata, Mapping | list | tuple) and strata not in (labels or ()):
            msg = f"`strata={quoted(strata)}` is not one column"
            raise OptionTypeError(msg, HINT)
        return cls(column_name("strata", strata, labels), None if weights is None else _checked_weights(weights))

    def weights_of(self, names: Sequence[Any]) -> list[float]:
        """Return the weight of each stratum, scaled so that the weights sum to 1."""
        if self.weights is None:
            return [1 / len(names)] * len(names)
        by_text = {str(key): weight for key, weight in self.weights.items()}
        weights = [self.weights.get(name, by_text.get(str(name))) for name in names]
        texts = {str(name) for name in names}
        surplus = next((key for key in self.weights if key not in names and str(key) not in texts), None)
        if surplus is not None:
            shown = ", ".join(map(quoted, names[:10]))
            msg = f"`strata_weights=` names {quoted(surplus)}, but {self.column!r} holds {shown}"
            raise OptionError(msg, closest(surplus, map(str, names)) or "name the values of the column")
        if None in weights:
            msg = (
                f"`strata_weights=` has no weight for {quoted(names[weights.index(None)])}, a value of {self.column!r}"
            )
            raise OptionError(msg, "give it a weight, or leave its rows out")
        total = math.fsum(weight for weight in weights if weight is not None)
        return [weight / total for weight in weights if weight is not None]


def _checked_weights(weights: Any) -> dict[Any, float]:
    """Return the weights that a call gives strata, all of them above 0."""
    if not isinstance(weights, Mapping) or not weights:
        msg = f"`strata_weights={quoted(weights)}` is not a mapping of strata to weights"
        raise OptionTypeError(msg, HINT)
    checked = {key: number(f"strata_weights[{key!r}]", weight, HINT) for key, weight in weights.items()}
    for key, weight in checked.items():
        if not 0 < weight < math.inf:
            msg = f"`strata_weights[{key!r}]={weight:g}` is not above 0 and finite"
            raise OptionError(msg, "leave out the rows of a stratum that should not count")
    return checked
