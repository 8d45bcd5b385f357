"""The ideal side: what lists would get in their best order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw

from recframe import _rank
from recframe._plan._placed import numbered
from recframe._plan._truth import label
from recframe._terms import HIT, POSITION, RELEVANCE, RELEVANT, IdealRow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._plan._tables import Tables

    Frame = nw.LazyFrame[Any]

__all__ = ["ideal_lists", "ranked_ideal"]


def ideal_lists(tables: Tables) -> Frame:
    """Return R and the sums in the best order, of each list that has a relevant row."""
    source = tables.truth if tables.truth is not None else tables.frame
    group = tables.keys if tables.truth is not None else tables.group
    lists = _best(tables, tables.relevance(source.select(*group, RELEVANCE, *tables.values)), group, "all")
    if tables.long and tables.truth is not None:
        lists = lists.join(tables.models(), how="cross")
    return lists


def ranked_ideal(tables: Tables, ranked: Frame) -> Frame:
    """Return the sums in the best order of the ranked rows only."""
    if tables.truth is not None:
        ranked = _rank.place(ranked, tables.group, None, by_rank=tables.question.by_rank).drop(_rank.SCORE)
    best = _best(tables, label(tables, ranked).select(*tables.group, RELEVANCE), tables.group, "ranked")
    return tables.wide(best, {column: nw.col(column) for column in tables.need.best_terms("ranked")})


def _best(tables: Tables, frame: Frame, group: Sequence[str], of: str) -> Frame:
    """Sum what the rows of positive relevance add in their best order."""
    row = IdealRow()
    added = tables.need.best_terms(of, row)
    positive = tables.hits(frame).filter((nw.col(RELEVANCE) > 0) | (nw.col(HIT) > 0))
    if POSITION in row.asked:
        positive = numbered(tables.engine, positive, group, RELEVANCE, descending=True)
        positive = positive.with_columns(nw.col(POSITION).cast(nw.Float64()))
    if of == "all":
        added[RELEVANT] = nw.col(HIT)
    return tables.engine.sum_by(positive.select(*group, **added), group, list(added))
