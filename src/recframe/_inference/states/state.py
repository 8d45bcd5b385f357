"""A state: sums over lists, as rows of numbers and text that can be saved and merged."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

import narwhals as nw
import numpy as np

from recframe._base.values import column_or_none, flag
from recframe._inference.lists.keys import floats_of, key_hashes, pack, rows_of, texts_of
from recframe._inference.lists.paired_sums import Pair, model_pairs, with_differences
from recframe._inference.lists.results import INTERNAL, new_series, result_frame
from recframe._inference.lists.sums import Groups, sums_of_pair, sums_of_values
from recframe._inference.lists.values import (
    ListValues,
    check_independent_lists,
    check_values_per_list,
    value_column,
    weight_column,
)
from recframe._inference.states.checks import COUNTS, ENDS
from recframe._inference.states.items import Items
from recframe._inference.states.run_rows import RUN, ListsOfRuns
from recframe.errors import ColumnTypeError, OptionError
from recframe.profiles._explain import spelled

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from recframe._base.values import Labels
    from recframe._inference.states.run_rows import RunTables
    from recframe._plan.opened import Opened
    from recframe._plan.plan import Plan

STATE_VERSION = 1
"""The version of the columns, their meaning and what metrics compute. States of another version are refused."""
KEY_COLUMNS = ("kind", "metric", "model", "baseline", "item", "cluster")
"""The columns that identify a row in a segment: a model's lists, a metric's values, a pair's differences, an item."""
SUMS = (
    *("weight", "total", "baseline_total", "squares"),
    *("weight_squares", "weight_cubes", "weighted_total", "weighted_squares"),
)
NOTES = ("keys", "definition", "state")
COLUMNS = (*KEY_COLUMNS, *COUNTS, *SUMS, *ENDS, "place", "version", *NOTES)
"""The columns of a state, after the columns of `per`."""
TYPES: dict[str, Any] = dict.fromkeys((*KEY_COLUMNS, *NOTES), nw.String()) | dict.fromkeys((*SUMS, *ENDS), nw.Float64())
TYPES |= dict.fromkeys((*COUNTS, "place", "version"), nw.Int64())


@dataclass(frozen=True)
class Options:
    """The checked options of a state: its pairs of models, clusters of lists and runs, and whether it holds items."""

    baseline: Any
    cluster: str | None
    items: bool
    runs: str | None = None

    @classmethod
    def of(cls, labels: Labels, baseline: Any, cluster: Any, items: Any, runs: Any = None) -> Options:
        """Return checked options, or raise for what can be checked without a frame."""
        columns = (column_or_none(name, value, labels) for name, value in (("cluster", cluster), ("runs", runs)))
        cluster, runs = columns
        return cls(baseline, cluster, flag("items", items), runs)


def state(plan: Plan, options: Options, runs: RunTables | None = None) -> Any:
    """Return the sums over the lists, as a frame of the user's kind."""
    check_independent_lists(plan, "a state of some lists")
    if not options.items:
        check_values_per_list(plan.metrics, "state", "items=True keeps how often each item is recommended")
    types = {name: {nw.String(): str, nw.Int64(): int}.get(TYPES[name], float) for name in COLUMNS}
    return result_frame(plan, lambda: _rows(plan, options, runs), COLUMNS, types)


@dataclass
class _Table:
    """The rows of a state while it is made: the parts of each column."""

    columns: dict[str, list[Any]] = field(default_factory=lambda: {name: [] for name in COLUMNS})
    lists: list[int] = field(default_factory=list)
    """The number of a list in the segment of each row, from which the columns of the segment are read."""

    def add(self, groups: Groups, names: Mapping[str, Any], sums: Mapping[str, Any]) -> None:
        """Add a row for each group: `names` are the same in all these rows, and `sums` has a value for each."""
        count = len(groups.first)
        self.lists += groups.first
        for name, parts in self.columns.items():
            kind = object if TYPES[name] == nw.String() else np.float64
            column = (
                sums[name] if name in sums else np.full(count, names.get(name, None if kind is object else 0.0), kind)
            )
            parts.append(np.asarray(column, dtype=kind))


