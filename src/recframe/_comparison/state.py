"""A state: what lists add up to, as rows of numbers and text that outlive the call."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from recframe._comparison.list_keys import key_hash, pack, rows_of, texts_of
from recframe._comparison.list_values import ListValues, check_by_list, value_column, weight_column
from recframe._comparison.paired_sums import ROUNDING, Pair, model_pairs, with_differences
from recframe._comparison.results import INTERNAL, result_frame
from recframe._values import column_name
from recframe.profiles._explain import spelled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from recframe._plan.context import CallContext
    from recframe._plan.plan import Plan
    from recframe._values import Labels

    Floats = NDArray[np.float64]

VERSION = 1
"""Of the columns and their meaning, and of what metrics compute: states of another one are refused."""
NAMES = ("kind", "metric", "model", "baseline", "cluster")
"""What tells the rows of a segment apart: lists of a model, values of a metric, or differences of a pair of models."""
COUNTS = ("lists", "undefined", "zeros", "fractions", "negative", "baseline_negative", "wins", "losses")
SUMS = (
    *("weight", "total", "baseline_total", "squares"),
    *("weight_squares", "weight_cubes", "weighted_total", "weighted_squares"),
)
ENDS = ("least", "greatest")
NOTES = ("keys", "definition", "state")
COLUMNS = (*NAMES, *COUNTS, *SUMS, *ENDS, "place", "version", *NOTES)
"""The columns of a state, after those of `per`."""
TYPES: dict[str, Any] = dict.fromkeys((*NAMES, *NOTES), nw.String()) | dict.fromkeys((*SUMS, *ENDS), nw.Float64())
TYPES |= dict.fromkeys((*COUNTS, "place", "version"), nw.Int64())


@dataclass(frozen=True)
class Options:
    """Which pairs of models a state holds, and which lists are drawn together, checked."""

    baseline: Any
    cluster: str | None

    @classmethod
    def of(cls, labels: Labels, baseline: Any, cluster: Any) -> Options:
        """Check what can be checked without a frame."""
        return cls(baseline, None if cluster is None else column_name("cluster", cluster, labels))


def state(plan: Plan, options: Options) -> Any:
    """Return the sums over the lists, as a frame of the kind given."""
    check_by_list(plan.metrics, "state")
    types = {name: {nw.String(): str, nw.Int64(): int}.get(TYPES[name], float) for name in COLUMNS}
    return result_frame(plan, lambda: _rows(plan, options), COLUMNS, types)


@dataclass
class _Groups:
    """Lists by their segments, or by their segments and clusters."""

    codes: Any
    """The number of each list's group."""
    first: list[int]
    """A list of each group."""

    @classmethod
    def of(cls, rows: Sequence[tuple[Any, ...]]) -> _Groups:
        """Return the groups of lists by their keys."""
        numbers: dict[tuple[Any, ...], int] = {}
        codes = np.array([numbers.setdefault(row, len(numbers)) for row in rows], dtype=np.intp)
        first = np.full(len(numbers), -1)
        first[codes[::-1]] = np.arange(len(codes))[::-1]
        return cls(codes, first.tolist())

    def sums(self, values: Any) -> Floats:
        """Return the sum of the values in each group."""
        found: Floats = sums_by(self.codes, len(self.first), values)
        return found

    def ends(self, values: Floats, there: Any) -> tuple[Floats, Floats]:
        """Return the least and the greatest value of each group, NaN where none is there."""
        return ends_by(self.codes[there], len(self.first), values[there], values[there])


def sums_by(codes: Any, count: int, values: Any) -> Any:
    """Return the sum of the values of each group, the same bits in any order of rows."""
    order = np.lexsort((values, codes))
    return np.bincount(codes[order], weights=values[order], minlength=count)


def ends_by(codes: Any, count: int, least: Floats, greatest: Floats) -> tuple[Floats, Floats]:
    """Return the least and the greatest of each group, NaN where there is none."""
    low, high = np.full(count, math.inf), np.full(count, -math.inf)
    np.minimum.at(low, codes, least)
    np.maximum.at(high, codes, greatest)
    return np.where(np.isfinite(low), low, np.nan), np.where(np.isfinite(high), high, np.nan)


