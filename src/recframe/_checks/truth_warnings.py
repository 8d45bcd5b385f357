"""Warnings about the truth of a call: ids that never match, lists of other days, a relevance without a role."""

from __future__ import annotations

from functools import cached_property, reduce
from itertools import pairwise, starmap
from operator import ne, or_
from typing import TYPE_CHECKING, Any

import narwhals as nw

from recframe._base.columns import COUNT, ITEM
from recframe._checks.definitions import is_comparable, list_keys, values_of
from recframe._checks.findings import warning_of
from recframe._checks.first_rows import FIRST_ROWS, first_rows, open_rows_of
from recframe._checks.opened import RowsToCheck, relevance_candidate_specs, relevance_candidates
from recframe._checks.rows import count_assumed_relevance, keys_with_counts
from recframe._engines.column_spec import Source
from recframe._engines.registry import adapter_of, open_frames
from recframe._plan.sources import item_spec, key_specs, model_spec, with_list_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from recframe._engines.base import Session
    from recframe._plan.query import Query

SHARED = "shared"
_IS_SHARED = nw.lit(1).alias(SHARED)
_ROWS = nw.len()
_COUNTS = nw.len().alias(COUNT), nw.col(SHARED).count()
FEW_KEYS = 1000
"""How many rows show whether the rows of a list stand together."""
MOST_RUNS = 0.2
"""The share of rows that may begin a run of equal keys before runs save no time."""
EXAMPLES = 3
"""How many values to show."""


class Matches:
    """Counts of lists and items that a frame and its truth share, from the frames that a call opened.

    Parameters
    ----------
    frame, truth : frame
        The user's frames.
    query : Query
        The roles.
    session : Session, optional
        The opened frames; None: to open what is looked at.
    """

    def __init__(self, frame: Any, truth: Any, query: Query, session: Session | None = None) -> None:
        self._frame = frame
        self._truth = truth
        self._query = query
        pair = key_specs(query) | item_spec(query)
        if session is None:
            session = open_frames({"frame": Source(frame, pair | model_spec(query)), "truth": Source(truth, pair)}, {})
        self._session = session
        rows, keys = with_list_key(session.frames["frame"], key_specs(query))
        self._frames = RowsToCheck(session.engine, rows, keys, [*model_spec(query)])

    def unmatched(self) -> Iterator[str]:
        """Yield warnings if no list or no item of the frame, or of one model, is in the truth."""
        frame = self._frame
        truth = self._truth
        query = self._query
        empty = [which for which, native in (("the frame", frame), ("truth", truth)) if not len(native)]
        if empty:
            yield f"{' and '.join(empty)} {'has' if len(empty) == 1 else 'have'} no rows"
            return
        for what, names in (("list", query.by), ("item", [query.item])):
            if not names:
                continue
            counts = self._list_counts if what == "list" else self._counts([ITEM])
            unmatched = {"the frame": frame}
            if any(shared for *_, shared, _ in counts):
                models = [model for *of_model, _, shared, _ in counts for model in of_model if not shared]
                unmatched = {f"{query.model}={name!r}": _rows_of_model(frame, query.model, name) for name in models}
            for which, rows in unmatched.items():
                yield warning_of(
                    f"no_{what}_in_truth", which=which, values=_examples_of_columns(rows, truth, what, names)
                )
            if unmatched:
                return

    def rarely_matched_lists(self) -> Iterator[str]:
        """Yield warnings if most lists of the truth are not in the frame or a model's rows, or the other way round."""
        for *model, lists, shared, in_truth in self._list_counts if self._query.by else ():
            which = f"{self._query.model}={model[0]!r}" if model else "the frame"
            # Without a list in common, the ids differ.
            for name, count in (("truth_of_unknown_lists", in_truth), ("lists_without_relevant", lists)):
                if shared and count > 2 * shared:
                    yield warning_of(name, some=f"{count - shared:,} of {count:,}", which=which)

    @cached_property
    def _list_counts(self) -> list[tuple[Any, ...]]:
        """The counts of lists, as `_counts` returns them, found in the fastest way that the rows allow."""
        truth, keys = with_list_key(self._session.frames["truth"], key_specs(self._query))
        counts = None if self._frames.long else self._frames.engine.count_shared(self._frames.frame, truth, keys)
        if counts is not None:
            return [counts]
        first = _first_rows_of_runs(self._frame, self._query)
        if first is None:
            return self._counts(self._frames.keys)
        # A row for each run of equal keys is enough, and few rows are compared in a fraction of the time.
        runs = Matches(first, self._truth, self._query)
        return runs._counts(runs._frames.keys)

    def _counts(self, keys: Sequence[str]) -> list[tuple[Any, ...]]:
        """Return three counts for each model: its lists or items, the shared ones, and the ones in the truth."""
        session = self._session
        long = self._frames.long
        truth, _ = with_list_key(session.frames["truth"], key_specs(self._query))
        keys_of_truth = session.engine.collect_once(session.engine.distinct(truth, keys))
        shared = keys_with_counts(self._frames, keys_of_truth.with_columns(_IS_SHARED), keys)
        native = session.finish(shared.group_by(*long).agg(*_COUNTS) if long else shared.select(*_COUNTS), {}, long)
        in_truth = session.engine.scalar(keys_of_truth.select(_ROWS))
        numbers = adapter_of(native).as_narwhals(native)
        columns = [numbers.get_column(name).to_list() for name in (*long, COUNT, SHARED)]
        return [(*row, in_truth) for row in zip(*columns, strict=True)]


