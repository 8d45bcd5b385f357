"""Fingerprints of the data that lists are measured on. They depend on no machine, engine or order of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from recframe._base.columns import ITEM, RELEVANCE, SUBTOPIC
from recframe._engines.base import values_of
from recframe._inference.lists.keys import ROW_NUMBER, floats_of, key_hashes, mixed
from recframe._plan.relevance import is_needed_row, or_zero

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import narwhals as nw

    from recframe._base.columns import Frame
    from recframe._plan.opened import Opened


def fingerprints_of_lists(context: Opened, table: nw.DataFrame[Any], *, items: bool) -> dict[str, Any]:
    """Return fingerprints of 64 bits per list: of its relevant rows, and of their values and subtopics if read.

    With `items`, the relevant rows of a frame without a truth are hashed with their items.
    """
    lists = table.select(*context.keys.key).with_row_index(ROW_NUMBER)
    engine = context.engine
    fingerprints: dict[str, Any] = {}
    for hashed in _hashed_rows(context, items=items):
        columns = hashed.rows.select(*context.keys.key, *hashed.ids, *hashed.numbers)
        joined = engine.collected(engine.join(columns, lists.lazy(), context.keys.key))
        joined = joined.filter(~joined[ROW_NUMBER].is_null())
        list_numbers = np.asarray(joined[ROW_NUMBER].to_numpy(), dtype=np.intp)
        # A sum of hashes does not depend on the order of the rows.
        sums = np.zeros(len(table), dtype=np.uint64)
        np.add.at(sums, list_numbers, _row_hashes(context, joined, hashed.ids, hashed.numbers))
        fingerprints[hashed.name] = sums.view(np.int64)
    return fingerprints


def fingerprints_of_frames(context: Opened) -> dict[str, int]:
    """Return a fingerprint of 64 bits for each frame of side information that the metrics read."""
    fingerprints = {}
    for name, frame in context.session.frames.items():
        if name in ("frame", "truth"):
            continue
        rows = context.engine.collected(frame)
        ids = [column for column in rows.columns if column in (*context.keys.key, ITEM)]
        hashes = _row_hashes(context, rows, ids, [column for column in rows.columns if column not in ids])
        fingerprints[name] = int(hashes.sum(dtype=np.uint64))
    return fingerprints


class _HashedRows(NamedTuple):
    """Rows to hash."""

    name: str
    """The name of their fingerprint."""
    rows: Frame
    ids: Sequence[str]
    """The columns of ids, which are hashed as text."""
    numbers: Sequence[str]
    """The columns of numbers."""


def _hashed_rows(context: Opened, *, items: bool) -> Iterator[_HashedRows]:
    """Yield the rows of lists to hash, one entry per fingerprint."""
    relevance = [RELEVANCE, *context.propensities]
    if context.truth is not None:
        rows = context.truth
        ids = [ITEM]
    elif context.requirements.accuracy:
        needed = is_needed_row(context.query.min_relevance, graded=True)
        rows = context.all_rows.with_columns(*map(or_zero, relevance)).filter(needed)
        ids = [ITEM] if items else []
    else:
        return
    yield _HashedRows("relevant_rows", rows, ids, relevance)
    if context.values:
        yield _HashedRows("values_of_rows", rows, ids, context.values)
    if context.subtopics is not None:
        yield _HashedRows("subtopics_of_rows", context.subtopics, [ITEM, SUBTOPIC], [])


def _row_hashes(context: Opened, rows: nw.DataFrame[Any], ids: Sequence[str], numbers: Sequence[str]) -> Any:
    """Return a hash of 64 bits for each row."""
    hashes = np.zeros(len(rows), dtype=np.uint64)
    for name in ids:
        hashes = mixed(hashes, _id_hashes(context, rows, name))
    for name in numbers:
        values = np.nan_to_num(floats_of(rows[name]))
        hashes = mixed(hashes, (values + 0.0).view(np.uint64))
    return hashes


def _id_hashes(context: Opened, rows: nw.DataFrame[Any], name: str) -> Any:
    """Return a hash of 64 bits for each id in a column."""
    unique = rows.select(name).unique()
    hashes = key_hashes(context, unique, [name])
    hash_of = dict(zip(values_of(unique[name]), hashes, strict=True))
    return np.fromiter((hash_of[value] for value in values_of(rows[name])), np.uint64, len(rows))
