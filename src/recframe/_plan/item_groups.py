"""The lists of `per_item`: one copy of the list per value, in which only the items with that value are relevant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import narwhals as nw

from recframe._base.columns import RELEVANCE, item_value_column
from recframe._plan.matches import matched
from recframe._plan.sources import item_names, key_names, with_list_key

if TYPE_CHECKING:
    from recframe._base.columns import Frame
    from recframe._engines.base import Session
    from recframe._plan.query import Query


def by_value(session: Session, query: Query, name: str, *, reads_relevance: bool) -> Frame:
    """Return a frame in which each list is copied once per value of its items.

    If there is a truth, its items decide which values a list has, because it holds every relevant item.
    """
    values = list(item_names(query))
    by_truth = "truth" in session.frames
    frame, keys = with_list_key(session.frames[name], key_names(query))
    source, _ = with_list_key(session.frames["truth" if by_truth else "frame"], key_names(query))
    pairs = session.engine.distinct(source, [*keys, *values])
    if by_truth and name == "frame":
        return _copied_per_value(session, frame, pairs, keys)
    columns = {value: item_value_column(value) for value in values}
    rows = _copied_per_value(session, frame.rename(columns), pairs, keys)
    if reads_relevance:
        differs = nw.any_horizontal(*(_differ(value, column) for value, column in columns.items()), ignore_nulls=False)
        relevance = nw.col(RELEVANCE).cast(nw.Float64()).fill_nan(None)
        counted = nw.when(differs & (relevance > 0)).then(nw.lit(0.0)).otherwise(relevance)
        rows = rows.with_columns(counted.alias(RELEVANCE))
    return rows.drop(*columns.values())


def _copied_per_value(session: Session, rows: Frame, pairs: Frame, keys: list[str]) -> Frame:
    """Return each row once per value of its list, without the lists that have no value."""
    return session.engine.collect_once(matched(session.engine, rows, pairs, keys))


def _differ(left: str, right: str) -> nw.Expr:
    """Return whether two columns differ in a row; two missing values are equal."""
    left_missing = nw.col(left).is_null()
    right_missing = nw.col(right).is_null()
    differ = (nw.col(left) != nw.col(right)).fill_null(value=False)
    return differ | (left_missing & ~right_missing) | (~left_missing & right_missing)
