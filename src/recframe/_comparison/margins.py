"""How much worse still counts as not worse: margins, and the sums of differences that are moved by one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recframe._lists import paired_sums as paired
from recframe._statistics.student import without_spread
from recframe._values import number
from recframe.errors import OptionError, OptionTypeError, quoted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from recframe._statistics.student import Sums

    Floats = NDArray[np.float64]

BEYOND = ("below", "above")
"""The ends of a margin: a difference as far below 0 as it is large, and above."""
LARGEST = 1e100
"""The largest margin: the squares of larger ones are no numbers."""
HINT = "`{0}=0.01`, or `{0}='1%'` of the baseline's mean"
CONSTANT = {
    "baseline": "weight", "products": "difference", "baseline_squares": "weight",
    "unit_cross": "unit_products", "unit_baseline_squares": "unit_weight_squares",
    "unit_baseline_products": "unit_weight_squares",
}  # fmt: skip
"""The sums in which a constant of 1 stands where the baseline's value does."""


@dataclass(frozen=True)
class Margin:
    """A loss that does not count.

    Attributes
    ----------
    size : float
        How large it is.
    relative : bool
        Whether it is a share of the baseline's mean.
    """

    size: float
    relative: bool = False

    @classmethod
    def of(cls, margin: Any, name: str = "margin") -> Margin | None:
        """Return a checked margin; None where there is none, or where it is 0."""
        if margin is None:
            return None
        text, relative = margin, isinstance(margin, str)
        if relative:
            text, sign, rest = margin.strip().partition("%")
            if not sign or rest:
                msg = f"`{name}={quoted(margin)}` is neither a number nor a percentage"
                raise OptionTypeError(msg, HINT.format(name))
            try:
                text = float(text) / 100
            except ValueError:
                msg = f"`{name}={quoted(margin)}` is not a percentage"
                raise OptionTypeError(msg, HINT.format(name)) from None
        size = number(name, text, HINT.format(name))
        if not 0 <= size <= LARGEST:
            msg = f"`{name}={quoted(margin)}` is not {'0 or more' if size < 0 else f'{LARGEST:g} or less'}"
            raise OptionError(msg, HINT.format(name))
        return cls(size, relative) if size > 0 else None

    @property
    def text(self) -> str:
        """The margin as it is given: 0.01, or 1%."""
        return f"{self.size * 100:g}%" if self.relative else f"{self.size:g}"

    @property
    def signs(self) -> tuple[float, float]:
        """What to add to differences, in sizes of the margin, so that one at either end of it is 0."""
        return (self.size, -self.size)

    def moved(self, sums: Mapping[str, Any], by: float) -> tuple[Sums, dict[str, Any]]:
        """Return the sums of differences to which `by` is added, or `by` times the baseline's value."""
        other = {name: sums[name if self.relative else constant] for name, constant in CONSTANT.items()}
        moved = {
            **sums,
            "difference": sums["difference"] + by * other["baseline"],
            "squares": sums["squares"] + 2 * by * other["products"] + by**2 * other["baseline_squares"],
            "unit_squares": sums["unit_squares"]
            + 2 * by * other["unit_cross"]
            + by**2 * other["unit_baseline_squares"],
            "unit_products": sums["unit_products"] + by * other["unit_baseline_products"],
        }
        return paired.statistics(moved), moved

    def ends(self, sums: Mapping[str, Any], differences: Sums) -> list[tuple[Sums, dict[str, Any]]]:
        """Return the sums of differences moved to either end of the margin.

        Equal differences say as little of their spread as they do alone, whatever spread the baseline has.
        """
        ends = (self.moved(sums, by) for by in self.signs)
        return [(without_spread(end, differences.standard_error == 0), moved) for end, moved in ends]


def on_this_side(p: Floats, direction: Floats, name: str, margin: Margin | None, baseline: Floats) -> Floats:
    """Return p-values of a difference at one end of the margin, 1 where the estimate is not on this side of it.

    A share of a mean that is not above 0 is no margin: there they are 1 too.
    """
    inside = (direction > 0) if name == BEYOND[0] else (direction < 0)
    valid = inside & (baseline > 0) if margin is not None and margin.relative else inside
    return np.where(np.isnan(p), np.nan, np.where(valid, p, 1.0))
