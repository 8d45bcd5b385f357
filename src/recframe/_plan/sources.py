"""What a call reads from the user's frames, by the plan's names."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, TypeVar

import narwhals as nw

from recframe._columns import (
    CANDIDATES,
    CLUSTER,
    GROUP,
    HIT,
    ITEM,
    MODEL,
    POOLED,
    PROPENSITY,
    RELEVANCE,
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
from recframe._plan.relevance import filled, made_of_relevance
from recframe._query import RANKED_ROWS, TIED_ROWS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from recframe._call_frames import CallFrames
    from recframe._columns import Frame
    from recframe._engines.column_spec import Use
    from recframe._plan.requirements import ColumnsRead, Requirements
    from recframe._query import Query

    Specs = dict[str, ColumnSpec]

Made = TypeVar("Made")


def cached_by_query(function: Callable[[Query], Made]) -> Callable[[Query], Made]:
    """Keep what a function returns for a query with the query."""

    @wraps(function)
    def kept(query: Query) -> Made:
        made: Made | None = query.kept.get(function)
        if made is None:
            made = query.kept[function] = function(query)
        return made

    return kept


@cached_by_query
def key_names(query: Query) -> dict[str, str]:
    """Return the user's key columns by the plan's names."""
    return {key_column(i): name for i, name in enumerate(query.by)}


@cached_by_query
def item_names(query: Query) -> dict[str, str]:
    """Return the columns of `per_item` by the plan's names: keys too, after those of the list."""
    first = max(len(query.by), 1)
    return {key_column(first + i): name for i, name in enumerate(query.per_item)}


def with_list_key(frame: Frame, keys: Iterable[str]) -> tuple[Frame, list[str]]:
    """Return a frame and the columns of its lists' key; a frame that is one list gets a column for it."""
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
    """Return the user's columns of the lists' weights and clusters by the plan's names, clusters in the key aside."""
    columns = {WEIGHT: query.weight, CLUSTER: None if query.cluster in query.by else query.cluster}
    return {name: column for name, column in columns.items() if column is not None}


@cached_by_query
def omitted_rows(query: Query) -> dict[str, str]:
    """Return the user's columns that count ranked rows which the frame omits, by the plan's names."""
    # Such rows are tied with all others by chance; in the best order, none of them is relevant.
    tied = {"as given": TIED_ROWS, "by chance": RANKED_ROWS, "by relevance": None}[query.ordered]
    columns = {CANDIDATES: RANKED_ROWS, TIED: tied}
    return {name: column for name, column in columns.items() if column in query.omission_columns}


def segment_specs(query: Query) -> Specs:
    """Return the columns of `per` to read that are not in the key."""
    return {name: ColumnSpec(column, "per", "attribute") for name, column in attribute_names(query).items()}


@cached_by_query
def attributes(query: Query) -> Specs:
    """Return the columns to read that describe lists."""
    roles: dict[str, tuple[str, Use]] = {WEIGHT: ("weight", "value"), CLUSTER: ("cluster", "attribute")}
    others = list_columns(query)
    return segment_specs(query) | {name: ColumnSpec(column, *roles[name]) for name, column in others.items()}


def key_specs(query: Query, use: Use = "key") -> Specs:
    """Return the columns of `by` to read."""
    return {key_column(i): ColumnSpec(column, "by", use) for i, column in enumerate(query.by)}


def item_spec(query: Query, use: Use = "key") -> Specs:
    """Return the column of items to read."""
    return {ITEM: ColumnSpec(query.item, "item", use)}


def model_spec(query: Query) -> Specs:
    """Return the column of models to read, in the long format."""
    return {} if query.model is None else {MODEL: ColumnSpec(query.model, "model", "model")}


def score_specs(query: Query) -> Specs:
    """Return the columns to rank by."""
    role = "rank" if query.by_rank else "score"
    return {score_column(i): ColumnSpec(column, role, "score") for i, column in enumerate(query.orders)}


def sources_of(
    frames: CallFrames, query: Query, requirements: Requirements, *, item: bool, sql: bool
) -> dict[str, Source]:
    """Return the frames with what to read from each."""
    grouped = group_frames(frames, query, requirements)
    key = read, truth, _, _, _ = requirements.columns_read, frames.truth is not None, item, sql, grouped
    specs = query.kept.get(key)
    if specs is None:
        specs = _specs(query, read, truth=truth, item=item, grouped=grouped)
        query.kept[key] = specs = _made(query, specs, pool=query.condensed or read.pool) if sql else specs
    features = {feature_column(i): ColumnSpec(c, "features", "feature") for i, c in enumerate(frames.feature_names)}
    numbers = range(len(frames.target_tables))
    targets = {target_column(i): ColumnSpec(target_column(i), "target", "value") for i in numbers}
    more = {"features": features, "target": targets}
    unread, named = _unread(query), frames.by_name.items()
    return {name: Source(native, specs[name] | more.get(name, {}), unread.get(name, ())) for name, native in named}


@cached_by_query
def _unread(query: Query) -> dict[str, list[ColumnSpec]]:
    """Return the columns that the call itself names, by the frame that must have them whether or not they are read."""
    return {"frame": _in_call(query, "item", "relevant", "value"), "truth": _in_call(query, "subtopic")}


def _in_call(query: Query, *roles: str) -> list[ColumnSpec]:
    return [ColumnSpec(getattr(query, role), role, "there") for role in roles if role in query.in_call]


