"""Which fusion of models is best, and how good that choice is on lists that did not make it."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import narwhals as nw
import numpy as np

from recframe._arguments import CALL_ROLES
from recframe._checks.data_warnings import warn_of_data
from recframe._comparison.describe import interval_of_values
from recframe._comparison.options import Intervals
from recframe._data.common import check_frame, check_several
from recframe._engines.postponed import is_dry
from recframe._engines.registry import labels_of
from recframe._evaluate import plan_of_lists
from recframe._fusion import fuse
from recframe._fusion.grid import arguments_of, candidates
from recframe._fusion.long_format import in_columns
from recframe._lists.keys import numbered
from recframe._lists.values import ListValues, check_values_per_list, segments
from recframe._progress import check_progress, progress_bar
from recframe._query import query_of_call
from recframe._statistics import check_installed
from recframe._statistics.student import Sums
from recframe._values import whole_number
from recframe.errors import InputError, OptionError, OptionTypeError, quoted
from recframe.metrics import Metric
from recframe.metrics._record import check_k
from recframe.profiles._spec import as_written

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from recframe._plan.plan import Plan
    from recframe._values import Labels

    Floats = NDArray[np.float64]

COLUMNS: Mapping[str, type[nw.dtypes.DType]] = {
    "method": nw.String, "normalize": nw.String, "options": nw.String, "in_sample": nw.Float64, "lists": nw.Int64,
    "folds": nw.Int64, "chosen": nw.Boolean, "out_of_fold": nw.Float64, "low": nw.Float64, "high": nw.Float64,
}  # fmt: skip
"""The columns of a result."""
CANDIDATES_AT_ONCE = 16
"""How many candidates are columns of a frame at a time."""
ROWS_OF_RESULT = 10
"""How many of the best candidates have a row in the result."""
SAME_MEAN = 1e-12
"""Means that differ by less are equal: the first candidate is chosen."""
ORDERS = ("score", "rank", "model")
FUSED = "recframe fused {}".format


@dataclass(frozen=True)
class Options(Intervals):
    """How candidates are compared, checked."""

    folds: int
    seed: int
    progress: bool | None

    @classmethod
    def of(cls, labels: Labels, **named: Any) -> Self:
        """Check what can be checked without rows."""
        named["progress"] = check_progress(named["progress"])
        named["folds"] = whole_number("folds", named["folds"], "folds=5", least=2, most=None)
        named["seed"] = whole_number("seed", named["seed"], "seed=0", least=0, most=None)
        return super().of(labels, **named)


@dataclass(frozen=True)
class Lists:
    """The values of lists that have one, sorted by their keys: a column for each candidate."""

    values: Floats
    weights: Floats
    clusters: Any
    """The cluster of each list, or None."""
    bounds: tuple[float, float]
    """The range of the metric."""
    upwards: bool
    """Whether higher values are better."""

    def best(self, lists: NDArray[np.bool_]) -> int:
        """Return the first of the candidates whose mean over some lists is the best one."""
        means = _means(self.values[lists], self.weights[lists]) * (1 if self.upwards else -1)
        return int(np.argmax(means >= means.max() - SAME_MEAN))

    def out_of_fold(self, folds: NDArray[np.intp]) -> tuple[Floats, NDArray[np.intp]]:
        """Return the value of each list under the best candidate of the other folds, and how many folds chose each."""
        held_out, times = np.full(len(self.values), np.nan), np.zeros(self.values.shape[1], dtype=np.intp)
        for fold in np.unique(folds):
            choice = self.best(folds != fold)
            held_out[folds == fold] = self.values[folds == fold, choice]
            times[choice] += 1
        return held_out, times


def tune_fusion(
    frame: Any,
    bound: Mapping[str, Any],
    metric: Any,
    k: Any,
    fusions: Mapping[str, Any],
    how: Mapping[str, Any],
    roles: Mapping[str, Any],
) -> Any:
    """Return the candidates with their values, in the sample and out of fold; see `Rec.tune_fusion`."""
    check_frame("the frame", frame)
    check_installed()
    if not isinstance(as_written(metric), str | Metric):
        msg = f"metric={quoted(metric)} is not one metric"
        raise OptionTypeError(msg, "tune_fusion('ndcg', k=10, score=['bm25', 'dense'])")
    options, k = Options.of(labels_of(frame), **how), check_k(k)
    call = CALL_ROLES["tune_fusion"]
    read = {name: value for name, value in bound.items() if name in call}
    query = query_of_call(read, roles, call, [frame])
    if query.model is not None:
        if {**read, **roles}.get("truth") is None:
            msg = f"model={query.model!r} needs truth=, as a fused item is no row of one model"
            raise OptionError(msg, "truth=, or score=['bm25', 'dense'], a column for each model")
        frame, columns = in_columns(frame, query, FUSED(0))
        wide = {name: value for name, value in roles.items() if name not in (*ORDERS, *columns)} | columns
        return tune_fusion(
            frame, {name: read[name] for name in read if name not in ORDERS}, metric, k, fusions, how, wide
        )
    check_several(query, "tune_fusion joins")
    return _result(frame, read, metric, k, candidates(query, **fusions), options, roles).to_native()


def _result(
    frame: Any, bound: Any, metric: Any, k: Any, tried: Sequence[Mapping[str, Any]], options: Options, roles: Any
) -> nw.DataFrame[Any]:
    """Return the rows of the result: the chosen candidate first, then the next best in the sample."""
    plan = plan_of_lists(frame, bound, [metric], k, dict(roles), "tune_fusion", options.cluster)
    check_values_per_list(plan.metrics, "tune_fusion")
    lists = _lists(frame, bound, metric, k, tried, options, roles)
    if is_dry():
        return _frame([], frame)
    folds, every = folds_of(lists, options), np.ones(len(lists.values), dtype=bool)
    chosen, (held_out, times) = lists.best(every), lists.out_of_fold(folds)
    sums = Sums.of(held_out, lists.weights, lists.clusters)
    low, high = interval_of_values(held_out[lists.weights > 0], sums, options.confidence, lists.bounds)
    means = _means(lists.values, lists.weights)
    warn_of_data(plan.frames, plan.context.query, plan.context, float(means[chosen]))
    order = sorted(
        range(len(tried)), key=lambda number: (number != chosen, -means[number] if lists.upwards else means[number])
    )
    rows = []
    for number in order[:ROWS_OF_RESULT]:
        is_choice = number == chosen
        out = [float(end.item()) if is_choice else None for end in (sums.mean, low, high)]
        candidate = {name: value for name, value in tried[number].items() if value is not None}
        names = [candidate["method"], candidate.get("normalize"), json.dumps(candidate, default=float)]
        rows.append([*names, float(means[number]), len(every), int(times[number]), is_choice, *out])
    return _frame(rows, frame)


def _frame(rows: Sequence[Sequence[Any]], like: Any) -> nw.DataFrame[Any]:
    """Return rows as a frame of the library of another one."""
    backend = nw.get_native_namespace(like)
    columns = zip(*rows, strict=True) if rows else [()] * len(COLUMNS)
    made = [
        nw.new_series(name, [None if one != one else one for one in column], kind(), backend=backend)  # noqa: PLR0124 - NaN
        for (name, kind), column in zip(COLUMNS.items(), columns, strict=True)
    ]
    return made[0].to_frame().with_columns(*made)


def _lists(frame: Any, bound: Any, metric: Any, k: Any, tried: Any, options: Options, roles: Any) -> Lists:
    """Return the values of all candidates, list by list."""
    of_fuse = CALL_ROLES["fuse"]
    fused_by, fusing = ({name: one[name] for name in one if name in of_fuse} for one in (bound, roles))
    others, named = ({name: one[name] for name in one if name not in ORDERS} for one in (bound, roles))
    parts = []
    with progress_bar(len(tried), "candidates", show=options.progress) as show:
        for start in range(0, len(tried), CANDIDATES_AT_ONCE):
            some = tried[start : start + CANDIDATES_AT_ONCE]
            wide = frame
            for number, candidate in enumerate(some):
                wide = fuse.fuse(wide, fused_by, FUSED(number), arguments_of(candidate), fusing)
            names: dict[str, Any] = {"score": [*wide.columns][-len(some) :]}  # on pandas, labels of several levels
            if {**bound, **roles}.get("undefined") == "raise_all":  # refused by `folds_of`, which names no candidate
                names["undefined"] = "skip"
            plan = plan_of_lists(wide, others, [metric], k, {**named, **names}, "tune_fusion", options.cluster)
            parts.append(_values(plan))
            show(start + len(some))
    values, (first, *_) = np.column_stack([part.values for part in parts]), parts
    counted = ~np.isnan(values).any(axis=1) & (first.weights > 0)
    clusters = None if first.clusters is None else first.clusters[counted]
    return replace(first, values=values[counted], weights=first.weights[counted], clusters=clusters)


def _values(plan: Plan) -> Lists:
    """Return the values of some candidates, also of lists without one."""
    by_list = ListValues(plan)
    _, (part,) = segments(by_list, plan.context, by_key=True)
    pairs = (by_list.in_segment(part, number, 0) for number in range(len(by_list.models)))
    values, (weights, *_) = zip(*pairs, strict=True)
    upwards = plan.metrics[0].higher_is_better
    return Lists(np.column_stack(values), weights, part.get("cluster"), by_list.range_of(0), upwards)


def folds_of(lists: Lists, options: Options) -> NDArray[np.intp]:
    """Return the fold of each list: those of a cluster are in one, and folds have as many units, or one more."""
    units = np.arange(len(lists.values))
    if lists.clusters is not None:
        units, _ = numbered(lists.clusters)
    count = len(np.unique(units))
    if options.folds > count:
        what = "lists" if lists.clusters is None else f"values of cluster={options.cluster!r}"
        msg = f"folds={quoted(options.folds)} is more than the {count} {what} with a value"
        raise InputError(msg, "give more lists, or fewer folds")
    order = np.random.default_rng(options.seed).permutation(count)
    return (order % options.folds)[units]


def _means(values: Floats, weights: Floats) -> Floats:
    """Return the mean of each column."""
    means: Floats = (values * weights[:, None]).sum(axis=0) / weights.sum()
    return means
