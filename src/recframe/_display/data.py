"""The data of charts: means with intervals, and values of lists, reduced to a size that a chart can show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from recframe._base.roles import CALL_ROLES
from recframe._base.values import ROUNDING, check_names
from recframe._call.cached_calls import with_expressions
from recframe._call.evaluate import plan_of_lists
from recframe._display.chart_texts import name_of
from recframe._display.frames import eager_result, rows_of
from recframe._display.packages import package
from recframe._engines.registry import adapter_of, labels_of
from recframe._inference.statistics import check_installed
from recframe._plan.request import Request
from recframe.errors import InputError, OptionError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from recframe._inference.comparison.describe import Options
    from recframe._plan.plan import Plan
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


@dataclass(frozen=True)
class Call:
    """The frame of an accessor with its bound roles, and the roles of the call."""

    frame: Any
    bound: Mapping[str, Any]
    keywords: Mapping[str, Any]
    roles: tuple[str, ...]
    """The roles that the call accepts; other bound roles are ignored."""

    def options(self, confidence: Any, cluster: Any) -> Options:
        """Return the checked options of `describe`."""
        check_installed()
        from recframe._inference.comparison.describe import Options

        truth = {**self.bound, **self.keywords}.get("truth")
        return Options.of(labels_of(self.frame, truth), confidence=confidence, cluster=cluster)

    def plan(self, metrics: Any, k: Any = None, options: Options | None = None) -> Plan:
        """Return the plan that values per list come from."""
        check_installed()
        check_names(self.keywords, self.roles)
        cluster = None if options is None else options.cluster
        bound = {name: value for name, value in self.bound.items() if name in self.roles}
        # A chart reads the data at once, so lazy frames are checked as eager ones are.
        frame, keywords, _ = with_expressions(self.frame, self.keywords, bound)
        call = (frame, bound, dict(keywords), metrics, k, cluster)
        plan: Plan = adapter_of(self.frame).made_now(_plan_of_lists, *call)
        return plan

    def single_metric_plan(self, name: str, metric: Any, k: Any, options: Options | None = None) -> Plan:
        """Return the plan of one metric at one cutoff.

        Raises
        ------
        OptionError
            The call names several metrics or cutoffs.
        """
        plan = self.plan(metric, k, options)
        if len(plan.metrics) > 1:
            labels = ", ".join(record.label for record in plan.metrics)
            msg = f"{name} shows one metric at one cutoff, but these are {labels}"
            raise OptionError(msg, f"plot.{name}({plan.metrics[0].label!r})")
        return plan


def _plan_of_lists(
    frame: Any, bound: Mapping[str, Any], roles: Mapping[str, Any], metrics: Any, k: Any, cluster: str | None
) -> Plan:
    """Return the plan of a call; its frames are arguments, so that lazy ones can be replaced by their rows."""
    return plan_of_lists(Request(frame, bound, roles), metrics, k, "describe", cluster)


class Charts:
    """The frame of an accessor with its bound roles, for the methods that draw."""

    __slots__ = ("_bound", "_frame")

    def __init__(self, frame: Any, bound: Mapping[str, Any]) -> None:
        self._frame = frame
        self._bound = bound

    def _call(self, roles: Mapping[str, Any], allowed: tuple[str, ...]) -> Call:
        package("altair", "charts")  # an error before all work
        return Call(self._frame, self._bound, roles, allowed)


@dataclass(frozen=True)
class Mean:
    """The mean of a metric over the lists of a model and segment."""

    segment: tuple[Any, ...]
    model: str
    metric: Metric
    lists: int
    mean: float | None
    low: float | None
    high: float | None


def means(plan: Plan, options: Options) -> list[Mean]:
    """Return the means of each segment, model and metric with their intervals."""
    from recframe._inference.comparison.describe import describe

    return described_means(plan, describe(plan, options))


def described_means(plan: Plan, described: Any) -> list[Mean]:
    """Return the means of a result of `describe`."""
    query = plan.context.query
    records = {query.averaging(record.label).name: record for record in plan.metrics}
    return [
        Mean(
            segment=tuple(row[name] for name in query.per),
            model=_name_of(plan, row),
            metric=records[row["metric"]],
            **{name: row[name] for name in ("lists", "mean", "low", "high")},
        )
        for row in rows_of(eager_result(described))
    ]


def _name_of(plan: Plan, row: Mapping[str, Any]) -> str:
    """Return the name of the model that a row of a result is about."""
    return name_of(row["model"]) if plan.context.query.several else NO_MODEL


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


def values_of(plan: Plan) -> Values:
    """Return the values of lists as arrays, NaN where a list has none."""
    from recframe._inference.lists.values import ListValues, check_values_per_list, segments

    check_values_per_list(plan.metrics, "plot")
    by_list = ListValues(plan)
    _, (lists,) = segments(by_list, plan.context)  # charts of values have no `per`
    pairs = (by_list.in_segment(lists, number, 0) for number in range(len(by_list.models)))
    models = [*map(name_of, by_list.models)] if plan.context.query.several else [NO_MODEL]
    return Values(plan.metrics[0], models, *map(list, zip(*pairs, strict=True)))


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
        has_difference = f"there are {len(pair.models)}: {', '.join(pair.models)}"
        msg = f"differences shows two models, but {'there is one' if len(pair.models) == 1 else has_difference}"
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


def most_lists(averages: Sequence[Mean], most: int) -> tuple[list[Mean], int]:
    """Return the segments with the most lists, in their order, and how many segments there are."""
    counts: dict[tuple[Any, ...], int] = {}
    for mean in averages:
        counts[mean.segment] = max(counts.get(mean.segment, 0), mean.lists)
    kept = set(sorted(counts, key=lambda segment: -counts[segment])[:most])
    return [mean for mean in averages if mean.segment in kept], len(counts)