@dataclass
class _Table:
    """The rows of a state while it is made: the parts of each column."""

    columns: dict[str, list[Any]] = field(default_factory=lambda: {name: [] for name in COLUMNS})
    lists: list[int] = field(default_factory=list)
    """A list of each row's segment."""

    def add(self, groups: _Groups, names: Mapping[str, Any], sums: Mapping[str, Any]) -> None:
        """Add a row for each group."""
        count = len(groups.first)
        self.lists += groups.first
        for name, parts in self.columns.items():
            kind = object if TYPES[name] == nw.String() else np.float64
            given = (
                sums[name] if name in sums else np.full(count, names.get(name, None if kind is object else 0.0), kind)
            )
            parts.append(np.asarray(given, dtype=kind))


def _rows(plan: Plan, options: Options) -> nw.DataFrame[Any]:
    """Return the rows of a state, under names of their own."""
    values, context = ListValues(plan), plan.context
    every = range(len(plan.metrics))
    models = values.models if context.query.several else [None]
    pairs = []
    if len(models) > 1 or options.baseline is not None:
        pairs = [Pair(metric, *pair) for metric in every for pair in model_pairs(values.models, options.baseline)]
        values = with_differences(values, pairs)
    ones = [(model, metric) for model in range(len(models)) for metric in every]
    names = [*(value_column(*one) for one in ones), *(pair.difference for pair in pairs)]
    names += [weight_column(*one) for one in ones if one[1] in values.weighted]
    names += [pair.weight for pair in pairs if pair.metric in values.weighted]
    clustered = [] if context.cluster is None else [context.cluster]
    keys = list(dict.fromkeys([*context.per, *context.keys, *clustered]))
    table = values.engine.collected(values.frame.select(*keys, *names))
    array = {name: np.asarray(table[name].to_numpy(), dtype=np.float64) for name in names}
    segments = rows_of(table, context.per)
    whole, groups = _Groups.of(segments), _Groups.of(rows_of(table, [*context.per, *clustered]))
    if not context.per and not len(table):
        whole = groups = _Groups(np.array([], dtype=np.intp), [-1])
    clusters = texts_of(context, table, clustered) if clustered else None
    cluster = [None if clusters is None or place < 0 else clusters[place] for place in groups.first]
    hashes = np.array([key_hash(text) for text in texts_of(context, table, list(context.keys))], dtype=np.uint64)
    found = _Table()
    own = {number: _definition(plan, values, number, clustered=bool(clustered)) for number in every}
    about = json.dumps([[_called(name) for name in models], *own.values()]).encode()
    state_id = blake2b(np.sort(hashes).tobytes() + about, digest_size=8).hexdigest()
    notes = {"version": VERSION, "state": state_id}
    shared = json.dumps({name: json.loads(own[0])[name] for name in ("by", "truth", "cluster", "several")})
    for model, called in enumerate(models):
        name = _called(called)
        valued = np.all([~np.isnan(array[value_column(model, metric)]) for metric in every], axis=0)
        held = [pack(hashes[whole.codes == number]) for number in range(len(whole.first))]
        sums = {"lists": whole.sums(valued * 1.0), "undefined": whole.sums(~valued * 1.0), "keys": held}
        found.add(whole, {"kind": "lists", "model": name, "place": model, "definition": shared, **notes}, sums)
    for model, metric in ones:
        weights = array.get(weight_column(model, metric))
        sums = _of_values(groups, array[value_column(model, metric)], weights)
        head = {"kind": "metric", "metric": _name(plan, metric), "place": metric, "definition": own[metric], **notes}
        head["model"] = _called(models[model])
        found.add(groups, head, {**sums, "cluster": cluster})
    for pair in pairs:
        baseline = array[value_column(pair.baseline, pair.metric)]
        sums = _of_pair(groups, array[pair.difference], baseline, array.get(pair.weight))
        head = {"kind": "pair", "metric": _name(plan, pair.metric), "definition": own[pair.metric], **notes}
        head |= {"model": _called(models[pair.model]), "baseline": _called(models[pair.baseline]), "place": pair.metric}
        found.add(groups, head, {**sums, "cluster": cluster})
    return _framed(table, context, found)


