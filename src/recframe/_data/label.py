"""Recommendations joined with their relevance in the truth."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import narwhals as nw

from recframe._base.columns import (
    EQUAL,
    ITEM,
    MODEL,
    POSITION,
    RELEVANCE,
    REPEAT,
    START,
    TRUE_VALUE,
    VALUE,
    score_column,
)
from recframe._base.values import as_tuple
from recframe._data.common import check_frame, check_roles, query_of_frames
from recframe._engines.column_spec import ColumnSpec, Source
from recframe._engines.postponed import is_dry
from recframe._engines.registry import adapter_of, is_lazy, open_rows
from recframe._engines.rows import MODEL_ROW, OTHER_ROW
from recframe._plan.matches import unmatched
from recframe._plan.relevance import distinct, known_value, number_repeats, or_zero, zero_repeats
from recframe._plan.sources import item_spec, key_specs, model_spec, relevance_of_truth, score_specs, with_list_key
from recframe.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._base.columns import Frame
    from recframe._engines.rows import Rows
    from recframe._plan.query import Query
    from recframe._plan.request import Request


NEVER = 2**30
"""A rank after all others."""


def label(request: Request, truth: Any, seen: Any, *, all_relevant: bool = False) -> Any:
    """Return recommendations with their relevance, and what was never recommended; see `Rec.label`.

    With `all_relevant` the truth has no column of relevance, and `relevant` names the relevance column of the result.
    """
    frame = request.frame
    query = query_of_frames("label", request, truth=truth)
    if seen is not None:
        check_frame("seen", seen)
    if all_relevant:
        query = replace(query, named=query.named - {"relevant"})
    named = {*request.named}
    columns = {"model": as_tuple(query.model), "by": query.by, "item": [query.item], "relevant": [query.relevant]}
    check_roles(**columns, **({"value": [query.value]} if "value" in named else {}))
    if not named & {"score", "rank"}:
        # Scores may come later; they only decide which row of a repeated recommendation comes first.
        in_frame = adapter_of(frame).names(frame)
        query = replace(query, orders=tuple(order for order in query.orders if order in in_frame))
    # The values of items: named by the call, or a column of both frames.
    valued = "value" in named or (
        not any(query.value in names for names in columns.values())
        and all(query.value in adapter_of(each).names(each) for each in (frame, truth))
    )
    sources = _sources(frame, truth, query, value=valued, strict=not all_relevant)
    if _has_rows(seen):
        sources["seen"] = Source(seen, {**key_specs(query), **item_spec(query)})
    rows = open_rows(sources, ["frame", "truth"])
    result, served = _join(rows, query, valued=valued)
    if not all_relevant:
        from recframe._checks.data_warnings import warn_of_labels

        warn_of_labels(frame, truth, query, matches_all_models=_matches_all_models(rows, served, query))
    return result


def drop_seen(frame: Any, seen: Any, query: Query) -> Any:
    """Return a frame without the pairs of key and item that another one has."""
    if not _has_rows(seen):
        return frame
    specs = {**key_specs(query), **item_spec(query)}
    rows = open_rows({"frame": Source(frame, specs), "seen": Source(seen, specs)})
    return rows.pick(unmatched(rows.engine, rows.frames["frame"], rows.frames["seen"], list(specs)), {})


def _has_rows(seen: Any) -> bool:
    """Return whether there is a frame of seen items with rows. A lazy frame may have some."""
    return seen is not None and (is_lazy(seen) or is_dry() or len(seen) > 0)


def _sources(frame: Any, truth: Any, query: Query, *, value: bool, strict: bool) -> dict[str, Source]:
    """Return the columns that `label` reads from the frame and the truth."""
    pair = {**key_specs(query), **item_spec(query)}
    value_column = {VALUE: ColumnSpec(query.value, "value", "value")} if value else {}
    relevance = {RELEVANCE: relevance_of_truth(query, strict=strict)}
    return {
        "frame": Source(frame, pair | score_specs(query) | model_spec(query) | value_column),
        "truth": Source(truth, pair | relevance | value_column),
    }


def _matches_all_models(rows: Rows, labelled: Frame, query: Query) -> bool:
    """Return whether the truth has at least one recommended item of every model."""
    count = nw.len() if query.model is None else nw.col(MODEL).n_unique()
    labelled_count = rows.engine.scalar(labelled.select(count))
    if query.model is None:
        return bool(labelled_count > 0)
    return bool(labelled_count == rows.engine.scalar(rows.frames["frame"].select(count)))


def _join(rows: Rows, query: Query, *, valued: bool) -> tuple[Any, Frame]:
    """Return the result, and the recommended rows whose items are in the truth."""
    engine = rows.engine
    frame, keys = with_list_key(rows.frames["frame"], key_specs(query))
    truth, _ = with_list_key(rows.frames["truth"], key_specs(query))
    if "seen" in rows.frames:
        pair = list({**key_specs(query), **item_spec(query)})
        frame, truth = (unmatched(engine, each, rows.frames["seen"], pair) for each in (frame, truth))
    group = [*keys, *([MODEL] if query.model is not None else [])]
    numbers = [RELEVANCE, *([VALUE] if valued else [])]
    truth = distinct(truth.with_columns(*map(or_zero, numbers)), keys, [*numbers, *rows.row])
    truth = truth.rename({**({VALUE: TRUE_VALUE} if valued else {}), **dict.fromkeys(rows.row, OTHER_ROW)})
    truth = engine.collect_once(truth)
    columns = [RELEVANCE, *([TRUE_VALUE] if valued else [])]
    joined = engine.join(frame, truth.select(*keys, ITEM, *columns), [*keys, ITEM])
    if valued:
        joined = joined.with_columns(nw.col(VALUE).cast(nw.Float64())).with_columns(known_value()).drop(TRUE_VALUE)
    joined = engine.collect_once(joined)
    unknown = nw.col(RELEVANCE).is_null()
    labelled = _numbered(rows, joined.filter(~unknown), [*group, ITEM], query)
    _check_repeats(rows, query, labelled)
    others = joined.filter(unknown).with_columns(nw.lit(0.0).alias(RELEVANCE))
    result = engine.stack([zero_repeats(labelled, [RELEVANCE]), others])
    if query.model is not None:
        truth = truth.join(_models(rows), how="cross")
    added = unmatched(engine, truth, labelled, [*group, ITEM])
    added = added.rename({TRUE_VALUE: VALUE}) if valued else added
    new = {RELEVANCE: query.relevant, **({VALUE: query.value} if valued else {})}
    names = {name: spec.column for name, spec in {**key_specs(query), **item_spec(query)}.items()}
    return rows.extend(result, added, names, new, query.model), labelled


def _numbered(rows: Rows, labelled: Frame, pair: Sequence[str], query: Query) -> Frame:
    """Add the number of each row among the rows that repeat its recommendation. Rows without a score come last."""
    start = nw.lit(1)
    if query.orders:
        how = {"descending": not query.by_rank, "tied": True}
        labelled = rows.engine.number_rows(labelled, pair, score_column(0), **how).drop(EQUAL).rename({POSITION: START})
        start = nw.col(START).fill_null(NEVER)
    labelled = labelled.with_columns(start.cast(nw.Int64()).alias(START))
    return rows.engine.collect_once(number_repeats(labelled, pair, rows.row).drop(START))


def _check_repeats(rows: Rows, query: Query, labelled: Frame) -> None:
    """Raise if repeated recommendations have no order that says which row comes first."""
    if len(query.orders) == 1:
        return
    if (rows.engine.scalar(labelled.select(nw.col(REPEAT).max())) or 1) > 1:
        models = f"each model of score={list(query.orders)!r} may have another row first"
        why = models if query.orders else "there is no column 'score' to say which row comes first"
        hint = "stack the models (model=)" if query.orders else "name the scores (score=, rank=) or the models (model=)"
        msg = f"recommendations repeat, and {why}"
        raise InputError(msg, f"drop repeated rows of a key and item, or {hint}")


def _models(rows: Rows) -> Frame:
    """Return every model, with the number of one of its rows."""
    frame = rows.frames["frame"]
    return rows.engine.collect_once(frame.group_by(MODEL).agg(nw.col(*rows.row).min().alias(MODEL_ROW)))
