"""Simple baselines: random scores, and the popularity of items."""

from __future__ import annotations

import datetime as dt
import math
from typing import TYPE_CHECKING, Any

import narwhals as nw

from recframe._base.columns import ITEM
from recframe._base.values import as_tuple, column_names, column_or_none, number
from recframe._data.chance import FIELD_SIZE, replace_by_ranks, scramble
from recframe._data.common import check_new_column, query_of_frames
from recframe._data.split import seed_of
from recframe._engines.column_spec import ColumnSpec, Source
from recframe._engines.registry import labels_of, open_rows
from recframe._plan.sources import item_spec, key_specs, with_list_key
from recframe.errors import OptionError, OptionTypeError, quoted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recframe._plan.request import Request


RANDOM = "chance"
TIME = "time"
AGE = "age"
RECENCY = "weight"


def add_random(request: Request, name: str, seed: Any) -> Any:
    """Return a frame with random scores; see `Rec.add_random`."""
    query = query_of_frames("add_random", request)
    name = check_new_column(name, query, request.bound)
    rows = open_rows({"frame": Source(request.frame, {**key_specs(query, "order"), **item_spec(query, "order")})})
    scored = replace_by_ranks(rows.engine, rows.frames["frame"], [*key_specs(query), ITEM])
    scored = scramble(scored, [*key_specs(query), ITEM], f"{seed_of(seed)}/scores", RANDOM)
    # The divisor is a power of two, so the division is exact.
    scored = scored.with_columns(((nw.col(RANDOM).cast(nw.Float64()) + 1) / (FIELD_SIZE + 1)).alias(RANDOM))
    return rows.pick(scored, {RANDOM: name})


def add_popular(request: Request, train: Any, name: str, options: Mapping[str, Any]) -> Any:
    """Return a frame with the popularity of its items; see `Rec.add_popular`."""
    query = query_of_frames("add_popular", request, train=train)
    name = check_new_column(name, query, request.bound)
    segments = {
        f"segment{i}": ColumnSpec(column, "per", "key")
        for i, column in enumerate(as_tuple(column_names("per", options["per"], labels_of(request.frame, train))))
    }
    group = {**segments, **item_spec(query)}
    spans, dated = _spans(options)
    column = column_or_none("time", options["time"], labels_of(train))
    times = {TIME: ColumnSpec(column or "", "time", "time", dated=dated)} if spans else {}
    sources = {"frame": Source(request.frame, group), "train": Source(train, {**group, **key_specs(query), **times})}
    rows = open_rows(sources)
    past, keys = with_list_key(rows.frames["train"], key_specs(query))
    pair = [*group, *keys]
    weight: nw.Expr = nw.lit(1.0)
    if spans:
        # Differences of unsigned and of narrow integers overflow.
        time = nw.col(TIME).cast(nw.Float64())
        past = past.filter(~nw.col(TIME).is_null()).with_columns((time.max() - time).alias(AGE))
        if "window" in spans:
            past = past.filter(nw.col(AGE) < spans["window"])
        past = past.group_by(*pair).agg(nw.col(AGE).min())
        if "half_life" in spans:
            weight = (nw.col(AGE) / spans["half_life"] * -math.log(2)).exp()
    else:
        past = past.select(*pair).unique()
    counts = rows.engine.sum_exactly(past.with_columns(weight.alias(RECENCY)), list(group), [RECENCY])
    scored = rows.engine.join(rows.frames["frame"], counts, list(group))
    scored = scored.with_columns(nw.col(RECENCY).fill_null(0.0).alias(RECENCY))
    return rows.pick(scored, {RECENCY: name})


def _spans(options: Mapping[str, Any]) -> tuple[dict[str, float], bool | None]:
    """Return the lengths of time that the call names as numbers, and whether times are dates, then in microseconds."""
    lengths = {name: options[name] for name in ("half_life", "window") if options[name] is not None}
    if (options["time"] is None) == bool(lengths):
        what = ", ".join(f"{name}={quoted(value)}" for name, value in lengths.items())
        msg = f"{what} needs the column that says when" if lengths else f"time={quoted(options['time'])} is not read"
        raise OptionError(msg, "add_popular(train, time='timestamp', half_life=timedelta(days=30))")
    dated = {name: isinstance(value, dt.timedelta) for name, value in lengths.items()}
    if len(set(dated.values())) > 1:
        msg = f"half_life={quoted(lengths['half_life'])} and window={quoted(lengths['window'])} are of unlike types"
        raise OptionTypeError(msg, "give both as timedelta, or both as numbers")
    spans: dict[str, float] = {}
    for name, value in lengths.items():
        if not dated[name] and (isinstance(value, bool) or not isinstance(value, int | float)):
            msg = f"{name}={quoted(value)} is no length of time"
            raise OptionTypeError(msg, "timedelta(days=30), or a number where the times are numbers")
        spans[name] = value / dt.timedelta(microseconds=1) if isinstance(value, dt.timedelta) else number(name, value)
        if not spans[name] > 0:
            msg = f"{name}={quoted(value)} is not greater than 0"
            raise OptionError(msg)
    return spans, next(iter(dated.values()), None)