def _first_rows_of_runs(frame: Any, query: Query) -> Any | None:
    """Return the first row of each run of rows with equal keys; None if the rows of a list do not stand together."""
    adapter = adapter_of(frame)
    keys = list_keys(query)
    if len(frame) <= FIRST_ROWS or not keys:
        return None
    first = [*zip(*(adapter.some_values(frame, key, slice(FEW_KEYS)) for key in keys), strict=True)]
    rows = adapter.as_narwhals(frame)
    # Roles may be levels of a pandas index.
    if sum(starmap(ne, pairwise(first))) > MOST_RUNS * FEW_KEYS or not {*keys, query.item} <= {*rows.columns}:
        return None
    rows = rows[:, [rows.columns.index(name) for name in dict.fromkeys([*keys, query.item])]]
    columns = [values_of(rows, key) for key in keys]
    if not all(map(is_comparable, columns)):
        return None
    return nw.concat([rows[:1], rows[1:].filter(_changes(columns))], how="vertical").to_native()


def _changes(columns: Iterable[Any]) -> Any:
    """Return for each row except the first whether a column differs from the row before."""
    # By slices: to shift whole numbers, pandas makes them floats, which do not hold large ones.
    return reduce(or_, ((column[1:] != column[:-1]).fill_null(value=True) for column in columns))


def assumed_relevance(truth: Any, query: Query, which: str = "truth") -> Iterator[str]:
    """Yield which columns look like the relevance in the first rows of an eager truth, which messages call `which`."""
    columns = relevance_candidates(truth, query)
    if not columns or not len(truth):
        return
    first = first_rows(truth)
    rows = adapter_of(first).as_narwhals(first)
    specs = relevance_candidate_specs([name for name in columns if _may_be_relevance(values_of(rows, name))])
    if not specs:
        return
    opened = open_rows_of(first, query, specs)
    _, totals = count_assumed_relevance(opened, opened.frame, [*specs])
    (zeros,) = totals.collect().rows(named=True)
    like = [spec.column for name, spec in specs.items() if zeros[name] > 0]
    if like:
        listed = ", ".join(map(repr, like))
        yield warning_of("assumed_relevance", which=which, relevant=query.relevant, columns=listed, first=like[0])


def _may_be_relevance(values: Any) -> bool:
    """Return whether a column may hold relevance, by its smallest and largest value: 0 and more, or only 0 and 1."""
    known = values.drop_nulls()
    if known.is_empty():
        return True
    least, greatest = known.min(), known.max()
    return bool((least >= 0 and greatest <= 1) or least <= 0 < greatest)


def _rows_of_model(frame: Any, column: Any, model: Any) -> Any:
    """Return the rows of one model."""
    rows = adapter_of(frame).as_narwhals(frame)
    values = values_of(rows, column)
    return rows.filter(values.is_null() if model is None else values == model).to_native()


def _examples_of_columns(frame: Any, truth: Any, what: str, names: Sequence[Any]) -> str:
    """Return examples of the values of columns in both frames."""
    role = "by" if what == "list" else what
    return "; ".join(f"`{role}={name!r}` is {_examples(frame, truth, name)}" for name in names)


def _examples(frame: Any, truth: Any, name: Any) -> str:
    """Return some values of a column in both frames."""
    parts = []
    for which, native in (("the frame", frame), ("truth", truth)):
        rows = adapter_of(native).as_narwhals(native)
        if name in rows.columns:
            values = values_of(rows, name)[:FIRST_ROWS].unique(maintain_order=True)[:EXAMPLES].to_list()
            parts.append(f"{', '.join(map(repr, values))} in {which}")
    return ", ".join(parts)
