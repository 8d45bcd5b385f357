"""Ids of lists and items that never match: why frame and truth have nothing in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw

from recframe._checks.definitions import values_of
from recframe._columns import COUNT, MODEL
from recframe._engines.column_spec import Source
from recframe._engines.registry import adapter_of, open_frames
from recframe._plan.sources import item_spec, key_specs, model_spec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recframe._plan.context import CallContext
    from recframe._query import Query

SEEN = "seen"
SAME_DAY = "Is the truth that of these lists, of the same days?"
EXAMPLES, LOOKED_AT = 3, 10_000
"""How many values to show, and in how many rows to look for them."""


def unmatched(frame: Any, truth: Any, query: Query) -> Iterator[str]:
    """Yield why no list, or no item, of an eager frame, or of one of its models in the long format, is in the truth."""
    empty = [which for which, native in (("the frame", frame), ("truth", truth)) if not len(native)]
    if empty:
        yield f"{' and '.join(empty)} {'has' if len(empty) == 1 else 'have'} no rows"
        return
    model, left = model_spec(query), True
    for what, specs in (("list", key_specs(query)), ("item", item_spec(query))):
        if not specs or not left:
            continue
        session = open_frames({"frame": Source(frame, specs | model), "truth": Source(truth, specs)}, {})
        columns = [*specs]
        there = session.frames["truth"].select(*columns).unique().with_columns(nw.lit(1.0).alias(SEEN))
        here = session.frames["frame"].select(*columns, *model).unique()
        both = session.engine.join(here, there, columns).with_columns(nw.col(SEEN).fill_null(0.0))
        names = [spec.column for spec in specs.values()]
        if not session.engine.scalar(both.select(nw.col(SEEN).sum())):
            left = False
            yield f"no {what} of the frame is in truth: {_each(frame, truth, what, names)}. Make the ids the same"
            continue
        if not model:
            continue
        never = session.engine.sum_by(both, [MODEL], [SEEN]).filter(nw.col(SEEN) == 0).select(MODEL)
        decoded = session.finish(never, {}, [MODEL])
        models = adapter_of(decoded).as_narwhals(decoded).get_column(MODEL).to_list()
        for name in models:
            own = _of_model(frame, query.model, name)
            each = _each(own, truth, what, names)
            yield f"no {what} of {query.model}={name!r} is in truth: {each}. Make the ids the same"
        left = not models


def strange_lists(context: CallContext) -> Iterator[str]:
    """Yield that most lists of an eager truth are unknown to the frame, or to a model, or the other way round."""
    if context.truth_lists is None or not context.query.by:
        return
    engine, keys, long = context.engine, context.keys, context.group[len(context.keys) :]
    there = context.truth_lists.select(*keys).unique()
    here = context.all_rows.select(*context.group).unique()
    both = engine.join(here, there.with_columns(nw.lit(1).alias(SEEN)), keys)
    counts = [nw.len().alias(COUNT), nw.col(SEEN).sum()]
    numbers = both.group_by(*long).agg(*counts) if long else both.select(*counts)
    # On pandas a join makes floats of whole numbers.
    numbers = numbers.with_columns(nw.col(SEEN).cast(nw.Int64()))
    known = engine.scalar(there.select(nw.len()))
    native = context.session.finish(numbers, {}, long)
    for *model, lists, shared in adapter_of(native).as_narwhals(native).select(*long, COUNT, SEEN).rows():
        which = f"{context.query.model}={model[0]!r}" if model else "the frame"
        # Without a list in common, the ids differ.
        if shared and known > 2 * shared:
            some = f"{known - shared:,} of {known:,}"
            yield f"most lists of truth, {some}, have no row of {which}: they score 0. {SAME_DAY}"
        if shared and lists > 2 * shared:
            some = f"{lists - shared:,} of {lists:,}"
            yield f"most lists of {which}, {some}, are not in truth: they have no value. {SAME_DAY}"


def _of_model(frame: Any, column: Any, model: Any) -> Any:
    """Return the rows of one model."""
    rows = adapter_of(frame).as_narwhals(frame)
    values = values_of(rows, column)
    return rows.filter(values.is_null() if model is None else values == model).to_native()


def _each(frame: Any, truth: Any, what: str, names: list[Any]) -> str:
    """Return examples of the values of columns in both frames."""
    role = "by" if what == "list" else what
    return "; ".join(f"{role}={name!r} is {_examples(frame, truth, name)}" for name in names)


def _examples(frame: Any, truth: Any, name: Any) -> str:
    """Return some values of a column in both frames."""
    said = []
    for which, native in (("the frame", frame), ("truth", truth)):
        rows = adapter_of(native).as_narwhals(native)
        if name in rows.columns:
            values = values_of(rows, name)[:LOOKED_AT].unique(maintain_order=True)[:EXAMPLES].to_list()
            said.append(f"{', '.join(map(repr, values))} in {which}")
    return ", ".join(said)
