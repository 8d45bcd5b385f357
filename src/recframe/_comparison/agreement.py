"""How alike the rankings of models are, list by list."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, Any

import narwhals as nw

from recframe._arguments import CALL_ROLES
from recframe._columns import CONCORDANCE, ITEM, LEVEL, MODEL, POSITION, RELEVANCE, START, key_column, score_column
from recframe._data.common import query
from recframe._engines.column_spec import ColumnSpec, Source
from recframe._engines.registry import adapter_of, is_lazy, open_frames
from recframe._plan import ranks
from recframe._plan.sources import item_spec, key_names, score_specs
from recframe._values import number, whole_number
from recframe.errors import InputError, OptionError, OptionTypeError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recframe._columns import Frame
    from recframe._engines.base import Engine
    from recframe._query import Query

OTHER, LISTS, OVERLAP, JACCARD, RBO = "other", "lists", "overlap", "jaccard", "rbo"
KENDALL, SPEARMAN, SHARED, DEEPER, WEIGHT = "kendall", "spearman", "shared", "deeper", "weight"
EARLY, LEFT, RIGHT, SHORT, LONG = "early", "left", "right", "short", "long"
LEFT_TIES, RIGHT_TIES, PAIRS, LEFT_SQUARE, RIGHT_SQUARE, PRODUCT = (
    "left ties", "right ties", "pairs", "left square", "right square", "product",
)  # fmt: skip
place_column = "place{}".format
VALUES = (OVERLAP, JACCARD, RBO, KENDALL, SPEARMAN)


def agreement(frame: Any, bound: Mapping[str, Any], k: Any, p: Any, given: Mapping[str, Any]) -> Any:
    """Return how alike the rankings of each pair of models are; see `Rec.agreement`."""
    adapter_of(frame)
    if is_lazy(frame):
        msg = f"agreement takes eager frames, but the frame is a {type(frame).__name__}"
        raise OptionTypeError(msg, "collect it first: frame.collect(), or relation.pl()")
    k, p = whole_number("k", k, "k=10"), number("p", p, "p=0.9")
    if not 0 < p < 1:
        msg = f"p={p:g} is not between 0 and 1"
        raise OptionError(msg, "p=0.9")
    asked = query(bound, given, CALL_ROLES["agreement"], [frame])
    first, *others = asked.orders
    if not others:
        msg = f"agreement compares several models, but {'rank' if asked.by_rank else 'score'}={first!r} is one"
        raise OptionError(msg, "score=['old', 'new']")
    names = key_names(asked, truth=False)
    keyed = {name: ColumnSpec(column, "by" if column in asked.by else "per", "key") for name, column in names.items()}
    session = open_frames({"frame": Source(frame, {**keyed, **item_spec(asked, "order"), **score_specs(asked)})}, {})
    rows, keys = session.frames["frame"], list(names)
    if not keys:
        keys = [key_column(0)]
        rows = rows.with_columns(nw.lit(0).alias(keys[0]))
    engine = session.engine
    _refuse_repeated_items(engine, rows, keys, asked)
    rows = engine.settle(_placed(rows, keys, asked))
    weights = engine.settle(_weights(engine, k, p))
    per = [name for name, column in names.items() if column in asked.per]
    parts = [_of_pair(engine, rows, keys, per, pair, asked, (k, p, weights)) for pair in _pairs(asked)]
    result = nw.concat(parts, how="vertical")
    labels = {name: f"{name}@{k}" for name in (OVERLAP, JACCARD, RBO)}
    return session.finish(result, {**{name: names[name] for name in per}, **labels}, per)


def _pairs(asked: Query) -> list[tuple[int, int]]:
    return list(combinations(range(len(asked.orders)), 2))


def _refuse_repeated_items(engine: Engine, rows: Frame, keys: Sequence[str], asked: Query) -> None:
    """Raise where an item stands twice in a list, so that it has no one place."""
    count = rows.group_by(*keys, ITEM).agg(nw.len().alias(PAIRS))
    repeated = engine.scalar(count.filter(nw.col(PAIRS) > 1).select(nw.len()))
    if repeated:
        msg = f"item={asked.item!r} repeats items within lists: {repeated} of them"
        raise InputError(msg, "give each list's item one row; check() counts the others as duplicate_rows")


def _placed(rows: Frame, keys: Sequence[str], asked: Query) -> Frame:
    """Add the place of each item by each model, from 1; of equal scores the smaller item is first."""
    found = {}
    for i in range(len(asked.orders)):
        score = nw.col(score_column(i))
        start = score.rank("min", descending=not asked.by_rank).over(*keys)
        block = [*keys, score_column(i)]
        # A missing item has no rank: it comes last.
        within = nw.col(ITEM).rank("min").over(*block).cast(nw.Float64())
        last = nw.col(ITEM).count().over(*block).cast(nw.Float64()) + 1
        within = nw.when(nw.col(ITEM).is_null()).then(last).otherwise(within)
        place = start.cast(nw.Float64()) + within - 1
        found[place_column(i)] = nw.when(~score.is_null()).then(place)
    return rows.with_columns(**found)


def _weights(engine: Engine, k: int, p: float) -> Frame:
    """Return the sums of p^d / d over the depths d up to a position, from 0 to k."""
    table = engine.positions(k + 1).with_columns(
        nw.col(POSITION).cast(nw.Float64()) - 1, nw.lit(0).alias(key_column(0))
    )
    depth = nw.col(POSITION)
    share = (depth * math.log(p)).exp() / nw.when(depth > 0).then(depth).otherwise(1.0)
    table = table.with_columns(nw.when(depth > 0).then(share).otherwise(0.0).alias(WEIGHT))
    return table.with_columns(nw.col(WEIGHT).cum_sum().over(key_column(0), order_by=POSITION)).drop(key_column(0))


def _looked_up(engine: Engine, frame: Frame, weights: Frame, depth: nw.Expr, name: str) -> Frame:
    """Add the sum of weights up to a depth."""
    frame = frame.with_columns(depth.alias(POSITION))
    return engine.join(frame, weights, [POSITION]).rename({WEIGHT: name}).drop(POSITION)


def _of_pair(
    engine: Engine,
    rows: Frame,
    keys: Sequence[str],
    per: Sequence[str],
    pair: tuple[int, int],
    asked: Query,
    depth: tuple[int, float, Frame],
) -> Frame:
    """Return the row, or the rows by segment, of a pair of models."""
    left, right = (nw.col(place_column(i)) for i in pair)
    rows = rows.with_columns(left.alias(LEFT), right.alias(RIGHT))
    lists = engine.join(_overlaps(engine, rows, keys, *depth), _correlations(engine, rows, keys, pair), keys)
    means = [nw.col(name).mean() for name in VALUES]
    counted = nw.len().alias(LISTS)
    found = lists.group_by(*per).agg(counted, *means) if per else lists.select(counted, *means)
    names = {MODEL: pair[0], OTHER: pair[1]}
    # Afterwards: pandas groups by plain aggregations only.
    found = found.with_columns(
        nw.col(LISTS).cast(nw.Int64()), *(nw.lit(asked.model_name(i)).alias(name) for name, i in names.items())
    )
    return found.select(*per, MODEL, OTHER, LISTS, *VALUES)


def _overlaps(engine: Engine, rows: Frame, keys: Sequence[str], k: int, p: float, weights: Frame) -> Frame:
    """Return the lists in which both models rank an item, with what their top k share."""
    rows = rows.with_columns(
        *((nw.col(side) <= k).fill_null(value=False).cast(nw.Float64()).alias(f"in {side}") for side in (LEFT, RIGHT))
    )
    rows = rows.with_columns(
        *(nw.col(f"in {side}").sum().over(*keys).alias(f"length {side}") for side in (LEFT, RIGHT))
    )
    rows = rows.with_columns(
        nw.min_horizontal(f"length {LEFT}", f"length {RIGHT}").alias(SHORT),
        nw.max_horizontal(f"length {LEFT}", f"length {RIGHT}").alias(LONG),
        (nw.col(f"in {LEFT}") * nw.col(f"in {RIGHT}")).alias(SHARED),
        nw.max_horizontal(LEFT, RIGHT).alias(DEEPER),
    )
    rows = rows.filter(nw.col(SHORT) > 0)
    shared = nw.col(SHARED) > 0
    rows = _looked_up(engine, rows, weights, nw.when(shared).then(nw.col(DEEPER) - 1).otherwise(0.0), "before")
    rows = rows.with_columns(
        nw.when(shared).then(nw.col("before")).otherwise(0.0).alias("before"),
        nw.when(shared & (nw.col(DEEPER) <= nw.col(SHORT))).then(1.0).otherwise(0.0).alias(EARLY),
    )
    lists = rows.group_by(*keys).agg(
        nw.col(SHORT).max(), nw.col(LONG).max(), nw.col(SHARED).sum(), nw.col(EARLY).sum(), nw.col("before").sum()
    )
    lists = _looked_up(engine, lists, weights, nw.col(SHORT), "to short")
    lists = _looked_up(engine, lists, weights, nw.col(LONG), "to long")
    s, n, x_s, x_l = nw.col(SHORT), nw.col(LONG), nw.col(EARLY), nw.col(SHARED)
    first = x_l * nw.col("to long") - nw.col("before")
    power_s, power_l = (s * math.log(p)).exp(), (n * math.log(p)).exp()
    second = x_s / s * ((power_s - power_l) * p / (1 - p) - s * (nw.col("to long") - nw.col("to short")))
    rbo = (1 - p) / p * (first + second) + ((x_l - x_s) / n + x_s / s) * power_l
    return lists.select(*keys, (x_l / n).alias(OVERLAP), (x_l / (s + n - x_l)).alias(JACCARD), rbo.alias(RBO))


def _correlations(engine: Engine, rows: Frame, keys: Sequence[str], pair: tuple[int, int]) -> Frame:
    """Return the lists with the rank correlations of the items that both models rank."""
    scores = dict(zip((LEFT, RIGHT), map(score_column, pair), strict=True))
    rows = rows.filter(~nw.col(LEFT).is_null() & ~nw.col(RIGHT).is_null())
    a, b = (nw.col(name) for name in scores.values())
    rows = rows.with_columns(
        b.alias(RELEVANCE),
        a.rank("min", descending=True).over(*keys).alias(START),
        nw.len().over(*keys).cast(nw.Float64()).alias(PAIRS),
        *(nw.col(c).rank("average").over(*keys).cast(nw.Float64()).alias(f"rank {side}") for side, c in scores.items()),
        *(nw.len().over(*keys, c).cast(nw.Float64()).alias(f"ties {side}") for side, c in scores.items()),
    )
    rows = engine.settle(ranks.levels(rows, keys))
    most = engine.scalar(rows.select(nw.col(LEVEL).max()))
    rows = ranks.concordant_pairs(rows, keys, int(most or 0).bit_length())
    x, y = (nw.col(f"rank {side}") - (nw.col(PAIRS) + 1) / 2 for side in (LEFT, RIGHT))
    n = nw.col(PAIRS)
    rows = rows.with_columns(
        (x * x).alias(LEFT_SQUARE),
        (y * y).alias(RIGHT_SQUARE),
        (x * y).alias(PRODUCT),
        ((n - nw.col(f"ties {LEFT}")) / 2).alias(LEFT_TIES),
        ((n - nw.col(f"ties {RIGHT}")) / 2).alias(RIGHT_TIES),
    )
    sums = rows.group_by(*keys).agg(
        nw.col(LEFT_SQUARE, RIGHT_SQUARE, PRODUCT, LEFT_TIES, RIGHT_TIES, CONCORDANCE).sum()
    )
    return sums.select(
        *keys,
        _ratio(CONCORDANCE, (LEFT_TIES, RIGHT_TIES)).alias(KENDALL),
        _ratio(PRODUCT, (LEFT_SQUARE, RIGHT_SQUARE)).alias(SPEARMAN),
    )


def _ratio(top: str, under: tuple[str, str]) -> nw.Expr:
    """Return a sum over the root of the product of two others, missing where that is 0."""
    product = nw.col(under[0]) * nw.col(under[1])
    return nw.when(product > 0).then(nw.col(top) / product.sqrt())
