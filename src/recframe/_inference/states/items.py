"""How often each item is recommended, which states keep for the metrics of all lists together."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from recframe._base.columns import ITEM
from recframe._inference.lists.item_values import ITEM_SUM_COLUMNS
from recframe._inference.lists.keys import rows_of, texts_of
from recframe._inference.lists.values import models_of_rows
from recframe.metrics._beyond_accuracy import ExposureMetric

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from recframe._plan.plan import Plan

    Floats = NDArray[np.float64]


class Items:
    """The items that lists recommend, by segment and model, and the items of the catalogue.

    Attributes
    ----------
    metrics : list of tuple
        The metrics of all lists together, each after its number in the call.
    catalog : dict
        The size of a catalogue that the call counts or names, and a hash of its items: the same in all states.
    """

    def __init__(self, plan: Plan, models: Sequence[Any]) -> None:
        context = plan.context
        engine = plan.context.engine
        self._plan = plan
        self.metrics = [
            (number, metric) for number, metric in enumerate(plan.metrics) if isinstance(metric, ExposureMetric)
        ]
        self._table = engine.collected(plan.items())
        self._texts = texts_of(context, self._table, [ITEM])
        self._segments = rows_of(self._table, context.keys.per)
        of_model = models_of_rows(context, self._table, models)
        self._rows_of_models = [np.flatnonzero(of_model == number).tolist() for number in range(len(models))]
        self._rest: list[str | None] = []
        """Items that no list recommends, if the catalogue is the items of the frame."""
        self.catalog: dict[str, Any] = {"catalog": plan.frames.catalog_size}
        catalog = context.side_tables.catalog()
        if catalog is not None:
            texts = texts_of(context, engine.collected(catalog), [ITEM])
            named = "\n".join(sorted(map(str, texts))).encode(errors="surrogatepass")
            self.catalog = {"catalog": len(texts), "items": blake2b(named, digest_size=8).hexdigest()}
        elif plan.frames.catalog_size is None:
            every = engine.collected(context.session.frames["frame"].select(ITEM).unique())
            self._rest = sorted({*texts_of(context, every, [ITEM])} - {*self._texts}, key=str)

    def rows(self, metric: ExposureMetric) -> Iterator[tuple[list[Any], dict[str, Any]]]:
        """Yield for each model the segments of its items, and the columns of the items: their names and sums."""
        terms = next(each for each in self._plan.context.requirements.exposure if each.metric == metric)
        columns = dict(zip(ITEM_SUM_COLUMNS, terms.recommended.by_column, strict=False))
        for number, rows in enumerate(self._rows_of_models):
            # Items that no list recommends belong to the catalogue, but to no segment.
            rest = [] if number else self._rest
            sums: dict[str, Any] = {
                name: np.append(self._table[column].to_numpy()[rows], np.zeros(len(rest)))
                for name, column in columns.items()
            }
            texts = [*(self._texts[row] for row in rows), *rest]
            segments = [*(self._segments[row] for row in rows), *([None] * len(rest))]
            yield segments, {**sums, "item": texts}
