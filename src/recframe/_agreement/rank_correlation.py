"""Rank correlations of two models, list by list, over the items that both rank."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import narwhals as nw

from recframe._agreement import top_correlation
from recframe._agreement.rank_overlap import LEFT, NUMBER, RIGHT, of_left, of_right
from recframe._agreement.top_correlation import RANK, TIES
from recframe._columns import CONCORDANCE, ITEM, LEVEL, RELEVANCE, SCORE, START
from recframe._plan import ranks
from recframe._plan.term_rows import LAZY_DIGITS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._agreement.rank_overlap import Ranking
    from recframe._columns import Frame
    from recframe._engines.base import Engine

KENDALL, SPEARMAN = "kendall", "spearman"
PAIRS, SQUARE, PRODUCT = "pairs", "square", "product"


def common_of_columns(engine: Engine, rows: Frame, keys: Sequence[str], scores: Sequence[str]) -> Frame:
    """Return the rows that both models of each pair rank, with both average ranks, of models in columns."""
    parts = []
    for left, right in combinations(range(len(scores)), 2):
        ranked = rows.filter(~nw.col(scores[left]).is_null() & ~nw.col(scores[right]).is_null())
        sides = ((left, LEFT, of_left), (right, RIGHT, of_right))
        numbers = [nw.lit(number).alias(name) for number, name, _ in sides]
        # Ranks before columns of several types are stacked: floats do not tell all whole numbers apart.
        ranks = [_average_rank(scores[number], keys).alias(side(RANK)) for number, _, side in sides]
        parts.append(ranked.select(*keys, *numbers, *ranks))
    return engine.stack(parts)


def common_of_rows(engine: Engine, ranking: Ranking, keys: Sequence[str]) -> Frame:
    """Return the items that both models of each pair rank, with both average ranks, of models in long format."""
    rows = ranking.rows
    if not engine.eager:
        rows = rows.group_by(*keys, NUMBER, ITEM).agg(nw.col(SCORE).max())
    rows = engine.collect_once(rows.select(*keys, NUMBER, ITEM, SCORE))
    left = rows.rename({NUMBER: LEFT, SCORE: of_left(SCORE)})
    right = rows.rename({NUMBER: RIGHT, SCORE: of_right(SCORE)})
    both = engine.join(left, right, [*keys, ITEM]).filter(nw.col(LEFT) < nw.col(RIGHT))
    lists = [*keys, LEFT, RIGHT]
    return both.select(*lists, *(_average_rank(side(SCORE), lists).alias(side(RANK)) for side in (of_left, of_right)))


def _average_rank(score: str, lists: Sequence[str]) -> nw.Expr:
    """Return the rank of each row in its list, the least score first, tied ones with their mean rank."""
    return nw.col(score).rank("average").over(*lists).cast(nw.Float64())


def correlations(engine: Engine, rows: Frame, keys: Sequence[str], *, top_weighted: bool) -> Frame:
    """Return the lists of each pair of models with their rank correlations, those that weigh the top if requested."""
    lists = [*keys, LEFT, RIGHT]
    sides = (of_left, of_right)
    rows = rows.with_columns(
        nw.col(of_right(RANK)).alias(RELEVANCE),
        nw.col(of_left(RANK)).rank("min", descending=True).over(*lists).alias(START),
        nw.len().over(*lists).cast(nw.Float64()).alias(PAIRS),
        *(nw.len().over(*lists, side(RANK)).cast(nw.Float64()).alias(side(TIES)) for side in sides),
    )
    rows = engine.collect_once(ranks.levels(rows, lists))
    digits = LAZY_DIGITS
    if engine.eager:
        digits = int(engine.scalar(rows.select(nw.col(LEVEL).max())) or 0).bit_length()
    rows = ranks.concordant_pairs(rows, lists, digits)
    n = nw.col(PAIRS)
    x, y = (nw.col(side(RANK)) - (n + 1) / 2 for side in sides)
    rows = rows.with_columns(
        (x * x).alias(of_left(SQUARE)),
        (y * y).alias(of_right(SQUARE)),
        (x * y).alias(PRODUCT),
        *(((n - nw.col(side(TIES))) / 2).alias(side(TIES)) for side in sides),
    )
    summed = [PRODUCT, CONCORDANCE, *(side(name) for side in sides for name in (SQUARE, TIES))]
    values = [_over_root(CONCORDANCE, TIES).alias(KENDALL), _over_root(PRODUCT, SQUARE).alias(SPEARMAN)]
    if top_weighted:
        rows, more = top_correlation.terms(top_correlation.with_pairs_of_rows(rows, lists, digits), lists)
        summed, values = [*summed, *more], [*values, *top_correlation.values()]
    return engine.sum_exactly(rows, lists, summed).select(*lists, *values)


def _over_root(top: str, under: str) -> nw.Expr:
    """Return a sum over the root of the product of two others, missing where that is 0."""
    return top_correlation.ratio(nw.col(top), (nw.col(of_left(under)) * nw.col(of_right(under))).sqrt())
