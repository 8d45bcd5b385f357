"""The first rows of each list, and lists in the place of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw

from recframe._arguments import CALL_ROLES
from recframe._columns import ITEM, MODEL, POSITION, SCORE, SIZE, START
from recframe._data.common import check_frame, check_name, count_of, item_take, key_takes, keyed, query
from recframe._engines.base import ColumnSpec, Source
from recframe._engines.registry import open_rows
from recframe._plan import ranks
from recframe.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recframe._arguments import Query


def top(frame: Any, bound: Mapping[str, Any], k: int | None, name: str, given: Mapping[str, Any]) -> Any:
    """Return the first k rows of each list with their rank; see `Rec.top`."""
    check_frame("the frame", frame)
    k = None if k is None else count_of("k", k)
    name = check_name("name", name)
    asked = one_order(query(bound, given, CALL_ROLES["top"], [frame]), "top")
    return ranked(frame, asked, k, name)


def ranked(frame: Any, asked: Query, k: int | None, name: str) -> Any:
    """Return the first k rows of each list with their rank."""
    order = "rank" if asked.by_rank else "score"
    takes = {
        **key_takes(asked),
        **item_take(asked, "order"),
        **({MODEL: ColumnSpec(asked.model, "model", "key")} if asked.model is not None else {}),
        SCORE: ColumnSpec(asked.orders[0], order, "score"),
    }
    rows = open_rows({"frame": Source(frame, takes)})
    whole, keys = keyed(rows.frames["frame"], asked)
    group = [*([MODEL] if asked.model is not None else []), *keys]
    found = rows.engine.present(whole, SCORE)
    found = ranks.place(found, group, k, by_rank=asked.by_rank)
    found = rows.engine.settle(ranks.sizes(found, group))
    alone = found.filter(nw.col(SIZE) == 1).drop(SIZE).with_columns(nw.col(START).alias(POSITION))
    tied = ranks.split_ties(found.filter(nw.col(SIZE) > 1).drop(SIZE), group, ITEM, k, descending=False)
    # What is left of a tie has one item: rows that repeat it take the next places.
    again = nw.col(START).rank("ordinal").over(*group, START).cast(nw.Int64()) - 1
    tied = tied.with_columns((nw.col(START) + again).alias(POSITION))
    tied = tied if k is None else tied.filter(nw.col(POSITION) <= k)
    found = nw.concat([alone, tied], how="vertical")
    models = [] if asked.model is None else [asked.model]
    return rows.pick(found, {POSITION: name}, [*models, *asked.by, name])


def one_order(asked: Query, call: str) -> Query:
    """Return the roles of a call that ranks by one column, or raise."""
    if len(asked.orders) > 1:
        msg = f"{call} ranks by one column, not by {list(asked.orders)!r}"
        raise OptionError(msg, f"score={asked.orders[0]!r}")
    return asked
