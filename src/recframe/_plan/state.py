"""The sums over some of the lists, which can be added to the sums over other lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._base.columns import Frame
    from recframe._engines.base import Engine


class State(NamedTuple):
    """The sums over some of the lists, with the models stacked."""

    lists: Frame
    """A row for each segment, with the totals of the metrics that have a value per list."""
    items: Frame | None = None
    """A row for each item within a segment, where a metric counts how often items are recommended."""


def stacked(engine: Engine, states: Sequence[State]) -> State:
    """Return one state with the rows of all states."""
    items = [state.items for state in states if state.items is not None]
    return State(engine.stack([state.lists for state in states]), engine.stack(items) if items else None)