def _segments(context: Opened, table: nw.DataFrame[Any]) -> list[tuple[Any, ...]]:
    """Return the segment of each list, or raise if a state cannot hold them."""
    nested = [context.names[name] for name in context.keys.per if table[name].dtype.is_nested()]
    if nested:
        msg = f"per={nested[0]!r} holds lists or structs, but a state has rows of numbers and text"
        raise ColumnTypeError(msg, "cast the column to text first")
    return rows_of(table, context.keys.per)


@dataclass(frozen=True)
class _Lists:
    """The lists of a state: their keys, and the values of models, differences of pairs and weights by column."""

    table: nw.DataFrame[Any]
    arrays: Mapping[str, Any]
    weighted: Collection[int]
    models: Sequence[Any]
    pairs: Sequence[Pair]
    heads: Sequence[dict[str, Any]]
    """The name of each metric, its number in the call, and its definition."""
    of_runs: ListsOfRuns | None

    @classmethod
    def of(cls, plan: Plan, options: Options, common: Mapping[str, Any], runs: RunTables | None) -> _Lists:
        """Read the lists of a call."""
        context = plan.context
        values = ListValues(plan) if runs is None else runs.values
        models: Sequence[Any] = values.models if context.query.several else [None]
        models = models if runs is None else runs.models
        every = range(len(plan.list_metrics))
        pairs = []
        if len(models) > 1 or options.baseline is not None:
            pairs = [Pair(metric, *pair) for metric in every for pair in model_pairs(models, options.baseline)]
        names = values.columns
        if runs is None:
            values = with_differences(values, pairs) if pairs else values
            names = [*names, *(pair.difference for pair in pairs)]
            names += [pair.weight for pair in pairs if pair.metric in values.weighted]
        keys = list(dict.fromkeys([*context.keys.per, *context.keys.key, *_cluster(context)]))
        table = values.engine.collected(values.frame.select(*keys, *names))
        arrays = {name: floats_of(table[name]) for name in names}
        of_runs = None if runs is None else ListsOfRuns(runs, arrays, every, pairs)
        arrays = arrays if of_runs is None else of_runs.averaged()
        heads = _heads(plan, values, common)
        return cls(table, arrays, values.weighted, models, pairs, heads, of_runs)


def _cluster(context: Opened) -> list[str]:
    """Return the column of clusters, if there is one."""
    return [] if context.keys.cluster is None else [context.keys.cluster]


def _rows(plan: Plan, options: Options, runs: RunTables | None) -> nw.DataFrame[Any]:
    """Return the rows of a state, with internal column names that no column of the user has."""
    context = plan.context
    common = _shared_definition(plan, options, runs)
    lists = _Lists.of(plan, options, common, runs)
    model_names = _model_names(lists.models)
    segments = _segments(context, lists.table)
    by_segment, groups, clusters = _groups(context, lists.table, segments)
    hashes = key_hashes(context, lists.table, list(context.keys.key))
    items = Items(plan, lists.models) if options.items and context.requirements.exposure else None
    item_heads = {} if items is None else _item_heads(plan, items, common)
    definitions = [head["definition"] for head in (*lists.heads, *item_heads.values())]
    notes = {"version": STATE_VERSION, "state": _state_id(hashes, model_names, definitions)}
    heads = [notes | head for head in lists.heads]
    state = _Table()
    definition = json.dumps({name: value for name, value in common.items() if name != "relevant"})
    _add_lists(state, lists, by_segment, hashes, model_names, {**notes, "definition": definition})
    _add_values(state, lists, groups, clusters, model_names, heads)
    _add_runs(state, lists, by_segment, model_names, heads)
    if items is not None:
        item_notes = {number: notes | head for number, head in item_heads.items()}
        _add_items(state, items, by_segment, segments, item_notes, model_names)
    return _framed(lists.table, context, state)


