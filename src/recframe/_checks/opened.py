"""The frames that a check or a warning reads, with the columns that every check needs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import narwhals as nw

from recframe._base.columns import (
    HIT,
    ITEM,
    MODEL,
    RELEVANCE,
    key_column,
    missing_key_column,
    nan_column,
)
from recframe._checks.definitions import comparable, used_columns, used_in_truth
from recframe._checks.findings import HAS_GRADES, HAS_ITEM, HAS_MODEL, ROWS
from recframe._engines.column_spec import ColumnSpec, Source
from recframe._engines.registry import adapter_of, is_frame, is_lazy, open_frames
from recframe._plan.relevance import is_hit, or_zero
from recframe._plan.sources import (
    item_spec,
    key_specs,
    model_spec,
    relevance_of_truth,
    score_specs,
    segment_specs,
    with_list_key,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from typing import Any

    from recframe._base.columns import Frame
    from recframe._engines.base import Engine
    from recframe._engines.column_spec import Use
    from recframe._plan.query import Query

    Specs = dict[str, ColumnSpec]
    FindingCounts = tuple[set[str], Frame]
    """The kinds of findings that a check counted, and the counts: one row, or one per model in long format."""


UNUSED_MODEL = "unused model"
"""The column named `model` of a frame in a call that gives it no role."""


class RowsToCheck:
    """The rows of one frame to check, under the plan's names.

    Attributes
    ----------
    engine : Engine
        The engine that computes the rows.
    frame : Frame
        The rows.
    keys, group : list of str
        The key of a list, and the key of one model's list.
    long : list of str
        The column of the models in the long format, otherwise empty.
    optional : set of str
        The flags of columns that the frame may lack.
    """

    optional: Collection[str] = ()

    def __init__(self, engine: Engine, frame: Frame, keys: Sequence[str], long: Sequence[str] = ()) -> None:
        self.engine = engine
        self.frame = frame
        self.keys = [*keys]
        self.long = [*long]
        self.group = [*keys, *long]

    def totals(self, frame: Frame, flags: Mapping[str, nw.Expr], others: Sequence[str]) -> FindingCounts:
        """Return the names of flags, and the sum of each flag and of other columns over the rows of each model."""
        names = [*flags, *others]
        numbers = [flag.cast(nw.Float64()).alias(name) for name, flag in flags.items()]
        frame = frame.select(*self.long, *others, *numbers)
        if self.long:
            return set(flags), self.engine.sum_by(frame, self.long, names)
        return set(flags), frame.select(nw.col(*names).sum())

    def for_models(self, frame: Frame) -> Frame:
        """Return rows repeated for each model, if the frame is in long format."""
        return frame.join(self.frame.select(MODEL).unique(), how="cross") if self.long else frame


def findings_present(part: FindingCounts) -> set[str]:
    """Return the kinds of findings that at least one model has."""
    names, totals = part
    counts = totals.collect()
    return {name for name in names if (counts.get_column(name) > 0).any()}


class FramesToCheck(RowsToCheck):
    """All frames of the call `check`: the rows of the frame, and what they are checked against.

    Attributes
    ----------
    truth : Frame or None
        The second frame, where there is one.
    segments : list of str
        The columns of `per` that describe lists without being their key.
    relevance_candidates : list of str or None
        The columns of the truth that may hold the relevance; None if the relevance is known.
    train : Frame or None
        The items that users already have, where the call names them.
    """

    def __init__(self, frame: Any, truth: Any, query: Query, train: Any = None) -> None:
        if train is not None:
            # Items are matched, so the frame must have them.
            query = replace(query, named=query.named | {"item"})
        self.query = query
        specs, truth_specs = _frame_specs(query, truth=truth is not None)
        specs |= unused_model(frame, query)
        self.optional = {HAS_ITEM, HAS_GRADES, HAS_MODEL} & specs.keys()
        segments = segment_specs(query)
        self.segments = list(segments)
        guessed = relevance_candidates(truth, query)
        guesses = relevance_candidate_specs(guessed or [])
        self.relevance_candidates = None if guessed is None else list(guesses)
        sources = {"frame": Source(frame, specs)}
        if truth is None:
            sources["frame"] = sources["frame"].with_specs(segments)
        else:
            sources["truth"] = Source(truth, truth_specs | guesses)
        if train is not None:
            sources["train"] = Source(train, key_specs(query) | item_spec(query))
        self.session = open_frames(sources, segments if truth is not None else {})
        rows = self._with_key_and_hits(self.session.frames["frame"], relevant=truth is None)
        keys = list(key_specs(query)) or [key_column(0)]
        super().__init__(self.session.engine, rows, keys, [] if query.model is None else [MODEL])
        self.truth = None if truth is None else self._with_key_and_hits(self.session.frames["truth"], relevant=True)
        self.train = None if train is None else with_list_key(self.session.frames["train"], key_specs(query))[0]

    def _with_key_and_hits(self, frame: Frame, *, relevant: bool) -> Frame:
        """Return rows with a list key and a column of hits, which is 0 if the frame does not hold the relevance."""
        frame, _ = with_list_key(frame, key_specs(self.query))
        hit = is_hit(or_zero(RELEVANCE) if relevant else nw.lit(0.0), self.query.min_relevance)
        return frame.with_columns(hit.cast(nw.Float64()).alias(HIT), nw.lit(1.0).alias(ROWS))


def all_or_none(count: str, total: str, name: str) -> nw.Expr:
    """Return the count `count` under another name if it equals the total, otherwise 0."""
    return nw.when(nw.col(count) == nw.col(total)).then(nw.col(count)).otherwise(0.0).alias(name)


def relevance_candidates(truth: Any, query: Query) -> list[Any] | None:
    """Return the columns of a truth that may hold the relevance, by their type; None if the relevance is known."""
    if not is_frame(truth) or "relevant" in query.named or query.relevant in adapter_of(truth).names(truth):
        return None
    schema = adapter_of(truth).as_narwhals(truth).collect_schema().items()
    used = used_in_truth(query)
    return [
        name
        for name, dtype in schema
        if name not in used and (dtype.is_integer() or dtype.is_float() or dtype == nw.Boolean)
    ]


def relevance_candidate_specs(columns: Sequence[Any]) -> dict[str, ColumnSpec]:
    """Return specs that read the columns of a truth that may hold the relevance."""
    return {f"candidate{i}": ColumnSpec(column, "relevant", "relevance") for i, column in enumerate(columns)}


def _frame_specs(query: Query, *, truth: bool) -> tuple[Specs, Specs]:
    """Return the columns to read from the frame and from the truth.

    Columns of roles that the call does not name may be absent.
    """

    def role_spec(role: str, column: str, use: Use, default: float | None) -> ColumnSpec:
        return ColumnSpec(column, role, use, None if role in query.named or truth else default)

    keys = key_specs(query)
    # A missing value of an attribute is null on every engine.
    missing = {missing_key_column(i): ColumnSpec(column, "by", "attribute") for i, column in enumerate(query.by)}
    role = "rank" if query.by_rank else "score"
    nans = {nan_column(i): ColumnSpec(column, role, "nan") for i, column in enumerate(query.orders)}
    item = {ITEM: role_spec("item", query.item, "key", 0.0)}
    frame = keys | missing | score_specs(query) | nans | model_spec(query) | item
    if truth:
        return frame, keys | item | {RELEVANCE: relevance_of_truth(query)}
    relevance = {RELEVANCE: role_spec("relevant", query.relevant, "relevance", 0.0)}
    absent = {
        HAS_ITEM: ColumnSpec(query.item, "item", "exists", default=0.0),
        HAS_GRADES: ColumnSpec(query.relevant, "relevant", "exists", default=0.0),
    }
    return frame | relevance | {name: flag for name, flag in absent.items() if flag.role not in query.named}, {}


def unused_model(frame: Any, query: Query) -> dict[str, ColumnSpec]:
    """Return the spec of a column `model` that has no role, if the frame may have one."""
    if MODEL in used_columns(query) or not (is_lazy(frame) or comparable(frame, MODEL)):
        return {}
    return {
        # A missing value of an attribute is null on every engine.
        UNUSED_MODEL: ColumnSpec(MODEL, "model", "attribute", default=0.0),
        HAS_MODEL: ColumnSpec(MODEL, "model", "exists", default=0.0),
    }
