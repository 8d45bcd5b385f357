"""The call `tune_fusion`: choose the best fusion of models, and evaluate the choice on lists outside its fold."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import narwhals as nw
import numpy as np

from recframe._base.progress import check_progress, progress_bar
from recframe._base.roles import CALL_ROLES
from recframe._base.values import whole_number
from recframe._call.evaluate import plan_of_lists
from recframe._checks.data_warnings import warn_of_data
from recframe._data.common import check_frame, check_several
from recframe._engines.postponed import is_dry
from recframe._engines.registry import labels_of
from recframe._inference.comparison.describe import interval_of_values
from recframe._inference.comparison.options import Intervals
from recframe._inference.fusion import fuse
from recframe._inference.fusion.grid import arguments_of, candidates
from recframe._inference.fusion.long_format import in_columns
from recframe._inference.lists.keys import numbered
from recframe._inference.lists.values import ListValues, check_values_per_list, segments
from recframe._inference.statistics import check_installed
from recframe._inference.statistics.student import Sums
from recframe.errors import InputError, OptionError, OptionTypeError, quoted
from recframe.metrics import Metric
from recframe.metrics._record import check_k
from recframe.profiles._spec import as_written

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from recframe._base.values import Labels
    from recframe._plan.plan import Plan
    from recframe._plan.request import Request

    Floats = NDArray[np.float64]

COLUMNS: Mapping[str, type[nw.dtypes.DType]] = {
    "method": nw.String, "normalize": nw.String, "options": nw.String, "in_sample": nw.Float64, "lists": nw.Int64,
    "folds": nw.Int64, "chosen": nw.Boolean, "out_of_fold": nw.Float64, "low": nw.Float64, "high": nw.Float64,
}  # fmt: skip
"""The columns of a result."""
CANDIDATES_AT_ONCE = 16
"""How many candidates are columns of a frame at the same time, to limit memory."""
ROWS_OF_RESULT = 10
"""How many of the best candidates have a row in the result."""
SAME_MEAN = 1e-12
"""Means that differ by less count as equal. Then the first candidate is chosen."""
ORDERS = ("score", "rank", "model")
FUSED = "recframe fused {}".format


@dataclass(frozen=True)
class Options(Intervals):
    """The checked options of `tune_fusion`."""

    folds: int
    seed: int
    progress: bool | None

    @classmethod
    def of(cls, labels: Labels, **named: Any) -> Self:
        """Return the options, or raise if one is invalid for any data."""
        named["progress"] = check_progress(named["progress"])
        named["folds"] = whole_number("folds", named["folds"], "folds=5", least=2, most=None)
        named["seed"] = whole_number("seed", named["seed"], "seed=0", least=0, most=None)
        return super().of(labels, **named)


@dataclass(frozen=True)
class Lists:
    """The lists that have a value under every candidate, sorted by their keys."""

    values: Floats
    """One row per list and one column per candidate."""
    weights: Floats
    clusters: Any
    """The cluster of each list, or None."""
    bounds: tuple[float, float]
    """The range of the metric."""
    upwards: bool
    """Whether higher values are better."""

    def best(self, lists: NDArray[np.bool_]) -> int:
        """Return the number of the candidate with the best mean over some lists, the first one of equals."""
        means = _means(self.values[lists], self.weights[lists]) * (1 if self.upwards else -1)
        return int(np.argmax(means >= means.max() - SAME_MEAN))

    def out_of_fold(self, folds: NDArray[np.intp]) -> tuple[Floats, NDArray[np.intp]]:
        """Return each list's value under the best candidate of the other folds, and how many folds chose each one."""
        out_of_fold = np.full(len(self.values), np.nan)
        times_chosen = np.zeros(self.values.shape[1], dtype=np.intp)
        for fold in np.unique(folds):
            choice = self.best(folds != fold)
            out_of_fold[folds == fold] = self.values[folds == fold, choice]
            times_chosen[choice] += 1
        return out_of_fold, times_chosen


def tune_fusion(request: Request, metric: Any, k: Any, fusions: Mapping[str, Any], how: Mapping[str, Any]) -> Any:
    """Return the best candidates with their values in the sample and out of fold; see `Rec.tune_fusion`."""
    check_frame("the frame", request.frame)
    check_installed()
    if not isinstance(as_written(metric), str | Metric):
        msg = f"metric={quoted(metric)} is not one metric"
        raise OptionTypeError(msg, "tune_fusion('ndcg', k=10, score=['bm25', 'dense'])")
    options = Options.of(labels_of(request.frame), **how)
    k = check_k(k)
    call = CALL_ROLES["tune_fusion"]
    request = request.with_bound_roles(call)
    query = request.query(call)
    if query.model is not None:
        if request.named.get("truth") is None:
            msg = f"model={query.model!r} needs truth=, because a fused item is not a row of one model"
            raise OptionError(msg, "truth=, or score=['bm25', 'dense'], a column for each model")
        frame, columns = in_columns(request.frame, query, FUSED(0))
        wide = request.without(*ORDERS)
        wide = replace(wide, frame=frame, roles={**wide.roles, **columns})
        return tune_fusion(wide, metric, k, fusions, how)
    check_several(query, "tune_fusion joins")
    return _result(request, metric, k, candidates(query, **fusions), options).to_native()


