"""Lists for each value of `per_item`: the whole list, in which only the items of one value are relevant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import narwhals as nw

from recframe._columns import RELEVANCE, own_value_column
from recframe._plan.matches import matched
from recframe._plan.sources import item_names, key_names, with_list_key

if TYPE_CHECKING:
    from recframe._columns import Frame
    from recframe._engines.base import Session
    from recframe._query import Query


def by_value(session: Session, query: Query, name: str, *, reads_relevance: bool) -> Frame:
    """Return a frame with the rows of each list once for each value that the list's items have.

    The values are those of the truth if there is one: whatever is relevant is there.
    """
    values, by_truth = list(item_names(query)), "truth" in session.frames
    frame, keys = with_list_key(session.frames[name], key_names(query))
    source, _ = with_list_key(session.frames["truth" if by_truth else "frame"], key_names(query))
    pairs = session.engine.distinct(source, [*keys, *values])
    if by_truth and name == "frame":
        return _of_values(session, frame, pairs, keys)
    columns = {value: own_value_column(value) for value in values}
    rows = _of_values(session, frame.rename(columns), pairs, keys)
    if reads_relevance:
        other = nw.any_horizontal(*(_differ(value, column) for value, column in columns.items()), ignore_nulls=False)
        relevance = nw.col(RELEVANCE).cast(nw.Float64()).fill_nan(None)
        counted = nw.when(other & (relevance > 0)).then(nw.lit(0.0)).otherwise(relevance)
        rows = rows.with_columns(counted.alias(RELEVANCE))
    return rows.drop(*columns.values())


def _of_values(session: Session, rows: Frame, pairs: Frame, keys: list[str]) -> Frame:
    """Return rows once for each value of their list, without lists that have none."""
    return session.engine.collect_once(matched(session.engine, rows, pairs, keys))


def _differ(left: str, right: str) -> nw.Expr:
    """Return whether two values differ, of which missing ones are equal."""
    left_missing, right_missing = nw.col(left).is_null(), nw.col(right).is_null()
    differ = (nw.col(left) != nw.col(right)).fill_null(value=False)
    return differ | (left_missing & ~right_missing) | (~left_missing & right_missing)
