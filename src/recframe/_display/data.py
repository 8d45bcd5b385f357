"""The values of lists for charts, reduced to a size that a chart can show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from recframe._base.roles import CALL_ROLES
from recframe._base.values import ROUNDING
from recframe._display.chart_texts import name_of
from recframe._inference.statistics import check_installed
from recframe.errors import InputError, OptionError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from recframe._plan.request import Request
    from recframe.metrics import Metric

NO_MODEL = "all"
"""The name of the model where there is only one, without a name."""
BY_SEGMENT = tuple(name for name in CALL_ROLES["describe"] if name != "per_item")
"""The roles of charts by `per`."""
MEANS = tuple(name for name in BY_SEGMENT if name != "per")
"""The roles of other charts, and of a report."""
BINS = 20
POINTS = 201
"""The most points of a curve over lists."""
RANGE_ROUNDING = 1e-9
"""The most by which rounding may move a value beyond the range of its metric."""


def check_single(names: Sequence[str], chart: str, hint: str) -> None:
    """Raise if there is no metric, or more than one metric or cutoff."""
    if len(names) != 1:
        wrong = f"these are {', '.join(names)}" if names else "there is none"
        msg = f"{chart} shows one metric at one cutoff, but {wrong}"
        raise OptionError(msg, hint)


@dataclass(frozen=True)
class Values:
    """The values of the lists of each model under one metric."""

    metric: Metric
    models: list[str]
    values: list[Any]
    weights: list[Any]

    @property
    def lists(self) -> int:
        """The number of lists with a value, for the model with the most."""
        return max((int((values == values).sum()) for values in self.values), default=0)  # noqa: PLR0124 - NaN

    @property
    def shared(self) -> int:
        """The number of lists that have a value under every model."""
        total: Any = sum(self.values)
        return len(total[total == total])  # noqa: PLR0124 - NaN

    def of(self, numbers: Sequence[int]) -> Values:
        """Return the values of some of the models, which are chosen by their numbers."""
        some = ([part[number] for number in numbers] for part in (self.models, self.values, self.weights))
        return Values(self.metric, *some)

    @property
    def means(self) -> dict[str, float | None]:
        """The mean of each model, None where no list has a value."""
        averages = {}
        for model, values, weights in zip(self.models, self.values, self.weights, strict=True):
            has_value = values == values  # noqa: PLR0124 - NaN
            total = weights[has_value].sum()
            averages[model] = float((values * weights)[has_value].sum() / total) if total > 0 else None
        return averages


def values_of(request: Request, metric: Any, k: Any) -> Values:
    """Return the values of lists as arrays, NaN where a list has none."""
    check_installed()
    from recframe._inference.lists.value_arrays import value_arrays

    arrays = value_arrays(request, metric, k)
    models = [NO_MODEL] if arrays.models == [None] else [*map(name_of, arrays.models)]
    return Values(arrays.metric, models, arrays.values, arrays.weights)


def histogram(by_model: Values) -> list[dict[str, Any]]:
    """Return the share of lists in each of some bins, model by model.

    Raises
    ------
    InputError
        No list has a value.
    """
    import numpy as np

    finite = [values[np.isfinite(values)] for values in by_model.values]
    every = np.concatenate(finite) if finite else np.array([])
    check_means(every, by_model.metric.label)
    least, most = by_model.metric.range
    # Estimates of lists may leave the range of their metric; rounding alone adds no bins.
    if not -np.inf < least <= every.min() + RANGE_ROUNDING:
        least = every.min()
    if not every.max() - RANGE_ROUNDING <= most < np.inf:
        most = every.max()
    finite = [values.clip(least, most) for values in finite]
    least, most = (least - 0.5, most + 0.5) if least == most else (least, most)
    edges = np.linspace(least, most, BINS + 1)
    rows = []
    for model, values in zip(by_model.models, finite, strict=True):
        counts, _ = np.histogram(values, bins=edges)
        rows += [
            {"model": model, "from": float(low), "to": float(high), "share": float(count) / max(len(values), 1)}
            for low, high, count in zip(edges, edges[1:], counts, strict=False)
        ]
    return rows


class SortedDifferences(NamedTuple):
    """The differences of two models over lists, sorted with the best for the second model first."""

    points: list[tuple[float, float]]
    """Some hundred shares of the lists, evenly spread, each with the difference there."""
    better: float
    """The share of lists in which the second model is better."""
    worse: float
    """The share of lists in which the second model is worse."""
    lists: int
    mean: float


def sorted_differences(pair: Values) -> SortedDifferences:
    """Return the sorted differences of two models over lists.

    Raises
    ------
    OptionError
        There are not two models.
    InputError
        No list has a value under both.
    """
    import numpy as np

    if len(pair.models) != 2:  # noqa: PLR2004
        several = f"there are {len(pair.models)}: {', '.join(pair.models)}"
        msg = f"differences shows two models, but {'there is one' if len(pair.models) == 1 else several}"
        raise OptionError(msg, "score=['old', 'new']")
    every = pair.values[1] - pair.values[0]
    has_difference = np.isfinite(every)
    if not has_difference.any():
        msg = f"no list has a value of {pair.metric.label} under both models"
        raise InputError(msg, "look at the frame with check()")
    weights = (pair.weights[0] + pair.weights[1])[has_difference]
    values = every[has_difference]
    mean = float(np.average(values, weights=weights)) if weights.sum() > 0 else float("nan")
    sign = 1 if pair.metric.higher_is_better else -1
    ordered = values[np.argsort(-sign * values, kind="stable")]
    rows = np.unique(np.linspace(0, len(ordered) - 1, min(POINTS, len(ordered))).round().astype(int))
    points = [(float((row + 0.5) / len(ordered)), float(ordered[row])) for row in rows]
    better, worse = (float(np.mean(side * values > ROUNDING)) for side in (sign, -sign))
    return SortedDifferences(points, better, worse, len(values), mean)


def check_means(means: Iterable[float | None], label: str) -> None:
    """Raise if no list has a value, because the chart would be empty."""
    if all(mean is None for mean in means):
        msg = f"no list has a value of {label} to show"
        raise InputError(msg, "look at the frame with check()")
