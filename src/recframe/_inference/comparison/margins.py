"""Margins: the losses that still count as not worse, and the sums of differences moved by a margin."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from recframe._base.values import number
from recframe._inference.lists import paired_sums as paired
from recframe._inference.statistics.student import without_spread
from recframe.errors import OptionError, OptionTypeError, closest, quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from recframe._inference.statistics.student import Sums

    Floats = NDArray[np.float64]

MARGIN_ENDS = ("below", "above")
"""The two ends of a margin, below 0 and above 0: the names of their p-values among the statistics."""
HAS_MARGIN = "has margin"
"""The statistic that says whether a row has a margin."""
LARGEST = 1e100
"""The largest margin, because the squares of larger margins are infinite."""
HINTS = "`margin={'ndcg@10': 0.01, 'recall@10': '2%'}`"
HINT = "`{0}=0.01`, or `{0}='1%'` of the baseline's mean"
CONSTANT = {
    "baseline": "weight", "products": "difference", "baseline_squares": "weight",
    "unit_cross": "unit_products", "unit_baseline_squares": "unit_weight_squares",
    "unit_baseline_products": "unit_weight_squares",
}  # fmt: skip
"""The sums that equal the sums with the baseline's values if each of these values is 1."""


@dataclass(frozen=True)
class Margin:
    """The largest loss that still counts as not worse.

    Attributes
    ----------
    size : float or array of float
        The loss. For several pairs it is a column, with 0 for pairs without a margin.
    relative : bool or array of bool
        Whether it is a share of the baseline's mean.
    """

    size: Any
    relative: Any = False

    @classmethod
    def of(cls, margin: Any, name: str = "margin") -> Margin | None:
        """Return a checked margin, or None without a margin and for a margin of 0."""
        if margin is None:
            return None
        value = margin
        relative = isinstance(margin, str)
        if relative:
            percentage, sign, rest = margin.strip().partition("%")
            if not sign or rest:
                msg = f"`{name}={quoted(margin)}` is neither a number nor a percentage"
                raise OptionTypeError(msg, HINT.format(name))
            try:
                value = float(percentage) / 100
            except ValueError:
                msg = f"`{name}={quoted(margin)}` is not a percentage"
                raise OptionTypeError(msg, HINT.format(name)) from None
        size = number(name, value, HINT.format(name))
        if not 0 <= size <= LARGEST:
            msg = f"`{name}={quoted(margin)}` is not {'0 or more' if size < 0 else f'{LARGEST:g} or less'}"
            raise OptionError(msg, HINT.format(name))
        return cls(size, relative) if size > 0 else None

    @property
    def text(self) -> str:
        """The margin as the call writes it: 0.01, or 1%."""
        return f"{self.size * 100:g}%" if self.relative else f"{self.size:g}"

    @property
    def any_relative(self) -> bool:
        """Whether a margin is a share of the baseline's mean, which needs the baseline's values."""
        return bool(np.any(self.relative))

    def of_metric(self, _: str) -> Margin | None:
        """Return the margin of a metric, which is the same for all."""
        return self

    def of_pairs(self, _: Sequence[str]) -> Margin:
        """Return the margin of pairs of models, from the metric of each pair."""
        return self

    def check(self, ranges: Mapping[str, tuple[float, float]]) -> None:
        """Raise if the margin is larger than the range of a metric, which rules out every loss."""
        for name, (least, greatest) in ranges.items():
            _check_size(self, name, least, greatest)

    @property
    def shifts(self) -> tuple[Any, Any]:
        """What to add to differences so that the lower end of the margin, or the upper end, becomes 0."""
        return (self.size, -self.size)

    def moved(self, sums: Mapping[str, Any], by: Any) -> tuple[Sums, dict[str, Any]]:
        """Return the sums of differences plus `by`, or plus `by` times the baseline's value, as `Sums` and by name."""
        # Sums with the baseline's values are there only if a margin is relative.
        other = {
            name: np.where(self.relative, sums[name], sums[constant]) if self.any_relative else sums[constant]
            for name, constant in CONSTANT.items()
        }
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
        """Return the sums of differences moved by each of `shifts`, as `moved` returns them.

        If all differences are equal, their spread is unknown, also if the baseline's values spread.
        """
        ends = (self.moved(sums, by) for by in self.shifts)
        return [(without_spread(end, differences.standard_error == 0), moved) for end, moved in ends]


