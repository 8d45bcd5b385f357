"""Rank correlations of two models in each list, over the items that both models rank."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import narwhals as nw

from recframe._base.columns import CONCORDANCE, ITEM, LEVEL, RELEVANCE, SCORE, START
from recframe._inference.agreement import top_correlation
from recframe._inference.agreement.rank_overlap import LEFT, NUMBER, RIGHT, of_left, of_right
from recframe._inference.agreement.top_correlation import FIRST_POSITION, MEAN_POSITION, SIDES, UNTIED
from recframe._plan import ranks
from recframe._plan.term_rows import LAZY_DIGITS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from recframe._base.columns import Frame
    from recframe._engines.base import Engine, PositionSpec
    from recframe._inference.agreement.rank_overlap import Ranking

KENDALL = "kendall"
SPEARMAN = "spearman"
ITEM_COUNT = "items of both"
"""How many items of a list both models rank."""
SQUARE = "square"
PRODUCT = "product"
POSITIONS = [side(name) for side in SIDES for name in (MEAN_POSITION, FIRST_POSITION)]
"""The columns of a row's positions under both models."""


def common_of_columns(engine: Engine, rows: Frame, keys: Sequence[str], scores: Sequence[str]) -> Frame:
    """Return the items that both models of a pair rank, with their positions under both, for models in columns."""
    if not engine.eager:
        rows = rows.group_by(*keys, ITEM).agg(nw.col(*scores).max())
    parts = []
    for left, right in combinations(range(len(scores)), 2):
        ranked = rows.filter(~nw.col(scores[left]).is_null() & ~nw.col(scores[right]).is_null())
        sides = ((left, LEFT, of_left), (right, RIGHT, of_right))
        numbers = [nw.lit(number).alias(name) for number, name, _ in sides]
        # Positions come before stacking: stacked columns of several types become floats, which merge large integers.
        positioned = _with_positions(engine, ranked, {side: (keys, scores[number]) for number, _, side in sides})
        parts.append(positioned.select(*keys, *numbers, *POSITIONS))
    return engine.stack(parts)


def common_of_rows(engine: Engine, ranking: Ranking, keys: Sequence[str]) -> Frame:
    """Return the items that both models of a pair rank, with their positions under both, for models in long format."""
    rows = ranking.rows
    if not engine.eager:
        rows = rows.group_by(*keys, NUMBER, ITEM).agg(nw.col(SCORE).max())
    rows = engine.collect_once(rows.select(*keys, NUMBER, ITEM, SCORE))
    left = rows.rename({NUMBER: LEFT, SCORE: of_left(SCORE)})
    right = rows.rename({NUMBER: RIGHT, SCORE: of_right(SCORE)})
    both = engine.join(left, right, [*keys, ITEM]).filter(nw.col(LEFT) < nw.col(RIGHT))
    lists = [*keys, LEFT, RIGHT]
    return _with_positions(engine, both, {side: (lists, side(SCORE)) for side in SIDES}).select(*lists, *POSITIONS)


def _with_positions(engine: Engine, rows: Frame, sides: Mapping[Callable[[str], str], PositionSpec]) -> Frame:
    """Add the mean and the first position of each row's tied block, under both models."""
    rows = engine.with_positions(rows, {side(MEAN_POSITION): keys_and_score for side, keys_and_score in sides.items()})
    return engine.with_positions(
        rows, {side(FIRST_POSITION): keys_and_score for side, keys_and_score in sides.items()}, first=True
    )


def correlations(engine: Engine, rows: Frame, keys: Sequence[str], *, top_weighted: bool) -> Frame:
    """Return the lists of each pair of models with their rank correlations, and with top-weighted ones if requested."""
    lists = [*keys, LEFT, RIGHT]
    rows = rows.with_columns(
        nw.col(of_left(FIRST_POSITION)).alias(START),
        nw.len().over(*lists).cast(nw.Float64()).alias(ITEM_COUNT),
    )
    behind = nw.col(ITEM_COUNT) - nw.col(of_right(FIRST_POSITION))
    digits = LAZY_DIGITS
    if engine.eager:
        rows = engine.collect_once(rows.with_columns(behind.cast(nw.Int64()).alias(LEVEL)))
        digits = int(engine.scalar(rows.select(nw.col(LEVEL).max())) or 0).bit_length()
    else:
        # Levels are numbered without gaps, because lazy frames allow few digits.
        rows = ranks.levels(rows.with_columns(behind.alias(RELEVANCE)), lists)
    rows = ranks.concordant_pairs(engine, rows, lists, digits)
    n = nw.col(ITEM_COUNT)
    x, y = (nw.col(side(MEAN_POSITION)) - (n + 1) / 2 for side in SIDES)
    rows = rows.with_columns(
        (x * x).alias(of_left(SQUARE)),
        (y * y).alias(of_right(SQUARE)),
        (x * y).alias(PRODUCT),
        *(
            ((n - 1) / 2 - nw.col(side(MEAN_POSITION)) + nw.col(side(FIRST_POSITION))).alias(side(UNTIED))
            for side in SIDES
        ),
    )
    summed = [PRODUCT, CONCORDANCE, *(side(name) for side in SIDES for name in (SQUARE, UNTIED))]
    values = [_over_root(CONCORDANCE, UNTIED).alias(KENDALL), _over_root(PRODUCT, SQUARE).alias(SPEARMAN)]
    if top_weighted:
        rows, more = top_correlation.terms(top_correlation.with_pairs_of_rows(engine, rows, lists, digits), lists)
        summed = [*summed, *more]
        values = [*values, *top_correlation.values()]
    return engine.sum_exactly(rows, lists, summed).select(*lists, *values)


def _over_root(top: str, under: str) -> nw.Expr:
    """Return a sum divided by the root of the product of the left and the right sum, missing if that is 0."""
    return top_correlation.ratio(nw.col(top), (nw.col(of_left(under)) * nw.col(of_right(under))).sqrt())