class _GroupedLists(NamedTuple):
    """The lists of a state in groups."""

    by_segment: Groups
    by_cluster: Groups
    """The lists by segment and cluster; by segment if the call names no clusters."""
    clusters: dict[str, list[str | None]]
    """The column with the cluster of each group."""


def _groups(context: Opened, table: nw.DataFrame[Any], segments: Sequence[tuple[Any, ...]]) -> _GroupedLists:
    """Return the lists by segment, and by segment and cluster.

    Without lists and without `per`, there is one group that has no list, so that the state has a row.
    """
    column = _cluster(context)
    by_segment = Groups.of(segments)
    groups = Groups.of(rows_of(table, [*context.keys.per, *column])) if column else by_segment
    if not context.keys.per and not len(table):
        # -1 is the first list of a group without lists.
        by_segment = Groups(np.array([], dtype=np.intp), [-1])
        groups = by_segment
    texts = texts_of(context, table, column) if column else None
    clusters = [None if texts is None or number < 0 else texts[number] for number in groups.first]
    return _GroupedLists(by_segment, groups, {"cluster": clusters})


def _state_id(hashes: Any, model_names: Sequence[str | None], definitions: Sequence[str]) -> str:
    """Return the id of a state, which differs between states of other lists, models or metrics."""
    about = json.dumps([model_names, *definitions]).encode()
    return blake2b(np.sort(hashes).tobytes() + about, digest_size=8).hexdigest()


def _add_lists(
    state: _Table,
    lists: _Lists,
    by_segment: Groups,
    hashes: Any,
    model_names: Sequence[str | None],
    notes: Mapping[str, Any],
) -> None:
    """Add a row for each model and segment: how many lists have values, and the keys of the lists."""
    keys = [pack(hashes[by_segment.codes == number]) for number in range(len(by_segment.first))]
    for model, name in enumerate(model_names):
        has_value = [~np.isnan(lists.arrays[value_column(model, metric)]) for metric in range(len(lists.heads))]
        valued = np.all([np.ones(len(lists.table), dtype=bool), *has_value], axis=0)
        sums = {"lists": by_segment.counts(valued), "undefined": by_segment.counts(~valued), "keys": keys}
        state.add(by_segment, {"kind": "lists", "model": name, "place": model, **notes}, sums)


def _add_values(
    state: _Table,
    lists: _Lists,
    groups: Groups,
    clusters: Mapping[str, Any],
    model_names: Sequence[str | None],
    heads: Sequence[Mapping[str, Any]],
) -> None:
    """Add the sums of the values of each model and metric, then the sums of the differences of each pair."""
    arrays = lists.arrays
    of_runs = lists.of_runs
    for model, name in enumerate(model_names):
        for metric, head in enumerate(heads):
            weights = arrays.get(weight_column(model, metric))
            sums = sums_of_values(groups, arrays[value_column(model, metric)], weights)
            sums |= {} if of_runs is None else of_runs.negative_lists(groups, metric, model)
            state.add(groups, {"kind": "metric", **head, "model": name}, {**sums, **clusters})
    for pair in lists.pairs:
        baseline = arrays[value_column(pair.baseline, pair.metric)]
        sums = sums_of_pair(groups, arrays[pair.difference], baseline, arrays.get(pair.weight))
        sums |= {} if of_runs is None else of_runs.negative_lists(groups, pair.metric, pair.model, pair.baseline)
        names = {"model": model_names[pair.model], "baseline": model_names[pair.baseline]}
        state.add(groups, {"kind": "pair", **heads[pair.metric], **names}, {**sums, **clusters})


