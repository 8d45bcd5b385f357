"""Propensities from popularity: the probability that the relevance of an item was observed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, get_args

import narwhals as nw

from recframe._base.columns import ITEM
from recframe._base.values import choice, number
from recframe._data.common import check_new_column, query_of_frames
from recframe._engines.column_spec import Source
from recframe._engines.postponed import is_dry
from recframe._engines.registry import open_rows
from recframe._plan.sources import item_spec, key_specs, with_list_key
from recframe.errors import InputError, OptionError, quoted
from recframe.metrics._sums import quotient
from recframe.metrics.novelty import Unit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recframe._base.columns import Frame
    from recframe._engines.base import Engine
    from recframe._plan.request import Request

TIMES = "times"
SHOWN = "shown"
LEVEL = "level"
MOST_TIMES = "most"
EXPONENT = "power"
ESTIMATE = "estimate"
CLIPPED = "clipped"
ROOT = 0.5
"""The default power (Saito et al.)."""
MOST_POPULAR = 0.005
"""The share of items, the most popular ones, that do not count for the estimated power (Yang et al.)."""


def add_propensity(request: Request, train: Any, name: str, options: Mapping[str, Any]) -> Any:
    """Return a frame with the propensities of its items; see `Rec.add_propensity`."""
    shown = options["shown"]
    unit = options["unit"]
    least = options["least"]
    others = {"train": train} if shown is None else {"train": train, "shown": shown}
    query = query_of_frames("add_propensity", request, **others)
    power = _power(options["power"], shown)
    choice("unit", unit, get_args(Unit))
    least = None if least is None else number("least", least, "least=0.05")
    if least is not None and not 0 < least <= 1:
        msg = f"least={quoted(options['least'])} is not above 0 and at most 1"
        raise OptionError(msg, "least=0.05")
    name = check_new_column(name, query, request.bound)
    items = item_spec(query)
    keys = key_specs(query) if unit == "users" else {}
    sources = {"frame": Source(request.frame, items), "train": Source(train, {**items, **keys})}
    rows = open_rows(sources if shown is None else {**sources, "shown": Source(shown, items)})
    interactions, each = with_list_key(rows.frames["train"], keys)
    interactions = interactions.select(ITEM, *each).unique() if unit == "users" else interactions
    counts = rows.engine.collect_once(_rows_per_item(interactions, TIMES))
    if shown is None:
        scale = counts.select(nw.col(TIMES).max().alias(MOST_TIMES)).with_columns(nw.lit(power).alias(EXPONENT))
    else:
        scale = _estimated(rows.engine, counts, rows.frames["shown"])
    result = rows.engine.join(rows.frames["frame"], counts, [ITEM]).join(scale, how="cross")
    # An item without users counts as an item with one user.
    share = quotient(nw.col(TIMES).fill_null(1.0), nw.col(MOST_TIMES))
    result = result.with_columns((share ** nw.col(EXPONENT)).alias(ESTIMATE))
    if least is None:
        return rows.pick(result, {ESTIMATE: name})
    clipped = check_new_column(f"{name}_clipped", query, request.bound)
    low = nw.col(ESTIMATE) < least
    result = result.with_columns(low.fill_null(value=False).alias(CLIPPED))
    result = result.with_columns(nw.when(low).then(nw.lit(least)).otherwise(nw.col(ESTIMATE)).alias(ESTIMATE))
    return rows.pick(result, {ESTIMATE: name, CLIPPED: clipped})


def _power(value: Any, shown: Any) -> float:
    """Return the checked power, or the default if the call names none."""
    if value is None:
        return ROOT
    power = number("power", value, "power=0.5")
    if not 0 <= power < math.inf:
        msg = f"power={quoted(value)} is not 0 or more"
        raise OptionError(msg, "power=0.5; 0 gives every item the propensity 1")
    if shown is not None:
        msg = f"power={quoted(value)} and shown= are given, which estimates the power"
        raise OptionError(msg, "leave one of them out")
    return power


def _rows_per_item(rows: Frame, name: str) -> Frame:
    """Return how many rows have each item."""
    return rows.group_by(ITEM).agg(nw.len().alias(name)).with_columns(nw.col(name).cast(nw.Float64()))


def _estimated(engine: Engine, counts: Frame, shown: Frame) -> Frame:
    """Return the largest count and the power (γ + 1) / 2, as a frame of one row.

    γ is the slope of log f by log n, where f is how often items with n users are recommended on average.
    """
    levels = engine.join(counts, _rows_per_item(shown, SHOWN), [ITEM]).with_columns(nw.col(SHOWN).fill_null(0.0))
    levels = levels.with_columns(nw.col(TIMES).quantile(1 - MOST_POPULAR, "linear").alias(LEVEL))
    levels = levels.filter(nw.col(TIMES) <= nw.col(LEVEL)).group_by(TIMES).agg(nw.col(SHOWN).mean())
    # Sorted, so that the order of rows does not decide the last digit.
    levels = levels.filter(nw.col(SHOWN) > 0).sort(TIMES, nulls_last=True)
    x, y = nw.col(TIMES).log(), nw.col(SHOWN).log()
    slope = ((x - x.mean()) * (y - y.mean())).sum() / ((x - x.mean()) * (x - x.mean())).sum()
    power = levels.select(nw.when(nw.len() > 1).then((slope + 1) / 2).alias(EXPONENT))
    power = engine.collect_once(
        power.with_columns(nw.when(nw.col(EXPONENT) >= 0).then(nw.col(EXPONENT)).alias(EXPONENT))
    )
    estimate = engine.value_now(power)
    if not is_dry() and (estimate is None or math.isnan(estimate)):
        msg = "shown does not say how popularity decides what is recommended, so there is no power to estimate"
        raise InputError(msg, "give the lists that users were shown, with items of several popularities; or power=0.5")
    most = counts.select(nw.col(TIMES).max().alias(MOST_TIMES))
    return most.join(power, how="cross")
