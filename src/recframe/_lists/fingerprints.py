"""Fingerprints of what lists are measured on, the same on every machine and engine and in any order of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recframe._columns import ITEM, RELEVANCE, SUBTOPIC
from recframe._engines.base import values_of
from recframe._lists.keys import PLACE, floats_of, key_hash, texts_of
from recframe._plan.relevance import is_needed_row, or_zero

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import narwhals as nw

    from recframe._columns import Frame
    from recframe._plan.opened import Opened


def fingerprints_of_lists(context: Opened, table: nw.DataFrame[Any], *, items: bool) -> dict[str, Any]:
    """Return 64 bits for the relevant rows of each list of a table, and for what else metrics read of these rows."""
    lists, engine = table.select(*context.keys.key).with_row_index(PLACE), context.engine
    prints: dict[str, Any] = {}
    for name, rows, ids, numbers in _rows_of_lists(context, items=items):
        columns = rows.select(*context.keys.key, *ids, *numbers)
        joined = engine.collected(engine.join(columns, lists.lazy(), context.keys.key))
        joined = joined.filter(~joined[PLACE].is_null())
        sums = np.zeros(len(table), dtype=np.uint64)
        np.add.at(sums, np.asarray(joined[PLACE].to_numpy(), dtype=np.intp), _of_rows(context, joined, ids, numbers))
        prints[name] = sums.view(np.int64)
    return prints


def fingerprints_of_frames(context: Opened) -> dict[str, int]:
    """Return 64 bits for each frame of side information that the metrics read."""
    prints = {}
    for name, frame in context.session.frames.items():
        if name in ("frame", "truth"):
            continue
        rows = context.engine.collected(frame)
        ids = [column for column in rows.columns if column in (*context.keys.key, ITEM)]
        hashes = _of_rows(context, rows, ids, [column for column in rows.columns if column not in ids])
        prints[name] = int(hashes.sum(dtype=np.uint64))
    return prints


def _rows_of_lists(context: Opened, *, items: bool) -> Iterator[tuple[str, Frame, Sequence[str], Sequence[str]]]:
    """Yield what to hash: a name, rows, and their columns of ids and of numbers."""
    of_query = [RELEVANCE, *context.propensities]
    if context.truth is not None:
        rows, ids = context.truth, [ITEM]
    elif context.requirements.accuracy:
        needed = is_needed_row(context.query.min_relevance, graded=True)
        rows = context.all_rows.with_columns(*map(or_zero, of_query)).filter(needed)
        ids = [ITEM] if items else []
    else:
        return
    yield "relevant_rows", rows, ids, of_query
    if context.values:
        yield "values_of_rows", rows, ids, context.values
    if context.subtopics is not None:
        yield "subtopics_of_rows", context.subtopics, [ITEM, SUBTOPIC], []


def _of_rows(context: Opened, rows: nw.DataFrame[Any], ids: Sequence[str], numbers: Sequence[str]) -> Any:
    """Return 64 bits for each row."""
    hashes = np.zeros(len(rows), dtype=np.uint64)
    for name in ids:
        hashes = _mixed(hashes, _of_ids(context, rows, name))
    for name in numbers:
        values = np.nan_to_num(floats_of(rows[name]))
        hashes = _mixed(hashes, (values + 0.0).view(np.uint64))
    return hashes


def _of_ids(context: Opened, rows: nw.DataFrame[Any], name: str) -> Any:
    """Return 64 bits for each id of a column."""
    unique = rows.select(name).unique()
    hashes = map(key_hash, texts_of(context, unique, [name]))
    hash_of = dict(zip(values_of(unique[name]), hashes, strict=True))
    return np.fromiter((hash_of[value] for value in values_of(rows[name])), np.uint64, len(rows))


def _mixed(hashes: Any, bits: Any) -> Any:
    """Return hashes that depend on further bits: the finalizer of SplitMix64."""
    hashes = hashes * np.uint64(0x9E3779B97F4A7C15) + bits + np.uint64(0x632BE59BD9B4E019)
    hashes = (hashes ^ (hashes >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    hashes = (hashes ^ (hashes >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return hashes ^ (hashes >> np.uint64(31))
