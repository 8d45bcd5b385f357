"""Lists of one relevant item and a fixed number of others, as experiments sample them."""

from __future__ import annotations

from bisect import bisect_left
from functools import partial
from operator import ne
from typing import TYPE_CHECKING, Any

import narwhals as nw

from recframe._checks.definitions import comparable
from recframe._checks.findings import ROWS
from recframe._checks.first_rows import FIRST_ROWS, first_rows, open_rows_of
from recframe._columns import HIT, ITEM, RELEVANCE
from recframe._engines.column_spec import ColumnSpec
from recframe._engines.registry import adapter_of
from recframe._plan.relevance import is_hit, or_zero
from recframe._plan.sources import item_spec, model_spec

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from recframe._query import Query

LEAST_LISTS, LEAST_ROWS = 5, 50
"""The fewest lists, and rows in each, for which one relevant item in every list is unlikely to be chance."""


def sampled_candidates(frame: Any, query: Query) -> Iterator[str]:
    """Yield that the first rows of an eager frame look like relevant items, each among sampled others."""
    if len(frame) < LEAST_LISTS * LEAST_ROWS or not query.by:
        return
    adapter = adapter_of(frame)
    keys = [*query.by, *([] if query.model is None else [query.model])]
    if not {*keys, query.item, query.relevant} <= {*adapter.names(frame)}:
        return
    length = _length_of_first(frame, keys, min(len(frame), FIRST_ROWS) // LEAST_LISTS)
    if length is None:
        return
    if any(_hits(frame, query, start, length) != 1 for start in range(0, LEAST_LISTS * length, length)):
        return
    if not comparable(frame, query.item):
        return
    relevance = {RELEVANCE: ColumnSpec(query.relevant, "relevant", "relevance")}
    opened = open_rows_of(first_rows(frame), query, model_spec(query) | item_spec(query) | relevance)
    hit = is_hit(or_zero(RELEVANCE), query.min_relevance).cast(nw.Float64()).alias(HIT)
    sizes = opened.engine.sum_by(opened.frame.with_columns(hit), opened.group, [ROWS, HIT]).collect()
    others = sizes.filter(nw.col(ROWS) != length)
    # The sample may cut its last list.
    cut = len(frame) > FIRST_ROWS and len(others) == 1 and (others.get_column(ROWS) < length).all()
    if (len(others) and not cut) or not (sizes.filter(nw.col(ROWS) == length).get_column(HIT) == 1).all():
        return
    if opened.frame.select(nw.col(ITEM).n_unique()).collect().item() > length:
        yield (
            f"each list has one relevant item among {length} rows, and lists hold different items. If the other rows "
            "are a sample of what a list would rank, the values are too high, and the better model may have the lower "
            f"one: sampled=({length - 1}, n) estimates those of full lists of n items"
        )


def _length_of_first(frame: Any, keys: Sequence[Any], most: int) -> int | None:
    """Return how many rows the first list has before another one begins; None: too few, or more than `most`."""

    def length_up_to(stop: int) -> int:
        values = [adapter_of(frame).some_values(frame, name, 0, stop) for name in keys]
        return min(bisect_left(column, 1, key=partial(ne, column[0])) for column in values)

    # In most frames, a few values show that lists are shorter.
    if length_up_to(LEAST_ROWS) < LEAST_ROWS:
        return None
    length = length_up_to(most + 1)
    return length if length <= most else None


def _hits(frame: Any, query: Query, start: int, length: int) -> int | None:
    """Return how many of some rows are relevant; None: those of relevance 0 are, too."""
    least = query.min_relevance
    if least is not None and least <= 0:
        return None
    # What is 0 or missing is passed over without a look at each value.
    grades = filter(None, adapter_of(frame).some_values(frame, query.relevant, start, start + length))
    return sum(bool(value > 0 if least is None else value >= least) for value in grades)