def _result(
    request: Request, metric: Any, k: Any, tried: Sequence[Mapping[str, Any]], options: Options
) -> nw.DataFrame[Any]:
    """Return the rows of the result: the chosen candidate first, then the others from the best in-sample mean."""
    plan = plan_of_lists(request, [metric], k, "tune_fusion", options.cluster)
    check_values_per_list(plan.metrics, "tune_fusion")
    lists = _lists(request, metric, k, tried, options)
    if is_dry():
        return _frame([], request.frame)
    folds = folds_of(lists, options)
    chosen = lists.best(np.ones(len(lists.values), dtype=bool))
    out_of_fold, times_chosen = lists.out_of_fold(folds)
    sums = Sums.of(out_of_fold, lists.weights, lists.clusters)
    low, high = interval_of_values(out_of_fold[lists.weights > 0], sums, options.confidence, lists.bounds)
    means = _means(lists.values, lists.weights)
    warn_of_data(plan.frames, plan.context.query, plan.context, float(means[chosen]))
    from_best = -means if lists.upwards else means
    order = sorted(range(len(tried)), key=lambda number: (number != chosen, from_best[number]))
    rows = []
    for number in order[:ROWS_OF_RESULT]:
        is_chosen = number == chosen
        estimate = [float(end.item()) if is_chosen else None for end in (sums.mean, low, high)]
        counts = [len(lists.values), int(times_chosen[number])]
        rows.append([*_written(tried[number]), float(means[number]), *counts, is_chosen, *estimate])
    return _frame(rows, request.frame)


def _written(candidate: Mapping[str, Any]) -> list[Any]:
    """Return a candidate as the result shows it: its method, its normalisation, and all of its options."""
    options = {name: value for name, value in candidate.items() if value is not None}
    return [options["method"], options.get("normalize"), json.dumps(options, default=float)]


def _frame(rows: Sequence[Sequence[Any]], like: Any) -> nw.DataFrame[Any]:
    """Return rows as a frame of the same library as another frame."""
    backend = nw.get_native_namespace(like)
    columns = zip(*rows, strict=True) if rows else [()] * len(COLUMNS)
    series = [
        nw.new_series(name, [None if value != value else value for value in column], kind(), backend=backend)  # noqa: PLR0124 - NaN
        for (name, kind), column in zip(COLUMNS.items(), columns, strict=True)
    ]
    return series[0].to_frame().with_columns(*series)


def _lists(request: Request, metric: Any, k: Any, tried: Any, options: Options) -> Lists:
    """Return the values of all candidates for each list that has a value under every candidate."""
    parts = []
    with progress_bar(len(tried), "candidates", show=options.progress) as show:
        for start in range(0, len(tried), CANDIDATES_AT_ONCE):
            batch = tried[start : start + CANDIDATES_AT_ONCE]
            parts.append(_values(_plan_of_candidates(request, metric, k, batch, options)))
            show(start + len(batch))
    first = parts[0]
    values = np.column_stack([part.values for part in parts])
    counted = ~np.isnan(values).any(axis=1) & (first.weights > 0)
    clusters = None if first.clusters is None else first.clusters[counted]
    return replace(first, values=values[counted], weights=first.weights[counted], clusters=clusters)


def _plan_of_candidates(request: Request, metric: Any, k: Any, batch: Any, options: Options) -> Plan:
    """Return the plan that evaluates a frame with one fused column per candidate."""
    fuse_roles = CALL_ROLES["fuse"]
    roles_of_fuse = {name: value for name, value in request.roles.items() if name in fuse_roles}
    fusions = {FUSED(number): arguments_of(candidate) for number, candidate in enumerate(batch)}
    wide = fuse.fuse(replace(request.with_bound_roles(fuse_roles), roles=roles_of_fuse), fusions)
    # The names are read from the frame, because labels of pandas may have several levels.
    names: dict[str, Any] = {"score": [*wide.columns][-len(batch) :]}
    if request.named.get("undefined") == "raise_all":
        # `folds_of` raises in this case, with a message that does not name a candidate's column.
        names["undefined"] = "skip"
    request = request.without(*ORDERS)
    request = replace(request, frame=wide, roles={**request.roles, **names})
    return plan_of_lists(request, [metric], k, "tune_fusion", options.cluster)


def _values(plan: Plan) -> Lists:
    """Return the values of some candidates for all lists, NaN for a list without a value."""
    list_values = ListValues(plan)
    _, (columns,) = segments(list_values, plan.context, by_key=True)
    pairs = (list_values.in_segment(columns, number, 0) for number in range(len(list_values.models)))
    values, (weights, *_) = zip(*pairs, strict=True)
    upwards = plan.metrics[0].higher_is_better
    return Lists(np.column_stack(values), weights, columns.get("cluster"), list_values.range_of(0), upwards)


def folds_of(lists: Lists, options: Options) -> NDArray[np.intp]:
    """Return the fold of each list. Lists of a cluster share a fold, and folds differ by at most one unit in size."""
    units = np.arange(len(lists.values))
    if lists.clusters is not None:
        units, _ = numbered(lists.clusters)
    count = len(np.unique(units))
    if options.folds > count:
        unit_name = "lists" if lists.clusters is None else f"values of cluster={options.cluster!r}"
        msg = f"folds={quoted(options.folds)} is more than the {count} {unit_name} with a value"
        raise InputError(msg, "give more lists, or fewer folds")
    order = np.random.default_rng(options.seed).permutation(count)
    return (order % options.folds)[units]


def _means(values: Floats, weights: Floats) -> Floats:
    """Return the weighted mean of each column."""
    means: Floats = (values * weights[:, None]).sum(axis=0) / weights.sum()
    return means
