"""What some of the lists give: sums that add up, and their merge."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from recframe._columns import ITEM
from recframe._plan import averages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._columns import Frame
    from recframe._engines.base import Engine
    from recframe._plan.context import CallContext


class State(NamedTuple):
    """The sums over some of the lists: those of all models, one below the other."""

    lists: Frame
    """A row for each segment, with the totals of the metrics that have a value per list."""
    items: Frame | None = None
    """A row for each item within a segment, where a metric counts how often items are recommended."""


def stacked(engine: Engine, states: Sequence[State]) -> State:
    """Return the rows of states, one below the other."""
    items = [state.items for state in states if state.items is not None]
    return State(engine.stack([state.lists for state in states]), engine.stack(items) if items else None)


def merge(context: CallContext, labels: Sequence[str], states: Sequence[State]) -> State:
    """Return the sums over all lists from those over parts of them; a list is in one part only.

    Parameters
    ----------
    context : CallContext
        The frames of the call.
    labels : sequence of str
        The columns of the metrics that have a value per list.
    states : sequence of State
        What the parts give.
    """
    engine, by = context.engine, context.result_keys
    lists, items = stacked(engine, states)
    if not labels:
        lists = lists.unique()
    elif not averages.by_list(context):
        lists = engine.sum_exactly(lists, by, averages.summed(context, labels))
    if items is not None:
        items = engine.sum_exactly(items, [*by, ITEM], context.requirements.item_sum_columns)
    return State(lists, items)