def _add_runs(
    state: _Table,
    lists: _Lists,
    by_segment: Groups,
    model_names: Sequence[str | None],
    heads: Sequence[Mapping[str, Any]],
) -> None:
    """Add the rows of single runs, if the call names the column of runs."""
    for row in () if lists.of_runs is None else lists.of_runs.rows(by_segment):
        other = None if row.other is None else model_names[row.other]
        names = {"model": model_names[row.model], "baseline": other}
        state.add(by_segment, {**heads[row.metric], "kind": RUN, "item": row.run, **names}, row.sums)


def _add_items(
    table: _Table,
    items: Items,
    by_segment: Groups,
    segments: Sequence[Any],
    notes: Mapping[int, Mapping[str, Any]],
    model_names: Sequence[str | None],
) -> None:
    """Add a row for each item that a metric counts, and the rows that say which metrics count items."""
    first = {segments[number]: number for number in by_segment.first if number >= 0}
    for number, metric in items.metrics:
        for model, (of_items, sums) in zip(model_names, items.rows(metric), strict=True):
            head = {"place": number, "model": model, **notes[number]}
            table.add(by_segment, {"kind": "exposure", **head}, {})
            lists = [by_segment.first[0] if segment is None else first[segment] for segment in of_items]
            table.add(Groups(None, lists), {"kind": "item", **head}, sums)


def _framed(table: nw.DataFrame[Any], context: Opened, collected: _Table) -> nw.DataFrame[Any]:
    """Return the collected rows as a frame, with the segments of the lists that they come from."""
    backend = nw.get_native_namespace(table).__name__
    made = [
        new_series(INTERNAL.format(name), np.concatenate(parts), TYPES[name], backend)
        for name, parts in collected.columns.items()
    ]
    if not context.keys.per:
        return made[0].to_frame().with_columns(*made)
    return table.select(*context.keys.per)[collected.lists].with_columns(*made)


def _model_names(models: Sequence[Any]) -> list[str | None]:
    """Return the models' names in a state, as text, or raise if two models have the same text."""
    texts = [None if model is None else str(model) for model in models]
    for model, text in zip(models, texts, strict=True):
        first = models[texts.index(text)]
        if first is not model:
            msg = f"the models {first!r} and {model!r} are one text, but a state names models by text"
            raise OptionError(msg, "rename one of them")
    return texts


def _heads(plan: Plan, values: ListValues, common: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the name of each metric, its number in the call, and its definition as text.

    States are only merged if their definitions are equal.
    """
    query = plan.context.query
    labels = [metric.label for metric in plan.metrics]
    heads = []
    for number, metric in enumerate(plan.list_metrics):
        how = query.averaging(metric.label)
        ends = [end if math.isfinite(end) else None for end in map(float, values.range_of(number))]
        about = {"range": ends, "higher_is_better": metric.higher_is_better}
        definition = json.dumps({"metric": spelled(metric, query, how), **common, **about})
        heads.append({"metric": how.name, "place": labels.index(metric.label), "definition": definition})
    return heads


def _item_heads(plan: Plan, items: Items, common: Mapping[str, Any]) -> dict[int, dict[str, str]]:
    """Return the names and definitions of the metrics that count items, by their numbers in the call."""
    heads = {}
    query = plan.context.query
    for number, metric in items.metrics:
        how = query.averaging(metric.label)
        about = {"metric": spelled(metric, query, how), "record": metric.label, "undefined": how.undefined}
        heads[number] = {"metric": how.name, "definition": json.dumps({**about, **common, **items.catalog})}
    return heads


def _shared_definition(plan: Plan, options: Options, runs: RunTables | None) -> dict[str, Any]:
    """Return the part of the definition that all metrics of the call share: its columns and what they stand for."""
    query = plan.context.query
    return {
        "by": [str(name) for name in query.by],
        "relevant": str(query.relevant),
        "truth": plan.context.truth is not None,
        "cluster": None if query.cluster is None else str(query.cluster),
        "several": query.several if runs is None else [*runs.models] != [None],
        **({} if options.runs is None else {"runs": str(options.runs)}),
    }
