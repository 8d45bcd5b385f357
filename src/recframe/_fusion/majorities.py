"""Which items of a list a majority of models puts before others: what Condorcet's fusion orders by."""

from __future__ import annotations

from typing import TYPE_CHECKING

import narwhals as nw

from recframe._fusion.fusion_methods import WINS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._columns import Frame
    from recframe._engines.base import Engine

RETRIEVED, CANDIDATES = "retrieved", "candidates"
"""Whether any model retrieved an item, and how many items of the list any did."""
SAME, WON = "same", "won"
LAST_PLACE = 2.0**40
"""The place of items that a model did not retrieve: after all others, and as far as each other."""
NOISE = 1e-12
"""The votes that rounding makes, relative to all."""
place_column = "place{}".format
_own_column, _other_column = "own place {}".format, "other place {}".format


def with_wins(engine: Engine, frame: Frame, keys: Sequence[str], weights: Sequence[float]) -> Frame:
    """Add how many items of its list an item wins against, and itself; a draw is half a win.

    An item wins against another one if the models that put it first weigh more than those that put it last. Items that
    have the same place by each model are compared once.
    """
    models = range(len(weights))
    columns = [_own_column(i) for i in models]
    frame = frame.with_columns(*(nw.col(place_column(i)).fill_null(LAST_PLACE).alias(columns[i]) for i in models))
    candidates = frame.filter(nw.col(RETRIEVED) > 0)
    items = engine.collect_once(candidates.group_by(*keys, *columns).agg(nw.len().alias(SAME)))
    others = items.rename({columns[i]: _other_column(i) for i in models})
    pairs = engine.join(items.select(*keys, *columns), others, keys)
    votes = nw.lit(0.0)
    for i, weight in enumerate(weights):
        before = nw.col(columns[i]) - nw.col(_other_column(i))
        votes = votes + nw.when(before < 0).then(weight).otherwise(nw.when(before > 0).then(-weight).otherwise(0.0))
    noise = NOISE * sum(map(abs, weights))
    won = nw.when(votes > noise).then(1.0).otherwise(nw.when(votes < -noise).then(0.0).otherwise(0.5))
    pairs = pairs.with_columns((won * nw.col(SAME).cast(nw.Float64())).alias(WON))
    # An item draws with itself.
    wins = engine.sum_exactly(pairs, [*keys, *columns], [WON]).with_columns((nw.col(WON) + 0.5).alias(WINS))
    return engine.join(frame, wins.select(*keys, *columns, WINS), [*keys, *columns])
