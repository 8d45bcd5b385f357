"""Bounds of the rank-biased overlap: its least and largest value over all continuations of two top-k rankings."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import narwhals as nw

from recframe._base.columns import POSITION
from recframe._inference.agreement.rank_overlap import LONG, SHARED, SHORT, WEIGHTED_TOP_K, looked_up, sums_at

if TYPE_CHECKING:
    from recframe._base.columns import Frame
    from recframe._engines.base import Engine

RBO_MIN = "rbo_min"
RBO_MAX = "rbo_max"
RBO_RESIDUAL = "rbo_residual"
BOUNDS = (RBO_MIN, RBO_MAX, RBO_RESIDUAL)
HEAD = "head"
"""The sum of p^d / d over the depths up to a depth."""
SHARED_FLOOR = "shared items, rounded down"
"""The expected number of shared items, rounded down."""
_all_items_column = "different items, {} more shared".format
"""The number of different items in both top k, if they share this many more than SHARED_FLOOR."""


def with_bounds(engine: Engine, table: Frame, p: float) -> Frame:
    """Add the bounds and their difference: equations 11 and 30 of Webber, Moffat and Zobel (2010).

    The residual depends only on the number of shared items. If a tied block crosses the cutoff, this number is an
    expected value. Then the residuals for the next lower and the next higher integer are averaged in proportion.
    """
    heads = engine.collect_once(_heads(engine, table, p))
    table = table.with_columns((nw.col(SHARED) - nw.col(SHARED) % 1).alias(SHARED_FLOOR))
    depths = {SHORT: nw.col(SHORT), LONG: nw.col(LONG)}
    depths |= {_all_items_column(more): nw.col(SHORT) + nw.col(LONG) - nw.col(SHARED_FLOOR) - more for more in (0, 1)}
    for name, depth in depths.items():
        table = looked_up(engine, table, heads, depth, [HEAD], of=name)
        table = table.with_columns(nw.col(sums_at(HEAD, name)).fill_null(0.0))
    unseen = -math.log1p(-p) - nw.col(sums_at(HEAD, LONG))
    least = (1 - p) / p * (nw.col(WEIGHTED_TOP_K) + nw.col(SHARED) * unseen)
    share = nw.col(SHARED) - nw.col(SHARED_FLOOR)
    residual = (1 - share) * _residual(0, p) + share * _residual(1, p)
    table = table.with_columns(least.alias(RBO_MIN), residual.alias(RBO_RESIDUAL))
    return table.with_columns((nw.col(RBO_MIN) + nw.col(RBO_RESIDUAL)).alias(RBO_MAX))


def _heads(engine: Engine, table: Frame, p: float) -> Frame:
    """Return the sums of p^d / d up to each depth.

    The last depth is the number of different items in two top k without a shared item: no residual reads a later one.
    """
    heads = engine.positions(table.select((nw.col(SHORT) + nw.col(LONG)).max()))
    depth = nw.col(POSITION).cast(nw.Float64())
    heads = heads.with_columns(((depth * math.log(p)).exp() / depth).alias(HEAD))
    return heads.select(nw.col(POSITION).cast(nw.Int64()), nw.col(HEAD).cum_sum().over(order_by=POSITION))


def _residual(more: int, p: float) -> nw.Expr:
    """Return the residual if the two top k share SHARED_FLOOR + `more` items."""
    short = nw.col(SHORT)
    long = nw.col(LONG)
    shared = nw.col(SHARED_FLOOR) + more
    all_items = short + long - shared
    head_short = nw.col(sums_at(HEAD, SHORT))
    head_long = nw.col(sums_at(HEAD, LONG))
    head_all = nw.col(sums_at(HEAD, _all_items_column(more)))
    power_short, power_long, power_all = ((depth * math.log(p)).exp() for depth in (short, long, all_items))
    sums = short * (head_all - head_short) + long * (head_all - head_long)
    sums = sums + shared * (-math.log1p(-p) - head_all)
    return power_short + power_long - power_all - (1 - p) / p * sums
