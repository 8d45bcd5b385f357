"""The columns that a call reads from each of the user's frames, by the plan's names."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, TypeVar

import narwhals as nw

from recframe._base.columns import (
    CANDIDATES,
    CLUSTER,
    GROUP,
    HIT,
    ITEM,
    MODEL,
    POOLED,
    PROPENSITY,
    RELEVANCE,
    STRATUM,
    SUBTOPIC,
    TIED,
    VALUE,
    WEIGHT,
    attribute_column,
    feature_column,
    key_column,
    score_column,
    target_column,
)
from recframe._engines.column_spec import ColumnSpec, Source
from recframe._engines.registry import adapter_of, kind_of
from recframe._plan.call_frames import PAIR
from recframe._plan.query import RANKED_ROWS, TIED_ROWS
from recframe._plan.relevance import filled, made_of_relevance

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from recframe._base.columns import Frame
    from recframe._engines.column_spec import Use
    from recframe._plan.call_frames import CallFrames
    from recframe._plan.query import Query
    from recframe._plan.requirements import ColumnsRead, Requirements

    Specs = dict[str, ColumnSpec]

Made = TypeVar("Made")


def cached_by_query(function: Callable[[Query], Made]) -> Callable[[Query], Made]:
    """Decorate a function of a query so that its result is cached in the query."""

    @wraps(function)
    def cached(query: Query) -> Made:
        made: Made | None = query.cached.get(function)
        if made is None:
            made = query.cached[function] = function(query)
        return made

    return cached


@cached_by_query
def key_names(query: Query) -> dict[str, str]:
    """Return the user's key columns by the plan's names."""
    return {key_column(i): name for i, name in enumerate(query.by)}


@cached_by_query
def item_names(query: Query) -> dict[str, str]:
    """Return the columns of `per_item` by the plan's names, which continue the names of the key columns."""
    first = max(len(query.by), 1)
    return {key_column(first + i): name for i, name in enumerate(query.per_item)}


def with_list_key(frame: Frame, keys: Iterable[str]) -> tuple[Frame, list[str]]:
    """Return a frame and the columns of its key. A frame that is a single list gets a constant key column."""
    if names := list(keys):
        return frame, names
    return frame.with_columns(nw.lit(0).alias(key_column(0))), [key_column(0)]


@cached_by_query
def attribute_names(query: Query) -> dict[str, str]:
    """Return the columns of `per` that describe a list without being its key, by the plan's names."""
    others = [name for name in query.per if name not in (*query.by, *query.per_item)]
    return {attribute_column(i): name for i, name in enumerate(others)}


@cached_by_query
def list_columns(query: Query) -> dict[str, str]:
    """Return the user's columns of weights, clusters and strata by the plan's names, without those in the key."""
    others = {CLUSTER: query.cluster, STRATUM: None if query.strata is None else query.strata.column}
    outside = {name: column for name, column in others.items() if column not in query.by}
    columns = {WEIGHT: query.weight, **outside}
    return {name: column for name, column in columns.items() if column is not None}


@cached_by_query
def omitted_rows(query: Query) -> dict[str, str]:
    """Return the user's columns that count omitted ranked rows, by the plan's names."""
    # By chance, omitted rows tie with all others. In the best order they come last, because none is relevant.
    tied = {"as given": TIED_ROWS, "by chance": RANKED_ROWS, "by relevance": None}[query.ordered]
    columns = {CANDIDATES: RANKED_ROWS, TIED: tied}
    return {name: column for name, column in columns.items() if column in query.omission_columns}


def segment_specs(query: Query) -> Specs:
    """Return the specs of the columns in `per` that are not in the key."""
    return {name: ColumnSpec(column, "per", "attribute") for name, column in attribute_names(query).items()}


@cached_by_query
def attributes(query: Query) -> Specs:
    """Return the specs of the columns that describe lists: `per`, weights, clusters, strata."""
    roles: dict[str, tuple[str, Use]] = {
        WEIGHT: ("weight", "value"), CLUSTER: ("cluster", "attribute"), STRATUM: ("strata", "attribute"),
    }  # fmt: skip
    others = list_columns(query)
    return segment_specs(query) | {name: ColumnSpec(column, *roles[name]) for name, column in others.items()}


