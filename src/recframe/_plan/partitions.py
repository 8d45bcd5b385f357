"""Evaluates a postponed call part by part, so that only some of its lists are in memory at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import narwhals as nw

from recframe._base.columns import CATALOG_SIZE, MODEL, PLACE
from recframe._plan.plan import Plan
from recframe._plan.sources import key_names
from recframe._plan.state import State

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._engines.postponed import PartReader, Rerun
    from recframe._plan.call_frames import CallFrames
    from recframe._plan.query import Query
    from recframe.metrics._record import Metric


def in_parts(call_frames: CallFrames, query: Query, metrics: Sequence[Metric], parts: int, rerun: Rerun) -> Any:
    """Return the result of a postponed call, for which the frame and the truth are collected one part at a time.

    Parameters
    ----------
    call_frames : CallFrames
        The frames of the call; the frame and the truth have no rows.
    query, metrics
        What to compute.
    parts : int
        The number of parts.
    rerun : Rerun
        Collects the parts.
    """
    split_frames = {name: frame for name, frame in call_frames.by_name.items() if name in ("frame", "truth")}
    rerun.parts |= {*map(id, split_frames.values())}
    if rerun.reader is None:
        return Plan(call_frames, query, metrics).frame()
    call_frames = _with_facts_of_all_rows(call_frames, query, metrics, rerun.reader)
    # Parts are added up under the user's keys: the numbers that replace keys differ from part to part.
    rerun.keeps_keys = True
    plan = Plan(call_frames, query, metrics)
    rerun.keeps_keys = False
    keys = key_names(query)
    opened = plan.context.session.frames
    if not keys:
        parts = 1  # the frame is one list
    states = []
    for index in range(parts):
        rows = rerun.reader.part(split_frames, keys, opened, index, parts)
        states.append(_state_with_keys(replace(call_frames, **rows), query, metrics))
    result = plan.finish(plan.result(plan.merge(states)))
    return _by_first_row(result, call_frames.models, query) if plan.context.keys.long else result


def _with_facts_of_all_rows(
    call_frames: CallFrames, query: Query, metrics: Sequence[Metric], reader: PartReader
) -> CallFrames:
    """Return the frames of a call with what a part cannot know: all models, all items, the largest relevance."""
    frame = call_frames.frame
    truth = call_frames.truth
    requirements = Plan(call_frames, query, metrics).context.requirements
    facts: dict[str, Any] = {}
    if query.model is not None:
        facts["models"] = reader.distinct(frame, [query.model])
    if CATALOG_SIZE in requirements.requested or requirements.numbers.groups:
        columns = [query.item] if query.group is None else [query.item, query.group]
        facts["items"] = reader.distinct(frame, [column for column in columns if column in frame.columns])
    if requirements.numbers.stops:
        judged = frame if truth is None else truth
        facts["greatest"] = reader.greatest(judged, query.relevant) if query.relevant in judged.columns else 1.0
    return replace(call_frames, **facts)


def _state_with_keys(call_frames: CallFrames, query: Query, metrics: Sequence[Metric]) -> State:
    """Return the sums over the lists in a part, with the user's keys."""
    part = Plan(call_frames, query, metrics)
    engine = part.context.engine
    finish = part.context.session.finish
    return State(*(engine.frame_of(finish(frame, {}, [])) for frame in part.state() if frame is not None))


def _by_first_row(result: Any, models: Any, query: Query) -> Any:
    """Return a result in which the models of each segment are in the order of their first rows."""
    number_of_model = {model: number for number, model in enumerate(nw.from_native(models)[query.model].to_list())}
    frame = nw.from_native(result, eager_only=True)
    numbers = [number_of_model[model] for model in frame[MODEL].to_list()]
    column = nw.new_series(PLACE, numbers, nw.Int64(), backend=nw.get_native_namespace(frame))
    return frame.with_columns(column).sort(*query.per, PLACE, nulls_last=True).drop(PLACE).to_native()
