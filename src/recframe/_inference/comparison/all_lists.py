"""Intervals and tests of metrics of all lists together, such as coverage, from their values without some lists.

Lists, or clusters of lists, are put into G groups, as many as there are lists, and at most 200. With the value θ of all
lists and θ₍g₎ without the group g, the pseudo-values

    x_g = θ + (G − 1) (Σ θ₍h₎ / G − θ₍g₎)

have the mean θ, and the standard error of their mean is the jackknife's. So they are treated as the values of G lists.
By Efron and Stein, the squared error is not too small on average, whatever the metric is.

The bootstrap does not work here: a sample with replacement lacks a third of the lists, so it covers fewer items.

References
----------
Efron, Stein, *The jackknife estimate of variance*, Annals of Statistics 9, 1981; Tukey, *Bias and confidence in
not-quite large samples*, Annals of Mathematical Statistics 29, 1958.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from recframe._base.columns import CATALOG_SIZE, ITEM
from recframe._inference.comparison.tested import Tested, tested
from recframe._inference.lists.clusters import check_clusters
from recframe._inference.lists.item_values import ITEM_SUM_COLUMNS, refuse_undefined, value_of_items
from recframe._inference.lists.keys import floats_of, key_hashes, numbered, rows_of, segments_of
from recframe._inference.lists.paired_sums import NEGATIVE
from recframe._inference.lists.sums import sums_by
from recframe._inference.lists.values import models_of_rows, range_with_number
from recframe._inference.statistics import student
from recframe._inference.statistics.student import Sums
from recframe._plan import averages
from recframe.errors import OptionError
from recframe.metrics._beyond_accuracy import ExposureMetric

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from recframe._inference.comparison.options import Options
    from recframe._inference.lists.paired_sums import Pair
    from recframe._plan.plan import Plan

    Floats = NDArray[np.float64]
    Integers = NDArray[np.intp]

MOST_GROUPS = 200
"""The most groups of lists that are left out, one after the other."""
CELLS = 2**21
"""The most cells, one for each group and item, that are in memory at a time."""


def metrics_of_all_lists(plan: Plan) -> list[ExposureMetric]:
    """Return the metrics that have one value for all lists together, such as coverage."""
    return [metric for metric in plan.metrics if isinstance(metric, ExposureMetric)]


def check_options_of_all_lists(plan: Plan, refused: Mapping[str, bool]) -> None:
    """Raise for a metric of all lists together if an option of the call needs a value per list.

    `refused` maps the text of each such option to whether the call has it.

    Raises
    ------
    OptionError
        There is such a metric and such an option.
    """
    together = metrics_of_all_lists(plan)
    why = next((name for name, holds in refused.items() if holds), None)
    if together and why is not None:
        msg = f"{why} needs a value per list, but {together[0].label} is one value of all lists together"
        raise OptionError(msg, "`test='t'` compares it with another model of the call, by leaving lists out")


class Jackknife:
    """The values of the metrics of all lists together, by model and segment, and their pseudo-values.

    Attributes
    ----------
    reported : DataFrame
        The values of `per`.
    lists : array of float
        The lists of each segment.
    """

    def __init__(self, plan: Plan, models: Sequence[Any]) -> None:
        context = plan.context
        self._plan = plan
        engine = context.engine
        clustered = [] if context.keys.cluster is None else [context.keys.cluster]
        columns = list(dict.fromkeys([*context.keys.key, *context.keys.per, *clustered]))
        table = engine.collected(averages.with_attributes(context, context.lists).select(*columns).unique())
        self.reported, segments = segments_of(table, context.keys.per)
        count = len(self.reported) if context.keys.per else 1
        self.lists = np.bincount(segments, minlength=count).astype(np.float64)
        units = key_hashes(context, table, clustered or list(context.keys.key))
        groups, self._counts = _groups_of_units(units, segments, count)
        check_clusters(context.query.cluster, context.query.per, self.lists, self._counts)
        row_of = {row: number for number, row in enumerate(rows_of(table, context.keys.key))}
        recommended = plan.items(by_list=True)
        items = engine.collected(recommended)
        numbers = np.array([row_of[row] for row in rows_of(items, context.keys.key)], dtype=np.intp)
        self._segments = segments[numbers]
        self._groups = groups[numbers]
        self._items, _ = numbered(rows_of(items, [ITEM]))
        self._of_model = models_of_rows(context, items, models)
        self._arrays = {
            name: floats_of(items[name])
            for exposure in plan.context.requirements.exposure
            for name in exposure.recommended.by_column
        }
        sizes = engine.collected(context.side_tables.with_catalog_size(engine.positions(1), recommended))
        self._size = float(sizes[CATALOG_SIZE][0]) if CATALOG_SIZE in sizes.columns else np.nan
        self._cache: dict[Any, tuple[float, Floats]] = {}
        self._backend = nw.get_native_namespace(items)
        for metric in metrics_of_all_lists(plan):
            how = context.query.averaging(metric.label)
            if how.undefined in ("raise", "raise_all"):
                refuse_undefined(self._values_of_models(metric, len(models)), metric, how.name, how.undefined)

    def _values_of_models(self, metric: ExposureMetric, models: int) -> Floats:
        """Return the values of a metric as segments × models."""
        segments = len(self.lists)
        values = [
            [self.pseudo_values(metric, model, segment)[0] for model in range(models)] for segment in range(segments)
        ]
        return np.array(values).reshape(segments, models)

    def pseudo_values(self, metric: ExposureMetric, model: int, segment: int) -> tuple[float, Floats]:
        """Return the value of a metric, and its pseudo-values, one for each group of lists.

        If the metric is undefined without some group, its value is the only pseudo-value. If it is undefined for all
        lists, there are none.
        """
        key = (metric, model, segment)
        if key not in self._cache:
            self._cache[key] = self._pseudo_values(*key)
        return self._cache[key]

    def _pseudo_values(self, metric: ExposureMetric, model: int, segment: int) -> tuple[float, Floats]:
        """Compute the value and the pseudo-values of a metric."""
        terms = next(each for each in self._plan.context.requirements.exposure if each.metric == metric)
        chosen = np.flatnonzero((self._of_model == model) & (self._segments == segment))
        items, codes = np.unique(self._items[chosen], return_inverse=True)
        groups = self._groups[chosen]
        count = int(self._counts[segment])
        parts = {
            name: sums_by(groups * len(items) + codes, count * len(items), self._arrays[column][chosen]).reshape(
                count, len(items)
            )
            for name, column in zip(ITEM_SUM_COLUMNS, terms.recommended.by_column, strict=False)
        }
        totals = {name: part.sum(axis=0) for name, part in parts.items()}
        value_of_all = self._values(metric, {name: total[None] for name, total in totals.items()})[0].item()
        if not count or not np.isfinite(value_of_all):
            return value_of_all, np.empty(0)
        step = max(CELLS // max(len(items), 1), 1)
        left = [
            self._values(metric, {name: totals[name] - part[start : start + step] for name, part in parts.items()})
            for start in range(0, count, step)
        ]
        without = np.concatenate(left)
        values: Floats = value_of_all + (count - 1) * (without.mean() - without)
        return value_of_all, values if np.isfinite(values).all() else np.array([value_of_all])

    def described(self, metric: ExposureMetric, model: int, confidence: float) -> dict[str, Floats]:
        """Return the lists and the value of each segment, and the ends of its interval."""
        rows = []
        for segment in range(len(self.lists)):
            mean, values = self.pseudo_values(metric, model, segment)
            sums = Sums.of(values, np.ones(len(values)))
            ends = range_with_number(metric, self._plan.context.query)
            low, high = student.clip_interval(*student.interval(sums, confidence), np.array([mean]), ends)
            rows.append([self.lists[segment] * (len(values) > 0), mean, low.item(), high.item()])
        return dict(zip(("lists", "mean", "low", "high"), np.array(rows).reshape(-1, 4).T, strict=True))

    def paired(self, metric: ExposureMetric, model: int, baseline: int) -> dict[str, Floats]:
        """Return the sums of the differences of pseudo-values of two models, an entry for each segment."""
        rows = []
        for segment in range(len(self.lists)):
            ours, theirs = (self.pseudo_values(metric, number, segment)[1] for number in (model, baseline))
            if len(ours) != len(theirs):
                ours, theirs = (each.mean(keepdims=True) if len(each) else np.empty(0) for each in (ours, theirs))
            # d and b: the differences, and the baseline's pseudo-values.
            d, b = (ours - theirs, theirs) if len(ours) == len(theirs) else (np.empty(0), np.empty(0))
            rows.append([len(d), d.sum(), b.sum(), (d * d).sum(), (d * b).sum(), (b * b).sum()])
        count, total, baselines, squares, products, squared = np.array(rows, dtype=np.float64).reshape(-1, 6).T
        counts = ("lists", "weight", "weight_squares", "unit_weight_squares", "unit_weight_cubes")
        return {
            **dict.fromkeys(counts, count), **dict.fromkeys(NEGATIVE, 0 * count),
            **dict.fromkeys(("difference", "unit_products"), total), "model": total + baselines,
            **dict.fromkeys(("squares", "unit_squares"), squares),
            **dict.fromkeys(("products", "unit_cross"), products),
            **dict.fromkeys(("baseline", "unit_baseline_products"), baselines),
            **dict.fromkeys(("baseline_squares", "unit_baseline_squares"), squared),
            **dict.fromkeys(("wins", "ties", "losses"), count * np.nan),
        }  # fmt: skip

    def tested(self, pairs: Sequence[Pair], options: Options) -> Tested:
        """Return the results of the t-test for pairs of models under these metrics."""
        metrics = metrics_of_all_lists(self._plan)
        query = self._plan.context.query
        sums = [self.paired(metrics[pair.metric], pair.model, pair.baseline) for pair in pairs]
        arrays = {name: np.array([sums_of_pair[name] for sums_of_pair in sums]) for name in sums[0]}
        upwards = [metrics[pair.metric].higher_is_better for pair in pairs]
        options = options.of_pairs([query.averaging(metrics[pair.metric].label).name for pair in pairs])
        tests = tested(arrays, pairs, lambda _: student.UNBOUNDED, upwards, options)
        numbers = tests.numbers
        differences = tests.sums
        width = np.diff([range_with_number(metrics[pair.metric], query) for pair in pairs])
        ends = student.clip_interval(numbers["low"], numbers["high"], differences.mean, (-width, width))
        # If no group changes the difference, the variation between samples of lists is unknown.
        is_constant = (differences.standard_error == 0) & (differences.mean != 0)
        numbers |= {"low": ends[0], "high": ends[1], "p": np.where(is_constant, np.nan, numbers["p"])}
        numbers |= {"lists": np.where(differences.lists > 0, self.lists, 0.0), "effect": differences.mean * np.nan}
        return tests

    def _values(self, metric: ExposureMetric, sums: dict[str, Floats]) -> Floats:
        """Return the value of a metric for each row of sums."""
        rows, items = next(iter(sums.values())).shape
        codes = np.repeat(np.arange(rows), items)
        columns = {name: array.ravel() for name, array in sums.items()}
        values = value_of_items(metric, columns, codes, rows, self._size, self._backend)
        undefined = self._plan.context.query.averaging(metric.label).undefined
        return np.where(np.isnan(values), undefined, values) if isinstance(undefined, float) else values


def _groups_of_units(units: Integers, segments: Integers, count: int) -> tuple[Integers, Integers]:
    """Return the group of each list within its segment, and how many groups each of the segments has.

    Lists of a cluster have the same unit, and lists with the same unit are in the same group.
    """
    groups = np.zeros(len(units), dtype=np.intp)
    counts = np.zeros(count, dtype=np.intp)
    for segment in range(count):
        of_segment = np.flatnonzero(segments == segment)
        _, numbers = np.unique(units[of_segment], return_inverse=True)
        counts[segment] = min(int(numbers.max(initial=-1)) + 1, MOST_GROUPS)
        groups[of_segment] = numbers % max(counts[segment], 1)
    return groups, counts