def key_specs(query: Query, use: Use = "key") -> Specs:
    """Return the specs of the columns in `by`."""
    return {key_column(i): ColumnSpec(column, "by", use) for i, column in enumerate(query.by)}


def item_spec(query: Query, use: Use = "key") -> Specs:
    """Return the spec of the item column."""
    return {ITEM: ColumnSpec(query.item, "item", use)}


def model_spec(query: Query) -> Specs:
    """Return the spec of the model column, empty in wide format."""
    return {} if query.model is None else {MODEL: ColumnSpec(query.model, "model", "model")}


def score_specs(query: Query) -> Specs:
    """Return the specs of the columns to rank by."""
    role = "rank" if query.by_rank else "score"
    return {score_column(i): ColumnSpec(column, role, "score") for i, column in enumerate(query.orders)}


def sources_of(
    frames: CallFrames, query: Query, requirements: Requirements, *, item: bool, sql: bool
) -> dict[str, Source]:
    """Return the source of each frame: the frame, and the specs of the columns to read."""
    grouped = group_frames(frames, query, requirements)
    read = requirements.columns_read
    truth = frames.truth is not None
    key = (read, truth, item, sql, grouped)
    specs = query.cached.get(key)
    if specs is None:
        specs = _specs(query, read, truth=truth, item=item, grouped=grouped)
        if sql:
            specs = _with_sql_columns(query, specs, pool=query.condensed or read.pool)
        query.cached[key] = specs
    features = {feature_column(i): ColumnSpec(c, "features", "feature") for i, c in enumerate(frames.feature_names)}
    numbers = range(len(frames.target_tables))
    targets = {target_column(i): ColumnSpec(target_column(i), "target", "value") for i in numbers}
    frame_specs = {"features": features, "target": targets}
    unread = _unread(query)
    return {
        name: Source(native, specs[name] | frame_specs.get(name, {}), unread.get(name, ()))
        for name, native in frames.by_name.items()
    }


@cached_by_query
def _unread(query: Query) -> dict[str, list[ColumnSpec]]:
    """Return the columns that the call names explicitly. A frame must have them even if no metric reads them."""
    return {"frame": _in_call(query, "item", "relevant", "value"), "truth": _in_call(query, "subtopic")}


def _in_call(query: Query, *roles: str) -> list[ColumnSpec]:
    """Return specs that only check that a column exists, for the roles that the call names explicitly."""
    return [ColumnSpec(getattr(query, role), role, "exists") for role in roles if role in query.in_call]


def group_frames(frames: CallFrames, query: Query, requirements: Requirements) -> tuple[str, ...]:
    """Return the names of the frames that hold the groups of items; the catalogue is read from the first one."""
    column = query.group
    if column is None or not requirements.numbers.groups:
        return ()
    if frames.features is not None and column in adapter_of(frames.features).names(frames.features):
        return ("features",)
    adapter = adapter_of(frames.frame)
    # A truth of another kind is refused later, when the frames are opened.
    has_same_kind = kind_of(adapter.side_frame(frames.truth)) is kind_of(frames.frame)
    # The schema of a lazy truth is costly, so it is only read for the groups of relevant items.
    reads_relevant = any(target == "relevant" for *_, target in requirements.numbers.groups)
    truth_counts = has_same_kind and (adapter.eager or reads_relevant)
    if not truth_counts or column not in adapter.names(frames.truth):
        return ("frame",)
    return ("frame", "truth") if not adapter.eager or column in adapter.names(frames.frame) else ("truth",)


