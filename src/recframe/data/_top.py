"""The first rows of each list, and lists in the place of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw

from recframe import _rank
from recframe._frames import Source, Take
from recframe._frames._rows import open_rows
from recframe._terms import POSITION, SIZE, START
from recframe.data._common import check_frame, check_name, item_take, key_takes, keyed, question, whole_number
from recframe.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recframe._roles import Question

    Frame = nw.LazyFrame[Any]

__all__ = ["ROLES", "top"]

ROLES = ["by", "item", "score", "rank", "model"]
MODEL = "model"


def top(frame: Any, bound: Mapping[str, Any], k: int | None, name: str, given: Mapping[str, Any]) -> Any:
    """Return the first k rows of each list with their rank; see `Rec.top`."""
    check_frame("the frame", frame)
    k = None if k is None else whole_number("k", k)
    name = check_name("name", name)
    asked = one_order(question(bound, given, ROLES), "top")
    return ranked(frame, asked, k, name)


def ranked(frame: Any, asked: Question, k: int | None, name: str) -> Any:
    """Return the first k rows of each list with their rank."""
    order = "rank" if asked.by_rank else "score"
    takes = {
        **key_takes(asked),
        **item_take(asked, "order"),
        **({MODEL: Take(asked.model, "model", "key")} if asked.model is not None else {}),
        _rank.SCORE: Take(asked.orders[0], order, "score"),
    }
    rows = open_rows({"frame": Source(frame, takes)})
    whole, keys = keyed(rows.frames["frame"], asked)
    group = [*([MODEL] if asked.model is not None else []), *keys]
    found = rows.engine.present(whole, _rank.SCORE)
    found = _rank.place(found, group, k, by_rank=asked.by_rank)
    found = rows.engine.settle(_rank.sizes(found, group))
    alone = found.filter(nw.col(SIZE) == 1).drop(SIZE).with_columns(nw.col(START).alias(POSITION))
    tied = _rank.split_ties(found.filter(nw.col(SIZE) > 1).drop(SIZE), group, _rank.ITEM, k, descending=False)
    # What is left of a tie has one item: rows that repeat it take the next places.
    again = nw.col(START).rank("ordinal").over(*group, START).cast(nw.Int64()) - 1
    tied = tied.with_columns((nw.col(START) + again).alias(POSITION))
    tied = tied if k is None else tied.filter(nw.col(POSITION) <= k)
    found = nw.concat([alone, tied], how="vertical")
    models = [] if asked.model is None else [asked.model]
    return rows.pick(found, {POSITION: name}, [*models, *asked.by, name])


def one_order(asked: Question, call: str) -> Question:
    """Return the roles of a call that ranks by one column, or raise."""
    if len(asked.orders) > 1:
        msg = f"{call} ranks by one column, not by {list(asked.orders)!r}"
        raise OptionError(msg, f"score={asked.orders[0]!r}")
    return asked