def group_frames(frames: CallFrames, query: Query, requirements: Requirements) -> tuple[str, ...]:
    """Return the frames that say which group an item has, the one that the catalogue is read from first."""
    column = query.group
    if column is None or not requirements.numbers.groups:
        return ()
    if frames.features is not None and column in adapter_of(frames.features).names(frames.features):
        return ("features",)
    adapter = adapter_of(frames.frame)
    # A truth of another kind is refused when the frames are opened.
    alike = kind_of(adapter.side_frame(frames.truth)) is kind_of(frames.frame)
    # Only for the groups of relevant items a lazy truth must say which columns it has.
    truth_counts = alike and (adapter.eager or any(target == "relevant" for *_, target in requirements.numbers.groups))
    if not truth_counts or column not in adapter.names(frames.truth):
        return ("frame",)
    return ("frame", "truth") if not adapter.eager or column in adapter.names(frames.frame) else ("truth",)


def _specs(query: Query, read: ColumnsRead, *, truth: bool, item: bool, grouped: Sequence[str]) -> dict[str, Specs]:
    """Return what to read from each frame."""
    keys = key_specs(query)
    in_order = query.ties in ("item", "item_desc") or read.items_in_order
    items = item_spec(query, "order" if in_order else "key")
    values = {VALUE: ColumnSpec(query.value, "value", "value")} if read.value else {}
    counts = {name: ColumnSpec(column, "rank", "score") for name, column in omitted_rows(query).items()}
    rankings = score_specs(query) | model_spec(query) | values | counts
    values_of_items = {name: ColumnSpec(column, "per_item", "key") for name, column in item_names(query).items()}
    group = {GROUP: ColumnSpec(query.group, "group", "attribute")} if query.group is not None else {}
    subtopics = {SUBTOPIC: query.subtopic} if query.subtopic is not None and read.subtopics else {}
    of_truth = values | {name: ColumnSpec(column, "subtopic", "key") for name, column in subtopics.items()}
    of_frame: Specs = {} if truth else values_of_items | _own(query, read)
    specs = {
        "frame": keys | (items if item else {}) | rankings | of_frame,
        "truth": keys | values_of_items | items | _relevance(query, truth=True, strict=read.relevance) | of_truth,
        "train": keys | items,
        "features": items,
        "catalog": items,
        "models": model_spec(query),
        "items": items | (group if "frame" in grouped else {}),
        "target": {name: replace(spec, column=GROUP, role="target") for name, spec in (group or items).items()},
    }
    return {name: read_of | group if name in grouped else read_of for name, read_of in specs.items()}


def _made(query: Query, specs: dict[str, Specs], *, pool: bool) -> dict[str, Specs]:
    """Return what SQL reads: numbers without missing values, and what else the plan makes of the relevance."""
    made = {**dict.fromkeys((VALUE, PROPENSITY), filled), **made_of_relevance(query.min_relevance)}
    also = {"frame": (HIT, POOLED), "truth": (POOLED,) if pool else ()}
    found = {}
    for frame, columns in specs.items():
        more = {name: columns[RELEVANCE] for name in also.get(frame, ()) if RELEVANCE in columns}
        found[frame] = {name: replace(spec, made=made.get(name)) for name, spec in (columns | more).items()}
    return found


def relevance_of_truth(query: Query, *, strict: bool = True) -> ColumnSpec:
    """Return the relevance to read of a truth, which may lack the column: then all of its rows are relevant.

    A `strict` call refuses a truth without the column if another one surely holds the relevance.
    """
    remedy, default = "", None
    if "relevant" in query.named:
        remedy = "leave `relevant=` out, if each of its rows is relevant"
    elif _names_min_relevance(query):
        remedy = f"leave `min_relevance={query.min_relevance:g}` out, if each row of truth is relevant"
    else:
        default = 1.0
        remedy = "drop that column of truth, if each row is relevant"
    strict = strict and "relevant" not in query.named
    return ColumnSpec(query.relevant, "relevant", "relevance", default, remedy=remedy, refuses_other_names=strict)


def _names_min_relevance(query: Query) -> bool:
    """Return whether the user, and not a profile, says which relevance is enough."""
    by_user = query.like is None or "min_relevance" in query.named
    return by_user and query.min_relevance is not None and query.min_relevance > -math.inf


def _relevance(query: Query, *, truth: bool, strict: bool = True, default: float | None = None) -> Specs:
    """Return the columns of the relevance to read."""
    of_frame = ColumnSpec(query.relevant, "relevant", "relevance", default=default)
    relevance = {RELEVANCE: relevance_of_truth(query, strict=strict) if truth else of_frame}
    if query.propensity is not None:
        relevance[PROPENSITY] = ColumnSpec(query.propensity, "propensity", "value")
    return relevance


def _own(query: Query, read: ColumnsRead) -> Specs:
    """Return the columns to read of a frame that has no truth."""
    default = None if query.condensed or read.grades else 0.0
    relevance = _relevance(query, truth=False, default=default) if read.relevance else {}
    return relevance | attributes(query)


def name_of_model(query: Query, number: nw.Expr) -> nw.Expr:
    """Return the name of each model from its number."""
    name, *others = (nw.lit(query.model_name(index)) for index in range(len(query.orders)))
    for index, other in enumerate(others, start=1):
        name = nw.when(number == index).then(other).otherwise(name)
    return name
