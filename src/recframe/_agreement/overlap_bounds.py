"""The least and the largest rank-biased overlap that two rankings may have, whatever follows their top k."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import narwhals as nw

from recframe._agreement.rank_overlap import LONG, SEEN, SHARED, SHORT, looked_up, sums_at
from recframe._columns import POSITION

if TYPE_CHECKING:
    from recframe._columns import Frame
    from recframe._engines.base import Engine

RBO_MIN, RBO_MAX, RBO_RESIDUAL = "rbo_min", "rbo_max", "rbo_residual"
BOUNDS = (RBO_MIN, RBO_MAX, RBO_RESIDUAL)
HEAD = "head"
"""The sums of p^d / d over the depths up to a depth."""
FEWER = "shared items, whole"
_of = "items of both, {}".format


def with_bounds(engine: Engine, table: Frame, p: float) -> Frame:
    """Add the bounds and their difference: equations 11 and 30 of Webber, Moffat and Zobel (2010).

    The residual depends on the number of shared items alone. Where a tied block crosses the cutoff, that is an expected
    number, and the residual is that of the whole numbers next to it, in proportion.
    """
    heads = engine.collect_once(_heads(engine, table, p))
    whole = nw.col(SHARED) - nw.col(SHARED) % 1
    table = table.with_columns(whole.alias(FEWER))
    depths = {SHORT: nw.col(SHORT), LONG: nw.col(LONG)}
    depths |= {_of(more): nw.col(SHORT) + nw.col(LONG) - nw.col(FEWER) - more for more in (0, 1)}
    for name, depth in depths.items():
        table = looked_up(engine, table, heads, depth, [HEAD], of=name)
        table = table.with_columns(nw.col(sums_at(HEAD, name)).fill_null(0.0))
    unseen = -math.log1p(-p) - nw.col(sums_at(HEAD, LONG))
    least = (1 - p) / p * (nw.col(SEEN) + nw.col(SHARED) * unseen)
    share = nw.col(SHARED) - nw.col(FEWER)
    residual = (1 - share) * _residual(0, p) + share * _residual(1, p)
    table = table.with_columns(least.alias(RBO_MIN), residual.alias(RBO_RESIDUAL))
    return table.with_columns((nw.col(RBO_MIN) + nw.col(RBO_RESIDUAL)).alias(RBO_MAX))


def _heads(engine: Engine, table: Frame, p: float) -> Frame:
    """Return the sums of weights up to each depth, from 1 to that from which on two rankings may be the same."""
    heads = engine.positions(table.select((nw.col(SHORT) + nw.col(LONG)).max()))
    depth = nw.col(POSITION).cast(nw.Float64())
    heads = heads.with_columns(((depth * math.log(p)).exp() / depth).alias(HEAD))
    return heads.select(nw.col(POSITION).cast(nw.Int64()), nw.col(HEAD).cum_sum().over(order_by=POSITION))


def _residual(more: int, p: float) -> nw.Expr:
    """Return the residual of top k that share so many items more than the whole number below what they share."""
    short, long, shared = nw.col(SHORT), nw.col(LONG), nw.col(FEWER) + more
    same = short + long - shared
    head = {name: nw.col(sums_at(HEAD, name)) for name in (SHORT, LONG, _of(more))}
    power_short, power_long, power_same = ((depth * math.log(p)).exp() for depth in (short, long, same))
    sums = short * (head[_of(more)] - head[SHORT]) + long * (head[_of(more)] - head[LONG])
    sums = sums + shared * (-math.log1p(-p) - head[_of(more)])
    return power_short + power_long - power_same - (1 - p) / p * sums
