"""Condorcet fusion: how many other items of its list an item beats in a majority of models."""

from __future__ import annotations

from typing import TYPE_CHECKING

import narwhals as nw

from recframe._inference.fusion.fusion_methods import WINS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._base.columns import Frame
    from recframe._engines.base import Engine

RETRIEVED = "retrieved"
"""1 if any model retrieved the item, and 0 otherwise."""
CANDIDATES = "candidates"
"""How many items of the list any model retrieved."""
EQUAL_ITEMS = "same"
"""How many items of the list have the same positions under all models."""
WON = "won"
LAST_POSITION = 2.0**40
"""The position of items that a model did not retrieve. They tie after all other items."""
NOISE = 1e-12
"""Votes below this share of all weights count as rounding, so the pair is a draw."""
position_column = "position{}".format
_item_position_column = "own position {}".format
_other_position_column = "other position {}".format


def with_wins(engine: Engine, frame: Frame, keys: Sequence[str], weights: Sequence[float]) -> Frame:
    """Add the number of items in its list that an item beats, plus 1 for itself. A draw is half a win.

    An item beats another item if the models that rank it higher have a larger total weight than the models that rank it
    lower. Items with the same positions under all models are compared once.
    """
    models = range(len(weights))
    columns = [_item_position_column(i) for i in models]
    frame = frame.with_columns(*(nw.col(position_column(i)).fill_null(LAST_POSITION).alias(columns[i]) for i in models))
    candidates = frame.filter(nw.col(RETRIEVED) > 0)
    items = engine.collect_once(candidates.group_by(*keys, *columns).agg(nw.len().alias(EQUAL_ITEMS)))
    others = items.rename({columns[i]: _other_position_column(i) for i in models})
    pairs = engine.join(items.select(*keys, *columns), others, keys)
    votes = nw.lit(0.0)
    for i, weight in enumerate(weights):
        difference = nw.col(columns[i]) - nw.col(_other_position_column(i))
        against = nw.when(difference > 0).then(-weight).otherwise(0.0)
        votes = votes + nw.when(difference < 0).then(weight).otherwise(against)
    noise = NOISE * sum(map(abs, weights))
    won = nw.when(votes > noise).then(1.0).otherwise(nw.when(votes < -noise).then(0.0).otherwise(0.5))
    pairs = pairs.with_columns((won * nw.col(EQUAL_ITEMS).cast(nw.Float64())).alias(WON))
    # The pair of an item with itself is a draw, so 0.5 more makes it 1.
    wins = engine.sum_exactly(pairs, [*keys, *columns], [WON]).with_columns((nw.col(WON) + 0.5).alias(WINS))
    return engine.join(frame, wins.select(*keys, *columns, WINS), [*keys, *columns])