def _specs(query: Query, read: ColumnsRead, *, truth: bool, item: bool, grouped: Sequence[str]) -> dict[str, Specs]:
    """Return the specs of the columns to read from each frame."""
    keys = key_specs(query)
    in_order = query.ties in ("item", "item_desc") or read.items_in_order
    items = item_spec(query, "order" if in_order else "key")
    values = {VALUE: ColumnSpec(query.value, "value", "value")} if read.value else {}
    counts = {name: ColumnSpec(column, "rank", "score") for name, column in omitted_rows(query).items()}
    rankings = score_specs(query) | model_spec(query) | values | counts
    values_of_items = {name: ColumnSpec(column, "per_item", "key") for name, column in item_names(query).items()}
    group = {GROUP: ColumnSpec(query.group, "group", "attribute")} if query.group is not None else {}
    subtopics = {SUBTOPIC: query.subtopic} if query.subtopic is not None and read.subtopics else {}
    judgments = _relevance(query, truth=True, strict=read.relevance)
    judgments |= values | {name: ColumnSpec(column, "subtopic", "key") for name, column in subtopics.items()}
    judged_by_frame: Specs = {} if truth else values_of_items | _judged_by_frame(query, read)
    specs = {
        "frame": keys | (items if item else {}) | rankings | judged_by_frame,
        "truth": keys | values_of_items | items | judgments,
        "train": keys | items,
        "features": items,
        "others": {ITEM: ColumnSpec(PAIR[0], "features", items[ITEM].use)},
        "catalog": items,
        "models": model_spec(query),
        "items": items | (group if "frame" in grouped else {}),
        "target": {name: replace(spec, column=GROUP, role="target") for name, spec in (group or items).items()},
    }
    return {name: columns | group if name in grouped else columns for name, columns in specs.items()}


def _with_sql_columns(query: Query, specs: dict[str, Specs], *, pool: bool) -> dict[str, Specs]:
    """Return specs for a query of a database, which computes filled numbers, hits and the pool where it reads."""
    made = {**dict.fromkeys((VALUE, PROPENSITY), filled), **made_of_relevance(query.min_relevance)}
    computed = {"frame": (HIT, POOLED), "truth": (POOLED,) if pool else ()}
    result = {}
    for frame, columns in specs.items():
        more = {name: columns[RELEVANCE] for name in computed.get(frame, ()) if RELEVANCE in columns}
        result[frame] = {name: replace(spec, made=made.get(name)) for name, spec in (columns | more).items()}
    return result


def relevance_of_truth(query: Query, *, strict: bool = True) -> ColumnSpec:
    """Return the spec of a truth's relevance. If the truth lacks the column, all of its rows are relevant.

    A `strict` call refuses a truth that lacks the column if another column clearly holds the relevance.
    """
    default = None
    if "relevant" in query.named:
        remedy = "leave `relevant=` out, if each row of truth is relevant"
    elif _names_min_relevance(query):
        remedy = f"leave `min_relevance={query.min_relevance:g}` out, if each row of truth is relevant"
    else:
        default = 1.0
        remedy = "drop that column of truth, if each row is relevant"
    strict = strict and "relevant" not in query.named
    return ColumnSpec(query.relevant, "relevant", "relevance", default, remedy=remedy, refuses_other_names=strict)


def _names_min_relevance(query: Query) -> bool:
    """Return whether the user, not a profile, set `min_relevance=` to a finite number."""
    by_user = query.like is None or "min_relevance" in query.named
    return by_user and query.min_relevance is not None and query.min_relevance > -math.inf


def _relevance(query: Query, *, truth: bool, strict: bool = True, default: float | None = None) -> Specs:
    """Return the specs of the relevance and the propensity, in the truth or in the frame."""
    frame_spec = ColumnSpec(query.relevant, "relevant", "relevance", default=default)
    relevance = {RELEVANCE: relevance_of_truth(query, strict=strict) if truth else frame_spec}
    if query.propensity is not None:
        relevance[PROPENSITY] = ColumnSpec(query.propensity, "propensity", "value")
    return relevance


def _judged_by_frame(query: Query, read: ColumnsRead) -> Specs:
    """Return the specs of the columns that a frame without a truth must hold itself: relevance and attributes."""
    default = None if query.condensed or read.grades else 0.0
    relevance = _relevance(query, truth=False, default=default) if read.relevance else {}
    return relevance | attributes(query)


def name_of_model(query: Query, number: nw.Expr) -> nw.Expr:
    """Return the name of a model, as an expression of its number."""
    name, *others = (nw.lit(query.model_name(index)) for index in range(len(query.orders)))
    for index, other in enumerate(others, start=1):
        name = nw.when(number == index).then(other).otherwise(name)
    return name
