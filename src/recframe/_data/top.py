"""The first rows of each list, and lists instead of rows."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from recframe._base.columns import MODEL, PLACE, SCORE
from recframe._data.common import check_new_column, count_of, query_of_frames
from recframe._engines.column_spec import Source
from recframe._engines.registry import open_rows
from recframe._plan import ranks
from recframe._plan.sources import item_spec, key_specs, model_spec, score_specs, with_list_key
from recframe.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._plan.query import Query
    from recframe._plan.request import Request


def top(request: Request, k: int | None, name: str) -> Any:
    """Return the first k rows of each list with their rank; see `Rec.top`."""
    k = None if k is None else count_of("k", k)
    query = with_single_order(query_of_frames("top", request), "top")
    name = check_new_column(name, query, request.bound, () if query.by_rank else query.orders)
    return ranked(request.frame, query, k, name)


def ranked(frame: Any, query: Query, k: int | None, name: str) -> Any:
    """Return the first k rows of each list with their rank in the column `name`."""
    from recframe._checks.data_warnings import warn_of_pooled_models

    warn_of_pooled_models(frame, query)
    specs = {**key_specs(query), **item_spec(query, "order"), **model_spec(query), **score_specs(query)}
    rows = open_rows({"frame": Source(frame, specs)})
    frame_rows, keys = with_list_key(rows.frames["frame"], key_specs(query))
    group = [*([MODEL] if query.model is not None else []), *keys]
    first_rows = rows.engine.drop_missing(frame_rows, SCORE)
    rank_rows = ranks.place_by_rank if query.by_rank else partial(rows.engine.rank_rows, needed=None)
    first_rows = rows.engine.collect_once(rank_rows(first_rows, group, SCORE, k))
    # Rows that still tie repeat an item. They get the next ranks.
    first_rows = ranks.break_ties(rows.engine, first_rows, group, ranks.TIE_ORDER["item"], k)
    models = [] if query.model is None else [query.model]
    return rows.pick(first_rows, {PLACE: name}, [*models, *query.by, name])


def unused_rank_column(columns: Sequence[Any]) -> str:
    """Return a name for a column of ranks that no other column has, because it is longer than all their names."""
    return f"rank in {[*columns]}"


def with_single_order(query: Query, call: str) -> Query:
    """Return the roles, or raise if a call that ranks by one column has several."""
    if len(query.orders) > 1:
        msg = f"{call} ranks by one column, not by {list(query.orders)!r}"
        raise OptionError(msg, f"score={query.orders[0]!r}")
    return query