@dataclass(frozen=True)
class Margins:
    """The margins of metrics, by the names of the metrics in the call."""

    by_metric: Mapping[str, Margin]

    @cached_property
    def _by_label(self) -> dict[str, Margin]:
        """The margins by the names under which results show the metrics."""
        labels = {_label(name): margin for name, margin in self.by_metric.items()}
        return {**labels, **self.by_metric}

    @classmethod
    def of(cls, margins: Mapping[Any, Any]) -> Margins | None:
        """Return checked margins; None if all are 0."""
        checked: dict[str, Margin] = {}
        for name, value in margins.items():
            if not isinstance(name, str):
                msg = f"`margin={quoted(margins)}` has the key {quoted(name)}, which is not the name of a metric"
                raise OptionTypeError(msg, HINTS)
            margin = Margin.of(value, f"margin[{name!r}]") if value is not None else None
            if margin is not None:
                checked[name] = margin
        return cls(checked) if checked else None

    @property
    def any_relative(self) -> bool:
        """Whether a margin is a share of the baseline's mean."""
        return any(margin.relative for margin in self.by_metric.values())

    def of_metric(self, metric: str) -> Margin | None:
        """Return the margin of a metric, None without one."""
        return self._by_label.get(metric)

    def of_pairs(self, metrics: Sequence[str]) -> Margin:
        """Return the margins of pairs as columns, 0 for a metric without a margin."""
        every = [self._by_label.get(metric, Margin(0.0)) for metric in metrics]
        sizes, relative = ([getattr(margin, name) for margin in every] for name in ("size", "relative"))
        return Margin(np.array(sizes, dtype=np.float64)[:, None], np.array(relative, dtype=bool)[:, None])

    def check(self, ranges: Mapping[str, tuple[float, float]]) -> None:
        """Raise for a metric that the call does not have, or whose range is smaller than its margin."""
        for name, margin in self.by_metric.items():
            label = name if name in ranges else _label(name)
            if label not in ranges:
                msg = f"`margin=` names {name!r}, but the metrics are {', '.join(map(repr, ranges))}"
                raise OptionError(msg, closest(name, ranges) or HINTS)
            _check_size(margin, label, *ranges[label])


def _label(name: str) -> str:
    """Return the name under which results show a metric, however it is spelled."""
    # Results, gates and options import this module, and metrics import much.
    from recframe.profiles._spec import spec_of

    return spec_of(name).metric.label


def margin_of(margin: Any) -> Margin | Margins | None:
    """Return a checked margin, or the margins of several metrics; None without a margin."""
    return Margins.of(margin) if isinstance(margin, Mapping) else Margin.of(margin)


def _check_size(margin: Margin, name: str, least: float, greatest: float) -> None:
    """Raise for a margin that is larger than every difference of two values."""
    width = greatest - (least if math.isfinite(least) else 0.0)
    if not margin.relative and margin.size > width:
        least = least if math.isfinite(least) else 0.0
        ends = f"from {least:g} to {greatest:g}"
        msg = f"`margin={margin.size:g}` is larger than every difference in {name}, whose values are {ends}"
        raise OptionError(msg, HINT.format("margin"))


def p_on_inner_side(p: Floats, direction: Floats, name: str, margin: Margin | None, baseline: Floats) -> Floats:
    """Return the p-values of the claim that the difference is on the inner side of one end of the margin.

    `p` tests a difference at the end called `name`, and `direction` is the sign of the estimate minus that end. The
    p-value is 1 if the estimate is not on the inner side, if the margin is 0, or if it is a share of a baseline mean of
    0 or less.
    """
    inside = (direction > 0) if name == MARGIN_ENDS[0] else (direction < 0)
    valid = inside if margin is None else inside & (margin.size > 0) & (~np.asarray(margin.relative) | (baseline > 0))
    return np.where(np.isnan(p), np.nan, np.where(valid, p, 1.0))