def _framed(table: nw.DataFrame[Any], context: CallContext, found: _Table) -> nw.DataFrame[Any]:
    backend = nw.get_native_namespace(table).__name__
    made = [
        new_series(INTERNAL.format(name), np.concatenate(parts), TYPES[name], backend)
        for name, parts in found.columns.items()
    ]
    if not context.per:
        return made[0].to_frame().with_columns(*made)
    return table.select(*context.per)[found.lists].with_columns(*made)


def new_series(name: str, values: Any, dtype: Any, backend: Any) -> nw.Series[Any]:
    """Return a column of text or of numbers, whole ones as such, NaN as missing."""
    if dtype == nw.String():
        return nw.new_series(name, list(values), dtype, backend=backend)
    numbers = np.asarray(values, dtype=np.float64)
    if dtype == nw.Int64():
        return nw.new_series(name, numbers.astype(np.int64), dtype, backend=backend)
    return nw.new_series(name, numbers, dtype, backend=backend).fill_nan(None)


def _called(model: Any) -> str | None:
    return None if model is None else str(model)


def _name(plan: Plan, metric: int) -> str:
    return plan.context.query.averaging(plan.metrics[metric].label).name


def _definition(plan: Plan, values: ListValues, number: int, *, clustered: bool) -> str:
    """Return what must be the same in all states of a metric, as text."""
    query, metric = plan.context.query, plan.metrics[number]
    ends = [end if math.isfinite(end) else None for end in map(float, values.range_of(number))]
    found = {
        "metric": spelled(metric, query, query.averaging(metric.label)),
        "by": [str(name) for name in query.by],
        "relevant": str(query.relevant),
        "truth": plan.context.truth is not None,
        "cluster": str(query.cluster) if clustered else None,
        "several": query.several,
        "range": ends,
        "higher_is_better": metric.higher_is_better,
    }
    return json.dumps(found)


def _of_values(groups: _Groups, values: Floats, weights: Floats | None) -> dict[str, Any]:
    """Return the sums of the values of lists under one metric and model."""
    there = ~np.isnan(values)
    v = np.where(there, values, 0.0)
    least, greatest = groups.ends(values, there)
    return {
        **_moments(groups, there, v, _weights(there, weights)),
        "undefined": groups.sums(~there * 1.0),
        "zeros": groups.sums((there & (v == 0)) * 1.0),
        "fractions": groups.sums((there & (v != 0) & (v != 1)) * 1.0),
        "negative": groups.sums((v < 0) * 1.0),
        "least": least,
        "greatest": greatest,
    }


def _of_pair(groups: _Groups, differences: Floats, baselines: Floats, weights: Floats | None) -> dict[str, Any]:
    """Return the sums of the differences of lists between two models."""
    there = ~np.isnan(differences)
    d, b = np.where(there, differences, 0.0), np.where(there, baselines, 0.0)
    w = _weights(there, weights)
    least, greatest = groups.ends(differences, there)
    return {
        **_moments(groups, there, d, w),
        "baseline_total": groups.sums(w * b),
        "wins": groups.sums((d > ROUNDING) * 1.0),
        "losses": groups.sums((d < -ROUNDING) * 1.0),
        "negative": groups.sums((d + b < 0) * 1.0),
        "baseline_negative": groups.sums((b < 0) * 1.0),
        "least": least,
        "greatest": greatest,
    }


def _weights(there: Any, weights: Floats | None) -> Floats:
    """Return what lists weigh: nothing where there is no value."""
    return there * 1.0 if weights is None else np.where(there, np.nan_to_num(weights), 0.0)


def _moments(groups: _Groups, there: Any, values: Floats, w: Floats) -> dict[str, Any]:
    terms = {
        "lists": there * 1.0,
        "weight": w,
        "total": w * values,
        "squares": w * values**2,
        "weight_squares": w**2,
        "weight_cubes": w**3,
        "weighted_total": w**2 * values,
        "weighted_squares": (w * values) ** 2,
    }
    return {name: groups.sums(term) for name, term in terms.items()}
